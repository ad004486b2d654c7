/* A SPARQL query as it was read: terms, expressions, paths, patterns, and the four forms.
 *
 * The names of this folder begin with wfre_sq_ (sq: SPARQL query). Everything a query consists of
 * lives in its arena. Patterns are those of the algebra (section 18.2 of the recommendation): the
 * parser builds joins, left joins and so on while it reads, in the order that the recommendation
 * prescribes.
 *
 * A variable is a *slot*, an index into a row of solutions. A sub-SELECT shares the slots of the
 * variables that it projects with its surroundings; its other variables have slots of their own, so
 * that equal names in different scopes never meet. Blank nodes of patterns are slots without a
 * name. An aggregate writes to a slot of its own, and the expression around it reads that slot. */
#ifndef WFRE_SRC_SPARQL_SYNTAX_H
#define WFRE_SRC_SPARQL_SYNTAX_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "wfre/graph.h"

typedef uint32_t wfre_sq_slot; /* WFRE_NONE: none */

/* ---- terms -------------------------------------------------------------------------------- */

typedef enum wfre_sq_term_kind {
    WFRE_SQ_SLOT, /* a variable, or a blank node of a pattern */
    WFRE_SQ_IRI,
    WFRE_SQ_LITERAL,
    WFRE_SQ_UNDEF /* in VALUES only */
} wfre_sq_term_kind;

typedef struct wfre_sq_term {
    wfre_sq_term_kind kind;
    size_t offset; /* in the query's text */
    wfre_sq_slot slot;
    wfre_name text;     /* the IRI or the lexical form */
    wfre_name datatype; /* of a literal; empty for plain ones and those with a language */
    wfre_name language;
    uint32_t constant; /* index into the query's list of distinct constants */
} wfre_sq_term;

/* ---- expressions -------------------------------------------------------------------------- */

/* What an expression does; the functions of the recommendation by their names. */
typedef enum wfre_sq_op {
    WFRE_SQ_CONSTANT,
    WFRE_SQ_VARIABLE,
    WFRE_SQ_OR,
    WFRE_SQ_AND,
    WFRE_SQ_NOT,
    WFRE_SQ_EQUAL,
    WFRE_SQ_UNEQUAL,
    WFRE_SQ_LESS,
    WFRE_SQ_GREATER,
    WFRE_SQ_AT_MOST,
    WFRE_SQ_AT_LEAST,
    WFRE_SQ_IN,     /* first argument in the others */
    WFRE_SQ_NOT_IN, /* the same */
    WFRE_SQ_ADD,
    WFRE_SQ_SUBTRACT,
    WFRE_SQ_MULTIPLY,
    WFRE_SQ_DIVIDE,
    WFRE_SQ_NEGATE,
    WFRE_SQ_PLUS,
    WFRE_SQ_EXISTS, /* pattern */
    WFRE_SQ_NOT_EXISTS,
    WFRE_SQ_CAST, /* a call of an IRI: constructor functions */
    /* functions, in the order of FUNCTIONS[] in functions.c */
    WFRE_SQ_ABS,
    WFRE_SQ_BNODE,
    WFRE_SQ_BOUND,
    WFRE_SQ_CEIL,
    WFRE_SQ_COALESCE,
    WFRE_SQ_CONCAT,
    WFRE_SQ_CONTAINS,
    WFRE_SQ_DATATYPE,
    WFRE_SQ_DAY,
    WFRE_SQ_ENCODE_FOR_URI,
    WFRE_SQ_FLOOR,
    WFRE_SQ_HOURS,
    WFRE_SQ_IF,
    WFRE_SQ_IRI_OF,
    WFRE_SQ_IS_BLANK,
    WFRE_SQ_IS_IRI,
    WFRE_SQ_IS_LITERAL,
    WFRE_SQ_IS_NUMERIC,
    WFRE_SQ_LANG,
    WFRE_SQ_LANG_MATCHES,
    WFRE_SQ_LCASE,
    WFRE_SQ_MD5,
    WFRE_SQ_MINUTES,
    WFRE_SQ_MONTH,
    WFRE_SQ_NOW,
    WFRE_SQ_RAND,
    WFRE_SQ_REGEX,
    WFRE_SQ_REPLACE,
    WFRE_SQ_ROUND,
    WFRE_SQ_SAME_TERM,
    WFRE_SQ_SECONDS,
    WFRE_SQ_SHA1,
    WFRE_SQ_SHA256,
    WFRE_SQ_SHA384,
    WFRE_SQ_SHA512,
    WFRE_SQ_STR,
    WFRE_SQ_STRAFTER,
    WFRE_SQ_STRBEFORE,
    WFRE_SQ_STRDT,
    WFRE_SQ_STRENDS,
    WFRE_SQ_STRLANG,
    WFRE_SQ_STRLEN,
    WFRE_SQ_STRSTARTS,
    WFRE_SQ_STRUUID,
    WFRE_SQ_SUBSTR,
    WFRE_SQ_TIMEZONE,
    WFRE_SQ_TZ,
    WFRE_SQ_UCASE,
    WFRE_SQ_UUID,
    WFRE_SQ_YEAR
} wfre_sq_op;

