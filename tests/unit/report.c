/* src/base/chart and the reports of src/eval: well-formed whatever the numbers are. */
#include "check.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "eval/report.h"
#include "report/chart.h"
#include "star.h"

/* Every element is closed in order, attributes are quoted, and no number went wrong. */
static void assert_markup(const char *text)
{
    char open[64][24];
    int depth = 0;
    assert_null(strstr(text, "=\"nan"));
    assert_null(strstr(text, "=\"-nan"));
    assert_null(strstr(text, "inf\""));
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        char name[24] = {0};
        const char *begin = at[1] == '/' ? at + 2 : at + 1;
        size_t length = strcspn(begin, " />");
        if (begin[0] == '!' || strncmp(begin, "meta", 4) == 0)
            continue;
        assert_true(length > 0 && length < sizeof name);
        memcpy(name, begin, length);
        if (at[1] == '/')
            assert_string_equal(open[--depth], name);
        else if (end[-1] != '/')
            strcpy(open[depth++], name);
        int quotes = 0;
        for (const char *c = at; c < end; c++)
            quotes += *c == '"';
        assert_int_equal(quotes % 2, 0);
        if (strcmp(name, "style") == 0 && at[1] != '/')
            end = strstr(end, "</style>") - 1;
        at = end;
    }
    assert_int_equal(depth, 0);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* ---- charts ------------------------------------------------------------------------------- */

static void test_chart(void **state)
{
    (void)state;
    const char *names[] = {"a<b", "c&d", "e"};
    double bars[] = {1, NAN, 3}, low[] = {0.5, 0, 2}, high[] = {1.5, 0, 4}, points[] = {2, 2, -1};
    wfre_series series[] = {
        {.name = "one", .mark = WFRE_MARK_BAR, .y = bars, .low = low, .high = high, .count = 3},
        {.name = "two \"2\"", .mark = WFRE_MARK_POINT, .y = points, .count = 3},
        {.mark = WFRE_MARK_LINE, .y = points, .count = 3, .muted = true},
    };
    wfre_chart chart = {.title = "Title",
                        .x = {.label = "x", .names = names, .count = 3},
                        .y = {.label = "y"},
                        .series = series,
                        .count = 3};
    wfre_text text = {0};
    wfre_chart_svg(&text, &chart, 300, 200, true);
    assert_markup(text.data);
    assert_int_equal(occurrences(text.data, "<rect class=\"s\""), 2); /* NAN has no bar */
    assert_int_equal(occurrences(text.data, "class=\"w ink\""), 2);
    assert_non_null(strstr(text.data, "a&lt;b"));
    assert_non_null(strstr(text.data, "one, e: 3 (2 to 4)"));
    wfre_text_free(&text);
}

static void test_chart_without_sense(void **state)
{
    (void)state;
    double none[] = {NAN, INFINITY}, same[] = {7, 7}, negative[] = {-3, 0}, large[] = {1e-9, 3e12};
    const double *values[] = {none, same, negative, large};
    for (size_t v = 0; v < 4; v++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++)
            for (int mark = WFRE_MARK_LINE; mark <= WFRE_MARK_BAR; mark++) {
                wfre_series series = {
                    .mark = (wfre_mark)mark, .x = large, .y = values[v], .count = 2};
                wfre_chart chart = {.x = {.logarithmic = logarithmic},
                                    .y = {.logarithmic = logarithmic},
                                    .series = &series,
                                    .count = 1};
                wfre_text text = {0};
                wfre_chart_svg(&text, &chart, 300, 200, false);
                assert_markup(text.data);
                wfre_text_free(&text);
            }
    wfre_text text = {0};
    wfre_chart_svg(&text, &(wfre_chart){0}, 300, 200, false);
    assert_markup(text.data);
    wfre_text_free(&text);
}

/* ---- tables ------------------------------------------------------------------------------- */

