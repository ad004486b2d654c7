/* The best entities seen so far: a heap with the worst of them on top. */
#ifndef WFRE_SRC_SEARCH_TOP_H
#define WFRE_SRC_SEARCH_TOP_H

#include "linalg/linalg.h"
#include "wfre/graph.h"

/* An entity and its score; higher is better. */
typedef struct wfre_hit {
    wfre_entity entity;
    float score;
} wfre_hit;

/* Room for `top` hits; `count` of them are there. */
typedef struct wfre_best {
    wfre_hit *hits;
    size_t count;
    size_t top;
} wfre_best;

/* The order of hits: by score, those of equal score by id. */
static inline bool wfre_hit_better(wfre_hit a, wfre_hit b)
{
    return a.score != b.score ? a.score > b.score : a.entity < b.entity;
}

/* Lets heap[at] sink to its place. */
static inline void wfre_best_sink(wfre_hit *heap, size_t count, size_t at)
{
    wfre_hit hit = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && wfre_hit_better(heap[child], heap[child + 1]))
            child++;
        if (!wfre_hit_better(hit, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = hit;
}

static inline void wfre_best_offer(wfre_best *best, wfre_hit hit)
{
    wfre_hit *heap = best->hits;
    if (best->count == best->top) {
        if (best->top > 0 && wfre_hit_better(hit, heap[0])) {
            heap[0] = hit;
            wfre_best_sink(heap, best->top, 0);
        }
        return;
    }
    size_t at = best->count++;
    for (; at > 0 && wfre_hit_better(heap[(at - 1) / 2], hit); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = hit;
}

/* Offers scores[e] of all entities but those to leave out, which ascend. Stretches without a score
 * that could enter are passed over. */
static inline void wfre_best_offer_all(wfre_best *best, const wfre_vector_table *vectors,
                                       const float *scores, size_t entities, wfre_list without)
{
    enum { STRETCH = 32 };
    size_t next = 0;
    for (size_t first = 0; first < entities; first += STRETCH) {
        size_t end = entities - first < STRETCH ? entities : first + STRETCH;
        if (best->count == best->top &&
            (best->top == 0 ||
             vectors->maximum(end - first, scores + first) <= best->hits[0].score)) {
            while (next < without.count && without.ids[next] < end)
                next++;
            continue;
        }
        for (size_t e = first; e < end; e++) {
            if (next < without.count && without.ids[next] == e)
                next++;
            else if (best->count < best->top || scores[e] > best->hits[0].score)
                wfre_best_offer(best, (wfre_hit){(wfre_entity)e, scores[e]});
        }
    }
}

/* Brings the hits into order, best first; nothing can be offered any more. */
static inline void wfre_best_settle(wfre_best *best)
{
    wfre_hit *heap = best->hits;
    for (size_t count = best->count; count > 1; count--) {
        wfre_hit worst = heap[0];
        heap[0] = heap[count - 1];
        heap[count - 1] = worst;
        wfre_best_sink(heap, count - 1, 0);
    }
}

#endif
