/* Questions drawn as people ask them, with what is known and what was held out.
 *
 * Answers that neither the split nor the next one proves, but the whole graph does, are not ranked,
 * as the field's filtered ranks have it: they would look wrong.
 *
 * A single edge is asked of any pair of an entity and a relation that it has, all equally likely
 * and none twice; other shapes are grown in the graph by the sampler. Most of these questions lack
 * nothing. */
#ifndef WFRE_SRC_FIT_ASKED_H
#define WFRE_SRC_FIT_ASKED_H

#include "infer/reasoner.h"

typedef struct wfre_asked {
    const wfre_node *tree;
    wfre_list easy; /* what the split proves */
    wfre_list hard; /* what only the next one does; perhaps nothing */
    wfre_list done; /* not to be ranked: easy ones, and what only the whole graph proves */
    bool apart;     /* not to be fitted to, but to check with */
} wfre_asked;

/* Zero-initialise to create an empty set. */
typedef struct wfre_asked_set {
    wfre_asked *list;
    size_t count, capacity;
    size_t all; /* single edges of the kind that there are, drawn or not, but for fresh ones */
    wfre_arena arena;
} wfre_asked_set;

void wfre_asked_clear(wfre_asked_set *set);

/* Whether questions about an entity are set apart: a third of them. */
bool wfre_asked_apart(wfre_entity entity);

/* Adds a question: of `easy` is known, of `next` sought what is not known, and of `whole`, what the
 * whole graph proves, not ranked what is neither. Lists are kept as they are where they suffice. */
WFRE_NODISCARD wfre_status wfre_asked_add(wfre_asked_set *set, const wfre_node *tree,
                                          wfre_list easy, wfre_list next, wfre_list whole,
                                          bool apart, wfre_error *error);

typedef enum wfre_asked_kind {
    WFRE_ASKED_KNOWN,   /* of entities that have the relation */
    WFRE_ASKED_LACKING, /* of these, where something is sought */
    WFRE_ASKED_SOUND,   /* of these, where nothing is */
    WFRE_ASKED_FRESH    /* of those that have it not, but share a fact with one that has */
} wfre_asked_kind;

typedef struct wfre_asking {
    const wfre_graph *graph;
    wfre_split split; /* train or valid: that is known, and the next one holds out */
    size_t count;     /* single edges, or questions of each other shape */
    uint64_t seed;
    double seconds; /* to grow shapes in: fewer are drawn if it takes more; 0: no limit */
} wfre_asking;

/* Draws single edges. */
WFRE_NODISCARD wfre_status wfre_asked_edges(const wfre_asking *asking, wfre_asked_kind kind,
                                            wfre_asked_set *set, wfre_error *error);
/* Draws the other shapes of the benchmarks, in rounds over them: every third is set apart. */
WFRE_NODISCARD wfre_status wfre_asked_shapes(const wfre_asking *asking, wfre_pool *pool,
                                             wfre_asked_set *set, wfre_error *error);

/* Called with the best answers of a question, those left out that are known or refuted. */
typedef wfre_status wfre_answered(void *context, const wfre_asked *asked, size_t index,
                                  const wfre_wanted *found, const wfre_reasoner *reasoner,
                                  wfre_error *error);

typedef struct wfre_survey {
    wfre_session *session;
    wfre_way way;
    wfre_split split;
    double seconds; /* the last questions are left out if it takes more; 0: no limit */
    const wfre_monitor *monitor;
    const char *task; /* as the monitor names it */
} wfre_survey;

/* Asks them all, WFRE_CALIBRATION_DEPTH answers each. *done is how many had their turn. */
WFRE_NODISCARD wfre_status wfre_survey_run(const wfre_survey *survey, const wfre_asked *list,
                                           size_t count, wfre_answered *use, void *context,
                                           size_t *done, wfre_error *error);

#endif
