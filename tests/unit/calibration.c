/* src/model/calibration: probabilities learned from queries whose truth is made up, so that it is
 * known; their way through a model file; damaged text; memory. */
#include "model/calibration.h"
#include "fit/bend.h"
#include "fit/logistic.h"
#include "fit/probability.h"
#include "fit/reliability.h"
#include "infer/probability.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "check.h"
#include "predict.h"
#include "query/types.h"
#include "toy.h"

enum { ENTITIES = 300, RELATIONS = 3, TRIPLES = 1500, TOP = WFRE_CALIBRATION_DEPTH };

static wfre_graph *graph;
static wfre_model *model;
static char folder[] = "/tmp/wfre-calibration-XXXXXX";
static char *queries, *saved;

static predict_query question(wfre_arena *arena, wfre_relation relation, wfre_entity entity,
                              wfre_hit *hits)
{
    const wfre_node *tree = wfre_node_project(arena, relation, wfre_node_entity(arena, entity));
    return (predict_query){.tree = tree, .top = TOP, .hits = hits};
}

/* An entity that is none of the hits. */
static wfre_entity another(const wfre_hit *hits)
{
    for (wfre_entity e = 0;; e++) {
        bool hit = false;
        for (size_t i = 0; i < TOP; i++)
            hit |= hits[i].entity == e;
        if (!hit)
            return e;
    }
}

/* 1p queries along relation 0, of which every other has its best prediction as its hard answer;
 * along relation 2 turned round (as 2p), of which all have. */
static void write_queries(void)
{
    predict_how how = {.model = model, .exhaustive = true};
    FILE *file = fopen(queries, "w");
    assert_non_null(file);
    wfre_arena arena = {0};
    wfre_hit hits[TOP];
    for (wfre_entity e = 0; e < ENTITIES; e++) {
        predict_query q = question(&arena, 0, e, hits);
        assert_ok(predict(&how, &q, 1, error));
        fprintf(file, "1p\t(p,#0,(e,#%u))\t\t%u\n", e, e % 2 ? hits[0].entity : another(hits));
        q = question(&arena, 2, e, hits);
        q.tree = wfre_node_project(&arena, 1, q.tree);
        assert_ok(predict(&how, &q, 1, error));
        fprintf(file, "2p\t(p,#1,(p,#2,(e,#%u)))\t\t%u\n", e, hits[0].entity);
    }
    wfre_arena_free(&arena);
    fclose(file);
}

static int build(void **state)
{
    (void)state;
    graph = toy_random_graph(3, ENTITIES, RELATIONS, TRIPLES);
    model = toy_model(graph, 20, 4, 3);
    assert_non_null(mkdtemp(folder));
    queries = wfre_path_join(folder, "q.tsv");
    saved = wfre_path_join(folder, "m.safetensors");
    write_queries();
    return 0;
}

static int clear(void **state)
{
    (void)state;
    unlink(queries);
    unlink(saved);
    rmdir(folder);
    wfre_free(queries);
    wfre_free(saved);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return 0;
}

/* Mean probability of the hit at `index` over all entities, which falls with the index. */
static double mean_probability(const wfre_model *m, const char *shape, size_t index)
{
    predict_how how = {.model = m, .exhaustive = true};
    wfre_arena arena = {0};
    wfre_hit hits[TOP];
    double sum = 0;
    for (wfre_entity e = 0; e < ENTITIES; e++) {
        predict_query q = question(&arena, strcmp(shape, "2p") == 0 ? 2 : 0, e, hits);
        if (strcmp(shape, "2p") == 0)
            q.tree = wfre_node_project(&arena, 1, q.tree);
        assert_ok(predict(&how, &q, 1, error));
        wfre_judged of = {m, &m->settings.way, q.by, q.tree, shape, 0};
        wfre_calibration_view view = wfre_calibration_view_of(&of, hits, q.hit_count);
        double last = 1;
        for (size_t i = 0; i < TOP; i++) {
            double p = wfre_calibration_chance(&view, hits, i).missing;
            assert_true(p >= 0 && p <= last);
            last = p;
            sum += i == index ? p : 0;
        }
    }
    wfre_arena_free(&arena);
    return sum / ENTITIES;
}

