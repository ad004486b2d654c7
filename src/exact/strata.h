/* How much of an answer has to be predicted: its stratum.
 *
 * A hard answer is proved by the split's graph in one or more ways, each of which takes one edge
 * for every projection on the way. Those that the graph before it lacks must be predicted. The
 * stratum of an answer is the way with the fewest of them, and among these the one with the most
 * that are known. An answer to 3p with one missing edge is no harder than one to 1p.
 *
 * Complements are taken in the split's own graph, and nothing in them is counted. */
#ifndef WFRE_SRC_EXACT_STRATA_H
#define WFRE_SRC_EXACT_STRATA_H

#include "exact/exact.h"

typedef struct wfre_stratum {
    uint32_t missing; /* edges that the smaller graph lacks; WFRE_NONE: it is no answer */
    uint32_t known;   /* edges that it has */
} wfre_stratum;

/* strata[i] is that of answers.ids[i]. The split is valid or test. */
WFRE_NODISCARD wfre_status wfre_exact_strata(wfre_exact *exact, wfre_split split,
                                             const wfre_node *tree, wfre_list answers,
                                             wfre_stratum *strata, wfre_error *error);

#endif
