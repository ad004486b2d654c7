/* Scores: how far apart two histograms are. The Wasserstein-Fisher-Rao (WFR) score, and the local
 * and global scores that it is compared with.
 *
 * A histogram is a row of d numbers in [0, 1], cut into b blocks of a bins (d = a * b). Every score
 * is the mean over the blocks of a block's value; smaller is nearer. With x = u + floor and
 * y = v + floor, the WFR score of a block is
 *
 *     c_k  = cos(pi k / (2 radius)) for |k| < radius, else 0
 *     H_ij = c_|i-j| ^ power,   K_ij = c_|i-j| ^ (2 / epsilon)
 *     phi = psi = 1/a;  `iterations` times:
 *         phi <- (x / (H psi)) ^ (1 / (1 + epsilon))
 *         psi <- (y / (H phi)) ^ (1 / (1 + epsilon))
 *     value = sum x (1 - phi^-epsilon) + sum y (1 - psi^-epsilon) + epsilon (sum K - phi' K psi)
 *
 * The value after exactly this many iterations is the definition; they are part of the model.
 *
 *     wfre_score_settings settings;
 *     wfre_score *score = NULL;
 *     wfre_error error;
 *     wfre_score_defaults(1600, &settings);
 *     if (wfre_score_create(&settings, &score, &error) == WFRE_OK)
 *         status = wfre_score_pair(score, u, v, &distance, NULL, NULL, &error);
 *     wfre_score_free(score);
 */
#ifndef WFRE_SCORE_H
#define WFRE_SCORE_H

#include "wfre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings ----------------------------------------------------------------------------- */

/* The value of one block. All but WFR have no iterations; x and y are as above. */
typedef enum wfre_score_kind {
    WFRE_SCORE_WFR = 0,
    WFRE_SCORE_LOCAL,      /* WFR `exact` at convergence without transport between bins:
                              sum x + sum y + a eps - (2 + eps) sum (x y)^(1/(2+eps)) */
    WFRE_SCORE_HELLINGER,  /* sum (sqrt x - sqrt y)^2: WFR with radius <= 1 and epsilon -> 0 */
    WFRE_SCORE_KL,         /* sum x log(x / y) - x + y */
    WFRE_SCORE_L1,         /* sum |u - v| */
    WFRE_SCORE_L2,         /* sqrt of sum (u - v)^2 */
    WFRE_SCORE_INNER,      /* - sum u v */
    WFRE_SCORE_WASSERSTEIN /* sum over k of |X_k - Y_k|, the cumulated x / sum x and y / sum y:
                              the cost, in bins, of moving one unit of mass within the block */
} wfre_score_kind;

enum {
    WFRE_SCORE_KINDS = 8,
    WFRE_BLOCK_LIMIT = 64,       /* bins per block of WFR */
    WFRE_POINTWISE_LIMIT = 4096, /* bins per block of the others */
    WFRE_ITERATION_LIMIT = 100000
};

/* What lies outside these ranges is refused. All but WFR ignore radius, power and iterations. */
typedef struct wfre_score_settings {
    wfre_score_kind kind;
    size_t dimension;    /* d: elements of a row; a multiple of block, at most 2^32 - 1 */
    uint32_t block;      /* a: bins per block; 1 .. WFRE_BLOCK_LIMIT, or WFRE_POINTWISE_LIMIT */
    uint32_t iterations; /* L: 1 .. WFRE_ITERATION_LIMIT */
    double radius;       /* R, in bins: 1e-6 .. 1e6 */
    double epsilon;      /* 0.001 .. 1000 */
    double power;        /* q, of H: 0 .. 1e4; WFRE_POWER_EXACT means 2 / epsilon */
    double floor;        /* added to every element: 1e-12 .. 1 */
} wfre_score_settings;

#define WFRE_POWER_EXACT (-1.0)

/* WFR, preset `reference`, blocks of 5 bins, 10 iterations, epsilon 0.1, floor 1e-4. */
WFRE_API void wfre_score_defaults(size_t dimension, wfre_score_settings *settings);

/* Sets radius and power by name, leaving the rest:
 *   reference  radius pi, power 2          what the published code computes
 *   paper      radius 3, power 1           the kernel of the paper's text
 *   exact      radius 3, power 2/epsilon   the true dual; at convergence the primal optimum */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_preset(const char *name,
                                                      wfre_score_settings *settings,
                                                      wfre_error *error);

