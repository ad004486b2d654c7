/* The public engine, and operator trees by set operations: exact/set.h says how sets are held and
 * complements avoided. */
#include "exact/exact.h"

#include "base/clock.h"
#include "base/scope.h"
#include "exact/join.h"
#include "query/formula.h"

wfre_status wfre_exact_open(wfre_exact *exact, const wfre_graph *graph, wfre_error *error)
{
    *exact = (wfre_exact){.graph = graph};
    if (!wfre_sets_open(&exact->sets, wfre_graph_entities(graph)))
        return wfre_fail_memory(error, "making room for answers");
    return WFRE_OK;
}

void wfre_exact_close(wfre_exact *exact)
{
    wfre_sets_close(&exact->sets);
    wfre_free(exact->answers);
    *exact = (wfre_exact){0};
}

wfre_status wfre_exact_open_all(const wfre_graph *graph, const wfre_pool *pool,
                                wfre_exact **engines, size_t *count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    size_t threads = pool ? wfre_pool_threads(pool) : 1;
    size_t opened = 0;
    wfre_exact *made = wfre_alloc(threads, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "making room for answers");
    for (; opened < threads; opened++)
        TRY(wfre_exact_open(&made[opened], graph, error));
    *engines = made;
    *count = threads;
    return WFRE_OK;
cleanup:
    wfre_exact_close_all(made, opened);
    return status;
}

void wfre_exact_close_all(wfre_exact *engines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wfre_exact_close(&engines[i]);
    wfre_free(engines);
}

wfre_status wfre_exact_check(const wfre_exact *exact, wfre_error *error)
{
    CHECK(wfre_check_stop(error));
    return wfre_check_interrupt(exact->monitor, error);
}

wfre_status wfre_exact_write(wfre_exact *exact, const wfre_set *set, wfre_list *answers,
                             wfre_error *error)
{
    size_t count = wfre_set_size(&exact->sets, set);
    if (!WFRE_RESERVE(&exact->answers, &exact->answers_capacity, count))
        return wfre_fail_memory(error, "listing the answers");
    wfre_set_write(&exact->sets, set, exact->answers);
    *answers = (wfre_list){exact->answers, count};
    return WFRE_OK;
}

/* ---- evaluation --------------------------------------------------------------------------- */

typedef struct evaluation {
    wfre_exact *exact;
    wfre_sets *sets;
    const wfre_adjacency *edges;
    const wfre_node *without; /* a branch to leave out, or NULL */
    wfre_error *error;
} evaluation;

static wfre_status evaluate(const evaluation *run, const wfre_node *node, wfre_set *set);

static wfre_status in_memory(const evaluation *run, bool done)
{
    return done ? WFRE_OK : wfre_fail_memory(run->error, "answering a query");
}

static wfre_status evaluate_projection(const evaluation *run, const wfre_node *node, wfre_set *set)
{
    CHECK(evaluate(run, node->children[0], set));
    CHECK(wfre_exact_check(run->exact, run->error));
    return in_memory(run, wfre_set_project(run->sets, run->edges, node->id, set));
}

/* Whether it is cheaper to look from each of `few` members of a set back along the relation than to
 * project `from`, by the relation's mean degrees in both directions. */
static bool backwards_is_cheaper(const evaluation *run, wfre_relation relation, size_t few,
                                 const wfre_set *from)
{
    const wfre_adjacency *edges = run->edges;
    if (!wfre_sound_range(edges->guard, WFRE_AREA_RELATIONS, relation & ~1u,
                          (relation | 1) + (uint64_t)1))
        return false;
    const uint32_t *groups = edges->relation_groups;
    double sources = groups[relation + 1] - groups[relation];
    double targets = groups[(relation ^ 1) + 1] - groups[relation ^ 1];
    return (double)few * sources < (double)wfre_set_size(run->sets, from) * targets;
}

