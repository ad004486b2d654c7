/* Building explanations.
 *
 * Every variable gets a few candidates: what the model finds for its part of the question, and
 * neighbours in the graph of the candidates above it. An edge between candidates is certain if the
 * graph has it, else it has the probability of a 1p question. The best assignment is the one of the
 * largest product over the question's edges, found from the leaves upwards. */
#include <math.h>
#include <string.h>

#include "answer/explaining.h"
#include "base/clock.h"
#include "base/text.h"
#include "infer/probability.h"
#include "query/formula.h"
#include "query/types.h"

enum {
    FROM_MODEL = 16,    /* candidates that the model finds: as many as it follows */
    FROM_KNOWN = 48,    /* known ones are added up to so many */
    FROM_NEIGHBOUR = 3, /* that each candidate above brings from the graph, known and likely ones */
    RANKED = 2048,      /* of a set: which of the neighbours is likeliest */
    EDGE_DEPTH = 100    /* predictions of an edge's 1p question that are looked at */
};

/* ---- asking the model --------------------------------------------------------------------- */

/* Questions to the model, and what it found. */
typedef struct asking {
    const wfre_node **trees;
    wfre_wanted *wanted;
    const wfre_reasoner **reasoners; /* who answered each */
    size_t count;
} asking;

static wfre_status make_asking(const wfre_explaining *b, size_t count, asking *a)
{
    a->trees = wfre_explaining_take(b, count, sizeof *a->trees);
    a->wanted = wfre_explaining_take(b, count, sizeof *a->wanted);
    a->reasoners = wfre_explaining_take(b, count, sizeof *a->reasoners);
    return a->trees && a->wanted && a->reasoners ? WFRE_OK : wfre_explaining_fail(b);
}

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    asking *a = context;
    for (size_t q = 0; q < scores->count; q++)
        a->reasoners[questions[q]] = scores->reasoner;
    return wfre_scores_top(scores, questions, a->wanted, error);
}

/* Without a model nothing is found. */
static wfre_status ask(const wfre_explaining *b, asking *a)
{
    if (!b->session->engine->model)
        return WFRE_OK;
    wfre_inference questions = {.trees = a->trees,
                                .count = a->count,
                                .way = b->way,
                                .split = b->question->options.split,
                                .purpose = WFRE_FOR_TOP};
    return wfre_infer(b->session, &questions, use_scores, a, b->error);
}

/* ---- what is in the sets ------------------------------------------------------------------ */

static wfre_status find_known(const wfre_explaining *b, uint32_t s)
{
    wfre_list found;
    CHECK(wfre_exact_tree(b->session->exact, b->question->options.split, b->inner[s].node, &found,
                          b->error));
    wfre_entity *copy = wfre_explaining_take(b, found.count, sizeof *copy);
    if (!copy)
        return wfre_explaining_fail(b);
    if (found.count > 0)
        memcpy(copy, found.ids, found.count * sizeof *copy);
    b->sets[s].known = (wfre_list){copy, found.count};
    return WFRE_OK;
}

/* Notes what was found for a set. */
static wfre_status conclude(const wfre_explaining *b, uint32_t s, const wfre_wanted *found,
                            const wfre_reasoner *reasoner)
{
    wfre_text shape = {0};
    wfre_status status;
    const wfre_model *model = b->session->engine->model;
    wfre_prediction *predicted = wfre_explaining_take(b, found->hit_count, sizeof *predicted);
    if (!predicted)
        TRY(wfre_explaining_fail(b));
    TRY(wfre_type_name(b->inner[s].node, &shape, b->error));
    wfre_judged of = {.model = model,
                      .way = &b->way,
                      .reasoner = reasoner,
                      .tree = b->inner[s].node,
                      .shape = shape.data,
                      .known = b->sets[s].known.count};
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    for (size_t i = 0; i < found->hit_count; i++) {
        wfre_chance chance = wfre_calibration_chance(&view, found->hits, i);
        predicted[i] =
            (wfre_prediction){found->hits[i].entity, reasoner->logit(model, found->hits[i].score),
                              chance.any, chance.missing};
    }
    b->sets[s].predicted = predicted;
    b->sets[s].predicted_count = found->hit_count;
cleanup:
    wfre_text_free(&shape);
    return status;
}

