/* Building explanations.
 *
 * Every variable gets a few candidates: what the model finds for its part of the question, and
 * neighbours in the graph of the candidates above it. An edge between candidates is certain if the
 * graph has it, else it has the probability of a 1p question. The best assignment is the one of the
 * largest product over the question's edges, found from the leaves upwards. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/evidence.h"
#include "answer/explain.h"
#include "base/clock.h"
#include "base/text.h"
#include "infer/probability.h"
#include "query/formula.h"
#include "query/types.h"

enum {
    CANDIDATES = 96,    /* of a variable, the one asked for too */
    FROM_MODEL = 16,    /* candidates that the model finds: as many as it follows */
    FROM_KNOWN = 48,    /* known ones are added up to so many */
    FROM_NEIGHBOUR = 3, /* that each candidate above brings from the graph, known and likely ones */
    RANKED = 2048,      /* of a set: which of the neighbours is likeliest */
    MOST_DERIVATIONS = 1000,
    EDGE_DEPTH = 100 /* predictions of an edge's 1p question that are looked at */
};

/* What belongs to a set besides what is shown of it. */
typedef struct inner_set {
    const wfre_node *node;
    double *edges;    /* of a projection: [sources, targets] */
    double *value;    /* [candidates of its variable]: how certain that they belong to it */
    uint32_t *chosen; /* [the same]: source of a projection, branch of a union */
    uint32_t *ranks;  /* [entities]: by the model, RANKED if behind all others; or NULL */
} inner_set;

typedef struct variable {
    uint32_t set; /* that restricts it, the highest */
    wfre_entity candidates[CANDIDATES];
    uint32_t count;
} variable;

/* What the caller gets a part of. */
typedef struct whole {
    wfre_explanation shown;
    wfre_arena arena; /* owns all of it */
} whole;

typedef struct builder {
    wfre_session *session;
    const wfre_question *question;
    wfre_explain_options options;
    wfre_way way;
    whole *out;
    wfre_explained_set *sets;
    inner_set *inner; /* of each set */
    const char **names;
    variable *variables;
    wfre_explained_answer *answers;
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

static const wfre_graph *graph_of(const builder *b)
{
    return b->session->engine->graph;
}

/* Whether the argument of a projection comes first in the logic notation. */
static bool is_forward(const wfre_node *projection)
{
    return projection->id % 2 == 0;
}

/* ---- sets and variables ------------------------------------------------------------------- */

/* Appends the node and all below it, parents first. */
static void list_sets(builder *b, const wfre_node *node, uint32_t parent, uint32_t depth,
                      uint32_t own_variable)
{
    wfre_explanation *out = &b->out->shown;
    uint32_t own = out->set_count++;
    bool entity = node->op == WFRE_OP_ENTITY;
    b->sets[own] = (wfre_explained_set){
        .parent = parent, .depth = depth, .variable = entity ? WFRE_NONE : own_variable};
    b->inner[own] = (inner_set){.node = node};
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t below = own_variable;
        if (node->op == WFRE_OP_PROJECT && node->children[i]->op != WFRE_OP_ENTITY) {
            below = out->variable_count++;
            b->variables[below] = (variable){.set = out->set_count};
        }
        list_sets(b, node->children[i], own, depth + 1, below);
    }
}

static size_t count_nodes(const wfre_node *node)
{
    size_t count = 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_nodes(node->children[i]);
    return count;
}

/* The variable of the formula at the other end of an atom of this relation at variable `from`: one
 * that is not `taken`, or else the first. */
static uint32_t other_end(const wfre_formula *formula, wfre_relation relation, uint32_t from,
                          const bool *taken)
{
    if (formula->kind == WFRE_ATOM && formula->relation == relation / 2 * 2) {
        wfre_term near = relation % 2 == 0 ? formula->right : formula->left;
        wfre_term far = relation % 2 == 0 ? formula->left : formula->right;
        if (near.is_variable && near.id == from && far.is_variable)
            return far.id;
    }
    uint32_t best = WFRE_NONE;
    for (uint32_t i = 0; i < formula->child_count; i++) {
        uint32_t found = other_end(formula->children[i], relation, from, taken);
        if (found != WFRE_NONE && (best == WFRE_NONE || (taken[best] && !taken[found])))
            best = found;
    }
    return best;
}

