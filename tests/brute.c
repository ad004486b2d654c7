/* All assignments, one after another. */
#include "brute.h"

#include <stdio.h>
#include <stdlib.h>

void brute_random_graph(wfre_rng *rng, uint32_t entities, uint32_t relations, brute_graph *graph)
{
    *graph = (brute_graph){.entities = 1 + wfre_rng_below(rng, entities),
                           .relations = 1 + wfre_rng_below(rng, relations)};
    float density = 0.05f + 0.6f * wfre_rng_float(rng);
    for (uint32_t r = 0; r < graph->relations; r++)
        for (uint32_t h = 0; h < graph->entities; h++)
            for (uint32_t t = 0; t < graph->entities; t++)
                graph->edge[r][h][t] = wfre_rng_float(rng) < density;
}

static bool has_edge(const brute_graph *graph, wfre_relation relation, uint32_t head, uint32_t tail)
{
    return relation & 1 ? graph->edge[relation / 2][tail][head]
                        : graph->edge[relation / 2][head][tail];
}

uint32_t brute_tree(const brute_graph *graph, const wfre_node *tree)
{
    uint32_t everything = (1u << graph->entities) - 1;
    uint32_t child = tree->child_count ? brute_tree(graph, tree->children[0]) : 0;
    uint32_t answers = child;
    switch (tree->op) {
    case WFRE_OP_ENTITY:
        return 1u << tree->id;
    case WFRE_OP_NEGATE:
        return everything & ~child;
    case WFRE_OP_PROJECT:
        answers = 0;
        for (uint32_t h = 0; h < graph->entities; h++)
            for (uint32_t t = 0; t < graph->entities; t++)
                if (child >> h & 1 && has_edge(graph, tree->id, h, t))
                    answers |= 1u << t;
        return answers;
    case WFRE_OP_INTERSECT:
        for (uint32_t i = 1; i < tree->child_count; i++)
            answers &= brute_tree(graph, tree->children[i]);
        return answers;
    case WFRE_OP_UNION:
        for (uint32_t i = 1; i < tree->child_count; i++)
            answers |= brute_tree(graph, tree->children[i]);
        return answers;
    }
    return 0;
}

/* What certainly belongs to the tree's set, or certainly does not. */
static uint32_t certain(const brute_graph *graph, const wfre_node *tree, bool inside)
{
    uint32_t everything = (1u << graph->entities) - 1, answers = 0, from;
    bool all = (tree->op == WFRE_OP_INTERSECT) == inside;
    switch (tree->op) {
    case WFRE_OP_ENTITY:
        return inside ? 1u << tree->id : everything & ~(1u << tree->id);
    case WFRE_OP_NEGATE:
        return certain(graph, tree->children[0], !inside);
    case WFRE_OP_PROJECT:
        from = inside ? certain(graph, tree->children[0], true) : 0;
        for (uint32_t h = 0; h < graph->entities; h++)
            for (uint32_t t = 0; t < graph->entities; t++)
                if (from >> h & 1 && has_edge(graph, tree->id, h, t))
                    answers |= 1u << t;
        return answers;
    default:
        answers = all ? everything : 0;
        for (uint32_t i = 0; i < tree->child_count; i++) {
            uint32_t child = certain(graph, tree->children[i], inside);
            answers = all ? answers & child : answers | child;
        }
        return answers;
    }
}

uint32_t brute_refuted(const brute_graph *graph, const wfre_node *tree)
{
    return certain(graph, tree, false);
}

static bool holds(const brute_graph *graph, const wfre_formula *formula, uint32_t *value)
{
    switch (formula->kind) {
    case WFRE_ATOM: {
        wfre_term l = formula->left, r = formula->right;
        return has_edge(graph, formula->relation, l.is_variable ? value[l.id] : l.id,
                        r.is_variable ? value[r.id] : r.id);
    }
    case WFRE_LINK: {
        wfre_term l = formula->left, r = formula->right;
        return has_edge(graph, 2 * value[formula->variable], l.is_variable ? value[l.id] : l.id,
                        r.is_variable ? value[r.id] : r.id);
    }
    case WFRE_EQUAL: {
        wfre_term l = formula->left, r = formula->right;
        return (l.is_variable ? value[l.id] : l.id) == (r.is_variable ? value[r.id] : r.id);
    }
    case WFRE_NOT:
        return !holds(graph, formula->children[0], value);
    case WFRE_AND:
        for (uint32_t i = 0; i < formula->child_count; i++)
            if (!holds(graph, formula->children[i], value))
                return false;
        return true;
    case WFRE_OR:
        for (uint32_t i = 0; i < formula->child_count; i++)
            if (holds(graph, formula->children[i], value))
                return true;
        return false;
    case WFRE_EXISTS:
        for (uint32_t e = 0; e < (formula->of_relations ? graph->relations : graph->entities);
             e++) {
            value[formula->variable] = e;
            if (holds(graph, formula->children[0], value))
                return true;
        }
        return false;
    }
    return false;
}

