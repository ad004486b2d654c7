/* Queries made by calls. Parts are checked as they are made, and copied when a query is finished:
 * only then is it known what each variable is bound by. */
#include <stdio.h>
#include <string.h>

#include "query/formula.h"
#include "query/scan.h"

/* Parts are shared, and written out they may be any number. */
enum { MOST_PARTS = 1 << 20 };

typedef enum use { UNUSED, ENTITY, RELATION } use;

struct wfre_query_builder {
    const wfre_graph *graph;
    wfre_arena arena; /* parts and names */
    const char **names;
    size_t name_capacity;
    use *uses; /* what each variable stands for */
    size_t use_capacity;
    uint32_t variable_count;
    wfre_status status; /* the first failure */
    wfre_error why;
};

wfre_status wfre_query_builder_create(const wfre_graph *graph, wfre_query_builder **builder,
                                      wfre_error *error)
{
    wfre_query_builder *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "building a query");
    made->graph = graph;
    *builder = made;
    return WFRE_OK;
}

void wfre_query_builder_free(wfre_query_builder *builder)
{
    if (!builder)
        return;
    wfre_arena_free(&builder->arena);
    wfre_free(builder->names);
    wfre_free(builder->uses);
    wfre_free(builder);
}

/* ---- failures ----------------------------------------------------------------------------- */

/* Keeps the first failure, with one number in its message. */
static void fail(wfre_query_builder *b, const char *format, uint32_t number)
{
    if (b->status != WFRE_OK)
        return;
    char message[sizeof b->why.message];
    (void)snprintf(message, sizeof message, "%s", format);
    char *place = strchr(message, '@');
    b->status = place ? wfre_fail(&b->why, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%.*s%u%s",
                                  (int)(place - message), message, number, place + 1)
                      : wfre_fail(&b->why, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s", message);
}

/* Passes a part on if it could be made. */
static const wfre_formula *made(wfre_query_builder *b, const wfre_formula *part)
{
    if (!part && b->status == WFRE_OK)
        b->status = wfre_fail_memory(&b->why, "building a query");
    if (part && part->depth > WFRE_FORMULA_NESTING)
        fail(b, "the query is nested too deep, in more than @ levels", WFRE_FORMULA_NESTING);
    return b->status == WFRE_OK ? part : NULL;
}

/* Whether a caller's part is one; NULL comes from a failure before, or is one. */
static bool is_part(wfre_query_builder *b, const wfre_formula *part)
{
    if (!part)
        fail(b, "a part of the query is missing", 0);
    return b->status == WFRE_OK;
}

static bool is_variable(wfre_query_builder *b, wfre_term term)
{
    if (!term.is_variable)
        fail(b, "an entity, #@, stands where a variable belongs", term.id);
    else if (term.id >= b->variable_count)
        fail(b, "there is no variable with number @", term.id);
    return b->status == WFRE_OK;
}

/* The variable stands for an entity or for a relation from now on. */
static void use_variable(wfre_query_builder *b, wfre_term term, use as)
{
    if (!is_variable(b, term))
        return;
    use *before = &b->uses[term.id];
    if (*before != UNUSED && *before != as)
        fail(b, "variable @ cannot stand for an entity and for a relation", term.id);
    *before = as;
}

static void check_term(wfre_query_builder *b, wfre_term term)
{
    if (term.is_variable)
        use_variable(b, term, ENTITY);
    else if (term.id == WFRE_NONE || (b->graph && term.id >= wfre_graph_entities(b->graph)))
        fail(b, "entity #@ is not in the graph", term.id);
}

/* ---- parts -------------------------------------------------------------------------------- */

wfre_term wfre_term_entity(wfre_entity entity)
{
    return (wfre_term){false, entity};
}

static const char *keep_name(wfre_query_builder *b, const char *name)
{
    char numbered[16];
    (void)snprintf(numbered, sizeof numbered, "v%u", b->variable_count + 1);
    const char *text = name ? name : numbered;
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!wfre_scan_is_name_byte(text + i, length - i))
            fail(b, "the name of a variable has letters, digits and _ only", 0);
    if (length == 0)
        fail(b, "the name of a variable is empty", 0);
    return wfre_arena_text(&b->arena, text, length);
}

