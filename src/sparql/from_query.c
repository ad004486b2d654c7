/* A query of the other notations as SPARQL.
 *
 * A conjunction becomes a group: first what binds variables (triples, UNION, VALUES), then what
 * looks at them (FILTER). Quantifiers go without saying, since every variable has a name of its
 * own. A group of SPARQL is evaluated by itself before it is joined with its surroundings; so where
 * a branch of a disjunction denies something of a variable that it does not bind, the rest of the
 * conjunction is repeated in each branch. Within FILTER NOT EXISTS the variables around it stand
 * for their terms. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "query/formula.h"
#include "sparql/plan.h"

enum { MOST_TEXT = 1 << 20 };

typedef struct prefix {
    wfre_text name, iri;
    bool used;
} prefix;

typedef struct printer {
    const wfre_query *query;
    const wfre_rdf_view *rdf;
    wfre_arena arena;
    const char **names; /* of each variable, all different */
    size_t words;       /* of a set of variables */
    prefix *prefixes;
    size_t prefix_count, prefix_capacity;
    wfre_text text, scratch;
    wfre_error *error;
    wfre_status status;
} printer;

/* What holds together: the parts of a conjunction, and the variables that stand for terms. */
typedef struct group {
    const wfre_formula **parts;
    uint32_t count, capacity;
    const uint64_t *outer;
} group;

static bool failed(printer *p)
{
    if (p->status == WFRE_OK && p->text.length > MOST_TEXT)
        p->status = wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "as SPARQL the query would be unreasonably large");
    return p->status != WFRE_OK;
}

static void no_memory(printer *p)
{
    if (p->status == WFRE_OK)
        p->status = wfre_fail_memory(p->error, "writing SPARQL");
}

/* ---- names -------------------------------------------------------------------------------- */

static bool plain_local(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool inner = i > 0 && (c == '-' || (c == '.' && i + 1 < length));
        if (!letter && !(c >= '0' && c <= '9') && !inner)
            return false;
    }
    return length > 0;
}

static void add_prefix(printer *p, const char *name, size_t name_length, const char *iri,
                       size_t iri_length)
{
    if (!wfre_reserve(&p->prefixes, &p->prefix_capacity, p->prefix_count + 1,
                      sizeof *p->prefixes)) {
        no_memory(p);
        return;
    }
    prefix *x = &p->prefixes[p->prefix_count++];
    *x = (prefix){0};
    wfre_text_append(&x->name, name, name_length);
    wfre_text_append(&x->iri, iri, iri_length);
    if (x->name.failed || x->iri.failed)
        no_memory(p);
}

/* Those of the graph's sources, and e: and r:. */
static void list_prefixes(printer *p)
{
    static const char OWN[] = "er";
    const wfre_graph *graph = wfre_rdf_graph(p->rdf);
    wfre_name name, iri;
    for (size_t i = 0; wfre_graph_prefix(graph, i, &name, &iri); i++)
        add_prefix(p, name.bytes, name.length, iri.bytes, iri.length);
    for (int i = 0; i < 2; i++) {
        bool declared = false;
        for (size_t k = 0; k < p->prefix_count; k++)
            declared |= p->prefixes[k].name.length == 1 && p->prefixes[k].name.data[0] == OWN[i];
        wfre_text_clear(&p->scratch);
        if (!declared && wfre_graph_find_prefix(graph, &OWN[i], 1, &p->scratch))
            add_prefix(p, &OWN[i], 1, p->scratch.data, p->scratch.length);
    }
}

static void put_iri(printer *p, wfre_name iri)
{
    prefix *best = NULL;
    for (size_t i = 0; i < p->prefix_count; i++) {
        prefix *x = &p->prefixes[i];
        size_t length = x->iri.length;
        if (length && length < iri.length && memcmp(x->iri.data, iri.bytes, length) == 0 &&
            (!best || length > best->iri.length) &&
            plain_local(iri.bytes + length, iri.length - length))
            best = x;
    }
    if (!best) {
        wfre_sq_put_iri(&p->text, iri);
        return;
    }
    best->used = true;
    wfre_text_append(&p->text, best->name.data, best->name.length);
    wfre_text_char(&p->text, ':');
    wfre_text_append(&p->text, iri.bytes + best->iri.length, iri.length - best->iri.length);
}

