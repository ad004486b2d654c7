/* Searching sorted lists of ids. */
#ifndef WFRE_SRC_BASE_GALLOP_H
#define WFRE_SRC_BASE_GALLOP_H

#include <stddef.h>
#include <stdint.h>

/* The first position in ids[from .. count) that is not below `key`; quick when it is near. */
static inline size_t wfre_gallop(const uint32_t *ids, size_t from, size_t count, uint32_t key)
{
    if (from >= count || ids[from] >= key)
        return from;
    size_t step = 1;
    size_t low = from; /* ids[low] < key */
    while (low + step < count && ids[low + step] < key) {
        low += step;
        step *= 2;
    }
    size_t high = low + step < count ? low + step : count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < key)
            low = middle;
        else
            high = middle;
    }
    return high;
}

#endif
