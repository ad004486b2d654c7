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

/* Published link prediction, of test triples: CoDEx as its authors' repository gives it, ConvE as
 * its own does, and ComplEx with the N3 penalty (Lacroix et al., 2018). 0 where a number is not
 * given. */
typedef struct wfre_published_link {
    const char *dataset;
    const char *method;
    double mrr, hits1, hits10;
} wfre_published_link;

extern const wfre_published_link wfre_published_links[];
extern const size_t wfre_published_links_count;

/* The data set of link prediction with these numbers of entities and directed relations, or NULL.
 * The graphs that query sets come with have a few entities less than the usual ones, and go by the
 * same name. */
const char *wfre_known_links_dataset(uint32_t entities, uint32_t relations);

/* The data set with these numbers of entities and directed relations, or NULL. */
const char *wfre_known_dataset(uint32_t entities, uint32_t relations);

#endif
