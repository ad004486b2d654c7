/* src/model/family.h with a second family, which only this test has: points that relations move.
 * An entity is a point, a projection adds the relation's vector, an intersection is the mean of its
 * arguments, a complement the point on the other side of the origin, and the distance that of L2.
 * It is trained, asked and its gradients are checked by the code that runs WFRE. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "model/run.h"
#include "toy.h"
#include "train/trainer.h"
#include "wfre/answer.h"

enum { DIM = 10, ENTITIES = 60, RELATIONS = 4 };

/* ---- the family --------------------------------------------------------------------------- */

static wfre_status check(const wfre_model_settings *settings, wfre_error *error)
{
    if (settings->score.kind == WFRE_SCORE_L2)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "score: points take l2 only");
}

static uint32_t shapes(const wfre_model_settings *settings, uint32_t relation_count,
                       wfre_tensor *tensors)
{
    tensors[0] = wfre_tensor_shape("moves", 2, relation_count, settings->dim, 1);
    tensors[0].summed = true;
    return 1;
}

static void initialise(wfre_model *model, uint64_t seed)
{
    for (uint32_t t = 0; t < model->tensor_count; t++) {
        wfre_rng rng = wfre_rng_for(seed, WFRE_FOR_WEIGHTS, t, 0);
        for (size_t i = 0; i < model->tensors[t].count; i++)
            model->tensors[t].data[i] = 0.3f * (float)wfre_rng_normal(&rng);
    }
}

static wfre_status distance(const wfre_model_settings *settings, wfre_score **score,
                            wfre_error *error)
{
    wfre_score_settings scored = settings->score;
    scored.dimension = settings->dim;
    return wfre_score_create(&scored, score, error);
}

static void entity_forward(const wfre_vector_table *vectors, size_t dim, const float *stored,
                           float *row)
{
    (void)vectors;
    memcpy(row, stored, dim * sizeof *row);
}

static void entity_backward(size_t dim, const float *stored, float *gradient)
{
    (void)dim, (void)stored, (void)gradient;
}

static wfre_status project_forward(wfre_pass *pass, const wfre_program_level *level,
                                   wfre_error *error)
{
    (void)error;
    for (uint32_t row = level->project_begin; row < level->project_end; row++) {
        const float *x = wfre_pass_row(pass, wfre_pass_child(pass, row));
        const float *move = pass->model->tensors[1].data +
                            (size_t)pass->program->relations[pass->program->id[row]] * DIM;
        for (size_t i = 0; i < DIM; i++)
            pass->rows[row * DIM + i] = x[i] + move[i];
    }
    return WFRE_OK;
}

static wfre_status project_backward(wfre_pass *pass, const wfre_program_level *level,
                                    const wfre_tensor *gradients, wfre_error *error)
{
    (void)error;
    for (uint32_t row = level->project_begin; row < level->project_end; row++) {
        size_t relation = pass->program->relations[pass->program->id[row]];
        const float *dz = wfre_pass_gradient(pass, row);
        pass->vectors->axpy(DIM, 1, dz, wfre_pass_gradient(pass, wfre_pass_child(pass, row)));
        pass->vectors->axpy(DIM, 1, dz, gradients[0].data + relation * DIM);
    }
    return WFRE_OK;
}

static void negate_forward(const wfre_pass *pass, uint32_t row)
{
    const float *x = wfre_pass_row(pass, wfre_pass_child(pass, row));
    for (size_t i = 0; i < DIM; i++)
        pass->rows[row * DIM + i] = -x[i];
}

static void negate_backward(const wfre_pass *pass, uint32_t row, unsigned worker)
{
    (void)worker;
    pass->vectors->axpy(DIM, -1, wfre_pass_gradient(pass, row),
                        wfre_pass_gradient(pass, wfre_pass_child(pass, row)));
}

static void intersect_forward(const wfre_pass *pass, uint32_t row)
{
    const uint32_t *begin = pass->program->child_begin;
    float *z = pass->rows + (size_t)row * DIM;
    memset(z, 0, DIM * sizeof *z);
    for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
        pass->vectors->axpy(DIM, 1 / (float)(begin[row + 1] - begin[row]),
                            wfre_pass_row(pass, pass->program->children[i]), z);
}

static void intersect_backward(const wfre_pass *pass, uint32_t row, unsigned worker)
{
    (void)worker;
    const uint32_t *begin = pass->program->child_begin;
    for (uint32_t i = begin[row]; i < begin[row + 1]; i++)
        pass->vectors->axpy(DIM, 1 / (float)(begin[row + 1] - begin[row]),
                            wfre_pass_gradient(pass, row),
                            wfre_pass_gradient(pass, pass->program->children[i]));
}

static const wfre_family points = {
    .name = "points",
    .check = check,
    .shapes = shapes,
    .initialise = initialise,
    .distance = distance,
    .entity = {entity_forward, entity_backward},
    .project = {project_forward, project_backward},
    .intersect = {intersect_forward, intersect_backward},
    .negate = {negate_forward, negate_backward},
};

