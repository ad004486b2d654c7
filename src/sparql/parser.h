/* What the parts of the parser share. The grammar is LL(1): `token` is the one token ahead. */
#ifndef WFRE_SRC_SPARQL_PARSER_H
#define WFRE_SRC_SPARQL_PARSER_H

#include "base/hash.h"
#include "sparql/lexer.h"
#include "sparql/syntax.h"
#include "wfre/sparql.h"

/* Recursion over a query is this deep at most: brackets, groups, and patterns behind each other.
 * Walking a path takes a level for each of its steps, and so do all paths of a query together. */
enum { WFRE_SQ_DEPTH = 256, WFRE_SQ_STEPS = 1024, WFRE_SQ_SLOTS = 4096 };

/* The names that a query or sub-SELECT sees. */
typedef struct wfre_sq_scope {
    struct wfre_sq_scope *outer;
    wfre_sq_select *select;
    wfre_name *names;
    wfre_sq_slot *slots;
    size_t count, names_capacity, slots_capacity;
    bool shares; /* all names with the outer scope: SELECT * */
} wfre_sq_scope;

/* A label _:a, and the basic pattern that it belongs to. */
typedef struct wfre_sq_label {
    wfre_name name;
    wfre_sq_slot slot;
    uint32_t basic;
} wfre_sq_label;

typedef struct wfre_sq_parser {
    wfre_sq_lexer lexer;
    wfre_sq_token token;
    struct wfre_sparql *query;
    wfre_arena *arena; /* the query's */
    wfre_error *error;
    const wfre_graph *graph; /* whose prefixes may be used undeclared, or NULL */
    wfre_sq_scope *scope;
    wfre_strings constants;
    wfre_sq_label *labels;
    size_t label_count, label_capacity;
    uint32_t basics; /* basic patterns begun so far; the number of the present one */
    unsigned depth;
    unsigned steps;  /* behind / in paths so far */
    bool template;   /* within CONSTRUCT { ... }: no paths */
    bool aggregates; /* whether an aggregate may stand here */
    /* growing arrays of the query, moved to its arena at the end */
    wfre_name *slot_names;
    size_t slot_capacity;
    wfre_sq_term *constant_terms;
    size_t constant_capacity;
    wfre_sq_prefix *prefixes;
    size_t prefix_capacity;
} wfre_sq_parser;

/* Declares a prefix, or declares it anew (parse_query.c). */
WFRE_NODISCARD wfre_status wfre_sq_add_prefix(wfre_sq_parser *p, wfre_name name, wfre_name iri);

/* ---- tokens (parse_query.c) --------------------------------------------------------------- */

WFRE_NODISCARD wfre_status wfre_sq_advance(wfre_sq_parser *p);
/* Fails at the token ahead: "expected WHAT". */
wfre_status wfre_sq_expected(wfre_sq_parser *p, const char *what);
wfre_status wfre_sq_memory(wfre_sq_parser *p);
/* Passes over the sign or word, or fails. */
WFRE_NODISCARD wfre_status wfre_sq_expect_sign(wfre_sq_parser *p, const char *sign,
                                               const char *what);
WFRE_NODISCARD wfre_status wfre_sq_expect_word(wfre_sq_parser *p, const char *word);
static inline bool wfre_sq_at_sign(const wfre_sq_parser *p, const char *sign)
{
    return wfre_sq_is_sign(&p->token, sign);
}
static inline bool wfre_sq_at_word(const wfre_sq_parser *p, const char *word)
{
    return wfre_sq_is_word(&p->token, word);
}
/* Deeper by one level; fails beyond WFRE_SQ_DEPTH. The caller takes it back with p->depth--. */
WFRE_NODISCARD wfre_status wfre_sq_deeper(wfre_sq_parser *p);

/* Appends to an array whose elements lie in the arena: doubles it when count is a power of two.
 * Returns the array, or NULL when out of memory. */
void *wfre_sq_append(wfre_arena *arena, void *array, uint32_t count, const void *element,
                     size_t size);
/* The same to an array of the parser's query, whose count it raises: a status. */
#define WFRE_SQ_APPEND(p, array, count, element)                                                   \
    (((array) = wfre_sq_append((p)->arena, (array), (count), (element), sizeof *(element)))        \
         ? ((count)++, (wfre_status)WFRE_OK)                                                       \
         : wfre_sq_memory(p))

