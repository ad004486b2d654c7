/* wfre ask: known and predicted answers to questions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "commands.h"

enum { DEFAULT_TOP = 10 };

static const double SHORTEST = 1e-6; /* seconds: 0 would be no limit */

/* The first known answers, then predicted ones, as many as are explained. */
static size_t choose_explained(const ask_session *session, const wfre_answers *answers,
                               wfre_entity *entities)
{
    enum { KNOWN = 6 };
    size_t count = 0;
    for (size_t i = 0; i < answers->known.count && i < session->top && count < KNOWN; i++)
        entities[count++] = answers->known.ids[i];
    for (size_t i = 0; i < answers->predicted_count && count < WFRE_EXPLAINED; i++)
        entities[count++] = answers->predicted[i].entity;
    return count;
}

/* Explains the answers, if that is wanted and there are any. */
static wfre_status explain(const ask_session *session, ask_result *result, wfre_error *error)
{
    wfre_explanation *explanation = NULL;
    wfre_entity entities[WFRE_EXPLAINED];
    wfre_explain_options options;
    if (!session->explain || result->answers->unpredicted)
        return WFRE_OK;
    wfre_explain_options_default(&options);
    options.entities = entities;
    options.entity_count = choose_explained(session, result->answers, entities);
    options.derivations = session->derivations;
    wfre_status status =
        wfre_session_explain_some(session->session, &result->question, result->answers, &options,
                                  cli_cancel(), &explanation, error);
    if (status == WFRE_OK)
        status = wfre_explanation_print(session->graph, explanation, session->format,
                                        &result->explanation, error);
    wfre_explanation_free(explanation);
    return status;
}

/* Prints what was found, with an explanation or, last, what went wrong with that. */
static int show(const ask_session *session, ask_result *result)
{
    wfre_error error;
    wfre_status status = explain(session, result, &error);
    int code = session->json ? ask_print_json(session, result) : EXIT_DONE;
    if (!session->json)
        ask_print(session, result);
    return status == WFRE_OK ? code : cli_fail(&error);
}

/* Answers a question for one entity. */
static int answer_query(const ask_session *session, const char *text, const wfre_query *query,
                        double start)
{
    wfre_error error;
    double limit = session->options.timeout;
    ask_result result = {.text = text, .question = {query, session->options}};
    if (limit > 0) /* what is left of it */
        result.question.options.timeout = fmax(limit - (cli_clock() - start), SHORTEST);
    wfre_status status = wfre_session_ask(session->session, &result.question, 1, cli_cancel(),
                                          &result.answers, &error);
    result.seconds = cli_clock() - start;
    int code = status == WFRE_OK ? EXIT_DONE : ask_fail(session, text, &error);
    if (code == EXIT_DONE && result.answers->status != WFRE_OK) {
        error = (wfre_error){.code = result.answers->status, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error.message, sizeof error.message, "%s", result.answers->message);
        code = ask_fail(session, text, &error);
    } else if (code == EXIT_DONE) {
        code = show(session, &result);
    }
    wfre_string_free(result.explanation);
    wfre_answers_free(result.answers);
    return code;
}

/* What may have been meant by what is no query: a name alone, or plain English. */
static void hint(const ask_session *session, const char *text)
{
    if (session->json)
        return;
    if (wfre_graph_find_entity(session->graph, text, strlen(text)) != WFRE_NONE)
        cli_note("that is an entity:  describe %s  says all about it", text);
    else if (!strpbrk(text, "?(=:"))
        cli_note("questions are written like  ?x : relation(?x, entity);  see wfre ask --help");
    else if (!strchr(text, '('))
        cli_note(
            "questions are written like  ?x : relation(?x, entity);  wfre find G.kg TEXT finds "
            "names");
}

/* A query in logic or another notation but SPARQL. */
static int answer_notation(const ask_session *session, const char *text)
{
    wfre_query *query = NULL;
    wfre_error error;
    double start = cli_clock();
    if (wfre_query_parse_within(session->graph, WFRE_NOTATION_AUTO, text, strlen(text),
                                session->options.timeout, cli_cancel(), &query,
                                &error) != WFRE_OK) {
        int failed = ask_fail(session, text, &error);
        hint(session, text);
        return failed;
    }
    bool entities = wfre_query_width(query) == 1 && wfre_query_counted(query) == 0 &&
                    !wfre_query_column_is_relation(query, 0);
    int code = entities ? answer_query(session, text, query, start)
                        : ask_reply(session, text, query, start);
    wfre_query_free(query);
    return code;
}

/* Answers one question and prints what was found; the exit code. */
static int answer(const ask_session *session, const char *text)
{
    wfre_error error;
    wfre_command command;
    wfre_entity entity;
    if (session->echo && !session->json)
        cli_echo(text);
    if (cli_check_mapped(&error) != WFRE_OK) {
        ask_error_json(session, text, &error);
        return cli_fail(&error);
    }
    if (wfre_command_parse(session->graph, text, strlen(text), &command, &entity, &error) !=
        WFRE_OK)
        return ask_fail(session, text, &error);
    cli_page_begin(session->page ? cli_height() : 0);
    int code = command == WFRE_COMMAND_DESCRIBE             ? ask_describe(session, text, entity)
               : command == WFRE_COMMAND_NEAR               ? ask_near(session, text, entity)
               : wfre_sparql_recognises(text, strlen(text)) ? ask_sparql(session, text)
                                                            : answer_notation(session, text);
    cli_page_begin(0);
    return code;
}

