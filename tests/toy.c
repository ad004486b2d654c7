/* Graphs and models made of a few lines, for tests. */
#include "toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(wfre_status status, const wfre_error *error)
{
    if (status != WFRE_OK) {
        fprintf(stderr, "cannot build what a test needs: %s\n", error->message);
        abort();
    }
}

/* A builder that knows e0 .. and r0 .. under these ids. */
static wfre_graph_builder *start(uint32_t entities, uint32_t relations)
{
    wfre_graph_builder *builder;
    wfre_error error;
    char name[16];
    uint32_t id;
    must(wfre_graph_builder_create(&builder, &error), &error);
    for (uint32_t e = 0; e < entities; e++) {
        size_t length = (size_t)snprintf(name, sizeof name, "e%u", e);
        must(wfre_graph_builder_entity(builder, name, length, &id, &error), &error);
    }
    for (uint32_t r = 0; r < relations; r++) {
        size_t length = (size_t)snprintf(name, sizeof name, "r%u", r);
        must(wfre_graph_builder_relation(builder, name, length, &id, &error), &error);
    }
    return builder;
}

static wfre_graph *finish(wfre_graph_builder *builder)
{
    wfre_graph *graph;
    wfre_error error;
    must(wfre_graph_builder_finish(builder, &graph, &error), &error);
    wfre_graph_builder_free(builder);
    return graph;
}

wfre_graph *toy_random_graph(uint64_t seed, uint32_t entities, uint32_t relations, uint32_t triples)
{
    wfre_graph_builder *builder = start(entities, relations);
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    wfre_error error;
    for (uint32_t i = 0; i < triples; i++) {
        wfre_split split = i % 10 == 8 ? WFRE_VALID : i % 10 == 9 ? WFRE_TEST : WFRE_TRAIN;
        wfre_relation relation = 2 * wfre_rng_below(&rng, 1 + wfre_rng_below(&rng, relations));
        wfre_entity head = wfre_rng_below(&rng, entities);
        wfre_entity tail = wfre_rng_below(&rng, entities);
        must(wfre_graph_builder_triple(builder, split, head, relation, tail, &error), &error);
    }
    return finish(builder);
}

wfre_graph *toy_pairs_graph(uint32_t pairs)
{
    wfre_graph_builder *builder = start(2 * pairs + 1, 1);
    wfre_error error;
    for (uint32_t i = 0; i <= pairs; i++)
        must(wfre_graph_builder_triple(builder, WFRE_TRAIN, 2 * i, 0, i < pairs ? 2 * i + 1 : 1,
                                       &error),
             &error);
    return finish(builder);
}

wfre_graph *toy_graph_of(const brute_graph *brute)
{
    wfre_graph_builder *builder = start(brute->entities, brute->relations);
    wfre_error error;
    for (uint32_t r = 0; r < brute->relations; r++)
        for (uint32_t h = 0; h < brute->entities; h++)
            for (uint32_t t = 0; t < brute->entities; t++)
                if (brute->edge[r][h][t])
                    must(wfre_graph_builder_triple(builder, WFRE_TRAIN, h, 2 * r, t, &error),
                         &error);
    return finish(builder);
}

void toy_add(wfre_graph_builder *builder, const char *head, const char *relation, const char *tail)
{
    wfre_error error;
    wfre_entity h, t;
    wfre_relation r;
    must(wfre_graph_builder_entity(builder, head, strlen(head), &h, &error), &error);
    must(wfre_graph_builder_relation(builder, relation, strlen(relation), &r, &error), &error);
    must(wfre_graph_builder_entity(builder, tail, strlen(tail), &t, &error), &error);
    must(wfre_graph_builder_triple(builder, WFRE_TRAIN, h, r, t, &error), &error);
}

wfre_model *toy_model(const wfre_graph *graph, uint32_t dim, uint32_t bases, uint64_t seed)
{
    wfre_model_settings settings;
    wfre_model *model;
    wfre_error error;
    wfre_model_settings_default(&settings);
    settings.dim = dim;
    settings.bases = bases;
    must(wfre_model_create(graph, &settings, seed, &model, &error), &error);
    return model;
}
