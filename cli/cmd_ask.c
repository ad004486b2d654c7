/* wfre ask: the answers to a question. */
#include <string.h>

#include "commands.h"

static const char *const SPLIT_NAMES[] = {"train", "valid", "test"};

/* What was asked, and how. */
typedef struct question {
    const char *text;
    wfre_split split;
    double timeout;
    size_t top; /* how many answers to print */
    bool json;
} question;

static void print_json_name(const char *key, wfre_name name)
{
    printf(",\"%s\":", key);
    cli_print_json(stdout, name.bytes, name.length);
}

static void print_json(const wfre_graph *graph, const question *asked, wfre_list answers,
                       double seconds)
{
    printf("{\"query\":");
    cli_print_json(stdout, asked->text, strlen(asked->text));
    printf(",\"split\":\"%s\",\"count\":%zu,\"seconds\":%.6f,\"answers\":[",
           SPLIT_NAMES[asked->split], answers.count, seconds);
    for (size_t i = 0; i < answers.count && i < asked->top; i++) {
        printf("%s{\"id\":%u", i ? "," : "", answers.ids[i]);
        print_json_name("name", wfre_graph_entity_name(graph, answers.ids[i]));
        print_json_name("label", wfre_graph_entity_label(graph, answers.ids[i]));
        printf("}");
    }
    printf("]}\n");
}

/* One answer a line: its label, and its name where that is another. */
static void print_answers(const wfre_graph *graph, const question *asked, wfre_list answers,
                          double seconds)
{
    for (size_t i = 0; i < answers.count && i < asked->top; i++) {
        wfre_name name = wfre_graph_entity_name(graph, answers.ids[i]);
        wfre_name label = wfre_graph_entity_label(graph, answers.ids[i]);
        printf("%.*s", (int)label.length, label.bytes);
        if (label.length != name.length || memcmp(label.bytes, name.bytes, name.length) != 0)
            printf("  (%.*s)", (int)name.length, name.bytes);
        printf("\n");
    }
    fflush(stdout);
    cli_note("%s answer%s on the %s graph in %.1f ms", cli_thousands(answers.count),
             answers.count == 1 ? "" : "s", SPLIT_NAMES[asked->split], seconds * 1000);
    if (answers.count > asked->top)
        cli_note("the first %s are shown; --top 0 shows all", cli_thousands(asked->top));
}

static int answer_exactly(const wfre_graph *graph, const question *asked)
{
    wfre_query *query = NULL;
    wfre_exact *exact = NULL;
    wfre_list answers;
    wfre_error error;
    if (wfre_query_parse(graph, WFRE_NOTATION_AUTO, asked->text, strlen(asked->text), &query,
                         &error) != WFRE_OK)
        return cli_fail_at(&error, asked->text);
    double start = cli_clock();
    wfre_status status = wfre_exact_create(graph, &exact, &error);
    if (status == WFRE_OK)
        status = wfre_exact_answer(exact, asked->split, query, asked->timeout, cli_monitor(),
                                   &answers, &error);
    double seconds = cli_clock() - start;
    int code = EXIT_DONE;
    if (status != WFRE_OK)
        code = cli_fail(&error);
    else if (asked->json)
        print_json(graph, asked, answers, seconds);
    else
        print_answers(graph, asked, answers, seconds);
    wfre_exact_free(exact);
    wfre_query_free(query);
    return code;
}

static int run(const cli_call *call)
{
    long long top = cli_integer(call, "top", 0);
    question asked = {.text = cli_argument(call, 1),
                      .timeout = cli_duration(call, "timeout", 0),
                      .top = top > 0 ? (size_t)top : SIZE_MAX,
                      .json = cli_has(call, "json")};
    int code = cli_split(call, WFRE_TEST, &asked.split);
    if (code != EXIT_DONE)
        return code;
    wfre_graph *graph;
    wfre_error error;
    if (wfre_graph_open(cli_argument(call, 0), &graph, &error) != WFRE_OK)
        return cli_fail(&error);
    code = answer_exactly(graph, &asked);
    wfre_graph_close(graph);
    return code;
}

static const cli_option OPTIONS[] = {
    {"exact", 0, CLI_FLAG, NULL, "only answers that the graph proves (always so without a model)",
     0, 0},
    {"split", 0, CLI_TEXT, "S", "on train, with valid too, or with all of test (default test)", 0,
     0},
    {"top", 0, CLI_INTEGER, "N", "print at most N answers (default 0: all)", 0, 4294967295.0},
    {"timeout", 0, CLI_DURATION, "T", "give up after this long, such as 10s (default: never)", 0,
     0},
    CLI_OPTION_JSON,
};

const cli_command command_ask = {
    .name = "ask",
    .arguments = "G.kg 'QUERY'",
    .summary = "answer a question",
    .details =
        "A QUERY may be written as logic, as an operator tree or as BetaE tuples. Any first-order\n"
        "formula is answered exactly, cyclic ones too. Answers go to standard output, one a line.\n"
        "\n"
        "Examples:\n"
        "  wfre ask g.kg '?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)'\n"
        "  wfre ask g.kg '?x : knows(?x, ?y) & knows(?y, ?z) & knows(?z, ?x)' --timeout 10s\n"
        "  wfre ask g.kg '(p,directed,(p,award^-1,(e,Oscar)))' --split train --json\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
