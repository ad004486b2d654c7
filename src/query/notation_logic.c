/* The logic notation, read by recursive descent.
 *
 *   query = [[?x {, ?y}] [, count ?z {, ?z}] :] or
 *   or    = and { ("|" | or) and }           and = unary { ("&" | and) unary }
 *   unary = ("!" | not) unary | ( or ) | (relation | ?r) ( term , term )
 *         | term = term | term != term
 *         | (exists | forall) ?y [, ?z ...] [.] or
 *   term  = ?y | entity
 *
 * Without a colon every variable that nothing binds is asked for, in the order of their use.
 * A quantifier reaches as far to the right as its brackets allow and hides outer variables of the
 * same name. A variable that nothing binds, other than the one asked for, is existential, with the
 * whole formula as its scope: "?x : !r(?x,?y)" asks for the x that lack r to some y. Brackets are
 * kept: a & (b & c) is a conjunction of two, so that printing and parsing agree. */
#include <string.h>

#include "base/scope.h"
#include "query/notation.h"
#include "query/scan.h"

/* Formulas are limited in depth, not counting the quantifiers that go in front; the text, which the
 * parser recurses over, in nesting. Printing writes at most three levels of text (a bracket, a
 * quantifier, its variable) for one of the formula, so what was parsed can be parsed again. */
enum { DEPTH = WFRE_FORMULA_NESTING, NESTING = 4 * DEPTH, VARIABLES = WFRE_FORMULA_VARIABLES };

/* What a variable stands for, once the text has used it. */
typedef enum use { UNUSED, ENTITY, RELATION } use;

typedef struct parser {
    wfre_cursor cursor;
    wfre_query *query;
    wfre_symbol names[VARIABLES]; /* of all variables */
    uint32_t count;
    uint32_t scope[NESTING + 1]; /* variables of the quantifiers around the cursor */
    uint32_t scope_size;
    bool implicit[VARIABLES]; /* nothing in the text binds it */
    use uses[VARIABLES];
    bool headless; /* the text does not say what is asked for */
} parser;

static wfre_status parse_or(parser *p, unsigned level, const wfre_formula **formula);

static wfre_status out_of_memory(parser *p)
{
    return wfre_fail_memory(p->cursor.error, "reading a query");
}

static wfre_status check_nesting(parser *p, unsigned level)
{
    if (level <= NESTING)
        return WFRE_OK;
    return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, p->cursor.at,
                     "the query is nested too deep, in more than %d levels", NESTING);
}

/* ---- tokens ------------------------------------------------------------------------------- */

/* The operator at the cursor, however it is spelt: & | ! E A, or 0; its length in bytes. */
static char peek_operator(parser *p, size_t *size)
{
    char c = wfre_scan_peek(&p->cursor), ascii = 0;
    const char *rest = p->cursor.text + p->cursor.at;
    size_t left = p->cursor.length - p->cursor.at;
    if (c == '&' || c == '|' || c == '!') {
        *size = c != '!' && left > 1 && rest[1] == c ? 2 : 1;
        return c;
    }
    *size = wfre_scan_logic_symbol(rest, left, &ascii);
    if (*size == 0)
        *size = wfre_scan_keyword(rest, left, &ascii);
    return *size ? ascii : '\0';
}

static bool accept_operator(parser *p, char operator)
{
    size_t size;
    if (peek_operator(p, &size) != operator)
        return false;
    p->cursor.at += size;
    return true;
}

static wfre_status scan_variable(parser *p, const char *what, wfre_symbol *symbol)
{
    wfre_cursor *cursor = &p->cursor;
    if (!wfre_scan_accept(cursor, '?'))
        return wfre_scan_expected(cursor, what);
    size_t begin = cursor->at;
    while (cursor->at < cursor->length &&
           wfre_scan_is_name_byte(cursor->text + cursor->at, cursor->length - cursor->at))
        cursor->at++;
    *symbol = (wfre_symbol){
        .offset = begin - 1, .bytes = cursor->text + begin, .length = cursor->at - begin};
    if (symbol->length == 0)
        return wfre_scan_expected(cursor, "the name of the variable, letters and digits");
    return WFRE_OK;
}