/* "wfr", "local", "hellinger", "kl", "l1", "l2", "inner", "wasserstein" */
WFRE_API const char *wfre_score_kind_name(wfre_score_kind kind);
WFRE_API WFRE_NODISCARD wfre_status wfre_score_kind_parse(const char *name, wfre_score_kind *kind,
                                                          wfre_error *error);

/* ---- a score ready to use ----------------------------------------------------------------- */

/* Settings checked, tables computed and kernels chosen. Immutable, but for
 * wfre_score_prepare_ranking: many threads may use it. */
typedef struct wfre_score wfre_score;

/* The kernels are those of wfre_isa_select. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_create(const wfre_score_settings *settings,
                                                      wfre_score **score, wfre_error *error);
/* The same with the kernels of one instruction set, which must be available here. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_create_for(const wfre_score_settings *settings,
                                                          wfre_isa isa, wfre_score **score,
                                                          wfre_error *error);
WFRE_API void wfre_score_free(wfre_score *score);

WFRE_API const wfre_score_settings *wfre_score_get_settings(const wfre_score *score);
/* What computes: "reference (double)", "avx2, 8 blocks a step in float", "kl (double)", ... */
WFRE_API const char *wfre_score_kernel(const wfre_score *score);

/* ---- pairs -------------------------------------------------------------------------------- */

/* One pair in double precision: exact to rounding with the reference kernels; the others round the
 * rows to float. Elements outside [0, 1] are refused. Gradients are dDist/du and dDist/dv, d
 * elements each, and may be NULL. Those of WFR are the envelope's, with the iterations held
 * constant: (1 - phi^-epsilon) / b. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_pair(const wfre_score *score, const double *left,
                                                    const double *right, double *distance,
                                                    double *left_gradient, double *right_gradient,
                                                    wfre_error *error);

/* A row-major matrix: row i starts at data + i * stride. */
typedef struct wfre_rows {
    const float *data;
    size_t stride; /* >= d */
} wfre_rows;

/* Which rows to compare: pair k is left row left_index[k] with right row right_index[k]; a NULL
 * index means row k. Runs of equal rows on either side are prepared only once. */
typedef struct wfre_pairs {
    wfre_rows left;
    wfre_rows right;
    const uint32_t *left_index;
    const uint32_t *right_index;
    size_t count;
} wfre_pairs;

/* Where gradients go: pair k writes d elements at left + k * stride and right + k * stride. Either
 * may be NULL. Rows must not overlap. */
typedef struct wfre_gradients {
    float *left;
    float *right;
    size_t stride; /* >= d */
} wfre_gradients;

/* distances[k] of every pair, with gradients unless NULL. `pool` may be NULL. The bits do not
 * depend on the threads, nor on how pairs are divided among calls. Elements outside [0, 1] give a
 * value that is not meaningful; NaN and infinities are not checked for. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_pairs(const wfre_score *score, wfre_pool *pool,
                                                     const wfre_pairs *pairs, float *distances,
                                                     const wfre_gradients *gradients,
                                                     wfre_error *error);

/* ---- cases from a file -------------------------------------------------------------------- */

/* Pairs with settings of their own, from JSON: an array of objects with "left" and "right", and
 * "block", "radius", "epsilon", "power", "iterations" and "floor" where they differ from the
 * defaults. The path "-" is standard input. */
typedef struct wfre_score_cases wfre_score_cases;

typedef struct wfre_score_case {
    wfre_score_settings settings; /* not checked yet */
    const double *left;           /* `dimension` numbers; both live as long as the cases */
    const double *right;
} wfre_score_case;

WFRE_API WFRE_NODISCARD wfre_status wfre_score_cases_open(const char *path,
                                                          const wfre_score_settings *defaults,
                                                          wfre_score_cases **cases,
                                                          wfre_error *error);
WFRE_API void wfre_score_cases_free(wfre_score_cases *cases);
WFRE_API size_t wfre_score_cases_count(const wfre_score_cases *cases);
WFRE_API const wfre_score_case *wfre_score_cases_get(const wfre_score_cases *cases, size_t index);

/* ---- one against many --------------------------------------------------------------------- */

/* Histograms prepared for ranking. They stand on the left: the score is Dist(stored, query). */
typedef struct wfre_store wfre_store;

