/* One histogram against many: finds the nearest of 10,000 stored rows with all cores.
 *
 *   cc examples/wfr_rank.c $(pkg-config --cflags --libs wfre) && ./a.out                        */
#include <stdio.h>

#include <wfre/score.h>

enum { DIMENSION = 200, ROWS = 10000, WANTED = 1234 };

int main(void)
{
    static float rows[ROWS][DIMENSION], query[DIMENSION], distances[ROWS];
    wfre_score_settings settings;
    wfre_pool *pool = NULL;
    wfre_score *score = NULL;
    wfre_store *store = NULL;
    wfre_error error;
    unsigned random = 1;
    int nearest = 0;

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < DIMENSION; k++) {
            random = random * 1664525u + 1013904223u;
            rows[i][k] = (float)(random >> 8) / (1 << 24); /* within [0, 1] */
        }
    for (int k = 0; k + 1 < DIMENSION; k++) /* the wanted row, all its mass moved by a bin */
        query[k] = rows[WANTED][k + 1];

    wfre_score_defaults(DIMENSION, &settings);
    wfre_rank_job job = {.queries = {query, DIMENSION}, .query_count = 1, .stride = ROWS};
    if (wfre_pool_create(0, &pool, &error) != WFRE_OK ||
        wfre_score_create(&settings, &score, &error) != WFRE_OK ||
        wfre_store_create(score, pool, rows, WFRE_FLOAT32, DIMENSION, ROWS, &store, &error) !=
            WFRE_OK ||
        wfre_score_rank(score, pool, store, &job, distances, &error) != WFRE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int i = 1; i < ROWS; i++)
        if (distances[i] < distances[nearest])
            nearest = i;
    printf("nearest of %d: row %d at %.4f\n", ROWS, nearest, distances[nearest]);
    wfre_store_free(store);
    wfre_score_free(score);
    wfre_pool_free(pool);
    return nearest == WANTED ? 0 : 1;
}
