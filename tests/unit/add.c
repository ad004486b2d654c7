/* wfre_add: the larger graph and model belong together, what was there stays as it was, a new
 * entity goes where its triples say, and nothing is written when something is wrong. */
#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "check.h"
#include "model/model.h"
#include "model/predict.h"
#include "toy.h"
#include "wfre/answer.h"
#include "wfre/train.h"

enum { ENTITIES = 40, RELATIONS = 2, TRIPLES = 200, DIM = 20 };

static wfre_graph *graph;
static wfre_trainer *trainer;
static const wfre_model *model; /* the trainer's */
static char folder[] = "/tmp/wfre-add-XXXXXX";
static char *triples, *graph_path, *model_path;

static int build(void **state)
{
    (void)state;
    wfre_train_settings settings;
    graph = toy_random_graph(5, ENTITIES, RELATIONS, TRIPLES);
    assert_ok(wfre_train_preset("small", graph, &settings, error));
    settings.model.dim = DIM;
    settings.model.bases = 0;
    settings.batch = 32;
    settings.negatives = 32;
    settings.steps = 500;
    for (int type = 1; type < WFRE_TRAIN_TYPES; type++)
        settings.mix[type] = 0; /* 1p alone */
    assert_ok(wfre_trainer_create(graph, &settings, NULL, &trainer, error));
    while (!wfre_trainer_done(trainer))
        assert_ok(wfre_trainer_step(trainer, error));
    model = wfre_trainer_model(trainer);
    assert_non_null(mkdtemp(folder));
    triples = wfre_path_join(folder, "new.tsv");
    graph_path = wfre_path_join(folder, "g.kg");
    model_path = wfre_path_join(folder, "m.safetensors");
    return 0;
}

static int clear(void **state)
{
    (void)state;
    unlink(triples);
    unlink(graph_path);
    unlink(model_path);
    rmdir(folder);
    wfre_free(triples);
    wfre_free(graph_path);
    wfre_free(model_path);
    wfre_trainer_free(trainer);
    wfre_graph_close(graph);
    return 0;
}

static wfre_status attempt(void *context)
{
    wfre_add_options options;
    wfre_add_options_default(&options);
    options.triples = triples;
    options.graph = graph_path;
    options.model = model_path;
    return wfre_add(graph, model, &options, NULL, NULL, context, NULL);
}

static wfre_status add(const char *text, wfre_addition *report)
{
    assert_ok(wfre_write_file(triples, text, strlen(text), error));
    return attempt(report);
}

static void what_was_there_stays(void **state)
{
    (void)state;
    wfre_addition report;
    wfre_graph *larger;
    wfre_model *fitted;
    assert_int_equal(add("new\tr0\te1\nnew\tr0\te2\ne3\tr1\tnew\n", &report), WFRE_OK);
    assert_int_equal(report.entities, 1);
    assert_int_equal(report.triples, 3);
    assert_ok(wfre_graph_open(graph_path, &larger, error));
    assert_ok(wfre_model_open(model_path, &fitted, error));
    assert_ok(wfre_model_check_graph(fitted, larger, error));
    assert_int_equal(wfre_graph_entities(larger), ENTITIES + 1);
    for (wfre_entity e = 0; e < ENTITIES; e++) {
        wfre_name a = wfre_graph_entity_name(graph, e), b = wfre_graph_entity_name(larger, e);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.bytes, b.bytes, a.length);
    }
    for (int split = 0; split < WFRE_SPLITS; split++)
        assert_int_equal(wfre_graph_triples(larger, (wfre_split)split),
                         wfre_graph_triples(graph, (wfre_split)split) + 3);
    assert_true(wfre_graph_has(larger, WFRE_TRAIN, ENTITIES, 0, 2));
    assert_memory_equal(fitted->entities, model->entities, ENTITIES * DIM * sizeof(float));
    for (uint32_t t = 1; t < model->tensor_count; t++)
        assert_memory_equal(fitted->tensors[t].data, model->tensors[t].data,
                            model->tensors[t].count * sizeof(float));
    for (size_t i = 0; i < DIM; i++) {
        float x = fitted->entities[ENTITIES * DIM + i];
        assert_true(x >= 0 && x <= 1);
    }
    wfre_model_free(fitted);
    wfre_graph_close(larger);
}

/* Where the new entity stands among all answers that the model gives to a question; 0 is first. */
static size_t place(const wfre_model *fitted, const wfre_node *tree)
{
    wfre_predictor *predictor;
    wfre_hit hits[ENTITIES + 1];
    wfre_predict_query query = {.tree = tree, .top = ENTITIES + 1, .hits = hits};
    size_t at = 0;
    assert_ok(wfre_predictor_create(fitted, NULL, &predictor, error));
    assert_ok(wfre_predict(predictor, &query, 1, true, error));
    while (hits[at].entity != ENTITIES)
        at++;
    wfre_predictor_free(predictor);
    return at;
}

/* A newcomer with the triples of an old entity stands high where that one is the answer. */
static void a_new_entity_answers_its_questions(void **state)
{
    (void)state;
    enum { TWIN = 5 };
    wfre_addition report;
    wfre_model *fitted;
    wfre_arena arena = {0};
    wfre_text text = {0};
    size_t sum = 0, questions = 0;
    for (wfre_relation r = 0; r < 2 * RELATIONS; r++) {
        wfre_list others = wfre_graph_targets(graph, WFRE_TRAIN, r, TWIN);
        for (size_t i = 0; i < others.count; i++)
            if (r % 2)
                wfre_text_format(&text, "e%u\tr%u\tnew\n", others.ids[i], r / 2);
            else
                wfre_text_format(&text, "new\tr%u\te%u\n", r / 2, others.ids[i]);
    }
    assert_int_equal(add(text.data, &report), WFRE_OK);
    assert_ok(wfre_model_open(model_path, &fitted, error));
    for (wfre_relation r = 0; r < 2 * RELATIONS; r++) {
        wfre_list others = wfre_graph_targets(graph, WFRE_TRAIN, r, TWIN);
        for (size_t i = 0; i < others.count; i++, questions++)
            sum += place(fitted,
                         wfre_node_project(&arena, r ^ 1, wfre_node_entity(&arena, others.ids[i])));
    }
    print_message("mean place %.1f\n", (double)sum / (double)questions);
    assert_true(sum < questions * ENTITIES / 8); /* a quarter of what chance gives */
    wfre_text_free(&text);
    wfre_model_free(fitted);
    wfre_arena_free(&arena);
}

static void wrong_input_writes_nothing(void **state)
{
    (void)state;
    wfre_addition report;
    unlink(graph_path);
    unlink(model_path);
    assert_int_equal(add("new\tunheard\te1\n", &report), WFRE_ERR_NOT_FOUND);
    assert_int_equal(add("new\tr0\n", &report), WFRE_ERR_FORMAT);
    assert_false(wfre_file_exists(graph_path));
    assert_false(wfre_file_exists(model_path));
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char ONE[] = "new\tr0\te1\n";
    wfre_addition report;
    assert_ok(wfre_write_file(triples, ONE, sizeof ONE - 1, error));
    sweep_allocations(attempt, &report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_stays),
        cmocka_unit_test(a_new_entity_answers_its_questions),
        cmocka_unit_test(wrong_input_writes_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
