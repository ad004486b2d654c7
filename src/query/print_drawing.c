/* Formulas as drawings: wfre/query.h describes the JSON.
 *
 * The formula is walked once. Conjunctions are flattened into the list that they stand in,
 * disjunctions become "or" boxes and negations "not" boxes, or negated edges if one edge is all
 * that they deny. Both kinds of negation are *places*; place 0 is the whole. A quantifier belongs
 * to the place that it stands in, and a reader of the drawing will take it for belonging to the
 * innermost place around all mentions of its variable: only if these agree can the formula be
 * drawn. */
#include <string.h>

#include "query/notation.h"

/* Far more than anybody can look at. */
enum { MOST_EDGES = 4096, MOST_GROUPS = 1024, MOST_DEPTH = 64 };

typedef struct edge {
    const wfre_formula *leaf;
    bool negated;
    uint32_t group; /* WFRE_NONE: in none */
} edge;

/* One list of what holds together: a part of a box, or what stands in no box. */
typedef struct part {
    uint32_t group;
    wfre_text items; /* "0,1,"g2"" */
} part;

typedef struct group {
    bool is_not;
} group;

typedef struct drawer {
    const wfre_graph *graph;
    const wfre_query *query;
    wfre_arena arena;
    edge *edges;
    size_t edge_count, edge_capacity;
    group *groups;
    size_t group_count, group_capacity;
    part *parts;
    size_t part_count, part_capacity;
    uint32_t *parents; /* of each place, the place around it */
    uint32_t *depths;
    size_t place_count, parent_capacity, depth_capacity;
    uint32_t *declared; /* the place of each variable's quantifier, or WFRE_NONE */
    uint32_t *found;    /* the innermost place around all its mentions, or WFRE_NONE */
    wfre_error *error;
} drawer;

static wfre_status out_of_memory(drawer *d)
{
    return wfre_fail_memory(d->error, "drawing a query");
}

static wfre_status too_large(drawer *d)
{
    return wfre_fail(d->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                     "the question is too large to be drawn");
}

/* ---- places ------------------------------------------------------------------------------- */

static wfre_status add_place(drawer *d, uint32_t parent, uint32_t *place)
{
    size_t count = d->place_count;
    if (!WFRE_RESERVE(&d->parents, &d->parent_capacity, count + 1) ||
        !WFRE_RESERVE(&d->depths, &d->depth_capacity, count + 1))
        return out_of_memory(d);
    d->parents[count] = parent;
    d->depths[count] = parent == WFRE_NONE ? 0 : d->depths[parent] + 1;
    *place = (uint32_t)d->place_count++;
    return WFRE_OK;
}

static uint32_t common_place(const drawer *d, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (d->depths[a] >= d->depths[b])
            a = d->parents[a];
        else
            b = d->parents[b];
    }
    return a;
}

static void mention(drawer *d, const wfre_formula *leaf, uint32_t place)
{
    uint32_t variables[3];
    uint32_t count = wfre_formula_mentions(leaf, variables);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *found = &d->found[variables[i]];
        *found = *found == WFRE_NONE ? place : common_place(d, *found, place);
    }
}

/* ---- walking ------------------------------------------------------------------------------ */

static wfre_status add_edge(drawer *d, const wfre_formula *leaf, bool negated, size_t list)
{
    if (d->edge_count == MOST_EDGES)
        return too_large(d);
    if (!WFRE_RESERVE(&d->edges, &d->edge_capacity, d->edge_count + 1))
        return out_of_memory(d);
    wfre_text_format(&d->parts[list].items, "%s%zu", d->parts[list].items.length > 0 ? "," : "",
                     d->edge_count);
    d->edges[d->edge_count++] = (edge){leaf, negated, d->parts[list].group};
    return WFRE_OK;
}

static wfre_status add_part(drawer *d, uint32_t in, size_t *list)
{
    if (!WFRE_RESERVE(&d->parts, &d->part_capacity, d->part_count + 1))
        return out_of_memory(d);
    d->parts[d->part_count] = (part){.group = in};
    *list = d->part_count++;
    return WFRE_OK;
}

static wfre_status add_group(drawer *d, bool is_not, size_t list, uint32_t *added)
{
    if (d->group_count == MOST_GROUPS)
        return too_large(d);
    if (!WFRE_RESERVE(&d->groups, &d->group_capacity, d->group_count + 1))
        return out_of_memory(d);
    d->groups[d->group_count] = (group){is_not};
    *added = (uint32_t)d->group_count++;
    wfre_text_format(&d->parts[list].items, "%s\"g%u\"", d->parts[list].items.length > 0 ? "," : "",
                     *added + 1);
    return WFRE_OK;
}

static wfre_status walk(drawer *d, const wfre_formula *formula, uint32_t place, size_t list,
                        unsigned depth);