static void learns_what_is_true(void **state)
{
    (void)state;
    wfre_hit hit = {0, 0};
    wfre_node tree = {.op = WFRE_OP_PROJECT};
    wfre_judged of = {model, &model->settings.way, &wfre_by_embedding, &tree, "1p", 0};
    wfre_calibration_view view = wfre_calibration_view_of(&of, &hit, 1);
    assert_true(isnan(wfre_calibration_chance(&view, &hit, 0).missing));
    assert_null(wfre_model_missing_reliability(model));
    assert_ok(wfre_calibrate(graph, model, queries, NULL, NULL, error));
    assert_true(fabs(mean_probability(model, "1p", 0) - 0.5) < 0.1);
    assert_true(mean_probability(model, "2p", 0) > 0.85);
    assert_true(mean_probability(model, "1p", 4) < 0.1);
    double unknown = mean_probability(model, "3i", 0); /* judged by all shapes together */
    assert_true(unknown > 0.4 && unknown < 0.9);
    const wfre_reliability *reliability = wfre_model_missing_reliability(model);
    assert_int_equal(reliability->queries, 2 * (ENTITIES / 3));
    assert_true(reliability->error < 0.05);
    uint64_t count = 0;
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        count += reliability->bins[b].count;
    assert_int_equal(count, 10 * reliability->queries);
}

static void survives_a_file(void **state)
{
    (void)state;
    wfre_model *again;
    assert_ok(wfre_calibrate(graph, model, queries, NULL, NULL, error));
    assert_ok(wfre_model_save(model, saved, false, error));
    assert_ok(wfre_model_open(saved, &again, error));
    assert_true(mean_probability(model, "2p", 1) == mean_probability(again, "2p", 1));
    assert_memory_equal(wfre_model_missing_reliability(model),
                        wfre_model_missing_reliability(again), sizeof(wfre_reliability));
    wfre_model_free(again);
}

/* A bend is exactly what it is fitted to: here nothing is likelier than CEILING, which a straight
 * line cannot say. Samples that are set apart tell whether it is right. */
static void bends_where_promises_are_wrong(void **state)
{
    (void)state;
    enum { COUNT = 60000, HEIGHTS = 12 };
    static const double CEILING = 0.4;
    static wfre_sample samples[COUNT];
    wfre_bend bend;
    double expected[HEIGHTS] = {0}, found[HEIGHTS] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        wfre_rng rng = wfre_rng_for(1, WFRE_FOR_DATA, i, 0);
        double logit = -5 + 8 * wfre_rng_double(&rng);
        double truth = fmin(1 / (1 + exp(-logit)), CEILING);
        samples[i] = (wfre_sample){.offset = logit,
                                   .weight = 1,
                                   .apart = i % 3 == 0,
                                   .answer = wfre_rng_double(&rng) < truth};
        samples[i].shape = (uint32_t)((logit + 5) / 8 * HEIGHTS); /* kept here */
    }
    assert_ok(wfre_bend_fit(samples, COUNT, 4, &bend, error));
    for (size_t i = 0; i < COUNT; i++)
        if (samples[i].apart) {
            expected[samples[i].shape] += 1 / (1 + exp(-samples[i].offset));
            found[samples[i].shape] += samples[i].answer;
        }
    for (int h = 0; h < HEIGHTS; h++) /* 1667 samples each: four deviations of chance */
        assert_true(fabs(expected[h] - found[h]) < 80);
    for (int i = 0; i <= WFRE_BEND_KNOTS; i++)
        assert_true(bend.slopes[i] >= 0.0999);
    assert_true(wfre_bend_at(&bend, 1) > wfre_bend_at(&bend, 0));
}

/* Right ones are drawn ten times as often as wrong ones; weights make up for it. */
static void makes_up_for_what_is_drawn_more_often(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    static const double START = -2, SLOPE = 1.5, SHARE = 0.1;
    static const int sign[WFRE_LOGISTIC_TERMS] = {0};
    static wfre_sample samples[COUNT];
    static wfre_judgement list[COUNT];
    size_t drawn = 0;
    double all = 0, right = 0;
    for (size_t i = 0; i < COUNT; i++) {
        wfre_rng rng = wfre_rng_for(2, WFRE_FOR_DATA, i, 0);
        double x = -3 + 6 * wfre_rng_double(&rng), q = 1 / (1 + exp(-START - SLOPE * x));
        bool answer = wfre_rng_double(&rng) < q;
        right += answer;
        all += q;
        if (!answer && wfre_rng_double(&rng) > SHARE)
            continue;
        double weight = answer ? 1 : 1 / SHARE;
        samples[drawn] = (wfre_sample){.terms = {1, x}, .weight = weight, .answer = answer};
        list[drawn] = (wfre_judgement){q, weight, (uint32_t)drawn, answer};
        drawn++;
    }
    wfre_logistic l = {.terms = 2, .samples = samples, .count = drawn, .penalty = 4};
    double factors[WFRE_LOGISTIC_TERMS] = {0};
    wfre_logistic_measure(&l);
    wfre_logistic_fit(&l, 0, sign, factors);
    assert_true(fabs(factors[0] - START) < 0.1 && fabs(factors[1] - SLOPE) < 0.1);
    wfre_reliability r;
    assert_ok(wfre_reliability_of(list, drawn, 0, 1, &r, error));
    assert_true(fabs(r.expected / all - 1) < 0.03 && (double)r.found == right);
    assert_true(r.error < 0.02);
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        assert_true(fabs(r.bins[b].observed - r.bins[b].predicted) < 0.03);
}

