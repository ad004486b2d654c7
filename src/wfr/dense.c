/* The dense solver; see dense.h. */
#include "wfr/dense.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/scope.h"
#include "wfr/kernels.h"

/* log sum_j exp(kernel[j * step] + g_j); finite if any kernel entry is. */
static double log_sum(const double *kernel, size_t step, const double *g, size_t count)
{
    double most = -INFINITY;
    for (size_t j = 0; j < count; j++)
        most = fmax(most, kernel[j * step] + g[j]);
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += exp(kernel[j * step] + g[j] - most);
    return most + log(sum);
}

void wfre_dense_iterate(const wfre_dense *dense, double *f, double *g)
{
    size_t rows = dense->rows, columns = dense->columns;
    double p = 1 / (1 + dense->epsilon);
    size_t done = 0;
    for (size_t j = 0; j < columns; j++)
        g[j] = log(dense->start);
    for (size_t i = 0; i < rows; i++)
        f[i] = 0; /* if it is left before the first one is done */
    for (uint32_t iteration = 0; iteration < dense->iterations; iteration++) {
        for (size_t i = 0; i < rows; i++) {
            f[i] = p * (log(dense->x[i]) - log_sum(dense->log_h + i * columns, 1, g, columns));
            if (wfre_leave_after(&done, columns))
                return;
        }
        for (size_t j = 0; j < columns; j++) {
            g[j] = p * (log(dense->y[j]) - log_sum(dense->log_h + j, columns, f, rows));
            if (wfre_leave_after(&done, rows))
                return;
        }
    }
}

void wfre_dense_plan(const wfre_dense *dense, const double *f, const double *g, double *plan)
{
    size_t done = 0;
    for (size_t i = 0; i < dense->rows && !wfre_leave_after(&done, dense->columns); i++)
        for (size_t j = 0; j < dense->columns; j++)
            plan[i * dense->columns + j] = exp(f[i] + dense->log_k[i * dense->columns + j] + g[j]);
}

double wfre_dense_dual(const wfre_dense *dense, const double *f, const double *g)
{
    double eps = dense->epsilon;
    double value = 0;
    size_t done = 0;
    for (size_t i = 0; i < dense->rows; i++)
        value -= dense->x[i] * expm1(-eps * f[i]);
    for (size_t j = 0; j < dense->columns; j++)
        value -= dense->y[j] * expm1(-eps * g[j]);
    for (size_t i = 0; i < dense->rows && !wfre_leave_after(&done, dense->columns); i++) {
        for (size_t j = 0; j < dense->columns; j++) {
            double log_k = dense->log_k[i * dense->columns + j];
            value += eps * (exp(log_k) - exp(f[i] + log_k + g[j]));
        }
    }
    return value;
}

/* sum of t log(t / s) - t + s, for one term; t >= 0, s > 0. */
static double divergence(double t, double s)
{
    return t > 0 ? t * log(t / s) - t + s : s;
}

double wfre_dense_primal(const wfre_dense *dense, const double *f, const double *g)
{
    double value = 0;
    size_t done = 0;
    for (size_t i = 0; i < dense->rows && !wfre_leave_after(&done, dense->columns); i++) {
        double sent = 0;
        for (size_t j = 0; j < dense->columns; j++) {
            double log_k = dense->log_k[i * dense->columns + j];
            double p = exp(f[i] + log_k + g[j]);
            sent += p;
            if (log_k > -INFINITY) /* p log(p / K) - p + K, without dividing by a tiny K */
                value += dense->epsilon * (p * (f[i] + g[j]) - p + exp(log_k));
        }
        value += divergence(sent, dense->x[i]);
    }
    for (size_t j = 0; j < dense->columns && !wfre_leave_after(&done, dense->rows); j++) {
        double received = 0;
        for (size_t i = 0; i < dense->rows; i++)
            received += exp(f[i] + dense->log_k[i * dense->columns + j] + g[j]);
        value += divergence(received, dense->y[j]);
    }
    return value;
}

