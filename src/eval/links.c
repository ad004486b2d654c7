/* Link prediction as the field measures it: for each triple (h, r, t) that a split adds, where t
 * stands among the entities that no split knows as a tail of (h, r), and where h stands among those
 * that no split knows as a head. Averages are over triples, not over questions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/watch.h"
#include "eval/report.h"
#include "graph/graph.h"
#include "measure/links.h"

enum {
    FIXED = 3, /* rows before those of relations: all, tails, heads */
    SHOWN = 20 /* relations in a table for people: the most frequent */
};

struct wfre_links {
    wfre_links_row *rows; /* all, tails, heads, then relations with the most frequent first */
    size_t count;
    wfre_links_info info;
    wfre_arena arena; /* names */
};

/* One evaluation at work. */
typedef struct run {
    const wfre_graph *graph;
    const wfre_model *model;
    const wfre_links_options *options;
    wfre_way way;
    wfre_session *session;
    const wfre_monitor *monitor;
    wfre_total *totals; /* by directed relation */
    /* The batch. */
    wfre_rank_query queries[WFRE_RANK_BATCH];
    wfre_relation relations[WFRE_RANK_BATCH];
    size_t count;
    wfre_arena arena;
    uint64_t done, all; /* triples, in both directions */
} run;

/* ---- ranking ------------------------------------------------------------------------------ */

static wfre_status rank_batch(run *r, wfre_error *error)
{
    CHECK(wfre_check_interrupt(r->monitor, error));
    CHECK(wfre_rank(r->session, &r->way, r->options->known, r->queries, r->count, NULL, error));
    for (size_t q = 0; q < r->count; q++)
        for (size_t i = 0; i < r->queries[q].hard.count; i++, r->done++) {
            wfre_metrics one = wfre_metrics_of(r->queries[q].standings + i, 1);
            wfre_total_add(&r->totals[r->relations[q]], &one);
        }
    wfre_report(r->monitor, "ranking links", r->done, r->all, NULL);
    wfre_arena_reset(&r->arena);
    r->count = 0;
    return WFRE_OK;
}

/* The tails of a head, as far as the split adds some. */
static wfre_status add_query(run *r, wfre_relation relation, wfre_entity head, wfre_error *error)
{
    wfre_rank_query *query = &r->queries[r->count];
    CHECK(wfre_link_query(&r->arena, r->graph, r->options->split, relation, head, WFRE_NONE, query,
                          error));
    if (query->hard.count == 0)
        return WFRE_OK;
    r->relations[r->count++] = relation;
    return r->count == WFRE_RANK_BATCH ? rank_batch(r, error) : WFRE_OK;
}

static wfre_status rank_all(run *r, wfre_error *error)
{
    for (wfre_relation relation = 0; relation < wfre_graph_relations(r->graph); relation++) {
        wfre_list heads = wfre_graph_sources(r->graph, r->options->split, relation);
        for (size_t h = 0; h < heads.count; h++)
            CHECK(add_query(r, relation, heads.ids[h], error));
    }
    return r->count > 0 ? rank_batch(r, error) : WFRE_OK;
}

/* ---- averages ----------------------------------------------------------------------------- */

static wfre_links_row row_of(const char *name, const wfre_total *t)
{
    wfre_links_row row = {.name = name, .triples = t->count};
    double variance;
    row.mean = wfre_total_mean(t, &variance);
    wfre_mrr_interval(row.mean.mrr, variance, &row.mrr_low, &row.mrr_high);
    return row;
}

static int compare_rows(const void *left, const void *right)
{
    const wfre_links_row *a = left, *b = right;
    return a->triples != b->triples ? (a->triples < b->triples) - (a->triples > b->triples)
                                    : strcmp(a->name, b->name);
}

