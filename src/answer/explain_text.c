/* Explanations for a terminal. */
#include <inttypes.h>
#include <math.h>

#include "answer/explain.h"

enum { SHOWN = 3 };

/* What is printed, and the graph that its names come from. */
typedef struct page {
    const wfre_graph *graph;
    const wfre_explanation *shown;
    wfre_text *text;
} page;

static void add_entity(const page *p, wfre_entity entity)
{
    wfre_name label = wfre_graph_entity_label(p->graph, entity);
    wfre_text_visible(p->text, label.bytes, label.length);
}

static void add_probability(double probability, wfre_text *text)
{
    if (isfinite(probability))
        wfre_text_format(text, " %.3f", probability);
}

/* One line: what it is, how many are known, and the likeliest of the others. */
static void add_set(const page *p, const wfre_explained_set *set)
{
    wfre_text *text = p->text;
    wfre_text_format(text, "%*s", (int)(2 + 2 * set->depth), "");
    wfre_text_add(text, set->label);
    wfre_text_format(text, ": %zu known", set->known.count);
    for (size_t i = 0; i < set->predicted_count && i < SHOWN; i++) {
        wfre_text_add(text, i == 0 ? "; predicted " : ", ");
        add_entity(p, set->predicted[i].entity);
        add_probability(set->predicted[i].probability, text);
    }
    wfre_text_char(text, '\n');
}

static void add_edge(const page *p, const wfre_explained_edge *edge)
{
    wfre_name relation = wfre_graph_relation_label(p->graph, edge->relation);
    wfre_text_visible(p->text, relation.bytes, relation.length);
    wfre_text_char(p->text, '(');
    add_entity(p, edge->head);
    wfre_text_add(p->text, ", ");
    add_entity(p, edge->tail);
    wfre_text_char(p->text, ')');
}

/* One line for an edge, or for all that one negation denies together, of which there are `count`:
 * if the graph has them all, that speaks against the answer. */
static void add_edges(const page *p, const wfre_explained_edge *edges, size_t count)
{
    wfre_text *text = p->text;
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
        add_edge(p, &edges[i]);
    }
    wfre_text_add(text, brackets ? ")" : "");
    if (!known && p->shown->calibrated)
        add_probability(denied ? 1 - probability : probability, text);
    wfre_text_char(text, '\n');
}

/* The facts that speak for an edge, one a line. */
static void add_evidence(const page *p, const wfre_explained_edge *edge)
{
    for (size_t i = 0; i < edge->evidence_count; i++) {
        const wfre_evidence *e = &edge->evidence[i];
        wfre_explained_edge fact = {.relation = e->relation, .head = e->head, .tail = e->tail};
        wfre_text_add(p->text, "          because  ");
        add_edge(p, &fact);
        wfre_text_format(p->text, ": %" PRIu64 " of %" PRIu64 " %s", e->hits, e->cases,
                         e->kind == WFRE_EVIDENCE_JOINED ? "pairs so joined have it"
                                                         : "others with this have it");
        if (e->example != WFRE_NONE) {
            wfre_text_add(p->text, ", as ");
            add_entity(p, e->example);
        }
        wfre_text_char(p->text, '\n');
    }
}

static void add_answer(const page *p, size_t rank, const wfre_explained_answer *answer)
{
    wfre_text *text = p->text;
    wfre_text_format(text, "%4zu  ", rank);
    add_entity(p, answer->prediction.entity);
    if (answer->known)
        wfre_text_add(text, " known");
    else
        add_probability(answer->prediction.probability, text);
    if (!answer->known && p->shown->set_count > 2 && p->shown->calibrated)
        wfre_text_format(text, ": the edges multiply to %.3f", answer->derivation);
    wfre_text_char(text, '\n');
    for (uint32_t v = 1; v < p->shown->variable_count; v++)
        if (answer->entities[v] != WFRE_NONE) {
            wfre_text_format(text, "        ?%s = ", p->shown->variables[v]);
            add_entity(p, answer->entities[v]);
            wfre_text_char(text, '\n');
        }
    for (size_t i = 0, next; i < answer->edge_count; i = next) {
        const wfre_explained_edge *edges = &answer->edges[i];
        next = i + 1;
        while (edges->negation != WFRE_NONE && next < answer->edge_count &&
               answer->edges[next].negation == edges->negation)
            next++;
        if (p->shown->set_count > 2 || edges->known || !isfinite(edges->probability))
            add_edges(p, edges, next - i); /* a single one has been said already */
        for (size_t k = i; k < next; k++)
            add_evidence(p, &answer->edges[k]);
    }
}

void wfre_explanation_text(const wfre_graph *graph, const wfre_explanation *e, wfre_text *text)
{
    page p = {graph, e, text};
    wfre_text_add(text, "The sets of the question:\n");
    for (uint32_t s = 0; s < e->set_count; s++)
        if (e->sets[s].variable != WFRE_NONE)
            add_set(&p, &e->sets[s]);
    if (e->answer_count > 0)
        wfre_text_add(text, "The likeliest way to each answer:\n");
    for (size_t i = 0; i < e->answer_count; i++)
        add_answer(&p, i + 1, &e->answers[i]);
    if (e->answer_count > 0 && e->calibrated)
        wfre_text_format(text, "%s\n", e->rule);
}