static void stays_straight_without_answers(void **state)
{
    (void)state;
    wfre_sample samples[3] = {
        {.offset = -2, .weight = 1}, {.weight = 1}, {.offset = 3, .weight = 1, .apart = true}};
    wfre_bend bend;
    for (size_t count = 0; count <= 3; count += 3) {
        assert_ok(wfre_bend_fit(samples, count, 4, &bend, error));
        assert_true(wfre_bend_at(&bend, -7.5) == -7.5 && wfre_bend_at(&bend, 2) == 2);
        assert_true(samples[2].offset == 3);
    }
}

/* Texts of before say nothing of bends; one that falls, or that is no bend, is refused. */
static void reads_bends(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool good;
    } CASES[] = {
        {"", true},
        {"bend 1 0.5 -4 -3 -2 -1 0 1 2 3 2 0.5 0.5\n", true},
        {"bend 1 0.5 -4 -3 -2 -1 0 1 2 0 2 0.5 0.5\n", false},
        {"bend 1 0.5 -4 -3 -5 -1 0 1 2 3 2 0.5 0.5\n", false},
        {"bend 3 0.5 -4 -3 -2 -1 0 1 2 3 2 0.5 0.5\n", false},
        {"bend 0.5 0.5 -4 -3 -2 -1 0 1 2 3 2 0.5 0.5\n", false},
        {"bend 1 0.5 -4 -3 -2 -1 0 1 2 3 2 0.5\n", false},
        {"bend 1 nan -4 -3 -2 -1 0 1 2 3 2 0.5 0.5\n", false},
        {"bend 1 0.5 -4 -3 -2 -1 0 1 2 3e9 2 0.5 0.5\n", false},
        {"bend 1 -1e308 -4 -3 -2 -1 0 1 2 3 2 0.5 0.5\n", false},
        {"edges 0 1e300 0 0 0 0 1 0 0 0\n", false},
        {"share 0.1 1e300 1\n", false},
        {"share 0.1 -2 -3\n", true},
        {"share 0.1 -2 -3 0.2 0.1 0.1\n", true},
        {"share 0.1 -2 -3 0.2 0.1\n", true}, /* what is not said is not known */
        {"share 0.1 -2 -3 0.2 1 0.1\n", false},
        {"share 0.1 -2 -3 0.2 0.1 -0.1\n", false},
        {"share 0.1 -2 -3 0.2 0.1 0.1 0.1\n", false},
        {"rates 1 1e300 1\n", false}, /* no float */
        {"rates 1.5 1 1 1\n", false},
        {"rates -1 1 1\n", false},
        {"rates 1e300 1 1\n", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        wfre_text text = {0};
        wfre_calibration *c = NULL;
        wfre_error error = {0};
        wfre_text_format(&text,
                         "version 2\nshare 0.1 -2 -3\nedges 0 1 0 0 0 0 1 0 0 0\n%s"
                         "any 1 1 0 0 0 1 1",
                         CASES[i].line);
        for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
            wfre_text_add(&text, " 0 0 0");
        wfre_text_add(&text, "\nshape * 0 1 0 0 0 0 0\n");
        wfre_status status = wfre_calibration_parse(text.data, &c, &error);
        assert_int_equal(status, CASES[i].good ? WFRE_OK : WFRE_ERR_FORMAT);
        if (c) /* by hand: 0.5 - 4 + 2 + 3 + 2 + 0.5 * 3 */
            assert_true(wfre_bend_at(&c->bends[1], 2) == (CASES[i].line[0] == 'b' ? 5 : 2));
        wfre_calibration_free(c);
        wfre_text_free(&text);
    }
}

