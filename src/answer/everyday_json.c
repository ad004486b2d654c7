/* Replies and descriptions as JSON: one object on one line. docs/FORMAT.md lists the members. */
#include <math.h>
#include <string.h>

#include "answer/json.h"
#include "wfre/everyday.h"

static const char *const SPLITS[] = {"train", "valid", "test"};

static void add_string(wfre_text *text, const char *key, const char *value)
{
    if (value)
        wfre_json_name(text, key, (wfre_name){value, strlen(value)});
}

static void add_missing_probability(wfre_text *text, double probability)
{
    if (isfinite(probability))
        wfre_json_number(text, "missing_probability", probability);
}

static void add_relation(wfre_text *text, const wfre_graph *graph, wfre_relation relation)
{
    wfre_text_format(text, "{\"id\":%u", relation);
    wfre_json_name(text, "name", wfre_graph_relation_name(graph, relation));
    wfre_json_name(text, "label", wfre_graph_relation_label(graph, relation));
    if (relation % 2 == 1)
        wfre_text_add(text, ",\"inverse\":true");
}

/* ---- replies ------------------------------------------------------------------------------ */

static void add_row(wfre_text *text, const wfre_graph *graph, const wfre_query *query,
                    const uint32_t *ids, uint32_t width)
{
    wfre_text_add(text, "{\"row\":[");
    for (uint32_t c = 0; c < width; c++) {
        wfre_text_add(text, c > 0 ? "," : "");
        if (wfre_query_column_is_relation(query, c))
            add_relation(text, graph, ids[c]);
        else
            wfre_json_entity(text, graph, ids[c]);
        wfre_text_char(text, '}');
    }
    wfre_text_char(text, ']');
}

static void add_answers(wfre_text *text, const wfre_graph *graph, const wfre_query *query,
                        const wfre_reply *reply, size_t top)
{
    const char *comma = "";
    wfre_text_add(text, ",\"answers\":[");
    bool listed = reply->width > 0;
    for (size_t i = 0; listed && i < reply->known.count && i < top; i++, comma = ",") {
        wfre_text_add(text, comma);
        add_row(text, graph, query, reply->known.ids + i * reply->width, reply->width);
        if (reply->counts)
            wfre_text_format(text, ",\"count\":%llu", (unsigned long long)reply->counts[i]);
        wfre_text_add(text, ",\"status\":\"known\",\"score\":null,\"probability\":1}");
    }
    for (size_t i = 0; i < reply->predicted_count; i++, comma = ",") {
        const wfre_predicted_row *row = &reply->predicted[i];
        wfre_text_add(text, comma);
        add_row(text, graph, query, row->ids, reply->width);
        wfre_text_add(text, ",\"status\":\"predicted\"");
        wfre_json_number(text, "score", row->score);
        wfre_json_number(text, "probability", row->probability);
        add_missing_probability(text, row->missing_probability);
        wfre_text_char(text, '}');
    }
    wfre_text_char(text, ']');
}

/* What is one value: a verdict, or a number. */
static void add_value(wfre_text *text, const wfre_reply *reply)
{
    if (reply->verdict != WFRE_VERDICT_NONE) {
        wfre_text_format(text, ",\"holds\":\"%s\"", wfre_verdict_name(reply->verdict));
        wfre_json_number(text, "score", reply->score);
        wfre_json_number(text, "probability", reply->probability);
    } else if (reply->counts && reply->width == 0) {
        wfre_text_format(text, ",\"number\":%llu", (unsigned long long)reply->counts[0]);
        wfre_json_number(text, "expected", reply->expected);
    }
}

