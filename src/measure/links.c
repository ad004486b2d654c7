/* Queries for single triples, all of a split or some. */
#include "measure/links.h"

#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"

typedef struct triple {
    wfre_entity head, tail;
    wfre_relation relation;
} triple;

uint64_t wfre_links_added(const wfre_graph *graph, wfre_split split)
{
    return wfre_graph_triples(graph, split) - wfre_graph_triples(graph, (wfre_split)(split - 1));
}

wfre_status wfre_link_query(wfre_arena *arena, const wfre_graph *graph, wfre_split split,
                            wfre_relation relation, wfre_entity head, wfre_entity only,
                            wfre_rank_query *query, wfre_error *error)
{
    wfre_list all = wfre_graph_targets(graph, WFRE_TEST, relation, head);
    wfre_list with = wfre_graph_targets(graph, split, relation, head);
    wfre_list without = wfre_graph_targets(graph, (wfre_split)(split - 1), relation, head);
    *query = (wfre_rank_query){0};
    if (with.count == without.count)
        return WFRE_OK;
    wfre_entity *hard = wfre_arena_alloc(arena, with.count - without.count, sizeof *hard);
    wfre_entity *easy = wfre_arena_alloc(arena, all.count, sizeof *easy);
    const wfre_node *tree = wfre_node_project(arena, relation, wfre_node_entity(arena, head));
    query->standings =
        wfre_arena_alloc(arena, with.count - without.count, sizeof *query->standings);
    if (!hard || !easy || !query->standings || !tree)
        return wfre_fail_memory(error, "ranking links");
    size_t hards = 0, easies = 0;
    for (size_t i = 0; i < all.count; i++) {
        wfre_entity tail = all.ids[i];
        bool asked = (only == WFRE_NONE || only == tail) && wfre_list_has(with, tail) &&
                     !wfre_list_has(without, tail);
        if (asked)
            hard[hards++] = tail;
        else
            easy[easies++] = tail;
    }
    query->tree = tree;
    query->easy = (wfre_list){easy, easies};
    query->hard = (wfre_list){hard, hards};
    return WFRE_OK;
}

/* ---- a sample ----------------------------------------------------------------------------- */

/* Takes the next of the triples into a sample of `most`, in which all so far are equally likely to
 * be and to stand anywhere. */
static void consider(triple *kept, size_t *count, size_t most, uint64_t *seen, wfre_rng *rng,
                     triple next)
{
    uint64_t place = (uint64_t)(wfre_rng_double(rng) * (double)++*seen);
    if (*count < most) {
        kept[*count] = next;
        size_t other = place <= *count ? (size_t)place : *count;
        triple moved = kept[other];
        kept[other] = kept[*count];
        kept[(*count)++] = moved;
    } else if (place < most) {
        kept[place] = next;
    }
}

static size_t draw(const wfre_graph *graph, wfre_split split, triple *kept, size_t most,
                   wfre_rng *rng)
{
    size_t count = 0;
    uint64_t seen = 0;
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r += 2) {
        wfre_list heads = wfre_graph_sources(graph, split, r);
        for (size_t h = 0; h < heads.count; h++) {
            wfre_list with = wfre_graph_targets(graph, split, r, heads.ids[h]);
            wfre_list without = wfre_graph_targets(graph, (wfre_split)(split - 1), r, heads.ids[h]);
            for (size_t t = 0; with.count > without.count && t < with.count; t++)
                if (!wfre_list_has(without, with.ids[t]))
                    consider(kept, &count, most, &seen, rng,
                             (triple){heads.ids[h], with.ids[t], r});
        }
    }
    return count;
}

wfre_status wfre_link_sample_draw(const wfre_graph *graph, wfre_split split, size_t most,
                                  uint64_t seed, wfre_link_sample *sample, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    triple *kept = NULL;
    wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_LINKS, 0, 0);
    sample->all = wfre_links_added(graph, split);
    if (most > sample->all)
        most = (size_t)sample->all;
    if (most == 0)
        return WFRE_OK;
    kept = wfre_alloc(most, sizeof *kept);
    sample->queries = wfre_arena_alloc(&sample->arena, 2 * most, sizeof *sample->queries);
    if (!kept || !sample->queries)
        TRY(wfre_fail_memory(error, "choosing links to rank"));
    size_t count = draw(graph, split, kept, most, &rng);
    for (size_t i = 0; i < count; i++) {
        const triple *t = &kept[i];
        TRY(wfre_link_query(&sample->arena, graph, split, t->relation, t->head, t->tail,
                            &sample->queries[sample->count++], error));
        TRY(wfre_link_query(&sample->arena, graph, split, t->relation ^ 1, t->tail, t->head,
                            &sample->queries[sample->count++], error));
    }
cleanup:
    wfre_free(kept);
    return status;
}

void wfre_link_sample_free(wfre_link_sample *sample)
{
    wfre_arena_free(&sample->arena);
    *sample = (wfre_link_sample){0};
}
