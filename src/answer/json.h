/* Pieces that the JSON of answers and of explanations share. */
#ifndef WFRE_SRC_ANSWER_JSON_H
#define WFRE_SRC_ANSWER_JSON_H

#include "base/text.h"
#include "wfre/graph.h"

/* `,"key":` and the value: a string, and a number or null if it is not finite. */
void wfre_json_name(wfre_text *text, const char *key, wfre_name name);
void wfre_json_number(wfre_text *text, const char *key, double value);
/* `{"id":..,"name":..,"label":..,"description":..` without the bracket at the end. */
void wfre_json_entity(wfre_text *text, const wfre_graph *graph, wfre_entity entity);

#endif