/* Names the variables as the question does, as far as its atoms tell; else y1, y2, ... */
static wfre_status name_variables(const builder *b)
{
    const wfre_query *query = b->question->query;
    uint32_t count = b->out->shown.variable_count;
    uint32_t *formula_variable = take(b, count, sizeof *formula_variable);
    bool *taken = take(b, query->variable_count + 1, sizeof *taken);
    if (!formula_variable || !taken)
        return out_of_memory(b);
    memset(taken, 0, query->variable_count * sizeof *taken);
    for (uint32_t v = 0; v < count; v++) {
        char made[16] = "x";
        uint32_t found = query->formula ? 0 : WFRE_NONE /* the one asked for is the first */;
        if (v > 0) {
            uint32_t above = b->sets[b->variables[v].set].parent;
            uint32_t from = formula_variable[b->sets[above].variable];
            found = from == WFRE_NONE
                        ? WFRE_NONE
                        : other_end(query->formula, b->inner[above].node->id, from, taken);
            (void)snprintf(made, sizeof made, "y%u", v);
        }
        formula_variable[v] = found;
        if (found != WFRE_NONE)
            taken[found] = true;
        const char *name = found == WFRE_NONE ? made : query->variable_names[found];
        b->names[v] = wfre_arena_text(&b->out->arena, name, strlen(name));
        if (!b->names[v])
            return out_of_memory(b);
    }
    return WFRE_OK;
}

static void add_entity(const builder *b, wfre_entity entity, wfre_text *text)
{
    wfre_name label = wfre_graph_entity_label(graph_of(b), entity);
    wfre_text_visible(text, label.bytes, label.length);
}

/* The argument of a projection: an entity or a variable. */
static void add_argument(const builder *b, uint32_t set, wfre_text *text)
{
    const wfre_node *argument = b->inner[set + 1].node; /* the only child stands next */
    if (argument->op == WFRE_OP_ENTITY)
        add_entity(b, argument->id, text);
    else
        wfre_text_format(text, "?%s", b->names[b->sets[set + 1].variable]);
}

/* What a set is called. In the logic notation the argument of a projection comes first unless its
 * relation is an inverse. */
static void add_label(const builder *b, uint32_t set, wfre_text *text)
{
    static const char *const WORDS[] = {[WFRE_OP_INTERSECT] = "and",
                                        [WFRE_OP_UNION] = "or",
                                        [WFRE_OP_NEGATE] = "not",
                                        [WFRE_OP_PROJECT] = NULL};
    const wfre_node *node = b->inner[set].node;
    if (node->op == WFRE_OP_ENTITY) {
        add_entity(b, node->id, text);
        return;
    }
    if (node->op != WFRE_OP_PROJECT) {
        wfre_text_add(text, WORDS[node->op]);
        return;
    }
    wfre_name relation = wfre_graph_relation_label(graph_of(b), node->id);
    wfre_text_visible(text, relation.bytes, relation.length);
    wfre_text_char(text, '(');
    if (is_forward(node))
        add_argument(b, set, text);
    else
        wfre_text_format(text, "?%s", b->names[b->sets[set].variable]);
    wfre_text_add(text, ", ");
    if (is_forward(node))
        wfre_text_format(text, "?%s", b->names[b->sets[set].variable]);
    else
        add_argument(b, set, text);
    wfre_text_char(text, ')');
}

static wfre_status label_sets(const builder *b)
{
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    for (uint32_t s = 0; s < b->out->shown.set_count; s++) {
        wfre_text_clear(&text);
        add_label(b, s, &text);
        TRY(wfre_text_status(&text, "explaining", b->error));
        b->sets[s].label = wfre_arena_text(&b->out->arena, text.data, text.length);
        if (!b->sets[s].label)
            TRY(out_of_memory(b));
    }
cleanup:
    wfre_text_free(&text);
    return status;
}