static void put_id(printer *p, wfre_rdf_id id)
{
    wfre_rdf_value value;
    wfre_status status = wfre_rdf_get(p->rdf, id, &p->scratch, &value, p->error);
    if (status == WFRE_OK)
        put_iri(p, value.text);
    else if (p->status == WFRE_OK)
        p->status = status;
}

static void put_term(printer *p, wfre_term term)
{
    if (term.is_variable)
        wfre_text_format(&p->text, "?%s", p->names[term.id]);
    else
        put_id(p, term.id);
}

/* A name for each variable that no other has. */
static bool name_variables(printer *p, bool predict)
{
    uint32_t count = p->query->variable_count;
    p->names = wfre_arena_alloc(&p->arena, (size_t)count + 3, sizeof *p->names);
    if (!p->names)
        return false;
    p->names[count] = "probability"; /* names that a SERVICE takes */
    p->names[count + 1] = "status";
    for (uint32_t v = 0; v < count; v++) {
        const char *own = p->query->variable_names[v];
        wfre_text name = {0};
        bool taken = true;
        for (uint32_t n = 0; taken && !name.failed; n++) {
            wfre_text_clear(&name);
            wfre_text_add(&name, *own ? own : "x");
            if (n)
                wfre_text_format(&name, "%u", n);
            taken = false;
            for (uint32_t k = 0; k < v && !taken && !name.failed; k++)
                taken = strcmp(p->names[k], name.data) == 0;
            for (uint32_t k = count; predict && k < count + 2 && !taken && !name.failed; k++)
                taken = strcmp(p->names[k], name.data) == 0;
        }
        p->names[v] = name.failed ? NULL : wfre_arena_text(&p->arena, name.data, name.length);
        wfre_text_free(&name);
        if (!p->names[v])
            return false;
    }
    return true;
}

/* ---- groups ------------------------------------------------------------------------------- */

static uint64_t *new_set(printer *p, const uint64_t *like)
{
    uint64_t *set = wfre_arena_alloc(&p->arena, p->words, sizeof *set);
    if (!set)
        no_memory(p);
    else if (like)
        memcpy(set, like, p->words * sizeof *set);
    else
        memset(set, 0, p->words * sizeof *set);
    return set;
}

static void add_variables(const wfre_formula *f, uint64_t *set)
{
    for (uint32_t i = 0; i < f->variable_count; i++)
        wfre_sq_slots_add(set, f->variables[i]);
}

static bool all_bound(const wfre_formula *f, const uint64_t *bound)
{
    for (uint32_t i = 0; i < f->variable_count; i++)
        if (!wfre_sq_slots_has(bound, f->variables[i]))
            return false;
    return true;
}

static void add_part(printer *p, group *g, const wfre_formula *part)
{
    if (g->count == g->capacity) {
        uint32_t capacity = g->capacity ? 2 * g->capacity : 8;
        const wfre_formula **grown = wfre_arena_alloc(&p->arena, capacity, sizeof *grown);
        if (!grown) {
            no_memory(p);
            return;
        }
        if (g->count)
            memcpy(grown, g->parts, g->count * sizeof *grown);
        g->parts = grown;
        g->capacity = capacity;
    }
    g->parts[g->count++] = part;
}

/* Takes conjunctions, quantifiers and double negations apart. */
static void collect(printer *p, group *g, const wfre_formula *f)
{
    if (f->kind == WFRE_EXISTS)
        collect(p, g, f->children[0]);
    else if (f->kind == WFRE_NOT && f->children[0]->kind == WFRE_NOT)
        collect(p, g, f->children[0]->children[0]);
    else if (f->kind == WFRE_AND)
        for (uint32_t i = 0; i < f->child_count; i++)
            collect(p, g, f->children[i]);
    else
        add_part(p, g, f);
}

static void bound_by(printer *p, const group *g, uint64_t *bound);

/* The variables that all branches bind. */
static void bound_by_all(printer *p, const wfre_formula * or, uint64_t *bound)
{
    uint64_t *all = NULL, *one;
    for (uint32_t i = 0; i < or->child_count && !failed(p); i++) {
        group branch = {.outer = NULL};
        one = new_set(p, NULL);
        collect(p, &branch, or->children[i]);
        if (failed(p) || !one)
            return;
        bound_by(p, &branch, one);
        for (size_t w = 0; all && w < p->words; w++)
            all[w] &= one[w];
        all = all ? all : one;
    }
    for (size_t w = 0; all && w < p->words; w++)
        bound[w] |= all[w];
}

