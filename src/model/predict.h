/* From operator trees to the entities that a model puts nearest to them: embedding and search in
 * one. What answering, explaining and calibrating share. */
#ifndef WFRE_SRC_MODEL_PREDICT_H
#define WFRE_SRC_MODEL_PREDICT_H

#include "model/search.h"
#include "query/tree.h"

/* One question and the place for what is found; as in wfre_search_query. */
typedef struct wfre_predict_query {
    const wfre_node *tree; /* ids are those of the model's graph */
    wfre_list without;     /* ascending: never found */
    size_t top;
    wfre_hit *hits;   /* room for `top` */
    size_t hit_count; /* out */
    size_t scored;    /* out: entities scored exactly */
} wfre_predict_query;

typedef struct wfre_predictor wfre_predictor;

/* Borrows the model, which must not change, and the pool until freed. */
WFRE_NODISCARD wfre_status wfre_predictor_create(const wfre_model *model, wfre_pool *pool,
                                                 wfre_predictor **predictor, wfre_error *error);
void wfre_predictor_free(wfre_predictor *predictor);

/* Does now what quick search would otherwise do before its first question. */
WFRE_NODISCARD wfre_status wfre_predictor_prepare(wfre_predictor *predictor, wfre_error *error);

/* Answers any number of questions, by quick or by exhaustive search (model/search.h). */
WFRE_NODISCARD wfre_status wfre_predict(wfre_predictor *predictor, wfre_predict_query *queries,
                                        size_t count, bool exhaustive, wfre_error *error);

/* The model's logit for a distance. */
static inline double wfre_model_logit(const wfre_model *model, float distance)
{
    return model->settings.gamma - model->settings.rho * (double)distance;
}

#endif