/* Whether the model is asked for a set. */
static bool is_predicted(const wfre_explaining *b, uint32_t s)
{
    return b->inner[s].node->op != WFRE_OP_ENTITY && b->inner[s].node->op != WFRE_OP_NEGATE;
}

/* Whether the best derivations are sought among all that the model says of a set: edge by edge it
 * follows known edges from every entity, however unlikely, and such may be the best way. */
static bool is_ranked(const wfre_explaining *b, uint32_t s)
{
    const wfre_explained_set *set = &b->sets[s];
    return set->variable != 0 && set->variable != WFRE_NONE &&
           b->variables[set->variable].set == s && b->session->engine->model &&
           wfre_reasoner_of(&b->way) == &wfre_by_edges;
}

/* Notes the ranks of what was found, and cuts it to what is shown. */
static wfre_status rank_set(const wfre_explaining *b, uint32_t s, wfre_wanted *found)
{
    if (is_ranked(b, s)) {
        size_t entities = wfre_graph_entities(wfre_explaining_graph(b));
        uint32_t *ranks = wfre_explaining_take(b, entities, sizeof *ranks);
        if (!ranks)
            return wfre_explaining_fail(b);
        for (size_t e = 0; e < entities; e++)
            ranks[e] = RANKED;
        for (size_t i = 0; i < found->hit_count; i++)
            ranks[found->hits[i].entity] = (uint32_t)i;
        b->inner[s].ranks = ranks;
    }
    if (found->hit_count > WFRE_CALIBRATION_DEPTH)
        found->hit_count = WFRE_CALIBRATION_DEPTH;
    return WFRE_OK;
}

static wfre_status fill_sets(const wfre_explaining *b)
{
    asking a = {0};
    uint32_t sets = b->out->shown.set_count;
    CHECK(make_asking(b, sets, &a));
    for (uint32_t s = 0; s < sets; s++) {
        CHECK(find_known(b, s));
        if (!is_predicted(b, s))
            continue;
        wfre_wanted *wanted = &a.wanted[a.count];
        size_t top = is_ranked(b, s) ? RANKED : WFRE_CALIBRATION_DEPTH;
        *wanted = (wfre_wanted){.top = top, .hits = wfre_explaining_take(b, top, sizeof(wfre_hit))};
        if (!wanted->hits)
            return wfre_explaining_fail(b);
        a.trees[a.count++] = b->inner[s].node;
        CHECK(wfre_exact_settled(b->session->exact, b->question->options.split, b->inner[s].node,
                                 b->sets[s].known, &b->out->arena, &wanted->without, b->error));
    }
    CHECK(ask(b, &a));
    for (uint32_t s = 0, at = 0; s < sets && b->session->engine->model; s++)
        if (is_predicted(b, s)) {
            CHECK(rank_set(b, s, &a.wanted[at]));
            CHECK(conclude(b, s, &a.wanted[at], a.reasoners[at]));
            at++;
        }
    return WFRE_OK;
}

/* ---- candidates --------------------------------------------------------------------------- */

static void add_candidate(wfre_asked_variable *v, wfre_entity entity)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (v->candidates[i] == entity)
            return;
    if (v->count < WFRE_EXPLAIN_CANDIDATES)
        v->candidates[v->count++] = entity;
}

/* The likeliest of those that are not known to belong to the set, at most FROM_NEIGHBOUR. */
static void add_likely(const wfre_explaining *b, wfre_asked_variable *v, wfre_list near)
{
    const uint32_t *ranks = b->inner[v->set].ranks;
    wfre_entity best[FROM_NEIGHBOUR];
    int count = 0;
    for (size_t i = 0; i < near.count; i++) {
        wfre_entity entity = near.ids[i];
        if (wfre_list_has(b->sets[v->set].known, entity))
            continue;
        int at = count;
        while (at > 0 && ranks && ranks[entity] < ranks[best[at - 1]])
            at--;
        if (at == FROM_NEIGHBOUR)
            continue;
        count += count < FROM_NEIGHBOUR;
        for (int k = count - 1; k > at; k--)
            best[k] = best[k - 1];
        best[at] = entity;
    }
    for (int i = 0; i < count; i++)
        add_candidate(v, best[i]);
}