wfre_term wfre_build_variable(wfre_query_builder *builder, const char *name)
{
    uint32_t variable = builder->variable_count;
    const char *kept = keep_name(builder, name);
    if (!kept || !WFRE_RESERVE(&builder->names, &builder->name_capacity, (size_t)variable + 1) ||
        !WFRE_RESERVE(&builder->uses, &builder->use_capacity, (size_t)variable + 1)) {
        (void)made(builder, NULL);
        return wfre_term_variable(variable);
    }
    builder->names[variable] = kept;
    builder->uses[variable] = UNUSED;
    builder->variable_count++;
    return wfre_term_variable(variable);
}

const wfre_formula *wfre_build_atom(wfre_query_builder *builder, wfre_relation relation,
                                    wfre_term left, wfre_term right)
{
    if (relation == WFRE_NONE ||
        (builder->graph && relation >= wfre_graph_relations(builder->graph)))
        fail(builder, "relation #@ is not in the graph", relation);
    check_term(builder, left);
    check_term(builder, right);
    if (builder->status != WFRE_OK)
        return NULL;
    return made(builder, wfre_formula_atom(&builder->arena, relation, left, right));
}

const wfre_formula *wfre_build_link(wfre_query_builder *builder, wfre_term relation, wfre_term left,
                                    wfre_term right)
{
    use_variable(builder, relation, RELATION);
    check_term(builder, left);
    check_term(builder, right);
    if (builder->status != WFRE_OK)
        return NULL;
    return made(builder, wfre_formula_link(&builder->arena, relation.id, left, right));
}

const wfre_formula *wfre_build_equal(wfre_query_builder *builder, wfre_term left, wfre_term right)
{
    check_term(builder, left);
    check_term(builder, right);
    if (builder->status != WFRE_OK)
        return NULL;
    return made(builder, wfre_formula_equal(&builder->arena, left, right));
}

const wfre_formula *wfre_build_not(wfre_query_builder *builder, const wfre_formula *part)
{
    if (!is_part(builder, part))
        return NULL;
    return made(builder, wfre_formula_not(&builder->arena, part));
}

static const wfre_formula *join(wfre_query_builder *b, wfre_formula_kind kind,
                                const wfre_formula *const *parts, size_t count)
{
    if (count == 0 || count > MOST_PARTS)
        fail(b, "a conjunction or disjunction has from 1 to @ parts", MOST_PARTS);
    for (size_t i = 0; b->status == WFRE_OK && i < count; i++)
        (void)is_part(b, parts[i]);
    if (b->status != WFRE_OK)
        return NULL;
    return made(b, wfre_formula_join(&b->arena, kind, parts, (uint32_t)count));
}

const wfre_formula *wfre_build_and(wfre_query_builder *builder, const wfre_formula *const *parts,
                                   size_t count)
{
    return join(builder, WFRE_AND, parts, count);
}

const wfre_formula *wfre_build_or(wfre_query_builder *builder, const wfre_formula *const *parts,
                                  size_t count)
{
    return join(builder, WFRE_OR, parts, count);
}

const wfre_formula *wfre_build_exists(wfre_query_builder *builder, wfre_term variable,
                                      const wfre_formula *part)
{
    if (!is_part(builder, part) || !is_variable(builder, variable))
        return NULL;
    return made(builder, wfre_formula_exists(&builder->arena, variable.id, part));
}

/* ---- whole queries ------------------------------------------------------------------------ */

typedef struct copier {
    wfre_query_builder *builder;
    wfre_query *query;
    uint32_t *image;   /* of the builder's variables, where they are in scope */
    uint32_t *origins; /* of the query's variables, the builder's */
    uint32_t *unbound; /* the query's variables that nothing binds, in the order of their use */
    uint32_t unbound_count;
} copier;

static uint32_t add_variable(copier *c, uint32_t origin)
{
    if (c->query->variable_count == WFRE_FORMULA_VARIABLES) {
        fail(c->builder, "the query has more than @ variables", WFRE_FORMULA_VARIABLES);
        return 0;
    }
    c->origins[c->query->variable_count] = origin;
    return c->query->variable_count++;
}

static const wfre_formula *bind(copier *c, uint32_t variable, const wfre_formula *body)
{
    return c->builder->uses[c->origins[variable]] == RELATION
               ? wfre_formula_exists_relation(&c->query->arena, variable, body)
               : wfre_formula_exists(&c->query->arena, variable, body);
}

static const wfre_formula *copy_leaf(copier *c, const wfre_formula *leaf)
{
    uint32_t mentioned[3];
    uint32_t count = wfre_formula_mentions(leaf, mentioned);
    for (uint32_t i = 0; i < count; i++)
        if (c->image[mentioned[i]] == WFRE_NONE) {
            c->image[mentioned[i]] = add_variable(c, mentioned[i]);
            c->unbound[c->unbound_count++] = c->image[mentioned[i]];
        }
    return wfre_formula_rename(&c->query->arena, leaf, c->image);
}

