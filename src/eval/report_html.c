/* The report of evaluations as one HTML page that needs no other file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "eval/report.h"
#include "report/curve.h"
#include "report/page.h"

/* ---- parts of the page -------------------------------------------------------------------- */

static void put_head(const wfre_comparison *shown, wfre_text *text)
{
    wfre_page_begin(text, shown->options.title ? shown->options.title : "Evaluation");
    for (size_t i = 0; i < shown->count; i++) {
        wfre_text line = {0};
        wfre_report_method(shown->evaluations[i], &line);
        wfre_text_add(text, "<p class=\"soft\">");
        wfre_page_escaped(text, shown->evaluations[i]->info.label);
        wfre_text_add(text, " &middot; ");
        if (line.failed)
            text->failed = true;
        else
            wfre_page_escaped(text, line.data);
        wfre_text_free(&line);
        wfre_text_add(text, "</p>\n");
    }
}

static void put_cards(const wfre_comparison *shown, wfre_text *text)
{
    static const char *const MEANINGS[WFRE_GROUPS] = {"no negation", "paths", "not paths",
                                                      "negation", "types"};
    const wfre_evaluation *e = shown->evaluations[0];
    wfre_text_add(text, "<div class=\"cards\">");
    for (int g = 0; g < WFRE_GROUPS; g++) {
        const wfre_evaluation_row *row = &e->groups[g];
        if (row->types == 0)
            continue;
        wfre_text_format(text,
                         "<div class=\"card\"><span>%s: %" PRIu32 " %s</span><b>%.2f</b>"
                         "<span>%.2f to %.2f</span></div>\n",
                         row->name, row->types, MEANINGS[g], 100 * row->mean.mrr,
                         100 * row->mrr_low, 100 * row->mrr_high);
    }
    wfre_text_add(text, "</div><p class=\"soft\">MRR in percent with its 95% interval");
    if (shown->count > 1) {
        wfre_text_add(text, ", of ");
        wfre_page_escaped(text, e->info.label);
    }
    wfre_text_add(text, ".</p>\n");
}

enum { MAXIMUM_SERIES = 32 };

/* The values of one comparison chart: series by column. */
typedef struct comparison {
    wfre_series series[MAXIMUM_SERIES];
    double y[MAXIMUM_SERIES][WFRE_COMPARED_COLUMNS];
    double low[MAXIMUM_SERIES][WFRE_COMPARED_COLUMNS];
    double high[MAXIMUM_SERIES][WFRE_COMPARED_COLUMNS];
    size_t count;
} comparison;

static void add_evaluation(comparison *c, const wfre_comparison *shown,
                           const wfre_evaluation *evaluation)
{
    size_t s = c->count++;
    for (size_t i = 0; i < shown->column_count; i++) {
        const wfre_evaluation_row *row = wfre_report_row(evaluation, &shown->columns[i]);
        c->y[s][i] = row ? 100 * row->mean.mrr : NAN;
        c->low[s][i] = row ? 100 * row->mrr_low : NAN;
        c->high[s][i] = row ? 100 * row->mrr_high : NAN;
    }
    c->series[s] = (wfre_series){.name = evaluation->info.label,
                                 .mark = WFRE_MARK_BAR,
                                 .y = c->y[s],
                                 .low = c->low[s],
                                 .high = c->high[s],
                                 .count = shown->column_count};
}

static void add_method(comparison *c, const wfre_comparison *shown, const wfre_published *published)
{
    size_t s = c->count++;
    for (size_t i = 0; i < shown->column_count; i++)
        c->y[s][i] = 100 * wfre_published_mrr(shown, published, &shown->columns[i]);
    c->series[s] = (wfre_series){.name = published->method,
                                 .mark = WFRE_MARK_POINT,
                                 .y = c->y[s],
                                 .count = shown->column_count};
}

