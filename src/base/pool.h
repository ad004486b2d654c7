/* The thread pool from the inside: run a function over fixed chunks of work.
 *
 * Chunks are cut by the caller without looking at the number of threads, and results that are
 * summed are kept per chunk and added in chunk order: so the bits do not depend on the threads. */
#ifndef WFRE_SRC_BASE_POOL_H
#define WFRE_SRC_BASE_POOL_H

#include "wfre/base.h"

/* Called once for each chunk 0 .. chunks-1; `worker` < wfre_pool_threads(pool) names the scratch
 * memory it may use. Must not call wfre_pool_run on the same pool: that would wait for itself. */
typedef void (*wfre_pool_task)(void *context, size_t chunk, unsigned worker);

/* Returns when all chunks are done. pool == NULL runs them in order on the calling thread. The
 * workers share the scope of the caller (base/scope.h). Any number of threads may call this on a
 * pool, each with scratch memory of its own: jobs of more than one chunk take turns. */
void wfre_pool_run(wfre_pool *pool, size_t chunks, wfre_pool_task task, void *context);

/* The same, but chunks are left out, or left half done (wfre_may_leave), as soon as the caller's
 * scope says stop (base/scope.h): fails then, and what the task was to make is not all there. */
WFRE_NODISCARD wfre_status wfre_pool_try(wfre_pool *pool, size_t chunks, wfre_pool_task task,
                                         void *context, wfre_error *error);

#endif
