/* How replies, descriptions and likeness look. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

static const char *const SPLIT_NAMES[] = {"train", "valid", "whole"};

void ask_error_json(const ask_session *session, const char *text, const wfre_error *error)
{
    if (!session->json)
        return;
    ask_begin_object(text);
    printf(",\"error\":{\"code\":\"%s\",\"message\":", wfre_status_name(error->code));
    cli_print_json(stdout, error->message, strlen(error->message));
    if (error->offset != WFRE_NO_OFFSET)
        printf(",\"offset\":%zu", error->offset);
    printf(",\"nearest\":[");
    for (const char *name = error->nearest, *end; (end = strchr(name, '\n')); name = end + 1) {
        fputs(name > error->nearest ? "," : "", stdout);
        cli_print_json(stdout, name, (size_t)(end - name));
    }
    printf("]}}\n");
}

int ask_fail(const ask_session *session, const char *text, const wfre_error *error)
{
    ask_error_json(session, text, error);
    return cli_fail_at(error, text);
}

void ask_begin_object(const char *text)
{
    printf("{\"query\":");
    cli_print_json(stdout, text, strlen(text));
}

static int print_object(const ask_session *session, const char *text, char *json,
                        const wfre_error *error)
{
    if (!json)
        return ask_fail(session, text, error);
    printf("%s\n", json);
    wfre_string_free(json);
    return EXIT_DONE;
}

/* ---- rows and counts ---------------------------------------------------------------------- */

static void print_row(FILE *line, const ask_session *session, const wfre_query *query,
                      const uint32_t *ids, uint32_t width)
{
    for (uint32_t c = 0; c < width; c++) {
        fputs(c > 0 ? "  |  " : "", line);
        if (wfre_query_column_is_relation(query, c))
            cli_print_relation(line, session->graph, ids[c]);
        else
            cli_print_entity(line, session->graph, ids[c]);
    }
    cli_line_end();
}

static void print_rows(const ask_session *session, const wfre_query *query, const wfre_reply *reply)
{
    bool both = session->model && session->options.predicted;
    uint32_t width = reply->width;
    for (size_t i = 0; i < reply->known.count && i < session->top && !cli_page_stopped(); i++) {
        FILE *line = cli_line();
        if (reply->counts)
            fprintf(line, "%9s  ", cli_thousands(reply->counts[i]));
        else if (both)
            ask_print_standing(line, i + 1, "known", 1);
        print_row(line, session, query, reply->known.ids + i * width, width);
    }
    for (size_t i = 0; i < reply->predicted_count && !cli_page_stopped(); i++) {
        FILE *line = cli_line();
        ask_print_standing(line, i + 1, "predicted", reply->predicted[i].probability);
        print_row(line, session, query, reply->predicted[i].ids, width);
    }
    fflush(stdout);
}

static void note_rows(const ask_session *session, const wfre_reply *reply, double seconds)
{
    const char *split = SPLIT_NAMES[session->options.split];
    const char *what = reply->counts ? "group" : "row", *known = cli_thousands(reply->total);
    const char *many = reply->total == 1 ? "" : "s";
    if (!session->options.known)
        cli_note("%zu predicted in %.1f ms", reply->predicted_count, seconds * 1000);
    else if (session->model && session->options.predicted && !reply->counts)
        cli_note("%s known %s%s on the %s graph, %zu predicted, in %.1f ms", known, what, many,
                 split, reply->predicted_count, seconds * 1000);
    else
        cli_note("%s %s%s on the %s graph in %.1f ms", known, what, many, split, seconds * 1000);
    ask_note_cut(session, reply->known.count, "");
    if (reply->predicted_count > 0)
        ask_note_probabilities(session, reply->predicted[0].probability);
}

static void print_count(const ask_session *session, const wfre_reply *reply, double seconds)
{
    printf("%s\n", cli_thousands(reply->counts[0]));
    fflush(stdout);
    cli_note("counted on the %s graph in %.1f ms", SPLIT_NAMES[session->options.split],
             seconds * 1000);
    if (isfinite(reply->expected))
        cli_note("the model expects %.1f more: the sum of the probabilities of what is predicted",
                 reply->expected);
}

/* ---- sentences ---------------------------------------------------------------------------- */

