/* Answers for machines: one object on one line. */
#include "answer/json.h"

#include <math.h>
#include <string.h>

#include "wfre/answer.h"

void wfre_json_name(wfre_text *text, const char *key, wfre_name name)
{
    wfre_text_format(text, ",\"%s\":", key);
    wfre_text_json(text, name.bytes, name.length);
}

void wfre_json_number(wfre_text *text, const char *key, double value)
{
    wfre_text_format(text, isfinite(value) ? ",\"%s\":%.6g" : ",\"%s\":null", key, value);
}

void wfre_json_entity(wfre_text *text, const wfre_graph *graph, wfre_entity entity)
{
    wfre_name description = wfre_graph_entity_description(graph, entity);
    wfre_text_format(text, "{\"id\":%u", entity);
    wfre_json_name(text, "name", wfre_graph_entity_name(graph, entity));
    wfre_json_name(text, "label", wfre_graph_entity_label(graph, entity));
    if (description.length > 0)
        wfre_json_name(text, "description", description);
}

static void add_answer(wfre_text *text, const wfre_graph *graph, const char *status,
                       const wfre_prediction *answer)
{
    wfre_json_entity(text, graph, answer->entity);
    wfre_text_format(text, ",\"status\":\"%s\"", status);
    wfre_json_number(text, "score", answer->score);
    wfre_json_number(text, "probability", answer->probability);
    if (isfinite(answer->missing_probability))
        wfre_json_number(text, "missing_probability", answer->missing_probability);
    wfre_text_char(text, '}');
}

static void add_string(wfre_text *text, const char *key, const char *value)
{
    if (value)
        wfre_json_name(text, key, (wfre_name){value, strlen(value)});
}

wfre_status wfre_answers_print_json(const wfre_graph *graph, const wfre_question *question,
                                    const wfre_answers *answers, const wfre_answers_json *options,
                                    char **json, wfre_error *error)
{
    static const char *const SPLITS[] = {"train", "valid", "test"};
    wfre_text text = {0};
    wfre_text_add(&text, "{\"query\":");
    wfre_text_json(&text, options->text, options->text_length);
    wfre_text_format(&text, ",\"split\":\"%s\"", SPLITS[question->options.split]);
    if (question->options.known)
        wfre_text_format(&text, ",\"count\":%zu", answers->known.count);
    else
        wfre_text_add(&text, ",\"count\":null");
    wfre_text_format(&text, ",\"predicted\":%zu", answers->predicted_count);
    if (options->seconds >= 0)
        wfre_text_format(&text, ",\"seconds\":%.6f", options->seconds);
    add_string(&text, "unpredicted", answers->unpredicted);
    add_string(&text, "explanation", options->explanation);
    wfre_text_add(&text, ",\"answers\":[");
    const char *comma = "";
    for (size_t i = 0; i < answers->known.count && i < options->top; i++, comma = ",") {
        wfre_prediction known = {answers->known.ids[i], (double)NAN, 1, (double)NAN};
        wfre_text_add(&text, comma);
        add_answer(&text, graph, "known", &known);
    }
    for (size_t i = 0; i < answers->predicted_count; i++, comma = ",") {
        wfre_text_add(&text, comma);
        add_answer(&text, graph, "predicted", &answers->predicted[i]);
    }
    wfre_text_add(&text, "]}");
    wfre_status status = wfre_text_status(&text, "printing answers", error);
    if (status == WFRE_OK)
        *json = text.data;
    else
        wfre_text_free(&text);
    return status;
}
