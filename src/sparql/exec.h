/* A query while it runs: the row of bindings, made-up terms, limits, and how patterns pass their
 * solutions on.
 *
 * Solutions are pushed. There is one row, x->row, with the term of each slot or WFRE_NONE. A
 * pattern binds the slots it can, calls its sink for each solution, and takes its bindings back.
 * What is bound when a pattern is entered restricts its solutions (sideways information passing);
 * plan.c decides where that is allowed. */
#ifndef WFRE_SRC_SPARQL_EXEC_H
#define WFRE_SRC_SPARQL_EXEC_H

#include <locale.h>

#include "graph/rdf.h"
#include "sparql/syntax.h"
#include "sparql/value.h"
#include "wfre/sparql.h"

typedef struct wfre_sq_exec wfre_sq_exec;

/* ---- flow --------------------------------------------------------------------------------- */

typedef enum wfre_sq_flow {
    WFRE_SQ_GO,
    WFRE_SQ_HALT, /* no more solutions are wanted by x->halted, a sink further up */
    WFRE_SQ_FAIL  /* x->status says why */
} wfre_sq_flow;

typedef struct wfre_sq_sink {
    wfre_sq_flow (*emit)(struct wfre_sq_sink *sink, wfre_sq_exec *x);
} wfre_sq_sink;

/* ---- made-up terms ------------------------------------------------------------------------ */

/* Terms that the graph does not have: numbered behind the graph's. */
typedef struct wfre_sq_terms {
    wfre_arena arena;
    wfre_rdf_value *values;
    size_t count, capacity;
    uint32_t *slots; /* open addressing; index + 1 */
    size_t slot_mask;
} wfre_sq_terms;

/* What follows from a datatype of the graph's literals. */
typedef struct wfre_sq_class {
    wfre_sq_type type;
    wfre_sq_moment_kind kind;
} wfre_sq_class;

/* ---- graphs ------------------------------------------------------------------------------- */

typedef struct wfre_sq_named {
    wfre_rdf_id name;
    size_t index; /* among the snapshot's named graphs; their number: the whole */
} wfre_sq_named;

/* Where a name stands among those that GRAPH can name. */
typedef struct wfre_sq_place_of {
    wfre_rdf_id name;
    uint32_t place;
} wfre_sq_place_of;

/* What FROM, FROM NAMED and GRAPH mean (dataset.c). */
typedef struct wfre_sq_dataset {
    const wfre_rdf *all;  /* the whole snapshot */
    const wfre_rdf *main; /* the default graph */
    wfre_rdf *merged;     /* if it had to be made */
    wfre_sq_named *named; /* what GRAPH can name; listed when a query has GRAPH */
    size_t named_count, named_capacity;
    wfre_sq_place_of *by_name; /* where each stands, by their names */
    bool given, listed;        /* FROM or FROM NAMED says what it is; the list is whole */
    wfre_rdf_id name;          /* of the graph that is asked at present, within GRAPH */
} wfre_sq_dataset;

/* ---- the run ------------------------------------------------------------------------------ */

struct wfre_sq_exec {
    const struct wfre_sparql *query;
    const wfre_rdf *rdf; /* the graph that is asked at present */
    wfre_sq_dataset dataset;
    uint32_t own; /* made-up terms have ids from here on */
    const wfre_sparql_run_options *options;
    bool converts; /* the query becomes a formula and is not run */
    wfre_error *error;
    wfre_status status;
    wfre_sq_sink *halted;
    wfre_rdf_id *row;
    wfre_rdf_id *constants; /* the terms of the query's constants */
    struct wfre_sq_plan *plan;
    wfre_sq_terms terms;
    struct wfre_sq_class *classes;     /* what the graph's classes of literals are */
    struct wfre_sq_prepared *prepared; /* by expression number */
    wfre_arena scratch;                /* of expressions; reset when none is being evaluated */
    size_t scratch_bytes;              /* of texts there, as they are charged */
    unsigned evaluating;
    wfre_text text; /* for terms of the graph that have to be made */
    uint32_t ticks;
    size_t memory, memory_limit;
    locale_t locale;
    wfre_sq_moment now;
    uint64_t random_seed, random_count;
    uint64_t blanks;   /* made so far */
    uint64_t solution; /* counted, so that BNODE("a") differs between solutions */
};

/* Makes what a run needs, with its plan; query, rdf, options and error are there. To be torn down
 * also if it fails (run.c). */
