/* From operator trees to formulas, such that wfre_query_find_tree gives the same tree again.
 *
 * A projection of a larger set becomes a quantifier: (p,r,X) at v is exists y. r(y,v) & X(y). Where
 * only conjunctions and quantifiers stand above it, the quantifier moves to the front, which is
 * where people leave it out: ?x : r(?y, ?x) & ... An entity that is not the argument of a
 * projection is an equality. A tree with more projections than a formula may have variables has no
 * formula. */
#include <stdio.h>

#include "query/formula.h"

enum { FRONT = 64 /* at most this many quantifiers in front, which bounds the depth */ };

typedef struct converter {
    wfre_query *query;
    uint32_t variables;    /* made so far */
    uint32_t front[FRONT]; /* those whose quantifiers stand in front */
    uint32_t front_count;
    const wfre_formula **list; /* the conjunction behind them */
    size_t count;
    size_t capacity;
    bool failed; /* out of memory */
} converter;

static bool is_anchor(const wfre_node *node)
{
    return node->op == WFRE_OP_PROJECT && node->children[0]->op == WFRE_OP_ENTITY;
}

/* Projections that need a variable. */
static size_t count_variables(const wfre_node *node)
{
    size_t count = node->op == WFRE_OP_PROJECT && !is_anchor(node);
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_variables(node->children[i]);
    return count;
}

/* relation(from, v), where from is the entity or a variable. */
static const wfre_formula *link_to(converter *c, const wfre_node *projection, wfre_term from,
                                   uint32_t v)
{
    return wfre_formula_atom(&c->query->arena, projection->id, from, wfre_term_variable(v));
}

static const wfre_formula *make(converter *c, const wfre_node *node, uint32_t v);

/* link & part & part ...: the parts are the node, or its children if it is an intersection. */
static const wfre_formula *make_conjunction(converter *c, const wfre_formula *link,
                                            const wfre_node *node, uint32_t v)
{
    bool several = node->op == WFRE_OP_INTERSECT;
    uint32_t count = several ? node->child_count : 1;
    const wfre_formula **parts =
        wfre_arena_alloc(&c->query->arena, (size_t)count + 1, sizeof *parts);
    if (!parts)
        return NULL;
    parts[0] = link;
    for (uint32_t i = 0; i < count; i++)
        parts[i + 1] = make(c, several ? node->children[i] : node, v);
    return wfre_formula_join(&c->query->arena, WFRE_AND, parts, count + 1);
}

/* What holds of v if it is in the node's set; every quantifier stands where its projection is. */
static const wfre_formula *make(converter *c, const wfre_node *node, uint32_t v)
{
    wfre_arena *arena = &c->query->arena;
    if (is_anchor(node))
        return link_to(c, node, wfre_term_entity(node->children[0]->id), v);
    if (node->op == WFRE_OP_ENTITY)
        return wfre_formula_equal(arena, wfre_term_variable(v), wfre_term_entity(node->id));
    if (node->op == WFRE_OP_PROJECT) {
        uint32_t y = c->variables++;
        const wfre_formula *link = link_to(c, node, wfre_term_variable(y), v);
        return wfre_formula_exists(arena, y, make_conjunction(c, link, node->children[0], y));
    }
    if (node->op == WFRE_OP_NEGATE)
        return wfre_formula_not(arena, make(c, node->children[0], v));
    const wfre_formula **parts = wfre_arena_alloc(arena, node->child_count, sizeof *parts);
    if (!parts)
        return NULL;
    for (uint32_t i = 0; i < node->child_count; i++)
        parts[i] = make(c, node->children[i], v);
    return wfre_formula_join(arena, node->op == WFRE_OP_INTERSECT ? WFRE_AND : WFRE_OR, parts,
                             node->child_count);
}

static void push(converter *c, const wfre_formula *formula)
{
    if (!formula || !WFRE_RESERVE(&c->list, &c->capacity, c->count + 1))
        c->failed = true;
    else
        c->list[c->count++] = formula;
}

static void gather(converter *c, const wfre_node *node, uint32_t v);

/* The children of an intersection join the conjunction in front. One that is an intersection itself
 * stays in brackets, lest it be forgotten. */
static void gather_parts(converter *c, const wfre_node *node, uint32_t v)
{
    if (node->op != WFRE_OP_INTERSECT) {
        gather(c, node, v);
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        gather(c, node->children[i], v);
}

static void gather(converter *c, const wfre_node *node, uint32_t v)
{
    if (node->op != WFRE_OP_PROJECT || is_anchor(node)) {
        push(c, make(c, node, v));
        return;
    }
    uint32_t y = c->front[c->front_count++] = c->variables++;
    push(c, link_to(c, node, wfre_term_variable(y), v));
    gather_parts(c, node->children[0], y);
}

static const wfre_formula *make_with_front(converter *c, const wfre_node *tree, uint32_t v)
{
    gather_parts(c, tree, v);
    const wfre_formula *formula = NULL;
    if (!c->failed)
        formula = wfre_formula_join(&c->query->arena, WFRE_AND, c->list, (uint32_t)c->count);
    while (c->front_count > 0)
        formula = wfre_formula_exists(&c->query->arena, c->front[--c->front_count], formula);
    wfre_free(c->list);
    return formula;
}

/* ?x for the answer, ?y1, ?y2 ... for the others. */
static const char *const *make_names(wfre_arena *arena, uint32_t count)
{
    const char **names = wfre_arena_alloc(arena, count, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        char name[16] = "x";
        int length = i == 0 ? 1 : snprintf(name, sizeof name, "y%u", i);
        names[i] = wfre_arena_text(arena, name, (size_t)length);
        if (!names[i])
            return NULL;
    }
    return names;
}

/* Why the tree has no formula; NULL if it has one. */
static const char *find_obstacle(const wfre_node *tree, size_t variables)
{
    if (wfre_tree_is_type(tree))
        return "a query type has no logic notation; it lacks the names";
    if (variables > WFRE_FORMULA_VARIABLES)
        return "the query has more projections of projected sets than the logic notation has "
               "variables; print it as a tree";
    return NULL;
}

wfre_status wfre_query_find_formula(wfre_query *query, wfre_error *error)
{
    query->formula = NULL;
    query->asked = 1;
    query->variable_count = 1;
    size_t others = count_variables(query->tree);
    query->no_formula = find_obstacle(query->tree, others + 1);
    if (query->no_formula)
        return WFRE_OK;
    converter c = {.query = query, .variables = 1};
    query->formula =
        others <= FRONT ? make_with_front(&c, query->tree, 0) : make(&c, query->tree, 0);
    query->variable_count = c.variables;
    query->variable_names = make_names(&query->arena, c.variables);
    return query->formula && query->variable_names
               ? WFRE_OK
               : wfre_fail_memory(error, "turning an operator tree into a formula");
}
