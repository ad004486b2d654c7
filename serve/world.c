/* Graph and model as one thing that can be swapped. */
#include "world.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples.h"

static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;

static wfre_status no_memory(wfre_error *error)
{
    *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "out of memory");
    return error->code;
}

static void free_world(serve_world *world)
{
    wfre_rdf_view_close(world->view);
    wfre_engine_unref(world->engine);
    wfre_model_free(world->model);
    wfre_graph_close(world->graph);
    free(world->graph_name);
    free(world->model_name);
    free(world->examples);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

static char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strdup(slash ? slash + 1 : path);
}

/* Opens what the paths name into an empty world. */
static wfre_status fill(serve_world *world, const char *graph, const char *model,
                        wfre_cancel *cancel, wfre_error *error)
{
    world->graph_name = last_part(graph);
    world->model_name = model ? last_part(model) : NULL;
    if (!world->graph_name || (model && !world->model_name))
        return no_memory(error);
    /* Before they are opened: a file that changes in between is opened once more, not missed. */
    (void)stat(graph, &world->graph_file);
    if (model)
        (void)stat(model, &world->model_file);
    wfre_status status = wfre_graph_open(graph, &world->graph, error);
    if (status == WFRE_OK && model)
        status = wfre_model_open(model, &world->model, error);
    if (status == WFRE_OK)
        status =
            wfre_engine_open(world->graph, world->model, NULL, NULL, cancel, &world->engine, error);
    if (status == WFRE_OK)
        status = wfre_rdf_view_open(world->graph, WFRE_TEST, &world->view, error);
    return status;
}

wfre_status serve_world_open(const char *graph, const char *model, uint64_t generation,
                             wfre_cancel *cancel, serve_world **world, wfre_error *error)
{
    serve_world *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(error);
    pthread_mutex_init(&made->lock, NULL);
    made->owners = 1;
    made->generation = generation;
    wfre_status status = fill(made, graph, model, cancel, error);
    if (status != WFRE_OK) {
        free_world(made);
        return status;
    }
    *world = made;
    return WFRE_OK;
}

void serve_world_prepare(serve_world *world)
{
    wfre_complete_options options;
    wfre_completion first;
    size_t count;
    wfre_complete_options_default(&options);
    /* The page begins with the examples, and whoever types a name should not wait for the index. If
     * one of them fails now, it is made then. */
    (void)serve_examples(world);
    wfre_status ignored =
        wfre_engine_complete(world->engine, "", 0, &options, &first, 1, &count, NULL);
    (void)ignored;
    (void)snprintf(world->tag, sizeof world->tag, "%016" PRIx64 "-%016" PRIx64,
                   wfre_graph_fingerprint(world->graph),
                   world->model ? wfre_model_weights_hash(world->model) : 0);
    atomic_store(&world->tagged, true);
}

serve_world *serve_world_ref(serve_world *world)
{
    pthread_mutex_lock(&owners_lock);
    world->owners++;
    pthread_mutex_unlock(&owners_lock);
    return world;
}

void serve_world_unref(serve_world *world)
{
    if (!world)
        return;
    pthread_mutex_lock(&owners_lock);
    bool last = --world->owners == 0;
    pthread_mutex_unlock(&owners_lock);
    if (last)
        free_world(world);
}

static bool differs(const struct stat *was, const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0)
        return false; /* about to be replaced; the old one is still there for us */
    return is.st_ino != was->st_ino || is.st_dev != was->st_dev || is.st_size != was->st_size ||
           is.st_mtim.tv_sec != was->st_mtim.tv_sec || is.st_mtim.tv_nsec != was->st_mtim.tv_nsec;
}

bool serve_world_changed(const serve_world *world, const char *graph, const char *model)
{
    return differs(&world->graph_file, graph) || (model && differs(&world->model_file, model));
}
