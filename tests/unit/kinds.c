/* src/graph/kinds and src/eval/strangers: who could stand at an end of a relation. */
#include "check.h"

#include "graph/kinds.h"
#include "toy.h"
#include "wfre/eval.h"

enum { PEOPLE = 60, ALBUMS = 30, MEMBERS = 30 };
#define TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define DOMAIN "http://www.w3.org/2000/01/rdf-schema#domain"

static const char *numbered(const char *word, int number, char text[32])
{
    (void)snprintf(text, 32, "%s%d", word, number);
    return text;
}

/* People live in cities and play; half of them are members of bands, which made albums. One is a
 * sculptor. Two things have nothing but a class. */
static wfre_graph *music(bool stated)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    char a[32], b[32];
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < PEOPLE; i++) {
        toy_add(builder, numbered("person", i, a), "lives", numbered("city", i % 15, b));
        toy_add(builder, numbered("person", i, a), "plays", numbered("instrument", i % 14, b));
        toy_add(builder, numbered("person", i, a), TYPE, "Person");
        if (i < MEMBERS)
            toy_add(builder, numbered("person", i, a), "member", numbered("band", i % 13, b));
    }
    for (int i = 0; i < ALBUMS; i++) {
        toy_add(builder, numbered("album", i, a), "artist", numbered("band", i % 13, b));
        toy_add(builder, numbered("album", i, a), "genre", numbered("genre", i % 12, b));
        toy_add(builder, numbered("album", i, a), TYPE, "Album");
    }
    toy_add(builder, "somebody", "sculpts", "stone");
    toy_add(builder, "only a person", TYPE, "Person");
    toy_add(builder, "only an album", TYPE, "Album");
    if (stated)
        toy_add(builder, "sculpts", DOMAIN, "Person");
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return graph;
}

static float fit_of(const wfre_graph *graph, const char *relation, const char *entity)
{
    wfre_kinds *kinds;
    const float *weights, *again;
    wfre_relation place = wfre_graph_named_relation(graph, relation, strlen(relation));
    wfre_entity e = wfre_graph_named_entity(graph, entity, strlen(entity));
    assert_ok(wfre_kinds_create(graph, WFRE_TRAIN, &kinds, error));
    assert_ok(wfre_kinds_at(kinds, place, &weights, error));
    assert_ok(wfre_kinds_at(kinds, place, &again, error));
    assert_ptr_equal(weights, again);
    float fit = wfre_kinds_fit(kinds, weights, place, e);
    float *row = calloc(wfre_graph_entities(graph), sizeof *row);
    assert_non_null(row);
    wfre_kinds_add(kinds, weights, place, 2, row);
    assert_true(row[e] == 2 * fit);
    free(row);
    wfre_kinds_free(kinds);
    return fit;
}

static void test_fit(void **state)
{
    (void)state;
    wfre_graph *graph = music(false);
    assert_true(fit_of(graph, "member", "person3") == 0);  /* is one */
    assert_true(fit_of(graph, "member", "person50") == 0); /* is like one */
    assert_true(fit_of(graph, "member", "album3") < -4);
    assert_true(fit_of(graph, "member", "band3") < -4);
    assert_true(fit_of(graph, "artist", "person3") < -4);
    assert_true(fit_of(graph, "member", "only a person") == 0); /* by class alone */
    assert_true(fit_of(graph, "member", "only an album") < -1);
    wfre_graph_close(graph);
}

/* A stated class outweighs the one entity that is known there. */
static void test_stated(void **state)
{
    (void)state;
    wfre_graph *silent = music(false), *stated = music(true);
    assert_true(fit_of(silent, "sculpts", "only a person") < -0.5f);
    assert_true(fit_of(stated, "sculpts", "only a person") == 0);
    assert_true(fit_of(stated, "sculpts", "only an album") < -0.5f);
    wfre_graph_close(silent);
    wfre_graph_close(stated);
}

/* With a random model strangers come up everywhere; with kinds hardly any is left. */
static void test_strangers(void **state)
{
    (void)state;
    wfre_graph *graph = music(true);
    wfre_model *model = toy_model(graph, 20, 2, 1);
    wfre_way way = wfre_model_get_settings(model)->way;
    wfre_strangers before, after;
    way.by = WFRE_BY_EDGES;
    assert_ok(wfre_measure_strangers(graph, model, &way, 300, 1, NULL, NULL, &before, error));
    way.edge_kinds = 8;
    assert_ok(wfre_measure_strangers(graph, model, &way, 300, 1, NULL, NULL, &after, error));
    assert_int_equal(before.questions, 300);
    assert_int_equal(before.answers, after.answers);
    assert_true(before.strangers > before.answers / 4);
    assert_true(before.classes > 0 && before.apart > 0);
    assert_true(after.strangers < before.strangers / 2);
    wfre_model_free(model);
    wfre_graph_close(graph);
}

static wfre_status attempt(void *context)
{
    wfre_kinds *kinds = NULL;
    const float *weights;
    wfre_status status = wfre_kinds_create(context, WFRE_TRAIN, &kinds, NULL);
    if (status == WFRE_OK)
        status = wfre_kinds_at(kinds, 0, &weights, NULL);
    wfre_kinds_free(kinds);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    wfre_graph *graph = music(true);
    sweep_allocations(attempt, graph);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_stated),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