static int read_options(const cli_call *call, bool model, ask_session *session)
{
    wfre_ask_options *options = &session->options;
    wfre_ask_options_default(options);
    long long top = cli_integer(call, "top", model ? DEFAULT_TOP : 0);
    session->top = top > 0 ? (size_t)top : SIZE_MAX;
    session->json = cli_has(call, "json");
    options->top = session->top;
    options->min_probability = cli_number(call, "min-probability", 0);
    options->missing_rate = cli_number(call, "missing", 0);
    options->timeout = cli_duration(call, "timeout", 0);
    session->results = cli_text(call, "format", NULL);
    session->memory = (size_t)cli_integer(call, "memory", 0) << 20;
    const char *only = cli_text(call, "only", cli_has(call, "exact") ? "known" : NULL);
    if (only && strcmp(only, "known") != 0 && strcmp(only, "predicted") != 0)
        return cli_usage(call, "--only is known or predicted, not %s", only);
    if (!model && only && strcmp(only, "predicted") == 0)
        return cli_usage(call, "--only predicted needs a model");
    if (cli_has(call, "exact") && strcmp(only, "predicted") == 0)
        return cli_usage(call, "--exact means --only known; leave one of them out");
    const char *explain = cli_text(call, "explain", "text");
    session->explain = cli_has(call, "explain");
    session->format = strcmp(explain, "svg") == 0 ? WFRE_EXPLAIN_SVG : WFRE_EXPLAIN_TEXT;
    if (session->format == WFRE_EXPLAIN_TEXT && strcmp(explain, "text") != 0)
        return cli_usage(call, "--explain is text or svg, not %s", explain);
    session->derivations = (size_t)cli_integer(call, "derivations", 1);
    options->known = !only || strcmp(only, "known") == 0;
    options->predicted = !only || strcmp(only, "predicted") == 0;
    return cli_split(call, WFRE_TEST, &options->split);
}

static wfre_status open_session(ask_session *session, const char *path, wfre_pool *pool,
                                wfre_error *error)
{
    wfre_status status = WFRE_OK;
    if (path)
        status = cli_load_model(path, &session->model, error);
    if (status == WFRE_OK)
        status = wfre_engine_open(session->graph, session->model, NULL, pool, cli_cancel(),
                                  &session->engine, error);
    if (status == WFRE_OK)
        status = wfre_session_create(session->engine, &(wfre_session_options){.pool = pool},
                                     &session->session, error);
    return status;
}

/* Asks with the question, or with those that standard input has. */
static int ask(const cli_call *call, const char *model, const char *question, const char *file,
               const char *base)
{
    ask_session session = {.file = file, .base = base};
    wfre_pool *pool = NULL;
    wfre_error error;
    int code = read_options(call, model != NULL, &session);
    if (code == EXIT_DONE)
        code = cli_open_graph(cli_argument(call, 0), &session.graph);
    if (code != EXIT_DONE)
        return code;
    wfre_status status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK)
        status = open_session(&session, model, pool, &error);
    if (status == WFRE_OK) {
        session.way = wfre_engine_way(session.engine);
        session.way.exhaustive = cli_has(call, "exhaustive");
        session.options.way = &session.way;
    }
    code = status == WFRE_OK ? cli_by(call, &session.way) : cli_fail(&error);
    if (code == EXIT_DONE)
        code = cli_need_probabilities(session.model, session.options.min_probability);
    if (code == EXIT_DONE)
        code = question ? answer(&session, question) : ask_questions(&session, answer);
    if (code == EXIT_DONE && wfre_graph_sound(session.graph, &error) != WFRE_OK)
        code = cli_fail(&error); /* names that were printed */
    wfre_session_free(session.session);
    wfre_engine_unref(session.engine);
    wfre_model_free(session.model);
    wfre_pool_free(pool);
    wfre_graph_close(session.graph);
    return code;
}

static int run(const cli_call *call)
{
    const char *path = cli_argument(call, 1), *file = cli_text(call, "file", NULL);
    bool model = path && cli_is_model(path), check = cli_has(call, "check");
    const char *question = cli_argument(call, model ? 2 : 1);
    char *text = NULL;
    wfre_error error;
    if (check && !question) /* a graph is not needed to read a query */
        question = file ? NULL : cli_argument(call, 0);
    if (!check && !cli_argument(call, 0))
        return cli_usage(call, "a graph is missing: G.kg");
    if (!model && cli_argument(call, 2))
        return cli_usage(call, "%s: the name of a model ends with .safetensors", path);
    if (file && question)
        return cli_usage(call, "the question is given twice: by --file and as an argument");
    if (check && !file && !question)
        return cli_usage(call, "--check needs a query, or --file");
    if (file && !(text = ask_read_file(file, &error)))
        return cli_fail(&error);
    if (file)
        question = text;
    if (file && strcmp(file, "-") == 0)
        file = NULL;
    char *own = file ? ask_file_base(file) : NULL;
    const char *base = cli_text(call, "base", own);
    int code =
        check ? ask_check(question, base) : ask(call, model ? path : NULL, question, file, base);
    free(own);
    free(text);
    return code;
}

