/* The reference for answers: tiny graphs as matrices, and evaluation by trying every assignment.
 * Also random graphs, trees and formulas for property tests. Nothing here is clever. */
#ifndef WFRE_TESTS_BRUTE_H
#define WFRE_TESTS_BRUTE_H

#include "base/rng.h"
#include "query/formula.h"
#include "query/tree.h"

enum { BRUTE_ENTITIES = 16, BRUTE_RELATIONS = 8 };

typedef struct brute_graph {
    uint32_t entities;
    uint32_t relations; /* forward ones; directed ids go up to 2 * relations */
    bool edge[BRUTE_RELATIONS][BRUTE_ENTITIES][BRUTE_ENTITIES]; /* [relation / 2][head][tail] */
} brute_graph;

/* 1 .. entities entities and 1 .. relations relations, each edge with a random density. */
void brute_random_graph(wfre_rng *rng, uint32_t entities, uint32_t relations, brute_graph *graph);

/* Answer sets: bit e is set if entity e is an answer. */
uint32_t brute_tree(const brute_graph *graph, const wfre_node *tree);
/* The entities that cannot be answers, whatever edges are added. */
uint32_t brute_refuted(const brute_graph *graph, const wfre_node *tree);
uint32_t brute_formula(const brute_graph *graph, const wfre_query *query);
/* The rows of a query that asks for any number of variables, ascending; returns how many. There is
 * space for BRUTE_ROWS. */
enum { BRUTE_ASKED = 3, BRUTE_ROWS = BRUTE_ENTITIES * BRUTE_ENTITIES * BRUTE_ENTITIES };
size_t brute_rows(const brute_graph *graph, const wfre_query *query, uint32_t *rows);

/* A tree with at most `depth` levels, or a formula with at most `depth` connectives above an atom
 * and about `variables` variables; any shape that is legal. These abort when out of memory. */
const wfre_node *brute_random_tree(wfre_arena *arena, wfre_rng *rng, const brute_graph *graph,
                                   unsigned depth);
/* The query owns its arena: wfre_arena_free(&query->arena). Its tree is not filled. */
void brute_random_query(wfre_rng *rng, const brute_graph *graph, unsigned depth, wfre_query *query);
/* The same for up to BRUTE_ASKED variables asked for, or none, and variables for relations. */
void brute_random_question(wfre_rng *rng, const brute_graph *graph, unsigned depth,
                           wfre_query *query);

#endif
