/* What tests of models stand on, each in its own size: a graph, a model, threads, and memory for
 * trees. Whoever includes this makes them, and has them cleared behind its tests. */
#ifndef WFRE_TESTS_WORLD_H
#define WFRE_TESTS_WORLD_H

#include "base/memory.h"
#include "base/pool.h"
#include "toy.h"

static wfre_graph *graph;
static wfre_model *model;
static wfre_pool *pool; /* NULL: none */
static wfre_arena arena;

static int clear_world(void **state)
{
    (void)state;
    wfre_arena_free(&arena);
    wfre_model_free(model);
    wfre_pool_free(pool);
    wfre_graph_close(graph);
    return 0;
}

#endif
