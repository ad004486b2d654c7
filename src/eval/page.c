/* The report as one HTML page. Every chart is drawn twice, wide and narrow, and the style sheet
 * shows the one that fits the screen: a chart that merely shrinks has letters too small to read. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/chart.h"
#include "eval/curve.h"
#include "eval/report.h"

static const char PAGE_STYLE[] =
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "main{max-width:69rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}"
    "p{margin:.4rem 0;max-width:44rem}.soft{color:var(--soft)}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;"
    "margin:1.2rem 0}.card{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem}"
    ".card b{display:block;font-size:1.5rem;line-height:1.3;font-variant-numeric:tabular-nums}"
    ".card span{color:var(--soft);font-size:.85rem}"
    ".scroll{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.18rem .45rem;text-align:right;white-space:nowrap;font-weight:400}"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}"
    "tr:first-child th{font-weight:600}tr.rule>*{border-top:1px solid var(--line)}"
    "tr.mark>*{font-weight:600}"
    ".narrow{display:none}@media(max-width:860px){.wide{display:none}.narrow{display:block}}";

/* Both sizes of a chart. */
static void put_chart(wfre_text *text, const wfre_chart *chart)
{
    wfre_text_add(text, "<div class=\"wide\">");
    wfre_chart_svg(text, chart, 1080, 340, false);
    wfre_text_add(text, "</div><div class=\"narrow\">");
    wfre_chart_svg(text, chart, 364, 300, false);
    wfre_text_add(text, "</div>\n");
}

static void put_escaped(wfre_text *text, const char *string)
{
    wfre_text_markup(text, string, strlen(string));
}

static void put_grid(wfre_text *text, wfre_grid *grid)
{
    wfre_grid_html(text, grid);
    wfre_grid_free(grid);
}

/* ---- parts of the page --------------------------------------------------------------------------
 */

static void put_head(const wfre_comparison *shown, wfre_text *text)
{
    const char *title = shown->options.title ? shown->options.title : "Evaluation";
    wfre_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                        "<title>");
    put_escaped(text, title);
    wfre_text_add(text, "</title><style>");
    wfre_chart_style(text);
    wfre_text_add(text, PAGE_STYLE);
    wfre_text_add(text, "</style></head><body><main>\n<h1>");
    put_escaped(text, title);
    wfre_text_add(text, "</h1>\n");
    for (size_t i = 0; i < shown->count; i++) {
        wfre_text line = {0};
        wfre_report_method(shown->evaluations[i], &line);
        wfre_text_add(text, "<p class=\"soft\">");
        put_escaped(text, shown->evaluations[i]->info.label);
        wfre_text_add(text, " &middot; ");
        if (line.failed)
            text->failed = true;
        else
            put_escaped(text, line.data);
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
        put_escaped(text, e->info.label);
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
        c->y[s][i] = 100 * wfre_published_mrr(published, &shown->columns[i]);
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
    for (size_t i = 0; i < wfre_published_count && shown->dataset && !shown->many_types; i++)
        if (strcmp(wfre_published_rows[i].dataset, shown->dataset) == 0 &&
            c->count < MAXIMUM_SERIES)
            add_method(c, shown, &wfre_published_rows[i]);
    wfre_chart chart = {.title = "MRR by query type, percent",
                        .x = {.names = names, .count = shown->column_count},
                        .series = c->series,
                        .count = c->count};
    put_chart(text, &chart);
    wfre_free(c);
    wfre_grid grid;
    wfre_report_comparison(shown, &grid);
    put_grid(text, &grid);
    if (shown->dataset && !shown->many_types) {
        wfre_text_add(text, "<p class=\"soft\">* and points: published results, on the test "
                            "queries of ");
        put_escaped(text, shown->dataset);
        wfre_text_add(text, ".</p>\n");
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
    put_chart(text, &chart);
}

/* MRR against depth, one line for each number of anchors. */
static void put_shapes(const wfre_evaluation *e, wfre_text *text)
{
    static const char *const NAMES[WFRE_SHAPES] = {"1 anchor",  "2 anchors", "3 anchors",
                                                   "4 anchors", "5 anchors", "6 anchors"};
    double depth[WFRE_SHAPES], mrr[WFRE_SHAPES][WFRE_SHAPES];
    wfre_series series[WFRE_SHAPES];
    size_t count = 0;
    for (uint32_t a = 0; a < WFRE_SHAPES; a++) {
        bool any = false;
        for (uint32_t d = 0; d < WFRE_SHAPES; d++) {
            depth[d] = d + 1;
            mrr[a][d] = 100 * wfre_report_shape(e, a + 1, d + 1);
            any = any || isfinite(mrr[a][d]);
        }
        if (any)
            series[count++] = (wfre_series){.name = NAMES[a],
                                            .mark = WFRE_MARK_LINE,
                                            .x = depth,
                                            .y = mrr[a],
                                            .count = WFRE_SHAPES};
    }
    wfre_text_add(text, "<h2>By shape</h2>\n");
    wfre_chart chart = {.title = "Mean MRR of the types by depth, percent",
                        .x = {.label = "projections on the longest way down"},
                        .series = series,
                        .count = count};
    put_chart(text, &chart);
    wfre_grid grid;
    wfre_report_shapes(e, &grid);
    put_grid(text, &grid);
}

static void put_track(const char *title, const wfre_track *track, wfre_text *text)
{
    wfre_series series = {
        .mark = WFRE_MARK_LINE, .x = track->step, .y = track->value, .count = track->count};
    wfre_chart chart = {.title = title, .x = {.label = "step"}, .series = &series, .count = 1};
    if (track->count)
        put_chart(text, &chart);
}

static wfre_status put_curve(const char *log, wfre_text *text, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_curve curve = {0};
    TRY(wfre_curve_read(&curve, log, error));
    wfre_text_add(text, "<h2>Learning</h2>\n");
    put_track("Training loss", &curve.loss, text);
    put_track("MRR of a validation sample", &curve.mrr, text);
cleanup:
    wfre_curve_free(&curve);
    return status;
}

wfre_status wfre_report_page(const wfre_comparison *shown, wfre_text *text, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_evaluation *first = shown->evaluations[0];
    put_head(shown, text);
    put_cards(shown, text);
    wfre_text_add(text, "<h2>Comparison</h2>\n");
    TRY(put_comparison(shown, text, error));
    if (shown->many_types)
        put_shapes(first, text);
    for (size_t i = 0; i < shown->count; i++) {
        wfre_text_add(text, "<h2>Details");
        if (shown->count > 1) {
            wfre_text_add(text, ": ");
            put_escaped(text, shown->evaluations[i]->info.label);
        }
        wfre_text_add(text, "</h2>\n");
        wfre_grid grid;
        wfre_report_details(shown->evaluations[i], &grid);
        put_grid(text, &grid);
    }
    put_ranks(first, text);
    if (shown->options.log)
        TRY(put_curve(shown->options.log, text, error));
    wfre_text_format(text,
                     "<h2>How it was measured</h2>\n<p class=\"soft\">Every hard answer of a query "
                     "is ranked against all entities that are not answers; ties count half. "
                     "Metrics are averaged over a query's hard answers, then over the queries of "
                     "a type, then over the types of a group. The intervals are 95%% bootstrap "
                     "intervals over queries. wfre %s.</p>\n</main></body></html>\n",
                     wfre_version());
cleanup:
    return status;
}
