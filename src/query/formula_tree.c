/* From formulas to operator trees.
 *
 * A part of a formula that depends on one variable v only is a set of values for v, and maps to a
 * tree directly: negation to n, conjunction to i, disjunction to u, an atom with an entity to a
 * projection. So its shape is kept. Quantifiers bring in more variables: the body of
 *
 *   exists y, z ... . body      (free in it: x, y, z, ...)
 *
 * is taken apart into clauses, negation pushed inwards and disjunction outwards, until each literal
 * is either such a one-variable part or an atom between two variables. A clause is a tree if its
 * two-variable atoms, none of them negated, join its variables to a tree with root x, and every
 * leaf has a part of its own: then x's set is the intersection of its own parts and of the
 * projections of its neighbours' sets. What fails is reported for the first clause that does.
 *
 * Inside this file WFRE_ERR_UNSUPPORTED means: not a tree, and query->not_a_tree says why. */
#include <stdarg.h>
#include <stdio.h>

#include "base/scope.h"
#include "query/formula.h"

/* Beyond these a formula is not a question that anybody asks, but would take for ever. */
enum { CLAUSES = 4096, VISITS = 1 << 22 };

typedef struct literal {
    const wfre_formula *part;
    bool negated;
    bool binary;       /* an atom between two different variables */
    uint32_t variable; /* the only free one, if not binary */
} literal;

/* A conjunction of literals, as a chain from the last to the first: clauses share beginnings. */
typedef struct clause {
    const struct clause *before; /* NULL at the first literal */
    size_t length;
    literal last;
} clause;

typedef struct clause_list {
    const clause **items; /* NULL is the empty conjunction */
    size_t count;
    size_t capacity;
} clause_list;

typedef struct converter {
    wfre_query *query;
    wfre_arena scratch;
    bool *bound;              /* per variable: its quantifier is inside the part being looked at */
    size_t visits;            /* parts looked at so far */
    const char *const *names; /* of the variables, once a reason names one */
    bool failed;              /* there was no memory for them */
    wfre_error *error;
} converter;

static wfre_status convert(converter *c, const wfre_formula *part, uint32_t variable,
                           const wfre_node **node);

static wfre_status out_of_memory(converter *c)
{
    return wfre_fail_memory(c->error, "turning a formula into an operator tree");
}

/* Stores the reason why there is no tree. */
WFRE_PRINTF(2, 3) static wfre_status refuse(converter *c, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    size_t kept = length < (int)sizeof reason ? (size_t)length : sizeof reason - 1;
    c->query->not_a_tree = wfre_arena_text(&c->query->arena, reason, kept);
    return c->query->not_a_tree && !c->failed ? WFRE_ERR_UNSUPPORTED : out_of_memory(c);
}

/* As the query is printed, so that two variables of one name are told apart. */
static const char *name_of(converter *c, uint32_t variable)
{
    if (!c->names)
        c->names = wfre_query_names(c->query, &c->scratch);
    c->failed |= !c->names;
    return c->names ? c->names[variable] : c->query->variable_names[variable];
}

/* ---- free variables ----------------------------------------------------------------------- */

/* Counts the free variables of a part; from two on only that there are several. *first is the one
 * found first. */
static void count_free(converter *c, const wfre_formula *part, unsigned *count, uint32_t *first)
{
    c->visits++;
    if (part->kind == WFRE_ATOM) {
        wfre_term terms[] = {part->left, part->right};
        for (int i = 0; i < 2; i++) {
            if (!terms[i].is_variable || c->bound[terms[i].id])
                continue;
            if (*count == 0)
                *first = terms[i].id;
            if (*count == 0 || terms[i].id != *first)
                ++*count;
        }
    }
    if (part->kind == WFRE_EXISTS)
        c->bound[part->variable] = true;
    for (uint32_t i = 0; *count < 2 && i < part->child_count; i++)
        count_free(c, part->children[i], count, first);
    if (part->kind == WFRE_EXISTS)
        c->bound[part->variable] = false;
}

