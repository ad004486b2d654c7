/* Checks everything in a snapshot that opening takes on trust. */
#include "base/hash.h"
#include "graph/image.h"

static wfre_status invalid(wfre_error *error, int section, const char *what)
{
    char name[64];
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: section '%s' %s; import the graph again",
                     wfre_image_section_name(section, name), what);
}

wfre_status wfre_graph_verify(const wfre_graph *graph, wfre_error *error)
{
    const unsigned char *bytes = graph->image;
    for (int section = 0; section < WFRE_IMAGE_SECTIONS; section++) {
        const wfre_image_section *row = &graph->header->sections[section];
        if (row->length > 0 && wfre_hash(bytes + row->offset, row->length, 0) != row->checksum)
            return invalid(error, section, "has a wrong checksum");
    }
    return WFRE_OK;
}

static wfre_status check_names(const wfre_graph *graph, wfre_text_table table, wfre_error *error)
{
    const wfre_names *names = &graph->names[table];
    bool required = table == WFRE_ENTITY_NAMES || table == WFRE_RELATION_NAMES;
    int offsets = wfre_text_section(table, WFRE_TEXT_OFFSETS);
    if (!names->offsets)
        return WFRE_OK;
    if (names->offsets[0] != 0 || names->offsets[names->count] != names->length)
        return invalid(error, offsets, "does not cover its texts");
    for (uint32_t id = 0; id < names->count; id++) {
        if (names->offsets[id] > names->offsets[id + 1])
            return invalid(error, offsets, "does not ascend");
        wfre_name name = wfre_names_get(names, id);
        if (required && wfre_names_find(names, name.bytes, name.length) != id)
            return invalid(error, wfre_text_section(table, WFRE_TEXT_INDEX),
                           "does not lead to every name");
    }
    for (uint64_t slot = 0; slot < names->slot_count; slot++)
        if ((names->slots[slot] & ~WFRE_SLOT_AMBIGUOUS) > names->count)
            return invalid(error, wfre_text_section(table, WFRE_TEXT_INDEX), "has an unknown id");
    return WFRE_OK;
}

static bool ascends(const uint32_t *ids, uint64_t begin, uint64_t end, uint32_t limit)
{
    for (uint64_t i = begin; i < end; i++)
        if (ids[i] >= limit || (i > begin && ids[i] <= ids[i - 1]))
            return false;
    return true;
}

static wfre_status check_groups(const wfre_graph *graph, int split, wfre_error *error)
{
    const wfre_adjacency *edges = &graph->edges[split];
    uint32_t entities = graph->header->entities, relations = graph->header->relations;
    uint32_t groups = graph->groups[split];
    const uint32_t *of = edges->relation_groups, *begin = edges->group_begin;
    if (of[0] != 0 || of[relations] != groups)
        return invalid(error, wfre_edges_section(split, WFRE_EDGES_RELATION_GROUPS),
                       "does not cover the groups");
    for (wfre_relation relation = 0; relation < relations; relation++)
        if (of[relation] > of[relation + 1] || of[relation + 1] > groups)
            return invalid(error, wfre_edges_section(split, WFRE_EDGES_RELATION_GROUPS),
                           "does not ascend");
        else if (!ascends(edges->group_entity, of[relation], of[relation + 1], entities))
            return invalid(error, wfre_edges_section(split, WFRE_EDGES_GROUP_ENTITY),
                           "is not in order");
    if (begin[0] != 0 || begin[groups] != 2 * graph->header->triples[split])
        return invalid(error, wfre_edges_section(split, WFRE_EDGES_GROUP_BEGIN),
                       "does not cover the targets");
    for (uint32_t group = 0; group < groups; group++)
        if (begin[group] >= begin[group + 1] || begin[group + 1] > begin[groups])
            return invalid(error, wfre_edges_section(split, WFRE_EDGES_GROUP_BEGIN),
                           "does not ascend");
        else if (!ascends(edges->targets, begin[group], begin[group + 1], entities))
            return invalid(error, wfre_edges_section(split, WFRE_EDGES_TARGETS), "is not in order");
    return WFRE_OK;
}