/* From version 4 on, all that splits lack is said. */
static void wants_what_splits_lack(void **state)
{
    (void)state;
    static const char *const LINES[] = {"share 0.1 -2 -3 0.2 0.1 0.1", "share 0.1 -2 -3 0.2 0.1",
                                        "share 0.1 -2 -3"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        for (int version = 3; version <= 4; version++) {
            wfre_text text = {0};
            wfre_calibration *c = NULL;
            wfre_error why;
            wfre_text_format(&text, "version %d\n%s\nany 1 1 0 0 0 1 1", version, LINES[i]);
            for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
                wfre_text_add(&text, " 0 0 0");
            wfre_text_add(&text, "\nshape * 0 1 0 0 0 0 0\n");
            wfre_status status = wfre_calibration_parse(text.data, &c, &why);
            assert_int_equal(status, version == 3 || i == 0 ? WFRE_OK : WFRE_ERR_FORMAT);
            wfre_calibration_free(c);
            wfre_text_free(&text);
        }
}

static void tells_what_a_split_lacks(void **state)
{
    (void)state;
    wfre_calibration known = {.lacking = {0.3, 0.2, 0.1}};
    wfre_model asked = {.calibration = &known}, unknown = {.calibration = NULL};
    wfre_way plain = {.missing_rate = 0}, set = {.missing_rate = 0.5};
    assert_true(wfre_missing_rate(&asked, &plain, WFRE_TRAIN, 0) == 0.3);
    assert_true(wfre_missing_rate(&asked, &plain, WFRE_TEST, 0) == 0.1);
    assert_true(wfre_missing_rate(&asked, &set, WFRE_TEST, 0) == 0.5);
    assert_true(wfre_missing_rate(&asked, &set, WFRE_TEST, 0.7) == 0.7);
    assert_true(wfre_missing_rate(&unknown, &plain, WFRE_TRAIN, 0) == 0);
    assert_true(wfre_missing_rate(NULL, &plain, WFRE_TRAIN, 0) == 0);
    for (int split = -1; split < 9; split += 4) /* -1, 3, 7 */
        assert_true(wfre_missing_rate(&asked, &plain, (wfre_split)split, 0) == 0);
}

static void versions_that_are_none(void **state)
{
    (void)state;
    static const char *const VERSIONS[] = {"version 1000\n", "version -3\n",
                                           "version 99999999999999999999999\n", "version 3x\n",
                                           "version 5\n"};
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        wfre_text text = {0};
        wfre_calibration *c = NULL;
        wfre_text_format(&text, "%sany 1 1 0 0 0 1 1", VERSIONS[i]);
        for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
            wfre_text_add(&text, " 0 0 0");
        wfre_text_add(&text, "\nshape * 0 1 0 0 0 0 0\n");
        assert_int_equal(wfre_calibration_parse(text.data, &c, NULL), WFRE_ERR_FORMAT);
        wfre_calibration_free(c);
        wfre_text_free(&text);
    }
}

/* Any text is refused or harmless. */
static void damaged_text(void **state)
{
    (void)state;
    wfre_text text = {0};
    wfre_calibration *again;
    assert_ok(wfre_calibrate(graph, model, queries, NULL, NULL, error));
    wfre_calibration_print(model->calibration, &text);
    for (size_t at = 0; at < text.length; at++) {
        char kept = text.data[at];
        for (const char *c = "\n 9x";; c++) {
            text.data[at] = *c; /* at last the end of the text */
            wfre_status status = wfre_calibration_parse(text.data, &again, NULL);
            if (status == WFRE_OK)
                wfre_calibration_free(again);
            else
                assert_int_equal(status, WFRE_ERR_FORMAT);
            if (!*c)
                break;
        }
        text.data[at] = kept;
    }
    wfre_text_free(&text);
}

static wfre_status calibrate(void *context)
{
    (void)context;
    return wfre_calibrate(graph, model, queries, NULL, NULL, NULL);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char ONE[] = "1p\t(p,#0,(e,#1))\t\t5\n";
    assert_ok(wfre_write_file(queries, ONE, sizeof ONE - 1, error));
    sweep_allocations(calibrate, NULL);
    assert_ok(wfre_write_file(queries, "# none\n", 7, error));
    assert_int_equal(calibrate(NULL), WFRE_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_what_is_true),
        cmocka_unit_test(survives_a_file),
        cmocka_unit_test(bends_where_promises_are_wrong),
        cmocka_unit_test(makes_up_for_what_is_drawn_more_often),
        cmocka_unit_test(stays_straight_without_answers),
        cmocka_unit_test(reads_bends),
        cmocka_unit_test(wants_what_splits_lack),
        cmocka_unit_test(tells_what_a_split_lacks),
        cmocka_unit_test(versions_that_are_none),
        cmocka_unit_test(damaged_text),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, build, clear);
}
