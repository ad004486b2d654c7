/* The derivations of answers: the best one, or several of known edges. */
#include <math.h>
#include <string.h>

#include "answer/evidence.h"
#include "answer/explaining.h"

enum { MOST_DERIVATIONS = 1000 };

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

static void trace(const wfre_explaining *b, tracing *to, uint32_t s, uint32_t t,
                  wfre_explained_edge edge);

static bool is_proof(const wfre_explaining *b, uint32_t s, uint32_t source, uint32_t t)
{
    const wfre_inner_set *set = &b->inner[s];
    size_t targets = b->variables[b->sets[s].variable].count;
    const double *below = b->inner[s + 1].value;
    return set->edges[source * targets + t] >= CERTAIN && (!below || below[source] >= CERTAIN);
}

/* The source that candidate t of a projection is reached from. */
static uint32_t choose_source(const wfre_explaining *b, tracing *to, uint32_t s, uint32_t t,
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
static void trace_edge(const wfre_explaining *b, tracing *to, uint32_t s, uint32_t t,
                       wfre_explained_edge edge)
{
    const wfre_inner_set *set = &b->inner[s];
    const wfre_asked_variable *targets = &b->variables[b->sets[s].variable];
    const wfre_entity *sources;
    uint32_t count = wfre_explaining_sources(b, s, &sources);
    if (count == 0)
        return;
    uint32_t source = choose_source(b, to, s, t, count);
    bool forward = wfre_explaining_forward(set->node);
    edge.relation = set->node->id / 2 * 2;
    edge.head = forward ? sources[source] : targets->candidates[t];
    edge.tail = forward ? targets->candidates[t] : sources[source];
    edge.probability = set->edges[source * targets->count + t];
    edge.known = wfre_graph_has(wfre_explaining_graph(b), b->question->options.split, edge.head,
                                edge.relation, edge.tail);
    to->edges[to->edge_count++] = edge;
    trace(b, to, s + 1, source, edge);
}

/* Follows the best choices down from candidate t of set s, noting entities and edges. `edge` says
 * which negations lie above. */
static void trace(const wfre_explaining *b, tracing *to, uint32_t s, uint32_t t,
                  wfre_explained_edge edge)
{
    const wfre_inner_set *set = &b->inner[s];
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

static wfre_status add_evidence(const wfre_explaining *b, const tracing *to)
{
    for (size_t i = 0; i < to->edge_count; i++) {
        wfre_explained_edge *edge = &to->edges[i];
        if (edge->known || edge->negation != WFRE_NONE)
            continue;
        wfre_doubtful_edge doubtful = {edge->head, edge->relation, edge->tail};
        CHECK(wfre_evidence_find(wfre_explaining_graph(b), b->question->options.split, doubtful,
                                 b->options.evidence, &b->out->arena, &edge->evidence,
                                 &edge->evidence_count, b->error));
    }
    return WFRE_OK;
}

/* One derivation of candidate t; *more says whether there may be others behind it. */
static wfre_status trace_answer(wfre_explaining *b, const wfre_answers *answers, uint32_t t,
                                size_t choice, bool *more)
{
    wfre_explanation *out = &b->out->shown;
    wfre_entity entity = b->variables[0].candidates[t];
    bool known = wfre_list_has(b->sets[0].known, entity);
    tracing to = {.entities = wfre_explaining_take(b, out->variable_count, sizeof *to.entities),
                  .edges = wfre_explaining_take(b, out->set_count, sizeof *to.edges),
                  .choice = choice,
                  .proof = known};
    if (!to.entities || !to.edges)
        return wfre_explaining_fail(b);
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

wfre_status wfre_explaining_trace(wfre_explaining *b, const wfre_answers *answers)
{
    size_t count = b->variables[0].count;
    size_t each = b->options.derivations > 1 ? b->options.derivations : 1;
    each = each < MOST_DERIVATIONS ? each : MOST_DERIVATIONS;
    b->answers = wfre_explaining_take(b, count * each, sizeof *b->answers);
    if (!b->answers)
        return wfre_explaining_fail(b);
    for (uint32_t t = 0; t < count; t++) {
        bool more = true;
        for (size_t choice = 0; more && choice < each; choice++)
            CHECK(trace_answer(b, answers, t, choice, &more));
    }
    return WFRE_OK;
}
