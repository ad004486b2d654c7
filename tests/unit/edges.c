/* src/infer/way_edges and src/fit/edges: which questions are answered edge by edge, that estimates
 * give what exact distances give, and what is fitted. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "fit/edges.h"
#include "graph/graph.h"
#include "model/factors.h"
#include "predict.h"
#include "world.h"

enum { ENTITIES = 2500, DIM = 40, TOP = 10, QUERIES = 40 };

static const wfre_node *edge(uint32_t relation, uint32_t entity)
{
    return wfre_node_project(&arena, relation, wfre_node_entity(&arena, entity));
}

static const wfre_node *pair(wfre_op op, const wfre_node *left, const wfre_node *right)
{
    return wfre_node_pair(&arena, op, left, right);
}

static const wfre_node * not(const wfre_node *node)
{
    return wfre_node_negate(&arena, node);
}

/* Entities in clusters, so that near and far differ. */
static int set_up(void **state)
{
    (void)state;
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = DIM;
    settings.bases = 2;
    settings.rho = 14;
    settings.score.radius = 1;
    settings.way.by = WFRE_BY_EDGES;
    settings.way.edge_alike = 1;
    graph = toy_random_graph(7, ENTITIES, 3, 8000);
    assert_ok(wfre_pool_create(2, &pool, error));
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    wfre_rng rng = wfre_rng_keyed(5, 0, 0);
    for (size_t i = 0; i < (size_t)ENTITIES * DIM; i++)
        model->entities[i] = model->entities[i % (12 * DIM)] + 0.2f * (wfre_rng_float(&rng) - 0.5f);
    return 0;
}

static void test_suit(void **state)
{
    (void)state;
    const wfre_node *a = edge(0, 1), *b = edge(1, 2), *entity = wfre_node_entity(&arena, 3);
    assert_true(wfre_edges_suit(entity));
    assert_true(wfre_edges_suit(a));
    assert_true(wfre_edges_suit(pair(WFRE_OP_INTERSECT, a, not(b))));
    assert_true(wfre_edges_suit(pair(WFRE_OP_INTERSECT, not(a), entity)));
    assert_true(wfre_edges_suit(wfre_node_project(&arena, 0, pair(WFRE_OP_UNION, a, b))));
    assert_false(wfre_edges_suit(not(a)));
    assert_false(wfre_edges_suit(wfre_node_project(&arena, 0, not(a))));
    assert_false(wfre_edges_suit(pair(WFRE_OP_UNION, a, not(b))));
    assert_false(wfre_edges_suit(pair(WFRE_OP_INTERSECT, not(a), not(b))));
    assert_false(wfre_edges_suit(pair(WFRE_OP_INTERSECT, a, not(not(b)))));
}

/* Brackets and double negations do not matter; what is too large does. */
static void test_form(void **state)
{
    (void)state;
    const wfre_node *a = edge(0, 1), *b = edge(1, 2), *c = edge(3, 4), *form;
    const wfre_node *bracketed =
        pair(WFRE_OP_INTERSECT, pair(WFRE_OP_INTERSECT, not(b), not(c)), not(not(a)));
    assert_false(wfre_edges_suit(bracketed));
    assert_ok(wfre_edges_form(&arena, bracketed, &form, error));
    assert_non_null(form);
    assert_true(wfre_edges_suit(form));
    assert_int_equal(form->child_count, 3);
    assert_ok(wfre_edges_form(&arena, not(pair(WFRE_OP_UNION, b, not(a))), &form, error));
    assert_non_null(form);
    assert_ok(wfre_edges_form(&arena, a, &form, error));
    assert_ptr_equal(form, a);
    assert_ok(wfre_edges_form(&arena, not(a), &form, error));
    assert_null(form);
    for (int i = 0; i < 40; i++) /* shared nodes, a million millions of them if written out */
        a = pair(WFRE_OP_UNION, a, a);
    assert_false(wfre_edges_suit(a));
    assert_ok(wfre_edges_form(&arena, a, &form, error));
    assert_null(form);
}

