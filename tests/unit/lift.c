/* src/fit/scale: questions are multiplied by the lift of their last step before they are compared,
 * and the fit finds lifts that were planted. */
#include "check.h"

#include "fit/scale.h"
#include "predict.h"
#include "star.h"
#include "world.h"

enum { ENTITIES = 500, DIM = 40, MANY = 40, FEW = 10, QUERIES = MANY + MANY + FEW };

static wfre_way way; /* as it is at the moment */
static wfre_rank_query queries[QUERIES];
static wfre_entity answers[QUERIES];
static wfre_standing standings[QUERIES];

static const wfre_node *edge(uint32_t relation, uint32_t entity)
{
    return wfre_node_project(&arena, relation, wfre_node_entity(&arena, entity));
}

/* Many projections, as many intersections, few with a complement; the anchors come first, then the
 * answers. */
static const wfre_node *question(uint32_t q)
{
    if (q < MANY)
        return edge(0, q);
    const wfre_node *other = edge(1, q + 1);
    return wfre_node_pair(&arena, WFRE_OP_INTERSECT, edge(0, q),
                          q < 2 * MANY ? other : wfre_node_negate(&arena, other));
}

/* The histogram of a question as it is compared. */
static void embed(const wfre_node *tree, wfre_union unions, float *row)
{
    float rows[4][DIM]; /* of the branches of a union */
    way.unions = unions;
    assert_int_equal(predict_embed(model, tree, &way, rows[0]), WFRE_OK);
    memcpy(row, rows[0], sizeof rows[0]);
}

static int set_up(void **state)
{
    (void)state;
    wfre_model_settings settings;
    graph = star_graph(ENTITIES);
    assert_ok(wfre_pool_create(2, &pool, error));
    wfre_model_settings_default(&settings);
    settings.dim = DIM;
    settings.bases = 2;
    settings.score.radius = 1;
    assert_ok(wfre_model_create(graph, &settings, 3, &model, error));
    way = settings.way;
    for (uint32_t q = 0; q < QUERIES; q++) {
        answers[q] = 200 + q;
        queries[q] = (wfre_rank_query){
            .tree = question(q), .hard = {&answers[q], 1}, .standings = &standings[q]};
    }
    return 0;
}

static void set_lifts(double projection, double intersection, double negation)
{
    way.lift[WFRE_LAST_PROJECTION] = projection;
    way.lift[WFRE_LAST_INTERSECTION] = intersection;
    way.lift[WFRE_LAST_NEGATION] = negation;
}

static void check_lifted(const wfre_node *tree, wfre_union unions, float lift)
{
    float plain[DIM], lifted[DIM];
    set_lifts(1, 1, 1);
    embed(tree, unions, plain);
    set_lifts(0.5, 3, 2);
    embed(tree, unions, lifted);
    for (int i = 0; i < DIM; i++)
        assert_true(lifted[i] == (plain[i] * lift < 1 ? plain[i] * lift : 1));
    set_lifts(1, 1, 1);
}

/* Only the last step counts; a complement makes an intersection another kind, however it is
 * bracketed and whatever is done about unions. */
static void test_embedding(void **state)
{
    (void)state;
    const wfre_node *nested =
        wfre_node_pair(&arena, WFRE_OP_INTERSECT, question(2 * MANY), edge(0, 5));
    const wfre_node *either = wfre_node_pair(&arena, WFRE_OP_UNION, edge(0, 1), edge(1, 2));
    const wfre_node *both = wfre_node_pair(&arena, WFRE_OP_INTERSECT, edge(0, 5), either);
    for (int unions = WFRE_UNION_DNF; unions <= WFRE_UNION_TCONORM; unions++) {
        check_lifted(question(0), (wfre_union)unions, 0.5f);
        check_lifted(question(MANY), (wfre_union)unions, 3);
        check_lifted(question(2 * MANY), (wfre_union)unions, 2);
        check_lifted(nested, (wfre_union)unions, 2);
        check_lifted(both, (wfre_union)unions, 3);
        check_lifted(wfre_node_project(&arena, 1, question(MANY)), (wfre_union)unions, 0.5f);
        check_lifted(wfre_node_entity(&arena, 7), (wfre_union)unions, 1);
        check_lifted(either, (wfre_union)unions, unions == WFRE_UNION_DNF ? 0.5f : 1);
    }
}