static wfre_model_settings settings_of_points(void)
{
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.family = &points;
    settings.dim = DIM;
    settings.score.kind = WFRE_SCORE_L2;
    settings.score.block = DIM;
    settings.rho = 10;
    return settings;
}

/* ---- tests -------------------------------------------------------------------------------- */

/* moves(1, not moves(0, e3)) and moves(2, e5), and not e7 */
static const wfre_node *question(wfre_arena *arena)
{
    const wfre_node *children[3] = {
        wfre_node_project(
            arena, 1,
            wfre_node_negate(arena, wfre_node_project(arena, 0, wfre_node_entity(arena, 3)))),
        wfre_node_project(arena, 2, wfre_node_entity(arena, 5)),
        wfre_node_negate(arena, wfre_node_entity(arena, 7)),
    };
    return wfre_node_make(arena, WFRE_OP_INTERSECT, WFRE_NONE, children, 3);
}

/* The sum of (i + 1) times number i of the question's row. */
static double objective(wfre_run *run, const wfre_program *program)
{
    double sum = 0;
    assert_ok(wfre_run_forward(run, program, NULL, error));
    for (uint32_t i = 0; i < DIM; i++)
        sum += (i + 1) * (double)wfre_run_row(run, program->roots[0])[i];
    return sum;
}

static double slope(wfre_run *run, const wfre_program *program, float *parameter)
{
    float kept = *parameter, step = 1.0f / 64;
    *parameter = kept + step;
    double high = objective(run, program);
    *parameter = kept - step;
    double low = objective(run, program);
    *parameter = kept;
    return (high - low) / (2 * (double)step);
}

static void test_gradients(void **state)
{
    (void)state;
    wfre_model_settings settings = settings_of_points();
    wfre_graph *graph = toy_random_graph(3, ENTITIES, RELATIONS, 600);
    wfre_arena arena = {0};
    wfre_program program = {0};
    wfre_tensor gradients[WFRE_MAXIMUM_TENSORS];
    wfre_linalg *linalg;
    wfre_model *model;
    wfre_run *run;
    assert_ok(wfre_linalg_create(NULL, WFRE_ISA_REFERENCE, &linalg, error));
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    assert_int_equal(model->tensor_count, 2);
    const wfre_node *tree = question(&arena);
    assert_ok(wfre_program_compile(&program, &tree, 1, WFRE_UNION_DNF, error));
    assert_ok(wfre_run_create(model, NULL, linalg, WFRE_FP32, &run, error));
    assert_ok(wfre_parameters_allocate(model, gradients, error));
    gradients[0].data[0] = 1e6f; /* is overwritten */
    (void)objective(run, &program);
    for (uint32_t i = 0; i < DIM; i++)
        wfre_run_gradient(run, program.roots[0])[i] = (float)(i + 1);
    assert_ok(wfre_run_backward(run, gradients, error));
    float of_entities[ENTITIES * DIM] = {0};
    for (uint32_t row = 0; row < program.leaf_count; row++)
        for (uint32_t i = 0; i < DIM; i++)
            of_entities[program.id[row] * DIM + i] += wfre_run_gradient(run, row)[i];
    double largest = 0;
    for (size_t i = 0; i < model->tensors[1].count; i++) {
        double s = slope(run, &program, &model->tensors[1].data[i]);
        assert_true(fabs(s - (double)gradients[0].data[i]) < 1e-3);
        largest = fmax(largest, fabs(s));
    }
    for (size_t i = 0; i < (size_t)ENTITIES * DIM; i++) {
        double s = slope(run, &program, &model->entities[i]);
        assert_true(fabs(s - (double)of_entities[i]) < 1e-3);
    }
    assert_true(largest > 1); /* there was something to compare */
    wfre_parameters_free(gradients);
    wfre_run_free(run);
    wfre_program_free(&program);
    wfre_model_free(model);
    wfre_graph_close(graph);
    wfre_linalg_free(linalg);
    wfre_arena_free(&arena);
}

/* A trained model of points: its loss falls, and more than one number of threads gives one result.
 */
static void train(const wfre_graph *graph, unsigned threads, wfre_trainer **trainer, double *first,
                  double *last)
{
    wfre_train_settings s;
    wfre_pool *pool = NULL;
    assert_ok(wfre_train_preset("small", NULL, &s, error));
    s.model = settings_of_points();
    s.guide = WFRE_GUIDE_SCORE;
    s.candidates = WFRE_CANDIDATES_OWN;
    s.relation_loss = 0;
    s.bounded = false;
    s.mass = 0;
    s.drop_input = s.drop_basis = s.drop_negation = 0;
    s.batch = 32;
    s.negatives = 16;
    s.steps = 60;
    s.rate_entities = s.rate_layers = 0.02;
    if (threads > 1)
        assert_ok(wfre_pool_create(threads, &pool, error));
    assert_ok(wfre_trainer_create(graph, &s, pool, trainer, error));
    *first = *last = 0;
    for (int i = 0; i < 60; i++) {
        assert_ok(wfre_trainer_step(*trainer, error));
        *(i < 10 ? first : last) += i < 10 || i >= 50 ? (*trainer)->last_loss / 10 : 0;
    }
    (*trainer)->pool = NULL; /* it takes no more steps */
    wfre_pool_free(pool);
}