wfre_sq_flow wfre_sq_set_up(wfre_sq_exec *x);
void wfre_sq_tear_down(wfre_sq_exec *x);
/* Records the failure; returns WFRE_SQ_FAIL. */
wfre_sq_flow wfre_sq_fail(wfre_sq_exec *x, wfre_status status);
/* To be called in every loop; looks at the clock now and then. */
wfre_sq_flow wfre_sq_check_time(wfre_sq_exec *x);
static inline wfre_sq_flow wfre_sq_tick(wfre_sq_exec *x)
{
    return (++x->ticks & 4095) == 0 ? wfre_sq_check_time(x) : WFRE_SQ_GO;
}
/* The same before work on so many bytes of text. */
static inline wfre_sq_flow wfre_sq_tick_text(wfre_sq_exec *x, size_t bytes)
{
    uint32_t before = x->ticks;
    x->ticks += (uint32_t)(bytes >> 4 < UINT32_MAX / 2 ? bytes >> 4 : UINT32_MAX / 2);
    return (before ^ x->ticks) > 4095 ? wfre_sq_check_time(x) : WFRE_SQ_GO;
}
/* Counts memory that solutions are kept in; fails beyond the limit. `what` needs it: "sorting". */
wfre_sq_flow wfre_sq_charge(wfre_sq_exec *x, size_t bytes, const char *what);
void wfre_sq_release(wfre_sq_exec *x, size_t bytes);
wfre_sq_flow wfre_sq_no_memory(wfre_sq_exec *x);

/* ---- terms and values (terms.c) ----------------------------------------------------------- */

void wfre_sq_terms_free(wfre_sq_terms *terms);
/* The term with a value, made up if the graph has none. */
wfre_sq_flow wfre_sq_intern(wfre_sq_exec *x, const wfre_rdf_value *value, wfre_rdf_id *id);
/* A blank node unlike any other. */
wfre_sq_flow wfre_sq_new_blank(wfre_sq_exec *x, wfre_rdf_id *id);
/* What a term is; its texts live as long as the scratch arena. */
wfre_sq_flow wfre_sq_term_get(wfre_sq_exec *x, wfre_rdf_id id, wfre_rdf_value *value);
wfre_rdf_kind wfre_sq_term_kind_of(const wfre_sq_exec *x, wfre_rdf_id id);
wfre_sq_flow wfre_sq_value_of(wfre_sq_exec *x, wfre_rdf_id id, wfre_sq_value *value);
/* The term of a computed value. */
wfre_sq_flow wfre_sq_term_of(wfre_sq_exec *x, const wfre_sq_value *value, wfre_rdf_id *id);
/* Text in the scratch arena; bytes NULL when the run failed. */
wfre_name wfre_sq_keep(wfre_sq_exec *x, const char *bytes, size_t length);
/* Room for text there; NULL when the run failed: its time or memory has an end, too. */
char *wfre_sq_scratch_text(wfre_sq_exec *x, size_t bytes);

/* What the scratch arena held. */
typedef struct wfre_sq_mark {
    wfre_arena arena;
    size_t bytes;
} wfre_sq_mark;

/* What is made in between is forgotten: within another expression (EXISTS) at the end, otherwise at
 * the next beginning. */
wfre_sq_mark wfre_sq_scratch_begin(wfre_sq_exec *x);
void wfre_sq_scratch_end(wfre_sq_exec *x, wfre_sq_mark mark);

/* ---- expressions (expression.c) ----------------------------------------------------------- */

/* False if the expression has no value (a type error, something unbound), or if the run failed:
 * x->status tells. */
bool wfre_sq_evaluate(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value);
/* Whether the expression is true; an error is false. */
wfre_sq_flow wfre_sq_test(wfre_sq_exec *x, const wfre_sq_expression *e, bool *holds);
/* The term of an expression's value, WFRE_NONE if there is none. */
wfre_sq_flow wfre_sq_compute(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_rdf_id *id);
/* A function or a cast; the arguments have values. */
bool wfre_sq_call(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *arguments,
                  wfre_sq_value *value);
bool wfre_sq_cast(wfre_sq_exec *x, wfre_name type, const wfre_sq_value *argument,
                  wfre_sq_value *value);
void wfre_sq_prepared_free(wfre_sq_exec *x);

/* ---- patterns (evaluate.c) ---------------------------------------------------------------- */

/* Passes the solutions of a planned pattern that agree with the row to the sink. */
struct wfre_sq_node;
wfre_sq_flow wfre_sq_run(wfre_sq_exec *x, const struct wfre_sq_node *node, wfre_sq_sink *sink);
/* Whether it has one. */
wfre_sq_flow wfre_sq_exists(wfre_sq_exec *x, const struct wfre_sq_node *node, bool *exists);

#endif
