/* Why an answer is predicted: the sets at every operator of the question, and for each predicted
 * answer the likeliest entities for the question's variables with the edges that join them.
 *
 * Every variable gets a few candidates: what the model finds for its part of the question, and
 * neighbours in the graph of the candidates above it. An edge between candidates is certain if the
 * graph has it, else it has the probability of a 1p question. The best assignment is the one of the
 * largest product over the question's edges, found from the leaves upwards. */
#ifndef WFRE_SRC_ANSWER_EXPLAIN_H
#define WFRE_SRC_ANSWER_EXPLAIN_H

#include "answer/answer.h"
#include "base/text.h"
#include "infer/probability.h"

enum {
    WFRE_EXPLAIN_CANDIDATES = WFRE_EXPLAINED, /* of a variable, the one asked for too */
    WFRE_EXPLAIN_SETS = 256                   /* operators of a question */
};

/* One operator of the question. */
typedef struct wfre_explained_set {
    const wfre_node *node;
    uint32_t parent;   /* WFRE_NONE for the root */
    uint32_t depth;    /* operators above it */
    uint32_t variable; /* whose values it restricts; WFRE_NONE for an entity */
    wfre_list known;
    wfre_hit *hits; /* predicted: none for entities and negations */
    size_t hit_count;
    double *probabilities; /* of the hits; NAN without a calibration */

    double *edges;    /* of a projection: [sources, targets] */
    double *value;    /* [candidates of its variable]: how certain that they belong to it */
    uint32_t *chosen; /* [the same]: source of a projection, branch of a union */
} wfre_explained_set;

typedef struct wfre_explained_variable {
    const char *name;
    uint32_t set; /* that restricts it, the highest */
    wfre_entity candidates[WFRE_EXPLAIN_CANDIDATES];
    uint32_t count;
} wfre_explained_variable;

/* One edge of an explanation; head and tail are those of the relation, not of its inverse. What a
 * negation denies is all of its edges together; they stand one after the other. */
typedef struct wfre_explained_edge {
    wfre_relation relation;
    wfre_entity head, tail;
    uint32_t negation; /* the outermost set above it that is one; WFRE_NONE if there is none */
    bool negated;      /* within that, once more */
    bool known;
    double probability;
} wfre_explained_edge;

typedef struct wfre_explained_answer {
    wfre_prediction prediction;
    wfre_entity *entities; /* of each variable; WFRE_NONE if it plays no part */
    wfre_explained_edge *edges;
    size_t edge_count;
} wfre_explained_answer;

typedef struct wfre_explanation {
    wfre_arena arena; /* owns all of it */
    const wfre_graph *graph;
    wfre_explained_set *sets; /* parents before children */
    uint32_t set_count;
    wfre_explained_variable *variables; /* the first is the one asked for */
    uint32_t variable_count;
    wfre_explained_answer *answers;
    size_t answer_count;
    bool calibrated;
} wfre_explanation;

/* How the relation of a projection stands in the logic notation: its argument comes first unless it
 * is an inverse. */
static inline bool wfre_explained_forward(const wfre_node *projection)
{
    return projection->id % 2 == 0;
}

void wfre_explanation_text(const wfre_explanation *explanation, wfre_text *text);
void wfre_explanation_svg(const wfre_explanation *explanation, wfre_text *text);

/* What a set is called: "directed(?d, ?f)", "and", "or", "not", or an entity. */
void wfre_explanation_label(const wfre_explanation *explanation, uint32_t set, wfre_text *text);

#endif