/* Questions of seven shapes. */
static const wfre_node *question(uint32_t i)
{
    const wfre_node *one = edge(0, 3 * i), *other = edge(i % 6, 5 * i + 1);
    const wfre_node *path = wfre_node_project(&arena, 2, one);
    switch (i % 7) {
    case 0:
        return one;
    case 1:
        return path;
    case 2:
        return wfre_node_project(&arena, 5, path);
    case 3:
        return pair(WFRE_OP_INTERSECT, one, other);
    case 4:
        return pair(WFRE_OP_INTERSECT, path, not(other));
    case 5:
        return wfre_node_project(&arena, 1, pair(WFRE_OP_INTERSECT, one, not(other)));
    default:
        return wfre_node_project(&arena, 4, pair(WFRE_OP_UNION, one, other));
    }
}

typedef struct asked {
    predict_query queries[QUERIES];
    wfre_hit hits[QUERIES][TOP];
} asked;

static wfre_status ask(asked *a, uint32_t count, wfre_pool *threads, bool exhaustive)
{
    predict_how how = {graph, model, WFRE_VALID, exhaustive, threads};
    for (uint32_t i = 0; i < count; i++) {
        a->queries[i] = (predict_query){.tree = question(i), .top = TOP, .hits = a->hits[i]};
        if (!a->queries[i].tree)
            return WFRE_ERR_MEMORY;
    }
    return predict(&how, a->queries, count, NULL);
}

/* The likeliest edges are scored exactly; what is left of estimates, in sums and in edges that only
 * count together with others, shifts logits by hundredths. Threads make no difference. */
static void test_estimates(void **state)
{
    (void)state;
    static asked quick, threaded, exact;
    assert_int_equal(ask(&quick, QUERIES, NULL, false), WFRE_OK);
    assert_int_equal(ask(&threaded, QUERIES, pool, false), WFRE_OK);
    assert_int_equal(ask(&exact, QUERIES, pool, true), WFRE_OK);
    int same = 0;
    for (int q = 0; q < QUERIES; q++)
        for (int k = 0; k < TOP; k++) {
            wfre_hit a = quick.hits[q][k], b = exact.hits[q][k];
            assert_int_equal(a.entity, threaded.hits[q][k].entity);
            assert_true(a.score == threaded.hits[q][k].score);
            assert_true(fabsf(a.score - b.score) < 0.2f);
            same += a.entity == b.entity;
        }
    assert_true(same > QUERIES * TOP * 4 / 5);
    assert_int_equal(exact.queries[0].scored, ENTITIES);
}

/* Truth values are the same bits whether rows are kept or not, with room for all, for some and for
 * one, for ways that differ in what may differ, and for the same edge twice. */
static void test_kept(void **state)
{
    (void)state;
    enum { TREES = 14, WAYS = 3 };
    static float plain[TREES * ENTITIES], kept[TREES * ENTITIES];
    const size_t row = (ENTITIES + DIM) * sizeof(float), rooms[] = {1000 * row, 20 * row, 1};
    const wfre_node *trees[TREES];
    wfre_session *one = NULL, *other = NULL;
    for (uint32_t i = 0; i < TREES; i++)
        trees[i] = question(i / 2);
    assert_ok(wfre_session_open(graph, model, pool, &one, error));
    assert_ok(wfre_session_open(graph, model, pool, &other, error));
    assert_ok(wfre_edges_keep(one, 0, error));
    for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        assert_ok(wfre_edges_keep(other, rooms[r], error));
        for (int w = 0; w < WAYS; w++) {
            wfre_way way = model->settings.way;
            way.edge_sharpness = 0.5 + 0.3 * w;
            way.edge_joined = w - 1;
            way.edge_alike = w;
            assert_ok(wfre_edges_answer(one->edges, WFRE_TRAIN, &way, trees, TREES, plain, error));
            assert_ok(wfre_edges_answer(other->edges, WFRE_TRAIN, &way, trees, TREES, kept, error));
            assert_memory_equal(plain, kept, sizeof plain);
        }
    }
    wfre_session_free(one);
    wfre_session_free(other);
}