typedef enum wfre_element { WFRE_FLOAT32 = 0, WFRE_BFLOAT16 } wfre_element;

/* Copies `count` rows; row i starts at element i * stride of `data`. */
WFRE_API WFRE_NODISCARD wfre_status wfre_store_create(const wfre_score *score, wfre_pool *pool,
                                                      const void *data, wfre_element element,
                                                      size_t stride, size_t count,
                                                      wfre_store **store, wfre_error *error);
WFRE_API void wfre_store_free(wfre_store *store);
WFRE_API size_t wfre_store_count(const wfre_store *store);
/* Memory it takes, in bytes. */
WFRE_API size_t wfre_store_size(const wfre_store *store);

typedef enum wfre_ranking {
    WFRE_RANK_TRUE = 0,    /* all iterations: the same bits as wfre_score_pairs */
    WFRE_RANK_EXTRAPOLATED /* about half of them, the rest extrapolated, where
                              wfre_score_prepare_ranking found that possible; else as TRUE */
} wfre_ranking;

/* Finds how few iterations WFRE_RANK_EXTRAPOLATED can take with an error below 1e-4: measured on
 * random rows, in the time of about a hundred pairs of them. Not while another thread uses the
 * score. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_prepare_ranking(wfre_score *score,
                                                               wfre_error *error);
/* The relative error that was measured, 0 if all iterations are taken; how many are is written to
 * *iterations, which is not NULL. */
WFRE_API double wfre_score_ranking_error(const wfre_score *score, uint32_t *iterations);

/* Which stored histograms to score against which queries. distances[q * stride + k] is that of
 * query row q and stored histogram selection[k], or k if selection is NULL (then `selected` is
 * ignored and all are scored). */
typedef struct wfre_rank_job {
    wfre_rows queries;
    size_t query_count;
    const uint32_t *selection;
    size_t selected;
    wfre_ranking ranking;
    size_t stride; /* of distances; >= the number scored */
} wfre_rank_job;

/* The store must come from the same score. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_rank(const wfre_score *score, wfre_pool *pool,
                                                    const wfre_store *store,
                                                    const wfre_rank_job *job, float *distances,
                                                    wfre_error *error);

/* The k nearest of them, nearest first, ties in the order of their numbers: those of query row q
 * are ids[q * k] .. and distances[q * k] ..; the job's own stride does not count. k is at most the
 * number of those selected. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_nearest(const wfre_score *score, wfre_pool *pool,
                                                       const wfre_store *store,
                                                       const wfre_rank_job *job, size_t k,
                                                       uint32_t *ids, float *distances,
                                                       wfre_error *error);

/* ---- transport ---------------------------------------------------------------------------- */

/* The transport plan of one pair, WFR only: P_ij = phi_i K_ij psi_j within each block, in
 * double precision; plan[(block * a + i) * a + j], d * a elements. Mass at bin i of the left
 * histogram goes to bin j of the right one; what is not transported is created or destroyed. */
WFRE_API WFRE_NODISCARD wfre_status wfre_score_transport(const wfre_score *score,
                                                         const double *left, const double *right,
                                                         double *plan, wfre_error *error);

/* ---- any two measures --------------------------------------------------------------------- */

/* Positive masses at points of a line. */
typedef struct wfre_measure {
    const double *mass;
    const double *position; /* in bins: two points interact when closer than the radius */
    size_t count;
} wfre_measure;

typedef struct wfre_transport {
    double dual;   /* the WFR value: one block, masses as given (no floor) */
    double primal; /* KL(P 1 | x) + KL(P' 1 | y) + epsilon KL(P | K) of P = diag(phi) K diag(psi) */
} wfre_transport;

/* The textbook solver: dense, in double precision and logarithms, for measures that need not lie on
 * a grid. Reads radius, epsilon, power and iterations of `settings`; psi starts as `start`. With
 * power 2/epsilon, primal - dual is the duality gap: >= 0, and 0 at convergence. `plan` receives P,
 * left.count * right.count elements, unless NULL. */
WFRE_API WFRE_NODISCARD wfre_status wfre_transport_solve(const wfre_measure *left,
                                                         const wfre_measure *right,
                                                         const wfre_score_settings *settings,
                                                         double start, double *plan,
                                                         wfre_transport *result, wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
