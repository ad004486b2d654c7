#include "train/pair_list.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

enum { ENTITY_BLOCK = 64 };

static void free_pairs(wfre_pair_list *list)
{
    wfre_free(list->entity);
    wfre_free(list->branch);
    wfre_free(list->distance);
    wfre_free(list->by_entity);
    wfre_free(list->entity_side);
    wfre_free(list->query_side);
}

void wfre_pair_list_free(wfre_pair_list *list)
{
    free_pairs(list);
    wfre_free(list->entity_begin);
}

bool wfre_pair_list_reserve(wfre_pair_list *list, const wfre_pair_view *view, size_t pairs)
{
    if (pairs > list->capacity || view->width > list->width) {
        list->capacity = 0;
        free_pairs(list);
        list->entity = wfre_alloc_tensor(pairs, sizeof *list->entity);
        list->branch = wfre_alloc_tensor(pairs, sizeof *list->branch);
        list->distance = wfre_alloc_tensor(pairs, sizeof *list->distance);
        list->by_entity = wfre_alloc_tensor(pairs, sizeof *list->by_entity);
        list->entity_side = wfre_alloc_tensor(pairs * view->width, sizeof *list->entity_side);
        list->query_side = wfre_alloc_tensor(pairs * view->width, sizeof *list->query_side);
        if (!list->entity || !list->branch || !list->distance || !list->by_entity ||
            !list->entity_side || !list->query_side)
            return false;
        list->capacity = pairs;
        list->width = view->width;
    }
    return WFRE_RESERVE(&list->entity_begin, &list->capacity_candidates,
                        view->batch->candidates + 1);
}

/* Counting sort by candidate keeps the order of the pairs. */
static void sort_by_entity(wfre_pair_list *list, size_t candidates)
{
    uint32_t *begin = list->entity_begin;
    memset(begin, 0, (candidates + 1) * sizeof *begin);
    for (size_t k = 0; k < list->count; k++)
        begin[list->entity[k] + 1]++;
    for (size_t c = 0; c < candidates; c++)
        begin[c + 1] += begin[c];
    for (size_t k = list->count; k-- > 0;)
        list->by_entity[--begin[list->entity[k] + 1]] = (uint32_t)k;
    /* Every begin has moved down to where its candidate starts: shift them back by one. */
    memmove(begin, begin + 1, candidates * sizeof *begin);
    begin[candidates] = (uint32_t)list->count;
}

wfre_status wfre_pair_list_score(wfre_pair_list *list, const wfre_score *score, wfre_pool *pool,
                                 const wfre_pair_view *view, wfre_error *error)
{
    const wfre_loss_batch *batch = view->batch;
    sort_by_entity(list, batch->candidates);
    wfre_pairs pairs = {
        .left = {batch->table + view->column, batch->dim},
        .right = {batch->branches + view->column, batch->dim},
        .left_index = list->entity,
        .right_index = list->branch,
        .count = list->count,
    };
    wfre_gradients gradients = {list->entity_side, list->query_side, view->width};
    return wfre_score_pairs(score, pool, &pairs, list->distance, &gradients, error);
}

typedef struct add_task {
    const wfre_pair_list *list;
    const wfre_vector_table *vectors;
    const wfre_pair_view *view;
} add_task;

static void add_block(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const add_task *task = context;
    const wfre_pair_list *list = task->list;
    const wfre_loss_batch *batch = task->view->batch;
    size_t first = chunk * ENTITY_BLOCK, last = first + ENTITY_BLOCK, width = task->view->width;
    for (size_t c = first; c < last && c < batch->candidates; c++)
        for (uint32_t i = list->entity_begin[c]; i < list->entity_begin[c + 1]; i++) {
            size_t pair = list->by_entity[i];
            task->vectors->axpy(width, list->distance[pair], list->entity_side + pair * width,
                                batch->table_gradient + c * batch->dim + task->view->column);
        }
}

wfre_status wfre_pair_list_add(const wfre_pair_list *list, const wfre_vector_table *vectors,
                               wfre_pool *pool, const wfre_pair_view *view, wfre_error *error)
{
    add_task task = {list, vectors, view};
    return wfre_pool_try(pool, (view->batch->candidates + ENTITY_BLOCK - 1) / ENTITY_BLOCK,
                         add_block, &task, error);
}
