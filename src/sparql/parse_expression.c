/* Reading expressions, by precedence from || down to single terms, and the calls of functions and
 * aggregates. */
#include <string.h>
#include <strings.h>

#include "sparql/parser.h"

/* The functions by name, and how many arguments they take. */
typedef struct function {
    const char *name;
    wfre_sq_op op;
    uint32_t least, most;
} function;

static const function FUNCTIONS[] = {
    {"ABS", WFRE_SQ_ABS, 1, 1},
    {"BNODE", WFRE_SQ_BNODE, 0, 1},
    {"BOUND", WFRE_SQ_BOUND, 1, 1},
    {"CEIL", WFRE_SQ_CEIL, 1, 1},
    {"COALESCE", WFRE_SQ_COALESCE, 0, UINT32_MAX},
    {"CONCAT", WFRE_SQ_CONCAT, 0, UINT32_MAX},
    {"CONTAINS", WFRE_SQ_CONTAINS, 2, 2},
    {"DATATYPE", WFRE_SQ_DATATYPE, 1, 1},
    {"DAY", WFRE_SQ_DAY, 1, 1},
    {"ENCODE_FOR_URI", WFRE_SQ_ENCODE_FOR_URI, 1, 1},
    {"FLOOR", WFRE_SQ_FLOOR, 1, 1},
    {"HOURS", WFRE_SQ_HOURS, 1, 1},
    {"IF", WFRE_SQ_IF, 3, 3},
    {"IRI", WFRE_SQ_IRI_OF, 1, 1},
    {"URI", WFRE_SQ_IRI_OF, 1, 1},
    {"isBLANK", WFRE_SQ_IS_BLANK, 1, 1},
    {"isIRI", WFRE_SQ_IS_IRI, 1, 1},
    {"isURI", WFRE_SQ_IS_IRI, 1, 1},
    {"isLITERAL", WFRE_SQ_IS_LITERAL, 1, 1},
    {"isNUMERIC", WFRE_SQ_IS_NUMERIC, 1, 1},
    {"LANG", WFRE_SQ_LANG, 1, 1},
    {"LANGMATCHES", WFRE_SQ_LANG_MATCHES, 2, 2},
    {"LCASE", WFRE_SQ_LCASE, 1, 1},
    {"MD5", WFRE_SQ_MD5, 1, 1},
    {"MINUTES", WFRE_SQ_MINUTES, 1, 1},
    {"MONTH", WFRE_SQ_MONTH, 1, 1},
    {"NOW", WFRE_SQ_NOW, 0, 0},
    {"RAND", WFRE_SQ_RAND, 0, 0},
    {"REGEX", WFRE_SQ_REGEX, 2, 3},
    {"REPLACE", WFRE_SQ_REPLACE, 3, 4},
    {"ROUND", WFRE_SQ_ROUND, 1, 1},
    {"sameTerm", WFRE_SQ_SAME_TERM, 2, 2},
    {"SECONDS", WFRE_SQ_SECONDS, 1, 1},
    {"SHA1", WFRE_SQ_SHA1, 1, 1},
    {"SHA256", WFRE_SQ_SHA256, 1, 1},
    {"SHA384", WFRE_SQ_SHA384, 1, 1},
    {"SHA512", WFRE_SQ_SHA512, 1, 1},
    {"STR", WFRE_SQ_STR, 1, 1},
    {"STRAFTER", WFRE_SQ_STRAFTER, 2, 2},
    {"STRBEFORE", WFRE_SQ_STRBEFORE, 2, 2},
    {"STRDT", WFRE_SQ_STRDT, 2, 2},
    {"STRENDS", WFRE_SQ_STRENDS, 2, 2},
    {"STRLANG", WFRE_SQ_STRLANG, 2, 2},
    {"STRLEN", WFRE_SQ_STRLEN, 1, 1},
    {"STRSTARTS", WFRE_SQ_STRSTARTS, 2, 2},
    {"STRUUID", WFRE_SQ_STRUUID, 0, 0},
    {"SUBSTR", WFRE_SQ_SUBSTR, 2, 3},
    {"TIMEZONE", WFRE_SQ_TIMEZONE, 1, 1},
    {"TZ", WFRE_SQ_TZ, 1, 1},
    {"UCASE", WFRE_SQ_UCASE, 1, 1},
    {"UUID", WFRE_SQ_UUID, 0, 0},
    {"YEAR", WFRE_SQ_YEAR, 1, 1},
};

static const char *const AGGREGATES[] = {"COUNT", "SUM",    "MIN",         "MAX",
                                         "AVG",   "SAMPLE", "GROUP_CONCAT"};