/* ---- terms (parse_term.c) ----------------------------------------------------------------- */

WFRE_NODISCARD wfre_status wfre_sq_new_slot(wfre_sq_parser *p, wfre_name name, wfre_sq_slot *slot);
WFRE_NODISCARD wfre_status wfre_sq_find_variable(wfre_sq_parser *p, wfre_name name,
                                                 wfre_sq_slot *slot);
/* Passes over a variable. */
WFRE_NODISCARD wfre_status wfre_sq_parse_variable(wfre_sq_parser *p, wfre_sq_slot *slot);
/* Whether an IRI comes next; reads it. */
bool wfre_sq_at_iri(const wfre_sq_parser *p);
WFRE_NODISCARD wfre_status wfre_sq_parse_iri(wfre_sq_parser *p, wfre_sq_term *term);
/* Whether a literal comes next; reads it. A sign in front of a number belongs to it. */
bool wfre_sq_at_literal(const wfre_sq_parser *p);
WFRE_NODISCARD wfre_status wfre_sq_parse_literal(wfre_sq_parser *p, wfre_sq_term *term);
/* A variable, IRI, literal, blank node or (): what a place of a triple may be. */
WFRE_NODISCARD wfre_status wfre_sq_parse_term(wfre_sq_parser *p, wfre_sq_term *term);
/* Enters the term into the query's constants. */
WFRE_NODISCARD wfre_status wfre_sq_constant(wfre_sq_parser *p, wfre_sq_term *term);
/* An IRI of the query's own making. */
WFRE_NODISCARD wfre_status wfre_sq_known_iri(wfre_sq_parser *p, const char *iri,
                                             wfre_sq_term *term);

/* ---- expressions (parse_expression.c) ----------------------------------------------------- */

WFRE_NODISCARD wfre_status wfre_sq_parse_expression(wfre_sq_parser *p,
                                                    wfre_sq_expression **expression);
/* What may stand behind FILTER and HAVING without brackets around it: a bracketed expression or a
 * call. */
WFRE_NODISCARD wfre_status wfre_sq_parse_constraint(wfre_sq_parser *p,
                                                    wfre_sq_expression **expression);
/* Whether one of these comes next. */
bool wfre_sq_at_constraint(const wfre_sq_parser *p);

/* ---- triples and patterns (parse_triples.c, parse_pattern.c) ------------------------------ */

/* Collects the triples of a basic pattern or template. */
typedef struct wfre_sq_triples {
    uint32_t count;
    wfre_sq_triple *triples;
} wfre_sq_triples;

bool wfre_sq_at_triples(const wfre_sq_parser *p);
/* Triples with the same subject. */
WFRE_NODISCARD wfre_status wfre_sq_parse_triples(wfre_sq_parser *p, wfre_sq_triples *triples);
/* { ... } */
WFRE_NODISCARD wfre_status wfre_sq_parse_group(wfre_sq_parser *p, wfre_sq_pattern **pattern);
/* Behind VALUES. */
WFRE_NODISCARD wfre_status wfre_sq_parse_values(wfre_sq_parser *p, wfre_sq_pattern **pattern);
WFRE_NODISCARD wfre_status wfre_sq_new_pattern(wfre_sq_parser *p, wfre_sq_pattern_kind kind,
                                               size_t offset, wfre_sq_pattern **pattern);

/* ---- queries (parse_query.c) -------------------------------------------------------------- */

/* A sub-SELECT, from its SELECT on. */
WFRE_NODISCARD wfre_status wfre_sq_parse_subquery(wfre_sq_parser *p, wfre_sq_select *select);

/* ---- scope (scope.c) ---------------------------------------------------------------------- */

/* Whether solutions of the pattern may bind the slot. */
bool wfre_sq_binds(const wfre_sq_pattern *pattern, wfre_sq_slot slot);
/* The rules about names of a SELECT that has been read whole; fills in the columns of a star. */
WFRE_NODISCARD wfre_status wfre_sq_check_select(wfre_sq_parser *p, wfre_sq_select *select);

#endif
