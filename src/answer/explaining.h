/* An explanation in the making, which several files work on. */
#ifndef WFRE_SRC_ANSWER_EXPLAINING_H
#define WFRE_SRC_ANSWER_EXPLAINING_H

#include "answer/explain.h"
#include "base/memory.h"
#include "infer/session.h"
#include "query/tree.h"

enum { WFRE_EXPLAIN_CANDIDATES = 96 }; /* of a variable, the one asked for too */

/* What belongs to a set besides what is shown of it. */
typedef struct wfre_inner_set {
    const wfre_node *node;
    double *edges;    /* of a projection: [sources, targets] */
    double *value;    /* [candidates of its variable]: how certain that they belong to it */
    uint32_t *chosen; /* [the same]: source of a projection, branch of a union */
    uint32_t
        *ranks; /* [entities]: by the model, the same for all behind those it ranked; or NULL */
} wfre_inner_set;

typedef struct wfre_asked_variable {
    uint32_t set; /* that restricts it, the highest */
    wfre_entity candidates[WFRE_EXPLAIN_CANDIDATES];
    uint32_t count;
} wfre_asked_variable;

/* What the caller gets a part of. */
typedef struct wfre_whole_explanation {
    wfre_explanation shown;
    wfre_arena arena; /* owns all of it */
} wfre_whole_explanation;

typedef struct wfre_explaining {
    wfre_session *session;
    const wfre_question *question;
    wfre_explain_options options;
    wfre_way way;
    wfre_whole_explanation *out;
    wfre_explained_set *sets;
    wfre_inner_set *inner; /* of each set */
    const char **names;
    wfre_asked_variable *variables;
    wfre_explained_answer *answers;
    wfre_error *error;
} wfre_explaining;

static inline wfre_status wfre_explaining_fail(const wfre_explaining *b)
{
    return wfre_fail_memory(b->error, "explaining");
}

static inline void *wfre_explaining_take(const wfre_explaining *b, size_t count, size_t size)
{
    return wfre_arena_alloc(&b->out->arena, count, size);
}

static inline const wfre_graph *wfre_explaining_graph(const wfre_explaining *b)
{
    return b->session->engine->graph;
}

/* Whether the argument of a projection comes first in the logic notation. */
static inline bool wfre_explaining_forward(const wfre_node *projection)
{
    return projection->id % 2 == 0;
}

/* The candidates that a projection starts from: those of its argument's variable, or its entity;
 * returns how many. */
uint32_t wfre_explaining_sources(const wfre_explaining *b, uint32_t projection,
                                 const wfre_entity **sources);

/* Lists the sets of the question, and names them and its variables (explain_sets.c). */
WFRE_NODISCARD wfre_status wfre_explaining_list(wfre_explaining *b);
/* Follows the best assignment from each answer down, with the evidence of its edges
 * (explain_trace.c). */
WFRE_NODISCARD wfre_status wfre_explaining_trace(wfre_explaining *b, const wfre_answers *answers);
/* Says how the probabilities of edges combine (explain_rule.c). */
WFRE_NODISCARD wfre_status wfre_explaining_rule(const wfre_explaining *b);

#endif
