/* What the commands share: option tables, errors, progress on the terminal, JSON output.
 *
 * A command is one cmd_*.c file with one `const cli_command`; main.c lists them. The table is the
 * only description of its options: parsing, --help and the manual page all come from it. */
#ifndef WFRE_CLI_H
#define WFRE_CLI_H

#include <stdarg.h>
#include <stdio.h>

#include "wfre.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* A calibration error that rests on fewer questions says little. */
enum { CLI_FEW_QUESTIONS = 100 };

typedef enum cli_kind {
    CLI_FLAG,          /* --json */
    CLI_TEXT,          /* --types LIST */
    CLI_FILE,          /* --out FILE, which cannot be standard output */
    CLI_OPTIONAL_TEXT, /* --explain or --explain=svg */
    CLI_REPEATED,      /* --vary A --vary B */
    CLI_INTEGER,       /* --seed 7, within minimum .. maximum */
    CLI_NUMBER,        /* --holdout 0.1, within minimum .. maximum */
    CLI_DURATION       /* --time 90, 90s, 30m, 1.5h; seconds */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 'o' for -o, or 0 */
    cli_kind kind;
    const char *value; /* what --help calls it, "FILE"; NULL for flags */
    const char *help;  /* one line; says the default */
    double minimum;    /* of integers and numbers; both 0 means any */
    double maximum;
} cli_option;

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "G.kg [M.safetensors] ['QUERY']" */
    const char *summary;   /* one line */
    const char *details;   /* paragraphs and examples for --help; may be NULL */
    const cli_option *options;
    size_t option_count;
    int minimum_arguments;
    int maximum_arguments; /* -1: any number */
    int (*run)(const cli_call *call);
} cli_command;

#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof((table)[0])

/* ---- what the user typed (checked against the table already) ------------------------------ */

int cli_argument_count(const cli_call *call);
const char *cli_argument(const cli_call *call, int index); /* NULL beyond the last */
bool cli_has(const cli_call *call, const char *option);
const char *cli_text(const cli_call *call, const char *option, const char *fallback);
long long cli_integer(const cli_call *call, const char *option, long long fallback);
double cli_number(const cli_call *call, const char *option, double fallback);
double cli_duration(const cli_call *call, const char *option, double fallback);
/* --split train, valid or test. Returns EXIT_DONE, or EXIT_USAGE having said what is wrong. */
/* The setting of --literals. */
int cli_literals(const cli_call *call, wfre_literals *literals);
int cli_split(const cli_call *call, wfre_split fallback, wfre_split *split);
/* --by edges or embedding, if given, put into the way: EXIT_DONE, or EXIT_USAGE having said what is
 * wrong. */
int cli_by(const cli_call *call, wfre_way *way);
/* Where to print a summary: standard error if --out - takes standard output. */
FILE *cli_summary_stream(const cli_call *call);
/* Refuses to write over a file that is read or written besides (NULL: none): EXIT_DONE, or
 * EXIT_USAGE having said which. */
int cli_keep_apart(const cli_call *call, const char *output, const char *other);
/* The k-th value of a repeated option, NULL beyond the last. */
const char *cli_repeated(const cli_call *call, const char *option, int k);

/* ---- messages, all on standard error ------------------------------------------------------ */

/* The message with its settings written as options (see wfre_error); static, good until the next
 * call. */
const char *cli_message(const wfre_error *error);
/* "wfre: message"; returns the exit code that belongs to the error. */
int cli_fail(const wfre_error *error);
/* The same for settings that the user typed: a wrong one is wrong usage. */
int cli_fail_setting(const cli_call *call, const wfre_error *error);
/* A question that came from a file or a pipe, before its answers; not more of it than a line or
 * two. */
void cli_echo(const char *text);
/* The same as cli_fail, with the offending text and a caret under error->offset. */
int cli_fail_at(const wfre_error *error, const char *text);
/* A mistake in how the command was called; returns EXIT_USAGE. */
WFRE_PRINTF(2, 3) int cli_usage(const cli_call *call, const char *format, ...);
WFRE_PRINTF(1, 2) void cli_note(const char *format, ...);
/* The message alone, without the end of its line; see wfre_visible. */
WFRE_PRINTF(1, 0) void cli_say(const char *format, va_list args);

/* Standard option rows. */
#define CLI_OPTION_JSON                                                                            \
    {                                                                                              \
        "json", 0, CLI_FLAG, NULL, "print JSON for machines", 0, 0                                 \
    }
#define CLI_OPTION_THREADS                                                                         \
    {                                                                                              \
        "threads", 'j', CLI_INTEGER, "N", "worker threads (default: one per CPU)", 1, 1024         \
    }
#define CLI_OPTION_LITERALS                                                                        \
    {                                                                                              \
        "literals", 0, CLI_TEXT, "WHAT", "RDF literals: as attributes (default), entities, drop",  \
            0, 0                                                                                   \
    }
