/* AVX2 kernels: 8 blocks a step in float. */
#include "wfr/vec8.h"

#include "wfr/float_kernels.h"
#include "wfr/float_slots.h"

bool wfre_score_use_avx2(wfre_score *score)
{
    return use_float_kernels(score, "avx2, 8 blocks a step (float)");
}