static wfre_status try_keeping(void *context)
{
    (void)context;
    wfre_session *session = NULL;
    wfre_status status = wfre_session_open(graph, model, NULL, &session, NULL);
    if (status == WFRE_OK)
        status = wfre_edges_keep(session, 1 << 20, NULL);
    wfre_session_free(session);
    return status;
}

static void test_memory_of_kept(void **state)
{
    (void)state;
    sweep_allocations(try_keeping, NULL);
}

/* What cannot be answered edge by edge is embedded, beside what can. */
static void test_mixed(void **state)
{
    (void)state;
    wfre_hit hits[2][TOP], embedded[TOP];
    predict_query both[] = {{.tree = not(edge(0, 1)), .top = TOP, .hits = hits[0]},
                            {.tree = edge(0, 3), .top = TOP, .hits = hits[1]}};
    predict_query alone = {.tree = not(edge(0, 1)), .top = TOP, .hits = embedded};
    predict_how how = {.model = model};
    assert_ok(predict(&how, &alone, 1, error));
    how.graph = graph;
    assert_ok(predict(&how, both, 2, error));
    assert_int_equal(alone.hit_count, TOP);
    assert_memory_equal(hits[0], embedded, sizeof embedded);
    assert_ptr_equal(both[0].by, &wfre_by_embedding);
    assert_ptr_equal(both[1].by, &wfre_by_edges);
    assert_ptr_equal(alone.by, &wfre_by_embedding);
}

/* The logarithms of all truth values of a tree. */
static void truth_of(const wfre_node *tree, float *truth)
{
    static wfre_hit hits[ENTITIES];
    predict_how how = {graph, model, WFRE_VALID, true, pool};
    predict_query query = {.tree = tree, .top = ENTITIES, .hits = hits};
    assert_ok(predict(&how, &query, 1, error));
    assert_int_equal(query.hit_count, ENTITIES);
    for (size_t i = 0; i < ENTITIES; i++)
        truth[hits[i].entity] = hits[i].score;
}

/* A path taken apart: the best over all entities on the way, and among equals the one that a second
 * entity leads to. */
static void test_paths(void **state)
{
    (void)state;
    static float inner[ENTITIES], row[ENTITIES], best[ENTITIES], second[ENTITIES], truth[ENTITIES];
    const wfre_adjacency *known = wfre_graph_adjacency(graph, WFRE_VALID);
    const wfre_node *one = edge(0, 3);
    truth_of(one, inner);
    for (size_t y = 0; y < ENTITIES; y++)
        best[y] = second[y] = -80;
    for (uint32_t x = 0; x < ENTITIES; x++) {
        uint32_t group = wfre_find_group(known, 2, x), above = 0;
        for (size_t y = 0; y < ENTITIES; y++)
            above += inner[y] > inner[x] || (inner[y] == inner[x] && y < x);
        bool followed = above < 16 || (above < 64 && inner[x] >= -0.1f);
        if (followed)
            truth_of(edge(2, x), row);
        for (uint32_t y = 0; y < ENTITIES; y++) {
            bool edge_known =
                group != WFRE_NONE && wfre_list_has(wfre_group_targets(known, group), y);
            float way = edge_known ? inner[x] : followed ? inner[x] + row[y] : -80;
            second[y] = fmaxf(second[y], fminf(best[y], way));
            best[y] = fmaxf(best[y], way);
        }
    }
    truth_of(wfre_node_project(&arena, 2, one), truth);
    int ties = 0;
    for (size_t y = 0; y < ENTITIES; y++) {
        float more = 0.001f * expf(second[y] - best[y]);
        assert_true(fabsf(truth[y] - fminf(best[y] + more, best[y] / 2)) < 1e-4f);
        ties += best[y] < 0 && best[y] > -20 && more > 1e-5f;
    }
    assert_true(ties > 10);
}

static wfre_status attempt_ask(void *context)
{
    return ask(context, 7, NULL, false);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    static asked a;
    assert_int_equal(attempt_ask(&a), WFRE_OK); /* after it the arena has room for all trees */
    sweep_allocations(attempt_ask, &a);
}

