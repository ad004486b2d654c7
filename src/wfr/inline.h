/* For kernels that are compiled once for each shape: everything they call must vanish into them. */
#ifndef WFRE_SRC_WFR_INLINE_H
#define WFRE_SRC_WFR_INLINE_H

#define INLINE static inline __attribute__((always_inline))

/* Before a loop whose count is known when compiling and small. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