wfre_status wfre_reply_print_json(const wfre_graph *graph, const wfre_question *question,
                                  const wfre_reply *reply, const wfre_answers_json *options,
                                  char **json, wfre_error *error)
{
    wfre_text text = {0};
    wfre_text_add(&text, "{\"query\":");
    wfre_text_json(&text, options->text, options->text_length);
    wfre_text_format(&text, ",\"split\":\"%s\",\"columns\":[", SPLITS[question->options.split]);
    for (uint32_t c = 0; c < reply->width; c++) {
        const char *name = wfre_query_column_name(question->query, c);
        wfre_text_add(&text, c > 0 ? "," : "");
        wfre_text_json(&text, name, strlen(name));
    }
    wfre_text_char(&text, ']');
    add_value(&text, reply);
    if (reply->width > 0)
        wfre_text_format(&text, ",\"count\":%llu,\"complete\":%s", (unsigned long long)reply->total,
                         reply->known.complete ? "true" : "false");
    wfre_text_format(&text, ",\"predicted\":%zu", reply->predicted_count);
    if (options->seconds >= 0)
        wfre_text_format(&text, ",\"seconds\":%.6f", options->seconds);
    add_string(&text, "unpredicted", reply->unpredicted);
    add_string(&text, "explanation", options->explanation);
    add_answers(&text, graph, question->query, reply, options->top);
    wfre_text_char(&text, '}');
    wfre_status status = wfre_text_status(&text, "printing answers", error);
    if (status == WFRE_OK)
        *json = text.data;
    else
        wfre_text_free(&text);
    return status;
}

/* ---- descriptions ------------------------------------------------------------------------- */

static void add_described(wfre_text *text, const wfre_graph *graph,
                          const wfre_described_relation *relation, size_t top)
{
    add_relation(text, graph, relation->relation);
    wfre_text_format(text, ",\"count\":%zu,\"targets\":[", relation->targets.count);
    for (size_t i = 0; i < relation->targets.count && i < top; i++) {
        wfre_text_add(text, i > 0 ? "," : "");
        wfre_json_entity(text, graph, relation->targets.ids[i]);
        wfre_text_char(text, '}');
    }
    wfre_text_add(text, "]}");
}

static void add_attribute(wfre_text *text, const wfre_described_attribute *attribute)
{
    wfre_text_add(text, "{\"property\":");
    wfre_text_json(text, attribute->property.bytes, attribute->property.length);
    wfre_json_name(text, "label", attribute->label);
    wfre_json_name(text, "value", attribute->value);
    if (attribute->datatype.length > 0)
        wfre_json_name(text, "datatype", attribute->datatype);
    if (attribute->language.length > 0)
        wfre_json_name(text, "language", attribute->language);
    wfre_text_char(text, '}');
}

static void add_missing(wfre_text *text, const wfre_graph *graph, const wfre_missing_triple *t)
{
    wfre_text_add(text, "{\"head\":");
    wfre_json_entity(text, graph, t->head);
    wfre_text_add(text, "},\"relation\":");
    add_relation(text, graph, t->relation);
    wfre_text_add(text, "},\"tail\":");
    wfre_json_entity(text, graph, t->tail);
    wfre_text_char(text, '}');
    wfre_json_number(text, "score", t->score);
    wfre_json_number(text, "probability", t->probability);
    add_missing_probability(text, t->missing_probability);
    wfre_text_char(text, '}');
}

wfre_status wfre_description_print_json(const wfre_graph *graph,
                                        const wfre_description *description, size_t top,
                                        char **json, wfre_error *error)
{
    wfre_text text = {0};
    wfre_text_add(&text, "{\"describes\":");
    wfre_json_entity(&text, graph, description->entity);
    wfre_text_format(&text, "},\"edges\":%llu,\"relations\":[",
                     (unsigned long long)description->edge_count);
    for (size_t i = 0; i < description->relation_count; i++) {
        wfre_text_add(&text, i > 0 ? "," : "");
        add_described(&text, graph, &description->relations[i], top);
    }
    wfre_text_add(&text, "],\"attributes\":[");
    for (size_t i = 0; i < description->attribute_count; i++) {
        wfre_text_add(&text, i > 0 ? "," : "");
        add_attribute(&text, &description->attributes[i]);
    }
    wfre_text_add(&text, "],\"missing\":[");
    for (size_t i = 0; i < description->missing_count; i++) {
        wfre_text_add(&text, i > 0 ? "," : "");
        add_missing(&text, graph, &description->missing[i]);
    }
    wfre_text_char(&text, ']');
    add_string(&text, "unpredicted", description->unpredicted);
    wfre_text_char(&text, '}');
    wfre_status status = wfre_text_status(&text, "printing a description", error);
    if (status == WFRE_OK)
        *json = text.data;
    else
        wfre_text_free(&text);
    return status;
}
