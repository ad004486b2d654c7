#define _GNU_SOURCE /* the CPUs that this process may use */
/* A pthread pool: workers sleep between jobs, and take chunk numbers from one atomic counter.
 *
 * Invariant: a job's fields change only under the lock while no worker is active. `generation`
 * tells a waking worker that there is a new job; `active` counts the workers still inside it. */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/scope.h"

enum { MOST_THREADS = 1024, LOOK_NANOSECONDS = 10000000 /* between looks whether to stop */ };

typedef struct worker {
    wfre_pool *pool;
    pthread_t thread;
    unsigned index;
} worker;

struct wfre_pool {
    pid_t process;        /* that has the threads: a child after fork() has none of them */
    pthread_mutex_t turn; /* held by the caller whose job it is */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t done;
    unsigned threads;
    unsigned started; /* workers whose thread exists */
    unsigned active;
    uint64_t generation;
    bool stopping;
    wfre_pool_task task;
    void *context;
    size_t chunks;
    wfre_scope scope; /* of the caller */
    bool may_stop;    /* chunks are left out once it says so */
    _Atomic size_t next_chunk;
    worker workers[];
};

static void work_off(wfre_pool *pool, unsigned worker_index)
{
    for (;;) {
        size_t chunk = atomic_fetch_add(&pool->next_chunk, 1);
        if (chunk >= pool->chunks)
            return;
        if (!pool->may_stop || !wfre_stopped())
            pool->task(pool->context, chunk, worker_index);
    }
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    wfre_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stopping && pool->generation == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stopping)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        (void)wfre_scope_enter(pool->scope);
        work_off(pool, self->index);
        (void)wfre_scope_enter((wfre_scope){0});
        pthread_mutex_lock(&pool->lock);
        if (--pool->active == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* How many CPUs there are for this process, at most MOST_THREADS. */
static unsigned count_cpus(void)
{
    cpu_set_t cpus;
    long count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus)
                                                               : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (unsigned)count;
}

/* Starts a worker that leaves signals to the caller's threads: a handler may belong to what the
 * main thread is doing, and would be late on a thread that has to be woken for it. */
static bool start_worker(worker *w)
{
    static const int OWN[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}; /* a thread's own mistakes */
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        sigdelset(&blocked, OWN[i]);
    if (pthread_sigmask(SIG_SETMASK, &blocked, &before) != 0)
        return false;
    bool started = pthread_create(&w->thread, NULL, worker_main, w) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

wfre_status wfre_pool_create(unsigned threads, wfre_pool **result, wfre_error *error)
{
    if (threads == 0)
        threads = count_cpus();
    if (threads > MOST_THREADS)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%u threads: at most %d",
                         threads, MOST_THREADS);
    wfre_pool *pool = wfre_alloc_zero(1, sizeof *pool + threads * sizeof pool->workers[0]);
    if (!pool)
        return wfre_fail_memory(error, "starting threads");
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->threads = threads;
    pool->process = getpid();
    for (unsigned i = 1; i < threads; i++) { /* worker 0 is the calling thread */
        worker *w = &pool->workers[i];
        w->pool = pool;
        w->index = i;
        if (!start_worker(w)) {
            wfre_pool_free(pool);
            return wfre_fail(error, WFRE_ERR_IO, WFRE_NO_OFFSET, "cannot start %u threads",
                             threads);
        }
        pool->started = i;
    }
    *result = pool;
    return WFRE_OK;
}

void wfre_pool_free(wfre_pool *pool)
{
    if (!pool)
        return;
    if (pool->process != getpid()) { /* nobody to join, and locks may be held for ever */
        wfre_free(pool);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    wfre_free(pool);
}

unsigned wfre_pool_threads(const wfre_pool *pool)
{
    return pool ? pool->threads : 1;
}

/* ---- turns -------------------------------------------------------------------------------- */

/* The jobs that a thread has under way, the last one first: while it looks whether to stop, its
 * caller's function, such as a signal handler of Python, may use the library and so the pool. */
typedef struct turn {
    const wfre_pool *pool;
    const struct turn *outer;
} turn;

static _Thread_local const turn *turns;

static bool has_turn(const wfre_pool *pool)
{
    const turn *at = turns;
    while (at && at->pool != pool)
        at = at->outer;
    return at;
}

/* Until all workers are done, under the lock. A caller who may stop goes on looking meanwhile: that
 * is how the workers get to know of it. */
static void wait_for_workers(wfre_pool *pool)
{
    while (pool->active > 0) {
        struct timespec until;
        if (!pool->may_stop) {
            pthread_cond_wait(&pool->done, &pool->lock);
            continue;
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&pool->lock);
            (void)wfre_stopped();
            pthread_mutex_lock(&pool->lock);
        }
    }
}

static void run(wfre_pool *pool, size_t chunks, wfre_pool_task task, void *context, bool may_stop)
{
    bool before = wfre_partial(may_stop);
    if (!pool || pool->threads == 1 || chunks <= 1 || pool->process != getpid() || has_turn(pool)) {
        for (size_t chunk = 0; chunk < chunks && !(may_stop && wfre_stopped()); chunk++)
            task(context, chunk, 0);
        (void)wfre_partial(before);
        return;
    }
    turn mine = {pool, turns};
    pthread_mutex_lock(&pool->turn);
    turns = &mine;
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->context = context;
    pool->chunks = chunks;
    pool->scope = wfre_scope_current();
    pool->scope.away = true;
    pool->may_stop = may_stop;
    atomic_store(&pool->next_chunk, 0);
    pool->active = pool->threads - 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work_off(pool, 0);
    pthread_mutex_lock(&pool->lock);
    wait_for_workers(pool);
    pthread_mutex_unlock(&pool->lock);
    turns = mine.outer;
    pthread_mutex_unlock(&pool->turn);
    (void)wfre_partial(before);
}

void wfre_pool_run(wfre_pool *pool, size_t chunks, wfre_pool_task task, void *context)
{
    run(pool, chunks, task, context, false);
}

wfre_status wfre_pool_try(wfre_pool *pool, size_t chunks, wfre_pool_task task, void *context,
                          wfre_error *error)
{
    run(pool, chunks, task, context, true);
    return wfre_check_stop(error);
}
