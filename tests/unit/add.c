/* wfre_add: the larger graph and model belong together, what was there stays as it was, a new
 * entity goes where its triples say, and nothing is written when something is wrong. */
#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "check.h"
#include "model/model.h"
#include "predict.h"
#include "toy.h"
#include "wfre/train.h"

enum { ENTITIES = 40, RELATIONS = 2, TRIPLES = 200, DIM = 20 };

static wfre_graph *graph;
static wfre_trainer *trainer;
static const wfre_model *model; /* the trainer's */
static char folder[] = "/tmp/wfre-add-XXXXXX";
static char *triples, *graph_path, *model_path;
static uint32_t steps = 40;

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
    options.steps = steps;
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

/* How many old entities the model puts before the new one as answers to r from an entity, of those
 * that answer it or of those that do not. */
static size_t nearer(const wfre_model *fitted, wfre_relation r, wfre_entity from, bool answering)
{
    predict_how how = {.model = fitted, .exhaustive = true};
    wfre_arena arena = {0};
    wfre_hit hits[ENTITIES + 1];
    predict_query query = {
        .tree = wfre_node_project(&arena, r, wfre_node_entity(&arena, from)),
        .top = ENTITIES + 1,
        .hits = hits,
    };
    size_t count = 0;
    assert_ok(predict(&how, &query, 1, error));
    for (size_t i = 0; hits[i].entity != ENTITIES; i++)
        count += wfre_graph_has(graph, WFRE_TRAIN, from, r, hits[i].entity) == answering;
    wfre_arena_free(&arena);
    return count;
}

/* A newcomer with the triples of an old entity stands before most that do not answer its questions,
 * and before hardly any answers of other questions: fewer than a copy of the old entity. */
static void a_new_entity_answers_its_questions_alone(void **state)
{
    (void)state;
    enum { TWIN = 5 };
    wfre_text text = {0};
    for (wfre_relation r = 0; r < 2 * RELATIONS; r++) {
        wfre_list others = wfre_graph_targets(graph, WFRE_TRAIN, r, TWIN);
        for (size_t i = 0; i < others.count; i++)
            if (r % 2)
                wfre_text_format(&text, "e%u\tr%u\tnew\n", others.ids[i], r / 2);
            else
                wfre_text_format(&text, "new\tr%u\te%u\n", r / 2, others.ids[i]);
    }
    size_t ahead[2] = {0}, behind[2] = {0}, own = 0, other = 0;
    for (int copy = 0; copy < 2; copy++) {
        wfre_model *fitted;
        wfre_addition report;
        assert_ok(wfre_write_file(triples, text.data, text.length, error));
        steps = copy ? 0 : 40;
        assert_int_equal(attempt(&report), WFRE_OK);
        assert_ok(wfre_model_open(model_path, &fitted, error));
        own = other = 0;
        for (wfre_relation r = 0; r < 2 * RELATIONS; r++)
            for (wfre_entity e = 0; e < ENTITIES; e++) {
                size_t answers = wfre_graph_targets(graph, WFRE_TRAIN, r, e).count;
                if (wfre_graph_has(graph, WFRE_TRAIN, e, r, TWIN)) {
                    ahead[copy] += nearer(fitted, r, e, false);
                    own++;
                } else if (answers > 0) {
                    behind[copy] += answers - nearer(fitted, r, e, true);
                    other += answers;
                }
            }
        wfre_model_free(fitted);
    }
    steps = 40;
    print_message(
        "before it: %zu in %zu questions, copied %zu; behind it: %zu of %zu, copied %zu\n",
        ahead[0], own, ahead[1], behind[0], other, behind[1]);
    assert_true(5 * ahead[0] < own * ENTITIES / 2); /* a fifth of what chance gives */
    assert_true(behind[0] < other / 50 && 2 * behind[0] < behind[1]);
    wfre_text_free(&text);
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
        cmocka_unit_test(a_new_entity_answers_its_questions_alone),
        cmocka_unit_test(wrong_input_writes_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
