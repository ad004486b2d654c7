/* Explanations for machines. */
#include <inttypes.h>
#include <string.h>

#include "answer/explain.h"
#include "answer/json.h"

static void add_predictions(wfre_text *text, const wfre_graph *graph,
                            const wfre_prediction *predicted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wfre_text_add(text, i > 0 ? "," : "");
        wfre_json_entity(text, graph, predicted[i].entity);
        wfre_json_number(text, "score", predicted[i].score);
        wfre_json_number(text, "probability", predicted[i].probability);
        wfre_text_char(text, '}');
    }
}

static void add_set(wfre_text *text, const wfre_graph *graph, const wfre_explanation *e, uint32_t s)
{
    const wfre_explained_set *set = &e->sets[s];
    wfre_text_format(text, "%s{\"set\":%u,\"depth\":%u,\"label\":", s > 0 ? "," : "", s,
                     set->depth);
    wfre_text_json(text, set->label, strlen(set->label));
    if (set->parent != WFRE_NONE)
        wfre_text_format(text, ",\"parent\":%u", set->parent);
    if (set->variable != WFRE_NONE)
        wfre_text_format(text, ",\"variable\":%u", set->variable);
    wfre_text_format(text, ",\"known\":%zu,\"predicted\":[", set->known.count);
    add_predictions(text, graph, set->predicted, set->predicted_count);
    wfre_text_add(text, "]}");
}

static void add_evidence(wfre_text *text, const wfre_graph *graph, const wfre_evidence *e,
                         const char *comma)
{
    static const char *const KINDS[] = {"head", "tail", "joined"};
    wfre_text_format(text, "%s{\"kind\":\"%s\",\"relation\":", comma, KINDS[e->kind]);
    wfre_name relation = wfre_graph_relation_name(graph, e->relation);
    wfre_text_json(text, relation.bytes, relation.length);
    wfre_text_add(text, ",\"head\":");
    wfre_json_entity(text, graph, e->head);
    wfre_text_add(text, "},\"tail\":");
    wfre_json_entity(text, graph, e->tail);
    wfre_text_format(text, "},\"cases\":%" PRIu64 ",\"hits\":%" PRIu64, e->cases, e->hits);
    wfre_json_number(text, "weight", e->weight);
    if (e->example != WFRE_NONE) {
        wfre_text_add(text, ",\"example\":");
        wfre_json_entity(text, graph, e->example);
        wfre_text_char(text, '}');
    }
    wfre_text_char(text, '}');
}

static void add_edge(wfre_text *text, const wfre_graph *graph, const wfre_explained_edge *edge)
{
    wfre_text_add(text, "{\"relation\":");
    wfre_name relation = wfre_graph_relation_name(graph, edge->relation);
    wfre_text_json(text, relation.bytes, relation.length);
    wfre_json_name(text, "relation_label", wfre_graph_relation_label(graph, edge->relation));
    wfre_text_add(text, ",\"head\":");
    wfre_json_entity(text, graph, edge->head);
    wfre_text_add(text, "},\"tail\":");
    wfre_json_entity(text, graph, edge->tail);
    wfre_text_format(text, "},\"known\":%s,\"negated\":%s", edge->known ? "true" : "false",
                     (edge->negation != WFRE_NONE) != edge->negated ? "true" : "false");
    wfre_json_number(text, "probability", edge->probability);
    wfre_text_add(text, ",\"evidence\":[");
    for (size_t i = 0; i < edge->evidence_count; i++)
        add_evidence(text, graph, &edge->evidence[i], i > 0 ? "," : "");
    wfre_text_add(text, "]}");
}

static void add_answer(wfre_text *text, const wfre_graph *graph, const wfre_explanation *e,
                       const wfre_explained_answer *answer)
{
    wfre_json_entity(text, graph, answer->prediction.entity);
    wfre_text_format(text, ",\"known\":%s", answer->known ? "true" : "false");
    wfre_json_number(text, "probability", answer->prediction.probability);
    wfre_json_number(text, "derivation", answer->derivation);
    wfre_text_add(text, ",\"variables\":[");
    for (uint32_t v = 0; v < e->variable_count; v++) {
        wfre_text_add(text, v > 0 ? "," : "");
        if (answer->entities[v] == WFRE_NONE) {
            wfre_text_add(text, "null");
            continue;
        }
        wfre_json_entity(text, graph, answer->entities[v]);
        wfre_text_char(text, '}');
    }
    wfre_text_add(text, "],\"edges\":[");
    for (size_t i = 0; i < answer->edge_count; i++) {
        wfre_text_add(text, i > 0 ? "," : "");
        add_edge(text, graph, &answer->edges[i]);
    }
    wfre_text_add(text, "]}");
}

void wfre_explanation_json(const wfre_graph *graph, const wfre_explanation *e, wfre_text *text)
{
    wfre_text_format(text, "{\"calibrated\":%s,\"rule\":", e->calibrated ? "true" : "false");
    wfre_text_json(text, e->rule, strlen(e->rule));
    wfre_text_add(text, ",\"variables\":[");
    for (uint32_t v = 0; v < e->variable_count; v++) {
        wfre_text_add(text, v > 0 ? "," : "");
        wfre_text_json(text, e->variables[v], strlen(e->variables[v]));
    }
    wfre_text_add(text, "],\"sets\":[");
    for (uint32_t s = 0; s < e->set_count; s++)
        add_set(text, graph, e, s);
    wfre_text_add(text, "],\"answers\":[");
    for (size_t i = 0; i < e->answer_count; i++) {
        wfre_text_add(text, i > 0 ? "," : "");
        add_answer(text, graph, e, &e->answers[i]);
    }
    wfre_text_add(text, "]}");
}