/* After check_groups: the entities' side lists exactly the same groups. */
static wfre_status check_entities(const wfre_graph *graph, int split, wfre_error *error)
{
    const wfre_adjacency *edges = &graph->edges[split];
    const uint64_t *begin = edges->entity_begin;
    uint32_t entities = graph->header->entities, groups = graph->groups[split];
    int section = wfre_edges_section(split, WFRE_EDGES_ENTITY_EDGES);
    if (begin[0] != 0 || begin[entities] != groups)
        return invalid(error, wfre_edges_section(split, WFRE_EDGES_ENTITY_BEGIN),
                       "does not cover the groups");
    for (wfre_entity e = 0; e < entities; e++) {
        if (begin[e] > begin[e + 1] || begin[e + 1] > groups)
            return invalid(error, wfre_edges_section(split, WFRE_EDGES_ENTITY_BEGIN),
                           "does not ascend");
        for (uint64_t i = begin[e]; i < begin[e + 1]; i++) {
            wfre_edge_group edge = edges->entity_edges[i];
            if (edge.relation >= graph->header->relations || edge.group >= groups ||
                edges->group_entity[edge.group] != e ||
                edge.group < edges->relation_groups[edge.relation] ||
                edge.group >= edges->relation_groups[edge.relation + 1] ||
                (i > begin[e] && edge.relation <= edges->entity_edges[i - 1].relation))
                return invalid(error, section, "contradicts the groups");
        }
    }
    return WFRE_OK;
}

/* After the checks above: every edge has its mirror, and is in the next larger split too. */
static wfre_status check_edges(const wfre_graph *graph, int split, wfre_error *error)
{
    const wfre_adjacency *edges = &graph->edges[split];
    int section = wfre_edges_section(split, WFRE_EDGES_TARGETS);
    for (wfre_relation relation = 0; relation < graph->header->relations; relation++)
        for (uint32_t group = edges->relation_groups[relation];
             group < edges->relation_groups[relation + 1]; group++) {
            wfre_list targets = wfre_group_targets(edges, group);
            wfre_entity head = edges->group_entity[group];
            for (size_t i = 0; i < targets.count; i++) {
                if (!wfre_graph_has(graph, (wfre_split)split, targets.ids[i], relation ^ 1, head))
                    return invalid(error, section, "has an edge without its inverse");
                if (split + 1 < WFRE_SPLITS &&
                    !wfre_graph_has(graph, (wfre_split)(split + 1), head, relation, targets.ids[i]))
                    return invalid(error, section, "has an edge that a later split lacks");
            }
        }
    return WFRE_OK;
}

static bool shares_edges(const wfre_graph *graph, int split, int other)
{
    return graph->edges[split].relation_groups == graph->edges[other].relation_groups &&
           graph->edges[split].group_entity == graph->edges[other].group_entity &&
           graph->edges[split].group_begin == graph->edges[other].group_begin &&
           graph->edges[split].targets == graph->edges[other].targets &&
           graph->edges[split].entity_begin == graph->edges[other].entity_begin &&
           graph->edges[split].entity_edges == graph->edges[other].entity_edges &&
           graph->groups[split] == graph->groups[other] &&
           graph->header->triples[split] == graph->header->triples[other];
}

wfre_status wfre_graph_validate(const wfre_graph *graph, wfre_error *error)
{
    CHECK(wfre_graph_verify(graph, error));
    for (int table = 0; table < WFRE_TEXT_TABLES; table++)
        CHECK(check_names(graph, (wfre_text_table)table, error));
    /* Largest first: the smaller ones look into it. */
    for (int split = WFRE_SPLITS - 1; split >= 0; split--) {
        if (split + 1 < WFRE_SPLITS && shares_edges(graph, split, split + 1))
            continue;
        CHECK(check_groups(graph, split, error));
        CHECK(check_entities(graph, split, error));
        CHECK(check_edges(graph, split, error));
    }
    return WFRE_OK;
}