static void *must(void *pointer)
{
    if (!pointer) {
        fputs("out of memory in a test\n", stderr);
        abort();
    }
    return pointer;
}

uint32_t brute_formula(const brute_graph *graph, const wfre_query *query)
{
    uint32_t *value = must(calloc(query->variable_count, sizeof *value));
    uint32_t answers = 0;
    for (uint32_t e = 0; e < graph->entities; e++) {
        value[0] = e;
        if (holds(graph, query->formula, value))
            answers |= 1u << e;
    }
    free(value);
    return answers;
}

size_t brute_rows(const brute_graph *graph, const wfre_query *query, uint32_t *rows)
{
    uint32_t *value = must(calloc(query->variable_count + 1, sizeof *value));
    size_t count = 0, all = 1;
    for (uint32_t v = 0; v < query->asked; v++)
        all *= query->of_relations[v] ? graph->relations : graph->entities;
    for (size_t i = 0; i < all; i++) {
        size_t rest = i;
        for (uint32_t v = query->asked; v-- > 0;) {
            uint32_t range = query->of_relations[v] ? graph->relations : graph->entities;
            value[v] = (uint32_t)(rest % range);
            rest /= range;
        }
        if (!holds(graph, query->formula, value))
            continue;
        for (uint32_t v = 0; v < query->asked; v++)
            rows[count * query->asked + v] = query->of_relations[v] ? 2 * value[v] : value[v];
        count++;
    }
    free(value);
    return count;
}

/* ---- random queries ----------------------------------------------------------------------- */

const wfre_node *brute_random_tree(wfre_arena *arena, wfre_rng *rng, const brute_graph *graph,
                                   unsigned depth)
{
    uint32_t choice = depth <= 1 ? 0 : wfre_rng_below(rng, 10);
    wfre_op op = choice < 1   ? WFRE_OP_ENTITY
                 : choice < 5 ? WFRE_OP_PROJECT
                 : choice < 6 ? WFRE_OP_NEGATE
                 : choice < 8 ? WFRE_OP_INTERSECT
                              : WFRE_OP_UNION;
    const wfre_node *children[3];
    uint32_t count = op == WFRE_OP_ENTITY                             ? 0
                     : op == WFRE_OP_INTERSECT || op == WFRE_OP_UNION ? 2 + wfre_rng_below(rng, 2)
                                                                      : 1;
    for (uint32_t i = 0; i < count; i++)
        children[i] = brute_random_tree(arena, rng, graph, depth - 1);
    uint32_t id = op == WFRE_OP_ENTITY    ? wfre_rng_below(rng, graph->entities)
                  : op == WFRE_OP_PROJECT ? wfre_rng_below(rng, 2 * graph->relations)
                                          : WFRE_NONE;
    return must((void *)wfre_node_make(arena, op, id, children, count));
}

enum { SCOPE = 8, VARIABLES = 1024 };

typedef struct generator {
    wfre_rng *rng;
    const brute_graph *graph;
    wfre_query *query;
    uint32_t scope[SCOPE]; /* the variables that may be used here */
    uint32_t scope_size;
    bool links;                /* variables may stand for relations */
    uint32_t relations[SCOPE]; /* those that do */
    uint32_t relations_size;
    bool of_relations[VARIABLES];
} generator;

/* Newer variables are likelier, so that most quantifiers bind something. */
static uint32_t random_of(generator *g, const uint32_t *scope, uint32_t size)
{
    uint32_t a = wfre_rng_below(g->rng, size), b = wfre_rng_below(g->rng, size);
    return scope[a > b ? a : b];
}

