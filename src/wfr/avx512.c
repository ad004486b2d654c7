/* AVX-512 kernels. */
#include "simd/vec16.h"
#include "wfr/power16.h"

#include "wfr/float_kernels.h"

#include "wfr/double_kernels.h"

#include "wfr/vector_slots.h"

bool wfre_score_use_avx512(wfre_score *score)
{
    return use_vector_kernels(score, "avx512, 16 blocks a step in float",
                              "avx512, 8 blocks a step in double");
}
