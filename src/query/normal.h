/* Normal forms of operator trees. Each has the same answers as the tree it was made from. */
#ifndef WFRE_SRC_QUERY_NORMAL_H
#define WFRE_SRC_QUERY_NORMAL_H

#include "query/tree.h"
#include "wfre/query.h"

/* The tree in the given form, in `arena`; it may share nodes with the tree it was made from.
 *   original         the tree itself
 *   DeMorgan         unions become negated intersections of negations; double negations stay
 *   DeMorgan+MultiI  the same, and intersections within intersections are merged
 *   DNF              unions on top, then intersections; negation only on projections and entities
 *   DNF+MultiIU      the same, and intersections and unions within their like are merged
 * Fails with WFRE_ERR_UNSUPPORTED if the form would be unreasonably large. */
WFRE_NODISCARD wfre_status wfre_tree_normal(wfre_arena *arena, const wfre_node *tree,
                                            wfre_form form, const wfre_node **normal,
                                            wfre_error *error);

#endif
