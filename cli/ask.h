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
    size_t derivations;         /* of a known answer that are explained */
    wfre_explain_format format; /* of explanations */
    const char *results;        /* --format of SPARQL results; NULL: what suits the output */
    const char *base;           /* of relative IRIs in SPARQL, or NULL */
    const char *file;           /* that the question stands in, or NULL */
    size_t memory;              /* that a SPARQL query may take; 0: as the library says */
    bool echo;                  /* each question stands before its answers */
    bool prompt;                /* a person types ... */
    bool page;                  /* ... and long answers stop after each page */
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

/* The rank, the kind ("known", "predicted", ...) and the probability, at the start of a line. */
void ask_print_standing(FILE *line, size_t rank, const char *kind, double probability);
/* Says that not all known answers were shown, of which there are `count`; and how to see them. */
void ask_note_cut(const ask_session *session, uint64_t count, const char *what);
/* Says why there are no probabilities, if `probability` is NAN. */
void ask_note_probabilities(const ask_session *session, double probability);

/* Answers a question that is not for one entity: prints the reply. */
int ask_reply(const ask_session *session, const char *text, const wfre_query *query, double start);
/* describe ENTITY and near ENTITY. */
int ask_describe(const ask_session *session, const char *text, wfre_entity entity);
int ask_near(const ask_session *session, const char *text, wfre_entity entity);
/* What went wrong with a question, under it; as JSON, too, if that is wanted. The exit code. */
int ask_fail(const ask_session *session, const char *text, const wfre_error *error);
/* The start of every object that --json prints: a brace and the question. */
void ask_begin_object(const char *text);
/* The JSON alone, if it is wanted. */
void ask_error_json(const ask_session *session, const char *text, const wfre_error *error);

/* Runs a SPARQL query and prints its results. */
int ask_sparql(const ask_session *session, const char *text);
/* Reads a query without running it: EXIT_DONE, or EXIT_FAILED having said where it is wrong. */
int ask_check(const char *text, const char *base);
/* The IRI of a file that a query stands in, the base of what is relative in it; to be freed, NULL
 * if there is none. */
char *ask_file_base(const char *file);
/* The graphs that FROM and FROM NAMED name and that are files beside the query's (session->file):
 * *graph has them as named graphs and is to be closed. It stays NULL if there are none. */
wfre_status ask_documents(const ask_session *session, const wfre_rdf_view *view,
                          const wfre_sparql *query, wfre_graph **graph, wfre_error *error);
/* The whole file, to be freed; NULL if it cannot be read. */
char *ask_read_file(const char *path, wfre_error *error);

/* Answers every question that standard input has, at a prompt if it is a terminal. */
int ask_questions(ask_session *session, int (*answer)(const ask_session *, const char *));
/* Whether a line is no question but a command: help, quit, find, set. */
bool ask_is_command(const char *line);
/* Carries it out; the exit code. *quit is set to end. */
int ask_command(ask_session *session, const char *line, bool *quit);

#endif
