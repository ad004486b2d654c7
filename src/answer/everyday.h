/* What the everyday questions share: asking for single entities within one limit of time, and
 * queries made of parts of others. */
#ifndef WFRE_SRC_ANSWER_EVERYDAY_H
#define WFRE_SRC_ANSWER_EVERYDAY_H

#include "base/memory.h"
#include "query/formula.h"
#include "wfre/everyday.h"

/* Questions asked for another's sake. */
typedef struct wfre_errand {
    wfre_session *session;
    wfre_cancel *cancel;
    wfre_ask_options options; /* of each question; top and known are set by the call */
    double deadline;          /* on wfre_clock; 0: none */
} wfre_errand;

wfre_errand wfre_errand_of(wfre_session *session, wfre_cancel *cancel,
                           const wfre_ask_options *options);
/* Its options, with the time that is left. */
wfre_ask_options wfre_errand_options(const wfre_errand *errand);
/* Asks for predicted answers, `top` of each. The first question that fails is the call's failure.
 * Release them with wfre_answers_free. */
WFRE_NODISCARD wfre_status wfre_errand_ask(const wfre_errand *errand, wfre_query *const *queries,
                                           size_t count, size_t top, wfre_answers **answers,
                                           wfre_error *error);
/* The same of ?y : relation(entity, ?y); the relation may be an inverse. */
typedef struct wfre_source {
    wfre_relation relation;
    wfre_entity entity;
} wfre_source;
WFRE_NODISCARD wfre_status wfre_errand_edges(const wfre_errand *errand, const wfre_source *sources,
                                             size_t count, size_t top, wfre_answers **answers,
                                             wfre_error *error);
/* Fails if the session's engine has no graph to look at. */
WFRE_NODISCARD wfre_status wfre_need_graph(const wfre_session *session, wfre_error *error);
/* Frees queries and their array; NULL is fine. */
void wfre_queries_free(wfre_query **queries, size_t count);

/* What is predicted before what: by probability, or by score if there is none. */
static inline bool wfre_likelier(double probability, double score, double other_probability,
                                 double other_score)
{
    if (probability > other_probability || probability < other_probability)
        return probability > other_probability;
    return score > other_score;
}

/* The query with values for some of its variables, asking for some of the others: values[v] is
 * WFRE_NONE for those that stay; `asked` are variables of the formula. All others that it does not
 * bind are existential. `formula` is the query's or a part of it. */
WFRE_NODISCARD wfre_status wfre_query_derive(const wfre_graph *graph, const wfre_query *query,
                                             const wfre_formula *formula, const uint32_t *values,
                                             const uint32_t *asked, uint32_t count,
                                             wfre_query **derived, wfre_error *error);

/* The directed relations that an entity has, and those that entities like it usually have: of those
 * that share its rarest relation, at least a fifth. relations[0 .. *count), ascending, with room
 * for all. */
WFRE_NODISCARD wfre_status wfre_usual_relations(const wfre_graph *graph, wfre_split split,
                                                wfre_entity entity, wfre_relation *relations,
                                                size_t *count, wfre_error *error);

/* The likeliest missing edges of an entity, at most `most` and likeliest first, in the arena: those
 * that lead from it (`directions` has 1), to it (2), or both (3). */
WFRE_NODISCARD wfre_status wfre_missing_edges(const wfre_errand *errand, wfre_entity entity,
                                              int directions, size_t most, wfre_arena *arena,
                                              const wfre_missing_triple **missing, size_t *count,
                                              wfre_error *error);

#endif
