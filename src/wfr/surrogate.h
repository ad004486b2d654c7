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
 * The form cannot follow the score's gradient to less than some 4 to 12% on blocks of all kinds;
 * the envelope's gradient, which training with the score itself uses, is 14 to 20% away from it. So
 * the rank is the smallest that comes within 2% (of the gradient's norm) of what all ranks give. */
#ifndef WFRE_SRC_WFR_SURROGATE_H
#define WFRE_SRC_WFR_SURROGATE_H

#include "wfre/score.h"

enum { WFRE_SURROGATE_BLOCK = 24 }; /* the longest block */

typedef struct wfre_surrogate {
    size_t block;    /* a */
    size_t forms;    /* G: columns of L */
    size_t features; /* F = 1 + a + G */
    size_t rank;
    double floor, power;
    float *linear;                   /* [a, G]: L */
    float *linear_back;              /* [G, a] */
    float *left, *right;             /* [F, rank] */
    float *left_back, *right_back;   /* [rank, F] */
    double fit;                      /* R^2 on blocks that were not fitted */
    double gradient_error;           /* of the gradient by x, relative, on such blocks */
    double gradient_error_all_ranks; /* the same before the cut */
    double gradient_error_envelope;  /* of what training with the score itself uses */
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
/* Fills left_back and right_back from left and right. */
void wfre_surrogate_complete(wfre_surrogate *surrogate);
void wfre_surrogate_free(wfre_surrogate *surrogate);

/* The value of a block in double precision, and its gradient by u, of a elements, if not NULL. */
double wfre_surrogate_block(const wfre_surrogate *surrogate, const float *u, const float *v,
                            double *gradient);

#endif
