/* The tables of a report. */
#include "eval/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* ---- columns ------------------------------------------------------------------------------ */

/* The paper's table of WN18RR has groups of its own, and two decimals. */
static bool has_paths(const char *dataset)
{
    return dataset && strcmp(dataset, "WN18RR") == 0;
}

/* The groups, as bits, over exactly the types that published averages are over. */
static unsigned find_comparable(const wfre_evaluation *evaluation)
{
    static const uint32_t TYPES[WFRE_GROUPS] = {[WFRE_GROUP_POSITIVE] = 9,
                                                [WFRE_GROUP_NEGATIVE] = 5,
                                                [WFRE_GROUP_PATHS] = 3,
                                                [WFRE_GROUP_OTHERS] = 6,
                                                [WFRE_GROUP_ALL] = WFRE_BETAE_TYPES};
    unsigned groups = 0;
    for (size_t t = 0; t < evaluation->type_count; t++)
        if (evaluation->types[t].order < 0 || evaluation->types[t].order >= WFRE_BETAE_TYPES)
            return 0;
    for (int g = 0; g < WFRE_GROUPS; g++)
        groups |= evaluation->groups[g].types == TYPES[g] ? 1u << g : 0;
    return groups;
}

void wfre_report_begin(wfre_comparison *shown, const wfre_evaluation *const *evaluations,
                       size_t count, const wfre_report_options *options)
{
    const wfre_evaluation *first = evaluations[0];
    *shown = (wfre_comparison){.evaluations = evaluations,
                               .count = count,
                               .options = *options,
                               .dataset = first->info.dataset,
                               .many_types = first->type_count > WFRE_COMPARED_TYPES};
    shown->published = first->usual && !shown->many_types ? shown->dataset : NULL;
    for (size_t t = 0; t < first->type_count && !shown->many_types; t++)
        shown->columns[shown->column_count++] =
            (wfre_report_column){first->types[t].row.name, first->types[t].order, -1};
    bool paths = has_paths(shown->dataset);
    shown->comparable = find_comparable(first);
    for (int g = 0; g < WFRE_GROUPS; g++) {
        bool wanted = g == WFRE_GROUP_POSITIVE                          ? !paths
                      : g == WFRE_GROUP_PATHS || g == WFRE_GROUP_OTHERS ? paths
                                                                        : true;
        if (wanted && first->groups[g].types)
            shown->columns[shown->column_count++] =
                (wfre_report_column){wfre_group_name((wfre_group)g), -1, g};
    }
}

const wfre_evaluation_row *wfre_report_row(const wfre_evaluation *evaluation,
                                           const wfre_report_column *column)
{
    if (column->group >= 0)
        return evaluation->groups[column->group].types ? &evaluation->groups[column->group] : NULL;
    for (size_t t = 0; t < evaluation->type_count; t++)
        if (strcmp(evaluation->types[t].row.name, column->name) == 0)
            return &evaluation->types[t].row;
    return NULL;
}

double wfre_published_mrr(const wfre_comparison *shown, const wfre_published *published,
                          const wfre_report_column *column)
{
    double percent = 0;
    if (column->group >= 0 && !(shown->comparable >> column->group & 1))
        return NAN;
    if (column->type >= 0)
        percent = published->types[column->type];
    else if (column->group == WFRE_GROUP_ALL)
        for (int t = 0; t < WFRE_BETAE_TYPES; t++)
            percent += published->types[t] / WFRE_BETAE_TYPES;
    else if (column->group >= 0)
        percent = published->groups[column->group];
    return percent > 0 ? percent / 100 : NAN;
}

void wfre_report_moments(const wfre_comparison *shown, const wfre_report_column *column,
                         double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < shown->count; i++) {
        const wfre_evaluation_row *row = wfre_report_row(shown->evaluations[i], column);
        sum += row ? row->mean.mrr : 0;
        count += row != NULL;
    }
    *mean = count ? sum / (double)count : NAN;
    for (size_t i = 0; i < shown->count; i++) {
        const wfre_evaluation_row *row = wfre_report_row(shown->evaluations[i], column);
        squares += row ? (row->mean.mrr - *mean) * (row->mean.mrr - *mean) : 0;
    }
    *deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