/* ---- fitting ------------------------------------------------------------------------------ */

static wfre_rank_query queries[2 * QUERIES];
static wfre_entity answers[2 * QUERIES];
static wfre_standing standings[2 * QUERIES];

/* The q-th pair (e, r, t) of the train graph, as many apart as there is room. */
static wfre_edge_group group_at(uint32_t q, wfre_entity *entity)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    *entity = 50 * q;
    while (edges->entity_begin[*entity] == edges->entity_begin[*entity + 1])
        ++*entity;
    return wfre_entity_edge(edges, edges->entity_begin[*entity]);
}

/* Intersections of an edge that the graph has with one that it lacks: knowing the first is worth
 * more than anything a random model says. */
static void ask_half_known(void)
{
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    for (uint32_t q = 0; q < QUERIES; q++) {
        wfre_entity entity;
        wfre_edge_group group = group_at(q, &entity);
        answers[q] = wfre_group_targets(edges, group.group).ids[0];
        queries[q] = (wfre_rank_query){
            .tree = pair(WFRE_OP_INTERSECT, edge(group.relation, entity), edge(1, 2 * q)),
            .hard = {&answers[q], 1},
            .standings = &standings[q]};
    }
}

/* Fits the way of a model of this graph. */
static wfre_status fit(const wfre_graph *of, const wfre_model *m, wfre_way *way, size_t count,
                       const wfre_monitor *monitor)
{
    wfre_session *session;
    assert_ok(wfre_session_open(of, m, pool, &session, error));
    wfre_status status = wfre_edges_fit(session, way, queries, count, 0, monitor, NULL);
    wfre_session_free(session);
    return status;
}

/* What is fitted ranks no worse than what it began with. */
static double mean_rank(const wfre_way *way)
{
    wfre_session *session;
    double sum = 0;
    assert_ok(wfre_session_open(graph, model, pool, &session, error));
    assert_ok(wfre_rank(session, way, WFRE_TRAIN, queries, QUERIES, NULL, error));
    for (int q = 0; q < QUERIES; q++)
        sum += 1 / wfre_standing_rank(standings[q]);
    wfre_session_free(session);
    return sum / QUERIES;
}

static void test_fit_takes_edges(void **state)
{
    (void)state;
    ask_half_known();
    wfre_way way = model->settings.way, before = way;
    way.by = WFRE_BY_EMBEDDING;
    assert_int_equal(fit(graph, model, &way, QUERIES, NULL), WFRE_OK);
    assert_int_equal(way.by, WFRE_BY_EDGES);
    before.edge_sharpness = 20; /* far from anything that it tries */
    before.edge_room = 8;
    assert_true(mean_rank(&way) > mean_rank(&before));
}

/* Of the pairs' edges each leads to an entity that no other leads to: what lacks one is likely. The
 * weight of that rises if it is so for the answers, and falls if it is not. */
static void test_fit_room(void **state)
{
    (void)state;
    wfre_graph *pairs = toy_pairs_graph(300);
    for (int lacks = 0; lacks < 2; lacks++) {
        wfre_model *one;
        assert_ok(wfre_model_create(pairs, &model->settings, 1, &one, error));
        wfre_way way = one->settings.way;
        way.edge_room = 0.4;
        for (uint32_t q = 0; q < QUERIES; q++) {
            answers[q] = 300 + 2 * q + (lacks ? 0 : 1);
            queries[q] = (wfre_rank_query){
                .tree = edge(0, 2 * q), .hard = {&answers[q], 1}, .standings = &standings[q]};
        }
        assert_int_equal(fit(pairs, one, &way, QUERIES, NULL), WFRE_OK);
        assert_true(lacks ? way.edge_room > 0.4 : way.edge_room < 0.4);
        wfre_model_free(one);
    }
    wfre_graph_close(pairs);
}

/* Heads never stood where the pairs' edges end. The weight of that falls if they are the answers
 * nevertheless, and stays if they are not. */
