/* Building explanations. */
#include "answer/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/exact.h"
#include "query/formula.h"
#include "query/types.h"

enum {
    CANDIDATES = WFRE_EXPLAIN_CANDIDATES,
    FROM_MODEL = 6,     /* candidates that the model finds */
    FROM_NEIGHBOUR = 3, /* that each candidate above brings from the graph */
    EDGE_DEPTH = 100    /* predictions of an edge's 1p question that are looked at */
};

typedef struct builder {
    wfre_asker *asker;
    const wfre_query *query;
    const wfre_ask_options *options;
    wfre_explanation *out;
    wfre_error *error;
} builder;

static wfre_status out_of_memory(const builder *b)
{
    return wfre_fail_memory(b->error, "explaining");
}

static void *take(const builder *b, size_t count, size_t size)
{
    return wfre_arena_alloc(&b->out->arena, count, size);
}

/* ---- sets and variables ------------------------------------------------------------------- */

/* Appends the node and all below it, parents first. */
static void list_sets(wfre_explanation *out, const wfre_node *node, uint32_t parent, uint32_t depth,
                      uint32_t variable)
{
    uint32_t own = out->set_count++;
    bool entity = node->op == WFRE_OP_ENTITY;
    out->sets[own] = (wfre_explained_set){
        .node = node, .parent = parent, .depth = depth, .variable = entity ? WFRE_NONE : variable};
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t below = variable;
        if (node->op == WFRE_OP_PROJECT && node->children[i]->op != WFRE_OP_ENTITY) {
            below = out->variable_count++;
            out->variables[below] = (wfre_explained_variable){.set = out->set_count};
        }
        list_sets(out, node->children[i], own, depth + 1, below);
    }
}

static size_t count_nodes(const wfre_node *node)
{
    size_t count = 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_nodes(node->children[i]);
    return count;
}

/* The variable of the formula at the other end of an atom of this relation at `variable`: one that
 * is not `taken`, or else the first. */
static uint32_t other_end(const wfre_formula *formula, wfre_relation relation, uint32_t variable,
                          const bool *taken)
{
    if (formula->kind == WFRE_ATOM && formula->relation == relation / 2 * 2) {
        wfre_term near = relation % 2 == 0 ? formula->right : formula->left;
        wfre_term far = relation % 2 == 0 ? formula->left : formula->right;
        if (near.is_variable && near.id == variable && far.is_variable)
            return far.id;
    }
    uint32_t best = WFRE_NONE;
    for (uint32_t i = 0; i < formula->child_count; i++) {
        uint32_t found = other_end(formula->children[i], relation, variable, taken);
        if (found != WFRE_NONE && (best == WFRE_NONE || (taken[best] && !taken[found])))
            best = found;
    }
    return best;
}

/* Names the variables as the question does, as far as its atoms tell; else y1, y2, ... */
static wfre_status name_variables(const builder *b)
{
    wfre_explanation *out = b->out;
    uint32_t *formula_variable = take(b, out->variable_count, sizeof *formula_variable);
    bool *taken = take(b, b->query->variable_count + 1, sizeof *taken);
    if (!formula_variable || !taken)
        return out_of_memory(b);
    memset(taken, 0, b->query->variable_count * sizeof *taken);
    for (uint32_t v = 0; v < out->variable_count; v++) {
        char made[16] = "x";
        uint32_t found = b->query->formula ? b->query->free_variable : WFRE_NONE;
        if (v > 0) {
            const wfre_explained_set *above = &out->sets[out->sets[out->variables[v].set].parent];
            uint32_t from = formula_variable[above->variable];
            found = from == WFRE_NONE ? WFRE_NONE
                                      : other_end(b->query->formula, above->node->id, from, taken);
            (void)snprintf(made, sizeof made, "y%u", v);
        }
        formula_variable[v] = found;
        if (found != WFRE_NONE)
            taken[found] = true;
        const char *name = found == WFRE_NONE ? made : b->query->variable_names[found];
        out->variables[v].name = wfre_arena_text(&out->arena, name, strlen(name));
        if (!out->variables[v].name)
            return out_of_memory(b);
    }
    return WFRE_OK;
}

static wfre_status make_sets(const builder *b)
{
    wfre_explanation *out = b->out;
    size_t count = count_nodes(b->query->tree);
    if (count > WFRE_EXPLAIN_SETS)
        return wfre_fail(b->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "a question of %zu operators is too large to explain; at most %d", count,
                         WFRE_EXPLAIN_SETS);
    out->sets = take(b, count, sizeof *out->sets);
    out->variables = take(b, count + 1, sizeof *out->variables);
    if (!out->sets || !out->variables)
        return out_of_memory(b);
    out->variables[out->variable_count++] = (wfre_explained_variable){0};
    list_sets(out, b->query->tree, WFRE_NONE, 0, 0);
    return name_variables(b);
}

