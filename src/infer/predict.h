/* From operator trees to the entities that a model takes for their answers, by embedding and search
 * or edge by edge. What answering, explaining and calibrating share. */
#ifndef WFRE_SRC_INFER_PREDICT_H
#define WFRE_SRC_INFER_PREDICT_H

#include "infer/edges.h"
#include "query/tree.h"

/* One question and the place for what is found; as in wfre_search_query. What is found edge by edge
 * has the distance whose logit is the logarithm of its truth value. */
typedef struct wfre_predict_query {
    const wfre_node *tree; /* ids are those of the model's graph */
    wfre_list without;     /* ascending: never found */
    size_t top;
    wfre_hit *hits;   /* room for `top` */
    size_t hit_count; /* out */
    size_t scored;    /* out: entities scored exactly; edge by edge, all or not counted */
    bool embedded;    /* out: it had to be, though the model answers by edges: scores are others
                       * than those that probabilities were fitted to */
} wfre_predict_query;

typedef struct wfre_predictor wfre_predictor;

/* Borrows the model, which must not change, and the pool until freed. */
WFRE_NODISCARD wfre_status wfre_predictor_create(const wfre_model *model, wfre_pool *pool,
                                                 wfre_predictor **predictor, wfre_error *error);
void wfre_predictor_free(wfre_predictor *predictor);

/* Lends it the graph, of which a split's edges are known: from now on it answers edge by edge where
 * the model says so and the question allows it. */
WFRE_NODISCARD wfre_status wfre_predictor_know(wfre_predictor *predictor, const wfre_graph *graph,
                                               wfre_split split, wfre_error *error);

/* Does now what quick search would otherwise do before its first question. */
WFRE_NODISCARD wfre_status wfre_predictor_prepare(wfre_predictor *predictor, wfre_error *error);

/* Answers any number of questions, by quick or by exhaustive search (search/search.h). */
WFRE_NODISCARD wfre_status wfre_predict(wfre_predictor *predictor, wfre_predict_query *queries,
                                        size_t count, bool exhaustive, wfre_error *error);

/* The model's logit for a distance. */
static inline double wfre_model_logit(const wfre_model *model, float distance)
{
    return model->settings.gamma - model->settings.rho * (double)distance;
}

/* The distance that has this logit. */
static inline float wfre_model_distance(const wfre_model *model, float logit)
{
    return (float)((model->settings.gamma - (double)logit) / model->settings.rho);
}

#endif