static void multiply(const float *row, float factor, wfre_entity entity)
{
    float *out = model->entities + (size_t)entity * DIM;
    for (int i = 0; i < DIM; i++)
        out[i] = row[i] * factor < 1 ? row[i] * factor : 1;
}

/* An answer has twice the mass of its question, or half; one decoy has just the question's, another
 * one four times it, or a quarter. */
static void plant(uint32_t q, float factor)
{
    float row[DIM];
    embed(queries[q].tree, WFRE_UNION_DNF, row);
    multiply(row, factor, answers[q]);
    multiply(row, 1, answers[q] + QUERIES);
    multiply(row, factor * factor, answers[q] + 2 * QUERIES);
}

static wfre_status fit(const wfre_rank_query *list, size_t count, wfre_pool *threads,
                       const wfre_monitor *monitor)
{
    wfre_session *session = NULL;
    wfre_status status = wfre_session_open(graph, model, threads, &session, NULL);
    if (status == WFRE_OK)
        status = wfre_lift_fit(session, &way, list, count, 0, monitor, NULL);
    wfre_session_free(session);
    return status;
}

static void test_fit(void **state)
{
    (void)state;
    for (uint32_t q = 0; q < QUERIES; q++)
        plant(q, q < MANY ? 2 : 0.5f);
    way.unions = WFRE_UNION_DNF;
    assert_int_equal(fit(queries, QUERIES, pool, NULL), WFRE_OK);
    double projection = way.lift[WFRE_LAST_PROJECTION];
    double intersection = way.lift[WFRE_LAST_INTERSECTION];
    assert_true(projection > 1.3 && projection < 3);
    assert_true(intersection >= 0.353 && intersection < 0.8);
    assert_true(way.lift[WFRE_LAST_NEGATION] == 1); /* too few */
    /* Without queries nothing is known. */
    assert_int_equal(fit(queries, 0, pool, NULL), WFRE_OK);
    assert_true(way.lift[WFRE_LAST_PROJECTION] == 1 && way.lift[WFRE_LAST_INTERSECTION] == 1);
}

static void assert_lifts_are(double a, double b, double c)
{
    assert_true(way.lift[0] == a && way.lift[1] == b && way.lift[2] == c);
}

/* What fails leaves the lifts as they were. */
static wfre_status attempt_fit(void *context)
{
    (void)context;
    set_lifts(1, 2, 3);
    wfre_status status = fit(queries, 2, NULL, NULL);
    if (status != WFRE_OK)
        assert_lifts_are(1, 2, 3);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt_fit, NULL);
}

static bool stop_on_second(void *context)
{
    return ++*(int *)context == 2;
}

/* So does what is interrupted half-way. */
static void test_interrupt(void **state)
{
    (void)state;
    enum { LONG = 3 * QUERIES }; /* more than one batch */
    static wfre_rank_query again[LONG];
    static wfre_standing own[LONG][8];
    int asked = 0;
    wfre_monitor monitor = {.interrupted = stop_on_second, .context = &asked};
    for (int q = 0; q < LONG; q++) {
        again[q] = queries[q % QUERIES];
        again[q].standings = own[q];
        assert_true(again[q].hard.count <= 8);
    }
    set_lifts(1, 2, 3);
    assert_int_equal(fit(again, LONG, pool, &monitor), WFRE_ERR_INTERRUPTED);
    assert_int_equal(asked, 2);
    assert_lifts_are(1, 2, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, clear_world);
}
