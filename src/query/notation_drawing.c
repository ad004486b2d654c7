/* Drawings, read: wfre/query.h describes the JSON. Whatever the bytes are, they are a query or an
 * error; ids are checked by the builder that makes the query. */
#include <jansson.h>
#include <string.h>

#include "query/notation.h"

/* As print_drawing.c; nodes are looked for one after the other. */
enum { MOST_NODES = 1024, MOST_EDGES = 4096, MOST_GROUPS = 1024, MOST_DEPTH = 64 };

typedef struct node {
    const char *id;
    wfre_term term;
    bool variable, asked, of_relations;
    uint32_t place; /* the innermost "not" around all its mentions */
} node;

typedef struct reader {
    const json_t *edges, *groups;
    node nodes[MOST_NODES];
    size_t node_count;
    bool edge_used[MOST_EDGES], group_used[MOST_GROUPS];
    bool edge_boxed[MOST_EDGES], group_boxed[MOST_GROUPS];
    uint32_t parents[MOST_EDGES + MOST_GROUPS + 1]; /* of places, see print_drawing.c */
    uint32_t depths[MOST_EDGES + MOST_GROUPS + 1];
    uint32_t place_count;
    uint32_t edge_places[MOST_EDGES], group_places[MOST_GROUPS];
    wfre_query_builder *builder;
    wfre_arena arena;
    wfre_error *error;
} reader;

static wfre_status wrong(reader *r, const char *what)
{
    return wfre_fail(r->error, WFRE_ERR_FORMAT, 0, "the drawing cannot be read: %s", what);
}