static wfre_status put_comparison(const wfre_comparison *shown, wfre_text *text, wfre_error *error)
{
    comparison *c = wfre_alloc_zero(1, sizeof *c);
    if (!c)
        return wfre_fail_memory(error, "writing a report");
    const char *names[WFRE_COMPARED_COLUMNS];
    for (size_t i = 0; i < shown->column_count; i++)
        names[i] = shown->columns[i].name;
    for (size_t i = 0; i < shown->count && c->count < MAXIMUM_SERIES / 2; i++)
        add_evaluation(c, shown, shown->evaluations[i]);
    for (size_t i = 0; i < wfre_published_count && shown->published; i++)
        if (strcmp(wfre_published_rows[i].dataset, shown->published) == 0 &&
            c->count < MAXIMUM_SERIES)
            add_method(c, shown, &wfre_published_rows[i]);
    wfre_chart chart = {.title = "MRR by query type, percent",
                        .x = {.names = names, .count = shown->column_count},
                        .series = c->series,
                        .count = c->count};
    wfre_page_chart(text, &chart);
    wfre_free(c);
    wfre_grid grid;
    wfre_report_comparison(shown, &grid);
    wfre_page_grid(text, &grid);
    if (shown->published) {
        wfre_text_add(text, "<p class=\"soft\">* and points: published results, on the test "
                            "queries of ");
        wfre_page_escaped(text, shown->published);
        wfre_text_add(text, ".</p>\n");
    } else if (shown->dataset && !shown->many_types) {
        wfre_text_format(text, "<p class=\"soft\">" WFRE_OTHER_KIND ".</p>\n", shown->dataset);
    }
    return WFRE_OK;
}

static void put_ranks(const wfre_evaluation *e, wfre_text *text)
{
    static const char *const NAMES[WFRE_RANK_CLASSES] = {
        "1", "to 3", "to 10", "to 30", "to 100", "to 300", "to 1k", "to 3k", "to 10k", "more"};
    double shares[2][WFRE_RANK_CLASSES] = {0}, totals[2] = {0};
    for (size_t t = 0; t < e->type_count; t++)
        for (int c = 0; c < WFRE_RANK_CLASSES; c++) {
            shares[e->types[t].negated][c] += (double)e->types[t].ranks[c];
            totals[e->types[t].negated] += (double)e->types[t].ranks[c];
        }
    wfre_series series[2];
    size_t count = 0;
    for (int k = 0; k < 2; k++) {
        if (totals[k] <= 0)
            continue;
        for (int c = 0; c < WFRE_RANK_CLASSES; c++)
            shares[k][c] *= 100 / totals[k];
        series[count++] = (wfre_series){.name = k ? "with negation" : "without negation",
                                        .mark = WFRE_MARK_BAR,
                                        .y = shares[k],
                                        .count = WFRE_RANK_CLASSES};
    }
    wfre_text_add(text, "<h2>Where the hard answers stand</h2>\n");
    wfre_chart chart = {.title = "Hard answers by rank, percent",
                        .x = {.label = "rank among the entities that are not answers",
                              .names = NAMES,
                              .count = WFRE_RANK_CLASSES},
                        .series = series,
                        .count = count};
    wfre_page_chart(text, &chart);
}

/* The numbers of the chart of MRR against depth, one line for each number of anchors. */
typedef struct shape_chart {
    wfre_chart chart;
    wfre_series series[WFRE_SHAPES];
    double depth[WFRE_SHAPES], mrr[WFRE_SHAPES][WFRE_SHAPES];
} shape_chart;

static void make_shape_chart(const wfre_evaluation *e, shape_chart *c)
{
    static const char *const NAMES[WFRE_SHAPES] = {"1 anchor",  "2 anchors", "3 anchors",
                                                   "4 anchors", "5 anchors", "6 anchors"};
    c->chart = (wfre_chart){.title = "Mean MRR of the types by depth, percent",
                            .x = {.label = "projections on the longest way down", .whole = true},
                            .series = c->series};
    for (uint32_t a = 0; a < WFRE_SHAPES; a++) {
        bool any = false;
        for (uint32_t d = 0; d < WFRE_SHAPES; d++) {
            c->depth[d] = d + 1;
            c->mrr[a][d] = 100 * wfre_report_shape(e, a + 1, d + 1);
            any = any || isfinite(c->mrr[a][d]);
        }
        if (any)
            c->series[c->chart.count++] = (wfre_series){.name = NAMES[a],
                                                        .mark = WFRE_MARK_LINE,
                                                        .x = c->depth,
                                                        .y = c->mrr[a],
                                                        .count = WFRE_SHAPES};
    }
}

void wfre_report_shapes_svg(const wfre_evaluation *evaluation, wfre_text *text)
{
    shape_chart c;
    make_shape_chart(evaluation, &c);
    wfre_chart_svg(text, &c.chart, 520, 320, true);
}

static void put_shapes(const wfre_evaluation *e, wfre_text *text)
{
    shape_chart c;
    make_shape_chart(e, &c);
    wfre_text_add(text, "<h2>By shape</h2>\n");
    wfre_page_chart(text, &c.chart);
    wfre_grid grid;
    wfre_report_shapes(e, &grid);
    wfre_page_grid(text, &grid);
}

