/* Checking the answer sets of a query set against a graph, in chunks over all threads. */
#include <stdio.h>

#include "base/pool.h"
#include "exact/exact.h"
#include "query/notation.h"
#include "sample/queryset.h"

enum { CHUNK = 64 };

typedef struct verification {
    const wfre_queryset *set;
    wfre_split split;
    wfre_exact *engines; /* one a thread */
    bool *wrong;         /* one a row */
    wfre_status *status; /* one a chunk */
    wfre_error *errors;
} verification;

/* The answers are those of `list`, and where `known` answers are not counted, none of these. */
static bool same_answers(wfre_list answers, wfre_list known, wfre_list list)
{
    size_t k = 0;
    size_t l = 0;
    for (size_t i = 0; i < answers.count; i++) {
        wfre_entity id = answers.ids[i];
        while (k < known.count && known.ids[k] < id)
            k++;
        if (k < known.count && known.ids[k] == id)
            continue;
        if (l == list.count || list.ids[l++] != id)
            return false;
    }
    return l == list.count;
}

/* Ids beyond the graph: the error shows the query as it was published. */
static wfre_status check_ids(const wfre_queryset *set, const wfre_graph *graph, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text query = {0};
    for (uint32_t row = 0; status == WFRE_OK && row < set->count; row++) {
        const wfre_node *tree = set->rows[row].tree;
        status = wfre_tree_fits(tree, graph, error);
        if (status == WFRE_OK)
            continue;
        wfre_betae_print(&query, tree);
        if (wfre_text_status(&query, "verifying queries", NULL) == WFRE_OK) {
            char place[320];
            (void)snprintf(place, sizeof place, "query %.300s", query.data);
            status = wfre_fail_within(error, status, place);
        }
    }
    wfre_text_free(&query);
    return status;
}

static void verify_chunk(void *context, size_t chunk, unsigned thread)
{
    verification *v = context;
    wfre_status status = WFRE_OK;
    wfre_error *error = &v->errors[chunk];
    uint32_t begin = (uint32_t)chunk * CHUNK;
    uint32_t end = begin + CHUNK < v->set->count ? begin + CHUNK : v->set->count;
    for (uint32_t row = begin; row < end; row++) {
        const wfre_node *tree = v->set->rows[row].tree;
        wfre_list easy = wfre_queryset_easy(v->set, row);
        wfre_list answers;
        TRY(wfre_exact_tree(&v->engines[thread], (wfre_split)(v->split - 1), tree, &answers,
                            error));
        v->wrong[row] = !same_answers(answers, (wfre_list){NULL, 0}, easy);
        TRY(wfre_exact_tree(&v->engines[thread], v->split, tree, &answers, error));
        v->wrong[row] |= !same_answers(answers, easy, wfre_queryset_hard(v->set, row));
    }
cleanup:
    v->status[chunk] = status;
}

wfre_status wfre_queryset_verify(const wfre_queryset *set, const wfre_graph *graph,
                                 wfre_split split, wfre_pool *pool, uint32_t *differ,
                                 uint32_t *first, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t chunks = ((size_t)set->count + CHUNK - 1) / CHUNK;
    size_t engines = 0;
    verification v = {.set = set, .split = split};
    if (split == WFRE_TRAIN)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "training queries have no hard answers; verify valid or test");
    TRY(wfre_check_split(split, error));
    TRY(wfre_graph_trust(graph, error));
    TRY(check_ids(set, graph, error));
    v.wrong = wfre_alloc(set->count, sizeof *v.wrong);
    v.status = wfre_alloc(chunks, sizeof *v.status);
    v.errors = wfre_alloc(chunks, sizeof *v.errors);
    if (!v.wrong || !v.status || !v.errors) {
        status = wfre_fail_memory(error, "verifying queries");
        goto cleanup;
    }
    TRY(wfre_exact_open_all(graph, pool, &v.engines, &engines, error));
    wfre_pool_run(pool, chunks, verify_chunk, &v);
    for (size_t i = 0; i < chunks; i++) {
        if (v.status[i] != WFRE_OK) {
            status = v.status[i];
            if (error)
                *error = v.errors[i];
            goto cleanup;
        }
    }
    *differ = 0;
    for (uint32_t row = 0; row < set->count; row++)
        if (v.wrong[row] && (*differ)++ == 0)
            *first = row;
cleanup:
    wfre_exact_close_all(v.engines, engines);
    wfre_free(v.wrong);
    wfre_free(v.status);
    wfre_free(v.errors);
    return status;
}
