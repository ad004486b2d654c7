/* How answers look: a table for people, JSON for machines. */
#include <math.h>
#include <string.h>

#include "ask.h"

static const char *const SPLIT_NAMES[] = {"train", "valid", "whole"};

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

void ask_print_standing(FILE *line, size_t rank, const char *kind, double probability)
{
    const char *colour = strcmp(kind, "predicted") == 0 ? "\x1b[33m" : "\x1b[32m";
    char number[16] = "    -";
    if (isfinite(probability))
        (void)wfre_format(number, sizeof number, "%5.3f", probability);
    fprintf(line, "%4zu  %s%-9s%s  %s  ", rank, cli_colour(colour), kind, cli_colour("\x1b[0m"),
            number);
}

void ask_note_cut(const ask_session *session, uint64_t count, const char *what)
{
    if (count > session->top)
        cli_note("shown: %s of %s%s; %s shows all", cli_thousands(session->top),
                 cli_thousands(count), what, session->prompt ? "set top all" : "--top 0");
}

void ask_note_probabilities(const ask_session *session, double probability)
{
    if (!isnan(probability))
        return;
    cli_note(wfre_model_reliability(session->model)
                 ? "no probabilities: this question could not be answered in the way that the "
                   "model's were fitted to"
             : wfre_model_missing_reliability(session->model)
                 ? "the model was made before probabilities of any question were fitted; --json "
                   "shows those of a missing answer"
                 : "the model has no probabilities: it was trained without validation data");
}

/* Where all answers are known there is nothing to tell apart: names alone. */
static void print_lines(const ask_session *session, const wfre_answers *answers, bool both)
{
    for (size_t i = 0; i < answers->known.count && i < session->top && !cli_page_stopped(); i++) {
        FILE *line = cli_line();
        if (both)
            ask_print_standing(line, i + 1, "known", 1);
        cli_print_entity(line, session->graph, answers->known.ids[i]);
        cli_print_description(line,
                              wfre_graph_entity_description(session->graph, answers->known.ids[i]));
        cli_line_end();
    }
    for (size_t i = 0; i < answers->predicted_count && !cli_page_stopped(); i++) {
        const wfre_prediction *p = &answers->predicted[i];
        FILE *line = cli_line();
        ask_print_standing(line, i + 1, "predicted", p->probability);
        cli_print_entity(line, session->graph, p->entity);
        cli_print_description(line, wfre_graph_entity_description(session->graph, p->entity));
        cli_line_end();
    }
}

static void print_summary(const ask_session *session, const ask_result *result, bool both)
{
    const wfre_answers *answers = result->answers;
    const char *known = cli_thousands(answers->known.count);
    const char *split = SPLIT_NAMES[session->options.split];
    if (!session->options.known)
        cli_note("%zu predicted in %.1f ms", answers->predicted_count, result->seconds * 1000);
    else if (both)
        cli_note("%s known on the %s graph, %zu predicted, in %.1f ms", known, split,
                 answers->predicted_count, result->seconds * 1000);
    else
        cli_note("%s answer%s on the %s graph in %.1f ms", known,
                 answers->known.count == 1 ? "" : "s", split, result->seconds * 1000);
    ask_note_cut(session, answers->known.count, both ? " known ones" : "");
}

void ask_print(const ask_session *session, const ask_result *result)
{
    const wfre_answers *answers = result->answers;
    bool both = session->model && session->options.predicted;
    if (result->explanation && session->format == WFRE_EXPLAIN_SVG) {
        printf("%s", result->explanation); /* nothing but the drawing */
        return;
    }
    print_lines(session, answers, both);
    if (result->explanation)
        printf("\n%s", result->explanation);
    fflush(stdout);
    print_summary(session, result, both);
    if (answers->predicted_count > 0)
        ask_note_probabilities(session, answers->predicted[0].probability);
    if (result->explanation && answers->predicted_count > WFRE_EXPLAINED)
        cli_note("the first %d predictions are explained", WFRE_EXPLAINED);
    if (answers->unpredicted)
        cli_note("nothing is predicted: %s", answers->unpredicted);
}
