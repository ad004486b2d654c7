/* What training measures of a finished model: the triples are ranked as link prediction ranks them,
 * the model's file keeps the numbers, and a damaged text is refused. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "measure/links.h"
#include "model/measured.h"
#include "train/validation.h"
#include "wfre/eval.h"
#include "world.h"

enum { ENTITIES = 60, RELATIONS = 3, TRIPLES = 500, MANY = 10000 };

static const char GOOD[] = "version 1\nway edges\nquestions sampled\ncommit v0.1-7-gabc\n"
                           "triples 50\n"
                           "mean without_not 1 3 0.5 0.25 0.75 0.25 0.5 1\n"
                           "mean all 1 3 0.5 0.25 0.75 0.25 0.5 1\n"
                           "mean links 1 20 0.125 0.1 0.15 0 0.25 0.5\n"
                           "type 3 0.5 0.25 0.75 0.25 0.5 1 a \"type\"\n";

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(9, ENTITIES, RELATIONS, TRIPLES);
    model = toy_model(graph, 20, 2, 1);
    return 0;
}

/* ---- the text ----------------------------------------------------------------------------- */

static void text_is_kept(void **state)
{
    (void)state;
    wfre_measurement *m = NULL, *again = NULL;
    wfre_text text = {0}, second = {0};
    assert_ok(wfre_measurement_parse(GOOD, &m, error));
    assert_int_equal(m->shown.by, WFRE_BY_EDGES);
    assert_true(m->shown.sampled);
    assert_string_equal(m->shown.commit, "v0.1-7-gabc");
    assert_int_equal(m->shown.triples, 50);
    assert_int_equal(m->shown.with_not.questions, 0);
    assert_int_equal(m->shown.links.questions, 20);
    assert_true(m->shown.links.mean.mrr == 0.125 && m->shown.links.mean.hits10 == 0.5);
    assert_int_equal(m->shown.type_count, 1);
    assert_string_equal(m->shown.types[0].name, "a \"type\"");
    wfre_measurement_print(m, &text);
    assert_ok(wfre_measurement_parse(text.data, &again, error));
    wfre_measurement_print(again, &second);
    assert_string_equal(text.data, second.data);
    wfre_text_free(&text);
    wfre_text_free(&second);
    wfre_measurement_free(m);
    wfre_measurement_free(again);
}

/* The good text with its first `from` replaced. */
static void assert_refused(const char *from, const char *to)
{
    char text[sizeof GOOD + 64];
    wfre_measurement *m = NULL;
    const char *place = strstr(GOOD, from);
    assert_non_null(place);
    size_t before = (size_t)(place - GOOD);
    assert_true(before + strlen(to) + strlen(place) < sizeof text);
    memcpy(text, GOOD, before);
    strcpy(text + before, to);
    strcpy(text + before + strlen(to), place + strlen(from));
    assert_int_equal(wfre_measurement_parse(text, &m, NULL), WFRE_ERR_FORMAT);
    assert_null(m);
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const char *const CHANGES[][2] = {
        {"version 1", "version 2"},
        {"way edges", "way up"},
        {"sampled", "drawn"},
        {"v0.1-7-gabc", "v0\033[2J"},
        {"triples 50", "triples -1"},
        {"triples 50", "triples 1.5"},
        {"triples 50", "triples 1e99"},
        {"triples 50", "triples nan"},
        {"mean all", "mean some"},
        {"mean all", "mean links"},
        {"links 1 20", "links 0 20"},
        {"links 1 20", "links 1 0"},
        {"0.125", "1.125"},
        {"0.125", "0.09"},
        {"0.125", "0.2"},
        {"0.125", "inf"},
        {"0 0.25 0.5", "0.3 0.25 0.5"},
        {"0 0.25 0.5", "0 0.6 0.5"},
        {"a \"type\"", ""},
        {"a \"type\"\n", "a"},
        {"a \"type\"", "a\xff"},
        {"type 3", "kind 3"},
    };
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++)
        assert_refused(CHANGES[i][0], CHANGES[i][1]);
    for (size_t length = 0; length + 1 < sizeof GOOD; length++) {
        char text[sizeof GOOD];
        wfre_measurement *m = NULL;
        memcpy(text, GOOD, length);
        text[length] = '\0';
        wfre_status status = wfre_measurement_parse(text, &m, NULL);
        /* whole lines may be missing at the end, never parts of one */
        assert_true(status == WFRE_ERR_FORMAT || text[length - 1] == '\n');
        wfre_measurement_free(m);
    }
}

/* A name that no line can hold does not spoil the file. */
static void odd_names_are_replaced(void **state)
{
    (void)state;
    wfre_measurement *m, *again;
    wfre_text text = {0};
    wfre_measured_row row = {.name = "two\nlines", .types = 1, .questions = 1, .mrr_high = 1};
    assert_ok(wfre_measurement_create(&m, error));
    assert_ok(wfre_measurement_add(m, &row, strlen(row.name), error));
    wfre_measurement_print(m, &text);
    assert_ok(wfre_measurement_parse(text.data, &again, error));
    assert_string_equal(again->shown.types[0].name, "?");
    wfre_text_free(&text);
    wfre_measurement_free(m);
    wfre_measurement_free(again);
}

static wfre_status create(uint32_t per_type, size_t triples, wfre_validation **validation,
                          wfre_error *error)
{
    wfre_validation_options options = {
        .per_type = per_type, .triples = triples, .distinct = true, .seed = 3};
    return wfre_validation_create(graph, &options, NULL, validation, error);
}

/* ---- the numbers -------------------------------------------------------------------------- */