static void print_verdict(const ask_session *session, const wfre_reply *reply, double seconds)
{
    const char *split = SPLIT_NAMES[session->options.split], *colour = "\x1b[33m";
    if (reply->verdict == WFRE_VERDICT_PROVEN)
        colour = "\x1b[32m";
    printf("%s%s%s", cli_colour(colour), wfre_verdict_name(reply->verdict), cli_colour("\x1b[0m"));
    if (isfinite(reply->probability))
        cli_print("  %5.3f", reply->probability);
    printf("\n");
    fflush(stdout);
    if (reply->verdict == WFRE_VERDICT_PROVEN)
        cli_note("the %s graph as it is says so; found in %.1f ms", split, seconds * 1000);
    else if (reply->verdict == WFRE_VERDICT_REFUTED)
        cli_note("the %s graph has what the question denies, or equates two entities; found in "
                 "%.1f ms",
                 split, seconds * 1000);
    else if (reply->verdict == WFRE_VERDICT_PREDICTED)
        cli_note("the %s graph does not say; so likely it is by the model, in %.1f ms", split,
                 seconds * 1000);
    else
        cli_note("the %s graph does not say%s; found in %.1f ms", split,
                 session->model ? "" : ", and there is no model to say how likely it is",
                 seconds * 1000);
    if (reply->verdict == WFRE_VERDICT_PREDICTED)
        ask_note_probabilities(session, reply->probability);
}

/* Reads "#12" and moves on behind it. */
static bool read_id(const char **text, uint32_t *id)
{
    char *end = NULL;
    *text += strspn(*text, " ,(");
    if ((*text)[0] != '#' || (*text)[1] < '0' || (*text)[1] > '9')
        return false;
    *id = (uint32_t)strtoul(*text + 1, &end, 10);
    *text = end;
    return true;
}

/* The numbers of a sentence that is a single fact. */
static bool is_fact(const wfre_query *query, wfre_given_triple *fact)
{
    char *text = NULL;
    wfre_error error;
    if (wfre_query_width(query) > 0 ||
        wfre_query_print(query, NULL, WFRE_NOTATION_LOGIC, &text, &error) != WFRE_OK)
        return false;
    const char *rest = text + strspn(text, ": ");
    bool fits = *rest == '#' && read_id(&rest, &fact->relation) && *rest == '(' &&
                read_id(&rest, &fact->head) && *rest == ',' && read_id(&rest, &fact->tail) &&
                strcmp(rest, ")") == 0;
    wfre_string_free(text);
    return fits;
}

/* Explains an entity as an answer to a question, and says how likely it is (2 if it is known). */
static wfre_status explain_end(const ask_session *session, const char *text, wfre_entity entity,
                               char **explanation, double *probability, wfre_error *error)
{
    wfre_query *query = NULL;
    wfre_answers *answers = NULL;
    wfre_explanation *found = NULL;
    wfre_explain_options options;
    wfre_explain_options_default(&options);
    options.entities = &entity;
    options.entity_count = 1;
    wfre_status status =
        wfre_query_parse(session->graph, WFRE_NOTATION_LOGIC, text, strlen(text), &query, error);
    wfre_question question = {query, session->options};
    question.options.top = SIZE_MAX;
    question.options.min_probability = 0;
    if (status == WFRE_OK)
        status = wfre_session_ask(session->session, &question, 1, cli_cancel(), &answers, error);
    if (status == WFRE_OK)
        status = wfre_session_explain_some(session->session, &question, answers, &options,
                                           cli_cancel(), &found, error);
    if (status == WFRE_OK)
        status = wfre_explanation_print(session->graph, found, session->format, explanation, error);
    if (status == WFRE_OK && found->answer_count > 0)
        *probability = found->answers[0].known ? 2 : found->answers[0].prediction.probability;
    wfre_explanation_free(found);
    wfre_answers_free(answers);
    wfre_query_free(query);
    return status;
}

