/* Collecting metrics by query, and averaging them by type and group. */
#include "eval/evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "eval/published.h"
#include "query/types.h"

const double wfre_rank_edges[WFRE_RANK_CLASSES - 1] = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000};

static const char *const GROUP_NAMES[WFRE_GROUPS] = {"A_P", "A_p", "A_l", "A_N", "all"};

const char *wfre_group_name(wfre_group group)
{
    return GROUP_NAMES[group];
}

bool wfre_type_in_group(const wfre_type_result *type, wfre_group group)
{
    switch (group) {
    case WFRE_GROUP_POSITIVE:
        return !type->negated;
    case WFRE_GROUP_PATHS:
        return type->path;
    case WFRE_GROUP_OTHERS:
        return !type->negated && !type->path;
    case WFRE_GROUP_NEGATIVE:
        return type->negated;
    case WFRE_GROUP_ALL:
        return true;
    }
    return false;
}

/* ---- creation ----------------------------------------------------------------------------- */

/* Projections on the longest way down. */
static uint32_t projection_depth(const wfre_node *tree)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        uint32_t depth = projection_depth(tree->children[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (tree->op == WFRE_OP_PROJECT);
}

static void describe_type(wfre_type_result *type, const char *name, const wfre_node *tree)
{
    type->row = (wfre_evaluation_row){.name = name, .types = 1};
    type->negated = wfre_tree_count(tree, WFRE_OP_NEGATE) > 0;
    type->path = !type->negated && wfre_tree_count(tree, WFRE_OP_INTERSECT) == 0 &&
                 wfre_tree_count(tree, WFRE_OP_UNION) == 0;
    type->anchors = (uint32_t)wfre_tree_count(tree, WFRE_OP_ENTITY);
    type->depth = projection_depth(tree);
    type->order = wfre_betae_type_index(name, strlen(name));
}

/* Without negation first; well-known types in their order; the rest as text, short before long. */
static int compare_types(const void *left, const void *right)
{
    const wfre_type_result *a = left, *b = right;
    if (a->negated != b->negated)
        return a->negated ? 1 : -1;
    if ((a->order < 0) != (b->order < 0))
        return a->order < 0 ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    size_t m = strlen(a->row.name), n = strlen(b->row.name);
    return m != n ? (m < n ? -1 : 1) : strcmp(a->row.name, b->row.name);
}

/* Describes every type by its first query, sorts, and translates the type of each query. */
static wfre_status fill_types(wfre_evaluation *e, const wfre_queryset *set, wfre_error *error)
{
    for (uint32_t q = 0; q < set->count; q++) {
        uint32_t t = set->rows[q].type;
        e->queries[q].type = t;
        if (e->types[t].row.name)
            continue;
        size_t length;
        const char *text = wfre_strings_get(&set->types, t, &length);
        const char *name = wfre_arena_text(&e->arena, text, length);
        if (!name)
            return wfre_fail_memory(error, "evaluating");
        describe_type(&e->types[t], name, set->rows[q].tree);
        e->types[t].source = t;
    }
    uint32_t *place = wfre_alloc(e->type_count + 1, sizeof *place);
    if (!place)
        return wfre_fail_memory(error, "evaluating");
    qsort(e->types, e->type_count, sizeof *e->types, compare_types);
    for (uint32_t i = 0; i < e->type_count; i++)
        place[e->types[i].source] = i;
    for (size_t q = 0; q < e->query_count; q++)
        e->queries[q].type = place[e->queries[q].type];
    wfre_free(place);
    return WFRE_OK;
}

wfre_status wfre_evaluation_create(const wfre_queryset *set, const wfre_graph *graph,
                                   const char *label, wfre_evaluation **evaluation,
                                   wfre_error *error)
{
    wfre_evaluation *e = NULL;
    wfre_status status = WFRE_OK;
    TRY(wfre_queryset_check_graph(set, graph, error));
    e = wfre_alloc_zero(1, sizeof *e);
    if (!e)
        TRY(wfre_fail_memory(error, "evaluating"));
    e->info.dataset = wfre_known_dataset(wfre_graph_entities(graph), wfre_graph_relations(graph));
    e->usual = e->info.dataset && wfre_published_kind(e->info.dataset, set);
    e->type_count = set->types.count;
    e->query_count = set->count;
    e->types = wfre_alloc_zero(e->type_count + 1, sizeof *e->types);
    e->queries = wfre_alloc_zero(e->query_count + 1, sizeof *e->queries);
    e->info.label = wfre_arena_text(&e->arena, label, strlen(label));
    if (!e->types || !e->queries || !e->info.label)
        TRY(wfre_fail_memory(error, "evaluating"));
    TRY(fill_types(e, set, error));
    for (uint32_t q = 0; q < set->count; q++) {
        e->queries[q].begin = e->standing_count;
        e->queries[q].answers = (uint32_t)wfre_queryset_hard(set, q).count;
        e->standing_count += e->queries[q].answers;
        e->info.unranked += e->queries[q].answers == 0;
    }
    if (e->standing_count == 0)
        TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                      "%s: no query has a hard answer, the fourth column; there is nothing to rank",
                      set->name));
    e->standings = wfre_alloc_zero(e->standing_count, sizeof *e->standings);
    if (!e->standings)
        TRY(wfre_fail_memory(error, "evaluating"));
    *evaluation = e;
    e = NULL;