static wfre_status average(const run *r, wfre_links *links, wfre_error *error)
{
    static const char *const NAMES[FIXED] = {"all", "tails", "heads"};
    wfre_relation relations = wfre_graph_relations(r->graph);
    wfre_total fixed[FIXED] = {{0}};
    links->rows = wfre_alloc_zero(FIXED + relations / 2, sizeof *links->rows);
    if (!links->rows)
        return wfre_fail_memory(error, "ranking links");
    links->count = FIXED;
    for (wfre_relation p = 0; p < relations; p += 2) {
        wfre_total both = r->totals[p];
        wfre_name label = wfre_graph_relation_label(r->graph, p);
        char *name = wfre_arena_text(&links->arena, label.bytes, label.length);
        if (!name)
            return wfre_fail_memory(error, "ranking links");
        wfre_total_merge(&fixed[1], &r->totals[p]);
        wfre_total_merge(&fixed[2], &r->totals[p + 1]);
        wfre_total_merge(&both, &r->totals[p + 1]);
        if (both.count > 0)
            links->rows[links->count++] = row_of(name, &both);
    }
    fixed[0] = fixed[1];
    wfre_total_merge(&fixed[0], &fixed[2]);
    for (int i = 0; i < FIXED; i++)
        links->rows[i] = row_of(NAMES[i], &fixed[i]);
    qsort(links->rows + FIXED, links->count - FIXED, sizeof *links->rows, compare_rows);
    return WFRE_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

void wfre_links_options_default(wfre_links_options *options)
{
    *options = (wfre_links_options){.split = WFRE_VALID, .known = WFRE_TRAIN};
}

static wfre_status check(const run *r, wfre_error *error)
{
    wfre_split split = r->options->split;
    if (split != WFRE_VALID && split != WFRE_TEST)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "links are predicted of the valid or the test split");
    if (r->options->known >= split)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the links to predict are among those that are known");
    if (r->all == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the %s split adds no triples to predict: import the graph with a split, "
                         "or hold some out",
                         split == WFRE_VALID ? "valid" : "test");
    return WFRE_OK;
}

wfre_status wfre_evaluate_links(const wfre_graph *graph, const wfre_model *model,
                                const wfre_links_options *options, wfre_pool *pool,
                                const wfre_monitor *monitor, wfre_links **result, wfre_error *error)
{
    wfre_status status;
    wfre_watch watch = {0};
    double start = wfre_clock();
    wfre_links *links = wfre_alloc_zero(1, sizeof *links);
    run *r = wfre_alloc_zero(1, sizeof *r);
    if (!links || !r)
        TRY(wfre_fail_memory(error, "ranking links"));
    r->graph = graph;
    r->model = model;
    r->options = options;
    r->way = options->way ? *options->way : model->settings.way;
    TRY(wfre_watch_begin(&watch, monitor, error));
    r->monitor = &watch.monitor;
    if (options->split == WFRE_VALID || options->split == WFRE_TEST)
        r->all = 2 * wfre_links_added(graph, options->split);
    TRY(check(r, error));
    r->totals = wfre_alloc_zero(wfre_graph_relations(graph), sizeof *r->totals);
    if (!r->totals)
        TRY(wfre_fail_memory(error, "ranking links"));
    TRY(wfre_session_open(graph, model, pool, &r->session, error));
    TRY(rank_all(r, error));
    TRY(average(r, links, error));
    links->info = (wfre_links_info){.dataset = wfre_known_links_dataset(
                                        wfre_graph_entities(graph), wfre_graph_relations(graph)),
                                    .method = wfre_rank_method(model, &r->way),
                                    .split = options->split,
                                    .seconds = wfre_clock() - start};
    *result = links;
    links = NULL;
cleanup:
    wfre_watch_end(&watch);
    if (r) {
        wfre_session_free(r->session);
        wfre_free(r->totals);
        wfre_arena_free(&r->arena);
    }
    wfre_free(r);
    wfre_links_free(links);
    return status;
}

void wfre_links_free(wfre_links *links)
{
    if (!links)
        return;
    wfre_free(links->rows);
    wfre_arena_free(&links->arena);
    wfre_free(links);
}

size_t wfre_links_count(const wfre_links *links)
{
    return links->count;
}

const wfre_links_row *wfre_links_at(const wfre_links *links, size_t index)
{
    return &links->rows[index];
}

