/* Checks everything in a snapshot: what the guard does, and what it would take too long to look at
 * for a part alone. */
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"
#include "base/text.h"
#include "graph/image.h"

wfre_status wfre_graph_sound(const wfre_graph *graph, wfre_error *error)
{
    GIVEN(graph);
    return wfre_guard_status(graph->guard, error);
}

wfre_status wfre_graph_verify(const wfre_graph *graph, wfre_error *error)
{
    GIVEN(graph);
    wfre_guard *guard = graph->guard;
    wfre_status status;
    if (!guard) /* built in memory: looked at all the same */
        TRY(wfre_guard_create(graph, &guard, error));
    TRY(wfre_guard_check_sections(guard, error));
    TRY(wfre_guard_check_all(guard, error));
cleanup:
    if (!graph->guard)
        wfre_guard_free(guard);
    return status;
}

wfre_status wfre_graph_settle(const wfre_graph *graph, wfre_error *error)
{
    return graph->guard ? wfre_guard_check_all(graph->guard, error) : WFRE_OK;
}

wfre_status wfre_graph_trust(const wfre_graph *graph, wfre_error *error)
{
    if (!graph->guard || atomic_load(&graph->guard->valid))
        return WFRE_OK;
    return wfre_graph_validate(graph, error);
}

wfre_status wfre_check_split(wfre_split split, wfre_error *error)
{
    if (wfre_split_exists(split))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                     "no split %d; there are train (0), valid (1) and test (2)", (int)split);
}

static wfre_status invalid(wfre_error *error, int section, const char *what)
{
    char name[64];
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: section '%s' %s; import the graph again",
                     wfre_image_section_name(section, name), what);
}

static wfre_status check_names(const wfre_graph *graph, wfre_text_table table, wfre_error *error)
{
    const wfre_names *names = &graph->names[table];
    bool required = table == WFRE_ENTITY_NAMES || table == WFRE_RELATION_NAMES;
    size_t done = 0;
    for (uint32_t id = 0; names->offsets && id < names->count; id++) {
        if (wfre_leave_after(&done, 16))
            return wfre_check_stop(error);
        wfre_name name = wfre_names_get(names, id);
        if (required && wfre_names_find(names, name.bytes, name.length) != id)
            return invalid(error, wfre_section_of_text(table, WFRE_TEXT_INDEX),
                           "does not lead to every name");
        if (name.length > 0 &&
            (!wfre_utf8_valid(name.bytes, name.length) || memchr(name.bytes, '\0', name.length)))
            return invalid(error, wfre_section_of_text(table, WFRE_TEXT_BYTES),
                           "has what is no UTF-8 text");
    }
    return WFRE_OK;
}

/* The entities' side lists exactly the same groups. */
static wfre_status check_entities(const wfre_graph *graph, wfre_error *error)
{
    const wfre_adjacency *edges = &graph->edges[WFRE_TEST];
    size_t done = 0;
    for (wfre_entity e = 0; e < graph->header->entities; e++) {
        if (wfre_leave_after(&done, 1 + edges->entity_begin[e + 1] - edges->entity_begin[e]))
            return wfre_check_stop(error);
        for (uint32_t i = edges->entity_begin[e]; i < edges->entity_begin[e + 1]; i++)
            if (edges->group_entity[edges->edge_groups[i]] != e)
                return invalid(error, wfre_section_of_edges(WFRE_EDGES_GROUPS),
                               "contradicts the groups");
    }
    return WFRE_OK;
}

/* ---- both directions ---------------------------------------------------------------------- */

typedef struct mirror {
    const wfre_graph *graph;
    const wfre_adjacency *edges;
    uint32_t *group_of; /* [entities] the last group seen with this entity */
    uint32_t *next;     /* [groups] the place of the next target that is to be met */
    size_t done;        /* for wfre_leave_after */
} mirror;

static uint32_t edges_of(const wfre_adjacency *edges, wfre_relation relation)
{
    const uint32_t *groups = edges->relation_groups + relation;
    return edges->group_begin[groups[1]] - edges->group_begin[groups[0]];
}

/* Whether a relation's edges, walked by ascending head, meet the targets of each group of the
 * inverse one by one, in the same split: since both have as many edges, none is left over. */
static bool mirrors(mirror *m, wfre_relation relation)
{
    const wfre_adjacency *edges = m->edges;
    const uint32_t *forth = edges->relation_groups + relation;
    const uint32_t *back = edges->relation_groups + (relation ^ 1);
    if (edges_of(edges, relation) != edges_of(edges, relation ^ 1))
        return false;
    for (uint32_t g = back[0]; g < back[1]; g++) {
        m->group_of[edges->group_entity[g]] = g;
        m->next[g] = edges->group_begin[g];
    }
    for (uint32_t g = forth[0]; g < forth[1]; g++) {
        if (wfre_leave_after(&m->done, 2 * (edges->group_begin[g + 1] - edges->group_begin[g])))
            return true; /* nobody takes it for whole */
        for (uint32_t i = edges->group_begin[g]; i < edges->group_begin[g + 1]; i++) {
            uint32_t meets = m->group_of[edges->targets[i]];
            if (meets < back[0] || meets >= back[1] ||
                m->next[meets] == edges->group_begin[meets + 1] ||
                edges->targets[m->next[meets]] != edges->group_entity[g] ||
                wfre_target_split(m->graph, i) != wfre_target_split(m->graph, m->next[meets]))
                return false;
            m->next[meets]++;
        }
    }
    return true;
}

static wfre_status check_mirrors(const wfre_graph *graph, wfre_error *error)
{
    uint32_t entities = graph->header->entities;
    mirror m = {graph, &graph->edges[WFRE_TEST], wfre_alloc(entities, sizeof *m.group_of),
                wfre_alloc(graph->header->groups[WFRE_TEST], sizeof *m.next), 0};
    wfre_status status = WFRE_OK;
    if (!m.group_of || !m.next) {
        status = wfre_fail_memory(error, "checking a graph");
        goto cleanup;
    }
    memset(m.group_of, 0xFF, entities * sizeof *m.group_of); /* WFRE_NONE: no group */
    for (wfre_relation r = 0; r < graph->header->relations && !wfre_may_leave(); r += 2)
        if (!mirrors(&m, r)) {
            status = invalid(error, wfre_section_of_edges(WFRE_EDGES_TARGETS),
                             "has an edge without its inverse");
            goto cleanup;
        }
cleanup:
    wfre_free(m.group_of);
    wfre_free(m.next);
    return status;
}

static wfre_status check_all(const wfre_graph *graph, wfre_error *error)
{
    CHECK(wfre_graph_verify(graph, error));
    for (int table = 0; table < WFRE_TEXT_TABLES; table++)
        CHECK(check_names(graph, (wfre_text_table)table, error));
    CHECK(check_entities(graph, error));
    CHECK(check_mirrors(graph, error));
    CHECK(wfre_graph_check_attributes(graph, error));
    for (int split = 0; split < WFRE_SPLITS; split++) /* which counts their edges */
        (void)wfre_graph_adjacency(graph, (wfre_split)split);
    CHECK(wfre_check_stop(error));
    return wfre_graph_sound(graph, error);
}

wfre_status wfre_graph_validate(const wfre_graph *graph, wfre_error *error)
{
    GIVEN(graph);
    bool before = wfre_partial(true);
    wfre_status status = check_all(graph, error);
    (void)wfre_partial(before);
    if (status == WFRE_OK && graph->guard)
        atomic_store(&graph->guard->valid, true);
    return status;
}
