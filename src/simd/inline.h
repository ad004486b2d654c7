/* For kernels that are compiled once for each shape: everything they call must vanish into them. */
#ifndef WFRE_SRC_SIMD_INLINE_H
#define WFRE_SRC_SIMD_INLINE_H

#ifdef WFRE_PLAIN_LANES
#define INLINE static inline /* all of it in one function would take gigabytes to compile */
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* Before a loop whose count is known when compiling and small. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