/* Which side of an equality the other one can give a term to: 0 none, 1 left, 2 right. */
static int settles(const wfre_formula *equal, const uint64_t *bound)
{
    bool left = !equal->left.is_variable || wfre_sq_slots_has(bound, equal->left.id);
    bool right = !equal->right.is_variable || wfre_sq_slots_has(bound, equal->right.id);
    return left == right ? 0 : left ? 2 : 1;
}

/* The variables that a group is certain to bind. */
static void bound_by(printer *p, const group *g, uint64_t *bound)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const wfre_formula *part = g->parts[i];
        if (part->kind == WFRE_ATOM || part->kind == WFRE_LINK)
            add_variables(part, bound);
        else if (part->kind == WFRE_OR)
            bound_by_all(p, part, bound);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++)
            if (g->parts[i]->kind == WFRE_EQUAL && settles(g->parts[i], bound)) {
                add_variables(g->parts[i], bound);
                changed = true;
            }
    }
}

/* Whether what looks at variables finds them bound, in all branches, too. */
static bool stands_alone(printer *p, const group *g)
{
    uint64_t *bound = new_set(p, g->outer);
    if (!bound)
        return false;
    bound_by(p, g, bound);
    for (uint32_t i = 0; i < g->count; i++) {
        const wfre_formula *part = g->parts[i];
        if ((part->kind == WFRE_NOT || part->kind == WFRE_EQUAL) && !all_bound(part, bound))
            return false;
        for (uint32_t k = 0; part->kind == WFRE_OR && k < part->child_count; k++) {
            group branch = {.outer = g->outer};
            collect(p, &branch, part->children[k]);
            if (failed(p) || !stands_alone(p, &branch))
                return false;
        }
    }
    return true;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void print_group(printer *p, const group *g, unsigned depth);

static void indent(printer *p, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        wfre_text_add(&p->text, "  ");
}

static void print_branch(printer *p, const group *g, unsigned depth, bool first)
{
    indent(p, depth);
    wfre_text_add(&p->text, first ? "{\n" : "UNION {\n");
    print_group(p, g, depth + 1);
    indent(p, depth);
    wfre_text_add(&p->text, "}\n");
}

static void print_union(printer *p, const group *g, const wfre_formula * or, unsigned depth)
{
    for (uint32_t i = 0; i < or->child_count && !failed(p); i++) {
        group branch = {.outer = g->outer};
        collect(p, &branch, or->children[i]);
        print_branch(p, &branch, depth, i == 0);
    }
}

/* The whole group once for each branch of its disjunction at `at`. */
static void print_distributed(printer *p, const group *g, uint32_t at, unsigned depth)
{
    const wfre_formula * or = g->parts[at];
    for (uint32_t i = 0; i < or->child_count && !failed(p); i++) {
        group branch = {.outer = g->outer};
        for (uint32_t k = 0; k < g->count; k++)
            if (k != at)
                add_part(p, &branch, g->parts[k]);
        collect(p, &branch, or->children[i]);
        if (!failed(p))
            print_branch(p, &branch, depth, i == 0);
    }
}

static void print_triple(printer *p, const wfre_formula *atom, unsigned depth)
{
    indent(p, depth);
    put_term(p, atom->left);
    wfre_text_char(&p->text, ' ');
    if (atom->kind == WFRE_LINK)
        wfre_text_format(&p->text, "?%s", p->names[atom->variable]);
    else
        put_id(p, wfre_rdf_relation_term(p->rdf, atom->relation));
    wfre_text_char(&p->text, ' ');
    put_term(p, atom->right);
    wfre_text_add(&p->text, " .\n");
}

static void print_settled(printer *p, wfre_term variable, wfre_term value, unsigned depth)
{
    indent(p, depth);
    wfre_text_add(&p->text, value.is_variable ? "BIND(" : "VALUES ");
    put_term(p, value.is_variable ? value : variable);
    wfre_text_add(&p->text, value.is_variable ? " AS " : " { ");
    put_term(p, value.is_variable ? variable : value);
    wfre_text_add(&p->text, value.is_variable ? ")\n" : " }\n");
}

/* Equalities that give a variable its term, then those that compare. */
static void print_equalities(printer *p, const group *g, uint64_t *bound, unsigned depth)
{
    bool *done = wfre_arena_alloc(&p->arena, (size_t)g->count + 1, sizeof *done);
    if (!done) {
        no_memory(p);
        return;
    }
    memset(done, 0, (g->count + 1) * sizeof *done);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++) {
            const wfre_formula *e = g->parts[i];
            int side = e->kind == WFRE_EQUAL && !done[i] ? settles(e, bound) : 0;
            if (side == 0)
                continue;
            print_settled(p, side == 1 ? e->left : e->right, side == 1 ? e->right : e->left, depth);
            add_variables(e, bound);
            done[i] = changed = true;
        }
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const wfre_formula *e = g->parts[i];
        if (e->kind != WFRE_EQUAL || done[i])
            continue;
        indent(p, depth);
        wfre_text_add(&p->text, "FILTER(");
        put_term(p, e->left);
        wfre_text_add(&p->text, " = ");
        put_term(p, e->right);
        wfre_text_add(&p->text, ")\n");
    }
}

