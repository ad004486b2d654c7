/* What a model predicts, for tests that look at scores: one call makes a session, asks and frees it
 * again. */
#ifndef WFRE_TESTS_PREDICT_H
#define WFRE_TESTS_PREDICT_H

#include <string.h>

#include "infer/reasoner.h"

/* One question and the place for what is found; as in wfre_wanted. */
typedef struct predict_query {
    const wfre_node *tree;
    wfre_list without;
    size_t top;
    wfre_hit *hits;
    size_t hit_count;        /* out */
    size_t scored;           /* out */
    const wfre_reasoner *by; /* out */
} predict_query;

typedef struct predict_how {
    const wfre_graph *graph; /* NULL: nothing is known, and questions are embedded */
    const wfre_model *model;
    wfre_split split;
    bool exhaustive;
    wfre_pool *pool;
} predict_how;

typedef struct predict_found {
    wfre_wanted *wanted;
    predict_query *queries;
} predict_found;

static inline wfre_status predict_use(void *context, const wfre_scores *scores,
                                      const uint32_t *questions, wfre_error *error)
{
    predict_found *found = context;
    CHECK(wfre_scores_top(scores, questions, found->wanted, error));
    for (size_t q = 0; q < scores->count; q++) {
        predict_query *query = &found->queries[questions[q]];
        query->hit_count = found->wanted[questions[q]].hit_count;
        query->scored = found->wanted[questions[q]].scored;
        query->by = scores->reasoner;
    }
    return WFRE_OK;
}

static inline wfre_status predict(const predict_how *how, predict_query *queries, size_t count,
                                  wfre_error *error)
{
    wfre_status status;
    wfre_session *session = NULL;
    wfre_wanted *wanted = wfre_alloc_zero(count, sizeof *wanted);
    const wfre_node **trees = wfre_alloc(count, sizeof *trees);
    if (!wanted || !trees)
        TRY(WFRE_ERR_MEMORY);
    for (size_t q = 0; q < count; q++) {
        trees[q] = queries[q].tree;
        wanted[q] = (wfre_wanted){
            .without = queries[q].without, .top = queries[q].top, .hits = queries[q].hits};
    }
    wfre_inference questions = {.trees = trees,
                                .count = count,
                                .way = how->model->settings.way,
                                .split = how->split,
                                .purpose = WFRE_FOR_TOP};
    questions.way.exhaustive = how->exhaustive;
    TRY(wfre_session_open(how->graph, how->model, how->pool, &session, error));
    predict_found found = {wanted, queries};
    wfre_scope before = wfre_session_enter(session, NULL, 0);
    status = wfre_infer(session, &questions, predict_use, &found, error);
    (void)wfre_scope_enter(before);
cleanup:
    wfre_session_free(session);
    wfre_free(wanted);
    wfre_free((void *)trees);
    return status;
}

/* Embeds one question as it is compared. */
static inline wfre_status predict_embed(const wfre_model *model, const wfre_node *tree,
                                        const wfre_way *way, float *row)
{
    wfre_session *session = NULL;
    wfre_embedding embedding;
    CHECK(wfre_session_open(NULL, model, NULL, &session, NULL));
    wfre_status status = wfre_embed(session->embedder, &tree, 1, way, &embedding, NULL);
    if (status == WFRE_OK)
        memcpy(row, embedding.rows, embedding.row_count * model->settings.dim * sizeof *row);
    wfre_session_free(session);
    return status;
}

#endif
