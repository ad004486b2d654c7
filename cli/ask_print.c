/* How answers look: a table for people, JSON for machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

static const char *const SPLIT_NAMES[] = {"train", "valid", "test"};

int ask_print_json(const ask_session *session, const ask_result *result)
{
    char *json = NULL;
    wfre_error error;
    wfre_answers_json options = {.text = result->text,
                                 .text_length = strlen(result->text),
                                 .seconds = result->seconds,
                                 .top = session->top,
                                 .explanation = result->explanation};
    if (wfre_answers_print_json(session->graph, &result->question, result->answers, &options, &json,
                                &error) != WFRE_OK)
        return cli_fail(&error);
    printf("%s\n", json);
    wfre_string_free(json);
    return EXIT_DONE;
}

/* ---- table -------------------------------------------------------------------------------- */

/* How a kind of answer is marked. */
typedef struct status_style {
    const char *name;
    const char *colour;
} status_style;

static const status_style KNOWN = {"known", "\x1b[32m"};
static const status_style PREDICTED = {"predicted", "\x1b[33m"};

static bool use_colour(void)
{
    return cli_is_terminal(stdout) && !getenv("NO_COLOR");
}

/* Shows at most `limit` characters, cut between words if possible. */
static void print_short(wfre_name text, size_t limit)
{
    size_t length = 0, word = 0;
    for (size_t characters = 0; length < text.length; length++) {
        if (((unsigned char)text.bytes[length] & 0xC0) != 0x80 && characters++ == limit)
            break;
        if (text.bytes[length] == ' ')
            word = length;
    }
    bool cut = length < text.length;
    cli_print_name(stdout, text.bytes, cut && word > 0 ? word : length);
    printf("%s", cut ? " ..." : "");
}

/* The label, the name where that is another, and the description. */
static void print_entity(const wfre_graph *graph, wfre_entity entity)
{
    enum { DESCRIPTION = 70 };
    wfre_name name = wfre_graph_entity_name(graph, entity);
    wfre_name label = wfre_graph_entity_label(graph, entity);
    wfre_name description = wfre_graph_entity_description(graph, entity);
    cli_print_name(stdout, label.bytes, label.length);
    if (label.length != name.length || memcmp(label.bytes, name.bytes, name.length) != 0) {
        printf("  (");
        cli_print_name(stdout, name.bytes, name.length);
        printf(")");
    }
    if (description.length > 0) {
        bool colour = use_colour();
        printf("%s  ", colour ? "\x1b[2m" : "");
        print_short(description, DESCRIPTION);
        printf("%s", colour ? "\x1b[0m" : "");
    }
    printf("\n");
}

/* Rank, kind and probability. */
static void print_standing(size_t rank, const status_style *style, double probability)
{
    bool colour = use_colour();
    printf("%4zu  %s%-9s%s  ", rank, colour ? style->colour : "", style->name,
           colour ? "\x1b[0m" : "");
    if (isfinite(probability))
        cli_print("%5.3f  ", probability);
    else
        printf("    -  ");
}

/* Where all answers are known there is nothing to tell apart: names alone. */
void ask_print(const ask_session *session, const ask_result *result)
{
    const wfre_answers *answers = result->answers;
    bool both = session->model && session->options.predicted;
    const char *split = SPLIT_NAMES[session->options.split];
    if (result->explanation && session->format == WFRE_EXPLAIN_SVG) {
        printf("%s", result->explanation); /* nothing but the drawing */
        return;
    }
    for (size_t i = 0; i < answers->known.count && i < session->top; i++) {
        if (both)
            print_standing(i + 1, &KNOWN, 1);
        print_entity(session->graph, answers->known.ids[i]);
    }
    for (size_t i = 0; i < answers->predicted_count; i++) {
        print_standing(i + 1, &PREDICTED, answers->predicted[i].probability);
        print_entity(session->graph, answers->predicted[i].entity);
    }
    if (result->explanation)
        printf("\n%s", result->explanation);
    fflush(stdout);
    const char *known = cli_thousands(answers->known.count);
    if (!session->options.known)
        cli_note("%zu predicted in %.1f ms", answers->predicted_count, result->seconds * 1000);
    else if (both)
        cli_note("%s known on the %s graph, %zu predicted, in %.1f ms", known, split,
                 answers->predicted_count, result->seconds * 1000);
    else
        cli_note("%s answer%s on the %s graph in %.1f ms", known,
                 answers->known.count == 1 ? "" : "s", split, result->seconds * 1000);
    if (answers->known.count > session->top)
        cli_note("the first %s%s are shown; --top 0 shows all", cli_thousands(session->top),
                 both ? " known ones" : "");
    if (answers->predicted_count > 0 && isnan(answers->predicted[0].probability))
        cli_note(wfre_model_reliability(session->model)
                     ? "no probabilities: this question could not be answered in the way that the "
                       "model's were fitted to"
                     : "the model has no probabilities: it was trained without validation data");
    if (result->explanation && answers->predicted_count > WFRE_EXPLAINED)
        cli_note("the first %d predictions are explained", WFRE_EXPLAINED);
    if (answers->unpredicted)
        cli_note("nothing is predicted: %s", answers->unpredicted);
}