/* ---- variables ---------------------------------------------------------------------------- */

static wfre_status add_variable(parser *p, const wfre_symbol *symbol, bool implicit,
                                uint32_t *variable)
{
    if (p->count == VARIABLES)
        return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, symbol->offset,
                         "the query has more than %d variables", VARIABLES);
    p->names[p->count] = *symbol;
    p->implicit[p->count] = implicit;
    *variable = p->count++;
    return WFRE_OK;
}

static bool is_called(const parser *p, uint32_t variable, const wfre_symbol *symbol)
{
    const wfre_symbol *name = &p->names[variable];
    return name->length == symbol->length && memcmp(name->bytes, symbol->bytes, name->length) == 0;
}

/* The innermost quantifier of that name, else one asked for, else an implicit one. */
static wfre_status find_variable(parser *p, const wfre_symbol *symbol, uint32_t *variable)
{
    for (uint32_t i = p->scope_size; i-- > 0;)
        if (is_called(p, p->scope[i], symbol)) {
            *variable = p->scope[i];
            return WFRE_OK;
        }
    for (uint32_t v = 0; v < p->count; v++)
        if ((v < p->query->asked || p->implicit[v]) && is_called(p, v, symbol)) {
            *variable = v;
            return WFRE_OK;
        }
    return add_variable(p, symbol, true, variable);
}

/* ---- grammar ------------------------------------------------------------------------------ */

/* The variable of that name, which from now on stands for an entity or for a relation. */
static wfre_status use_variable(parser *p, const wfre_symbol *symbol, use as, uint32_t *variable)
{
    CHECK(find_variable(p, symbol, variable));
    use *before = &p->uses[*variable];
    if (*before != UNUSED && *before != as)
        return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, symbol->offset,
                         "?%.*s cannot stand for an entity and for a relation",
                         (int)(symbol->length < 100 ? symbol->length : 100), symbol->bytes);
    *before = as;
    return WFRE_OK;
}

static wfre_status parse_term(parser *p, wfre_term *term)
{
    wfre_symbol symbol;
    if (wfre_scan_peek(&p->cursor) == '?') {
        uint32_t variable = 0;
        CHECK(scan_variable(p, "a variable", &symbol));
        CHECK(use_variable(p, &symbol, ENTITY, &variable));
        *term = wfre_term_variable(variable);
    } else {
        wfre_entity entity;
        CHECK(wfre_scan_symbol(&p->cursor, false, &symbol));
        CHECK(wfre_resolve_entity(&p->cursor, &symbol, &entity));
        *term = wfre_term_entity(entity);
    }
    return WFRE_OK;
}

/* Behind the relation. */
static wfre_status parse_terms(parser *p, wfre_term *left, wfre_term *right)
{
    CHECK(parse_term(p, left));
    CHECK(wfre_scan_expect(&p->cursor, ',', "a comma and the second term of the relation"));
    CHECK(parse_term(p, right));
    return wfre_scan_expect(&p->cursor, ')', "a closing bracket: a relation has two terms");
}

/* Passes over = or !=. */
static bool accept_comparison(parser *p, bool *equal)
{
    wfre_cursor *cursor = &p->cursor;
    *equal = wfre_scan_accept(cursor, '=');
    if (*equal)
        return true;
    bool unequal = wfre_scan_peek(cursor) == '!' && cursor->at + 1 < cursor->length &&
                   cursor->text[cursor->at + 1] == '=';
    cursor->at += unequal ? 2 : 0;
    return unequal;
}

static wfre_status finish_comparison(parser *p, wfre_term left, bool equal,
                                     const wfre_formula **formula)
{
    wfre_term right;
    CHECK(parse_term(p, &right));
    *formula = wfre_formula_equal(p->cursor.arena, left, right);
    if (!equal)
        *formula = wfre_formula_not(p->cursor.arena, *formula);
    return *formula ? WFRE_OK : out_of_memory(p);
}

