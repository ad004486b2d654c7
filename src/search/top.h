/* The nearest entities seen so far: a heap with the farthest on top. */
#ifndef WFRE_SRC_SEARCH_TOP_H
#define WFRE_SRC_SEARCH_TOP_H

#include "search/search.h"

/* Room for `top` hits; `count` of them are there. */
typedef struct wfre_nearest {
    wfre_hit *hits;
    size_t count;
    size_t top;
} wfre_nearest;

/* The order of hits: by distance, those of equal distance by id. */
static inline bool wfre_hit_nearer(wfre_hit a, wfre_hit b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.entity < b.entity;
}

/* Lets heap[at] sink to its place. */
static inline void wfre_nearest_sink(wfre_hit *heap, size_t count, size_t at)
{
    wfre_hit hit = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && wfre_hit_nearer(heap[child], heap[child + 1]))
            child++;
        if (!wfre_hit_nearer(hit, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = hit;
}

static inline void wfre_nearest_offer(wfre_nearest *nearest, wfre_hit hit)
{
    wfre_hit *heap = nearest->hits;
    if (nearest->count == nearest->top) {
        if (nearest->top > 0 && wfre_hit_nearer(hit, heap[0])) {
            heap[0] = hit;
            wfre_nearest_sink(heap, nearest->top, 0);
        }
        return;
    }
    size_t at = nearest->count++;
    for (; at > 0 && wfre_hit_nearer(heap[(at - 1) / 2], hit); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = hit;
}

/* Brings the hits into order, nearest first; nothing can be offered any more. */
static inline void wfre_nearest_settle(wfre_nearest *nearest)
{
    wfre_hit *heap = nearest->hits;
    for (size_t count = nearest->count; count > 1; count--) {
        wfre_hit farthest = heap[0];
        heap[0] = heap[count - 1];
        heap[count - 1] = farthest;
        wfre_nearest_sink(heap, count - 1, 0);
    }
}

#endif