/* All triples, ranked one by one, give what link prediction says of the split. */
static void all_links_are_ranked(void **state)
{
    (void)state;
    wfre_links *links;
    wfre_links_options options;
    wfre_validation *validation;
    for (int by = 0; by < 2; by++) {
        model->settings.way.by = by ? WFRE_BY_EDGES : WFRE_BY_EMBEDDING;
        wfre_links_options_default(&options);
        assert_ok(wfre_evaluate_links(graph, model, &options, NULL, NULL, &links, error));
        const wfre_links_row *all = wfre_links_at(links, 0);
        assert_ok(create(5, MANY, &validation, error));
        assert_ok(wfre_validation_measure(validation, model, 0, NULL, error));
        const wfre_measured *m = wfre_model_measured(model);
        assert_int_equal(m->by, model->settings.way.by);
        assert_int_equal(m->links.questions, all->triples);
        assert_int_equal(m->links.questions, 2 * m->triples);
        assert_true(fabs(m->links.mean.mrr - all->mean.mrr) < 1e-9);
        assert_true(fabs(m->links.mean.hits10 - all->mean.hits10) < 1e-9);
        assert_true(fabs(m->links.mrr_low - all->mrr_low) < 1e-9);
        assert_int_equal(m->all.types, m->type_count);
        assert_int_equal(m->all.types, m->without_not.types + m->with_not.types);
        double sum = 0;
        for (size_t i = 0; i < m->type_count; i++)
            sum += m->types[i].mean.mrr / (double)m->type_count;
        assert_true(fabs(sum - m->all.mean.mrr) < 1e-9);
        wfre_validation_free(validation);
        wfre_links_free(links);
    }
    model->settings.way.by = WFRE_BY_EMBEDDING;
}

/* A sample has different triples of the split, each from both ends, and another seed others. */
static void samples_are_of_the_split(void **state)
{
    (void)state;
    enum { SOME = 20 };
    uint32_t taken[2] = {0, 0};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        wfre_link_sample sample = {0};
        assert_ok(wfre_link_sample_draw(graph, WFRE_VALID, SOME, seed, &sample, error));
        assert_int_equal(sample.count, 2 * SOME);
        for (size_t i = 0; i < sample.count; i += 2) {
            const wfre_node *tree = sample.queries[i].tree, *back = sample.queries[i + 1].tree;
            wfre_entity head = tree->children[0]->id, tail = back->children[0]->id;
            assert_int_equal(tree->id ^ 1, back->id);
            assert_int_equal(sample.queries[i].hard.count, 1);
            assert_int_equal(sample.queries[i].hard.ids[0], tail);
            assert_int_equal(sample.queries[i + 1].hard.ids[0], head);
            assert_true(wfre_graph_has(graph, WFRE_VALID, head, tree->id, tail));
            assert_false(wfre_graph_has(graph, WFRE_TRAIN, head, tree->id, tail));
            for (size_t k = 0; k < i; k += 2)
                assert_false(sample.queries[k].tree->id == tree->id &&
                             sample.queries[k].tree->children[0]->id == head &&
                             sample.queries[k].hard.ids[0] == tail);
            taken[seed - 1] = taken[seed - 1] * 31 + head * 7 + tail;
        }
        wfre_link_sample_free(&sample);
    }
    assert_int_not_equal(taken[0], taken[1]);
}

/* However little time there is, something is measured. */
static void little_time_is_kept(void **state)
{
    (void)state;
    wfre_validation *validation;
    assert_ok(create(50, MANY, &validation, error));
    assert_ok(wfre_validation_measure(validation, model, 1e-9, NULL, error));
    const wfre_measured *m = wfre_model_measured(model);
    assert_true(m->links.questions > 0 && m->links.questions < 2 * m->triples);
    assert_int_equal(m->all.questions, m->all.types);
    wfre_validation_free(validation);
}

static void files_keep_it(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-measured-XXXXXX";
    char *before, *after;
    wfre_model *opened;
    wfre_validation *validation;
    close(mkstemp(path));
    assert_ok(create(5, 30, &validation, error));
    assert_ok(wfre_validation_measure(validation, model, 0, NULL, error));
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_model_open(path, &opened, error));
    assert_ok(wfre_model_measured_json(model, &before, error));
    assert_ok(wfre_model_measured_json(opened, &after, error));
    assert_string_equal(before, after);
    wfre_string_free(before);
    wfre_string_free(after);
    wfre_model_free(opened);
    wfre_validation_free(validation);
    unlink(path);
}

static void nothing_is_said(void **state)
{
    (void)state;
    wfre_model *fresh = toy_model(graph, 20, 2, 1);
    char *json;
    assert_null(wfre_model_measured(fresh));
    assert_ok(wfre_model_measured_json(fresh, &json, error));
    assert_string_equal(json, "null");
    wfre_string_free(json);
    wfre_model_free(fresh);
}

static wfre_status attempt(void *context)
{
    (void)context;
    wfre_validation *validation = NULL;
    wfre_measurement *parsed = NULL;
    wfre_status status = create(1, 10, &validation, NULL);
    if (status == WFRE_OK)
        status = wfre_validation_measure(validation, model, 0, NULL, NULL);
    if (status == WFRE_OK)
        status = wfre_measurement_parse(GOOD, &parsed, NULL);
    wfre_measurement_free(parsed);
    wfre_validation_free(validation);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    sweep_allocations(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_kept),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(odd_names_are_replaced),
        cmocka_unit_test(all_links_are_ranked),
        cmocka_unit_test(samples_are_of_the_split),
        cmocka_unit_test(little_time_is_kept),
        cmocka_unit_test(files_keep_it),
        cmocka_unit_test(nothing_is_said),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear_world);
}
