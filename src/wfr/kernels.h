/* What a wfre_score holds, and the kernel slots that the per-CPU files fill.
 *
 * Every kernel works on packed rows ("sides"): each row is brought once into the layout that the
 * kernel wants, with everything computed that depends on that row alone. A side is opaque to all
 * but the kernels of its own score.
 *
 *     row of d floats --pack_left---> left side  \
 *                                                 +--value/gradient--> distance
 *     row of d floats --pack_right--> right side /
 */
#ifndef WFRE_SRC_WFR_KERNELS_H
#define WFRE_SRC_WFR_KERNELS_H

#include "wfre/score.h"

typedef struct wfre_score_kernels {
    /* Bytes of a side: multiples of 64, so that an array of sides stays aligned. */
    size_t left_size;
    size_t right_size;
    /* `row` has d floats, any alignment. `side` is 64-byte aligned. */
    void (*pack_left)(const wfre_score *score, const float *row, void *side);
    void (*pack_right)(const wfre_score *score, const float *row, void *side);
    double (*value)(const wfre_score *score, const void *left, const void *right);
    /* rank_iterations, the others extrapolated. NULL if there is no such kernel. */
    double (*extrapolated)(const wfre_score *score, const void *left, const void *right);
    /* The value, and d elements of each gradient. */
    double (*gradient)(const wfre_score *score, const void *left, const void *right,
                       float *left_gradient, float *right_gradient);
    /* One pair of double rows; gradients may be NULL. `scratch` has room for both sides. NULL if
     * the kernels know only float. */
    double (*pair)(const wfre_score *score, const double *left, const double *right, void *scratch,
                   double *left_gradient, double *right_gradient);
    const char *name;
} wfre_score_kernels;

struct wfre_score {
    wfre_score_settings settings;   /* with the power resolved */
    size_t blocks;                  /* b */
    uint32_t window;                /* c_k > 0 for k < window <= a */
    double exponent;                /* p = 1 / (1 + epsilon) */
    double log_c[WFRE_BLOCK_LIMIT]; /* log c_k for k < window */
    double h[WFRE_BLOCK_LIMIT];     /* c_k ^ power */
    double k[WFRE_BLOCK_LIMIT];     /* c_k ^ (2 / epsilon) */
    double kernel_sum;              /* of K over a block */
    double resolution;              /* absolute error of a value computed in float */
    /* Bounds on log2 of phi, psi, H phi and H psi, whatever the rows in [0,1]^d are. */
    double octaves_low;
    double octaves_high;
    /* Ranking: true iterations before the extrapolation, and its error measured on random rows.
     * rank_iterations == 0: no faster way that keeps the error small is known (yet). */
    uint32_t rank_iterations;
    double rank_error;
    wfre_score_kernels kernels;
    struct float_tables *tables; /* of the kernels, owned; NULL if they need none */
};

/* What one pair takes, for wfre_leave_after (base/scope.h): kernels leave a pair half done where
 * that is allowed and wanted. */
static inline size_t wfre_score_steps(const wfre_score *score)
{
    bool iterates = score->settings.kind == WFRE_SCORE_WFR;
    return score->settings.dimension *
           (iterates ? (size_t)score->window * score->settings.iterations : 1);
}

/* log c at a distance in bins; -INFINITY from the radius on. */
double wfre_log_cosine(double distance, double radius);

/* Each fills the slots it has kernels for. */
void wfre_score_use_reference(wfre_score *score);
void wfre_score_use_pointwise(wfre_score *score); /* all kinds but WFR */
/* False when out of memory. They leave the slots alone where double cannot hold the range. */
bool wfre_score_use_avx2(wfre_score *score);
bool wfre_score_use_avx512(wfre_score *score);

/* Has it iterate even where the iterations have a closed form (wfr/float_kernels.h), which rounds
 * in another way: training by the score does, so that the same steps give the same bits as they
 * always did. To be called before anything is packed. */
void wfre_score_iterate_always(wfre_score *score);

/* P_ij of every block in double precision, d * a elements. */
void wfre_reference_transport(const wfre_score *score, const double *left, const double *right,
                              double *plan);

#endif
