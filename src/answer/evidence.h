/* Known facts that speak for an edge that the graph lacks. */
#ifndef WFRE_SRC_ANSWER_EVIDENCE_H
#define WFRE_SRC_ANSWER_EVIDENCE_H

#include "base/memory.h"
#include "wfre/answer.h"

/* An edge, head and tail being those of the directed relation. */
typedef struct wfre_doubtful_edge {
    wfre_entity head;
    wfre_relation relation;
    wfre_entity tail;
} wfre_doubtful_edge;

/* At most `most` facts of a split's graph, the strongest first, in the arena. */
WFRE_NODISCARD wfre_status wfre_evidence_find(const wfre_graph *graph, wfre_split split,
                                              wfre_doubtful_edge edge, size_t most,
                                              wfre_arena *arena, const wfre_evidence **found,
                                              size_t *count, wfre_error *error);

#endif