/* ---- what is in the sets ------------------------------------------------------------------ */

static wfre_status find_known(const builder *b, wfre_explained_set *set)
{
    wfre_list found;
    CHECK(wfre_exact_tree(b->asker->exact, b->options->split, set->node, &found, b->error));
    wfre_entity *copy = take(b, found.count, sizeof *copy);
    if (!copy)
        CHECK(out_of_memory(b));
    if (found.count > 0)
        memcpy(copy, found.ids, found.count * sizeof *copy);
    set->known = (wfre_list){copy, found.count};
    return WFRE_OK;
}

/* Notes the hits of a set and their probabilities. */
static wfre_status conclude(const builder *b, wfre_explained_set *set,
                            const wfre_predict_query *query)
{
    wfre_text shape = {0};
    wfre_status status;
    set->hits = query->hits;
    set->hit_count = query->hit_count;
    set->probabilities = take(b, query->hit_count, sizeof *set->probabilities);
    if (!set->probabilities)
        TRY(out_of_memory(b));
    TRY(wfre_type_name(set->node, &shape, b->error));
    wfre_calibration_view view = wfre_calibration_view_of(b->asker->model, shape.data, query->hits,
                                                          query->hit_count, set->known.count);
    for (size_t i = 0; i < query->hit_count; i++)
        set->probabilities[i] =
            query->embedded ? (double)NAN
                            : wfre_calibration_probability(b->asker->model, &view, query->hits, i);
cleanup:
    wfre_text_free(&shape);
    return status;
}

static wfre_status fill_sets(const builder *b)
{
    wfre_explanation *out = b->out;
    wfre_predict_query *queries = take(b, out->set_count, sizeof *queries);
    size_t count = 0;
    if (!queries)
        CHECK(out_of_memory(b));
    for (uint32_t s = 0; s < out->set_count; s++) {
        wfre_explained_set *set = &out->sets[s];
        CHECK(find_known(b, set));
        if (set->node->op == WFRE_OP_ENTITY || set->node->op == WFRE_OP_NEGATE)
            continue;
        wfre_hit *hits = take(b, WFRE_CALIBRATION_DEPTH, sizeof *hits);
        if (!hits)
            CHECK(out_of_memory(b));
        queries[count] =
            (wfre_predict_query){.tree = set->node, .top = WFRE_CALIBRATION_DEPTH, .hits = hits};
        CHECK(wfre_exact_settled(b->asker->exact, b->options->split, set->node, set->known,
                                 &out->arena, &queries[count++].without, b->error));
    }
    CHECK(wfre_predict(b->asker->predictor, queries, count, b->options->exhaustive, b->error));
    for (uint32_t s = 0; s < out->set_count; s++)
        if (out->sets[s].node->op != WFRE_OP_ENTITY && out->sets[s].node->op != WFRE_OP_NEGATE)
            CHECK(conclude(b, &out->sets[s], queries++));
    return WFRE_OK;
}

/* ---- candidates --------------------------------------------------------------------------- */

static void add_candidate(wfre_explained_variable *variable, wfre_entity entity)
{
    for (uint32_t i = 0; i < variable->count; i++)
        if (variable->candidates[i] == entity)
            return;
    if (variable->count < CANDIDATES)
        variable->candidates[variable->count++] = entity;
}

/* Neighbours of the candidates above: first those known to belong to the set, then any. */
static void add_neighbours(const builder *b, wfre_explained_variable *variable)
{
    const wfre_explanation *out = b->out;
    const wfre_explained_set *set = &out->sets[variable->set];
    const wfre_explained_set *above = &out->sets[set->parent];
    const wfre_explained_variable *targets = &out->variables[above->variable];
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < targets->count; t++) {
            wfre_list near = wfre_graph_targets(out->graph, b->options->split, above->node->id ^ 1,
                                                targets->candidates[t]);
            int added = 0;
            for (size_t i = 0; i < near.count && added < FROM_NEIGHBOUR; i++)
                if (wfre_list_has(set->known, near.ids[i]) == (round == 0)) {
                    add_candidate(variable, near.ids[i]);
                    added++;
                }
        }
}