/* set becomes set and child. */
static wfre_status intersect_with(const evaluation *run, const wfre_node *child, wfre_set *set)
{
    wfre_status status = WFRE_OK;
    wfre_set other = wfre_set_empty();
    bool negated = child->op == WFRE_OP_NEGATE;
    const wfre_node *inner = negated ? child->children[0] : child;
    if (inner->op == WFRE_OP_PROJECT && inner->children[0]->op != WFRE_OP_ENTITY &&
        !set->complement && !set->dense && set->count <= run->sets->limit) {
        TRY(evaluate(run, inner->children[0], &other));
        TRY(wfre_exact_check(run->exact, run->error));
        if (backwards_is_cheaper(run, inner->id, set->count, &other)) {
            TRY(in_memory(run, wfre_set_filter_projection(run->sets, run->edges, inner->id, &other,
                                                          !negated, set)));
            goto cleanup;
        }
        TRY(in_memory(run, wfre_set_project(run->sets, run->edges, inner->id, &other)));
        other.complement ^= negated;
    } else {
        TRY(evaluate(run, child, &other));
    }
    TRY(in_memory(run, wfre_set_intersect(run->sets, set, &other)));
cleanup:
    wfre_set_release(run->sets, &other);
    return status;
}

/* 0: a list of the graph, 1: to be computed, 2: to be subtracted. */
static int evaluation_rank(const wfre_node *node)
{
    if (node->op == WFRE_OP_NEGATE)
        return 2;
    return !(node->op == WFRE_OP_ENTITY ||
             (node->op == WFRE_OP_PROJECT && node->children[0]->op == WFRE_OP_ENTITY));
}

/* The cheap branches first: an empty or small set spares work on the others. */
static wfre_status evaluate_intersection(const evaluation *run, const wfre_node *node,
                                         wfre_set *set)
{
    *set = wfre_set_empty();
    set->complement = true;
    for (int rank = 0; rank <= 2; rank++) {
        for (uint32_t i = 0; i < node->child_count; i++) {
            const wfre_node *child = node->children[i];
            if (child == run->without || evaluation_rank(child) != rank)
                continue;
            if (set->count == 0 && !set->complement)
                return WFRE_OK;
            CHECK(intersect_with(run, child, set));
        }
    }
    return WFRE_OK;
}

static wfre_status evaluate_union(const evaluation *run, const wfre_node *node, wfre_set *set)
{
    wfre_status status = WFRE_OK;
    wfre_set other = wfre_set_empty();
    *set = wfre_set_empty();
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (node->children[i] == run->without)
            continue;
        TRY(evaluate(run, node->children[i], &other));
        TRY(in_memory(run, wfre_set_unite(run->sets, set, &other)));
    }
cleanup:
    wfre_set_release(run->sets, &other);
    return status;
}

/* The set is the caller's to release, also after a failure. */
static wfre_status evaluate(const evaluation *run, const wfre_node *node, wfre_set *set)
{
    wfre_status status = WFRE_OK;
    switch (node->op) {
    case WFRE_OP_ENTITY:
        *set = wfre_set_borrow(&node->id, 1);
        break;
    case WFRE_OP_PROJECT:
        return evaluate_projection(run, node, set);
    case WFRE_OP_INTERSECT:
        return evaluate_intersection(run, node, set);
    case WFRE_OP_UNION:
        return evaluate_union(run, node, set);
    case WFRE_OP_NEGATE:
        status = evaluate(run, node->children[0], set);
        set->complement = !set->complement;
    }
    return status;
}

wfre_status wfre_exact_set(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                           wfre_set *set, wfre_error *error)
{
    evaluation run = {exact, &exact->sets, wfre_graph_adjacency(exact->graph, split), NULL, error};
    *set = wfre_set_empty();
    return evaluate(&run, tree, set);
}

wfre_status wfre_exact_matters(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                               const wfre_node *branch, size_t count, bool *matters,
                               wfre_error *error)
{
    wfre_status status;
    wfre_set set = wfre_set_empty();
    evaluation run = {exact, &exact->sets, wfre_graph_adjacency(exact->graph, split), branch,
                      error};
    if (tree->op == WFRE_OP_PROJECT) {
        /* The last projection may stop as soon as there are more answers than with the branch. */
        TRY(evaluate(&run, tree->children[0], &set));
        TRY(in_memory(&run,
                      set.complement
                          ? wfre_set_project_complement(run.sets, run.edges, tree->id, count, &set)
                          : wfre_set_project(run.sets, run.edges, tree->id, &set)));
    } else {
        TRY(evaluate(&run, tree, &set));
    }
    *matters = wfre_set_size(run.sets, &set) != count;
    TRY(wfre_graph_sound(exact->graph, error));
cleanup:
    wfre_set_release(run.sets, &set);
    return status;
}