static wfre_term random_term(generator *g)
{
    if (g->scope_size == 0 || wfre_rng_below(g->rng, 4) == 0)
        return wfre_term_entity(wfre_rng_below(g->rng, g->graph->entities));
    return wfre_term_variable(random_of(g, g->scope, g->scope_size));
}

static const wfre_formula *random_leaf(generator *g)
{
    wfre_arena *arena = &g->query->arena;
    wfre_term left = random_term(g), right = random_term(g);
    if (wfre_rng_below(g->rng, 8) == 0)
        return must((void *)wfre_formula_equal(arena, left, right));
    if (g->relations_size > 0 && wfre_rng_below(g->rng, 2) == 0)
        return must((void *)wfre_formula_link(arena, random_of(g, g->relations, g->relations_size),
                                              left, right));
    return must((void *)wfre_formula_atom(arena, wfre_rng_below(g->rng, 2 * g->graph->relations),
                                          left, right));
}

static uint32_t add_variable(generator *g, bool of_relations)
{
    uint32_t variable = g->query->variable_count++;
    if (of_relations)
        g->relations[g->relations_size++] = variable;
    else
        g->scope[g->scope_size++] = variable;
    g->of_relations[variable] = of_relations;
    return variable;
}

static const wfre_formula *random_formula(generator *g, unsigned depth);

static const wfre_formula *random_exists(generator *g, unsigned depth)
{
    bool of_relations = g->links && g->relations_size < SCOPE && wfre_rng_below(g->rng, 3) == 0;
    uint32_t variable = add_variable(g, of_relations);
    const wfre_formula *child = random_formula(g, depth - 1);
    g->relations_size -= of_relations;
    g->scope_size -= !of_relations;
    /* What nothing mentions is read as a variable for entities. */
    g->of_relations[variable] = of_relations && wfre_formula_has(child, variable);
    return must((void *)(g->of_relations[variable]
                             ? wfre_formula_exists_relation(&g->query->arena, variable, child)
                             : wfre_formula_exists(&g->query->arena, variable, child)));
}

static const wfre_formula *random_formula(generator *g, unsigned depth)
{
    wfre_arena *arena = &g->query->arena;
    uint32_t choice = depth == 0 ? 0 : wfre_rng_below(g->rng, 10);
    if (choice < 2)
        return random_leaf(g);
    if (choice < 4)
        return must((void *)wfre_formula_not(arena, random_formula(g, depth - 1)));
    if (choice < 6 && g->scope_size < SCOPE)
        return random_exists(g, depth);
    const wfre_formula *children[3];
    uint32_t count = 2 + (wfre_rng_below(g->rng, 3) == 0);
    for (uint32_t i = 0; i < count; i++)
        children[i] = random_formula(g, depth - 1);
    return must((void *)wfre_formula_join(arena, choice < 9 ? WFRE_AND : WFRE_OR, children, count));
}

static void generate(generator *g, unsigned depth)
{
    wfre_query *query = g->query;
    query->asked = query->variable_count;
    query->formula = random_formula(g, depth);
    const char **names =
        must(wfre_arena_alloc(&query->arena, query->variable_count, sizeof *names));
    bool *of_relations =
        must(wfre_arena_alloc(&query->arena, query->variable_count, sizeof *of_relations));
    for (uint32_t i = 0; i < query->variable_count; i++) {
        static const char *const NAMES[] = {"x", "y", "z"}; /* few, so that they shadow */
        names[i] = NAMES[wfre_rng_below(g->rng, 3)];
        of_relations[i] =
            g->of_relations[i] && (i >= query->asked || wfre_formula_has(query->formula, i));
    }
    query->variable_names = names;
    query->of_relations = of_relations;
}

void brute_random_query(wfre_rng *rng, const brute_graph *graph, unsigned depth, wfre_query *query)
{
    *query = (wfre_query){0};
    generator g = {.rng = rng, .graph = graph, .query = query};
    (void)add_variable(&g, false);
    generate(&g, depth);
}

void brute_random_question(wfre_rng *rng, const brute_graph *graph, unsigned depth,
                           wfre_query *query)
{
    *query = (wfre_query){0};
    generator g = {.rng = rng, .graph = graph, .query = query};
    g.links = wfre_rng_below(rng, 2) == 0;
    for (uint32_t i = wfre_rng_below(rng, BRUTE_ASKED + 1); i > 0; i--)
        (void)add_variable(&g, g.links && wfre_rng_below(rng, 3) == 0);
    generate(&g, depth);
}