/* ---- clauses ------------------------------------------------------------------------------ */

static wfre_status push(converter *c, clause_list *list, const clause *item)
{
    if (list->count == CLAUSES || c->visits > VISITS)
        return refuse(c, "its disjunctive normal form is too large");
    if (!WFRE_RESERVE(&list->items, &list->capacity, list->count + 1))
        return out_of_memory(c);
    list->items[list->count++] = item;
    return WFRE_OK;
}

static wfre_status push_literal(converter *c, clause_list *list, const clause *before,
                                const literal *last)
{
    clause *longer = wfre_arena_alloc(&c->scratch, 1, sizeof *longer);
    if (!longer)
        return out_of_memory(c);
    *longer = (clause){before, before ? before->length + 1 : 1, *last};
    return push(c, list, longer);
}

static wfre_status take_apart(converter *c, const wfre_formula *part, bool negated,
                              const clause *before, clause_list *out);

/* Clauses that make all children true: every way through the first, then through the second ... */
static wfre_status take_apart_all(converter *c, const wfre_formula *part, bool negated,
                                  const clause *before, clause_list *out)
{
    wfre_status status;
    clause_list current = {0}, next = {0};
    TRY(push(c, &current, before));
    for (uint32_t i = 0; i < part->child_count; i++) {
        next.count = 0;
        for (size_t k = 0; k < current.count; k++)
            TRY(take_apart(c, part->children[i], negated, current.items[k], &next));
        clause_list swap = current;
        current = next;
        next = swap;
    }
    for (size_t k = 0; k < current.count; k++)
        TRY(push(c, out, current.items[k]));
cleanup:
    wfre_free(current.items);
    wfre_free(next.items);
    return status;
}

/* Appends to `out` every clause that continues `before` and makes the part true (or false, if
 * negated). */
static wfre_status take_apart(converter *c, const wfre_formula *part, bool negated,
                              const clause *before, clause_list *out)
{
    for (; negated && part->kind == WFRE_NOT; negated = false)
        part = part->children[0];
    unsigned free_count = 0;
    uint32_t variable = 0;
    count_free(c, part, &free_count, &variable);
    if (free_count == 0)
        return refuse(c, "a part of it depends on no variable, so it is not a set of entities");
    if (free_count == 1 || part->kind == WFRE_ATOM) {
        literal last = {part, negated, free_count > 1, variable};
        return push_literal(c, out, before, &last);
    }
    if (part->kind == WFRE_NOT)
        return take_apart(c, part->children[0], !negated, before, out);
    if (part->kind == (negated ? WFRE_OR : WFRE_AND))
        return take_apart_all(c, part, negated, before, out);
    if (part->kind == WFRE_EXISTS && negated)
        return refuse(c, "a negated part has more than one variable free, ?%s and another",
                      name_of(c, variable));
    wfre_status status = WFRE_OK;
    for (uint32_t i = 0; status == WFRE_OK && i < part->child_count; i++)
        status = take_apart(c, part->children[i], negated, before, out);
    return status;
}

/* ---- from a clause to a tree -------------------------------------------------------------- */

typedef struct clause_graph {
    const literal **literals;
    size_t count;
    size_t used;       /* literals that are in the tree */
    uint32_t *visited; /* variables that are */
    size_t visited_count;
} clause_graph;

static bool is_visited(const clause_graph *g, uint32_t variable)
{
    for (size_t i = 0; i < g->visited_count; i++)
        if (g->visited[i] == variable)
            return true;
    return false;
}

static wfre_status build_variable(converter *c, clause_graph *g, uint32_t variable,
                                  const literal *parent, const wfre_node **node);

