/* A query as a question in the other notations: the pattern of a SELECT or an ASK as one formula.
 */
#include <string.h>

#include "base/memory.h"
#include "sparql/question.h"

/* What a SELECT does beyond asking for variables, and a formula cannot. */
static wfre_sq_flow check_select(wfre_sq_exec *x)
{
    const struct wfre_sparql *query = x->query;
    const wfre_sq_select *select = &query->select;
    if (query->form == WFRE_SQ_CONSTRUCT || query->form == WFRE_SQ_DESCRIBE)
        return wfre_sq_refuse(x, 0, "CONSTRUCT and DESCRIBE make graphs");
    for (uint32_t i = 0; i < select->column_count; i++)
        if (select->columns[i].expression)
            return wfre_sq_refuse(x, select->columns[i].offset, "it computes a column");
    if (select->grouped)
        return wfre_sq_refuse(x, select->where->offset, "it has groups or aggregates");
    if (select->order_count || select->offset || select->limit != UINT64_MAX)
        return wfre_sq_refuse(x, select->where->offset, "it has ORDER BY, LIMIT or OFFSET");
    return WFRE_SQ_GO;
}

/* The SERVICE wfre:predict that is all there is to a pattern, or NULL. */
static wfre_sq_pattern *only_service(wfre_sq_pattern *pattern)
{
    while (pattern->kind == WFRE_SQ_JOIN && pattern->count == 1)
        pattern = pattern->children[0];
    return pattern->kind == WFRE_SQ_SERVICE ? pattern : NULL;
}

/* A SERVICE asks for its answers, whatever its SELECT shows of them. */
static wfre_sq_flow find_question(wfre_sq_exec *x, wfre_sq_prediction **p)
{
    const wfre_sq_select *select = &x->query->select;
    wfre_sq_pattern *service = only_service(select->where), *pattern = select->where;
    wfre_sq_slot *asked =
        wfre_arena_alloc(&x->plan->arena, (size_t)select->column_count + 1, sizeof *asked);
    uint32_t count = 0;
    if (!asked)
        return wfre_sq_no_memory(x);
    if (service) {
        wfre_sq_prediction *split;
        if (wfre_sq_predict_split(x, service, &split) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        return wfre_sq_whole_split(x, service->children[0], split->answers, split->answer_count, p);
    }
    for (uint32_t i = 0; x->query->form == WFRE_SQ_SELECT && i < select->column_count; i++)
        asked[count++] = select->columns[i].slot;
    if (select->values) {
        wfre_sq_pattern **both = wfre_arena_alloc(&x->plan->arena, 2, sizeof *both);
        pattern = wfre_arena_alloc(&x->plan->arena, 1, sizeof *pattern);
        if (!both || !pattern)
            return wfre_sq_no_memory(x);
        both[0] = select->where;
        both[1] = select->values;
        *pattern = (wfre_sq_pattern){
            .kind = WFRE_SQ_JOIN, .count = 2, .children = both, .slot = WFRE_NONE};
    }
    return wfre_sq_whole_split(x, pattern, asked, count, p);
}

static wfre_sq_flow convert(wfre_sq_exec *x, wfre_query *query)
{
    wfre_sq_prediction *p;
    wfre_sq_maker m = {.x = x, .query = query, .within = 1};
    if (wfre_sq_set_up(x) != WFRE_SQ_GO || check_select(x) != WFRE_SQ_GO ||
        find_question(x, &p) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    size_t slots = x->query->slot_count;
    m.p = p;
    m.given = wfre_arena_alloc(&x->plan->arena, slots + 1, sizeof *m.given);
    if (!m.given)
        return wfre_sq_no_memory(x);
    for (size_t s = 0; s < slots; s++)
        m.given[s] = WFRE_NONE;
    if (wfre_sq_make_question(&m, p->answers, p->answer_count) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (uint32_t i = 0; i < p->answer_count; i++)
        if (!wfre_formula_has(query->formula, i))
            return wfre_sq_refuse(x, p->service->offset,
                                  "a variable is asked for that it does not have");
    return WFRE_SQ_GO;
}

wfre_status wfre_sparql_to_query(const wfre_sparql *sparql, const wfre_rdf_view *view,
                                 wfre_query **query, wfre_error *error)
{
    static const wfre_sparql_run_options NONE = {0};
    GIVEN(sparql);
    GIVEN(view);
    wfre_sq_exec *x = wfre_alloc_zero(1, sizeof *x);
    wfre_query *made = wfre_alloc_zero(1, sizeof *made);
    wfre_status status = WFRE_ERR_MEMORY;
    if (!x || !made) {
        (void)wfre_fail_memory(error, "converting a query");
        goto cleanup;
    }
    x->query = sparql;
    x->rdf = view;
    x->options = &NONE;
    x->error = error;
    x->converts = true;
    (void)convert(x, made);
    status = x->status;
    wfre_sq_tear_down(x);
    if (status == WFRE_OK) {
        *query = made;
        made = NULL;
    }
cleanup:
    wfre_query_free(made);
    wfre_free(x);
    return status;
}
