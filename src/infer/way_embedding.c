/* By embedding: a question becomes one histogram, or several (the branches of a union), and the
 * score of an entity is its negated distance to the nearest of them. */
#include <math.h>

#include "base/pool.h"
#include "infer/reasoner.h"
#include "search/filter.h"

enum { FOLD = 8192 }; /* entities a task */

static wfre_status form(wfre_arena *arena, const wfre_node *tree, const wfre_node **result,
                        wfre_error *error)
{
    (void)arena, (void)error;
    *result = tree;
    return WFRE_OK;
}

static double logit(const wfre_model *model, float score)
{
    return model->settings.gamma + model->settings.rho * (double)score;
}

/* ---- a part whose rows fit into the table ------------------------------------------------- */

/* Exact scores for measuring: the entities lie packed. */
static wfre_status fill_from_store(wfre_session *s, const wfre_store *store, const float *rows,
                                   size_t count, float *table, wfre_error *error)
{
    const wfre_model *model = s->engine->model;
    wfre_rank_job job = {.queries = {rows, model->settings.dim},
                         .query_count = count,
                         .ranking = WFRE_RANK_TRUE,
                         .stride = model->entity_count};
    CHECK(wfre_score_rank(wfre_index_score(s->engine->index), s->pool, store, &job, table, error));
    for (size_t i = 0; i < count * model->entity_count; i++)
        table[i] = -table[i];
    return WFRE_OK;
}

/* Fills the table from scores->histograms, which are taken away if what it holds is exact. */
static wfre_status fill(wfre_session *s, const wfre_inference *questions, wfre_scores *scores,
                        size_t rows, wfre_error *error)
{
    const wfre_index_ranks *ranks;
    const float *histograms = scores->histograms;
    bool exact = questions->way.exhaustive;
    if (questions->purpose == WFRE_FOR_TOP) {
        CHECK(wfre_session_prepare(s, error));
        exact = exact || !wfre_search_estimates(s->searcher);
        CHECK(wfre_search_scores(s->searcher, histograms, rows, exact, scores->table, error));
    } else {
        CHECK(wfre_session_ranks(s, !exact, &ranks, error));
        exact = !ranks->filter;
        CHECK(exact ? fill_from_store(s, ranks->store, histograms, rows, scores->table, error)
                    : wfre_filter_estimate(ranks->filter, s->linalg, s->pool, histograms, rows,
                                           scores->table, error));
    }
    if (exact)
        scores->histograms = NULL;
    return WFRE_OK;
}

/* ---- a question with more branches than that ---------------------------------------------- */

typedef struct folding {
    const float *rows; /* [count, entities] */
    size_t count, entities;
    float *into;
} folding;

static void fold_chunk(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const folding *f = context;
    size_t end = (chunk + 1) * FOLD < f->entities ? (chunk + 1) * FOLD : f->entities;
    for (size_t r = 0; r < f->count; r++)
        for (size_t e = chunk * FOLD; e < end; e++) {
            float score = f->rows[r * f->entities + e];
            f->into[e] = score > f->into[e] ? score : f->into[e];
        }
}

/* Scores all branches exactly, some at a time, and keeps the best of each entity. */
static wfre_status fold(wfre_session *s, wfre_scores *scores, size_t rows, size_t most,
                        wfre_error *error)
{
    size_t entities = s->engine->model->entity_count, dim = s->engine->model->settings.dim;
    scores->table = wfre_session_table(s, most + 1);
    if (!scores->table)
        return wfre_fail_memory(error, "predicting");
    CHECK(wfre_session_prepare(s, error));
    for (size_t e = 0; e < entities; e++)
        scores->table[e] = -INFINITY;
    for (size_t first = 0, part; first < rows; first += part) {
        part = rows - first < most ? rows - first : most;
        folding f = {scores->table + entities, part, entities, scores->table};
        CHECK(wfre_search_scores(s->searcher, scores->histograms + first * dim, part, true,
                                 scores->table + entities, error));
        CHECK(wfre_pool_try(s->pool, (entities + FOLD - 1) / FOLD, fold_chunk, &f, error));
    }
    scores->histograms = NULL;
    return WFRE_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static wfre_status score(wfre_session *s, const wfre_inference *questions, const uint32_t *numbers,
                         wfre_scores_use *use, void *context, wfre_error *error)
{
    static const uint32_t ONE[] = {0, 1};
    wfre_embedding all;
    size_t most = wfre_session_rows(s), dim = s->engine->model->settings.dim;
    CHECK(
        wfre_embed(s->embedder, questions->trees, questions->count, &questions->way, &all, error));
    for (size_t first = 0, part; first < questions->count; first += part) {
        const uint32_t *begin = all.begin + first;
        for (part = 1; first + part < questions->count && begin[part + 1] - begin[0] <= most;)
            part++;
        size_t rows = begin[part] - begin[0];
        wfre_scores scores = {.session = s,
                              .reasoner = &wfre_by_embedding,
                              .count = part,
                              .begin = begin,
                              .histograms = all.rows + begin[0] * dim};
        if (rows <= most) {
            scores.table = wfre_session_table(s, rows);
            if (!scores.table)
                return wfre_fail_memory(error, "predicting");
            CHECK(fill(s, questions, &scores, rows, error));
        } else {
            scores.begin = ONE;
            CHECK(fold(s, &scores, rows, most, error));
        }
        CHECK(use(context, &scores, numbers + first, error));
    }
    return WFRE_OK;
}

const wfre_reasoner wfre_by_embedding = {"embedding", form, score, logit};