static wfre_status make_sets(builder *b)
{
    const wfre_node *tree = b->question->query->tree;
    size_t count = count_nodes(tree);
    if (count > WFRE_EXPLAIN_SETS)
        return wfre_fail(b->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "a question of %zu operators is too large to explain; at most %d", count,
                         WFRE_EXPLAIN_SETS);
    b->sets = take(b, count, sizeof *b->sets);
    b->inner = take(b, count, sizeof *b->inner);
    b->variables = take(b, count + 1, sizeof *b->variables);
    b->names = take(b, count + 1, sizeof *b->names);
    if (!b->sets || !b->inner || !b->variables || !b->names)
        return out_of_memory(b);
    b->variables[b->out->shown.variable_count++] = (variable){0};
    list_sets(b, tree, WFRE_NONE, 0, 0);
    CHECK(name_variables(b));
    return label_sets(b);
}

/* ---- asking the model --------------------------------------------------------------------- */

/* Questions to the model, and what it found. */
typedef struct asking {
    const wfre_node **trees;
    wfre_wanted *wanted;
    const wfre_reasoner **reasoners; /* who answered each */
    size_t count;
} asking;

static wfre_status make_asking(const builder *b, size_t count, asking *a)
{
    a->trees = take(b, count, sizeof *a->trees);
    a->wanted = take(b, count, sizeof *a->wanted);
    a->reasoners = take(b, count, sizeof *a->reasoners);
    return a->trees && a->wanted && a->reasoners ? WFRE_OK : out_of_memory(b);
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
static wfre_status ask(const builder *b, asking *a)
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

static wfre_status find_known(const builder *b, uint32_t s)
{
    wfre_list found;
    CHECK(wfre_exact_tree(b->session->exact, b->question->options.split, b->inner[s].node, &found,
                          b->error));
    wfre_entity *copy = take(b, found.count, sizeof *copy);
    if (!copy)
        return out_of_memory(b);
    if (found.count > 0)
        memcpy(copy, found.ids, found.count * sizeof *copy);
    b->sets[s].known = (wfre_list){copy, found.count};
    return WFRE_OK;
}

/* Notes what was found for a set. */
static wfre_status conclude(const builder *b, uint32_t s, const wfre_wanted *found,
                            const wfre_reasoner *reasoner)
{
    wfre_text shape = {0};
    wfre_status status;
    const wfre_model *model = b->session->engine->model;
    wfre_prediction *predicted = take(b, found->hit_count, sizeof *predicted);
    if (!predicted)
        TRY(out_of_memory(b));
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
static bool is_predicted(const builder *b, uint32_t s)
{
    return b->inner[s].node->op != WFRE_OP_ENTITY && b->inner[s].node->op != WFRE_OP_NEGATE;
}

/* Whether the best derivations are sought among all that the model says of a set: edge by edge it
 * follows known edges from every entity, however unlikely, and such may be the best way. */
static bool is_ranked(const builder *b, uint32_t s)
{
    const wfre_explained_set *set = &b->sets[s];
    return set->variable != 0 && set->variable != WFRE_NONE &&
           b->variables[set->variable].set == s && b->session->engine->model &&
           wfre_reasoner_of(&b->way) == &wfre_by_edges;
}

/* Notes the ranks of what was found, and cuts it to what is shown. */
static wfre_status rank_set(const builder *b, uint32_t s, wfre_wanted *found)
{
    if (is_ranked(b, s)) {
        size_t entities = wfre_graph_entities(graph_of(b));
        uint32_t *ranks = take(b, entities, sizeof *ranks);
        if (!ranks)
            return out_of_memory(b);
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

static wfre_status fill_sets(const builder *b)
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
        *wanted = (wfre_wanted){.top = top, .hits = take(b, top, sizeof(wfre_hit))};
        if (!wanted->hits)
            return out_of_memory(b);
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

static void add_candidate(variable *v, wfre_entity entity)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (v->candidates[i] == entity)
            return;
    if (v->count < CANDIDATES)
        v->candidates[v->count++] = entity;
}

/* The likeliest of those that are not known to belong to the set, at most FROM_NEIGHBOUR. */
static void add_likely(const builder *b, variable *v, wfre_list near)
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
static void add_neighbours(const builder *b, variable *v)
{
    const wfre_explained_set *set = &b->sets[v->set];
    const variable *targets = &b->variables[b->sets[set->parent].variable];
    wfre_relation relation = b->inner[set->parent].node->id ^ 1;
    int most = b->options.derivations > 1 ? CANDIDATES : FROM_NEIGHBOUR;
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < targets->count; t++) {
            wfre_list near = wfre_graph_targets(graph_of(b), b->question->options.split, relation,
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

static void choose_candidates(const builder *b, const wfre_answers *answers)
{
    const wfre_explain_options *options = &b->options;
    for (size_t i = 0; options->entities && i < options->entity_count && i < WFRE_EXPLAINED; i++)
        add_candidate(&b->variables[0], options->entities[i]);
    for (size_t i = 0; !options->entities && i < answers->predicted_count && i < WFRE_EXPLAINED;
         i++)
        add_candidate(&b->variables[0], answers->predicted[i].entity);
    for (uint32_t i = 1; i < b->out->shown.variable_count; i++) {
        variable *v = &b->variables[i];
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
static uint32_t sources_of(const builder *b, uint32_t projection, const wfre_entity **sources)
{
    const wfre_node *argument = b->inner[projection + 1].node; /* the only child stands next */
    if (argument->op == WFRE_OP_ENTITY) {
        *sources = &argument->id;
        return 1;
    }
    const variable *v = &b->variables[b->sets[projection + 1].variable];
    *sources = v->candidates;
    return v->count;
}

/* How certain the model is of an edge to `target`; the last hit bounds what lies beyond. */
static double edge_probability(const builder *b, const wfre_node *tree, const wfre_wanted *found,
                               const wfre_reasoner *reasoner, wfre_entity target)
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
static wfre_status weigh_edges(const builder *b, uint32_t s)
{
    const variable *targets = &b->variables[b->sets[s].variable];
    const wfre_entity *sources;
    asking a = {.count = sources_of(b, s, &sources)};
    wfre_relation relation = b->inner[s].node->id;
    wfre_arena *arena = &b->out->arena;
    CHECK(make_asking(b, a.count, &a));
    double *edges = take(b, a.count * targets->count, sizeof *edges);
    if (!edges)
        return out_of_memory(b);
    for (size_t i = 0; i < a.count; i++) {
        a.trees[i] = wfre_node_project(arena, relation, wfre_node_entity(arena, sources[i]));
        a.wanted[i] =
            (wfre_wanted){.without = wfre_graph_targets(graph_of(b), b->question->options.split,
                                                        relation, sources[i]),
                          .top = EDGE_DEPTH,
                          .hits = take(b, EDGE_DEPTH, sizeof(wfre_hit))};
        if (!a.trees[i] || !a.wanted[i].hits)
            return out_of_memory(b);
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
static double weigh_projection(const builder *b, uint32_t s, uint32_t t)
{
    inner_set *set = &b->inner[s];
    const wfre_entity *sources;
    const double *below = b->inner[s + 1].value;
    uint32_t count = sources_of(b, s, &sources);
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
static double weigh_combination(const builder *b, uint32_t s, uint32_t t)
{
    inner_set *set = &b->inner[s];
    wfre_entity entity = b->variables[b->sets[s].variable].candidates[t];
    double best = set->node->op == WFRE_OP_INTERSECT ? 1 : 0;
    for (uint32_t c = s + 1; c < b->out->shown.set_count; c++) {
        const inner_set *child = &b->inner[c];
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

static wfre_status assign(const builder *b)
{
    for (uint32_t s = b->out->shown.set_count; s-- > 0;) {
        inner_set *set = &b->inner[s];
        if (set->node->op == WFRE_OP_ENTITY)
            continue;
        uint32_t count = b->variables[b->sets[s].variable].count;
        bool projection = set->node->op == WFRE_OP_PROJECT;
        set->value = take(b, count, sizeof *set->value);
        set->chosen = take(b, count, sizeof *set->chosen);
        if (!set->value || !set->chosen)
            return out_of_memory(b);
        memset(set->chosen, 0, count * sizeof *set->chosen);
        if (projection)
            CHECK(weigh_edges(b, s));
        for (uint32_t t = 0; t < count; t++)
            set->value[t] = projection ? weigh_projection(b, s, t) : weigh_combination(b, s, t);
    }
    return WFRE_OK;
}

/* ---- the answers -------------------------------------------------------------------------- */

/* One answer's explanation in the making. Where known edges give a choice, `choice` says which to
 * take: its digits are those of the places where there is one, of as many values as there are. */
typedef struct tracing {
    wfre_entity *entities;
    wfre_explained_edge *edges;
    size_t edge_count;
    size_t choice;
    bool proof; /* known edges alone, any of them */
} tracing;

static const double CERTAIN = 1 - 1e-9;

static void trace(const builder *b, tracing *to, uint32_t s, uint32_t t, wfre_explained_edge edge);

static bool is_proof(const builder *b, uint32_t s, uint32_t source, uint32_t t)
{
    const inner_set *set = &b->inner[s];
    size_t targets = b->variables[b->sets[s].variable].count;
    const double *below = b->inner[s + 1].value;
    return set->edges[source * targets + t] >= CERTAIN && (!below || below[source] >= CERTAIN);
}

/* The source that candidate t of a projection is reached from. */
static uint32_t choose_source(const builder *b, tracing *to, uint32_t s, uint32_t t,
                              uint32_t sources)
{
    uint32_t proofs = 0, chosen = b->inner[s].chosen[t];
    for (uint32_t i = 0; to->proof && i < sources; i++)
        proofs += is_proof(b, s, i, t);
    if (proofs < 2)
        return chosen;
    size_t digit = to->choice % proofs;
    to->choice /= proofs;
    for (uint32_t i = 0; i < sources; i++)
        if (is_proof(b, s, i, t) && digit-- == 0)
            return i;
    return chosen;
}

/* Notes the edge by which candidate t of a projection is reached best, and goes on below it. */
static void trace_edge(const builder *b, tracing *to, uint32_t s, uint32_t t,
                       wfre_explained_edge edge)
{
    const inner_set *set = &b->inner[s];
    const variable *targets = &b->variables[b->sets[s].variable];
    const wfre_entity *sources;
    uint32_t count = sources_of(b, s, &sources);
    if (count == 0)
        return;
    uint32_t source = choose_source(b, to, s, t, count);
    bool forward = is_forward(set->node);
    edge.relation = set->node->id / 2 * 2;
    edge.head = forward ? sources[source] : targets->candidates[t];
    edge.tail = forward ? targets->candidates[t] : sources[source];
    edge.probability = set->edges[source * targets->count + t];
    edge.known = wfre_graph_has(graph_of(b), b->question->options.split, edge.head, edge.relation,
                                edge.tail);
    to->edges[to->edge_count++] = edge;
    trace(b, to, s + 1, source, edge);
}

/* Follows the best choices down from candidate t of set s, noting entities and edges. `edge` says
 * which negations lie above. */
static void trace(const builder *b, tracing *to, uint32_t s, uint32_t t, wfre_explained_edge edge)
{
    const inner_set *set = &b->inner[s];
    if (set->node->op == WFRE_OP_ENTITY)
        return;
    to->entities[b->sets[s].variable] = b->variables[b->sets[s].variable].candidates[t];
    if (set->node->op == WFRE_OP_PROJECT) {
        trace_edge(b, to, s, t, edge);
        return;
    }
    if (set->node->op == WFRE_OP_UNION) {
        trace(b, to, set->chosen[t], t, edge);
        return;
    }
    if (set->node->op == WFRE_OP_NEGATE && edge.negation == WFRE_NONE)
        edge.negation = s;
    else if (set->node->op == WFRE_OP_NEGATE)
        edge.negated = !edge.negated;
    for (uint32_t c = s + 1; c < b->out->shown.set_count; c++)
        if (b->sets[c].parent == s)
            trace(b, to, c, t, edge);
}

/* What the answers say about an entity; a known one is certain. */
static wfre_prediction find_prediction(const wfre_answers *answers, wfre_entity entity, bool known)
{
    for (size_t i = 0; i < answers->predicted_count; i++)
        if (answers->predicted[i].entity == entity)
            return answers->predicted[i];
    double probability = known ? 1 : (double)NAN;
    return (wfre_prediction){entity, (double)NAN, probability, probability};
}

static wfre_status add_evidence(const builder *b, const tracing *to)
{
    for (size_t i = 0; i < to->edge_count; i++) {
        wfre_explained_edge *edge = &to->edges[i];
        if (edge->known || edge->negation != WFRE_NONE)
            continue;
        wfre_doubtful_edge doubtful = {edge->head, edge->relation, edge->tail};
        CHECK(wfre_evidence_find(graph_of(b), b->question->options.split, doubtful,
                                 b->options.evidence, &b->out->arena, &edge->evidence,
                                 &edge->evidence_count, b->error));
    }
    return WFRE_OK;
}

/* One derivation of candidate t; *more says whether there may be others behind it. */
static wfre_status trace_answer(builder *b, const wfre_answers *answers, uint32_t t, size_t choice,
                                bool *more)
{
    wfre_explanation *out = &b->out->shown;
    wfre_entity entity = b->variables[0].candidates[t];
    bool known = wfre_list_has(b->sets[0].known, entity);
    tracing to = {.entities = take(b, out->variable_count, sizeof *to.entities),
                  .edges = take(b, out->set_count, sizeof *to.edges),
                  .choice = choice,
                  .proof = known};
    if (!to.entities || !to.edges)
        return out_of_memory(b);
    for (uint32_t v = 0; v < out->variable_count; v++)
        to.entities[v] = WFRE_NONE;
    trace(b, &to, 0, t, (wfre_explained_edge){.negation = WFRE_NONE});
    *more = known && to.choice == 0;
    if (to.choice > 0) /* all had their turn */
        return WFRE_OK;
    CHECK(add_evidence(b, &to));
    b->answers[out->answer_count++] =
        (wfre_explained_answer){.prediction = find_prediction(answers, entity, known),
                                .known = known,
                                .derivation = b->inner[0].value ? b->inner[0].value[t] : 1,
                                .entities = to.entities,
                                .edges = to.edges,
                                .edge_count = to.edge_count};
    return WFRE_OK;
}

static wfre_status trace_answers(builder *b, const wfre_answers *answers)
{
    size_t count = b->variables[0].count;
    size_t each = b->options.derivations > 1 ? b->options.derivations : 1;
    each = each < MOST_DERIVATIONS ? each : MOST_DERIVATIONS;
    b->answers = take(b, count * each, sizeof *b->answers);
    if (!b->answers)
        return out_of_memory(b);
    for (uint32_t t = 0; t < count; t++) {
        bool more = true;
        for (size_t choice = 0; more && choice < each; choice++)
            CHECK(trace_answer(b, answers, t, choice, &more));
    }
    return WFRE_OK;
}

/* ---- the rule ----------------------------------------------------------------------------- */

/* Whether there is but one way to an answer: no variable besides it, and no union. */
static bool has_one_way(const wfre_node *tree)
{
    bool one = tree->op != WFRE_OP_UNION &&
               (tree->op != WFRE_OP_PROJECT || tree->children[0]->op == WFRE_OP_ENTITY);
    for (uint32_t i = 0; one && i < tree->child_count; i++)
        one = has_one_way(tree->children[i]);
    return one;
}

/* What the product p of the edges means: a few values of it, and the share that is right. */
static void find_shares(const wfre_calibration_view *view, char *text, size_t size)
{
    static const double PRODUCTS[] = {0.01, 0.1, 0.3, 0.5, 0.7, 0.9};
    size_t used = 0;
    for (size_t i = 0; i < sizeof PRODUCTS / sizeof PRODUCTS[0]; i++) {
        const wfre_hit hit = {0, (float)log(PRODUCTS[i])};
        (void)wfre_format(text + used, size - used, "%s%g -> %.3f", i > 0 ? ", " : "", PRODUCTS[i],
                          wfre_calibration_chance(view, &hit, 0).any);
        used += strlen(text + used);
    }
}

/* How probabilities combine, of a question of a shape. */
static void find_rule(const builder *b, const char *shape, char *text, size_t size)
{
    const wfre_model *model = b->session->engine->model;
    const wfre_node *tree = b->question->query->tree;
    const wfre_hit hit = {0, -1};
    wfre_calibration_view view = {0};
    if (model) {
        wfre_judged of = {model, &b->way, wfre_reasoner_of(&b->way), tree, shape, 0};
        view = wfre_calibration_view_of(&of, &hit, 1);
    }
    bool by_edges = view.by_edges && view.any;
    char shares[160];
    if (by_edges)
        find_shares(&view, shares, sizeof shares);
    if (!model)
        (void)wfre_format(text, size, "Known edges prove what they join.");
    else if (by_edges && wfre_node_is_edge(tree))
        (void)wfre_format(text, size, "The probability of the edge is that of the answer.");
    else if (by_edges)
        (void)wfre_format(text, size,
                          "What the edges of the best derivation multiply to decides the "
                          "probability: of answers to questions of this shape, so many were right: "
                          "%s. That is not the product itself: %s.",
                          shares,
                          has_one_way(tree) ? "edges depend on each other"
                                            : "other derivations count, too");
    else
        (void)wfre_format(text, size,
                          "The question is answered as a whole: edges are judged one by one, and "
                          "need not multiply to the answer's probability.");
}

static wfre_status state_rule(const builder *b)
{
    wfre_text shape = {0};
    char text[480];
    wfre_status status = wfre_type_name(b->question->query->tree, &shape, b->error);
    if (status == WFRE_OK)
        find_rule(b, shape.data, text, sizeof text);
    wfre_text_free(&shape);
    CHECK(status);
    b->out->shown.rule = wfre_arena_text(&b->out->arena, text, strlen(text));
    return b->out->shown.rule ? WFRE_OK : out_of_memory(b);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_status build(builder *b, const wfre_answers *answers)
{
    CHECK(wfre_check_split(b->question->options.split, b->error));
    CHECK(wfre_query_fits(b->question->query, graph_of(b), b->error));
    CHECK(make_sets(b));
    CHECK(fill_sets(b));
    choose_candidates(b, answers);
    CHECK(assign(b));
    CHECK(trace_answers(b, answers));
    CHECK(wfre_graph_sound(graph_of(b), b->error));
    b->out->shown.sets = b->sets;
    b->out->shown.variables = b->names;
    b->out->shown.answers = b->answers;
    const wfre_model *model = b->session->engine->model;
    b->out->shown.calibrated = model && model->calibration != NULL;
    CHECK(state_rule(b));
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
    whole *out = wfre_alloc_zero(1, sizeof *out);
    if (!out)
        return wfre_fail_memory(error, "explaining");
    double timeout = question->options.timeout;
    wfre_scope before =
        wfre_session_enter(session, cancel, timeout > 0 ? wfre_clock() + timeout : 0);
    builder b = {.session = session, .question = question, .out = out, .error = error};
    wfre_explain_options_default(&b.options);
    if (options)
        b.options = *options;
    if (model)
        b.way = question->options.way ? *question->options.way : model->settings.way;
    if (question->options.missing_rate > 0)
        b.way.missing_rate = question->options.missing_rate;
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
    whole *out = (whole *)((char *)explanation - offsetof(whole, shown));
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
