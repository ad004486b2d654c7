/* Published results, to show beside our own.
 *
 * They are the MRRs of the test queries as the WFRE paper prints them (tables 1, 2 and 6), in
 * percent, including its averages. "own union" is GammaE with its attention union instead of DNF;
 * "FuzzQE, rerun" are the numbers that the WFRE authors could reproduce. */
#ifndef WFRE_SRC_EVAL_PUBLISHED_H
#define WFRE_SRC_EVAL_PUBLISHED_H

#include "query/types.h"
#include "wfre/eval.h"

typedef struct wfre_published {
    const char *dataset;
    const char *method;
    double types[WFRE_BETAE_TYPES]; /* in the order of wfre_betae_types */
    double groups[WFRE_GROUPS];     /* 0 where the paper gives none */
} wfre_published;

extern const wfre_published wfre_published_rows[];
extern const size_t wfre_published_count;

/* Published link prediction, of test triples; published.c has the sources. */
typedef struct wfre_published_link {
    const char *dataset;
    const char *method;
    double mrr, hits1, hits10;
    int digits; /* of their percentages that are given behind the point */
} wfre_published_link;

extern const wfre_published_link wfre_published_links[];
extern const size_t wfre_published_links_count;

/* The data set of link prediction with these numbers of entities and directed relations, or NULL.
 * The graphs that query sets come with have a few entities less than the usual ones, and go by the
 * same name. */
const char *wfre_known_links_dataset(uint32_t entities, uint32_t relations);

/* Whether queries of a data set are of the kind that its published results are about. Those of
 * FB15k, FB15k-237 and NELL are BetaE's, of which none has more than a hundred hard answers;
 * Query2box's, which are much easier on paths, unions and negation, and our own strict samples are
 * others. */
bool wfre_published_kind(const char *dataset, const wfre_queryset *set);

/* The data set with these numbers of entities and directed relations, or NULL. */
const char *wfre_known_dataset(uint32_t entities, uint32_t relations);

#endif