static void test_fit_kinds(void **state)
{
    (void)state;
    wfre_graph *pairs = toy_pairs_graph(300);
    for (int strange = 0; strange < 2; strange++) {
        wfre_model *one;
        assert_ok(wfre_model_create(pairs, &model->settings, 1, &one, error));
        wfre_way way = one->settings.way;
        for (uint32_t q = 0; q < QUERIES; q++) {
            answers[q] = 300 + 2 * q + (strange ? 0 : 1);
            queries[q] = (wfre_rank_query){
                .tree = edge(0, 2 * q), .hard = {&answers[q], 1}, .standings = &standings[q]};
        }
        assert_int_equal(fit(pairs, one, &way, QUERIES, NULL), WFRE_OK);
        assert_true(strange ? way.edge_kinds < 0.125 : way.edge_kinds >= 0.25);
        wfre_model_free(one);
    }
    wfre_graph_close(pairs);
}

/* A town for each query, with six people of whom the first does not speak its language. */
static wfre_graph *towns(void)
{
    wfre_graph_builder *builder;
    wfre_graph *made;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < 6 * QUERIES; i++) {
        char person[16], town[16], language[16];
        (void)snprintf(person, sizeof person, "p%d", i);
        (void)snprintf(town, sizeof town, "town%d", i / 6);
        (void)snprintf(language, sizeof language, "language%d", i / 6);
        toy_add(builder, person, "lives", town);
        if (i % 6 > 0)
            toy_add(builder, person, "speaks", language);
    }
    assert_ok(wfre_graph_builder_finish(builder, &made, error));
    wfre_graph_builder_free(builder);
    return made;
}

/* What one lacks that the others of the town have is the answer, or what another town has. */
static void test_fit_alike(void **state)
{
    (void)state;
    wfre_graph *of = towns();
    for (int alike = 0; alike < 2; alike++) {
        wfre_model *one;
        assert_ok(wfre_model_create(of, &model->settings, 1, &one, error));
        wfre_way way = one->settings.way;
        for (int q = 0; q < QUERIES; q++) {
            char person[16], language[16];
            (void)snprintf(person, sizeof person, "p%d", 6 * q);
            (void)snprintf(language, sizeof language, "language%d", (q + !alike) % QUERIES);
            answers[q] = wfre_graph_named_entity(of, language, strlen(language));
            wfre_entity x = wfre_graph_named_entity(of, person, strlen(person));
            queries[q] = (wfre_rank_query){
                .tree = edge(2, x), .hard = {&answers[q], 1}, .standings = &standings[q]};
        }
        assert_int_equal(fit(of, one, &way, QUERIES, NULL), WFRE_OK);
        assert_true(alike ? way.edge_alike > 1 : way.edge_alike < 1);
        wfre_model_free(one);
    }
    wfre_graph_close(of);
}

/* Puts an entity where a question is embedded, or beside it. */
static void move_to(wfre_entity entity, const wfre_node *tree, float factor)
{
    float row[DIM];
    assert_int_equal(predict_embed(model, tree, &model->settings.way, row), WFRE_OK);
    for (int i = 0; i < DIM; i++)
        model->entities[(size_t)entity * DIM + (size_t)i] = factor * row[i];
}

/* What another relation joins to a question's entity is the answer, or what stands before it. */
static void test_fit_joined(void **state)
{
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        wfre_way way = model->settings.way;
        uint32_t found = 0;
        for (wfre_entity x = 0; x < ENTITIES / 2 && found < QUERIES; x++) {
            wfre_list others = wfre_graph_targets(graph, WFRE_TRAIN, 2, x);
            wfre_list known = wfre_graph_targets(graph, WFRE_TRAIN, 0, x);
            if (others.count == 0 || wfre_list_has(known, others.ids[0]))
                continue;
            answers[found] = joined ? others.ids[0] : x + ENTITIES / 2;
            queries[found] = (wfre_rank_query){
                .tree = edge(0, x), .hard = {&answers[found], 1}, .standings = &standings[found]};
            if (!joined) {
                move_to(others.ids[0], edge(0, x), 1);
                move_to(answers[found], edge(0, x), 0.9f);
            }
            found++;
        }
        assert_int_equal(found, QUERIES);
        assert_int_equal(fit(graph, model, &way, QUERIES, NULL), WFRE_OK);
        assert_true(joined ? way.edge_joined > 1 : way.edge_joined < -0.5);
    }
}