typedef struct wfre_sq_expression {
    wfre_sq_op op;
    size_t offset;
    wfre_sq_term term; /* of a constant, a variable; of a cast its IRI */
    struct wfre_sq_pattern *pattern;
    uint32_t count;
    struct wfre_sq_expression **arguments;
    uint32_t number; /* among the query's expressions: where an evaluation keeps what it prepared */
    uint32_t depth;  /* of the tree below it */
} wfre_sq_expression;

typedef enum wfre_sq_aggregate_kind {
    WFRE_SQ_COUNT,
    WFRE_SQ_SUM,
    WFRE_SQ_MIN,
    WFRE_SQ_MAX,
    WFRE_SQ_AVG,
    WFRE_SQ_SAMPLE,
    WFRE_SQ_GROUP_CONCAT
} wfre_sq_aggregate_kind;

typedef struct wfre_sq_aggregate {
    wfre_sq_aggregate_kind kind;
    bool distinct;
    wfre_sq_expression *argument; /* NULL: COUNT(*) */
    wfre_name separator;
    wfre_sq_slot slot; /* where the result goes */
} wfre_sq_aggregate;

/* ---- paths and triples -------------------------------------------------------------------- */

typedef enum wfre_sq_path_kind {
    WFRE_SQ_LINK,        /* an IRI */
    WFRE_SQ_INVERSE,     /* ^a */
    WFRE_SQ_SEQUENCE,    /* a/b */
    WFRE_SQ_ALTERNATIVE, /* a|b */
    WFRE_SQ_OPTIONAL,    /* a? */
    WFRE_SQ_STAR,        /* a* */
    WFRE_SQ_REPEAT,      /* a+ */
    WFRE_SQ_NEGATED      /* !(a|^b): children are links and inverses of links */
} wfre_sq_path_kind;

typedef struct wfre_sq_path {
    wfre_sq_path_kind kind;
    size_t offset;
    wfre_sq_term link;
    uint32_t count;
    struct wfre_sq_path **children;
} wfre_sq_path;

typedef struct wfre_sq_triple {
    wfre_sq_term subject, predicate, object;
    wfre_sq_path *path; /* NULL: the predicate is a term */
} wfre_sq_triple;

/* ---- patterns ----------------------------------------------------------------------------- */

typedef enum wfre_sq_pattern_kind {
    WFRE_SQ_BASIC,   /* triples and paths, all of which must hold; none: one empty solution */
    WFRE_SQ_JOIN,    /* children */
    WFRE_SQ_LEFT,    /* OPTIONAL: two children, filters */
    WFRE_SQ_UNION,   /* children */
    WFRE_SQ_MINUS,   /* two children */
    WFRE_SQ_FILTER,  /* one child, filters */
    WFRE_SQ_EXTEND,  /* BIND: one child, slot, expression */
    WFRE_SQ_VALUES,  /* a table */
    WFRE_SQ_GRAPH,   /* name, one child */
    WFRE_SQ_SERVICE, /* name, one child */
    WFRE_SQ_SUBQUERY /* select */
} wfre_sq_pattern_kind;