static wfre_status out_of_memory(reader *r)
{
    return wfre_fail_memory(r->error, "reading a drawing");
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- nodes -------------------------------------------------------------------------------- */

static node *find_node(reader *r, const char *id)
{
    for (size_t i = 0; id && i < r->node_count; i++)
        if (strcmp(r->nodes[i].id, id) == 0)
            return &r->nodes[i];
    return NULL;
}

static wfre_status read_node(reader *r, const json_t *item)
{
    const char *kind = text_of(item, "kind");
    node made = {.id = text_of(item, "id"), .place = WFRE_NONE};
    if (!made.id || !kind)
        return wrong(r, "every node has an \"id\" and a \"kind\"");
    if (find_node(r, made.id))
        return wrong(r, "two nodes have the same \"id\"");
    if (strcmp(kind, "entity") == 0) {
        const json_t *entity = json_object_get(item, "entity");
        json_int_t id = json_integer_value(entity);
        if (!json_is_integer(entity) || id < 0 || id >= WFRE_NONE)
            return wrong(r, "an entity's node has its number as \"entity\"");
        made.term = wfre_term_entity((wfre_entity)id);
    } else if (strcmp(kind, "variable") == 0 || strcmp(kind, "relation") == 0) {
        made.variable = true;
        made.of_relations = kind[0] == 'r';
        made.asked = json_is_true(json_object_get(item, "asked"));
        made.term = wfre_build_variable(r->builder, text_of(item, "name"));
    } else {
        return wrong(r, "a node is a \"variable\", an \"entity\" or a \"relation\"");
    }
    r->nodes[r->node_count++] = made;
    return WFRE_OK;
}

static wfre_status read_nodes(reader *r, const json_t *nodes)
{
    if (!json_is_array(nodes) || json_array_size(nodes) > MOST_NODES)
        return wrong(r, "\"nodes\" is a list of at most 1,024");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        CHECK(read_node(r, json_array_get(nodes, i)));
    return WFRE_OK;
}

/* ---- boxes -------------------------------------------------------------------------------- */

static bool is_not(const json_t *group)
{
    const char *kind = text_of(group, "kind");
    return kind && strcmp(kind, "not") == 0;
}

static wfre_status check_group(reader *r, const json_t *group)
{
    const json_t *parts = json_object_get(group, "parts");
    const char *kind = text_of(group, "kind");
    if (!kind || (strcmp(kind, "or") != 0 && strcmp(kind, "not") != 0))
        return wrong(r, "a group is of kind \"or\" or \"not\"");
    if (!json_is_array(parts) || json_array_size(parts) == 0 ||
        (is_not(group) && json_array_size(parts) != 1))
        return wrong(r, "an \"or\" has parts, a \"not\" has one");
    for (size_t p = 0; p < json_array_size(parts); p++)
        if (json_array_size(json_array_get(parts, p)) == 0)
            return wrong(r, "every part of a group is a list of edges and groups");
    return WFRE_OK;
}

static wfre_status find_group(reader *r, const char *id, size_t *found)
{
    for (*found = 0; *found < json_array_size(r->groups); ++*found) {
        const char *other = text_of(json_array_get(r->groups, *found), "id");
        if (other && strcmp(other, id) == 0)
            return WFRE_OK;
    }
    return wrong(r, "a part names a group that is not there");
}

/* One item of a part: marks it as standing in a box. */
static wfre_status read_item(reader *r, const json_t *item, bool *is_edge, size_t *index)
{
    *is_edge = json_is_integer(item);
    if (*is_edge) {
        json_int_t at = json_integer_value(item);
        if (at < 0 || (size_t)at >= json_array_size(r->edges))
            return wrong(r, "a part names an edge that is not there");
        *index = (size_t)at;
        return WFRE_OK;
    }
    if (!json_is_string(item))
        return wrong(r, "every part of a group is a list of edges and groups");
    return find_group(r, json_string_value(item), index);
}

static wfre_status box_items(reader *r, const json_t *part)
{
    for (size_t i = 0; i < json_array_size(part); i++) {
        bool is_edge;
        size_t index;
        CHECK(read_item(r, json_array_get(part, i), &is_edge, &index));
        bool *boxed = is_edge ? &r->edge_boxed[index] : &r->group_boxed[index];
        if (*boxed)
            return wrong(r, "an edge or group stands in two parts");
        *boxed = true;
    }
    return WFRE_OK;
}

static wfre_status read_groups(reader *r)
{
    if (r->groups && !json_is_null(r->groups) &&
        (!json_is_array(r->groups) || json_array_size(r->groups) > MOST_GROUPS))
        return wrong(r, "\"groups\" is a list of at most 1,024");
    for (size_t g = 0; g < json_array_size(r->groups); g++) {
        const json_t *group = json_array_get(r->groups, g);
        CHECK(check_group(r, group));
        const json_t *parts = json_object_get(group, "parts");
        for (size_t p = 0; p < json_array_size(parts); p++)
            CHECK(box_items(r, json_array_get(parts, p)));
    }
    return WFRE_OK;
}

/* ---- places: what each variable is bound by ----------------------------------------------- */

static uint32_t add_place(reader *r, uint32_t parent)
{
    r->parents[r->place_count] = parent;
    r->depths[r->place_count] = parent == WFRE_NONE ? 0 : r->depths[parent] + 1;
    return r->place_count++;
}

static void mention(reader *r, node *mentioned, uint32_t place)
{
    uint32_t before = mentioned->place;
    while (before != WFRE_NONE && before != place) {
        if (r->depths[before] >= r->depths[place])
            before = r->parents[before];
        else
            place = r->parents[place];
    }
    mentioned->place = place;
}

static wfre_status place_edge(reader *r, size_t index, uint32_t place)
{
    const json_t *edge = json_array_get(r->edges, index);
    node *ends[] = {find_node(r, text_of(edge, "from")), find_node(r, text_of(edge, "to")),
                    find_node(r, text_of(edge, "variable"))};
    if (!ends[0] || !ends[1])
        return wrong(r, "every edge goes \"from\" one node \"to\" another");
    if (ends[0]->of_relations || ends[1]->of_relations ||
        (text_of(edge, "variable") && (!ends[2] || !ends[2]->of_relations)))
        return wrong(r, "a \"relation\" stands on an edge, and everything else at its ends");
    if (json_is_true(json_object_get(edge, "negated")))
        place = add_place(r, place);
    r->edge_places[index] = place;
    for (size_t i = 0; i < 3; i++)
        if (ends[i] && ends[i]->variable)
            mention(r, ends[i], place);
    return WFRE_OK;
}

static wfre_status place_group(reader *r, size_t index, uint32_t place, unsigned depth);

static wfre_status place_part(reader *r, const json_t *part, uint32_t place, unsigned depth)
{
    for (size_t i = 0; i < json_array_size(part); i++) {
        bool is_edge;
        size_t at;
        CHECK(read_item(r, json_array_get(part, i), &is_edge, &at));
        if (is_edge)
            CHECK(place_edge(r, at, place));
        else
            CHECK(place_group(r, at, place, depth));
        *(is_edge ? &r->edge_used[at] : &r->group_used[at]) = true;
    }
    return WFRE_OK;
}

static wfre_status place_group(reader *r, size_t index, uint32_t place, unsigned depth)
{
    const json_t *group = json_array_get(r->groups, index);
    const json_t *parts = json_object_get(group, "parts");
    if (depth == MOST_DEPTH)
        return wrong(r, "groups are nested in more than 64 levels");
    if (is_not(group))
        place = add_place(r, place);
    r->group_places[index] = place;
    for (size_t p = 0; p < json_array_size(parts); p++)
        CHECK(place_part(r, json_array_get(parts, p), place, depth + 1));
    return WFRE_OK;
}

static wfre_status place_all(reader *r)
{
    uint32_t top = add_place(r, WFRE_NONE);
    for (size_t g = 0; g < json_array_size(r->groups); g++)
        if (!r->group_boxed[g]) {
            r->group_used[g] = true;
            CHECK(place_group(r, g, top, 0));
        }
    for (size_t e = 0; e < json_array_size(r->edges); e++)
        if (!r->edge_boxed[e]) {
            r->edge_used[e] = true;
            CHECK(place_edge(r, e, top));
        }
    for (size_t g = 0; g < json_array_size(r->groups); g++)
        if (!r->group_used[g])
            return wrong(r, "groups stand in one another");
    return WFRE_OK;
}

/* ---- the formula -------------------------------------------------------------------------- */

/* The denial of a part, with the variables that belong to its place. */
static const wfre_formula *deny(reader *r, const wfre_formula *part, uint32_t place)
{
    for (size_t i = r->node_count; i-- > 0;)
        if (r->nodes[i].variable && !r->nodes[i].asked && r->nodes[i].place == place)
            part = wfre_build_exists(r->builder, r->nodes[i].term, part);
    return wfre_build_not(r->builder, part);
}

static wfre_status build_edge(reader *r, size_t index, const wfre_formula **formula)
{
    const json_t *edge = json_array_get(r->edges, index);
    const json_t *relation = json_object_get(edge, "relation");
    wfre_term from = find_node(r, text_of(edge, "from"))->term;
    wfre_term to = find_node(r, text_of(edge, "to"))->term;
    const node *variable = find_node(r, text_of(edge, "variable"));
    if (variable) {
        *formula = wfre_build_link(r->builder, variable->term, from, to);
    } else if (json_is_true(json_object_get(edge, "equal"))) {
        *formula = wfre_build_equal(r->builder, from, to);
    } else {
        json_int_t id = json_integer_value(relation);
        if (!json_is_integer(relation) || id < 0 || id >= WFRE_NONE)
            return wrong(r, "an edge has the number of its relation as \"relation\"");
        *formula = wfre_build_atom(r->builder, (wfre_relation)id, from, to);
    }
    if (json_is_true(json_object_get(edge, "negated")))
        *formula = deny(r, *formula, r->edge_places[index]);
    return WFRE_OK;
}

static wfre_status build_group(reader *r, size_t index, const wfre_formula **formula);

static wfre_status build_part(reader *r, const json_t *part, const wfre_formula **formula)
{
    size_t count = json_array_size(part);
    const wfre_formula **items = wfre_arena_alloc(&r->arena, count, sizeof *items);
    if (!items)
        return out_of_memory(r);
    for (size_t i = 0; i < count; i++) {
        bool is_edge;
        size_t at;
        CHECK(read_item(r, json_array_get(part, i), &is_edge, &at));
        CHECK(is_edge ? build_edge(r, at, &items[i]) : build_group(r, at, &items[i]));
    }
    *formula = wfre_build_and(r->builder, items, count);
    return WFRE_OK;
}

static wfre_status build_group(reader *r, size_t index, const wfre_formula **formula)
{
    const json_t *group = json_array_get(r->groups, index);
    const json_t *parts = json_object_get(group, "parts");
    size_t count = json_array_size(parts);
    const wfre_formula **made = wfre_arena_alloc(&r->arena, count, sizeof *made);
    if (!made)
        return out_of_memory(r);
    for (size_t p = 0; p < count; p++)
        CHECK(build_part(r, json_array_get(parts, p), &made[p]));
    *formula = is_not(group) ? deny(r, made[0], r->group_places[index])
                             : wfre_build_or(r->builder, made, count);
    return WFRE_OK;
}

static wfre_status build_whole(reader *r, wfre_query **query)
{
    size_t edges = json_array_size(r->edges), groups = json_array_size(r->groups), count = 0;
    const wfre_formula **parts = wfre_arena_alloc(&r->arena, edges + groups, sizeof *parts);
    wfre_term *asked = wfre_arena_alloc(&r->arena, r->node_count + 1, sizeof *asked);
    size_t asked_count = 0;
    if (!parts || !asked)
        return out_of_memory(r);
    for (size_t e = 0; e < edges; e++)
        if (!r->edge_boxed[e])
            CHECK(build_edge(r, e, &parts[count++]));
    for (size_t g = 0; g < groups; g++)
        if (!r->group_boxed[g])
            CHECK(build_group(r, g, &parts[count++]));
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].asked)
            asked[asked_count++] = r->nodes[i].term;
    return wfre_build_query(r->builder, asked, asked_count,
                            wfre_build_and(r->builder, parts, count), query, r->error);
}

