/* The two losses on one query's logits. */
#include "train/loss.h"

#include <math.h>

/* -log sigmoid(x), without overflow. */
static double softplus_negative(double x)
{
    return x > 0 ? log1p(exp(-x)) : log1p(exp(x)) - x;
}

static double sigmoid(double x)
{
    return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* The softmax of each positive against the candidates that count, which hold exp(logit - top) once
 * their sum, `rest`, is known. As top is the highest of them, rest is at least 1, and an answer far
 * above or below them all does no harm. */
static double softmax_gradient(const wfre_query_loss *query, const wfre_vector_table *vectors,
                               float *logits, const float *positive)
{
    size_t count = query->positive_count;
    float top = vectors->maximum(query->count, logits);
    double told = query->targets ? vectors->sum(query->count, query->targets) : 0;
    double taught = told > 0 ? (double)query->weight * (double)query->target_weight : 0;
    double aimed = taught > 0 ? vectors->dot(query->count, query->targets, logits) : 0;
    double rest = vectors->exp_shifted(query->count, top, logits);
    double loss = 0, factor = 0, weight = (double)query->weight / (double)count;
    for (size_t i = 0; i < count; i++) {
        double above = (double)positive[i] - (double)top, own = exp(above);
        loss += above > 0 ? log1p(rest * exp(-above)) : log(own + rest) - above;
        factor += 1 / (own + rest);
    }
    vectors->scale(query->count, (float)(weight * factor + taught / rest), logits);
    if (taught > 0)
        vectors->axpy(query->count, (float)-taught, query->targets, logits);
    for (size_t i = 0; i < count; i++) {
        double own = exp((double)positive[i] - (double)top);
        logits[query->positives[i]] = (float)(-weight * rest / (own + rest));
    }
    return weight * loss + taught * (log(rest) + (double)top - aimed);
}

static double sigmoid_gradient(const wfre_query_loss *query, float *logits, const float *positive)
{
    double loss = 0;
    size_t negatives = query->count - query->answer_count;
    double weight = 0.5 * (double)query->weight;
    double share = negatives ? weight / (double)negatives : 0;
    for (size_t c = 0; c < query->count; c++) {
        double logit = (double)logits[c];
        bool counts = logits[c] != WFRE_LEFT_OUT;
        loss += counts ? share * softplus_negative(-logit) : 0;
        logits[c] = counts ? (float)(share * sigmoid(logit)) : 0;
    }
    share = weight / (double)query->positive_count;
    for (size_t i = 0; i < query->positive_count; i++) {
        loss += share * softplus_negative((double)positive[i]);
        logits[query->positives[i]] = (float)(-share * sigmoid(-(double)positive[i]));
    }
    return loss;
}

double wfre_query_loss_gradient(const wfre_query_loss *query, const wfre_vector_table *vectors,
                                float *logits, float *saved)
{
    for (size_t i = 0; i < query->positive_count; i++)
        saved[i] = logits[query->positives[i]];
    for (size_t i = 0; i < query->answer_count; i++)
        logits[query->answers[i]] = WFRE_LEFT_OUT;
    return query->kind == WFRE_LOSS_SOFTMAX ? softmax_gradient(query, vectors, logits, saved)
                                            : sigmoid_gradient(query, logits, saved);
}
