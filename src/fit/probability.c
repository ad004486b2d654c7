/* Fitting a calibration.
 *
 * Two thirds of the queries are fitted to, the others tell how well it went. Shapes are fitted by
 * Newton's method with a quadratic penalty on the distance from the fit of all shapes together: a
 * shape with many queries goes its own way, one with few stays near the common one. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exact/exact.h"
#include "fit/probability.h"
#include "graph/graph.h"
#include "infer/probability.h"
#include "query/types.h"
#include "sample/queryset.h"

enum {
    TERMS = WFRE_CALIBRATION_TERMS,
    DEPTH = WFRE_CALIBRATION_DEPTH,
    BATCH = 64,
    SHOWN = 10, /* predictions a question that the reliability counts: what people see */
    STEPS = 50
};

static const double PENALTY = 4; /* in samples */

typedef struct sample {
    double terms[TERMS];
    uint32_t shape;
    bool answer;
    bool held_out;
    bool shown;
} sample;

typedef struct fitting {
    wfre_session *session;
    wfre_arena arena;   /* of a batch */
    wfre_strings names; /* of shapes; 0 is "*" */
    uint64_t *queries;  /* of each shape, so far */
    size_t query_capacity;
    sample *samples;
    size_t sample_count, sample_capacity;
    double mean[TERMS], deviation[TERMS];
    wfre_text name;
} fitting;

/* ---- samples ------------------------------------------------------------------------------ */

/* The index of the tree's shape, new or known. */
static wfre_status find_shape(fitting *f, const wfre_node *tree, uint32_t *shape, wfre_error *error)
{
    wfre_text_clear(&f->name);
    CHECK(wfre_type_name(tree, &f->name, error));
    CHECK(wfre_strings_intern(&f->names, f->name.data, f->name.length, shape, error));
    size_t before = f->query_capacity;
    if (!WFRE_RESERVE(&f->queries, &f->query_capacity, *shape + 1))
        return wfre_fail_memory(error, "calibrating");
    for (size_t i = before; i < f->query_capacity; i++)
        f->queries[i] = 0;
    return WFRE_OK;
}

/* A batch of queries and what is wanted of them. */
typedef struct asking {
    fitting *fitting;
    const wfre_rank_query *given;
    wfre_wanted wanted[BATCH];
    wfre_hit hits[BATCH][DEPTH];
} asking;

static wfre_status add_samples(fitting *f, const wfre_rank_query *given, const wfre_wanted *found,
                               const wfre_reasoner *reasoner, wfre_error *error)
{
    uint32_t shape;
    CHECK(find_shape(f, given->tree, &shape, error));
    if (!WFRE_RESERVE(&f->samples, &f->sample_capacity, f->sample_count + found->hit_count))
        return wfre_fail_memory(error, "calibrating");
    bool held_out = f->queries[shape]++ % 3 == 2;
    wfre_calibration_view view = wfre_calibration_view_of(
        f->session->engine->model, reasoner, "", found->hits, found->hit_count, given->easy.count);
    for (size_t i = 0; i < found->hit_count; i++) {
        sample *s = &f->samples[f->sample_count++];
        *s = (sample){.shape = shape,
                      .answer = wfre_list_has(given->hard, found->hits[i].entity),
                      .held_out = held_out,
                      .shown = i < SHOWN};
        wfre_calibration_terms(&view, found->hits, i, s->terms);
    }
    return WFRE_OK;
}

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    asking *a = context;
    CHECK(wfre_scores_top(scores, questions, a->wanted, error));
    for (size_t q = 0; q < scores->count; q++)
        CHECK(add_samples(a->fitting, &a->given[questions[q]], &a->wanted[questions[q]],
                          scores->reasoner, error));
    return WFRE_OK;
}

