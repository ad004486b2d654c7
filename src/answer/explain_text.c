/* Explanations for a terminal. */
#include <math.h>

#include "answer/explain.h"

enum { SHOWN = 3 };

static void add_entity(const wfre_explanation *e, wfre_entity entity, wfre_text *text)
{
    wfre_name label = wfre_graph_entity_label(e->graph, entity);
    wfre_text_visible(text, label.bytes, label.length);
}

static void add_relation(const wfre_explanation *e, wfre_relation relation, wfre_text *text)
{
    wfre_name label = wfre_graph_relation_label(e->graph, relation);
    wfre_text_visible(text, label.bytes, label.length);
}

/* The argument of a projection: an entity or a variable. */
static void add_argument(const wfre_explanation *e, uint32_t set, wfre_text *text)
{
    const wfre_explained_set *argument = &e->sets[set + 1];
    if (argument->node->op == WFRE_OP_ENTITY)
        add_entity(e, argument->node->id, text);
    else
        wfre_text_format(text, "?%s", e->variables[argument->variable].name);
}

void wfre_explanation_label(const wfre_explanation *e, uint32_t set, wfre_text *text)
{
    const wfre_explained_set *own = &e->sets[set];
    switch (own->node->op) {
    case WFRE_OP_ENTITY:
        add_entity(e, own->node->id, text);
        return;
    case WFRE_OP_INTERSECT:
        wfre_text_add(text, "and");
        return;
    case WFRE_OP_UNION:
        wfre_text_add(text, "or");
        return;
    case WFRE_OP_NEGATE:
        wfre_text_add(text, "not");
        return;
    case WFRE_OP_PROJECT:
        break;
    }
    const char *variable = e->variables[own->variable].name;
    add_relation(e, own->node->id, text);
    wfre_text_char(text, '(');
    if (wfre_explained_forward(own->node))
        add_argument(e, set, text);
    else
        wfre_text_format(text, "?%s", variable);
    wfre_text_add(text, ", ");
    if (wfre_explained_forward(own->node))
        wfre_text_format(text, "?%s", variable);
    else
        add_argument(e, set, text);
    wfre_text_char(text, ')');
}

static void add_probability(double probability, wfre_text *text)
{
    if (isfinite(probability))
        wfre_text_format(text, " %.2f", probability);
}

/* One line: what it is, how many are known, and the likeliest of the others. */
static void add_set(const wfre_explanation *e, uint32_t s, wfre_text *text)
{
    const wfre_explained_set *set = &e->sets[s];
    wfre_text_format(text, "%*s", (int)(2 + 2 * set->depth), "");
    wfre_explanation_label(e, s, text);
    wfre_text_format(text, ": %zu known", set->known.count);
    for (size_t i = 0; i < set->hit_count && i < SHOWN; i++) {
        wfre_text_add(text, i == 0 ? "; predicted " : ", ");
        add_entity(e, set->hits[i].entity, text);
        add_probability(set->probabilities[i], text);
    }
    wfre_text_char(text, '\n');
}

static void add_edge(const wfre_explanation *e, const wfre_explained_edge *edge, wfre_text *text)
{
    add_relation(e, edge->relation, text);
    wfre_text_char(text, '(');
    add_entity(e, edge->head, text);
    wfre_text_add(text, ", ");
    add_entity(e, edge->tail, text);
    wfre_text_char(text, ')');
}

/* One line for an edge, or for all that one negation denies together, of which there are `count`:
 * if the graph has them all, that speaks against the answer. */
static void add_edges(const wfre_explanation *e, const wfre_explained_edge *edges, size_t count,
                      wfre_text *text)
{
    bool known = true, denied = edges->negation != WFRE_NONE;
    double probability = 1;
    for (size_t i = 0; i < count; i++) {
        known = known && edges[i].known && !edges[i].negated;
        probability *= edges[i].negated ? 1 - edges[i].probability : edges[i].probability;
    }
    const char *standing = !known ? "predicted" : denied ? "against" : "known";
    bool negation = denied && !known, brackets = negation && count > 1;
    wfre_text_format(text, "        %-9s  %s%s", standing, negation ? "not " : "",
                     brackets ? "(" : "");
    for (size_t i = 0; i < count; i++) {
        wfre_text_add(text, i > 0 ? " & " : "");
        wfre_text_add(text, edges[i].negated ? "not " : "");
        add_edge(e, &edges[i], text);
    }
    wfre_text_add(text, brackets ? ")" : "");
    if (!known && e->calibrated)
        add_probability(denied ? 1 - probability : probability, text);
    wfre_text_char(text, '\n');
}

static void add_answer(const wfre_explanation *e, size_t rank, const wfre_explained_answer *answer,
                       wfre_text *text)
{
    wfre_text_format(text, "%4zu  ", rank);
    add_entity(e, answer->prediction.entity, text);
    add_probability(answer->prediction.probability, text);
    wfre_text_char(text, '\n');
    for (uint32_t v = 1; v < e->variable_count; v++)
        if (answer->entities[v] != WFRE_NONE) {
            wfre_text_format(text, "        ?%s = ", e->variables[v].name);
            add_entity(e, answer->entities[v], text);
            wfre_text_char(text, '\n');
        }
    for (size_t i = 0, next; i < answer->edge_count; i = next) {
        const wfre_explained_edge *edges = &answer->edges[i];
        next = i + 1;
        while (edges->negation != WFRE_NONE && next < answer->edge_count &&
               answer->edges[next].negation == edges->negation)
            next++;
        add_edges(e, edges, next - i, text);
    }
}

void wfre_explanation_text(const wfre_explanation *e, wfre_text *text)
{
    wfre_text_add(text, "The sets of the question:\n");
    for (uint32_t s = 0; s < e->set_count; s++)
        if (e->sets[s].node->op != WFRE_OP_ENTITY)
            add_set(e, s, text);
    if (e->answer_count > 0)
        wfre_text_add(text, "The likeliest way to each predicted answer:\n");
    for (size_t i = 0; i < e->answer_count; i++)
        add_answer(e, i + 1, &e->answers[i], text);
}