static void print_denial(printer *p, const wfre_formula *denied, const uint64_t *bound,
                         unsigned depth)
{
    indent(p, depth);
    if (denied->kind == WFRE_EQUAL) {
        wfre_text_add(&p->text, "FILTER(");
        put_term(p, denied->left);
        wfre_text_add(&p->text, " != ");
        put_term(p, denied->right);
        wfre_text_add(&p->text, ")\n");
        return;
    }
    group inside = {.outer = bound};
    collect(p, &inside, denied);
    wfre_text_add(&p->text, "FILTER NOT EXISTS {\n");
    print_group(p, &inside, depth + 1);
    indent(p, depth);
    wfre_text_add(&p->text, "}\n");
}

static void print_parts(printer *p, const group *g, unsigned depth)
{
    uint64_t *bound = new_set(p, g->outer);
    if (!bound)
        return;
    for (uint32_t i = 0; i < g->count && !failed(p); i++)
        if (g->parts[i]->kind == WFRE_ATOM || g->parts[i]->kind == WFRE_LINK) {
            print_triple(p, g->parts[i], depth);
            add_variables(g->parts[i], bound);
        }
    for (uint32_t i = 0; i < g->count && !failed(p); i++)
        if (g->parts[i]->kind == WFRE_OR) {
            print_union(p, g, g->parts[i], depth);
            bound_by_all(p, g->parts[i], bound);
        }
    print_equalities(p, g, bound, depth);
    for (uint32_t i = 0; i < g->count && !failed(p); i++)
        if (g->parts[i]->kind == WFRE_NOT)
            print_denial(p, g->parts[i]->children[0], bound, depth);
}

static void print_group(printer *p, const group *g, unsigned depth)
{
    if (failed(p))
        return;
    if (stands_alone(p, g)) {
        print_parts(p, g, depth);
        return;
    }
    for (uint32_t i = 0; i < g->count && !failed(p); i++)
        if (g->parts[i]->kind == WFRE_OR) {
            print_distributed(p, g, i, depth);
            return;
        }
    if (!failed(p))
        p->status = wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "SPARQL cannot say it: nothing but a negation restricts a variable");
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_status check(printer *p, const wfre_sparql_print_options *options)
{
    const wfre_query *query = p->query;
    if (!query->formula)
        return wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "%s", query->no_formula);
    if (query->counted > 0)
        return wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the question counts; in SPARQL write SELECT (COUNT(DISTINCT ?x) AS ?n)");
    if (options->predict && query->asked == 0)
        return wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "the question asks for no variable, so nothing can be predicted");
    return wfre_query_fits(query, wfre_rdf_graph(p->rdf), p->error);
}