static void test_grid(void **state)
{
    (void)state;
    wfre_grid grid = {.columns = 3};
    wfre_text text = {0};
    wfre_grid_cell(&grid, "name");
    wfre_grid_cell(&grid, "n");
    wfre_grid_cell(&grid, "x");
    wfre_grid_rule(&grid);
    wfre_grid_mark(&grid);
    wfre_grid_cell(&grid, "\xc3\xa9t\xc3\xa9");
    wfre_grid_whole(&grid, 1234567);
    wfre_grid_percent(&grid, 0.12345, 1);
    wfre_grid_cell(&grid, "<b>");
    wfre_grid_whole(&grid, 999);
    wfre_grid_percent(&grid, NAN, 1);
    wfre_grid_print(&text, &grid);
    assert_string_equal(text.data, "name          n     x\n"
                                   "---------------------\n"
                                   "\xc3\xa9t\xc3\xa9   1,234,567  12.3\n"
                                   "<b>         999     -\n");
    wfre_text_clear(&text);
    wfre_grid_html(&text, &grid);
    assert_markup(text.data);
    assert_non_null(strstr(text.data, "<tr class=\"rule mark\">"));
    wfre_text_free(&text);
    wfre_grid_free(&grid);
}

/* The averages that the paper prints are those of its types, up to how it rounded. */
static void test_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < wfre_published_count; i++) {
        const wfre_published *row = &wfre_published_rows[i];
        double sums[WFRE_GROUPS] = {0};
        int counts[WFRE_GROUPS] = {0};
        for (int t = 0; t < WFRE_BETAE_TYPES; t++) {
            assert_true(row->types[t] > 1 && row->types[t] < 100);
            const char *name = wfre_betae_types[t].name;
            bool negated = strchr(name, 'n') != NULL;
            bool path = name[1] == 'p' && name[0] >= '1' && name[0] <= '3';
            wfre_group groups[] = {negated ? WFRE_GROUP_NEGATIVE : WFRE_GROUP_POSITIVE,
                                   path      ? WFRE_GROUP_PATHS
                                   : negated ? WFRE_GROUP_ALL
                                             : WFRE_GROUP_OTHERS};
            for (int k = 0; k < 2; k++) {
                sums[groups[k]] += row->types[t];
                counts[groups[k]]++;
            }
        }
        for (int g = 0; g < WFRE_GROUP_ALL; g++)
            if (row->groups[g] > 0)
                assert_true(fabs(row->groups[g] - sums[g] / counts[g]) < 0.25);
    }
    assert_string_equal(wfre_known_dataset(40559, 22), "WN18RR");
    assert_null(wfre_known_dataset(40559, 24));
}

/* A published average stands beside ours only if it is over the same types. */
static void test_comparable(void **state)
{
    (void)state;
    wfre_comparison shown = {.comparable = 1u << WFRE_GROUP_POSITIVE};
    const wfre_published *row = &wfre_published_rows[0];
    wfre_report_column single = {"1p", 0, -1};
    assert_true(wfre_published_mrr(&shown, row, &single) > 0);
    for (int g = 0; g < WFRE_GROUPS; g++) {
        wfre_report_column column = {"group", -1, g};
        assert_true(g == WFRE_GROUP_POSITIVE || isnan(wfre_published_mrr(&shown, row, &column)));
    }
}

/* ---- whole reports ------------------------------------------------------------------------ */

static char folder[] = "/tmp/wfre-report-XXXXXX";
static char queries_path[64], scores_path[64], log_path[64], out_path[64];
static wfre_graph *graph;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(queries_path, sizeof queries_path, "%s/q.tsv", folder);
    (void)snprintf(scores_path, sizeof scores_path, "%s/s.tsv", folder);
    (void)snprintf(log_path, sizeof log_path, "%s/log.jsonl", folder);
    (void)snprintf(out_path, sizeof out_path, "%s/out", folder);
    graph = star_graph(10);
    static const char LOG[] = "{\"step\": 0, \"loss\": 2}\n"
                              "{\"step\": 10, \"loss\": 1.5, \"mrr\": 0.1}\n"
                              "not json\n{\"step\": 20, \"mrr\": 0.2}\n{\"st";
    assert_ok(wfre_write_file(log_path, LOG, strlen(LOG), error));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    static const char *const FILES[] = {"report.html", "results.csv", "results.json", "shapes.svg"};
    for (size_t i = 0; i < 4; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", out_path, FILES[i]);
        unlink(path);
    }
    rmdir(out_path);
    unlink(queries_path);
    unlink(scores_path);
    unlink(log_path);
    return rmdir(folder);
}