const wfre_links_info *wfre_links_get_info(const wfre_links *links)
{
    return &links->info;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void add_grid_row(wfre_grid *grid, const wfre_links_row *row)
{
    wfre_grid_cell(grid, "%s", row->name);
    wfre_grid_whole(grid, row->triples);
    wfre_grid_percent(grid, row->mean.mrr, 1);
    wfre_grid_percent(grid, row->mrr_low, 1);
    wfre_grid_percent(grid, row->mrr_high, 1);
    wfre_grid_percent(grid, row->mean.hits1, 1);
    wfre_grid_percent(grid, row->mean.hits3, 1);
    wfre_grid_percent(grid, row->mean.hits10, 1);
}

static void add_published(wfre_grid *grid, const char *dataset)
{
    bool first = true;
    for (size_t i = 0; dataset && i < wfre_published_links_count; i++) {
        const wfre_published_link *p = &wfre_published_links[i];
        if (strcmp(p->dataset, dataset) != 0)
            continue;
        if (first)
            wfre_grid_rule(grid);
        first = false;
        wfre_grid_cell(grid, "%s, published", p->method);
        wfre_grid_cell(grid, "test");
        wfre_grid_percent(grid, p->mrr, p->digits);
        wfre_grid_cell(grid, "-");
        wfre_grid_cell(grid, "-");
        wfre_grid_percent(grid, p->hits1, p->digits);
        wfre_grid_cell(grid, "-");
        wfre_grid_percent(grid, p->hits10, p->digits);
    }
}

static void print_table(const wfre_links *links, wfre_text *text)
{
    static const char *const HEADING[] = {"percent", "ranked", "MRR", "from",
                                          "to",      "Hits@1", "@3",  "@10"};
    wfre_grid grid = {.columns = sizeof HEADING / sizeof HEADING[0]};
    size_t shown = links->count < FIXED + SHOWN ? links->count : FIXED + SHOWN;
    for (size_t i = 0; i < grid.columns; i++)
        wfre_grid_cell(&grid, "%s", HEADING[i]);
    wfre_grid_rule(&grid);
    for (size_t i = 0; i < shown; i++) {
        if (i == FIXED) {
            add_published(&grid, links->info.dataset);
            wfre_grid_rule(&grid);
        }
        add_grid_row(&grid, &links->rows[i]);
    }
    wfre_grid_print(text, &grid);
    text->failed |= grid.cells.failed || grid.flags.failed;
    wfre_grid_free(&grid);
    if (shown < links->count)
        wfre_text_format(text, "and %zu relations with fewer triples\n", links->count - shown);
}

static void print_csv(const wfre_links *links, wfre_text *text)
{
    wfre_text_add(text, "name,triples,mrr,mrr_low,mrr_high,hits1,hits3,hits10\n");
    for (size_t i = 0; i < links->count; i++) {
        const wfre_links_row *row = &links->rows[i];
        wfre_report_csv_field(text, row->name);
        wfre_text_format(text, ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", row->triples,
                         row->mean.mrr, row->mrr_low, row->mrr_high, row->mean.hits1,
                         row->mean.hits3, row->mean.hits10);
    }
}

static void print_json(const wfre_links *links, wfre_text *text)
{
    wfre_text_format(text, "{\"split\":\"%s\",\"method\":\"%s\",\"seconds\":%.3f,\"rows\":[",
                     links->info.split == WFRE_VALID ? "valid" : "test", links->info.method,
                     links->info.seconds);
    for (size_t i = 0; i < links->count; i++) {
        const wfre_links_row *row = &links->rows[i];
        wfre_text_format(text, "%s{\"name\":", i > 0 ? "," : "");
        wfre_text_json(text, row->name, strlen(row->name));
        wfre_text_format(text,
                         ",\"kind\":\"%s\",\"triples\":%" PRIu64
                         ",\"mrr\":%.6f,\"mrr_low\":%.6f,\"mrr_high\":%.6f,\"hits1\":%.6f,"
                         "\"hits3\":%.6f,\"hits10\":%.6f}",
                         i < FIXED ? "group" : "relation", row->triples, row->mean.mrr,
                         row->mrr_low, row->mrr_high, row->mean.hits1, row->mean.hits3,
                         row->mean.hits10);
    }
    wfre_text_add(text, "]}\n");
}

wfre_status wfre_links_print(const wfre_links *links, wfre_report_format format, char **result,
                             wfre_error *error)
{
    static void (*const PRINT[])(const wfre_links *,
                                 wfre_text *) = {[WFRE_REPORT_TABLE] = print_table,
                                                 [WFRE_REPORT_CSV] = print_csv,
                                                 [WFRE_REPORT_JSON] = print_json};
    wfre_text text = {0};
    PRINT[format](links, &text);
    wfre_status status = wfre_text_status(&text, "printing a report", error);
    if (status == WFRE_OK)
        *result = text.data;
    else
        wfre_text_free(&text);
    return status;
}
