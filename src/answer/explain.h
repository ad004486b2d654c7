/* Explanations (wfre/answer.h) from the inside: how they are printed. */
#ifndef WFRE_SRC_ANSWER_EXPLAIN_H
#define WFRE_SRC_ANSWER_EXPLAIN_H

#include "base/text.h"
#include "wfre/answer.h"

enum { WFRE_EXPLAIN_SETS = 256 }; /* operators of a question, at most */

void wfre_explanation_text(const wfre_graph *graph, const wfre_explanation *explanation,
                           wfre_text *text);
void wfre_explanation_svg(const wfre_graph *graph, const wfre_explanation *explanation,
                          wfre_text *text);
void wfre_explanation_json(const wfre_graph *graph, const wfre_explanation *explanation,
                           wfre_text *text);

#endif
