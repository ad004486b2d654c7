/* The WFR score as a sum of few products, cheap and differentiable: what training compares
 * thousands of candidates by.
 *
 * With x = u + floor, the features of a block of a bins are
 *
 *     f(x) = 1, x, g^p          p = 1 / (2 + epsilon), g = L'x
 *
 * where the columns of L are the bins, three smoothings of them (by c, c^4 and c^(2/epsilon), c
 * being the score's cosine) and the block's sum. At convergence and with the power `exact` the
 * transported mass is homogeneous of degree p in x and in y, hence the powers. The value of a block
 * is f(x)' M f(y), with M of low rank: (left' f(x)) . (right' f(y)). Both maps are fitted by least
 * squares on the values of sampled blocks; without transport (radius <= 1) the form is exact.
 *
 * There are two gradients to follow. That of the value is its derivative. What training with the
 * score itself follows is another one, the envelope's, which is 14 to 20% away from the derivative
 * of the score's value; it has maps of its own, fitted to it:
 *
 *     dD/dx_i ~ F_i(x)' back' (right' f(y))
 *
 * where F_i(x) are the derivatives of the features by x_i and two powers of x_i more, by which the
 * envelope's gradient depends on it if all else stays, and if no mass moves. It is as many products
 * as the derivative. The rank is the smallest whose derivative comes within 2% (of the norm) of
 * what all ranks give. */
#ifndef WFRE_SRC_WFR_SURROGATE_H
#define WFRE_SRC_WFR_SURROGATE_H

#include "wfre/score.h"

enum { WFRE_SURROGATE_BLOCK = 24 }; /* the longest block */

/* Powers have a pole at 0: what is raised is taken as at least this in derivatives. */
#define WFRE_SLOPE_FLOOR 0.03f

typedef enum wfre_slope { WFRE_SLOPE_VALUE, WFRE_SLOPE_ENVELOPE } wfre_slope;

/* Entities stand on the left of the score, queries on its right. */
typedef enum wfre_side { WFRE_LEFT, WFRE_RIGHT } wfre_side;

typedef struct wfre_surrogate {
    size_t block;    /* a */
    size_t forms;    /* G: columns of L */
    size_t features; /* F = 1 + a + G */
    size_t slopes;   /* F + 2a: the derivatives of the features, and the powers of the envelope */
    size_t rank;
    double floor, power;
    double envelope[2];       /* the exponents of these powers */
    float *linear;            /* [a, G]: L */
    float *linear_back;       /* [G, a] */
    float *map[2];            /* by side: [F, rank] */
    float *back[2][2];        /* by gradient and side: [rank, F] or [rank, F + 2a] */
    double fit;               /* R^2 on blocks that were not fitted */
    double gradient_error[2]; /* of both gradients beside the envelope's, relative, as they count */
    double slope_error;       /* of the value's derivative beside the score's */
    double slope_error_all_ranks; /* the same before the cut */
    double slope_error_envelope;  /* of the envelope's gradient beside the score's derivative */
} wfre_surrogate;

/* Blocks to fit on, [count, a] each; the left ones stand on the left of the score, as entities. */
typedef struct wfre_surrogate_sample {
    const float *left, *right;
    size_t left_count, right_count;
} wfre_surrogate_sample;

/* How many blocks a fit wants of each side, of which a part serves to test it. */
size_t wfre_surrogate_wanted(const wfre_score_settings *settings);

bool wfre_surrogate_suits(const wfre_score_settings *settings);

/* Fits to the sample, or, if it is NULL, to random blocks of all kinds: then the result depends on
 * the settings alone. A fixed rank other than 0 is kept, so that buffers keep their shapes. */
WFRE_NODISCARD wfre_status wfre_surrogate_fit(const wfre_score_settings *settings,
                                              const wfre_surrogate_sample *sample, wfre_pool *pool,
                                              size_t rank, wfre_surrogate **surrogate,
                                              wfre_error *error);
/* One with all maps zero, to be filled from a file. */
WFRE_NODISCARD wfre_status wfre_surrogate_allocate(const wfre_score_settings *settings, size_t rank,
                                                   wfre_surrogate **surrogate, wfre_error *error);
/* Fills the ways back of the value from its maps. */
void wfre_surrogate_complete(wfre_surrogate *surrogate);
void wfre_surrogate_free(wfre_surrogate *surrogate);

/* How many derivatives such a gradient is made of. */
size_t wfre_surrogate_slopes(const wfre_surrogate *surrogate, wfre_slope kind);

/* The value of a block in double precision, and a gradient by u, of a elements, if not NULL. */
double wfre_surrogate_block(const wfre_surrogate *surrogate, const float *u, const float *v,
                            wfre_slope kind, double *gradient);

#endif
