/* Terms are brought to mean 0 and deviation 1, so that one penalty suits all. A factor of the wrong
 * sign is fixed at 0, the worst first, and the others are fitted once more. */
#include "fit/logistic.h"

#include <math.h>
#include <string.h>

enum { TERMS = WFRE_LOGISTIC_TERMS, STEPS = 50 };

/* One fit, in terms of mean 0 and deviation 1. */
typedef struct fit {
    const wfre_logistic *data;
    uint32_t shape;
    double centre[TERMS]; /* of the penalty */
    bool fixed[TERMS];    /* at 0 */
    double factors[TERMS];
} fit;

void wfre_logistic_measure(wfre_logistic *l)
{
    double sum[TERMS] = {0}, squares[TERMS] = {0}, count = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->samples[i].apart)
            continue;
        const wfre_sample *s = &l->samples[i];
        count += s->weight;
        for (int t = 0; t < l->terms; t++) {
            sum[t] += s->weight * s->terms[t];
            squares[t] += s->weight * s->terms[t] * s->terms[t];
        }
    }
    for (int t = 0; t < l->terms; t++) {
        l->mean[t] = t == 0 || count == 0 ? 0 : sum[t] / count;
        double variance = count == 0 ? 0 : squares[t] / count - l->mean[t] * l->mean[t];
        l->deviation[t] = t == 0 || variance < 1e-12 ? 1 : sqrt(variance);
    }
}

void wfre_logistic_plain(wfre_logistic *l)
{
    for (int t = 0; t < l->terms; t++) {
        l->mean[t] = 0;
        l->deviation[t] = 1;
    }
}

/* The penalised negative log likelihood; with `gradient`, also its derivatives. */
static double evaluate(const fit *m, double *gradient, double (*hessian)[TERMS])
{
    const wfre_logistic *l = m->data;
    double value = 0;
    for (int t = 0; t < l->terms; t++) {
        double off = m->factors[t] - m->centre[t];
        value += l->penalty / 2 * off * off;
        if (gradient) {
            gradient[t] = l->penalty * off;
            memset(hessian[t], 0, sizeof hessian[t]);
            hessian[t][t] = l->penalty;
        }
    }
    for (size_t i = 0; i < l->count; i++) {
        const wfre_sample *s = &l->samples[i];
        if (s->apart || (m->shape && s->shape != m->shape))
            continue;
        double z[TERMS], logit = s->offset;
        for (int t = 0; t < l->terms; t++) {
            z[t] = m->fixed[t] ? 0 : (s->terms[t] - l->mean[t]) / l->deviation[t];
            logit += m->factors[t] * z[t];
        }
        /* log(1 + e^|logit|) is safe for any logit */
        value += s->weight * (log1p(exp(-fabs(logit))) + fmax(logit, 0) - (s->answer ? logit : 0));
        if (!gradient)
            continue;
        double p = 1 / (1 + exp(-logit));
        for (int t = 0; t < l->terms; t++) {
            gradient[t] += s->weight * (p - s->answer) * z[t];
            for (int u = 0; u <= t; u++)
                hessian[t][u] += s->weight * p * (1 - p) * z[t] * z[u];
        }
    }
    return value;
}

/* step = hessian^-1 gradient by Cholesky; the lower half is given and overwritten. The penalty
 * makes it positive definite. */
static void solve(int terms, double (*h)[TERMS], const double *gradient, double *step)
{
    for (int i = 0; i < terms; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = h[i][j];
            for (int k = 0; k < j; k++)
                sum -= h[i][k] * h[j][k];
            h[i][j] = i == j ? sqrt(sum) : sum / h[j][j];
        }
        double sum = gradient[i];
        for (int k = 0; k < i; k++)
            sum -= h[i][k] * step[k];
        step[i] = sum / h[i][i];
    }
    for (int i = terms; i-- > 0;) {
        for (int k = i + 1; k < terms; k++)
            step[i] -= h[k][i] * step[k];
        step[i] /= h[i][i];
    }
}

/* Newton's method with halving; the function is convex. */
static void minimise(fit *m)
{
    double gradient[TERMS], hessian[TERMS][TERMS], step[TERMS];
    int terms = m->data->terms;
    for (int i = 0; i < STEPS; i++) {
        double value = evaluate(m, gradient, hessian), size = 0, decrease = 0;
        solve(terms, hessian, gradient, step);
        for (int t = 0; t < terms; t++) {
            step[t] = m->fixed[t] ? 0 : step[t];
            size = fmax(size, fabs(step[t]));
        }
        double before[TERMS];
        memcpy(before, m->factors, sizeof before);
        for (double scale = 1; scale > 1e-6; scale /= 2) {
            for (int t = 0; t < terms; t++)
                m->factors[t] = before[t] - scale * step[t];
            decrease = value - evaluate(m, NULL, NULL);
            if (decrease >= 0)
                break;
        }
        if (size < 1e-6 || decrease < 1e-9)
            return;
    }
}

/* The factor whose sign is most wrong; -1 if all are right. */
static int find_wrong(const fit *m, const int *sign)
{
    int worst = -1;
    double most = 0;
    for (int t = 0; t < m->data->terms; t++)
        if (-sign[t] * m->factors[t] > most) {
            most = -sign[t] * m->factors[t];
            worst = t;
        }
    return worst;
}

void wfre_logistic_fit(const wfre_logistic *l, uint32_t shape, const int *sign, double *factors)
{
    fit m = {.data = l, .shape = shape};
    m.centre[0] = factors[0];
    for (int t = 1; t < l->terms; t++) {
        m.centre[t] = factors[t] * l->deviation[t];
        m.centre[0] += factors[t] * l->mean[t];
    }
    memcpy(m.factors, m.centre, sizeof m.factors);
    for (;;) {
        minimise(&m);
        int wrong = find_wrong(&m, sign);
        if (wrong < 0)
            break;
        m.fixed[wrong] = true;
        m.factors[wrong] = 0;
    }
    factors[0] = m.factors[0];
    for (int t = 1; t < l->terms; t++) {
        factors[t] = m.factors[t] / l->deviation[t];
        factors[0] -= factors[t] * l->mean[t];
    }
}