/* The projection of the neighbour's set along an atom to `variable`. */
static wfre_status build_edge(converter *c, clause_graph *g, uint32_t variable,
                              const literal *parent, const literal *edge, const wfre_node **node)
{
    const wfre_formula *atom = edge->part;
    bool forward = atom->right.id == variable;
    uint32_t other = forward ? atom->left.id : atom->right.id;
    if (edge->negated)
        return refuse(c, "a negated atom joins ?%s and ?%s", name_of(c, variable),
                      name_of(c, other));
    if (parent && (parent->part->left.id == other || parent->part->right.id == other))
        return refuse(c, "two atoms join ?%s and ?%s", name_of(c, other), name_of(c, variable));
    if (is_visited(g, other))
        return refuse(c, "?%s and ?%s lie on a cycle", name_of(c, variable), name_of(c, other));
    const wfre_node *child;
    wfre_status status = build_variable(c, g, other, edge, &child);
    if (status != WFRE_OK)
        return status;
    *node =
        wfre_node_project(&c->query->arena, forward ? atom->relation : atom->relation ^ 1, child);
    return *node ? WFRE_OK : out_of_memory(c);
}

static bool touches(const literal *l, uint32_t variable)
{
    if (!l->binary)
        return l->variable == variable;
    return l->part->left.id == variable || l->part->right.id == variable;
}

/* Some literal has a variable that the atoms do not join to the root. */
static wfre_status refuse_apart(converter *c, const clause_graph *g, uint32_t root)
{
    size_t i = 0;
    uint32_t other = root;
    for (; i < g->count && is_visited(g, other); i++)
        other = g->literals[i]->binary ? g->literals[i]->part->left.id : g->literals[i]->variable;
    return refuse(c, "?%s is not joined to ?%s", name_of(c, other), name_of(c, root));
}

/* The set of one variable, seen from the atom `parent` (NULL at the root). */
static wfre_status build_variable(converter *c, clause_graph *g, uint32_t variable,
                                  const literal *parent, const wfre_node **node)
{
    wfre_status status = WFRE_OK;
    wfre_arena *arena = &c->query->arena;
    const wfre_node **parts = wfre_arena_alloc(&c->scratch, g->count, sizeof *parts);
    uint32_t count = 0;
    if (!parts)
        return out_of_memory(c);
    g->visited[g->visited_count++] = variable;
    for (size_t i = 0; i < g->count; i++) {
        const literal *l = g->literals[i];
        if (l == parent || !touches(l, variable))
            continue;
        g->used++;
        if (l->binary) {
            TRY(build_edge(c, g, variable, parent, l, &parts[count]));
        } else {
            TRY(convert(c, l->part, variable, &parts[count]));
            if (l->negated)
                parts[count] = wfre_node_negate(arena, parts[count]);
        }
        if (!parts[count++]) {
            status = out_of_memory(c);
            goto cleanup;
        }
    }
    if (count == 0) {
        status = parent ? refuse(c, "nothing ties ?%s to an entity", name_of(c, variable))
                        : refuse_apart(c, g, variable);
        goto cleanup;
    }
    *node = parts[0];
    if (count > 1)
        *node = wfre_node_make(arena, WFRE_OP_INTERSECT, WFRE_NONE, parts, count);
    if (!*node)
        status = out_of_memory(c);
cleanup:
    return status;
}

static wfre_status build_clause(converter *c, const clause *last, uint32_t root,
                                const wfre_node **node)
{
    clause_graph g = {.count = last->length};
    g.literals = wfre_arena_alloc(&c->scratch, g.count, sizeof *g.literals);
    g.visited = wfre_arena_alloc(&c->scratch, 2 * g.count + 1, sizeof *g.visited);
    if (!g.literals || !g.visited)
        return out_of_memory(c);
    size_t i = g.count;
    for (const clause *k = last; k; k = k->before)
        g.literals[--i] = &k->last;
    wfre_status status = build_variable(c, &g, root, NULL, node);
    return status == WFRE_OK && g.used < g.count ? refuse_apart(c, &g, root) : status;
}

/* ---- parts with one free variable --------------------------------------------------------- */