cleanup:
    wfre_evaluation_free(e);
    return status;
}

void wfre_evaluation_free(wfre_evaluation *evaluation)
{
    if (!evaluation)
        return;
    wfre_free(evaluation->types);
    wfre_free(evaluation->queries);
    wfre_free(evaluation->standings);
    wfre_free(evaluation->strata);
    wfre_arena_free(&evaluation->arena);
    wfre_free(evaluation);
}

/* ---- recording and averaging -------------------------------------------------------------- */

wfre_standing *wfre_evaluation_standings(wfre_evaluation *evaluation, uint32_t query)
{
    return evaluation->standings + evaluation->queries[query].begin;
}

/* The metrics of a query, and its share in the rank distribution of its type. */
static void judge_query(wfre_evaluation *e, wfre_query_result *result)
{
    const wfre_standing *standings = e->standings + result->begin;
    result->metrics = wfre_metrics_of(standings, result->answers);
    for (size_t i = 0; i < result->answers; i++) {
        double rank = wfre_standing_rank(standings[i]);
        size_t class = 0;
        while (class < WFRE_RANK_CLASSES - 1 && rank > wfre_rank_edges[class])
            class ++;
        e->types[result->type].ranks[class]++;
    }
}

static void average_types(wfre_evaluation *e)
{
    for (size_t q = 0; q < e->query_count; q++) {
        wfre_query_result *result = &e->queries[q];
        if (!result->ranked)
            continue;
        judge_query(e, result);
        wfre_evaluation_row *row = &e->types[result->type].row;
        row->queries++;
        row->answers += result->answers;
        wfre_metrics_add(&row->mean, &result->metrics);
    }
    for (size_t t = 0; t < e->type_count; t++) {
        wfre_evaluation_row *row = &e->types[t].row;
        if (row->queries)
            row->mean = wfre_metrics_scale(&row->mean, 1.0 / (double)row->queries);
    }
}

static void average_groups(wfre_evaluation *e)
{
    for (int g = 0; g < WFRE_GROUPS; g++) {
        wfre_evaluation_row *group = &e->groups[g];
        *group = (wfre_evaluation_row){.name = GROUP_NAMES[g]};
        for (size_t t = 0; t < e->type_count; t++) {
            const wfre_evaluation_row *row = &e->types[t].row;
            if (!wfre_type_in_group(&e->types[t], (wfre_group)g))
                continue;
            group->types++;
            group->queries += row->queries;
            group->answers += row->answers;
            wfre_metrics_add(&group->mean, &row->mean);
        }
        if (group->types)
            group->mean = wfre_metrics_scale(&group->mean, 1.0 / group->types);
    }
}

/* Forgets types of which no query was ranked, so that they do not enter the averages. */
static wfre_status drop_empty_types(wfre_evaluation *e, wfre_error *error)
{
    uint32_t *place = wfre_alloc(e->type_count + 1, sizeof *place);
    if (!place)
        return wfre_fail_memory(error, "evaluating");
    size_t kept = 0;
    for (size_t t = 0; t < e->type_count; t++) {
        place[t] = (uint32_t)kept;
        if (e->types[t].row.queries)
            e->types[kept++] = e->types[t];
    }
    e->type_count = kept;
    for (size_t q = 0; q < e->query_count; q++)
        e->queries[q].type = place[e->queries[q].type];
    wfre_free(place);
    return WFRE_OK;
}

wfre_status wfre_evaluation_finish(wfre_evaluation *evaluation, uint32_t resamplings, uint64_t seed,
                                   wfre_pool *pool, wfre_error *error)
{
    if (resamplings == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "an interval needs at least one resampling");
    average_types(evaluation);
    CHECK(drop_empty_types(evaluation, error));
    average_groups(evaluation);
    return wfre_evaluation_bootstrap(evaluation, resamplings, seed, pool, error);
}

/* ---- access ------------------------------------------------------------------------------- */

size_t wfre_evaluation_types(const wfre_evaluation *evaluation)
{
    return evaluation->type_count;
}

const wfre_evaluation_row *wfre_evaluation_type(const wfre_evaluation *evaluation, size_t index)
{
    return index < evaluation->type_count ? &evaluation->types[index].row : NULL;
}

const wfre_evaluation_row *wfre_evaluation_group(const wfre_evaluation *evaluation,
                                                 wfre_group group)
{
    return (unsigned)group < WFRE_GROUPS ? &evaluation->groups[group] : NULL;
}

size_t wfre_evaluation_strata(const wfre_evaluation *evaluation)
{
    return evaluation->stratum_count;
}

const wfre_evaluation_stratum *wfre_evaluation_get_stratum(const wfre_evaluation *evaluation,
                                                           size_t index)
{
    return index < evaluation->stratum_count ? &evaluation->strata[index] : NULL;
}

const wfre_evaluation_info *wfre_evaluation_get_info(const wfre_evaluation *evaluation)
{
    return &evaluation->info;
}