static void print_head(printer *p, const wfre_sparql_print_options *options)
{
    uint32_t asked = p->query->asked;
    wfre_text_add(&p->text, asked == 0         ? "ASK {\n"
                            : options->predict ? "SELECT"
                                               : "SELECT DISTINCT");
    for (uint32_t v = 0; v < asked; v++)
        wfre_text_format(&p->text, " ?%s", p->names[v]);
    if (options->predict)
        wfre_text_add(&p->text, " ?probability ?status");
    if (asked)
        wfre_text_add(&p->text, " WHERE {\n");
    if (!options->predict)
        return;
    wfre_text_add(&p->text, "  SERVICE wfre:predict {\n    [] wfre:answer ");
    for (uint32_t v = 0; v < asked; v++)
        wfre_text_format(&p->text, "%s?%s", v ? ", " : "", p->names[v]);
    wfre_text_add(&p->text, " ; wfre:probability ?probability ; wfre:status ?status");
    if (options->top)
        wfre_text_format(&p->text, " ; wfre:top %llu", (unsigned long long)options->top);
    if (options->threshold > 0)
        wfre_text_format(&p->text, " ; wfre:threshold %.9g", options->threshold);
    wfre_text_add(&p->text, " .\n    {\n");
}

static void print_whole(printer *p, const wfre_sparql_print_options *options)
{
    group g = {.outer = new_set(p, NULL)};
    uint64_t *bound = new_set(p, NULL);
    collect(p, &g, p->query->formula);
    if (failed(p))
        return;
    print_head(p, options);
    print_group(p, &g, options->predict ? 3 : 1);
    wfre_text_add(&p->text, options->predict ? "    }\n  }\n}\n" : "}\n");
    if (failed(p))
        return;
    bound_by(p, &g, bound);
    for (uint32_t v = 0; v < p->query->asked && !failed(p); v++)
        if (!wfre_sq_slots_has(bound, v))
            p->status = wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                                  "SPARQL cannot say it: ?%s may be any entity", p->names[v]);
}

/* The prefixes in front of what uses them. */
static wfre_status finish(printer *p, const wfre_sparql_print_options *options, char **text)
{
    wfre_text whole = {0};
    if (options->predict)
        wfre_text_add(&whole, "PREFIX wfre: <" WFRE_SQ_NAMESPACE ">\n");
    for (size_t i = 0; i < p->prefix_count; i++)
        if (p->prefixes[i].used) {
            const prefix *x = &p->prefixes[i];
            wfre_text_add(&whole, "PREFIX ");
            wfre_text_append(&whole, x->name.data, x->name.length);
            wfre_text_add(&whole, ": ");
            wfre_sq_put_iri(&whole, (wfre_name){x->iri.data, x->iri.length});
            wfre_text_char(&whole, '\n');
        }
    wfre_text_append(&whole, p->text.data, p->text.length);
    whole.failed |= p->text.failed || p->scratch.failed;
    if (!whole.failed) { /* names that occur where SPARQL forbids them, a depth that it has not */
        wfre_sparql *parsed = NULL;
        wfre_status status = wfre_sparql_parse(whole.data, whole.length, NULL, &parsed, p->error);
        wfre_sparql_free(parsed);
        if (status != WFRE_OK) {
            wfre_text_free(&whole);
            return status == WFRE_ERR_MEMORY
                       ? status
                       : wfre_fail(p->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                                   "SPARQL cannot say it: the formula is too deep, or equates "
                                   "variables that its parts bind only sometimes");
        }
    }
    return wfre_sq_take_text(&whole, text, p->error);
}

wfre_status wfre_sparql_from_query(const wfre_query *query, const wfre_rdf_view *view,
                                   const wfre_sparql_print_options *options, char **text,
                                   wfre_error *error)
{
    static const wfre_sparql_print_options NONE = {0};
    GIVEN(query);
    GIVEN(view);
    printer p = {.query = query,
                 .rdf = view,
                 .error = error,
                 .words = (size_t)query->variable_count / 64 + 1};
    options = options ? options : &NONE;
    p.status = check(&p, options);
    if (p.status == WFRE_OK) {
        list_prefixes(&p);
        if (!name_variables(&p, options->predict))
            no_memory(&p);
    }
    if (p.status == WFRE_OK)
        print_whole(&p, options);
    if (p.status == WFRE_OK)
        p.status = finish(&p, options, text);
    for (size_t i = 0; i < p.prefix_count; i++) {
        wfre_text_free(&p.prefixes[i].name);
        wfre_text_free(&p.prefixes[i].iri);
    }
    wfre_free(p.prefixes);
    wfre_text_free(&p.text);
    wfre_text_free(&p.scratch);
    wfre_arena_free(&p.arena);
    return p.status;
}