double wfre_report_shape(const wfre_evaluation *evaluation, uint32_t anchors, uint32_t depth)
{
    double sum = 0;
    size_t count = 0;
    for (size_t t = 0; t < evaluation->type_count; t++) {
        const wfre_type_result *type = &evaluation->types[t];
        if ((anchors == 0 || type->anchors == anchors) && (depth == 0 || type->depth == depth)) {
            sum += type->row.mean.mrr;
            count++;
        }
    }
    return count ? sum / (double)count : NAN;
}

/* ---- tables ------------------------------------------------------------------------------- */

static void add_moments(const wfre_comparison *shown, wfre_grid *grid)
{
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            wfre_grid_rule(grid);
        wfre_grid_cell(grid, kind == 0 ? "mean" : "standard deviation");
        for (size_t c = 0; c < shown->column_count; c++) {
            double moments[2];
            wfre_report_moments(shown, &shown->columns[c], &moments[0], &moments[1]);
            wfre_grid_percent(grid, moments[kind], 2);
        }
    }
}

static void add_published(const wfre_comparison *shown, wfre_grid *grid)
{
    int decimals = has_paths(shown->dataset) ? 2 : 1;
    bool first = true;
    for (size_t i = 0; i < wfre_published_count; i++) {
        const wfre_published *row = &wfre_published_rows[i];
        if (strcmp(row->dataset, shown->published) != 0)
            continue;
        if (first)
            wfre_grid_rule(grid);
        first = false;
        wfre_grid_cell(grid, "%s *", row->method);
        for (size_t c = 0; c < shown->column_count; c++)
            wfre_grid_percent(grid, wfre_published_mrr(shown, row, &shown->columns[c]), decimals);
    }
}

void wfre_report_comparison(const wfre_comparison *shown, wfre_grid *grid)
{
    *grid = (wfre_grid){.columns = shown->column_count + 1};
    wfre_grid_cell(grid, "MRR x 100");
    for (size_t c = 0; c < shown->column_count; c++)
        wfre_grid_cell(grid, "%s", shown->columns[c].name);
    for (size_t i = 0; i < shown->count; i++) {
        if (i == 0)
            wfre_grid_rule(grid);
        wfre_grid_mark(grid);
        wfre_grid_cell(grid, "%s", shown->evaluations[i]->info.label);
        for (size_t c = 0; c < shown->column_count; c++) {
            const wfre_evaluation_row *row =
                wfre_report_row(shown->evaluations[i], &shown->columns[c]);
            wfre_grid_percent(grid, row ? row->mean.mrr : NAN, 2);
        }
    }
    if (shown->options.repeats && shown->count > 1)
        add_moments(shown, grid);
    if (shown->published)
        add_published(shown, grid);
}

static void add_detail(wfre_grid *grid, const wfre_evaluation_row *row)
{
    wfre_grid_cell(grid, "%s", row->name);
    wfre_grid_percent(grid, row->mean.mrr, 2);
    wfre_grid_cell(grid, "%.2f - %.2f", 100 * row->mrr_low, 100 * row->mrr_high);
    wfre_grid_percent(grid, row->mean.hits1, 2);
    wfre_grid_percent(grid, row->mean.hits3, 2);
    wfre_grid_percent(grid, row->mean.hits10, 2);
    wfre_grid_whole(grid, row->queries);
    wfre_grid_whole(grid, row->answers);
}

static void begin_details(const char *first, wfre_grid *grid)
{
    static const char *const HEADINGS[] = {"MRR",     "95%",     "Hits@1", "Hits@3",
                                           "Hits@10", "queries", "answers"};
    enum { COLUMNS = sizeof HEADINGS / sizeof HEADINGS[0] };
    *grid = (wfre_grid){.columns = COLUMNS + 1};
    wfre_grid_cell(grid, "%s", first);
    for (size_t c = 0; c < COLUMNS; c++)
        wfre_grid_cell(grid, "%s", HEADINGS[c]);
    wfre_grid_rule(grid);
}