typedef struct wfre_sq_pattern {
    wfre_sq_pattern_kind kind;
    size_t offset;
    uint32_t count; /* of children, triples or rows */
    struct wfre_sq_pattern **children;
    wfre_sq_triple *triples;
    uint32_t filter_count;
    wfre_sq_expression **filters;
    wfre_sq_slot slot;              /* of EXTEND */
    wfre_sq_expression *expression; /* of EXTEND */
    wfre_sq_term name;              /* of GRAPH and SERVICE */
    bool silent;                    /* of SERVICE */
    bool closed;                    /* of FILTER: it is a group within a group */
    bool graph;                     /* of VALUES: the one cell is the name of the graph at hand */
    uint32_t width;                 /* of VALUES: columns, `count` rows of them in cells */
    wfre_sq_slot *columns;
    wfre_sq_term *cells;
    struct wfre_sq_select *select;
    uint32_t number; /* among the query's patterns */
    uint32_t depth;  /* of the tree below it */
} wfre_sq_pattern;

/* ---- queries ------------------------------------------------------------------------------ */

typedef struct wfre_sq_column {
    wfre_sq_slot slot;
    wfre_sq_expression *expression; /* NULL: the variable itself */
    size_t offset;
} wfre_sq_column;

typedef struct wfre_sq_order {
    wfre_sq_expression *expression;
    bool descending;
} wfre_sq_order;

typedef enum wfre_sq_duplicates {
    WFRE_SQ_KEEP,
    WFRE_SQ_REDUCED,
    WFRE_SQ_DISTINCT
} wfre_sq_duplicates;

/* WHERE and what is done with its solutions; of a sub-SELECT as of the whole query. */
typedef struct wfre_sq_select {
    wfre_sq_duplicates duplicates;
    bool star;
    uint32_t column_count;
    wfre_sq_column *columns; /* with a star, all visible variables */
    wfre_sq_pattern *where;
    bool grouped; /* GROUP BY, or an aggregate */
    uint32_t key_count;
    wfre_sq_column *keys; /* GROUP BY */
    uint32_t aggregate_count;
    wfre_sq_aggregate *aggregates;
    uint32_t having_count;
    wfre_sq_expression **having;
    uint32_t order_count;
    wfre_sq_order *orders;
    uint64_t offset;
    uint64_t limit;          /* UINT64_MAX: none */
    wfre_sq_pattern *values; /* behind everything, or NULL */
} wfre_sq_select;

typedef enum wfre_sq_form {
    WFRE_SQ_SELECT,
    WFRE_SQ_ASK,
    WFRE_SQ_CONSTRUCT,
    WFRE_SQ_DESCRIBE
} wfre_sq_form;

typedef struct wfre_sq_prefix {
    wfre_name name, iri;
} wfre_sq_prefix;

typedef struct wfre_sq_source {
    wfre_sq_term name;
    bool named;
} wfre_sq_source;

struct wfre_sparql {
    wfre_arena arena;
    wfre_sq_form form;
    wfre_sq_select select;
    uint32_t template_count;
    wfre_sq_triple *template; /* of CONSTRUCT; blank nodes are slots without a name */
    uint32_t described_count;
    wfre_sq_term *described; /* of DESCRIBE; with a star it has the visible variables */
    uint32_t source_count;
    wfre_sq_source *sources; /* FROM and FROM NAMED */
    uint32_t prefix_count;
    wfre_sq_prefix *prefixes; /* as they stand at the end */
    wfre_name base;
    uint32_t slot_count;
    wfre_name *slot_names; /* empty for blank nodes and aggregates */
    uint32_t constant_count;
    wfre_sq_term *constants; /* distinct terms of the query */
    uint32_t expression_count;
    uint32_t pattern_count;
};

/* Hands the text to the caller, who releases it with wfre_string_free (sparql.c). */
WFRE_NODISCARD wfre_status wfre_sq_take_text(wfre_text *made, char **text, wfre_error *error);
/* An IRI in its brackets (results.c). */
void wfre_sq_put_iri(wfre_text *text, wfre_name iri);

#endif
