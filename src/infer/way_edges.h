/* Answers edge by edge: what the graph knows is certain, what it lacks is as likely as the model
 * says.
 *
 * Embedding a whole question forgets what the graph knows of its parts. Here every set is a truth
 * value for each entity instead, and the model says only how likely single edges are:
 *
 *   edge (x, r, y)    1 if the graph has it, else likely(x, r, y), below 1
 *   projection        y: the best over x of set(x) * edge(x, r, y); among equals, the second best
 *   intersection      the product;  of a complement: 1 - set(y), at least a millionth
 *   union             the best
 *
 *   likely(x, r, y) = odds / (1 + odds)
 *   odds = room(r, x) * softmax over y of sharpness * (logit of y for (p,r,(e,x))
 *                                                     + weight * log room(r^-1, y)
 *                                                     + alike * gain of y
 *                                                     + factors * their score of the edge)
 *                                         + joined if another relation than r joins x and y
 *                                         + kinds * fit of y where r leads to
 *
 * where the room of an entity is how many edges of a relation it lacks (graph/missing.h), and a
 * relation joins x and y if the graph has the edge from x to y; inverses are other relations. A
 * model learns what goes together from what is known, and what is missing may differ in that: in
 * some graphs a pair that has an edge is likely to lack another, in others nothing was held out
 * between such pairs. How an entity fits an end of a relation by what it is otherwise is in
 * graph/kinds.h, and what those do that share facts with x and y in infer/alike.h: counting says
 * what a model has not learned. Factors (model/factors.h) are a second predictor of single edges.
 * A projection follows known edges from every x, and predicted ones from the best few.
 *
 * All values are logarithms. */
#ifndef WFRE_SRC_INFER_WAY_EDGES_H
#define WFRE_SRC_INFER_WAY_EDGES_H

#include "base/memory.h"
#include "query/tree.h"
#include "wfre/model.h"

struct wfre_session;
typedef struct wfre_edges wfre_edges;

/* Whether a tree can be answered so: complements stand only beside a set they are taken from, and
 * it has not too many nodes. */
bool wfre_edges_suit(const wfre_node *tree);
/* What to answer in the place of a tree: itself, or its DNF+MultiIU form in the arena; NULL if
 * neither suits. */
WFRE_NODISCARD wfre_status wfre_edges_form(wfre_arena *arena, const wfre_node *tree,
                                           const wfre_node **form, wfre_error *error);

/* The workspace of a session, which it belongs to and borrows. */
WFRE_NODISCARD wfre_status wfre_edges_create(struct wfre_session *session, wfre_edges **edges,
                                             wfre_error *error);
void wfre_edges_free(wfre_edges *edges);

/* From now on the session keeps what does not depend on the numbers `edge_*` of a way, in so many
 * bytes; 0: no longer. Until then it must be asked by ways that differ in these alone, or not by
 * edges. */
WFRE_NODISCARD wfre_status wfre_edges_keep(struct wfre_session *session, size_t bytes,
                                           wfre_error *error);

/* truth[q * entities + e]: the logarithm of the truth value of entity e in tree q, where the edges
 * of `split` are known; without negation 0 for known answers, and for them alone. The result does
 * not depend on how trees are cut into batches. */
WFRE_NODISCARD wfre_status wfre_edges_answer(wfre_edges *edges, wfre_split split,
                                             const wfre_way *way, const wfre_node *const *trees,
                                             size_t count, float *truth, wfre_error *error);

#endif