static wfre_status new_expression(wfre_sq_parser *p, wfre_sq_op op, size_t offset,
                                  wfre_sq_expression **expression)
{
    wfre_sq_expression *e = wfre_arena_alloc(p->arena, 1, sizeof *e);
    if (!e)
        return wfre_sq_memory(p);
    *e = (wfre_sq_expression){.op = op, .offset = offset, .number = p->query->expression_count++};
    *expression = e;
    return WFRE_OK;
}

static wfre_status add_argument(wfre_sq_parser *p, wfre_sq_expression *e,
                                wfre_sq_expression *argument)
{
    CHECK(WFRE_SQ_APPEND(p, e->arguments, e->count, &argument));
    e->depth = argument->depth >= e->depth ? argument->depth + 1 : e->depth;
    if (e->depth > WFRE_SQ_DEPTH)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, e->offset,
                         "more than %d operators behind each other; use brackets or IN",
                         WFRE_SQ_DEPTH);
    return WFRE_OK;
}

static wfre_status binary(wfre_sq_parser *p, wfre_sq_op op, size_t offset, wfre_sq_expression *left,
                          wfre_sq_expression *right, wfre_sq_expression **expression)
{
    wfre_status status;
    TRY(new_expression(p, op, offset, expression));
    TRY(add_argument(p, *expression, left));
    TRY(add_argument(p, *expression, right));
cleanup:
    return status;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* ( a, b, ... ) or ( ), appended to the arguments. */
static wfre_status parse_arguments(wfre_sq_parser *p, wfre_sq_expression *e)
{
    wfre_status status;
    TRY(wfre_sq_expect_sign(p, "(", "an opening bracket and the arguments"));
    while (!wfre_sq_at_sign(p, ")")) {
        wfre_sq_expression *argument;
        TRY(wfre_sq_parse_expression(p, &argument));
        TRY(add_argument(p, e, argument));
        if (!wfre_sq_at_sign(p, ","))
            break;
        TRY(wfre_sq_advance(p));
        if (wfre_sq_at_sign(p, ")"))
            return wfre_sq_expected(p, "another argument");
    }
    TRY(wfre_sq_expect_sign(p, ")", "a comma or a closing bracket"));
cleanup:
    return status;
}

static wfre_status parse_function(wfre_sq_parser *p, const function *f,
                                  wfre_sq_expression **expression)
{
    wfre_status status;
    size_t offset = p->token.offset;
    TRY(new_expression(p, f->op, offset, expression));
    TRY(wfre_sq_advance(p));
    TRY(parse_arguments(p, *expression));
    wfre_sq_expression *e = *expression;
    if (e->count < f->least || e->count > f->most)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, offset, "%s takes %u argument%s, not %u",
                         f->name, e->count < f->least ? f->least : f->most,
                         (e->count < f->least ? f->least : f->most) == 1 ? "" : "s", e->count);
    if (f->op == WFRE_SQ_BOUND && e->arguments[0]->op != WFRE_SQ_VARIABLE)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, offset, "BOUND takes a variable");
cleanup:
    return status;
}

static wfre_status parse_exists(wfre_sq_parser *p, bool negated, wfre_sq_expression **expression)
{
    wfre_status status;
    TRY(new_expression(p, negated ? WFRE_SQ_NOT_EXISTS : WFRE_SQ_EXISTS, p->token.offset,
                       expression));
    bool aggregates = p->aggregates;
    p->aggregates = false;
    TRY(wfre_sq_expect_word(p, "EXISTS"));
    TRY(wfre_sq_parse_group(p, &(*expression)->pattern));
    p->aggregates = aggregates;
cleanup:
    return status;
}

/* ; SEPARATOR = "..." */
static wfre_status parse_separator(wfre_sq_parser *p, wfre_sq_aggregate *aggregate)
{
    wfre_status status;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_expect_word(p, "SEPARATOR"));
    TRY(wfre_sq_expect_sign(p, "=", "an equals sign"));
    if (p->token.kind != WFRE_SQ_STRING)
        return wfre_sq_expected(p, "a string");
    aggregate->separator = p->token.text;
    TRY(wfre_sq_advance(p));
cleanup:
    return status;
}

