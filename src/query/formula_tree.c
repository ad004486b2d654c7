/* From formulas to operator trees.
 *
 * A part of a formula that depends on one variable v only is a set of values for v, and maps to a
 * tree directly: negation to n, conjunction to i, disjunction to u, an atom with an entity to a
 * projection. So its shape is kept. Quantifiers bring in more variables: the body of
 *
 *   exists y, z ... . body      (free in it: x, y, z, ...)
 *
 * is brought to clause form (clause.h), where each literal is either such a one-variable part or an
 * atom between two variables. A clause is a tree if its
 * two-variable atoms, none of them negated, join its variables to a tree with root x, and every
 * leaf has a part of its own: then x's set is the intersection of its own parts and of the
 * projections of its neighbours' sets. What fails is reported for the first clause that does.
 *
 * Inside this file WFRE_ERR_UNSUPPORTED means: not a tree, and query->not_a_tree says why. */
#include <stdarg.h>
#include <stdio.h>

#include "base/scope.h"
#include "query/clause.h"

typedef struct converter {
    wfre_query *query;
    wfre_arena scratch;
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

/* ---- clauses ------------------------------------------------------------------------------ */

static size_t count_nodes(const wfre_node *node)
{
    size_t count = 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_nodes(node->children[i]);
    return count;
}

static wfre_status find_literal(void *context, const wfre_formula *part, bool positive, bool *found,
                                wfre_literal *literal, size_t *weight)
{
    converter *c = context;
    if (part->variable_count == 0)
        return refuse(c, "a part of it depends on no variable, so it is not a set of entities");
    if (part->variable_count == 1) {
        CHECK(convert(c, part, part->variables[0], &literal->node));
        *weight = count_nodes(literal->node);
    } else if (part->kind == WFRE_EXISTS && !positive) {
        return refuse(c, "a negated part has more than one variable free, ?%s and another",
                      name_of(c, part->variables[0]));
    }
    *found = part->variable_count == 1 || part->child_count == 0;
    return WFRE_OK;
}

static wfre_status find_clauses(converter *c, const wfre_formula *body, wfre_clauses *clauses)
{
    wfre_error ignored;
    wfre_clause_maker maker = {&c->scratch, &ignored};
    wfre_clause_rules rules = {.find = find_literal, .context = c};
    const wfre_clause_form *form;
    wfre_status status = wfre_clause_form_of(&maker, &rules, body, true, &form);
    if (status == WFRE_OK)
        status = wfre_clauses_list(&maker, form, clauses);
    if (status == WFRE_ERR_UNSUPPORTED && !c->query->not_a_tree)
        return refuse(c, "%s", WFRE_CLAUSES_TOO_LARGE);
    return status == WFRE_ERR_MEMORY ? out_of_memory(c) : status;
}

/* ---- from a clause to a tree -------------------------------------------------------------- */

typedef struct clause_graph {
    const wfre_literal *literals;
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
                                  const wfre_literal *parent, const wfre_node **node);

/* The projection of the neighbour's set along an atom to `variable`. */
static wfre_status build_edge(converter *c, clause_graph *g, uint32_t variable,
                              const wfre_literal *parent, const wfre_literal *edge,
                              const wfre_node **node)
{
    const wfre_formula *atom = edge->formula;
    bool forward = atom->right.id == variable;
    uint32_t other = forward ? atom->left.id : atom->right.id;
    if (atom->kind == WFRE_EQUAL)
        return refuse(c, "an equality joins ?%s and ?%s", name_of(c, variable), name_of(c, other));
    if (!edge->positive)
        return refuse(c, "a negated atom joins ?%s and ?%s", name_of(c, variable),
                      name_of(c, other));
    if (parent && (parent->formula->left.id == other || parent->formula->right.id == other))
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

/* An atom between two variables; other literals are sets of values of one. */
static bool is_binary(const wfre_literal *l)
{
    return l->formula->variable_count > 1;
}

static bool touches(const wfre_literal *l, uint32_t variable)
{
    const wfre_formula *part = l->formula;
    return part->variables[0] == variable || (is_binary(l) && part->variables[1] == variable);
}

/* Some literal has a variable that the atoms do not join to the root. */
static wfre_status refuse_apart(converter *c, const clause_graph *g, uint32_t root)
{
    size_t i = 0;
    uint32_t other = root;
    for (; i < g->count && is_visited(g, other); i++)
        other = is_binary(&g->literals[i]) ? g->literals[i].formula->left.id
                                           : g->literals[i].formula->variables[0];
    return refuse(c, "?%s is not joined to ?%s", name_of(c, other), name_of(c, root));
}

/* The set of one variable, seen from the atom `parent` (NULL at the root). */
static wfre_status build_variable(converter *c, clause_graph *g, uint32_t variable,
                                  const wfre_literal *parent, const wfre_node **node)
{
    wfre_arena *arena = &c->query->arena;
    const wfre_node **parts = wfre_arena_alloc(&c->scratch, g->count, sizeof *parts);
    uint32_t count = 0;
    if (!parts)
        return out_of_memory(c);
    g->visited[g->visited_count++] = variable;
    for (size_t i = 0; i < g->count; i++) {
        const wfre_literal *l = &g->literals[i];
        if (l == parent || !touches(l, variable))
            continue;
        g->used++;
        if (is_binary(l))
            CHECK(build_edge(c, g, variable, parent, l, &parts[count]));
        else
            parts[count] = l->positive ? l->node : wfre_node_negate(arena, l->node);
        if (!parts[count++])
            return out_of_memory(c);
    }
    if (count == 0)
        return parent ? refuse(c, "nothing ties ?%s to an entity", name_of(c, variable))
                      : refuse_apart(c, g, variable);
    *node = parts[0];
    if (count > 1)
        *node = wfre_node_make(arena, WFRE_OP_INTERSECT, WFRE_NONE, parts, count);
    if (!*node)
        return out_of_memory(c);
    return WFRE_OK;
}

static wfre_status build_clause(converter *c, const wfre_clause *clause, uint32_t root,
                                const wfre_node **node)
{
    clause_graph g = {.literals = clause->literals, .count = clause->literal_count};
    g.visited = wfre_arena_alloc(&c->scratch, 2 * g.count + 1, sizeof *g.visited);
    if (!g.visited)
        return out_of_memory(c);
    CHECK(build_variable(c, &g, root, NULL, node));
    return g.used < g.count ? refuse_apart(c, &g, root) : WFRE_OK;
}

/* ---- parts with one free variable --------------------------------------------------------- */

static wfre_status convert_exists(converter *c, const wfre_formula *part, uint32_t variable,
                                  const wfre_node **node)
{
    wfre_clauses clauses;
    CHECK(find_clauses(c, part->children[0], &clauses));
    const wfre_node **branches = wfre_arena_alloc(&c->scratch, clauses.count, sizeof *branches);
    if (!branches)
        return out_of_memory(c);
    for (size_t i = 0; i < clauses.count; i++)
        CHECK(build_clause(c, &clauses.items[i], variable, &branches[i]));
    *node = branches[0];
    if (clauses.count > 1)
        *node = wfre_node_make(&c->query->arena, WFRE_OP_UNION, WFRE_NONE, branches,
                               (uint32_t)clauses.count);
    return *node ? WFRE_OK : out_of_memory(c);
}

static wfre_status convert_atom(converter *c, const wfre_formula *atom, const wfre_node **node)
{
    wfre_term left = atom->left, right = atom->right;
    if (left.is_variable && right.is_variable)
        return refuse(c, "an atom joins ?%s with itself", name_of(c, left.id));
    if (!left.is_variable && !right.is_variable)
        return refuse(c, "an atom without a variable is not a set of entities");
    if (atom->kind == WFRE_EQUAL) {
        *node = wfre_node_entity(&c->query->arena, right.is_variable ? left.id : right.id);
        return *node ? WFRE_OK : out_of_memory(c);
    }
    wfre_relation relation = right.is_variable ? atom->relation : atom->relation ^ 1;
    const wfre_node *anchor =
        wfre_node_entity(&c->query->arena, right.is_variable ? left.id : right.id);
    *node = wfre_node_project(&c->query->arena, relation, anchor);
    return *node ? WFRE_OK : out_of_memory(c);
}

static wfre_status convert_joined(converter *c, const wfre_formula *part, uint32_t variable,
                                  const wfre_node **node)
{
    const wfre_node **children = wfre_arena_alloc(&c->scratch, part->child_count, sizeof *children);
    if (!children)
        return out_of_memory(c);
    for (uint32_t i = 0; i < part->child_count; i++)
        CHECK(convert(c, part->children[i], variable, &children[i]));
    *node =
        wfre_node_make(&c->query->arena, part->kind == WFRE_AND ? WFRE_OP_INTERSECT : WFRE_OP_UNION,
                       WFRE_NONE, children, part->child_count);
    if (!*node)
        return out_of_memory(c);
    return WFRE_OK;
}

/* The set of values of `variable`, which is the only one that is free in the part. */
static wfre_status convert(converter *c, const wfre_formula *part, uint32_t variable,
                           const wfre_node **node)
{
    CHECK(wfre_check_stop(c->error));
    switch (part->kind) {
    case WFRE_ATOM:
    case WFRE_EQUAL:
        return convert_atom(c, part, node);
    case WFRE_AND:
    case WFRE_OR:
        return convert_joined(c, part, variable, node);
    case WFRE_EXISTS:
        return convert_exists(c, part, variable, node);
    case WFRE_LINK:
        break;
    case WFRE_NOT:
        CHECK(convert(c, part->children[0], variable, node));
        *node = wfre_node_negate(&c->query->arena, *node);
        return *node ? WFRE_OK : out_of_memory(c);
    }
    return WFRE_ERR_ARGUMENT;
}

/* A tree is a set of entities. */
static wfre_status check_asked(converter *c)
{
    const wfre_query *query = c->query;
    if (query->asked == 0)
        return refuse(c, "it asks for no variable, but whether it holds");
    if (query->counted > 0)
        return refuse(c, "it counts ?%s", name_of(c, query->asked - query->counted));
    if (query->asked > 1)
        return refuse(c, "it asks for %u variables", query->asked);
    for (uint32_t v = 0; query->of_relations && v < query->variable_count; v++)
        if (query->of_relations[v])
            return refuse(c, "?%s stands for a relation", name_of(c, v));
    return WFRE_OK;
}

wfre_status wfre_query_find_tree(wfre_query *query, wfre_error *error)
{
    converter c = {.query = query, .error = error};
    const wfre_node *tree = NULL;
    query->not_a_tree = NULL;
    wfre_status status = check_asked(&c);
    if (status == WFRE_OK)
        status = convert(&c, query->formula, 0, &tree);
    if (status == WFRE_OK && wfre_tree_depth(tree) > WFRE_TREE_DEPTH)
        status = refuse(&c, "its operator tree would be more than %d deep", WFRE_TREE_DEPTH);
    query->tree = status == WFRE_OK ? tree : NULL;
    wfre_arena_free(&c.scratch);
    return status == WFRE_ERR_UNSUPPORTED ? WFRE_OK : status;
}