/* Predicts a batch and keeps what its rankings show. */
static wfre_status ask(asking *a, size_t count, wfre_error *error)
{
    fitting *f = a->fitting;
    const wfre_node *trees[BATCH];
    wfre_arena_reset(&f->arena);
    for (size_t q = 0; q < count; q++) {
        const wfre_rank_query *own = &a->given[q];
        trees[q] = own->tree;
        a->wanted[q] = (wfre_wanted){.top = DEPTH, .hits = a->hits[q]};
        CHECK(wfre_exact_settled(f->session->exact, WFRE_TRAIN, own->tree, own->easy, &f->arena,
                                 &a->wanted[q].without, error));
    }
    wfre_inference questions = {.trees = trees,
                                .count = count,
                                .way = f->session->engine->model->settings.way,
                                .split = WFRE_TRAIN,
                                .purpose = WFRE_FOR_TOP};
    return wfre_infer(f->session, &questions, use_scores, a, error);
}

/* All queries, or as many as there is time for. */
static wfre_status collect(fitting *f, const wfre_rank_query *given, size_t all, double seconds,
                           const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    double end = wfre_clock() + seconds;
    asking *a = wfre_alloc_zero(1, sizeof *a);
    if (!a)
        return wfre_fail_memory(error, "calibrating");
    a->fitting = f;
    for (size_t first = 0; first < all; first += BATCH) {
        size_t count = all - first < BATCH ? all - first : BATCH;
        a->given = given + first;
        TRY(ask(a, count, error));
        TRY(wfre_check_interrupt(monitor, error));
        wfre_report(monitor, "calibrating", first + count, all, NULL);
        if (seconds > 0 && wfre_clock() > end)
            break;
    }
cleanup:
    wfre_free(a);
    return status;
}

/* ---- fitting ------------------------------------------------------------------------------ */

/* One fit: over the samples of a shape, or of all (shape 0), in terms of mean 0 and deviation 1. */
typedef struct fit {
    const fitting *data;
    uint32_t shape;
    const double *centre; /* of the penalty */
    bool fixed[TERMS];    /* at 0 */
    double factors[TERMS];
} fit;

/* Mean and deviation of each term over the samples that are fitted to;
 * the first is the constant. */
static void measure_terms(fitting *f)
{
    double sum[TERMS] = {0}, squares[TERMS] = {0}, count = 0;
    for (size_t i = 0; i < f->sample_count; i++) {
        if (f->samples[i].held_out)
            continue;
        count++;
        for (int t = 0; t < TERMS; t++) {
            sum[t] += f->samples[i].terms[t];
            squares[t] += f->samples[i].terms[t] * f->samples[i].terms[t];
        }
    }
    for (int t = 0; t < TERMS; t++) {
        f->mean[t] = t == 0 || count == 0 ? 0 : sum[t] / count;
        double variance = count == 0 ? 0 : squares[t] / count - f->mean[t] * f->mean[t];
        f->deviation[t] = t == 0 || variance < 1e-12 ? 1 : sqrt(variance);
    }
}

/* The penalised negative log likelihood; with `gradient`, also its derivatives. */
static double evaluate(const fit *m, double *gradient, double (*hessian)[TERMS])
{
    const fitting *f = m->data;
    double value = 0;
    for (int t = 0; t < TERMS; t++) {
        double off = m->factors[t] - m->centre[t];
        value += PENALTY / 2 * off * off;
        if (gradient) {
            gradient[t] = PENALTY * off;
            memset(hessian[t], 0, sizeof hessian[t]);
            hessian[t][t] = PENALTY;
        }
    }
    for (size_t i = 0; i < f->sample_count; i++) {
        const sample *s = &f->samples[i];
        if (s->held_out || (m->shape && s->shape != m->shape))
            continue;
        double z[TERMS], logit = 0;
        for (int t = 0; t < TERMS; t++) {
            z[t] = m->fixed[t] ? 0 : (s->terms[t] - f->mean[t]) / f->deviation[t];
            logit += m->factors[t] * z[t];
        }
        /* log(1 + e^|logit|) is safe for any logit */
        value += log1p(exp(-fabs(logit))) + fmax(logit, 0) - (s->answer ? logit : 0);
        if (!gradient)
            continue;
        double p = 1 / (1 + exp(-logit));
        for (int t = 0; t < TERMS; t++) {
            gradient[t] += (p - s->answer) * z[t];
            for (int u = 0; u <= t; u++)
                hessian[t][u] += p * (1 - p) * z[t] * z[u];
        }
    }
    return value;
}