/* NULL when out of memory, or after a failure. */
static const wfre_formula *copy(copier *c, const wfre_formula *part)
{
    wfre_arena *arena = &c->query->arena;
    if (c->builder->status != WFRE_OK)
        return NULL;
    if (part->child_count == 0)
        return copy_leaf(c, part);
    if (part->kind == WFRE_NOT)
        return wfre_formula_not(arena, copy(c, part->children[0]));
    if (part->kind == WFRE_EXISTS) {
        uint32_t before = c->image[part->variable], variable = add_variable(c, part->variable);
        c->image[part->variable] = variable;
        const wfre_formula *body = copy(c, part->children[0]);
        c->image[part->variable] = before;
        return bind(c, variable, body);
    }
    const wfre_formula **children = wfre_arena_alloc(arena, part->child_count, sizeof *children);
    if (!children)
        return NULL;
    for (uint32_t i = 0; i < part->child_count; i++)
        children[i] = copy(c, part->children[i]);
    return wfre_formula_join(arena, part->kind, children, part->child_count);
}

static void ask_for(copier *c, const wfre_term *asked, size_t count)
{
    for (size_t i = 0; i < count && is_variable(c->builder, asked[i]); i++) {
        if (c->image[asked[i].id] != WFRE_NONE)
            fail(c->builder, "variable @ is asked for twice", asked[i].id);
        c->image[asked[i].id] = add_variable(c, asked[i].id);
    }
    c->query->asked = c->query->variable_count;
}

static bool keep_variables(copier *c)
{
    wfre_query *query = c->query;
    const char **names = wfre_arena_alloc(&query->arena, query->variable_count, sizeof *names);
    bool *of_relations =
        wfre_arena_alloc(&query->arena, query->variable_count, sizeof *of_relations);
    if (!names || !of_relations)
        return false;
    for (uint32_t v = 0; v < query->variable_count; v++) {
        const char *name = c->builder->names[c->origins[v]];
        names[v] = wfre_arena_text(&query->arena, name, strlen(name));
        of_relations[v] = c->builder->uses[c->origins[v]] == RELATION;
        if (!names[v])
            return false;
    }
    query->variable_names = names;
    query->of_relations = of_relations;
    return true;
}

static void build(copier *c, const wfre_term *asked, size_t count, const wfre_formula *formula)
{
    wfre_query_builder *b = c->builder;
    wfre_arena *scratch = &b->arena;
    c->image = wfre_arena_alloc(scratch, b->variable_count, sizeof *c->image);
    c->origins = wfre_arena_alloc(scratch, WFRE_FORMULA_VARIABLES, sizeof *c->origins);
    c->unbound = wfre_arena_alloc(scratch, b->variable_count, sizeof *c->unbound);
    if (!c->image || !c->origins || !c->unbound) {
        (void)made(b, NULL);
        return;
    }
    for (uint32_t v = 0; v < b->variable_count; v++)
        c->image[v] = WFRE_NONE;
    ask_for(c, asked, count);
    const wfre_formula *whole = copy(c, formula);
    for (uint32_t i = c->unbound_count; i-- > 0;)
        whole = bind(c, c->unbound[i], whole);
    if (b->status != WFRE_OK)
        return;
    c->query->formula = whole;
    if (!whole || !keep_variables(c))
        (void)made(b, NULL);
    else
        b->status = wfre_query_find_tree(c->query, &b->why);
}

wfre_status wfre_build_query(wfre_query_builder *builder, const wfre_term *asked, size_t count,
                             const wfre_formula *formula, wfre_query **query, wfre_error *error)
{
    wfre_query *finished = NULL;
    if (is_part(builder, formula) && formula->size > MOST_PARTS)
        fail(builder, "the query has more than @ parts, written out", MOST_PARTS);
    if (builder->status == WFRE_OK && !(finished = wfre_alloc_zero(1, sizeof *finished)))
        (void)made(builder, NULL);
    if (finished)
        build(&(copier){.builder = builder, .query = finished}, asked, count, formula);
    if (builder->status == WFRE_OK) {
        *query = finished;
        return WFRE_OK;
    }
    wfre_query_free(finished);
    if (error)
        *error = builder->why;
    return builder->status;
}
