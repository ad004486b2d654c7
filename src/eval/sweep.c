/* Reports of sweeps: a table and a chart for each setting that was varied. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/report.h"
#include "report/page.h"

enum { MAXIMUM_POINTS = 64, LINES = 3 };

/* The lines of a panel's chart. */
static const wfre_group LINE_GROUPS[LINES] = {WFRE_GROUP_POSITIVE, WFRE_GROUP_NEGATIVE,
                                              WFRE_GROUP_ALL};

/* The runs of one point side by side, to take moments of. */
static wfre_comparison runs_of(const wfre_sweep_point *point)
{
    wfre_comparison shown;
    wfre_report_begin(&shown, point->runs, point->count, &(wfre_report_options){.repeats = true});
    return shown;
}

/* ---- tables ------------------------------------------------------------------------------- */

static void add_point(wfre_grid *grid, const wfre_comparison *columns,
                      const wfre_sweep_point *point)
{
    wfre_comparison runs = runs_of(point);
    wfre_grid_cell(grid, "%s", point->value);
    for (size_t c = 0; c < columns->column_count; c++) {
        double mean, deviation;
        wfre_report_moments(&runs, &columns->columns[c], &mean, &deviation);
        if (point->count > 1 && isfinite(mean))
            wfre_grid_cell(grid, "%.2f \u00b1%.2f", 100 * mean, 100 * deviation);
        else
            wfre_grid_percent(grid, mean, 2);
    }
}

/* With deviations there is room for the groups only. */
static void drop_types(wfre_comparison *columns)
{
    size_t kept = 0;
    for (size_t c = 0; c < columns->column_count; c++)
        if (columns->columns[c].group >= 0)
            columns->columns[kept++] = columns->columns[c];
    columns->column_count = kept;
}

static void make_grid(const wfre_sweep_panel *panel, wfre_grid *grid)
{
    wfre_comparison columns = runs_of(&panel->points[0]);
    if (panel->points[0].count > 1)
        drop_types(&columns);
    *grid = (wfre_grid){.columns = columns.column_count + 1};
    wfre_grid_cell(grid, "%s", panel->name);
    for (size_t c = 0; c < columns.column_count; c++)
        wfre_grid_cell(grid, "%s", columns.columns[c].name);
    wfre_grid_rule(grid);
    for (size_t i = 0; i < panel->count; i++)
        add_point(grid, &columns, &panel->points[i]);
}

static void put_table(const wfre_sweep_panel *panels, size_t count, wfre_text *text)
{
    wfre_text_add(text, "MRR x 100\n");
    for (size_t p = 0; p < count; p++) {
        wfre_grid grid;
        make_grid(&panels[p], &grid);
        wfre_text_char(text, '\n');
        wfre_grid_print(text, &grid);
        wfre_grid_free(&grid);
    }
}

/* Writes one row of one run; `first` is true for the first of all. */
typedef void (*row_writer)(wfre_text *text, bool first, const wfre_sweep_panel *panel,
                           const wfre_sweep_point *point, size_t run,
                           const wfre_evaluation_row *row);

/* Calls `put` for every row of every run, in order. */
static void each_row(const wfre_sweep_panel *panels, size_t count, row_writer put, wfre_text *text)
{
    bool first = true;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < panels[p].count; i++)
            for (size_t r = 0; r < panels[p].points[i].count; r++) {
                const wfre_sweep_point *point = &panels[p].points[i];
                const wfre_evaluation *e = point->runs[r];
                for (size_t t = 0; t < e->type_count; t++, first = false)
                    put(text, first, &panels[p], point, r, &e->types[t].row);
                for (int g = 0; g < WFRE_GROUPS; g++)
                    if (e->groups[g].types)
                        put(text, false, &panels[p], point, r, &e->groups[g]);
            }
}