void wfre_report_strata(const wfre_evaluation *evaluation, wfre_grid *grid)
{
    begin_details("edges to predict", grid);
    for (size_t i = 0; i < evaluation->stratum_count; i++)
        add_detail(grid, &evaluation->strata[i].row);
}

void wfre_report_details(const wfre_evaluation *evaluation, wfre_grid *grid)
{
    begin_details("type", grid);
    for (size_t t = 0; t < evaluation->type_count; t++)
        add_detail(grid, &evaluation->types[t].row);
    bool first = true;
    for (int g = 0; g < WFRE_GROUPS; g++) {
        if (evaluation->groups[g].types == 0)
            continue;
        if (first)
            wfre_grid_rule(grid);
        first = false;
        wfre_grid_mark(grid);
        add_detail(grid, &evaluation->groups[g]);
    }
}

void wfre_report_shapes(const wfre_evaluation *evaluation, wfre_grid *grid)
{
    uint32_t anchors = 0, depths = 0;
    for (size_t t = 0; t < evaluation->type_count; t++) {
        const wfre_type_result *type = &evaluation->types[t];
        anchors = type->anchors > anchors ? type->anchors : anchors;
        depths = type->depth > depths ? type->depth : depths;
    }
    anchors = anchors < WFRE_SHAPES ? anchors : WFRE_SHAPES;
    depths = depths < WFRE_SHAPES ? depths : WFRE_SHAPES;
    *grid = (wfre_grid){.columns = depths + 2};
    wfre_grid_cell(grid, "MRR x 100");
    for (uint32_t d = 1; d <= depths; d++)
        wfre_grid_cell(grid, "depth %" PRIu32, d);
    wfre_grid_cell(grid, "any depth");
    wfre_grid_rule(grid);
    for (uint32_t a = 1; a <= anchors + 1; a++) {
        bool any = a > anchors;
        if (any) {
            wfre_grid_rule(grid);
            wfre_grid_cell(grid, "any number");
        } else {
            wfre_grid_cell(grid, "%" PRIu32 " anchor%s", a, a == 1 ? "" : "s");
        }
        for (uint32_t d = 1; d <= depths + 1; d++)
            wfre_grid_percent(grid, wfre_report_shape(evaluation, any ? 0 : a, d > depths ? 0 : d),
                              2);
    }
}

void wfre_report_method(const wfre_evaluation *evaluation, wfre_text *text)
{
    const wfre_evaluation_info *info = &evaluation->info;
    wfre_text_whole(text, evaluation->groups[WFRE_GROUP_ALL].queries);
    wfre_text_format(text, " queries in %.1f s, %s", info->seconds, info->method);
    if (info->exact) {
        wfre_text_add(text, ": ");
        wfre_text_whole(text, info->exact);
        wfre_text_add(text, " of ");
        wfre_text_whole(text, info->pairs);
        wfre_text_format(text, " pairs scored exactly (%.2f%%)",
                         100.0 * (double)info->exact / (double)info->pairs);
    }
    if (info->unranked) {
        wfre_text_add(text, "; ");
        wfre_text_whole(text, info->unranked);
        wfre_text_add(text, " without a hard answer left out");
    }
}

static void print_grid(wfre_text *text, wfre_grid *grid)
{
    wfre_grid_print(text, grid);
    wfre_grid_free(grid);
}