static wfre_status parse_aggregate(wfre_sq_parser *p, wfre_sq_aggregate_kind kind,
                                   wfre_sq_expression **expression)
{
    wfre_status status;
    wfre_sq_aggregate aggregate = {.kind = kind, .separator = {" ", 1}};
    wfre_sq_select *select = p->scope->select;
    size_t offset = p->token.offset;
    if (!p->aggregates)
        return wfre_fail(p->error, WFRE_ERR_FORMAT, offset,
                         "%s stands behind SELECT, HAVING or ORDER BY only, and not within another "
                         "aggregate",
                         AGGREGATES[kind]);
    p->aggregates = false;
    TRY(wfre_sq_advance(p));
    TRY(wfre_sq_expect_sign(p, "(", "an opening bracket"));
    if (wfre_sq_at_word(p, "DISTINCT")) {
        aggregate.distinct = true;
        TRY(wfre_sq_advance(p));
    }
    if (kind == WFRE_SQ_COUNT && wfre_sq_at_sign(p, "*"))
        TRY(wfre_sq_advance(p));
    else
        TRY(wfre_sq_parse_expression(p, &aggregate.argument));
    if (kind == WFRE_SQ_GROUP_CONCAT && wfre_sq_at_sign(p, ";"))
        TRY(parse_separator(p, &aggregate));
    TRY(wfre_sq_expect_sign(p, ")", "a closing bracket"));
    p->aggregates = true;
    TRY(wfre_sq_new_slot(p, (wfre_name){NULL, 0}, &aggregate.slot));
    TRY(WFRE_SQ_APPEND(p, select->aggregates, select->aggregate_count, &aggregate));
    select->grouped = true;
    TRY(new_expression(p, WFRE_SQ_VARIABLE, offset, expression));
    (*expression)->term = (wfre_sq_term){.kind = WFRE_SQ_SLOT, .slot = aggregate.slot};
cleanup:
    return status;
}

static const function *find_function(const wfre_sq_token *token)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (wfre_sq_is_word(token, FUNCTIONS[i].name))
            return &FUNCTIONS[i];
    return NULL;
}

static size_t find_aggregate(const wfre_sq_token *token)
{
    size_t i = 0;
    while (i < sizeof AGGREGATES / sizeof *AGGREGATES && !wfre_sq_is_word(token, AGGREGATES[i]))
        i++;
    return i;
}

/* A word that is no literal: a function, an aggregate, EXISTS. */
static wfre_status parse_call(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    wfre_status status;
    size_t aggregate = find_aggregate(&p->token);
    const function *f = find_function(&p->token);
    if (f)
        return parse_function(p, f, expression);
    if (aggregate < sizeof AGGREGATES / sizeof *AGGREGATES)
        return parse_aggregate(p, (wfre_sq_aggregate_kind)aggregate, expression);
    if (wfre_sq_at_word(p, "EXISTS"))
        return parse_exists(p, false, expression);
    if (wfre_sq_at_word(p, "NOT")) {
        TRY(wfre_sq_advance(p));
        return parse_exists(p, true, expression);
    }
    return wfre_fail(
        p->error, WFRE_ERR_FORMAT, p->token.offset, "%.*s is not a function of SPARQL 1.1",
        (int)(p->token.text.length > 200 ? 200 : p->token.text.length), p->token.text.bytes);
cleanup:
    return status;
}

/* An IRI, or the call of a function that has one: a cast. */
static wfre_status parse_iri_or_cast(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    wfre_status status;
    wfre_sq_term term;
    TRY(wfre_sq_parse_iri(p, &term));
    bool call = wfre_sq_at_sign(p, "(");
    TRY(new_expression(p, call ? WFRE_SQ_CAST : WFRE_SQ_CONSTANT, term.offset, expression));
    (*expression)->term = term;
    if (call)
        TRY(parse_arguments(p, *expression));
cleanup:
    return status;
}

/* ---- precedence --------------------------------------------------------------------------- */

static wfre_status parse_primary(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    wfre_status status;
    wfre_sq_term term;
    if (wfre_sq_at_sign(p, "(")) {
        TRY(wfre_sq_advance(p));
        TRY(wfre_sq_parse_expression(p, expression));
        TRY(wfre_sq_expect_sign(p, ")", "an operator or a closing bracket"));
        return WFRE_OK;
    }
    if (wfre_sq_at_iri(p))
        return parse_iri_or_cast(p, expression);
    if (p->token.kind == WFRE_SQ_VAR) {
        term = (wfre_sq_term){.kind = WFRE_SQ_SLOT, .offset = p->token.offset};
        TRY(wfre_sq_parse_variable(p, &term.slot));
        TRY(new_expression(p, WFRE_SQ_VARIABLE, term.offset, expression));
        (*expression)->term = term;
        return WFRE_OK;
    }
    if (wfre_sq_at_literal(p)) {
        TRY(wfre_sq_parse_literal(p, &term));
        TRY(new_expression(p, WFRE_SQ_CONSTANT, term.offset, expression));
        (*expression)->term = term;
        return WFRE_OK;
    }
    if (p->token.kind == WFRE_SQ_WORD)
        return parse_call(p, expression);
    status = wfre_sq_expected(p, "an expression");
cleanup:
    return status;
}