/* step = hessian^-1 gradient by Cholesky; the lower half is given and overwritten. The penalty
 * makes it positive definite. */
static void solve(double (*h)[TERMS], const double *gradient, double *step)
{
    for (int i = 0; i < TERMS; i++) {
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
    for (int i = TERMS; i-- > 0;) {
        for (int k = i + 1; k < TERMS; k++)
            step[i] -= h[k][i] * step[k];
        step[i] /= h[i][i];
    }
}

/* Newton's method with halving; the function is convex. */
static void minimise(fit *m)
{
    double gradient[TERMS], hessian[TERMS][TERMS], step[TERMS];
    for (int i = 0; i < STEPS; i++) {
        double value = evaluate(m, gradient, hessian), size = 0, decrease = 0;
        solve(hessian, gradient, step);
        for (int t = 0; t < TERMS; t++) {
            step[t] = m->fixed[t] ? 0 : step[t];
            size = fmax(size, fabs(step[t]));
        }
        double before[TERMS];
        memcpy(before, m->factors, sizeof before);
        for (double scale = 1; scale > 1e-6; scale /= 2) {
            for (int t = 0; t < TERMS; t++)
                m->factors[t] = before[t] - scale * step[t];
            decrease = value - evaluate(m, NULL, NULL);
            if (decrease >= 0)
                break;
        }
        if (size < 1e-6 || decrease < 1e-9)
            return;
    }
}

/* A fit in which neither a larger gap nor a lower rank ever helps. */
static void fit_shape(const fitting *f, uint32_t shape, const double *centre, double *factors)
{
    fit m = {.data = f, .shape = shape, .centre = centre};
    memcpy(m.factors, centre, sizeof m.factors);
    for (;;) {
        minimise(&m);
        int worst = m.factors[2] > m.factors[3] ? 2 : 3;
        if (m.factors[worst] <= 0)
            break;
        m.fixed[worst] = true;
        m.factors[worst] = 0;
    }
    memcpy(factors, m.factors, sizeof m.factors);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_status fit_all(const fitting *f, wfre_calibration *calibration, wfre_error *error)
{
    static const double nothing[TERMS] = {0};
    double common[TERMS], factors[TERMS];
    calibration->shapes = wfre_alloc_zero(f->names.count, sizeof *calibration->shapes);
    if (!calibration->shapes)
        return wfre_fail_memory(error, "calibrating");
    fit_shape(f, 0, nothing, common);
    for (uint32_t s = 0; s < f->names.count; s++) {
        wfre_calibration_shape *shape = &calibration->shapes[s];
        size_t length;
        const char *name = wfre_strings_get(&f->names, s, &length);
        shape->name = wfre_copy_text(name, length);
        if (!shape->name)
            return wfre_fail_memory(error, "calibrating");
        calibration->shape_count++;
        memcpy(factors, common, sizeof factors);
        if (s > 0)
            fit_shape(f, s, common, factors);
        for (int t = 0; t < TERMS; t++) {
            shape->factors[t] = factors[t] / f->deviation[t];
            shape->factors[0] -= shape->factors[t] * f->mean[t];
        }
    }
    return WFRE_OK;
}

/* How the fit does on the queries it has not seen. */
static void judge(const fitting *f, wfre_calibration *calibration)
{
    wfre_reliability *r = &calibration->reliability;
    uint64_t all = 0;
    for (size_t i = 0; i < f->sample_count; i++) {
        const sample *s = &f->samples[i];
        if (!s->held_out || !s->shown)
            continue;
        double logit = 0;
        for (int t = 0; t < TERMS; t++)
            logit += calibration->shapes[s->shape].factors[t] * s->terms[t];
        double p = 1 / (1 + exp(-logit));
        int bin = (int)(p * WFRE_RELIABILITY_BINS);
        bin = bin < WFRE_RELIABILITY_BINS ? bin : WFRE_RELIABILITY_BINS - 1;
        r->bins[bin].count++;
        r->bins[bin].predicted += p;
        r->bins[bin].observed += s->answer;
        all++;
    }
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++) {
        wfre_reliability_bin *bin = &r->bins[b];
        if (bin->count == 0)
            continue;
        r->error += fabs(bin->predicted - bin->observed) / (double)all;
        bin->predicted /= (double)bin->count;
        bin->observed /= (double)bin->count;
    }
    for (uint32_t s = 0; s < f->names.count; s++)
        r->queries += f->queries[s] / 3;
}

static wfre_status calibrate(fitting *f, const wfre_rank_query *queries, size_t count,
                             double seconds, const wfre_monitor *monitor, wfre_calibration **result,
                             wfre_error *error)
{
    uint32_t all;
    CHECK(wfre_strings_intern(&f->names, "*", 1, &all, error));
    CHECK(collect(f, queries, count, seconds, monitor, error));
    measure_terms(f);
    wfre_calibration *calibration = wfre_alloc_zero(1, sizeof *calibration);
    if (!calibration)
        return wfre_fail_memory(error, "calibrating");
    wfre_status status = fit_all(f, calibration, error);
    if (status != WFRE_OK) {
        wfre_calibration_free(calibration);
        return status;
    }
    judge(f, calibration);
    *result = calibration;
    return WFRE_OK;
}

wfre_status wfre_calibrate_on(wfre_session *session, const wfre_rank_query *queries, size_t count,
                              double seconds, const wfre_monitor *monitor,
                              wfre_calibration **calibration, wfre_error *error)
{
    fitting f = {.session = session};
    if (count == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "there are no queries to calibrate on");
    wfre_status status = calibrate(&f, queries, count, seconds, monitor, calibration, error);
    wfre_arena_free(&f.arena);
    wfre_strings_free(&f.names);
    wfre_text_free(&f.name);
    wfre_free(f.queries);
    wfre_free(f.samples);
    return status;
}

wfre_status wfre_calibrate_with(const wfre_graph *graph, wfre_model *model,
                                const wfre_queryset *set, wfre_pool *pool,
                                const wfre_monitor *monitor, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(set);
    wfre_status status;
    wfre_rank_query *list = NULL;
    wfre_session *session = NULL;
    wfre_calibration *made = NULL;
    TRY(wfre_queryset_check_graph(set, graph, error));
    TRY(wfre_session_open(graph, model, pool, &session, error));
    list = wfre_alloc_zero(set->count, sizeof *list);
    if (!list)
        TRY(wfre_fail_memory(error, "calibrating"));
    for (uint32_t q = 0; q < set->count; q++)
        list[q] = (wfre_rank_query){.tree = set->rows[q].tree,
                                    .easy = wfre_queryset_easy(set, q),
                                    .hard = wfre_queryset_hard(set, q)};
    TRY(wfre_calibrate_on(session, list, set->count, 0, monitor, &made, error));
cleanup:
    wfre_session_free(session);
    if (made) {
        wfre_calibration_free(model->calibration);
        model->calibration = made;
    }
    wfre_free(list);
    return status;
}

wfre_status wfre_calibrate(const wfre_graph *graph, wfre_model *model, const char *queries,
                           wfre_pool *pool, const wfre_monitor *monitor, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(queries);
    wfre_queryset set = {0};
    wfre_status status = wfre_queryset_read(queries, graph, &set, error);
    if (status == WFRE_OK)
        status = wfre_calibrate_with(graph, model, &set, pool, monitor, error);
    wfre_queryset_clear(&set);
    return status;
}
