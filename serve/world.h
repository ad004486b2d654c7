/* What is served: a graph and a model that belong together, opened, with all that hangs on them. It
 * never changes; a swap puts another one in its place, and the old one goes with its last user. */
#ifndef WFRE_SERVE_WORLD_H
#define WFRE_SERVE_WORLD_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "wfre.h"

typedef struct serve_world {
    wfre_graph *graph;
    wfre_model *model; /* or NULL */
    wfre_engine *engine;
    wfre_rdf_view *view; /* of the whole graph */
    uint64_t generation; /* 1 for the first */
    char tag[48]; /* of both contents: the graph's fingerprint and the weights' hash; see below */
    atomic_bool tagged;
    char *graph_name;                   /* without its folder */
    char *model_name;                   /* or NULL */
    struct stat graph_file, model_file; /* as they were before they were opened */
    pthread_mutex_t lock;
    char *examples; /* JSON, made when first asked for, under the lock */
    int owners;     /* under the lock of world.c */
} serve_world;

/* Opens both (model may be NULL) for one owner. */
wfre_status serve_world_open(const char *graph, const char *model, uint64_t generation,
                             wfre_cancel *cancel, serve_world **world, wfre_error *error);
serve_world *serve_world_ref(serve_world *world);
void serve_world_unref(serve_world *world);

/* Makes what can wait until requests are answered: examples, the index of names (0.3 s for a
 * million), then the tag, for which all weights are read (seconds for gigabytes of them). Until
 * then answers have no entity tag. */
void serve_world_prepare(serve_world *world);

/* Whether the files are other ones now than those that were opened. */
bool serve_world_changed(const serve_world *world, const char *graph, const char *model);

#endif