static void csv_row(wfre_text *text, bool first, const wfre_sweep_panel *panel,
                    const wfre_sweep_point *point, size_t run, const wfre_evaluation_row *row)
{
    if (first)
        wfre_text_add(text, "setting,value,run,name,queries,mrr,mrr_low,mrr_high\n");
    wfre_text_format(text, "%s,%s,%zu,", panel->name, point->value, run + 1);
    wfre_report_csv_field(text, row->name);
    wfre_text_format(text, ",%" PRIu64 ",%.6f,%.6f,%.6f\n", row->queries, row->mean.mrr,
                     row->mrr_low, row->mrr_high);
}

static void json_row(wfre_text *text, bool first, const wfre_sweep_panel *panel,
                     const wfre_sweep_point *point, size_t run, const wfre_evaluation_row *row)
{
    wfre_text_add(text, first ? "\n  {\"setting\": " : ",\n  {\"setting\": ");
    wfre_text_json(text, panel->name, strlen(panel->name));
    wfre_text_add(text, ", \"value\": ");
    wfre_text_json(text, point->value, strlen(point->value));
    wfre_text_format(text, ", \"run\": %zu, \"name\": ", run + 1);
    wfre_text_json(text, row->name, strlen(row->name));
    wfre_text_format(text,
                     ", \"queries\": %" PRIu64 ", \"mrr\": %.6f, \"mrr_low\": %.6f, "
                     "\"mrr_high\": %.6f}",
                     row->queries, row->mean.mrr, row->mrr_low, row->mrr_high);
}

static void put_csv(const wfre_sweep_panel *panels, size_t count, wfre_text *text)
{
    each_row(panels, count, csv_row, text);
}

static void put_json(const wfre_sweep_panel *panels, size_t count, wfre_text *text)
{
    wfre_text_char(text, '[');
    each_row(panels, count, json_row, text);
    wfre_text_add(text, "]\n");
}

/* ---- charts ------------------------------------------------------------------------------- */

/* The numbers of a panel's chart. */
typedef struct curves {
    wfre_chart chart;
    wfre_series series[LINES];
    double x[MAXIMUM_POINTS];
    double y[LINES][MAXIMUM_POINTS], low[LINES][MAXIMUM_POINTS], high[LINES][MAXIMUM_POINTS];
    const char *names[MAXIMUM_POINTS];
    char title[96];
} curves;

/* Values on a number axis if all of them are numbers, else side by side. */
static void set_axis(const wfre_sweep_panel *panel, curves *c, size_t count)
{
    bool numbers = true;
    for (size_t i = 0; i < count; i++) {
        char *end;
        c->x[i] = wfre_parse_real(panel->points[i].value, &end);
        c->names[i] = panel->points[i].value;
        numbers = numbers && end != panel->points[i].value && *end == '\0';
    }
    c->chart.x.label = panel->name;
    c->chart.x.names = numbers ? NULL : c->names;
    c->chart.x.ticks = numbers ? c->x : NULL;
    c->chart.x.count = count;
    for (int k = 0; k < LINES; k++)
        c->series[k].x = numbers ? c->x : NULL;
}

static void make_curves(const wfre_sweep_panel *panel, curves *c)
{
    static const char *const NAMES[LINES] = {"without negation (A_P)", "with negation (A_N)",
                                             "all"};
    size_t count = panel->count < MAXIMUM_POINTS ? panel->count : MAXIMUM_POINTS;
    *c = (curves){.chart = {.title = c->title, .series = c->series}};
    (void)snprintf(c->title, sizeof c->title, "MRR by %s, percent", panel->name);
    bool repeated = false;
    for (size_t i = 0; i < count; i++) {
        wfre_comparison runs = runs_of(&panel->points[i]);
        repeated = repeated || runs.count > 1;
        for (int k = 0; k < LINES; k++) {
            wfre_report_column column = {wfre_group_name(LINE_GROUPS[k]), -1, (int)LINE_GROUPS[k]};
            double mean, deviation;
            wfre_report_moments(&runs, &column, &mean, &deviation);
            c->y[k][i] = 100 * mean;
            c->low[k][i] = 100 * (mean - deviation);
            c->high[k][i] = 100 * (mean + deviation);
        }
    }
    for (int k = 0; k < LINES; k++)
        c->series[k] = (wfre_series){.name = NAMES[k],
                                     .mark = WFRE_MARK_LINE,
                                     .y = c->y[k],
                                     .low = repeated ? c->low[k] : NULL,
                                     .high = repeated ? c->high[k] : NULL,
                                     .count = count};
    c->chart.count = LINES;
    set_axis(panel, c, count);
    if (c->chart.x.names)
        for (int k = 0; k < LINES; k++)
            c->series[k].mark = WFRE_MARK_BAR;
}

