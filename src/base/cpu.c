/* Which instruction sets this machine has, and which one the user forces by WFRE_ISA. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

static const char *const ISA_NAMES[] = {"reference", "avx2", "avx512", "avx512bf16", "amx"};
enum { ISA_COUNT = sizeof ISA_NAMES / sizeof ISA_NAMES[0] };

const char *wfre_isa_name(wfre_isa isa)
{
    return (unsigned)isa < ISA_COUNT ? ISA_NAMES[isa] : "unknown";
}

#if defined(__x86_64__)
#include <cpuid.h>

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_bf16(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 5);
}

/* AMX state is large, so Linux hands it out only on request:
 * arch_prctl(ARCH_REQ_XCOMP_PERM, 18). */
static bool has_amx(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    const unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    if (!(d & amx_bf16) || !(d & amx_tile))
        return false;
    const long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool wfre_isa_available(wfre_isa isa)
{
    switch (isa) {
    case WFRE_ISA_REFERENCE:
        return true;
    case WFRE_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case WFRE_ISA_AVX512:
        return has_avx512();
    case WFRE_ISA_AVX512BF16:
        return has_avx512() && has_bf16();
    case WFRE_ISA_AMX:
        return has_avx512() && has_amx();
    }
    return false;
}
#else
bool wfre_isa_available(wfre_isa isa)
{
    return isa == WFRE_ISA_REFERENCE;
}
#endif

wfre_status wfre_isa_select(wfre_isa *isa, wfre_error *error)
{
    const char *forced = getenv("WFRE_ISA");
    if (!forced || !*forced) {
        wfre_isa best = WFRE_ISA_REFERENCE;
        for (int i = 0; i < ISA_COUNT; i++)
            if (wfre_isa_available((wfre_isa)i))
                best = (wfre_isa)i;
        *isa = best;
        return WFRE_OK;
    }
    for (int i = 0; i < ISA_COUNT; i++) {
        if (strcmp(forced, ISA_NAMES[i]) != 0)
            continue;
        if (!wfre_isa_available((wfre_isa)i))
            return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                             "WFRE_ISA=%s: this CPU does not have it; unset WFRE_ISA", forced);
        *isa = (wfre_isa)i;
        return WFRE_OK;
    }
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                     "WFRE_ISA=%s: unknown; use reference, avx2, avx512, avx512bf16 or amx",
                     forced);
}