/* What begins with a variable: ?r(term, term), or ?x = term. */
static wfre_status parse_with_variable(parser *p, const wfre_formula **formula)
{
    wfre_symbol symbol;
    wfre_term left, right;
    uint32_t variable = 0;
    bool equal;
    CHECK(scan_variable(p, "a variable", &symbol));
    if (accept_comparison(p, &equal)) {
        CHECK(use_variable(p, &symbol, ENTITY, &variable));
        return finish_comparison(p, wfre_term_variable(variable), equal, formula);
    }
    CHECK(wfre_scan_expect(&p->cursor, '(', "= or != and another term, or an opening bracket"));
    CHECK(use_variable(p, &symbol, RELATION, &variable));
    CHECK(parse_terms(p, &left, &right));
    *formula = wfre_formula_link(p->cursor.arena, variable, left, right);
    return *formula ? WFRE_OK : out_of_memory(p);
}

static wfre_status parse_atom(parser *p, const wfre_formula **formula)
{
    wfre_symbol symbol;
    wfre_relation relation;
    wfre_term left, right;
    bool equal;
    if (wfre_scan_peek(&p->cursor) == '?')
        return parse_with_variable(p, formula);
    CHECK(wfre_scan_symbol(&p->cursor, true, &symbol));
    if (!symbol.inverse && accept_comparison(p, &equal)) {
        wfre_entity entity;
        CHECK(wfre_resolve_entity(&p->cursor, &symbol, &entity));
        return finish_comparison(p, wfre_term_entity(entity), equal, formula);
    }
    CHECK(
        wfre_scan_expect(&p->cursor, '(', "an opening bracket and the two terms of the relation"));
    CHECK(wfre_resolve_relation(&p->cursor, &symbol, &relation));
    CHECK(parse_terms(p, &left, &right));
    *formula = wfre_formula_atom(p->cursor.arena, relation, left, right);
    return *formula ? WFRE_OK : out_of_memory(p);
}

static const wfre_formula *bind(parser *p, uint32_t variable, const wfre_formula *body)
{
    return p->uses[variable] == RELATION
               ? wfre_formula_exists_relation(p->cursor.arena, variable, body)
               : wfre_formula_exists(p->cursor.arena, variable, body);
}

/* Behind "exists" or "forall". Every variable counts as a level of nesting. */
static wfre_status parse_quantifier(parser *p, bool forall, unsigned level,
                                    const wfre_formula **formula)
{
    uint32_t outer = p->scope_size;
    do {
        wfre_symbol symbol;
        CHECK(check_nesting(p, ++level));
        CHECK(scan_variable(p, "a variable, such as ?y", &symbol));
        CHECK(add_variable(p, &symbol, false, &p->scope[p->scope_size]));
        p->scope_size++;
    } while (wfre_scan_accept(&p->cursor, ',') || wfre_scan_peek(&p->cursor) == '?');
    (void)(wfre_scan_accept(&p->cursor, '.') || wfre_scan_accept(&p->cursor, ':'));
    const wfre_formula *body;
    CHECK(parse_or(p, level, &body));
    if (forall)
        body = wfre_formula_not(p->cursor.arena, body);
    while (p->scope_size > outer)
        body = bind(p, p->scope[--p->scope_size], body);
    if (forall)
        body = wfre_formula_not(p->cursor.arena, body);
    *formula = body;
    return body ? WFRE_OK : out_of_memory(p);
}