static const cli_option OPTIONS[] = {
    {"top", 0, CLI_INTEGER, "N",
     "at most N answers of each kind; 0: all (default 10, or all if "
     "there is no model)",
     0, 4294967295.0},
    {"min-probability", 0, CLI_NUMBER, "P", "leave out predicted answers less likely than this", 0,
     1},
    {"missing", 0, CLI_NUMBER, "RATE",
     "share of what is true that the graph lacks, if you know it: probabilities are of that "
     "(default: "
     "what was held out)",
     0, 0.99},
    {"only", 0, CLI_TEXT, "KIND", "known or predicted answers only", 0, 0},
    {"exact", 0, CLI_FLAG, NULL, "the same as --only known", 0, 0},
    {"split", 0, CLI_TEXT, "S",
     "the graph that proves: train, valid (train and valid) or test (all; the default)", 0, 0},
    {"explain", 0, CLI_OPTIONAL_TEXT, "FORMAT",
     "say why answers are known or predicted; svg draws the question instead", 0, 0},
    CLI_OPTION_BY,
    {"derivations", 0, CLI_INTEGER, "N", "explain a known answer in up to N ways (default 1)", 1,
     1000},
    {"exhaustive", 0, CLI_FLAG, NULL, "score every entity instead of searching", 0, 0},
    {"timeout", 0, CLI_DURATION, "T", "give up after this long, such as 10s (default: never)", 0,
     0},
    {"format", 0, CLI_TEXT, "F",
     "of SPARQL results: table, json, xml, csv, tsv; of graphs nt, ttl (default: table on a "
     "terminal, else tsv; ttl or nt)",
     0, 0},
    {"file", 0, CLI_TEXT, "FILE", "read the question from a file; - is standard input", 0, 0},
    {"check", 0, CLI_FLAG, NULL, "only read the SPARQL query, which needs no graph", 0, 0},
    {"base", 0, CLI_TEXT, "IRI",
     "what relative IRIs of a SPARQL query are relative to (default: its file)", 0, 0},
    {"memory", 0, CLI_INTEGER, "MB",
     "what a SPARQL query may keep for sorting, grouping and DISTINCT (default 1024)", 1, 1048576},
    CLI_OPTION_JSON,
    CLI_OPTION_THREADS,
};

const cli_command command_ask = {
    .name = "ask",
    .arguments = "G.kg [M.safetensors] ['QUERY']",
    .summary = "answer a question: what the graph proves, then what a model predicts",
    .details =
        "A QUERY is written as logic (docs/QUERIES.md), or as an operator tree, as BetaE tuples\n"
        "or in SPARQL (docs/SPARQL.md). It may ask\n"
        "  for entities         ?f : directed(Nolan, ?f)\n"
        "  whether              directed(Nolan, Dunkirk)\n"
        "  for rows             ?d, ?f : directed(?d, ?f) & won(?d, Oscar)\n"
        "  for a relation       ?r(Nolan, Dunkirk)\n"
        "  how many             count ?f : directed(Nolan, ?f)\n"
        "  all about an entity  describe Nolan\n"
        "  what is like it      near Nolan\n"
        "\n"
        "Any first-order formula is answered exactly, cyclic ones too; what a model can predict "
        "is\n"
        "said there. What the graph proves is never listed as predicted, nor what it refutes: an\n"
        "entity with an edge that the question denies. Without a QUERY, questions come from\n"
        "standard input, one a line, and each is printed before its answers; so do commands, "
        "which\n"
        "help lists. A terminal gets a prompt with history and completion of names. With --json\n"
        "every line is a question, and gives one object on one line, whether it could be answered "
        "or not.\n"
        "\n"
        "With a model each line has the rank among the answers of its kind, the kind, the "
        "probability\n"
        "and the entity; without one all answers are known, and a line has the entity alone.\n"
        "\n"
        "Examples:\n"
        "  wfre ask g.kg '?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)'\n"
        "  wfre ask g.kg m.safetensors '?f : directed(Nolan, ?f)' --only predicted --top 20\n"
        "  wfre ask g.kg m.safetensors '?f : directed(?d, ?f) & won(?d, Oscar)' --explain\n"
        "  wfre ask g.kg '?x : knows(?x, ?y) & knows(?y, ?z) & knows(?z, ?x)' --timeout 10s\n"
        "  wfre ask g.kg '(p,directed,(p,award^-1,(e,Oscar)))' --split train --json\n"
        "  wfre ask g.kg 'SELECT ?x ?n { ?x r:knows ?y . OPTIONAL { ?x rdfs:label ?n } }' "
        "--format csv\n"
        "  wfre ask --check --file q.rq\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 0,
    .maximum_arguments = 3,
    .run = run,
};