static void test_training(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(3, ENTITIES, RELATIONS, 600);
    wfre_trainer *one, *two;
    double first, last, again;
    train(graph, 1, &one, &first, &last);
    print_message("loss %g, then %g\n", first, last);
    assert_true(last < 0.9 * first);
    train(graph, 2, &two, &first, &again);
    assert_memory_equal(&last, &again, sizeof last);
    for (uint32_t t = 0; t < one->model->tensor_count; t++)
        assert_memory_equal(one->model->tensors[t].data, two->model->tensors[t].data,
                            one->model->tensors[t].count * sizeof(float));
    wfre_trainer_free(one);
    wfre_trainer_free(two);
    wfre_graph_close(graph);
}

/* Its file says its name; who does not know that family says so instead of guessing. */
static void test_file(void **state)
{
    (void)state;
    wfre_model_settings settings = settings_of_points();
    wfre_graph *graph = toy_random_graph(3, ENTITIES, RELATIONS, 600);
    wfre_model *model, *read;
    wfre_error why = {0};
    char path[] = "/tmp/wfre_family_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    assert_ok(wfre_model_save(model, path, false, error));
    assert_int_equal(wfre_model_open(path, &read, &why), WFRE_ERR_FORMAT);
    assert_non_null(strstr(why.message, "the family 'points'"));
    wfre_model_free(model);

    wfre_model_settings_default(&settings); /* the known one opens */
    settings.dim = DIM;
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_model_open(path, &read, error));
    assert_ptr_equal(wfre_family_of(wfre_model_get_settings(read)), &wfre_family_wfre);
    wfre_model_free(read);
    wfre_model_free(model);

    settings = settings_of_points(); /* a family checks its own settings */
    settings.score.kind = WFRE_SCORE_WFR;
    assert_int_equal(wfre_model_create(graph, &settings, 1, &model, &why), WFRE_ERR_ARGUMENT);
    assert_non_null(strstr(why.message, "points take l2"));
    assert_int_equal(remove(path), 0);
    wfre_graph_close(graph);
}

/* Asked by embedding, the predictions are the points nearest to where the relation leads; asked by
 * edges they are the likeliest ends of the edge, in the same order. */
static void test_asking(void **state)
{
    (void)state;
    static const wfre_answering ways[] = {WFRE_BY_EMBEDDING, WFRE_BY_EDGES};
    wfre_model_settings settings = settings_of_points();
    settings.way.edge_room = 0; /* the distance alone */
    wfre_graph *graph = toy_random_graph(3, ENTITIES, RELATIONS, 600);
    wfre_model *model;
    wfre_engine *engine;
    wfre_session *session;
    wfre_question question = {0};
    wfre_query *query;
    static const char text[] = "?x : r1(e5, ?x)";
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_LOGIC, text, strlen(text), &query, error));
    assert_ok(wfre_model_create(graph, &settings, 1, &model, error));
    assert_ok(wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, error));
    assert_ok(wfre_session_create(engine, NULL, &session, error));
    wfre_ask_options_default(&question.options);
    question.query = query;
    question.options.top = 10;
    question.options.split = WFRE_TRAIN;
    for (int w = 0; w < 2; w++) {
        wfre_answers *answers;
        wfre_way way = wfre_engine_way(engine);
        way.by = ways[w];
        question.options.way = &way;
        assert_ok(wfre_session_ask(session, &question, 1, NULL, &answers, error));
        assert_int_equal(answers->status, WFRE_OK);
        assert_int_equal(answers->predicted_count, 10);
        double nearest = 0;
        for (size_t k = 0; k < answers->predicted_count; k++) {
            const float *from = model->entities + 5 * DIM;
            const float *to = model->entities + (size_t)answers->predicted[k].entity * DIM;
            const float *move = model->tensors[1].data + (size_t)2 * DIM; /* r1 forwards */
            double sum = 0;
            for (size_t i = 0; i < DIM; i++)
                sum += pow((double)from[i] + (double)move[i] - (double)to[i], 2);
            assert_true(sum >= nearest - 1e-6);
            nearest = sum;
        }
        wfre_answers_free(answers);
    }
    wfre_session_free(session);
    wfre_engine_unref(engine);
    wfre_query_free(query);
    wfre_model_free(model);
    wfre_graph_close(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
