/* Questions for any number of variables.
 *
 * A variable that stands for a relation is tried with each relation that may do, the rest of the
 * question being answered for each. For the others the plan's steps at or below which something is
 * asked for are gone through with all their candidates, the rest only until a solution is found.
 * Steps between two that are asked for may give a row several times; rows are sorted and doubles
 * dropped whenever they have become half as many again. */
#include <string.h>

#include "exact/join.h"
#include "exact/join_plan.h"

/* Rows are not looked through before there are this many. */
enum { FEW_ROWS = 4096 };

typedef struct collector {
    wfre_exact *exact;
    wfre_split split;
    const wfre_query *query;
    wfre_join *join; /* of the question, all relations given */
    wfre_targets targets;
    uint32_t *row;
    wfre_join_step **pending; /* steps to be gone through below the current one */
    size_t pending_count;
    size_t count; /* rows in exact->answers */
    size_t most;  /* rows wanted; 0 for all */
    size_t tidy_at;
    bool full;
    wfre_error *error;
} collector;

static wfre_status no_memory(const collector *c)
{
    return wfre_fail_memory(c->error, "collecting answers");
}

/* ---- rows --------------------------------------------------------------------------------- */

static int compare_rows(const uint32_t *a, const uint32_t *b, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Merges the sorted runs [begin, middle) and [middle, end). */
static void merge_rows(const uint32_t *from, uint32_t *to, size_t begin, size_t middle, size_t end,
                       uint32_t width)
{
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; i++) {
        bool take_left =
            left < middle &&
            (right == end || compare_rows(from + left * width, from + right * width, width) <= 0);
        memcpy(to + i * width, from + (take_left ? left++ : right++) * width, width * sizeof *to);
    }
}

static bool are_ascending(const uint32_t *rows, size_t count, uint32_t width)
{
    for (size_t i = 1; i < count; i++)
        if (compare_rows(rows + (i - 1) * width, rows + i * width, width) >= 0)
            return false;
    return true;
}