static wfre_status walk_alternatives(drawer *d, const wfre_formula *formula, uint32_t place,
                                     uint32_t in, unsigned depth)
{
    for (uint32_t i = 0; i < formula->child_count; i++) {
        const wfre_formula *child = formula->children[i];
        size_t list;
        if (child->kind == WFRE_OR && depth < MOST_DEPTH) {
            CHECK(walk_alternatives(d, child, place, in, depth + 1));
            continue;
        }
        CHECK(add_part(d, in, &list));
        CHECK(walk(d, child, place, list, depth + 1));
    }
    return WFRE_OK;
}

static wfre_status walk_negation(drawer *d, const wfre_formula *denied, uint32_t place, size_t list,
                                 unsigned depth)
{
    uint32_t inner, in;
    size_t within;
    if (depth > MOST_DEPTH)
        return too_large(d);
    if (denied->kind == WFRE_NOT)
        return walk(d, denied->children[0], place, list, depth + 1);
    if (denied->kind == WFRE_OR) { /* neither of them */
        for (uint32_t i = 0; i < denied->child_count; i++)
            CHECK(walk_negation(d, denied->children[i], place, list, depth + 1));
        return WFRE_OK;
    }
    CHECK(add_place(d, place, &inner));
    for (; denied->kind == WFRE_EXISTS; denied = denied->children[0])
        d->declared[denied->variable] = inner;
    if (denied->child_count == 0) {
        mention(d, denied, inner);
        return add_edge(d, denied, true, list);
    }
    CHECK(add_group(d, true, list, &in));
    CHECK(add_part(d, in, &within));
    return walk(d, denied, inner, within, depth + 1);
}

static wfre_status walk(drawer *d, const wfre_formula *formula, uint32_t place, size_t list,
                        unsigned depth)
{
    uint32_t in;
    if (depth > MOST_DEPTH)
        return too_large(d);
    switch (formula->kind) {
    case WFRE_ATOM:
    case WFRE_LINK:
    case WFRE_EQUAL:
        mention(d, formula, place);
        return add_edge(d, formula, false, list);
    case WFRE_EXISTS:
        /* A row of quantifiers is no nesting to look at. */
        for (; formula->kind == WFRE_EXISTS; formula = formula->children[0])
            d->declared[formula->variable] = place;
        return walk(d, formula, place, list, depth + 1);
    case WFRE_AND:
        for (uint32_t i = 0; i < formula->child_count; i++)
            CHECK(walk(d, formula->children[i], place, list, depth + 1));
        return WFRE_OK;
    case WFRE_OR:
        CHECK(add_group(d, false, list, &in));
        return walk_alternatives(d, formula, place, in, depth + 1);
    case WFRE_NOT:
        return walk_negation(d, formula->children[0], place, list, depth);
    }
    return WFRE_OK;
}

