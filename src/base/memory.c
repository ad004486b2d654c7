/* The allocator front (with injected failures for tests), the arena and growing arrays. */
#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/scope.h"

static _Atomic uint64_t allocations;
static _Atomic uint64_t fail_at;

/* Counts one allocation; true if this one is to fail. */
static bool injected_failure(void)
{
    if (atomic_load_explicit(&fail_at, memory_order_relaxed) == 0)
        return false;
    uint64_t index = atomic_fetch_add(&allocations, 1) + 1;
    return index == atomic_load(&fail_at);
}

void wfre_alloc_fail_at(uint64_t k)
{
    atomic_store(&allocations, 0);
    atomic_store(&fail_at, k);
}

uint64_t wfre_alloc_count(void)
{
    return atomic_load(&allocations);
}

/* Bytes for count elements, at least 1; SIZE_MAX when the product overflows. */
static size_t checked_bytes(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return SIZE_MAX;
    size_t bytes = count * size;
    return bytes ? bytes : 1;
}

/* Whether so many bytes may be taken: tests and the scope's budget may object. */
static bool may_take(size_t bytes)
{
    return bytes != SIZE_MAX && !injected_failure() && wfre_scope_allows(bytes);
}

/* Charges a new block to the scope. */
static void *charged(void *block)
{
    if (block)
        wfre_scope_charge(malloc_usable_size(block), 0);
    return block;
}

void *wfre_alloc(size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    return may_take(bytes) ? charged(malloc(bytes)) : NULL;
}

void *wfre_alloc_zero(size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    return may_take(bytes) ? charged(calloc(1, bytes)) : NULL;
}

void *wfre_resize(void *block, size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size), before = malloc_usable_size(block);
    if (!may_take(bytes > before && bytes != SIZE_MAX ? bytes - before : bytes))
        return NULL;
    void *grown = realloc(block, bytes);
    if (grown)
        wfre_scope_charge(malloc_usable_size(grown), before);
    return grown;
}

void wfre_free(void *block)
{
    if (block)
        wfre_scope_charge(0, malloc_usable_size(block));
    free(block);
}

size_t wfre_bytes_of(void *block)
{
    return malloc_usable_size(block);
}

/* Large ones ask for large pages: there are hundreds of times fewer to fetch when it is filled. */
void *wfre_alloc_tensor(size_t count, size_t size)
{
    static const size_t LINE = 64, LARGE_PAGE = (size_t)1 << 21;
    size_t bytes = checked_bytes(count, size);
    if (!may_take(bytes))
        return NULL;
    void *block = NULL;
    bool large = bytes >= 2 * LARGE_PAGE;
    bytes = (bytes + LINE - 1) & ~(LINE - 1);
    if (posix_memalign(&block, large ? LARGE_PAGE : LINE, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        (void)madvise(block, bytes & ~(LARGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    memset(block, 0, bytes);
    return charged(block);
}

bool wfre_reserve_tensor(float **tensor, size_t *capacity, size_t need)
{
    if (need <= *capacity)
        return true;
    wfre_free(*tensor);
    need += need / 8;
    *tensor = wfre_alloc_tensor(need, sizeof **tensor);
    *capacity = *tensor ? need : 0;
    return *tensor != NULL;
}

char *wfre_copy_text(const char *text, size_t length)
{
    char *copy = wfre_alloc(length + 1, 1);
    if (copy) {
        if (length)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

bool wfre_reserve(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    void *data; /* copied, not cast: a pointer of another type may not be read as a void * */
    memcpy(&data, array, sizeof data);
    size_t grown = *capacity + *capacity / 2 + 8;
    if (grown < need)
        grown = need;
    data = wfre_resize(data, grown, size);
    if (!data)
        return false;
    memcpy(array, &data, sizeof data);
    *capacity = grown;
    return true;
}

/* ---- arena -------------------------------------------------------------------------------- */

struct wfre_arena_chunk {
    struct wfre_arena_chunk *next;
    size_t capacity;
    _Alignas(16) unsigned char bytes[];
};

enum { FIRST_CHUNK = 4096 };

void *wfre_arena_alloc(wfre_arena *arena, size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    if (bytes == SIZE_MAX)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!arena->chunks || arena->chunks->capacity - arena->used < bytes) {
        size_t capacity = arena->chunks ? arena->chunks->capacity * 2 : FIRST_CHUNK;
        if (capacity < bytes)
            capacity = bytes;
        struct wfre_arena_chunk *chunk = wfre_alloc(1, sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        chunk->capacity = capacity;
        arena->chunks = chunk;
        arena->used = 0;
    }
    void *piece = arena->chunks->bytes + arena->used;
    arena->used += bytes;
    return piece;
}

char *wfre_arena_text(wfre_arena *arena, const char *text, size_t length)
{
    char *copy = wfre_arena_alloc(arena, length + 1, 1);
    if (copy) {
        if (length)
            memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static void free_chunks(struct wfre_arena_chunk *chunk)
{
    while (chunk) {
        struct wfre_arena_chunk *next = chunk->next;
        wfre_free(chunk);
        chunk = next;
    }
}

size_t wfre_arena_bytes(const wfre_arena *arena)
{
    size_t bytes = 0;
    for (struct wfre_arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        bytes += malloc_usable_size(chunk);
    return bytes;
}

void wfre_arena_rewind(wfre_arena *arena, wfre_arena mark)
{
    /* a chunk that is newer than the mark has nothing else */
    arena->used = arena->chunks == mark.chunks ? mark.used : 0;
}

void wfre_arena_reset(wfre_arena *arena)
{
    /* Chunks double in size, so the newest one is the largest. */
    if (arena->chunks) {
        free_chunks(arena->chunks->next);
        arena->chunks->next = NULL;
    }
    arena->used = 0;
}

void wfre_arena_free(wfre_arena *arena)
{
    free_chunks(arena->chunks);
    *arena = (wfre_arena){0};
}