/* Brings the rows in order, each once. */
static wfre_status tidy(collector *c)
{
    uint32_t width = c->query->asked, *rows = c->exact->answers;
    if (are_ascending(rows, c->count, width))
        return WFRE_OK;
    uint32_t *other = wfre_alloc(c->count * width, sizeof *other), *from = rows, *to = other;
    if (!other)
        return no_memory(c);
    for (size_t run = 1; run < c->count; run *= 2) {
        for (size_t begin = 0; begin < c->count; begin += 2 * run) {
            size_t middle = begin + run < c->count ? begin + run : c->count;
            size_t end = middle + run < c->count ? middle + run : c->count;
            merge_rows(from, to, begin, middle, end, width);
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (i > 0 && compare_rows(from + (i - 1) * width, from + i * width, width) == 0)
            continue;
        memcpy(to + kept++ * width, from + i * width, width * sizeof *to);
    }
    if (to != rows)
        memcpy(rows, to, kept * width * sizeof *rows);
    c->count = kept;
    wfre_free(other);
    return WFRE_OK;
}

static wfre_status add_row(collector *c)
{
    uint32_t width = c->query->asked;
    if (!WFRE_RESERVE(&c->exact->answers, &c->exact->answers_capacity, (c->count + 1) * width))
        return no_memory(c);
    for (size_t i = 0; i < c->targets.count; i++)
        c->row[c->targets.variables[i]] = c->join->value[c->targets.variables[i]];
    memcpy(c->exact->answers + c->count++ * width, c->row, width * sizeof *c->row);
    if (c->count < c->tidy_at)
        return WFRE_OK;
    CHECK(tidy(c));
    c->full = c->most > 0 && c->count > c->most;
    c->tidy_at = (c->most > c->count ? c->most : c->count) / 2 * 3 + FEW_ROWS;
    return WFRE_OK;
}

/* ---- going through steps ------------------------------------------------------------------ */

static wfre_status go_through(collector *c)
{
    if (c->pending_count == 0)
        return add_row(c);
    wfre_join_step *step = c->pending[--c->pending_count];
    wfre_entity candidate;
    wfre_join_step_begin(c->join, step);
    while (!c->full && wfre_join_step_next(c->join, step, &candidate)) {
        bool holds;
        CHECK(wfre_join_step_try(c->join, step, candidate, &holds));
        if (!holds)
            continue;
        for (size_t i = 0; i < step->asked_count; i++)
            c->pending[c->pending_count++] = step->asked[i];
        CHECK(go_through(c));
        c->pending_count -= step->asked_count;
    }
    c->pending[c->pending_count++] = step;
    return WFRE_OK;
}

static wfre_status answer_grounded(collector *c, const wfre_formula *formula)
{
    wfre_status status;
    wfre_join_plans plans;
    wfre_join join;
    TRY(wfre_join_open(&join, c->exact, c->split, c->query, c->error));
    c->join = &join;
    TRY(wfre_join_prepare(&join, formula, true, c->targets, &plans));
    for (size_t i = 0; i < plans.count && !c->full; i++) {
        const wfre_join_plan *plan = &plans.items[i];
        bool holds;
        TRY(wfre_join_plan_holds(&join, plan, &holds));
        if (!holds)
            continue;
        for (c->pending_count = 0; c->pending_count < plan->asked_count; c->pending_count++)
            c->pending[c->pending_count] = plan->asked[c->pending_count];
        if (c->query->asked > 0)
            TRY(go_through(c));
        else
            c->full = (c->count = 1); /* that it holds is all there is to know */
    }
cleanup:
    wfre_join_close(&join);
    return status;
}

/* The question with the relations of the first `column` variables given. */
static wfre_status answer_from(collector *c, const wfre_formula *formula, uint32_t column)
{
    wfre_status status = WFRE_OK;
    const wfre_query *query = c->query;
    wfre_arena arena = {0};
    wfre_join look = {.edges = wfre_graph_adjacency(c->exact->graph, c->split)};
    while (column < query->asked && !wfre_query_column_is_relation(query, column))
        column++;
    if (column == query->asked)
        return answer_grounded(c, formula);
    uint32_t relations = wfre_graph_relations(c->exact->graph);
    for (wfre_relation r = 0; r < relations && !c->full; r += 2) {
        if (!wfre_may_hold(&look, formula, column, r))
            continue;
        wfre_arena_reset(&arena);
        const wfre_formula *grounded = wfre_formula_with_relation(&arena, formula, column, r);
        if (!grounded)
            TRY(no_memory(c));
        c->row[column] = r;
        TRY(answer_from(c, grounded, column + 1));
    }
cleanup:
    wfre_arena_free(&arena);
    return status;
}

wfre_status wfre_exact_rows(wfre_exact *exact, wfre_split split, const wfre_query *query,
                            size_t most, wfre_tuples *tuples, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_arena arena = {0};
    uint32_t *targets = wfre_arena_alloc(&arena, query->asked, sizeof *targets);
    collector c = {.exact = exact, .split = split, .query = query, .most = most, .error = error};
    c.row = wfre_arena_alloc(&arena, query->asked, sizeof *c.row);
    c.pending = wfre_arena_alloc(&arena, query->variable_count, sizeof(wfre_join_step *));
    if (!targets || !c.row || !c.pending)
        TRY(no_memory(&c));
    c.tidy_at = most / 2 * 3 + FEW_ROWS;
    for (uint32_t v = 0; v < query->asked; v++)
        if (!wfre_query_column_is_relation(query, v))
            targets[c.targets.count++] = v;
    c.targets.variables = targets;
    TRY(answer_from(&c, query->formula, 0));
    if (query->asked > 0)
        TRY(tidy(&c));
    bool cut = most > 0 && c.count > most;
    *tuples = (wfre_tuples){exact->answers, cut ? most : c.count, query->asked, !cut};
cleanup:
    wfre_arena_free(&arena);
    return status;
}