static wfre_status check_scopes(drawer *d)
{
    for (uint32_t v = d->query->asked; v < d->query->variable_count; v++)
        if (d->found[v] != WFRE_NONE && d->declared[v] != d->found[v])
            return wfre_fail(d->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                             "?%s is something of which the question only says what it is not; "
                             "that cannot be drawn",
                             d->query->variable_names[v]);
    return WFRE_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* What goes between two nodes. */
static const char *between(const wfre_text *text)
{
    return text->length > 0 && text->data[text->length - 1] == '}' ? "," : "";
}

static void write_name(wfre_text *text, const char *key, wfre_name name)
{
    wfre_text_format(text, ",\"%s\":", key);
    wfre_text_json(text, name.bytes ? name.bytes : "", name.length);
}

static void write_variables(drawer *d, wfre_text *text, const char *const *shown)
{
    for (uint32_t v = 0; v < d->query->variable_count; v++) {
        bool of_relations = d->query->of_relations && d->query->of_relations[v];
        if (v >= d->query->asked && d->found[v] == WFRE_NONE)
            continue;
        wfre_text_format(text, "%s{\"id\":\"v%u\",\"kind\":\"%s\",\"name\":", between(text), v,
                         of_relations ? "relation" : "variable");
        wfre_text_json(text, shown[v], strlen(shown[v]));
        wfre_text_format(text, ",\"asked\":%s}", v < d->query->asked ? "true" : "false");
    }
}

/* An entity is a node of its own at each edge that mentions it, so that edges which have nothing
 * else in common do not cross the drawing to meet there. */
static void write_entity(drawer *d, wfre_text *text, size_t edge_index, bool left)
{
    const wfre_formula *leaf = d->edges[edge_index].leaf;
    wfre_term term = left ? leaf->left : leaf->right;
    if (term.is_variable)
        return;
    wfre_text_format(text, "%s{\"id\":\"e%zu%s\",\"kind\":\"entity\",\"entity\":%u", between(text),
                     edge_index, left ? "a" : "b", term.id);
    if (d->graph && term.id < wfre_graph_entities(d->graph)) {
        write_name(text, "name", wfre_graph_entity_name(d->graph, term.id));
        write_name(text, "label", wfre_graph_entity_label(d->graph, term.id));
    }
    wfre_text_char(text, '}');
}

static void write_end(wfre_text *text, wfre_term term, size_t edge_index, bool left)
{
    wfre_text_format(text, "\"%s\":", left ? "from" : "to");
    if (term.is_variable)
        wfre_text_format(text, "\"v%u\"", term.id);
    else
        wfre_text_format(text, "\"e%zu%s\"", edge_index, left ? "a" : "b");
}

static void write_edge(drawer *d, wfre_text *text, size_t i)
{
    const wfre_formula *leaf = d->edges[i].leaf;
    wfre_text_add(text, i > 0 ? ",{" : "{");
    write_end(text, leaf->left, i, true);
    wfre_text_char(text, ',');
    write_end(text, leaf->right, i, false);
    if (leaf->kind == WFRE_ATOM) {
        wfre_text_format(text, ",\"relation\":%u", leaf->relation);
        if (d->graph && leaf->relation < wfre_graph_relations(d->graph)) {
            write_name(text, "name", wfre_graph_relation_name(d->graph, leaf->relation));
            write_name(text, "label", wfre_graph_relation_label(d->graph, leaf->relation));
        }
    } else if (leaf->kind == WFRE_LINK) {
        wfre_text_format(text, ",\"relation\":null,\"variable\":\"v%u\"", leaf->variable);
    } else {
        wfre_text_add(text, ",\"relation\":null,\"equal\":true");
    }
    wfre_text_format(text, ",\"negated\":%s", d->edges[i].negated ? "true" : "false");
    if (d->edges[i].group == WFRE_NONE)
        wfre_text_add(text, ",\"group\":null}");
    else
        wfre_text_format(text, ",\"group\":\"g%u\"}", d->edges[i].group + 1);
}

static void write_groups(drawer *d, wfre_text *text)
{
    for (uint32_t g = 0; g < d->group_count; g++) {
        wfre_text_format(text, "%s{\"id\":\"g%u\",\"kind\":\"%s\",\"parts\":[", g > 0 ? "," : "",
                         g + 1, d->groups[g].is_not ? "not" : "or");
        bool first = true;
        for (size_t p = 0; p < d->part_count; p++) {
            if (d->parts[p].group != g)
                continue;
            wfre_text_add(text, first ? "[" : ",[");
            wfre_text_append(text, d->parts[p].items.data, d->parts[p].items.length);
            wfre_text_char(text, ']');
            first = false;
        }
        wfre_text_add(text, "]}");
    }
}

static void write_all(drawer *d, wfre_text *text, const char *const *shown)
{
    wfre_text_add(text, "{\"nodes\":[");
    write_variables(d, text, shown);
    for (size_t i = 0; i < d->edge_count && !text->failed; i++) {
        write_entity(d, text, i, true);
        write_entity(d, text, i, false);
    }
    wfre_text_add(text, "],\"edges\":[");
    for (size_t i = 0; i < d->edge_count; i++)
        write_edge(d, text, i);
    wfre_text_add(text, "],\"groups\":[");
    write_groups(d, text);
    wfre_text_add(text, "]}");
}

/* ---- all of it ---------------------------------------------------------------------------- */

static wfre_status draw(drawer *d, wfre_text *text)
{
    uint32_t count = d->query->variable_count, top;
    size_t list;
    const char *const *shown = wfre_query_names(d->query, &d->arena);
    d->declared = wfre_arena_alloc(&d->arena, count + 1u, sizeof *d->declared);
    d->found = wfre_arena_alloc(&d->arena, count + 1u, sizeof *d->found);
    if (!shown || !d->declared || !d->found)
        return out_of_memory(d);
    for (uint32_t v = 0; v < count; v++)
        d->declared[v] = d->found[v] = WFRE_NONE;
    CHECK(add_place(d, WFRE_NONE, &top));
    CHECK(add_part(d, WFRE_NONE, &list));
    CHECK(walk(d, d->query->formula, top, list, 0));
    CHECK(check_scopes(d));
    for (size_t p = 0; p < d->part_count; p++)
        text->failed |= d->parts[p].items.failed;
    if (!text->failed)
        write_all(d, text, shown);
    return WFRE_OK;
}

wfre_status wfre_drawing_print(wfre_text *text, const wfre_graph *graph, const wfre_query *query,
                               wfre_error *error)
{
    drawer d = {.graph = graph, .query = query, .error = error};
    wfre_status status = draw(&d, text);
    for (size_t p = 0; p < d.part_count; p++)
        wfre_text_free(&d.parts[p].items);
    wfre_free(d.parts);
    wfre_free(d.edges);
    wfre_free(d.groups);
    wfre_free(d.parents);
    wfre_free(d.depths);
    wfre_arena_free(&d.arena);
    return status;
}