static wfre_status read_drawing(reader *r, const json_t *drawing, wfre_query **query)
{
    r->edges = json_object_get(drawing, "edges");
    r->groups = json_object_get(drawing, "groups");
    CHECK(read_nodes(r, json_object_get(drawing, "nodes")));
    if (!json_is_array(r->edges) || json_array_size(r->edges) > MOST_EDGES)
        return wrong(r, "\"edges\" is a list of at most 4,096");
    if (json_array_size(r->edges) == 0)
        return wrong(r, "it has no edge yet");
    CHECK(read_groups(r));
    CHECK(place_all(r));
    return build_whole(r, query);
}

wfre_status wfre_drawing_parse(const wfre_graph *graph, const char *text, size_t length,
                               wfre_query **query, wfre_error *error)
{
    json_error_t reason;
    wfre_status status;
    reader *r = NULL;
    json_t *drawing = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    if (!drawing)
        return wfre_fail(error, WFRE_ERR_FORMAT, reason.position < 0 ? 0 : (size_t)reason.position,
                         "the drawing is not JSON: %s", reason.text);
    r = wfre_alloc_zero(1, sizeof *r);
    if (!r) {
        status = wfre_fail_memory(error, "reading a drawing");
        goto cleanup;
    }
    r->error = error;
    TRY(wfre_query_builder_create(graph, &r->builder, error));
    TRY(read_drawing(r, drawing, query));
cleanup:
    if (r) {
        wfre_query_builder_free(r->builder);
        wfre_arena_free(&r->arena);
    }
    wfre_free(r);
    json_decref(drawing);
    return status;
}