static wfre_status parse_unary(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    wfre_status status;
    size_t offset = p->token.offset;
    bool not = wfre_sq_at_sign(p, "!"), minus = wfre_sq_at_sign(p, "-");
    if (!not &&!minus && !wfre_sq_at_sign(p, "+"))
        return parse_primary(p, expression);
    wfre_sq_op op = not ? WFRE_SQ_NOT : minus ? WFRE_SQ_NEGATE : WFRE_SQ_PLUS;
    wfre_sq_expression *argument;
    TRY(wfre_sq_deeper(p));
    TRY(wfre_sq_advance(p));
    if (not )
        TRY(parse_unary(p, &argument)); /* !!a is read, as most readers do */
    else
        TRY(parse_primary(p, &argument));
    p->depth--;
    TRY(new_expression(p, op, offset, expression));
    TRY(add_argument(p, *expression, argument));
cleanup:
    return status;
}

typedef wfre_status (*reader)(wfre_sq_parser *p, wfre_sq_expression **expression);

/* Operators that bind alike, from left to right. */
typedef struct level {
    const char *signs[2];
    wfre_sq_op ops[2];
} level;

static wfre_status parse_level(wfre_sq_parser *p, const level *at, reader operand,
                               wfre_sq_expression **expression)
{
    CHECK(operand(p, expression));
    for (;;) {
        int which = 0;
        while (which < 2 && !(at->signs[which] && wfre_sq_at_sign(p, at->signs[which])))
            which++;
        if (which == 2)
            return WFRE_OK;
        size_t offset = p->token.offset;
        wfre_sq_expression *right;
        CHECK(wfre_sq_advance(p));
        CHECK(operand(p, &right));
        CHECK(binary(p, at->ops[which], offset, *expression, right, expression));
    }
}

static wfre_status parse_product(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    static const level PRODUCTS = {{"*", "/"}, {WFRE_SQ_MULTIPLY, WFRE_SQ_DIVIDE}};
    return parse_level(p, &PRODUCTS, parse_unary, expression);
}

static wfre_status parse_sum(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    static const level SUMS = {{"+", "-"}, {WFRE_SQ_ADD, WFRE_SQ_SUBTRACT}};
    return parse_level(p, &SUMS, parse_product, expression);
}

static wfre_status parse_in(wfre_sq_parser *p, wfre_sq_op op, wfre_sq_expression **expression)
{
    wfre_status status;
    wfre_sq_expression *e;
    TRY(new_expression(p, op, p->token.offset, &e));
    TRY(add_argument(p, e, *expression));
    TRY(wfre_sq_expect_word(p, "IN"));
    TRY(parse_arguments(p, e));
    *expression = e;
cleanup:
    return status;
}

static wfre_status parse_comparison(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    static const char *const SIGNS[] = {"=", "!=", "<", ">", "<=", ">="};
    wfre_status status;
    TRY(parse_sum(p, expression));
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (wfre_sq_at_sign(p, SIGNS[i])) {
            size_t offset = p->token.offset;
            wfre_sq_expression *right;
            TRY(wfre_sq_advance(p));
            TRY(parse_sum(p, &right));
            return binary(p, (wfre_sq_op)(WFRE_SQ_EQUAL + i), offset, *expression, right,
                          expression);
        }
    if (wfre_sq_at_word(p, "IN"))
        return parse_in(p, WFRE_SQ_IN, expression);
    if (wfre_sq_at_word(p, "NOT")) {
        TRY(wfre_sq_advance(p));
        return parse_in(p, WFRE_SQ_NOT_IN, expression);
    }
cleanup:
    return status;
}

static wfre_status parse_and(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    static const level ANDS = {{"&&"}, {WFRE_SQ_AND}};
    return parse_level(p, &ANDS, parse_comparison, expression);
}

wfre_status wfre_sq_parse_expression(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    static const level ORS = {{"||"}, {WFRE_SQ_OR}};
    CHECK(wfre_sq_deeper(p));
    CHECK(parse_level(p, &ORS, parse_and, expression));
    p->depth--;
    return WFRE_OK;
}

bool wfre_sq_at_constraint(const wfre_sq_parser *p)
{
    return wfre_sq_at_sign(p, "(") || wfre_sq_at_iri(p) || find_function(&p->token) ||
           find_aggregate(&p->token) < sizeof AGGREGATES / sizeof *AGGREGATES ||
           wfre_sq_at_word(p, "EXISTS") || wfre_sq_at_word(p, "NOT");
}

wfre_status wfre_sq_parse_constraint(wfre_sq_parser *p, wfre_sq_expression **expression)
{
    wfre_status status;
    if (!wfre_sq_at_constraint(p))
        return wfre_sq_expected(p, "an expression in brackets, or a call of a function");
    size_t offset = p->token.offset;
    TRY(parse_primary(p, expression));
    if ((*expression)->op == WFRE_SQ_CONSTANT && (*expression)->offset == offset)
        return wfre_sq_expected(p, "the arguments of the function");
cleanup:
    return status;
}