static void choose_candidates(const builder *b, const wfre_answers *answers)
{
    wfre_explanation *out = b->out;
    for (size_t i = 0; i < answers->predicted_count && i < CANDIDATES; i++)
        add_candidate(&out->variables[0], answers->predicted[i].entity);
    for (uint32_t v = 1; v < out->variable_count; v++) {
        wfre_explained_variable *variable = &out->variables[v];
        const wfre_explained_set *set = &out->sets[variable->set];
        for (size_t i = 0; i < set->hit_count && i < FROM_MODEL; i++)
            add_candidate(variable, set->hits[i].entity);
        add_neighbours(b, variable);
        for (size_t i = 0; i < set->known.count && variable->count < CANDIDATES; i++)
            add_candidate(variable, set->known.ids[i]);
    }
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The sources of a projection: the candidates of its argument, or an entity. */
static uint32_t sources_of(const wfre_explanation *out, const wfre_explained_set *projection,
                           const wfre_entity **sources)
{
    const wfre_explained_set *argument = projection + 1; /* the only child stands next */
    if (argument->node->op == WFRE_OP_ENTITY) {
        *sources = &argument->node->id;
        return 1;
    }
    *sources = out->variables[argument->variable].candidates;
    return out->variables[argument->variable].count;
}

/* How certain the model is of an edge to `target`; the last hit bounds what lies beyond. */
static double edge_probability(const builder *b, const wfre_predict_query *query,
                               wfre_entity target)
{
    const wfre_model *model = b->asker->model;
    size_t at = 0;
    while (at + 1 < query->hit_count && query->hits[at].entity != target)
        at++;
    if (query->hit_count == 0)
        return 0;
    wfre_calibration_view view =
        wfre_calibration_view_of(model, "1p", query->hits, query->hit_count, query->without.count);
    double probability = wfre_calibration_probability(model, &view, query->hits, at);
    if (isnan(probability)) /* without a calibration, something that orders edges */
        probability = 1 / (1 + exp(-wfre_model_logit(model, query->hits[at].distance)));
    return probability;
}

/* How certain every edge of a projection is. */
static wfre_status weigh_edges(const builder *b, wfre_explained_set *projection)
{
    const wfre_explanation *out = b->out;
    const wfre_explained_variable *targets = &out->variables[projection->variable];
    const wfre_entity *sources;
    uint32_t count = sources_of(out, projection, &sources);
    wfre_relation relation = projection->node->id;
    wfre_predict_query *queries = take(b, count, sizeof *queries);
    projection->edges = take(b, (size_t)count * targets->count, sizeof *projection->edges);
    if (!queries || !projection->edges)
        CHECK(out_of_memory(b));
    for (uint32_t s = 0; s < count; s++) {
        wfre_arena *arena = &b->out->arena;
        queries[s] = (wfre_predict_query){
            .tree = wfre_node_project(arena, relation, wfre_node_entity(arena, sources[s])),
            .without = wfre_graph_targets(out->graph, b->options->split, relation, sources[s]),
            .top = EDGE_DEPTH,
            .hits = take(b, EDGE_DEPTH, sizeof(wfre_hit))};
        if (!queries[s].tree || !queries[s].hits)
            CHECK(out_of_memory(b));
    }
    CHECK(wfre_predict(b->asker->predictor, queries, count, b->options->exhaustive, b->error));
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t t = 0; t < targets->count; t++)
            projection->edges[s * targets->count + t] =
                wfre_list_has(queries[s].without, targets->candidates[t])
                    ? 1
                    : edge_probability(b, &queries[s], targets->candidates[t]);
    return WFRE_OK;
}

/* ---- the best assignment ------------------------------------------------------------------ */

/* The value of candidate t in a set, from those of its arguments. */
static double weigh_candidate(const wfre_explanation *out, uint32_t s, uint32_t t)
{
    wfre_explained_set *set = &out->sets[s];
    const wfre_explained_variable *variable = &out->variables[set->variable];
    const wfre_entity *sources;
    double best = 0;
    if (set->node->op == WFRE_OP_PROJECT) {
        uint32_t count = sources_of(out, set, &sources);
        for (uint32_t i = 0; i < count; i++) {
            const double *below = out->sets[s + 1].value;
            double value = set->edges[i * variable->count + t] * (below ? below[i] : 1);
            if (value > best) {
                best = value;
                set->chosen[t] = i;
            }
        }
        return best;
    }
    best = set->node->op == WFRE_OP_INTERSECT ? 1 : 0;
    for (uint32_t c = s + 1; c < out->set_count; c++) {
        const wfre_explained_set *child = &out->sets[c];
        if (child->parent != s)
            continue;
        double value = child->value ? child->value[t] : child->node->id == variable->candidates[t];
        if (set->node->op == WFRE_OP_INTERSECT)
            best *= value;
        else if (set->node->op == WFRE_OP_NEGATE)
            best = 1 - value;
        else if (value > best || child == set + 1) {
            best = value;
            set->chosen[t] = c;
        }
    }
    return best;
}