/* A single fact is explained from the end that is surer, as its probability is. */
static int explain_reply(const ask_session *session, const wfre_query *query)
{
    wfre_given_triple fact;
    wfre_error error;
    if (!is_fact(query, &fact)) {
        cli_note("only single facts, and answers to questions for one entity, are explained");
        return EXIT_DONE;
    }
    char *texts[2] = {NULL, NULL}, from[2][64];
    double sure[2] = {-1, -1};
    (void)snprintf(from[0], sizeof from[0], "?x : #%" PRIu32 "(#%" PRIu32 ", ?x)", fact.relation,
                   fact.head);
    (void)snprintf(from[1], sizeof from[1], "?x : #%" PRIu32 "(?x, #%" PRIu32 ")", fact.relation,
                   fact.tail);
    wfre_status status = explain_end(session, from[0], fact.tail, &texts[0], &sure[0], &error);
    if (status == WFRE_OK && session->model)
        status = explain_end(session, from[1], fact.head, &texts[1], &sure[1], &error);
    if (status == WFRE_OK)
        printf("%s", texts[sure[1] > sure[0]]);
    fflush(stdout);
    wfre_string_free(texts[0]);
    wfre_string_free(texts[1]);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

int ask_reply(const ask_session *session, const char *text, const wfre_query *query, double start)
{
    wfre_question question = {query, session->options};
    wfre_error error;
    wfre_reply *reply = NULL;
    int code = EXIT_DONE;
    if (wfre_session_reply(session->session, &question, 0, cli_cancel(), &reply, &error) != WFRE_OK)
        return ask_fail(session, text, &error);
    double seconds = cli_clock() - start;
    if (session->json) {
        char *json = NULL;
        wfre_answers_json options = {
            .text = text, .text_length = strlen(text), .seconds = seconds, .top = session->top};
        if (wfre_reply_print_json(session->graph, &question, reply, &options, &json, &error) !=
            WFRE_OK)
            json = NULL;
        code = print_object(session, text, json, &error);
    } else if (reply->verdict != WFRE_VERDICT_NONE) {
        print_verdict(session, reply, seconds);
    } else if (reply->counts && reply->width == 0) {
        print_count(session, reply, seconds);
    } else {
        print_rows(session, query, reply);
        note_rows(session, reply, seconds);
    }
    if (!session->json && session->model && reply->unpredicted)
        cli_note("nothing is predicted: %s", reply->unpredicted);
    if (!session->json && session->explain && reply->verdict != WFRE_VERDICT_UNKNOWN)
        code = explain_reply(session, query);
    wfre_reply_free(reply);
    return code;
}

/* ---- one entity --------------------------------------------------------------------------- */

static void print_attributes(const wfre_description *d)
{
    for (size_t i = 0; i < d->attribute_count && !cli_page_stopped(); i++) {
        const wfre_described_attribute *a = &d->attributes[i];
        wfre_name label = a->label.length > 0 ? a->label : a->property;
        FILE *line = cli_line();
        fputs("  ", line);
        cli_print_name(line, label.bytes, label.length);
        fputs(": ", line);
        cli_print_name(line, a->value.bytes, a->value.length);
        if (a->language.length > 0) {
            fputs("  (", line);
            cli_print_name(line, a->language.bytes, a->language.length);
            fputs(")", line);
        }
        cli_line_end();
    }
}

static void print_label(FILE *line, const wfre_graph *graph, wfre_entity entity)
{
    wfre_name label = wfre_graph_entity_label(graph, entity);
    cli_print_name(line, label.bytes, label.length);
}

static void print_edges(const ask_session *session, const wfre_description *d)
{
    for (size_t i = 0; i < d->relation_count && !cli_page_stopped(); i++) {
        const wfre_described_relation *r = &d->relations[i];
        wfre_name label = wfre_graph_relation_label(session->graph, r->relation);
        FILE *line = cli_line();
        fputs("  ", line);
        cli_print_name(line, label.bytes, label.length);
        fprintf(line, "%s (%s): ", r->relation % 2 ? "^-1" : "", cli_thousands(r->targets.count));
        for (size_t k = 0; k < r->targets.count && k < session->top; k++) {
            fputs(k > 0 ? ", " : "", line);
            print_label(line, session->graph, r->targets.ids[k]);
        }
        fputs(r->targets.count > session->top ? ", ..." : "", line);
        cli_line_end();
    }
}

static void print_missing(const ask_session *session, const wfre_description *d)
{
    for (size_t i = 0; i < d->missing_count && !cli_page_stopped(); i++) {
        const wfre_missing_triple *m = &d->missing[i];
        wfre_name relation = wfre_graph_relation_label(session->graph, m->relation);
        FILE *line = cli_line();
        ask_print_standing(line, i + 1, "predicted", m->probability);
        cli_print_name(line, relation.bytes, relation.length);
        fputs("(", line);
        print_label(line, session->graph, m->head);
        fputs(", ", line);
        print_label(line, session->graph, m->tail);
        fputs(")", line);
        cli_line_end();
    }
}

static void print_description(const ask_session *session, const wfre_description *d)
{
    const char *many = d->edge_count == 1 ? "" : "s";
    FILE *line = cli_line();
    cli_print_entity(line, session->graph, d->entity);
    cli_print_description(line, wfre_graph_entity_description(session->graph, d->entity));
    cli_line_end();
    print_attributes(d);
    print_edges(session, d);
    print_missing(session, d);
    fflush(stdout);
    if (session->model && session->options.predicted && !d->unpredicted)
        cli_note("%s edge%s on the %s graph, %zu predicted", cli_thousands(d->edge_count), many,
                 SPLIT_NAMES[session->options.split], d->missing_count);
    else
        cli_note("%s edge%s on the %s graph", cli_thousands(d->edge_count), many,
                 SPLIT_NAMES[session->options.split]);
    if (d->missing_count > 0)
        ask_note_probabilities(session, d->missing[0].probability);
}

int ask_describe(const ask_session *session, const char *text, wfre_entity entity)
{
    enum { MISSING = 10 };
    wfre_description *description = NULL;
    wfre_describe_options options;
    wfre_error error;
    int code = EXIT_DONE;
    wfre_describe_options_default(&options);
    options.split = session->options.split;
    options.missing = !session->options.predicted ? 0
                      : session->top == SIZE_MAX  ? MISSING
                                                  : session->top;
    options.min_probability = session->options.min_probability;
    options.timeout = session->options.timeout;
    options.way = session->options.way;
    options.missing_rate = session->options.missing_rate;
    if (wfre_session_describe(session->session, entity, &options, cli_cancel(), &description,
                              &error) != WFRE_OK)
        return ask_fail(session, text, &error);
    if (session->json) {
        char *json = NULL;
        if (wfre_description_print_json(session->graph, description, session->top, &json, &error) !=
            WFRE_OK)
            json = NULL;
        if (json) {
            ask_begin_object(text);
            printf(",%s\n", json + 1); /* behind its brace */
            wfre_string_free(json);
        } else {
            code = ask_fail(session, text, &error);
        }
    } else {
        print_description(session, description);
    }
    wfre_description_free(description);
    return code;
}

int ask_near(const ask_session *session, const char *text, wfre_entity entity)
{
    enum { MOST = 10000, USUAL = 10 };
    wfre_error error;
    size_t count = 0, top = session->top == SIZE_MAX ? USUAL : session->top;
    top = top < MOST ? top : MOST;
    wfre_prediction *nearest = malloc(top * sizeof *nearest + 1);
    if (!nearest)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    int code = EXIT_DONE;
    if (wfre_session_nearest(session->session, entity, cli_cancel(), nearest, top, &count,
                             &error) != WFRE_OK)
        code = ask_fail(session, text, &error);
    if (session->json && code == EXIT_DONE) {
        ask_begin_object(text);
        printf(",\"near\":%u,\"answers\":[", entity);
        for (size_t i = 0; i < count; i++) {
            wfre_name name = wfre_graph_entity_name(session->graph, nearest[i].entity);
            wfre_name label = wfre_graph_entity_label(session->graph, nearest[i].entity);
            printf("%s{\"id\":%u,\"name\":", i > 0 ? "," : "", nearest[i].entity);
            cli_print_json(stdout, name.bytes, name.length);
            printf(",\"label\":");
            cli_print_json(stdout, label.bytes, label.length);
            cli_print(",\"score\":%.6g}", nearest[i].score);
        }
        printf("]}\n");
    }
    for (size_t i = 0; i < count && !session->json && !cli_page_stopped(); i++) {
        wfre_entity other = nearest[i].entity;
        FILE *line = cli_line();
        fprintf(line, "%4zu  ", i + 1);
        cli_print_entity(line, session->graph, other);
        cli_print_description(line, wfre_graph_entity_description(session->graph, other));
        cli_line_end();
    }
    free(nearest);
    return code;
}
