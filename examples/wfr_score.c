/* The WFR distance between two histograms: all that someone needs who only wants the score.
 *
 *   cc examples/wfr_score.c $(pkg-config --cflags --libs wfre) && ./a.out                       */
#include <stdio.h>

#include <wfre/score.h>

int main(void)
{
    const double left[5] = {1, 0, 0, 0, 0};
    const double near[5] = {0, 1, 0, 0, 0}, far[5] = {0, 0, 0, 0, 1};
    wfre_score_settings settings;
    wfre_score *score = NULL;
    wfre_error error;
    double to_near, to_far;

    wfre_score_defaults(5, &settings); /* five bins, the published kernel */
    if (wfre_score_create(&settings, &score, &error) != WFRE_OK ||
        wfre_score_pair(score, left, near, &to_near, NULL, NULL, &error) != WFRE_OK ||
        wfre_score_pair(score, left, far, &to_far, NULL, NULL, &error) != WFRE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("one bin away:   %.4f\nfour bins away: %.4f\n", to_near, to_far);
    wfre_score_free(score);
    return to_near < to_far ? 0 : 1;
}
