/* The functions of vec.h that are one instruction, named alike but for the width: before this file
 * NATIVE(name) is defined as that intrinsic. */
#ifndef WFRE_SRC_SIMD_NATIVE_H
#define WFRE_SRC_SIMD_NATIVE_H

INLINE vf vf_fma(vf x, vf y, vf z)
{
    return NATIVE(fmadd_ps)(x, y, z);
}

INLINE vf vf_fms(vf x, vf y, vf z)
{
    return NATIVE(fmsub_ps)(x, y, z);
}

INLINE vf vf_fnma(vf x, vf y, vf z)
{
    return NATIVE(fnmadd_ps)(x, y, z);
}

INLINE vf vf_max(vf x, vf y)
{
    return NATIVE(max_ps)(x, y);
}

INLINE vf vf_min(vf x, vf y)
{
    return NATIVE(min_ps)(x, y);
}

INLINE vf vf_sqrt(vf x)
{
    return NATIVE(sqrt_ps)(x);
}

INLINE wd wd_fma(wd x, wd y, wd z)
{
    return NATIVE(fmadd_pd)(x, y, z);
}

INLINE wd wd_fnma(wd x, wd y, wd z)
{
    return NATIVE(fnmadd_pd)(x, y, z);
}

#endif