/* ---- public ------------------------------------------------------------------------------- */

static wfre_status check_measure(const wfre_measure *measure, const char *side, wfre_error *error)
{
    if (measure->count == 0 || measure->count > 100000)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "%s measure: must have 1 to 100000 points", side);
    for (size_t i = 0; i < measure->count; i++)
        if (!(measure->mass[i] > 0) || !isfinite(measure->mass[i]) ||
            !isfinite(measure->position[i]))
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "%s measure, point %zu: mass must be positive, position finite", side,
                             i);
    return WFRE_OK;
}

/* A point that reaches none would be sent to infinity by its half iteration. */
static wfre_status check_reach(const wfre_dense *dense, wfre_error *error)
{
    size_t done = 0;
    for (size_t i = 0; i < dense->rows && !wfre_leave_after(&done, dense->columns); i++) {
        bool reached = false;
        for (size_t j = 0; j < dense->columns; j++)
            reached = reached || dense->log_h[i * dense->columns + j] > -INFINITY;
        if (!reached)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "left measure, point %zu: no point of the right one within the radius",
                             i);
    }
    for (size_t j = 0; j < dense->columns && !wfre_leave_after(&done, dense->rows); j++) {
        bool reached = false;
        for (size_t i = 0; i < dense->rows; i++)
            reached = reached || dense->log_h[i * dense->columns + j] > -INFINITY;
        if (!reached)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "right measure, point %zu: no point of the left one within the radius",
                             j);
    }
    return WFRE_OK;
}

wfre_status wfre_transport_solve(const wfre_measure *left, const wfre_measure *right,
                                 const wfre_score_settings *settings, double start, double *plan,
                                 wfre_transport *result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t rows = left->count, columns = right->count, done = 0;
    double *memory = NULL;
    bool before = wfre_partial(true);
    TRY(check_measure(left, "left", error));
    TRY(check_measure(right, "right", error));
    if (!(settings->epsilon > 0) || !(settings->radius > 0) || !(start > 0))
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                      "epsilon, radius and start must be positive"));
    if (settings->iterations < 1 || settings->iterations > WFRE_ITERATION_LIMIT)
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "iterations must be 1 to %d",
                      WFRE_ITERATION_LIMIT));
    if (!(settings->power >= 0) && settings->power != WFRE_POWER_EXACT)
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "power must not be negative"));
    memory = wfre_alloc(2 * rows * columns + rows + columns, sizeof *memory);
    if (!memory)
        TRY(wfre_fail_memory(error, "solving a transport problem"));
    double *log_h = memory, *log_k = log_h + rows * columns;
    double *f = log_k + rows * columns, *g = f + rows;
    double exact = 2 / settings->epsilon;
    double power = settings->power == WFRE_POWER_EXACT ? exact : settings->power;
    for (size_t i = 0; i < rows; i++) {
        if (wfre_leave_after(&done, columns))
            TRY(wfre_check_stop(error));
        for (size_t j = 0; j < columns; j++) {
            double log_c =
                wfre_log_cosine(left->position[i] - right->position[j], settings->radius);
            /* 0 * -INFINITY is not a number; beyond the radius any power is zero. */
            log_h[i * columns + j] = log_c > -INFINITY ? power * log_c : -INFINITY;
            log_k[i * columns + j] = exact * log_c;
        }
    }
    wfre_dense dense = {.rows = rows,
                        .columns = columns,
                        .x = left->mass,
                        .y = right->mass,
                        .log_h = log_h,
                        .log_k = log_k,
                        .epsilon = settings->epsilon,
                        .iterations = settings->iterations,
                        .start = start};
    TRY(check_reach(&dense, error));
    wfre_dense_iterate(&dense, f, g);
    result->dual = wfre_dense_dual(&dense, f, g);
    result->primal = wfre_dense_primal(&dense, f, g);
    if (plan)
        wfre_dense_plan(&dense, f, g, plan);
    status = wfre_check_stop(error);
cleanup:
    (void)wfre_partial(before);
    wfre_free(memory);
    return status;
}
