/* Questions as formulas: what a pattern asks of a graph or a model. */
#ifndef WFRE_SRC_SPARQL_QUESTION_H
#define WFRE_SRC_SPARQL_QUESTION_H

#include "query/formula.h"
#include "sparql/predict.h"

/* What a variable of a formula stands for, as far as it is known. */
typedef enum wfre_sq_stands { WFRE_SQ_ANYTHING, WFRE_SQ_ENTITY, WFRE_SQ_RELATION } wfre_sq_stands;

/* A question while it is made. */
typedef struct wfre_sq_maker {
    wfre_sq_exec *x;
    const wfre_sq_prediction *p;
    wfre_query *query;
    wfre_rdf_id *given;  /* by slot: the term that stands for it, or WFRE_NONE */
    uint32_t *variables; /* by slot: its variable, or WFRE_NONE */
    const char **names;
    wfre_sq_stands *stands; /* by variable */
    uint32_t variable_count;
    uint32_t *levels; /* by slot: the answer with whose question it comes */
    uint32_t level;   /* of the present question */
    unsigned within;  /* parts that belong to it as a whole */
} wfre_sq_maker;

/* Says why a question cannot be asked; returns WFRE_SQ_FAIL. */
wfre_sq_flow wfre_sq_refuse(wfre_sq_exec *x, size_t offset, const char *what);
/* Whether the filter is = or != of variables and IRIs, which a formula can say. */
bool wfre_sq_is_equality(const wfre_sq_expression *e);

/* Divides the variables of a prediction among the questions for its answers. */
wfre_sq_flow wfre_sq_find_levels(wfre_sq_maker *m);
/* Makes the formula that asks for `count` slots, and its tree, in m->query; what stands for the
 * answers before them is in m->given. */
wfre_sq_flow wfre_sq_make_question(wfre_sq_maker *m, const wfre_sq_slot *asked, uint32_t count);

#endif