/* Neighbours of the candidates above: first those known to belong to the set, then the likeliest.
 */
static void add_neighbours(const wfre_explaining *b, wfre_asked_variable *v)
{
    const wfre_explained_set *set = &b->sets[v->set];
    const wfre_asked_variable *targets = &b->variables[b->sets[set->parent].variable];
    wfre_relation relation = b->inner[set->parent].node->id ^ 1;
    int most = b->options.derivations > 1 ? WFRE_EXPLAIN_CANDIDATES : FROM_NEIGHBOUR;
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < targets->count; t++) {
            wfre_list near =
                wfre_graph_targets(wfre_explaining_graph(b), b->question->options.split, relation,
                                   targets->candidates[t]);
            if (round == 1)
                add_likely(b, v, near);
            int added = 0;
            for (size_t i = 0; round == 0 && i < near.count && added < most; i++)
                if (wfre_list_has(set->known, near.ids[i])) {
                    add_candidate(v, near.ids[i]);
                    added++;
                }
        }
}

static void choose_candidates(const wfre_explaining *b, const wfre_answers *answers)
{
    const wfre_explain_options *options = &b->options;
    for (size_t i = 0; options->entities && i < options->entity_count && i < WFRE_EXPLAINED; i++)
        add_candidate(&b->variables[0], options->entities[i]);
    for (size_t i = 0; !options->entities && i < answers->predicted_count && i < WFRE_EXPLAINED;
         i++)
        add_candidate(&b->variables[0], answers->predicted[i].entity);
    for (uint32_t i = 1; i < b->out->shown.variable_count; i++) {
        wfre_asked_variable *v = &b->variables[i];
        const wfre_explained_set *set = &b->sets[v->set];
        add_neighbours(b, v); /* first: they prove what is known */
        for (size_t k = 0; k < set->predicted_count && k < FROM_MODEL; k++)
            add_candidate(v, set->predicted[k].entity);
        for (size_t k = 0; k < set->known.count && v->count < FROM_KNOWN; k++)
            add_candidate(v, set->known.ids[k]);
    }
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The sources of a projection: the candidates of its argument, or an entity. */
uint32_t wfre_explaining_sources(const wfre_explaining *b, uint32_t projection,
                                 const wfre_entity **sources)
{
    const wfre_node *argument = b->inner[projection + 1].node; /* the only child stands next */
    if (argument->op == WFRE_OP_ENTITY) {
        *sources = &argument->id;
        return 1;
    }
    const wfre_asked_variable *v = &b->variables[b->sets[projection + 1].variable];
    *sources = v->candidates;
    return v->count;
}

/* How certain the model is of an edge to `target`; the last hit bounds what lies beyond. */
static double edge_probability(const wfre_explaining *b, const wfre_node *tree,
                               const wfre_wanted *found, const wfre_reasoner *reasoner,
                               wfre_entity target)
{
    const wfre_model *model = b->session->engine->model;
    size_t at = 0;
    while (at + 1 < found->hit_count && found->hits[at].entity != target)
        at++;
    if (found->hit_count == 0 || !model)
        return 0;
    wfre_judged of = {.model = model,
                      .way = &b->way,
                      .reasoner = reasoner,
                      .tree = tree,
                      .shape = "1p",
                      .known = found->without.count};
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    double probability = wfre_calibration_chance(&view, found->hits, at).any;
    if (isnan(probability)) /* without a calibration, something that orders edges */
        probability = 1 / (1 + exp(-reasoner->logit(model, found->hits[at].score)));
    return probability;
}

/* How certain every edge of a projection is. */
static wfre_status weigh_edges(const wfre_explaining *b, uint32_t s)
{
    const wfre_asked_variable *targets = &b->variables[b->sets[s].variable];
    const wfre_entity *sources;
    asking a = {.count = wfre_explaining_sources(b, s, &sources)};
    wfre_relation relation = b->inner[s].node->id;
    wfre_arena *arena = &b->out->arena;
    CHECK(make_asking(b, a.count, &a));
    double *edges = wfre_explaining_take(b, a.count * targets->count, sizeof *edges);
    if (!edges)
        return wfre_explaining_fail(b);
    for (size_t i = 0; i < a.count; i++) {
        a.trees[i] = wfre_node_project(arena, relation, wfre_node_entity(arena, sources[i]));
        a.wanted[i] = (wfre_wanted){.without = wfre_graph_targets(wfre_explaining_graph(b),
                                                                  b->question->options.split,
                                                                  relation, sources[i]),
                                    .top = EDGE_DEPTH,
                                    .hits = wfre_explaining_take(b, EDGE_DEPTH, sizeof(wfre_hit))};
        if (!a.trees[i] || !a.wanted[i].hits)
            return wfre_explaining_fail(b);
    }
    CHECK(ask(b, &a));
    for (size_t i = 0; i < a.count; i++)
        for (uint32_t t = 0; t < targets->count; t++)
            edges[i * targets->count + t] =
                wfre_list_has(a.wanted[i].without, targets->candidates[t])
                    ? 1
                    : edge_probability(b, a.trees[i], &a.wanted[i], a.reasoners[i],
                                       targets->candidates[t]);
    b->inner[s].edges = edges;
    return WFRE_OK;
}

/* ---- the best assignment ------------------------------------------------------------------ */

/* The value of candidate t in a projection, from those of its argument. */
static double weigh_projection(const wfre_explaining *b, uint32_t s, uint32_t t)
{
    wfre_inner_set *set = &b->inner[s];
    const wfre_entity *sources;
    const double *below = b->inner[s + 1].value;
    uint32_t count = wfre_explaining_sources(b, s, &sources);
    size_t targets = b->variables[b->sets[s].variable].count;
    double best = 0;
    for (uint32_t i = 0; i < count; i++) {
        double value = set->edges[i * targets + t] * (below ? below[i] : 1);
        if (value > best) {
            best = value;
            set->chosen[t] = i;
        }
    }
    return best;
}

/* The value of candidate t in any other set, from those of its arguments. */
static double weigh_combination(const wfre_explaining *b, uint32_t s, uint32_t t)
{
    wfre_inner_set *set = &b->inner[s];
    wfre_entity entity = b->variables[b->sets[s].variable].candidates[t];
    double best = set->node->op == WFRE_OP_INTERSECT ? 1 : 0;
    for (uint32_t c = s + 1; c < b->out->shown.set_count; c++) {
        const wfre_inner_set *child = &b->inner[c];
        if (b->sets[c].parent != s)
            continue;
        double value = child->value ? child->value[t] : child->node->id == entity;
        if (set->node->op == WFRE_OP_INTERSECT)
            best *= value;
        else if (set->node->op == WFRE_OP_NEGATE)
            best = 1 - value;
        else if (value > best || c == s + 1) {
            best = value;
            set->chosen[t] = c;
        }
    }
    return best;
}

static wfre_status assign(const wfre_explaining *b)
{
    for (uint32_t s = b->out->shown.set_count; s-- > 0;) {
        wfre_inner_set *set = &b->inner[s];
        if (set->node->op == WFRE_OP_ENTITY)
            continue;
        uint32_t count = b->variables[b->sets[s].variable].count;
        bool projection = set->node->op == WFRE_OP_PROJECT;
        set->value = wfre_explaining_take(b, count, sizeof *set->value);
        set->chosen = wfre_explaining_take(b, count, sizeof *set->chosen);
        if (!set->value || !set->chosen)
            return wfre_explaining_fail(b);
        memset(set->chosen, 0, count * sizeof *set->chosen);
        if (projection)
            CHECK(weigh_edges(b, s));
        for (uint32_t t = 0; t < count; t++)
            set->value[t] = projection ? weigh_projection(b, s, t) : weigh_combination(b, s, t);
    }
    return WFRE_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_status build(wfre_explaining *b, const wfre_answers *answers)
{
    CHECK(wfre_check_split(b->question->options.split, b->error));
    CHECK(wfre_query_fits(b->question->query, wfre_explaining_graph(b), b->error));
    CHECK(wfre_explaining_list(b));
    CHECK(fill_sets(b));
    choose_candidates(b, answers);
    CHECK(assign(b));
    CHECK(wfre_explaining_trace(b, answers));
    CHECK(wfre_graph_sound(wfre_explaining_graph(b), b->error));
    b->out->shown.sets = b->sets;
    b->out->shown.variables = b->names;
    b->out->shown.answers = b->answers;
    const wfre_model *model = b->session->engine->model;
    b->out->shown.calibrated = model && model->calibration != NULL;
    CHECK(wfre_explaining_rule(b));
    return WFRE_OK;
}

void wfre_explain_options_default(wfre_explain_options *options)
{
    *options = (wfre_explain_options){.derivations = 1, .evidence = 3};
}

wfre_status wfre_session_explain(wfre_session *session, const wfre_question *question,
                                 const wfre_answers *answers, wfre_cancel *cancel,
                                 wfre_explanation **explanation, wfre_error *error)
{
    return wfre_session_explain_some(session, question, answers, NULL, cancel, explanation, error);
}

wfre_status wfre_session_explain_some(wfre_session *session, const wfre_question *question,
                                      const wfre_answers *answers,
                                      const wfre_explain_options *options, wfre_cancel *cancel,
                                      wfre_explanation **explanation, wfre_error *error)
{
    GIVEN(session);
    GIVEN(question);
    GIVEN(answers);
    const wfre_model *model = session->engine->model;
    bool given = options && options->entities;
    if (!question->query->tree || !(model || given))
        return wfre_fail(
            error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "this cannot be explained: %s",
            model || given ? question->query->not_a_tree : "without a model nothing is predicted");
    wfre_whole_explanation *out = wfre_alloc_zero(1, sizeof *out);
    if (!out)
        return wfre_fail_memory(error, "explaining");
    double timeout = question->options.timeout;
    wfre_scope before =
        wfre_session_enter(session, cancel, timeout > 0 ? wfre_clock() + timeout : 0);
    wfre_explaining b = {.session = session, .question = question, .out = out, .error = error};
    wfre_explain_options_default(&b.options);
    if (options)
        b.options = *options;
    if (model)
        b.way = question->options.way ? *question->options.way : model->settings.way;
    b.way.missing_rate =
        wfre_missing_rate(model, &b.way, question->options.split, question->options.missing_rate);
    wfre_status status = build(&b, answers);
    wfre_scope_charge(0, wfre_arena_bytes(&out->arena)); /* it is the caller's now */
    (void)wfre_scope_enter(before);
    if (status == WFRE_OK)
        *explanation = &out->shown;
    else
        wfre_explanation_free(&out->shown);
    return status;
}

void wfre_explanation_free(wfre_explanation *explanation)
{
    if (!explanation)
        return;
    wfre_whole_explanation *out =
        (wfre_whole_explanation *)((char *)explanation - offsetof(wfre_whole_explanation, shown));
    wfre_arena_free(&out->arena);
    wfre_free(out);
}

wfre_status wfre_explanation_print(const wfre_graph *graph, const wfre_explanation *explanation,
                                   wfre_explain_format format, char **result, wfre_error *error)
{
    static void (*const PRINT[])(const wfre_graph *, const wfre_explanation *,
                                 wfre_text *) = {[WFRE_EXPLAIN_TEXT] = wfre_explanation_text,
                                                 [WFRE_EXPLAIN_SVG] = wfre_explanation_svg,
                                                 [WFRE_EXPLAIN_JSON] = wfre_explanation_json};
    wfre_text text = {0};
    PRINT[format](graph, explanation, &text);
    wfre_status status = wfre_text_status(&text, "explaining", error);
    if (status == WFRE_OK)
        *result = text.data;
    else
        wfre_text_free(&text);
    return status;
}
