/* Every set of dense kernels that can run here, by name, and arrays to try them on. */
#ifndef WFRE_TESTS_UNIT_LINALG_TABLES_H
#define WFRE_TESTS_UNIT_LINALG_TABLES_H

#include "base/rng.h"
#include "check.h"
#include "linalg/context.h"
#include "linalg/kernels.h"

typedef struct kernel_set {
    const char *name;
    wfre_isa isa;
    wfre_linalg_kernels kernels;
} kernel_set;

static const kernel_set KERNEL_SETS[] = {
    {"reference", WFRE_ISA_REFERENCE, {&wfre_vector_reference, {NULL, NULL}}},
    {"16 lanes in plain C",
     WFRE_ISA_REFERENCE,
     {&wfre_vector_emulated, {&wfre_gemm_emulated, &wfre_gemm_emulated}}},
    {"pairs of bfloat16 in plain C",
     WFRE_ISA_REFERENCE,
     {&wfre_vector_emulated, {&wfre_gemm_emulated, &wfre_gemm_pairs_emulated}}},
    {"AMX tiles in plain C",
     WFRE_ISA_REFERENCE,
     {&wfre_vector_emulated, {&wfre_gemm_emulated, &wfre_gemm_amx_emulated}}},
#if defined(__x86_64__)
    {"avx2", WFRE_ISA_AVX2, {&wfre_vector_avx2, {&wfre_gemm_avx2, &wfre_gemm_avx2}}},
    {"avx512", WFRE_ISA_AVX512, {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_avx512}}},
    {"avx512bf16",
     WFRE_ISA_AVX512BF16,
     {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_avx512bf16}}},
    {"amx", WFRE_ISA_AMX, {&wfre_vector_avx512, {&wfre_gemm_avx512, &wfre_gemm_amx}}},
#endif
};
enum { KERNEL_SET_COUNT = sizeof KERNEL_SETS / sizeof KERNEL_SETS[0] };

/* Calls check(set) for every set this CPU can run, and says which it cannot. */
static inline void for_each_kernel_set(void (*check)(const kernel_set *set))
{
    for (int i = 0; i < KERNEL_SET_COUNT; i++) {
        if (wfre_isa_available(KERNEL_SETS[i].isa))
            check(&KERNEL_SETS[i]);
        else
            print_message("not checked, this CPU has no %s\n", KERNEL_SETS[i].name);
    }
}

/* Uniform in low .. high. */
static inline void fill_random(uint64_t key, size_t n, float low, float high, float *x)
{
    wfre_rng rng = wfre_rng_keyed(20230501, key, n);
    for (size_t i = 0; i < n; i++)
        x[i] = low + (high - low) * wfre_rng_float(&rng);
}

#endif