/* Answers that lie just where the question is embedded. */
static void test_fit_keeps_embedding(void **state)
{
    (void)state;
    wfre_way way = model->settings.way;
    for (uint32_t q = 0; q < QUERIES; q++) {
        const wfre_node *tree = pair(WFRE_OP_INTERSECT, edge(0, q), edge(3, q + QUERIES));
        answers[q] = 500 + q;
        queries[q] =
            (wfre_rank_query){.tree = tree, .hard = {&answers[q], 1}, .standings = &standings[q]};
        float row[DIM];
        assert_int_equal(predict_embed(model, tree, &way, row), WFRE_OK);
        memcpy(model->entities + (size_t)answers[q] * DIM, row, sizeof row);
    }
    assert_int_equal(fit(graph, model, &way, QUERIES, NULL), WFRE_OK);
    assert_int_equal(way.by, WFRE_BY_EMBEDDING);
}

/* With nothing to fit it on, factors count as much as histograms, and both together as one did. */
static void test_unfitted(void **state)
{
    (void)state;
    wfre_way way = model->settings.way;
    wfre_model with = *model;
    double sharpness = way.edge_sharpness;
    wfre_edges_usual(model, &way);
    assert_true(way.by == WFRE_BY_EDGES && way.edge_factors == 0);
    assert_true(way.edge_sharpness == sharpness);
    with.settings.factors = 2;
    assert_ok(wfre_factors_allocate(&with.settings, with.entity_count, with.relation_count,
                                    &with.factors, error));
    wfre_edges_usual(&with, &way);
    assert_true(way.edge_factors == 1 && way.edge_sharpness == sharpness / 2);
    way.edge_factors = 3; /* as fitted before */
    wfre_edges_usual(&with, &way);
    assert_true(way.edge_factors == 3);
    wfre_factors_free(with.factors);
}

static bool stop_on_second(void *context)
{
    return ++*(int *)context == 2;
}

/* What is interrupted, or fails, leaves the settings as they were. */
static void test_interrupt(void **state)
{
    (void)state;
    int asked_so_far = 0;
    wfre_monitor monitor = {.interrupted = stop_on_second, .context = &asked_so_far};
    ask_half_known();
    for (uint32_t q = QUERIES; q < 2 * QUERIES; q++) {
        queries[q] = queries[q - QUERIES];
        queries[q].standings = &standings[q];
    }
    wfre_way way = model->settings.way;
    way.by = WFRE_BY_EMBEDDING;
    way.edge_room = 0.3;
    way.edge_sharpness = 2;
    assert_int_equal(fit(graph, model, &way, 2 * QUERIES, &monitor), WFRE_ERR_INTERRUPTED);
    assert_int_equal(way.by, WFRE_BY_EMBEDDING);
    assert_true(way.edge_room == 0.3 && way.edge_sharpness == 2);
}

/* Those who collect garbage may let go of the pool first. */
static void test_pool_goes_first(void **state)
{
    (void)state;
    wfre_pool *own;
    wfre_session *session;
    ask_half_known();
    assert_ok(wfre_pool_create(2, &own, error));
    assert_ok(wfre_session_open(graph, model, own, &session, error));
    assert_ok(wfre_rank(session, &model->settings.way, WFRE_TRAIN, queries, QUERIES, NULL, error));
    wfre_pool_free(own);
    wfre_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suit),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_memory_of_kept),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_fit_takes_edges),
        cmocka_unit_test(test_fit_room),
        cmocka_unit_test(test_fit_keeps_embedding),
        cmocka_unit_test(test_unfitted),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_fit_joined),
        cmocka_unit_test(test_fit_kinds),
        cmocka_unit_test(test_fit_alike),
        cmocka_unit_test(test_pool_goes_first),
    };
    return cmocka_run_group_tests(tests, set_up, clear_world);
}