static wfre_status convert_exists(converter *c, const wfre_formula *part, uint32_t variable,
                                  const wfre_node **node)
{
    wfre_status status;
    clause_list clauses = {0};
    const wfre_node **branches = NULL;
    TRY(take_apart(c, part->children[0], false, NULL, &clauses));
    branches = wfre_alloc(clauses.count, sizeof *branches);
    if (!branches) {
        status = out_of_memory(c);
        goto cleanup;
    }
    for (size_t i = 0; i < clauses.count; i++)
        TRY(build_clause(c, clauses.items[i], variable, &branches[i]));
    *node = branches[0];
    if (clauses.count > 1)
        *node = wfre_node_make(&c->query->arena, WFRE_OP_UNION, WFRE_NONE, branches,
                               (uint32_t)clauses.count);
    if (!*node)
        status = out_of_memory(c);
cleanup:
    wfre_free(branches);
    wfre_free(clauses.items);
    return status;
}

static wfre_status convert_atom(converter *c, const wfre_formula *atom, const wfre_node **node)
{
    wfre_term left = atom->left, right = atom->right;
    if (left.is_variable && right.is_variable)
        return refuse(c, "an atom joins ?%s with itself", name_of(c, left.id));
    if (!left.is_variable && !right.is_variable)
        return refuse(c, "an atom without a variable is not a set of entities");
    wfre_relation relation = right.is_variable ? atom->relation : atom->relation ^ 1;
    const wfre_node *anchor =
        wfre_node_entity(&c->query->arena, right.is_variable ? left.id : right.id);
    *node = wfre_node_project(&c->query->arena, relation, anchor);
    return *node ? WFRE_OK : out_of_memory(c);
}

static wfre_status convert_joined(converter *c, const wfre_formula *part, uint32_t variable,
                                  const wfre_node **node)
{
    wfre_status status = WFRE_OK;
    const wfre_node **children = wfre_arena_alloc(&c->scratch, part->child_count, sizeof *children);
    if (!children)
        return out_of_memory(c);
    for (uint32_t i = 0; i < part->child_count; i++)
        TRY(convert(c, part->children[i], variable, &children[i]));
    *node =
        wfre_node_make(&c->query->arena, part->kind == WFRE_AND ? WFRE_OP_INTERSECT : WFRE_OP_UNION,
                       WFRE_NONE, children, part->child_count);
    if (!*node)
        status = out_of_memory(c);
cleanup:
    return status;
}

/* The set of values of `variable`, which is the only one that is free in the part. */
static wfre_status convert(converter *c, const wfre_formula *part, uint32_t variable,
                           const wfre_node **node)
{
    wfre_status status;
    if (++c->visits > VISITS)
        return refuse(c, "its disjunctive normal form is too large");
    CHECK(wfre_check_stop(c->error));
    switch (part->kind) {
    case WFRE_ATOM:
        return convert_atom(c, part, node);
    case WFRE_AND:
    case WFRE_OR:
        return convert_joined(c, part, variable, node);
    case WFRE_EXISTS:
        return convert_exists(c, part, variable, node);
    case WFRE_NOT:
        status = convert(c, part->children[0], variable, node);
        if (status == WFRE_OK && !(*node = wfre_node_negate(&c->query->arena, *node)))
            status = out_of_memory(c);
        return status;
    }
    return WFRE_ERR_ARGUMENT;
}

wfre_status wfre_query_find_tree(wfre_query *query, wfre_error *error)
{
    converter c = {.query = query, .error = error};
    const wfre_node *tree = NULL;
    query->not_a_tree = NULL;
    c.bound = wfre_alloc_zero(query->variable_count, sizeof *c.bound);
    wfre_status status =
        c.bound ? convert(&c, query->formula, query->free_variable, &tree) : out_of_memory(&c);
    if (status == WFRE_OK && wfre_tree_depth(tree) > WFRE_TREE_DEPTH)
        status = refuse(&c, "its operator tree would be more than %d deep", WFRE_TREE_DEPTH);
    query->tree = status == WFRE_OK ? tree : NULL;
    wfre_free(c.bound);
    wfre_arena_free(&c.scratch);
    return status == WFRE_ERR_UNSUPPORTED ? WFRE_OK : status;
}