#define CLI_OPTION_BY                                                                              \
    {                                                                                              \
        "by", 0, CLI_TEXT, "WAY",                                                                  \
            "edges (single edges are predicted, what is known of a question is certain) or "       \
            "embedding (the question as a whole); default: as the model was fitted",               \
            0, 0                                                                                   \
    }
#define CLI_OPTION_SEED                                                                            \
    {                                                                                              \
        "seed", 0, CLI_INTEGER, "N", "seed of all random choices (default 1)", 0, 9e15             \
    }

/* ---- graphs and models -------------------------------------------------------------------- */

/* wfre_graph_open with the message printed: EXIT_DONE, or the exit code. */
int cli_open_graph(const char *path, wfre_graph **graph);
/* Lets WFRE_PRIVATE say up to which size files are read into memory instead of mapped. */
void cli_choose_private(void);
/* Fails if somebody changed a mapped file in place since it was opened. For commands that wait for
 * their user, who may do so. */
wfre_status cli_check_mapped(wfre_error *error);
/* Whether an argument means a model: by its ending, or because such a file is there. */
bool cli_is_model(const char *text);
/* wfre_model_open, and a note if the model is half-trained. */
wfre_status cli_load_graph(const char *path, wfre_graph **graph, wfre_error *error);
wfre_status cli_load_model(const char *path, wfre_model **model, wfre_error *error);
/* Prepares a model for questions and writes it, with --threads and --bf16 of the call. */
wfre_status cli_write_model(const cli_call *call, wfre_model *model, const char *path,
                            wfre_error *error);
/* EXIT_DONE if the model has probabilities, or none are asked for; else the exit code. */
int cli_need_probabilities(const wfre_model *model, double min_probability);

/* ---- terminal ----------------------------------------------------------------------------- */

/* How the program takes signals: see signals.c. Called once, at the start. */
void cli_handle_signals(void);
/* Writes what is left of the output. A full disk behind it must not look like success: returns the
 * exit code, or one that says so. */
int cli_end_output(int code);
/* Whether Ctrl-C was pressed, or the process was asked to end. The first call of this, or of
 * cli_monitor, is a promise to look again: from then on a first Ctrl-C does not end the process. */
bool cli_interrupted(void);
/* Draws a bar on a terminal, else a plain line now and then; Ctrl-C makes `interrupted` true. */
const wfre_monitor *cli_monitor(void);
/* Says stop after Ctrl-C, too; for questions. NULL if there is no memory for it. */
wfre_cancel *cli_cancel(void);
/* Forgets an earlier Ctrl-C, for a command that goes on to its next task. */
void cli_clear_interrupt(void);
/* Ends a progress line that is still open. Called by the message functions. */
void cli_progress_end(void);
bool cli_is_terminal(FILE *stream);
double cli_clock(void);

/* The terminal's columns and lines; 0 if standard output (or the stream) is none. */
int cli_width(void);
int cli_width_of(FILE *stream);
int cli_height(void);
/* The columns that the first character takes, which is *step bytes long: none, one or two. */
int cli_columns(const char *bytes, size_t length, size_t *step);
/* How many bytes of a text take this many columns; colours take none. */
size_t cli_fitting(const char *bytes, size_t length, int width);
/* Begins a line for people, which is written to the stream, and ends it: on a terminal it is cut at
 * its width. */
FILE *cli_line(void);
void cli_line_end(void);
/* From now on lines stop after a page of this height (0: never) until Enter is pressed; q leaves
 * out the rest, which the caller asks for. */
void cli_page_begin(int height);
bool cli_page_stopped(void);
void cli_page(void);
/* An escape sequence, or nothing where colours are not wanted. */
const char *cli_colour(const char *escape);
/* The label, and in brackets the name where that is another. */
void cli_print_entity(FILE *stream, const wfre_graph *graph, wfre_entity entity);
void cli_print_relation(FILE *stream, const wfre_graph *graph, wfre_relation relation);
/* Two blanks and the beginning of a description, if there is one. */
void cli_print_description(FILE *stream, wfre_name description);

/* printf, and vfprintf, with a decimal point in every locale: for whatever has a fraction. */
WFRE_PRINTF(1, 2) void cli_print(const char *format, ...);
WFRE_PRINTF(2, 0) void cli_print_list(FILE *stream, const char *format, va_list args);
/* A name as people can read it; see wfre_visible. */
void cli_print_name(FILE *stream, const char *bytes, size_t length);
/* The same of a path or word, up to 1,000 bytes, in a static ring of buffers, good for a few uses
 * in one printf. */
const char *cli_visible(const char *text);
/* Bytes as a JSON string literal, quotes included; what is not UTF-8 becomes U+FFFD. */
void cli_print_json(FILE *stream, const char *bytes, size_t length);
/* "1,234,567" in a static ring of buffers, good for a few uses in one printf. */
const char *cli_thousands(uint64_t number);

#endif