/* `types` query types with one query each; entity 1 is the only hard answer, entity 2 beats it in
 * every other query. */
static wfre_evaluation *make_evaluation(int types, const char *label)
{
    wfre_text queries = {0}, scores = {0};
    for (int q = 0; q < types; q++) {
        wfre_text_format(&queries, "type%d\t(p,#0,%s)\t\t1\n", q,
                         q % 3 ? "(e,#1)" : "(i,(e,#1),(n,(p,#1,(e,#2))))");
        wfre_text_format(&scores, "%d\t1\t1\n%d\t2\t%d\n", q, q, q % 2 * 2);
    }
    assert_ok(wfre_write_file(queries_path, queries.data, queries.length, error));
    assert_ok(wfre_write_file(scores_path, scores.data, scores.length, error));
    wfre_text_free(&queries);
    wfre_text_free(&scores);
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.label = label;
    wfre_evaluation *evaluation;
    assert_ok(wfre_evaluate_scores(graph, queries_path, scores_path, &options, NULL, NULL,
                                   &evaluation, error));
    return evaluation;
}

static char *read_output(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", out_path, name);
    char *text;
    size_t length;
    assert_ok(wfre_read_all(path, 1 << 24, &text, &length, error));
    return text;
}

static void check_report(const wfre_evaluation *const *evaluations, size_t count)
{
    wfre_report_options options = {.title = "A & B", .log = log_path, .repeats = true};
    assert_ok(wfre_report_write(evaluations, count, &options, out_path, error));
    char *page = read_output("report.html");
    assert_markup(page);
    assert_non_null(strstr(page, "<title>A &amp; B</title>"));
    assert_non_null(strstr(page, "MRR of a validation sample"));
    wfre_free(page);
    char *json = read_output("results.json");
    json_t *root = json_loads(json, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "evaluations")), count);
    wfre_free(json);
    json_decref(root);
    char *csv = read_output("results.csv");
    size_t lines = occurrences(csv, "\n"), rows = 1;
    for (size_t i = 0; i < count; i++) {
        rows += evaluations[i]->type_count;
        for (int g = 0; g < WFRE_GROUPS; g++)
            rows += evaluations[i]->groups[g].types > 0;
    }
    assert_int_equal(lines, rows);
    wfre_free(csv);
}

static void test_report(void **state)
{
    (void)state;
    wfre_evaluation *few = make_evaluation(7, "few, \"quoted\" <x>");
    few->reliability = (wfre_reliability){
        .queries = 9, .error = 0.0125, .bins = {{4, 0.05, 0.1}, {0, 0, 0}, {2, 0.25, 0.2}}};
    const wfre_evaluation *again = make_evaluation(7, "again");
    const wfre_evaluation *many = make_evaluation(30, "many");
    check_report((const wfre_evaluation *const[]){few}, 1);
    char *page = read_output("report.html");
    assert_non_null(strstr(page, "Expected calibration error 0.0125"));
    wfre_free(page);
    check_report((const wfre_evaluation *const[]){few, again}, 2);
    check_report(&many, 1);
    wfre_evaluation_free(few);
    wfre_evaluation_free((wfre_evaluation *)again);
    wfre_evaluation_free((wfre_evaluation *)many);
}