void wfre_report_table(const wfre_comparison *shown, wfre_text *text)
{
    wfre_grid grid;
    for (size_t i = 0; i < shown->count; i++) {
        const char *label = shown->evaluations[i]->info.label;
        wfre_text_visible(text, label, strlen(label));
        wfre_text_add(text, ", ");
        wfre_report_method(shown->evaluations[i], text);
        wfre_text_char(text, '\n');
    }
    wfre_text_char(text, '\n');
    if (shown->count == 1) {
        wfre_report_details(shown->evaluations[0], &grid);
        print_grid(text, &grid);
        wfre_text_char(text, '\n');
    }
    for (size_t i = 0; i < shown->count; i++) {
        if (shown->evaluations[i]->stratum_count == 0)
            continue;
        if (shown->count > 1)
            wfre_text_format(text, "%s\n", shown->evaluations[i]->info.label);
        wfre_report_strata(shown->evaluations[i], &grid);
        print_grid(text, &grid);
        wfre_text_char(text, '\n');
    }
    for (size_t i = 0; i < shown->count && shown->many_types; i++) {
        wfre_report_shapes(shown->evaluations[i], &grid);
        print_grid(text, &grid);
        wfre_text_char(text, '\n');
    }
    if (shown->count > 1 || shown->published) {
        wfre_report_comparison(shown, &grid);
        print_grid(text, &grid);
    }
    if (shown->published)
        wfre_text_format(text, "* published results on the test queries of %s\n", shown->published);
    else if (shown->dataset && !shown->many_types)
        wfre_text_format(text, WFRE_OTHER_KIND "\n", shown->dataset);
}

/* ---- writing ------------------------------------------------------------------------------ */

wfre_status wfre_report_string(wfre_text *text, char **string, wfre_error *error)
{
    CHECK(wfre_text_status(text, "writing a report", error));
    *string = text->data;
    *text = (wfre_text){0};
    return WFRE_OK;
}

wfre_status wfre_report_print(const wfre_evaluation *const *evaluations, size_t count,
                              const wfre_report_options *options, wfre_report_format format,
                              char **string, wfre_error *error)
{
    static void (*const FORMATS[])(const wfre_comparison *, wfre_text *) = {
        [WFRE_REPORT_TABLE] = wfre_report_table,
        [WFRE_REPORT_CSV] = wfre_report_csv,
        [WFRE_REPORT_JSON] = wfre_report_json,
    };
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    if (count == 0 || (unsigned)format > WFRE_REPORT_JSON)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "nothing to report");
    wfre_comparison shown;
    wfre_report_begin(&shown, evaluations, count, options);
    FORMATS[format](&shown, &text);
    TRY(wfre_report_string(&text, string, error));
cleanup:
    wfre_text_free(&text);
    return status;
}

wfre_status wfre_report_part(wfre_text *text, const char *folder, const char *name,
                             wfre_error *error)
{
    wfre_status status = WFRE_OK;
    char *path = wfre_path_join(folder, name);
    if (!path)
        TRY(wfre_fail_memory(error, "writing a report"));
    TRY(wfre_text_status(text, "writing a report", error));
    TRY(wfre_write_file(path, text->data, text->length, error));
    wfre_text_clear(text);
cleanup:
    wfre_free(path);
    return status;
}

wfre_status wfre_report_write(const wfre_evaluation *const *evaluations, size_t count,
                              const wfre_report_options *options, const char *folder,
                              wfre_error *error)
{
    GIVEN(folder);
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    if (count == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "nothing to report");
    wfre_comparison shown;
    wfre_report_begin(&shown, evaluations, count, options);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        TRY(wfre_fail_errno(error, folder, "create the folder"));
    wfre_report_csv(&shown, &text);
    TRY(wfre_report_part(&text, folder, "results.csv", error));
    wfre_report_json(&shown, &text);
    TRY(wfre_report_part(&text, folder, "results.json", error));
    TRY(wfre_report_page(&shown, &text, error));
    TRY(wfre_report_part(&text, folder, "report.html", error));
    if (shown.many_types) {
        wfre_report_shapes_svg(evaluations[0], &text);
        TRY(wfre_report_part(&text, folder, "shapes.svg", error));
    }
cleanup:
    wfre_text_free(&text);
    return status;
}
