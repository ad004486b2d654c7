/* src/search/search and sketch: quick search finds what exhaustive search finds. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "check.h"
#include "predict.h"
#include "search/sketch.h"
#include "star.h"
#include "toy.h"

enum { ENTITIES = 2500, QUERIES = 24 };

static wfre_graph *graph;
static wfre_model *model;

/* Entities in clusters around a few centres, some beyond [0, 1], so that near and far differ. */
static int build(void **state)
{
    (void)state;
    graph = star_graph(ENTITIES);
    model = toy_model(graph, 40, 2, 1);
    wfre_rng rng = wfre_rng_keyed(5, 0, 0);
    for (size_t e = 0; e < ENTITIES; e++)
        for (size_t i = 0; i < 40; i++)
            model->entities[e * 40 + i] =
                model->entities[e % 12 * 40 + i] + 0.2f * (wfre_rng_float(&rng) - 0.5f);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    wfre_model_free(model);
    wfre_graph_close(graph);
    return 0;
}

/* Paths, an intersection with a negation, and a union. */
static const wfre_node *tree(wfre_arena *arena, uint32_t i)
{
    const wfre_node *one = wfre_node_project(arena, 0, wfre_node_entity(arena, i));
    const wfre_node *other = wfre_node_project(arena, 1, wfre_node_entity(arena, i + 40));
    switch (i % 4) {
    case 0:
        return one;
    case 1:
        return wfre_node_project(arena, 1, one);
    case 2:
        return wfre_node_pair(arena, WFRE_OP_INTERSECT, one, wfre_node_negate(arena, other));
    default:
        return wfre_node_pair(arena, WFRE_OP_UNION, one, other);
    }
}

typedef struct results {
    wfre_arena arena;
    predict_query queries[QUERIES];
} results;

/* Asks some questions for so many answers each; every third leaves out the even entities. */
static wfre_status ask(results *r, uint32_t count, wfre_pool *pool, size_t top, bool exhaustive)
{
    predict_how how = {.model = model, .exhaustive = exhaustive, .pool = pool};
    wfre_entity *even = wfre_arena_alloc(&r->arena, ENTITIES / 2, sizeof *even);
    for (uint32_t e = 0; even && e < ENTITIES / 2; e++)
        even[e] = 2 * e;
    for (uint32_t i = 0; i < count; i++) {
        r->queries[i] = (predict_query){.tree = tree(&r->arena, i),
                                        .without = {even, i % 3 == 0 ? ENTITIES / 2 : 0},
                                        .top = top,
                                        .hits = wfre_arena_alloc(&r->arena, top, sizeof(wfre_hit))};
        if (!even || !r->queries[i].tree || !r->queries[i].hits)
            return WFRE_ERR_MEMORY;
    }
    return predict(&how, r->queries, count, NULL);
}

static void check_same(const results *a, const results *b)
{
    for (int i = 0; i < QUERIES; i++) {
        assert_int_equal(a->queries[i].hit_count, b->queries[i].hit_count);
        for (size_t k = 0; k < a->queries[i].hit_count; k++) {
            assert_int_equal(a->queries[i].hits[k].entity, b->queries[i].hits[k].entity);
            assert_true(a->queries[i].hits[k].score == b->queries[i].hits[k].score);
        }
    }
}

static void check_quick(void)
{
    static const size_t TOPS[] = {0, 1, 10, 300, ENTITIES};
    for (size_t t = 0; t < sizeof TOPS / sizeof TOPS[0]; t++) {
        results quick = {0}, all = {0};
        assert_int_equal(ask(&quick, QUERIES, NULL, TOPS[t], false), WFRE_OK);
        assert_int_equal(ask(&all, QUERIES, NULL, TOPS[t], true), WFRE_OK);
        check_same(&quick, &all);
        size_t left = ENTITIES - quick.queries[0].without.count;
        assert_int_equal(quick.queries[0].hit_count, TOPS[t] < left ? TOPS[t] : left);
        if (TOPS[t] == 10) /* it is quick because it scores few */
            for (int i = 0; i < QUERIES; i++)
                assert_true(quick.queries[i].scored < ENTITIES / 5);
        wfre_arena_free(&quick.arena);
        wfre_arena_free(&all.arena);
    }
}

static void quick_equals_exhaustive(void **state)
{
    (void)state;
    double usual = model->settings.score.radius;
    check_quick();
    model->settings.score.radius = 1; /* no transport: the sketch has fewer features */
    check_quick();
    model->settings.score.radius = usual;
}

static bool has_sketch(void)
{
    wfre_score *score;
    wfre_sketch *sketch;
    assert_ok(wfre_score_create(&model->settings.score, &score, error));
    assert_ok(wfre_sketch_open(model, score, &sketch, error));
    bool found = sketch != NULL;
    wfre_sketch_free(sketch);
    wfre_score_free(score);
    return found;
}

/* A prepared model keeps its sketch in its file, of floats or rounded, and it serves. */
static void files_keep_the_sketch(void **state)
{
    (void)state;
    wfre_model *made = model;
    char folder[] = "/tmp/wfre-search-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors");
    assert_false(has_sketch());
    assert_ok(wfre_model_prepare(model, NULL, error));
    assert_true(has_sketch());
    for (int bf16 = 0; bf16 < 2; bf16++) {
        assert_ok(wfre_model_save(made, path, bf16, error));
        assert_ok(wfre_model_open(path, &model, error));
        assert_true(has_sketch());
        check_quick();
        wfre_model_free(model);
        model = made;
    }
    (void)unlink(path);
    (void)rmdir(folder);
    wfre_free(path);
}

/* One that was made of other entities does not serve, and search makes its own. */
static void stale_sketches_are_noticed(void **state)
{
    (void)state;
    assert_true(has_sketch());
    for (size_t i = 0; i < (size_t)ENTITIES * 40; i++)
        model->entities[i] = 1 - model->entities[i];
    assert_false(has_sketch());
    check_quick();
    assert_ok(wfre_model_prepare(model, NULL, error));
    assert_true(has_sketch());
    check_quick();
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    wfre_pool *pool;
    assert_ok(wfre_pool_create(3, &pool, error));
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        results alone = {0}, together = {0};
        assert_int_equal(ask(&alone, QUERIES, NULL, 20, exhaustive), WFRE_OK);
        assert_int_equal(ask(&together, QUERIES, pool, 20, exhaustive), WFRE_OK);
        check_same(&alone, &together);
        wfre_arena_free(&alone.arena);
        wfre_arena_free(&together.arena);
    }
    wfre_pool_free(pool);
}

static wfre_status attempt(void *context)
{
    results r = {0};
    wfre_status status = ask(&r, 6, NULL, 5, *(bool *)context);
    wfre_arena_free(&r.arena);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    bool exhaustive = false;
    sweep_allocations(attempt, &exhaustive);
    exhaustive = true;
    sweep_allocations(attempt, &exhaustive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_equals_exhaustive),    cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(memory_may_run_out),         cmocka_unit_test(files_keep_the_sketch),
        cmocka_unit_test(stale_sketches_are_noticed),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
