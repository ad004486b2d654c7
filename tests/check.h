/* What every cmocka test includes, in the order that cmocka wants. */
#ifndef WFRE_TESTS_CHECK_H
#define WFRE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"

/* A call that must succeed; prints the library's message when it does not. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        wfre_error error_ = {0};                                                                   \
        wfre_error *error = &error_;                                                               \
        if ((call) != WFRE_OK)                                                                     \
            fail_msg("%s", error->message);                                                        \
    } while (0)

/* Runs `attempt(context)` with its 1st, 2nd, ... allocation failing until it gets through without
 * an injected failure. It must return a status, and WFRE_ERR_MEMORY whenever one was injected. */
static inline void sweep_allocations(wfre_status (*attempt)(void *context), void *context)
{
    for (uint64_t k = 1;; k++) {
        wfre_alloc_fail_at(k);
        wfre_status status = attempt(context);
        uint64_t made = wfre_alloc_count();
        wfre_alloc_fail_at(0);
        if (made < k) {
            assert_int_equal(status, WFRE_OK);
            return;
        }
        assert_int_equal(status, WFRE_ERR_MEMORY);
    }
}

#endif
