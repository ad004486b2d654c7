/* AVX2 kernels. */
#include "wfr/power8.h"

#include "wfr/float_kernels.h"

#include "wfr/double_kernels.h"

#include "wfr/vector_slots.h"

bool wfre_score_use_avx2(wfre_score *score)
{
    return use_vector_kernels(score, "avx2, 8 blocks a step in float",
                              "avx2, 4 blocks a step in double");
}