static void put_page(const wfre_sweep_panel *panels, size_t count, const char *title,
                     curves *scratch, wfre_text *text)
{
    size_t seeds = panels[0].points[0].count;
    char spread[128] = "Every number is of one run.";
    if (seeds > 1)
        (void)snprintf(spread, sizeof spread,
                       "Numbers are means over %zu seeds, with their standard deviation.", seeds);
    wfre_page_begin(text, title ? title : "Sweep");
    wfre_page_pair(text, true);
    for (size_t p = 0; p < count; p++) {
        make_curves(&panels[p], scratch);
        if (count == 1)
            wfre_page_chart(text, &scratch->chart);
        else
            wfre_page_half_chart(text, &scratch->chart);
    }
    wfre_page_pair(text, false);
    for (size_t p = 0; p < count; p++) {
        wfre_grid grid;
        wfre_text_add(text, "<h2>MRR &times; 100 by ");
        wfre_page_escaped(text, panels[p].name);
        wfre_text_add(text, "</h2>\n");
        make_grid(&panels[p], &grid);
        wfre_page_grid(text, &grid);
    }
    wfre_page_end(text, spread);
}

/* ---- writing ------------------------------------------------------------------------------ */

static wfre_status check_panels(const wfre_sweep_panel *panels, size_t count, wfre_error *error)
{
    bool empty = count == 0;
    for (size_t p = 0; p < count; p++) {
        empty = empty || panels[p].count == 0;
        for (size_t i = 0; i < panels[p].count; i++)
            empty = empty || panels[p].points[i].count == 0;
    }
    return empty ? wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "nothing to report")
                 : WFRE_OK;
}

wfre_status wfre_sweep_print(const wfre_sweep_panel *panels, size_t count,
                             wfre_report_format format, char **string, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    TRY(check_panels(panels, count, error));
    if (format == WFRE_REPORT_JSON)
        put_json(panels, count, &text);
    else if (format == WFRE_REPORT_CSV)
        put_csv(panels, count, &text);
    else
        put_table(panels, count, &text);
    TRY(wfre_report_string(&text, string, error));
cleanup:
    wfre_text_free(&text);
    return status;
}

wfre_status wfre_sweep_write(const wfre_sweep_panel *panels, size_t count, const char *title,
                             const char *folder, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    curves *scratch = wfre_alloc(1, sizeof *scratch);
    if (!scratch)
        TRY(wfre_fail_memory(error, "writing a report"));
    TRY(check_panels(panels, count, error));
    put_csv(panels, count, &text);
    TRY(wfre_report_part(&text, folder, "sweep.csv", error));
    put_json(panels, count, &text);
    TRY(wfre_report_part(&text, folder, "sweep.json", error));
    put_page(panels, count, title, scratch, &text);
    TRY(wfre_report_part(&text, folder, "sweep.html", error));
    for (size_t p = 0; p < count; p++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s.svg", panels[p].name);
        make_curves(&panels[p], scratch);
        wfre_chart_svg(&text, &scratch->chart, 520, 320, true);
        TRY(wfre_report_part(&text, folder, name, error));
    }
cleanup:
    wfre_free(scratch);
    wfre_text_free(&text);
    return status;
}
