/* The 16-lane kernels on AVX2: the code of the AVX-512 kernels with each of its registers emulated
 * by two. One shape of each kind is enough: all registers, known taps, any. */
#define SHAPES(X) X(5, 4) X(0, 4) X(0, 0)

#include "vec16_emulated.h"

#include "wfr/float_kernels.h"

#include "wfr/double_kernels.h"

#include "wfr/vector_slots.h"

bool use_emulated_kernels(wfre_score *score);

bool use_emulated_kernels(wfre_score *score)
{
    return use_vector_kernels(score, "16 lanes in float", "8 lanes in double");
}