static wfre_status assign(const builder *b)
{
    wfre_explanation *out = b->out;
    for (uint32_t s = out->set_count; s-- > 0;) {
        wfre_explained_set *set = &out->sets[s];
        if (set->node->op == WFRE_OP_ENTITY)
            continue;
        uint32_t count = out->variables[set->variable].count;
        set->value = take(b, count, sizeof *set->value);
        set->chosen = take(b, count, sizeof *set->chosen);
        if (!set->value || !set->chosen)
            CHECK(out_of_memory(b));
        memset(set->chosen, 0, count * sizeof *set->chosen);
        if (set->node->op == WFRE_OP_PROJECT)
            CHECK(weigh_edges(b, set));
        for (uint32_t t = 0; t < count; t++)
            set->value[t] = weigh_candidate(out, s, t);
    }
    return WFRE_OK;
}

/* Follows the best choices down from candidate t of set s, noting entities and edges. `edge` says
 * which negations lie above. */
static void trace(const builder *b, wfre_explained_answer *answer, uint32_t s, uint32_t t,
                  wfre_explained_edge edge)
{
    const wfre_explanation *out = b->out;
    const wfre_explained_set *set = &out->sets[s];
    if (set->node->op == WFRE_OP_ENTITY)
        return;
    const wfre_explained_variable *variable = &out->variables[set->variable];
    answer->entities[set->variable] = variable->candidates[t];
    if (set->node->op == WFRE_OP_UNION) {
        trace(b, answer, set->chosen[t], t, edge);
        return;
    }
    if (set->node->op == WFRE_OP_NEGATE && edge.negation == WFRE_NONE)
        edge.negation = s;
    else if (set->node->op == WFRE_OP_NEGATE)
        edge.negated = !edge.negated;
    if (set->node->op != WFRE_OP_PROJECT) {
        for (uint32_t c = s + 1; c < out->set_count; c++)
            if (out->sets[c].parent == s)
                trace(b, answer, c, t, edge);
        return;
    }
    const wfre_entity *sources;
    uint32_t source = set->chosen[t];
    if (sources_of(out, set, &sources) == 0)
        return;
    bool forward = wfre_explained_forward(set->node);
    edge.relation = set->node->id / 2 * 2;
    edge.head = forward ? sources[source] : variable->candidates[t];
    edge.tail = forward ? variable->candidates[t] : sources[source];
    edge.probability = set->edges[source * variable->count + t];
    edge.known = wfre_graph_has(out->graph, b->options->split, edge.head, edge.relation, edge.tail);
    answer->edges[answer->edge_count++] = edge;
    trace(b, answer, s + 1, source, edge);
}

static wfre_status trace_answers(const builder *b, const wfre_answers *answers)
{
    wfre_explanation *out = b->out;
    size_t count = out->variables[0].count;
    out->answers = take(b, count, sizeof *out->answers);
    if (!out->answers)
        return out_of_memory(b);
    for (uint32_t t = 0; t < count; t++) {
        wfre_explained_answer *answer = &out->answers[t];
        *answer = (wfre_explained_answer){.prediction = answers->predicted[t]};
        answer->entities = take(b, out->variable_count, sizeof *answer->entities);
        answer->edges = take(b, out->set_count, sizeof *answer->edges);
        if (!answer->entities || !answer->edges)
            return out_of_memory(b);
        for (uint32_t v = 0; v < out->variable_count; v++)
            answer->entities[v] = WFRE_NONE;
        trace(b, answer, 0, t, (wfre_explained_edge){.negation = WFRE_NONE});
        out->answer_count++;
    }
    return WFRE_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

wfre_status wfre_explain(wfre_asker *asker, const wfre_query *query,
                         const wfre_ask_options *options, const wfre_answers *answers,
                         wfre_explain_format format, char **result, wfre_error *error)
{
    if (!asker->model || !query->tree)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "only predictions can be explained: %s",
                         asker->model ? query->not_a_tree : "there is no model");
    wfre_status status;
    wfre_text text = {0};
    wfre_explanation out = {.graph = asker->graph, .calibrated = asker->model->calibration != NULL};
    builder b = {asker, query, options, &out, error};
    TRY(wfre_query_fits(query, asker->graph, error));
    TRY(make_sets(&b));
    TRY(fill_sets(&b));
    choose_candidates(&b, answers);
    TRY(assign(&b));
    TRY(trace_answers(&b, answers));
    if (format == WFRE_EXPLAIN_SVG)
        wfre_explanation_svg(&out, &text);
    else
        wfre_explanation_text(&out, &text);
    TRY(wfre_text_status(&text, "explaining", error));
    *result = text.data;
    text = (wfre_text){0};
cleanup:
    wfre_text_free(&text);
    wfre_arena_free(&out.arena);
    return status;
}