static void put_strata(const wfre_evaluation *e, wfre_text *text)
{
    wfre_text_add(text, "<h3>By edges to predict</h3>\n<p class=\"soft\">How many edges an answer "
                        "lacks in the smaller graph, in the way to it that lacks fewest.</p>\n");
    wfre_grid grid;
    wfre_report_strata(e, &grid);
    wfre_page_grid(text, &grid);
}

/* Predicted probability against how often it came true. */
static void put_calibration(const char *heading, const char *questions,
                            const wfre_reliability *reliability, wfre_text *text)
{
    if (reliability->queries == 0)
        return;
    static const double ENDS[] = {0, 1};
    double x[WFRE_RELIABILITY_BINS], y[WFRE_RELIABILITY_BINS];
    size_t count = 0;
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        if (reliability->bins[b].count) {
            x[count] = reliability->bins[b].predicted;
            y[count++] = reliability->bins[b].observed;
        }
    wfre_series series[] = {
        {.name = "perfect",
         .mark = WFRE_MARK_LINE,
         .x = ENDS,
         .y = ENDS,
         .count = 2,
         .muted = true},
        {.name = "predictions", .mark = WFRE_MARK_LINE, .x = x, .y = y, .count = count},
    };
    wfre_chart chart = {.title = "Share of predictions that are answers",
                        .x = {.label = "predicted probability", .minimum = 0, .maximum = 1},
                        .y = {.minimum = 0, .maximum = 1},
                        .series = series,
                        .count = 2};
    wfre_text_format(
        text,
        "<h2>%s</h2>\n<p class=\"soft\">Expected calibration error %.4f (%.4f to %.4f), "
        "on %" PRIu64 " %s that were not used to fit the probabilities; %.0f answers "
        "expected, %" PRIu64 " found.</p>\n",
        heading, reliability->error, reliability->low, reliability->high, reliability->queries,
        questions, reliability->expected, reliability->found);
    wfre_page_chart(text, &chart);
}

static void put_track(const char *title, const wfre_track *track, wfre_text *text)
{
    wfre_series series = {
        .mark = WFRE_MARK_LINE, .x = track->step, .y = track->value, .count = track->count};
    wfre_chart chart = {.title = title, .x = {.label = "step"}, .series = &series, .count = 1};
    if (track->count)
        wfre_page_chart(text, &chart);
}

static wfre_status put_curve(const char *log, wfre_text *text, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_curve curve = {0};
    TRY(wfre_curve_read(&curve, log, error));
    if (curve.loss.count + curve.mrr.count == 0)
        TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                      "%s: not a training log, or an empty one: no line has a step and a loss",
                      log));
    wfre_text_add(text, "<h2>Learning</h2>\n");
    put_track("Training loss", &curve.loss, text);
    put_track("MRR of a validation sample", &curve.mrr, text);
cleanup:
    wfre_curve_free(&curve);
    return status;
}

wfre_status wfre_report_page(const wfre_comparison *shown, wfre_text *text, wfre_error *error)
{
    const wfre_evaluation *first = shown->evaluations[0];
    put_head(shown, text);
    put_cards(shown, text);
    wfre_text_add(text, "<h2>Comparison</h2>\n");
    CHECK(put_comparison(shown, text, error));
    if (shown->many_types)
        put_shapes(first, text);
    for (size_t i = 0; i < shown->count; i++) {
        wfre_text_add(text, "<h2>Details");
        if (shown->count > 1) {
            wfre_text_add(text, ": ");
            wfre_page_escaped(text, shown->evaluations[i]->info.label);
        }
        wfre_text_add(text, "</h2>\n");
        wfre_grid grid;
        wfre_report_details(shown->evaluations[i], &grid);
        wfre_page_grid(text, &grid);
        if (shown->evaluations[i]->stratum_count)
            put_strata(shown->evaluations[i], text);
    }
    put_ranks(first, text);
    put_calibration("Calibration", "questions drawn as people ask them", &first->reliability, text);
    put_calibration("Calibration if an answer is missing", "questions that lack an answer",
                    &first->missing, text);
    if (shown->options.log)
        CHECK(put_curve(shown->options.log, text, error));
    wfre_page_end(text, "The intervals are 95% bootstrap intervals over queries.");
    return WFRE_OK;
}