static wfre_status parse_unary(parser *p, unsigned level, const wfre_formula **formula)
{
    CHECK(check_nesting(p, ++level));
    if (accept_operator(p, '!')) {
        CHECK(parse_unary(p, level, formula));
        *formula = wfre_formula_not(p->cursor.arena, *formula);
        if (!*formula)
            return out_of_memory(p);
    } else if (accept_operator(p, 'E')) {
        CHECK(parse_quantifier(p, false, level, formula));
    } else if (accept_operator(p, 'A')) {
        CHECK(parse_quantifier(p, true, level, formula));
    } else if (wfre_scan_accept(&p->cursor, '(')) {
        CHECK(parse_or(p, level, formula));
        CHECK(wfre_scan_expect(&p->cursor, ')', "& or | or a closing bracket"));
    } else {
        CHECK(parse_atom(p, formula));
    }
    return WFRE_OK;
}

typedef wfre_status (*operand)(parser *p, unsigned level, const wfre_formula **formula);

/* One or more operands with the operator of `kind` between them. */
static wfre_status parse_joined(parser *p, unsigned level, wfre_formula_kind kind, operand parse,
                                const wfre_formula **formula)
{
    wfre_status status;
    const wfre_formula **children = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    do {
        if (!WFRE_RESERVE(&children, &capacity, (size_t)count + 1)) {
            status = out_of_memory(p);
            goto cleanup;
        }
        TRY(wfre_check_stop(p->cursor.error));
        TRY(parse(p, level, &children[count]));
        count++;
    } while (accept_operator(p, kind == WFRE_AND ? '&' : '|'));
    *formula = wfre_formula_join(p->cursor.arena, kind, children, count);
    if (!*formula)
        status = out_of_memory(p);
cleanup:
    wfre_free(children);
    return status;
}

static wfre_status parse_and(parser *p, unsigned level, const wfre_formula **formula)
{
    return parse_joined(p, level, WFRE_AND, parse_unary, formula);
}

static wfre_status parse_or(parser *p, unsigned level, const wfre_formula **formula)
{
    return parse_joined(p, level, WFRE_OR, parse_and, formula);
}

/* ---- the whole query ---------------------------------------------------------------------- */

/* Implicit variables in the order in which the formula first uses them, each taken once. */
static uint32_t collect_implicit(parser *p, const wfre_formula *formula, uint32_t *found,
                                 uint32_t count)
{
    uint32_t mentioned[3];
    uint32_t mentions = wfre_formula_mentions(formula, mentioned);
    for (uint32_t i = 0; i < mentions; i++)
        if (p->implicit[mentioned[i]]) {
            p->implicit[mentioned[i]] = false;
            found[count++] = mentioned[i];
        }
    for (uint32_t i = 0; i < formula->child_count; i++)
        count = collect_implicit(p, formula->children[i], found, count);
    return count;
}

/* Numbers the variables anew such that these come first: they are asked for. */
static const wfre_formula *ask_for(parser *p, const uint32_t *asked, uint32_t count,
                                   const wfre_formula *formula)
{
    uint32_t image[VARIABLES], next = count;
    wfre_symbol names[VARIABLES];
    use uses[VARIABLES];
    for (uint32_t v = 0; v < p->count; v++)
        image[v] = WFRE_NONE;
    for (uint32_t i = 0; i < count; i++)
        image[asked[i]] = i;
    for (uint32_t v = 0; v < p->count; v++) {
        if (image[v] == WFRE_NONE)
            image[v] = next++;
        names[image[v]] = p->names[v];
        uses[image[v]] = p->uses[v];
    }
    memcpy(p->names, names, p->count * sizeof *names);
    memcpy(p->uses, uses, p->count * sizeof *uses);
    p->query->asked = count;
    return wfre_formula_rename(&p->query->arena, formula, image);
}

/* What the query keeps of its variables. */
static wfre_status keep_variables(parser *p)
{
    wfre_query *query = p->query;
    const char **names = wfre_arena_alloc(&query->arena, p->count, sizeof *names);
    bool *of_relations = wfre_arena_alloc(&query->arena, p->count, sizeof *of_relations);
    if (!names || !of_relations)
        return out_of_memory(p);
    for (uint32_t v = 0; v < p->count; v++) {
        names[v] = wfre_arena_text(&query->arena, p->names[v].bytes, p->names[v].length);
        of_relations[v] = p->uses[v] == RELATION;
        if (!names[v])
            return out_of_memory(p);
    }
    query->variable_names = names;
    query->variable_count = p->count;
    query->of_relations = of_relations;
    return WFRE_OK;
}