wfre_status wfre_exact_tree(wfre_exact *exact, wfre_split split, const wfre_node *tree,
                            wfre_list *answers, wfre_error *error)
{
    wfre_status status;
    wfre_set set;
    TRY(wfre_exact_set(exact, split, tree, &set, error));
    TRY(wfre_graph_sound(exact->graph, error));
    if (set.complement || set.dense)
        TRY(wfre_exact_write(exact, &set, answers, error));
    else /* its slot, given back, is not written to before the next question */
        *answers = (wfre_list){set.ids, set.count};
cleanup:
    wfre_set_release(&exact->sets, &set);
    return status;
}

/* ---- the public front --------------------------------------------------------------------- */

wfre_status wfre_exact_create(const wfre_graph *graph, wfre_exact **exact, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(exact);
    wfre_exact *made = wfre_alloc(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "making room for answers");
    wfre_status status = wfre_exact_open(made, graph, error);
    if (status == WFRE_OK)
        *exact = made;
    else
        wfre_free(made);
    return status;
}

void wfre_exact_free(wfre_exact *exact)
{
    if (exact)
        wfre_exact_close(exact);
    wfre_free(exact);
}

/* Whether its answers are entities. */
static bool asks_for_entities(const wfre_query *query)
{
    return query->tree || (query->asked == 1 && !wfre_query_column_is_relation(query, 0));
}

static wfre_status check_query(const wfre_exact *exact, wfre_split split, const wfre_query *query,
                               wfre_error *error)
{
    CHECK(wfre_check_split(split, error));
    if (!query->formula && (!query->tree || wfre_tree_is_type(query->tree)))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "a query type has no answers; give its entities and relations");
    return wfre_query_fits(query, exact->graph, error);
}

/* One question: its monitor and its deadline, unless there is an earlier one. Returns the scope to
 * go back to. */
static wfre_scope begin(wfre_exact *exact, double timeout, const wfre_monitor *monitor)
{
    wfre_scope scope = wfre_scope_current(), before = scope;
    double deadline = timeout > 0 ? wfre_clock() + timeout : 0;
    if (deadline > 0 && (scope.deadline == 0 || deadline < scope.deadline))
        scope.deadline = deadline;
    exact->monitor = monitor;
    (void)wfre_scope_enter(scope);
    return before;
}

static void end(wfre_exact *exact, wfre_scope before)
{
    (void)wfre_scope_enter(before);
    exact->monitor = NULL;
}

static wfre_status answer(wfre_exact *exact, wfre_split split, const wfre_query *query,
                          wfre_list *answers, wfre_error *error)
{
    return query->tree ? wfre_exact_tree(exact, split, query->tree, answers, error)
                       : wfre_exact_formula(exact, split, query, answers, error);
}

wfre_status wfre_exact_answer(wfre_exact *exact, wfre_split split, const wfre_query *query,
                              double timeout, const wfre_monitor *monitor, wfre_list *answers,
                              wfre_error *error)
{
    GIVEN(exact);
    GIVEN(query);
    GIVEN(answers);
    CHECK(check_query(exact, split, query, error));
    if (!asks_for_entities(query))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the answers of this query are not entities, but %s",
                         query->asked == 0   ? "yes or no"
                         : query->asked == 1 ? "relations"
                                             : "rows of several");
    wfre_scope before = begin(exact, timeout, monitor);
    wfre_status status = answer(exact, split, query, answers, error);
    end(exact, before);
    return status;
}

wfre_status wfre_exact_tuples(wfre_exact *exact, wfre_split split, const wfre_query *query,
                              size_t most, double timeout, const wfre_monitor *monitor,
                              wfre_tuples *tuples, wfre_error *error)
{
    GIVEN(exact);
    GIVEN(query);
    GIVEN(tuples);
    CHECK(check_query(exact, split, query, error));
    wfre_scope before = begin(exact, timeout, monitor);
    wfre_status status;
    if (asks_for_entities(query)) {
        wfre_list answers = {NULL, 0};
        status = answer(exact, split, query, &answers, error);
        bool cut = most > 0 && answers.count > most;
        *tuples = (wfre_tuples){answers.ids, cut ? most : answers.count, 1, !cut};
    } else {
        status = wfre_exact_rows(exact, split, query, most, tuples, error);
    }
    end(exact, before);
    return status;
}
