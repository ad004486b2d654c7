/* Ways of reasoning: from questions to a score for every entity. One path serves whoever asks for
 * the best entities and whoever measures where given ones stand.
 *
 *   questions ──> reasoner ──> scores of all entities ──> the best (wfre_scores_top)
 *                                                    └──> standings (measure/rank.h)
 *
 * Scores are higher-is-better; no distances above this line. */
#ifndef WFRE_SRC_INFER_REASONER_H
#define WFRE_SRC_INFER_REASONER_H

#include "infer/session.h"
#include "search/top.h"

/* The scores of some questions, in the session's memory until its next work. */
typedef struct wfre_scores {
    wfre_session *session;
    const struct wfre_reasoner *reasoner;
    size_t count;            /* questions */
    const uint32_t *begin;   /* rows of question q are begin[q] - begin[0] on; the best counts */
    float *table;            /* [rows, entities] */
    const float *histograms; /* [rows, d]: with them an estimate can be made exact; NULL: all are */
} wfre_scores;

static inline size_t wfre_scores_row(const wfre_scores *scores, size_t q)
{
    return scores->begin[q] - scores->begin[0];
}

/* What scores are wanted for: it decides how they are estimated. */
typedef enum wfre_purpose {
    WFRE_FOR_TOP,      /* the best few */
    WFRE_FOR_STANDINGS /* how deep given entities stand */
} wfre_purpose;

/* Questions that are answered in the same way, by one split's edges. */
typedef struct wfre_inference {
    const wfre_node *const *trees; /* ids are those of the engine's graph */
    size_t count;
    wfre_way way;
    wfre_split split;
    wfre_purpose purpose;
} wfre_inference;

/* Called with the scores of questions[0 .. scores->count), which are numbers of those that were
 * asked; several times, until all had their turn. */
typedef wfre_status wfre_scores_use(void *context, const wfre_scores *scores,
                                    const uint32_t *questions, wfre_error *error);

typedef struct wfre_reasoner {
    const char *name;
    /* What to answer in the place of a tree, in the arena; NULL if it cannot. */
    wfre_status (*form)(wfre_arena *arena, const wfre_node *tree, const wfre_node **form,
                        wfre_error *error);
    /* Scores questions, of which `numbers` are the numbers, in as many parts as memory asks for. */
    wfre_status (*score)(wfre_session *session, const wfre_inference *questions,
                         const uint32_t *numbers, wfre_scores_use *use, void *context,
                         wfre_error *error);
    /* The logit of a score. */
    double (*logit)(const wfre_model *model, float score);
} wfre_reasoner;

extern const wfre_reasoner wfre_by_embedding, wfre_by_edges;
/* The one that a way names. */
const wfre_reasoner *wfre_reasoner_of(const wfre_way *way);

/* Scores any number of questions: by the reasoner of their way, or by embedding those that it
 * cannot answer. */
WFRE_NODISCARD wfre_status wfre_infer(wfre_session *session, const wfre_inference *questions,
                                      wfre_scores_use *use, void *context, wfre_error *error);

/* One question's wishes, and the place for what is found. */
typedef struct wfre_wanted {
    wfre_list without; /* ascending: never found */
    size_t top;        /* how many are wanted */
    wfre_hit *hits;    /* room for `top` */
    size_t hit_count;  /* out: `top`, or all that are left; best first */
    size_t scored;     /* out: entities scored exactly; edge by edge, all or not counted */
} wfre_wanted;

/* The best entities of each question; wanted[questions[q]] belongs to question q of the scores.
 * Among equals those of lower id come first. */
WFRE_NODISCARD wfre_status wfre_scores_top(const wfre_scores *scores, const uint32_t *questions,
                                           wfre_wanted *wanted, wfre_error *error);

#endif