static wfre_status finish(parser *p, const wfre_formula *formula)
{
    if (formula->depth > DEPTH)
        return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, 0,
                         "the query is nested too deep, in more than %d levels", DEPTH);
    uint32_t found[VARIABLES];
    uint32_t count = collect_implicit(p, formula, found, 0);
    if (p->headless)
        formula = ask_for(p, found, count, formula);
    while (!p->headless && count > 0)
        formula = bind(p, found[--count], formula);
    p->query->formula = formula;
    return formula ? keep_variables(p) : out_of_memory(p);
}

/* Passes over `count`, if a variable stands behind it. */
static bool accept_count(wfre_cursor *cursor)
{
    static const char WORD[] = "count";
    size_t begin = cursor->at, size = sizeof WORD - 1;
    (void)wfre_scan_peek(cursor);
    const char *rest = cursor->text + cursor->at;
    if (cursor->length - cursor->at > size && memcmp(rest, WORD, size) == 0) {
        cursor->at += size;
        if (wfre_scan_peek(cursor) == '?')
            return true;
    }
    cursor->at = begin;
    return false;
}

/* One variable of the head; those that are counted come last. */
static wfre_status parse_asked(parser *p, const wfre_symbol *symbol, bool counted)
{
    uint32_t variable;
    for (uint32_t v = 0; v < p->count; v++)
        if (is_called(p, v, symbol))
            return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, symbol->offset,
                             "this variable is asked for twice");
    CHECK(add_variable(p, symbol, false, &variable));
    p->query->asked = p->count;
    p->query->counted += counted;
    return WFRE_OK;
}

/* ?x, ?y : or only a colon. What begins with a variable may also be a formula without a head. */
static wfre_status parse_head(parser *p)
{
    static const char WHAT[] = "the variable asked for, as in ?x : r(?x, a)";
    wfre_cursor *cursor = &p->cursor;
    size_t begin = cursor->at;
    bool equal, counted = accept_count(cursor);
    char next = wfre_scan_peek(cursor);
    if (next == '\0')
        return wfre_scan_expected(cursor, WHAT);
    p->headless = next != '?' && next != ':';
    while (next == '?') {
        wfre_symbol symbol;
        CHECK(scan_variable(p, WHAT, &symbol));
        p->headless = p->count == 0 && !counted &&
                      (wfre_scan_peek(cursor) == '(' || accept_comparison(p, &equal));
        if (p->headless) {
            cursor->at = begin;
            return WFRE_OK;
        }
        CHECK(parse_asked(p, &symbol, counted));
        next = wfre_scan_accept(cursor, ',') ? '?' : ':';
        counted = counted || (next == '?' && accept_count(cursor));
    }
    if (p->headless)
        return WFRE_OK;
    return wfre_scan_expect(cursor, ':',
                            "a colon behind the variable asked for, as in ?x : r(?x, a)");
}

static wfre_status parse_query(parser *p)
{
    const wfre_formula *formula;
    CHECK(parse_head(p));
    CHECK(parse_or(p, 0, &formula));
    (void)wfre_scan_peek(&p->cursor);
    if (p->cursor.at < p->cursor.length)
        return wfre_scan_expected(&p->cursor, "& or | or the end of the query");
    return finish(p, formula);
}

wfre_status wfre_logic_parse(wfre_query *query, const wfre_graph *graph, const char *text,
                             size_t length, wfre_error *error)
{
    parser *p = wfre_alloc_zero(1, sizeof *p);
    if (!p)
        return wfre_fail_memory(error, "reading a query");
    p->cursor = (wfre_cursor){text, length, 0, ",()&|!", graph, &query->arena, error};
    p->query = query;
    wfre_status status = parse_query(p);
    wfre_free(p);
    return status;
}
