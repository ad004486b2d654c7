/* The parts of a reply (wfre/everyday.h): known rows, predicted rows, sentences. */
#ifndef WFRE_SRC_ANSWER_REPLY_H
#define WFRE_SRC_ANSWER_REPLY_H

#include "answer/everyday.h"

/* A question on its way. */
typedef struct wfre_replying {
    wfre_errand errand;
    const wfre_graph *graph;
    const wfre_query *query;
    size_t top;             /* predicted rows wanted */
    double min_probability; /* of them */
    wfre_arena *arena;      /* of the reply */
    wfre_reply *reply;
} wfre_replying;

/* Keeps a sentence for as long as the reply. */
WFRE_NODISCARD wfre_status wfre_reply_note(const wfre_replying *r, const char *sentence,
                                           wfre_error *error);
/* Predicted rows of a question for several entities, or for relations. */
WFRE_NODISCARD wfre_status wfre_reply_rows(const wfre_replying *r, wfre_error *error);
/* The verdict and the probability of a question without variables, which the graph as it is does
 * not prove. */
WFRE_NODISCARD wfre_status wfre_reply_sentence(const wfre_replying *r, wfre_error *error);

/* The best rows so far. */
typedef struct wfre_row_list {
    wfre_predicted_row *rows;
    size_t count, capacity;
} wfre_row_list;

/* Sorts rows, likeliest first, and makes the best of them those of the reply. */
void wfre_reply_take(const wfre_replying *r, wfre_row_list *list);

#endif
