/* Between cmd_ask.c and what prints its answers. */
#ifndef WFRE_CLI_ASK_H
#define WFRE_CLI_ASK_H

#include "cli.h"

/* How questions are answered and shown, whichever way they come in. */
typedef struct ask_session {
    wfre_graph *graph;
    wfre_model *model; /* NULL: known answers only */
    wfre_engine *engine;
    wfre_session *session;
    wfre_way way;
    wfre_ask_options options;
    size_t top; /* known answers to print, and predicted ones to ask for */
    bool json;
    bool explain;
    wfre_explain_format format; /* of explanations */
    const char *results;        /* --format of SPARQL results; NULL: what suits the output */
    const char *base;           /* of relative IRIs in SPARQL, or NULL */
    size_t memory;              /* that a SPARQL query may take; 0: as the library says */
} ask_session;

/* What came of one question. */
typedef struct ask_result {
    const char *text;
    wfre_question question;
    wfre_answers *answers; /* one */
    double seconds;
    char *explanation; /* or NULL */
} ask_result;

/* The answers as a table on standard output, a summary on standard error. */
void ask_print(const ask_session *session, const ask_result *result);
/* One JSON object on one line; the exit code. */
int ask_print_json(const ask_session *session, const ask_result *result);

/* Runs a SPARQL query and prints its results. */
int ask_sparql(const ask_session *session, const char *text);
/* Reads a query without running it: EXIT_DONE, or EXIT_FAILED having said where it is wrong. */
int ask_check(const char *text, const char *base);
/* The whole file, to be freed; NULL if it cannot be read. */
char *ask_read_file(const char *path, wfre_error *error);

/* Answers every question that standard input has, at a prompt if it is a terminal. */
int ask_questions(const ask_session *session, int (*answer)(const ask_session *, const char *));

#endif
