/* Memory: every allocation of the library goes through here, so that tests can make the k-th one
 * fail, and so that it is charged to the budget of the thread's scope (base/scope.h). Also the
 * arena (many small things with one lifetime) and growing arrays. */
#ifndef WFRE_SRC_BASE_MEMORY_H
#define WFRE_SRC_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like malloc/calloc/realloc, but count * size is checked for overflow. NULL on failure. */
void *wfre_alloc(size_t count, size_t size);
void *wfre_alloc_zero(size_t count, size_t size);
void *wfre_resize(void *block, size_t count, size_t size);
void wfre_free(void *block);

/* What a block takes, as it is charged to a budget; 0 for NULL. */
size_t wfre_bytes_of(void *block);

/* 64-byte aligned and zeroed, for tensors; release with wfre_free. */
void *wfre_alloc_tensor(size_t count, size_t size);

/* A copy of text[0 .. length) with a NUL after it. */
char *wfre_copy_text(const char *text, size_t length);

/* Makes room for `need` elements of `size` bytes at *array, growing by half or more at a time.
 * `array` points to a pointer of any type. Returns false when out of memory, leaving *array as it
 * was. */
bool wfre_reserve(void *array, size_t *capacity, size_t need, size_t size);
/* The same for elements of the array's own type. */
#define WFRE_RESERVE(array, capacity, need)                                                        \
    wfre_reserve((array), (capacity), (need), sizeof **(array))

/* Makes a tensor hold `need` floats or a little more; when it grows, its contents are lost. Returns
 * false when out of memory, and the tensor is gone then. */
bool wfre_reserve_tensor(float **tensor, size_t *capacity, size_t need);

/* ---- tests only: fail the k-th allocation from now on (k = 1, 2, ...), 0 for none --------- */
void wfre_alloc_fail_at(uint64_t k);
/* How many allocations were made since the last wfre_alloc_fail_at. */
uint64_t wfre_alloc_count(void);

/* ---- arena -------------------------------------------------------------------------------- */

/* Memory with one lifetime: taken in pieces, given back all at once. Zero-initialise to create. */
typedef struct wfre_arena {
    struct wfre_arena_chunk *chunks;
    size_t used; /* in the newest chunk */
} wfre_arena;

/* 16-byte aligned, not zeroed. NULL when out of memory. */
void *wfre_arena_alloc(wfre_arena *arena, size_t count, size_t size);
char *wfre_arena_text(wfre_arena *arena, const char *text, size_t length);
/* What it holds, as it is charged to a budget. */
size_t wfre_arena_bytes(const wfre_arena *arena);
/* Forgets what was taken since a copy of the struct was made, but keeps the largest chunk. */
void wfre_arena_rewind(wfre_arena *arena, wfre_arena mark);
/* Forgets the contents but keeps the largest chunk for reuse. */
void wfre_arena_reset(wfre_arena *arena);
void wfre_arena_free(wfre_arena *arena);

#endif