static void test_moments(void **state)
{
    (void)state;
    wfre_evaluation *one = make_evaluation(4, "one"), *two = make_evaluation(4, "two");
    two->groups[WFRE_GROUP_ALL].mean.mrr = 0.25;
    const wfre_evaluation *both[] = {one, two};
    wfre_comparison shown;
    wfre_report_begin(&shown, both, 2, &(wfre_report_options){.repeats = true});
    wfre_report_column all = {"all", -1, WFRE_GROUP_ALL};
    double mean, deviation;
    wfre_report_moments(&shown, &all, &mean, &deviation);
    assert_true(fabs(mean - 0.5) < 1e-12);
    assert_true(fabs(deviation - sqrt(0.125)) < 1e-12);
    wfre_evaluation_free(one);
    wfre_evaluation_free(two);
}

static void test_sweep(void **state)
{
    (void)state;
    const wfre_evaluation *runs[] = {make_evaluation(4, "one"), make_evaluation(4, "two")};
    runs[0]->types[0].row.name = "the \"odd\" type";
    wfre_sweep_point numbers[] = {{"1", runs, 2}, {"2.5", runs, 1}};
    wfre_sweep_point words[] = {{"wfr", runs, 1}, {"l2", runs + 1, 1}, {"<kl>", runs, 1}};
    wfre_sweep_panel panels[] = {{"radius", numbers, 2}, {"score", words, 3}};
    char *table = NULL;
    assert_ok(wfre_sweep_print(panels, 2, WFRE_REPORT_TABLE, &table, error));
    assert_true(strlen(table) > 200);
    wfre_string_free(table);
    assert_ok(wfre_sweep_write(panels, 2, NULL, folder, error));
    static const char *const FILES[] = {"sweep.html", "radius.svg", "score.svg", "sweep.json",
                                        "sweep.csv"};
    for (size_t i = 0; i < 5; i++) {
        char path[128];
        char *text;
        size_t length;
        (void)snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        assert_ok(wfre_read_all(path, 1 << 24, &text, &length, error));
        if (i < 3)
            assert_markup(text);
        if (i == 0) { /* what the whiskers are: not the intervals of one evaluation */
            assert_non_null(strstr(text, "means over 2 seeds, with their standard deviation"));
            assert_null(strstr(text, "bootstrap"));
        }
        if (i == 1) { /* ticks where values are, and nowhere else */
            assert_int_equal(occurrences(text, "text-anchor=\"middle\">1</text>"), 1);
            assert_int_equal(occurrences(text, "text-anchor=\"middle\">2.5</text>"), 1);
            assert_int_equal(occurrences(text, "text-anchor=\"middle\">"), 3);
        }
        unlink(path);
        if (i == 3) {
            json_t *root = json_loads(text, 0, NULL);
            assert_int_equal(json_array_size(root), occurrences(text, "\"mrr\""));
            json_decref(root);
        }
        if (i == 4)
            assert_non_null(strstr(text, "\nradius,1,1,\"the \"\"odd\"\" type\","));
        wfre_free(text);
    }
    wfre_sweep_panel empty = {"radius", NULL, 0};
    assert_int_equal(wfre_sweep_print(&empty, 1, WFRE_REPORT_CSV, &table, NULL), WFRE_ERR_ARGUMENT);
    wfre_evaluation_free((wfre_evaluation *)runs[0]);
    wfre_evaluation_free((wfre_evaluation *)runs[1]);
}

static wfre_status attempt(void *context)
{
    const wfre_evaluation *evaluation = context;
    wfre_report_options options = {.log = log_path};
    return wfre_report_write(&evaluation, 1, &options, out_path, NULL);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    wfre_evaluation *evaluation = make_evaluation(5, "five");
    sweep_allocations(attempt, evaluation);
    wfre_evaluation_free(evaluation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chart),         cmocka_unit_test(test_chart_without_sense),
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_published),
        cmocka_unit_test(test_comparable),    cmocka_unit_test(test_report),
        cmocka_unit_test(test_moments),       cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
