/* What is understood besides questions, at the prompt and in lines of standard input: help, quit,
 * find and settings. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"

static const char HELP[] =
    "Questions, one a line. Tab completes names; what fits the place comes first.\n"
    "  ?x : directed(Nolan, ?x)                 entities: proven, then predicted\n"
    "  ?x : directed(?d, ?x) & !won(?d, Oscar)  & and, | or, ! not, exists, forall\n"
    "  directed(Nolan, Dunkirk)                 whether it is so\n"
    "  ?d, ?x : directed(?d, ?x)                rows\n"
    "  ?r(Nolan, Dunkirk)                       how two are related\n"
    "  ?x : directed(Nolan, ?x) & ?x != Tenet   = and != compare\n"
    "  count ?x : directed(Nolan, ?x)           how many\n"
    "  describe Nolan                           all about one, and what is missing\n"
    "  near Nolan                               what is like it (needs a model)\n"
    "  SELECT ?x { ... }                        SPARQL\n"
    "Names with blanks are quoted: \"New York\". Case need not be right if only one\n"
    "name reads so.\n"
    "\n"
    "  find TEXT            names that have the text in them\n"
    "  set                  shows the settings;  set NAME VALUE  changes one\n"
    "  help, quit           (Ctrl-D quits, too; Ctrl-C stops a question)\n";

/* ---- settings ----------------------------------------------------------------------------- */

static const char *const SPLITS[] = {"train", "valid", "test"};

static void show_settings(const ask_session *s)
{
    if (s->top == SIZE_MAX)
        printf("top              all\n");
    else
        printf("top              %zu\n", s->top);
    printf("split            %s\n", SPLITS[s->options.split]);
    cli_print("min-probability  %g\n", s->options.min_probability);
    cli_print("timeout          %g\n", s->options.timeout);
    printf("only             %s\n", !s->options.predicted ? "known"
                                    : !s->options.known   ? "predicted"
                                                          : "both");
    if (s->model) {
        printf("by               %s\n", s->way.by == WFRE_BY_EDGES ? "edges" : "embedding");
        printf("explain          %s\n", s->explain ? "yes" : "no");
    }
    printf("page             %s\n", s->page ? "yes" : "no");
}

static bool read_yes(const char *value, bool *yes)
{
    *yes = strcmp(value, "yes") == 0 || strcmp(value, "on") == 0;
    return *yes || strcmp(value, "no") == 0 || strcmp(value, "off") == 0;
}

static bool read_number(const char *value, double most, double *number)
{
    char *end;
    *number = wfre_parse_real(value, &end);
    return end != value && *end == '\0' && *number >= 0 && *number <= most;
}

/* Says what the setting may be, if the value is none of it; NULL if all went well. */
static const char *set(ask_session *s, const char *name, const char *value)
{
    double number = 0;
    if (strcmp(name, "top") == 0) {
        if (strcmp(value, "all") != 0 && !read_number(value, 1e9, &number))
            return "a number, or all";
        s->top = number >= 1 ? (size_t)number : SIZE_MAX;
        s->options.top = s->top;
    } else if (strcmp(name, "split") == 0) {
        for (int i = 0; i < WFRE_SPLITS; i++)
            if (strcmp(value, SPLITS[i]) == 0) {
                s->options.split = (wfre_split)i;
                return NULL;
            }
        return "train, valid or test";
    } else if (strcmp(name, "min-probability") == 0) {
        if (!read_number(value, 1, &s->options.min_probability))
            return "a number from 0 to 1";
    } else if (strcmp(name, "timeout") == 0) {
        if (!read_number(value, 1e9, &s->options.timeout))
            return "a number of seconds; 0: never";
    } else if (strcmp(name, "only") == 0) {
        bool known = strcmp(value, "known") == 0, predicted = strcmp(value, "predicted") == 0;
        if (!known && !predicted && strcmp(value, "both") != 0)
            return "known, predicted or both";
        s->options.known = !predicted;
        s->options.predicted = !known;
    } else if (strcmp(name, "by") == 0 && s->model) {
        if (strcmp(value, "edges") != 0 && strcmp(value, "embedding") != 0)
            return "edges or embedding";
        s->way.by = strcmp(value, "edges") == 0 ? WFRE_BY_EDGES : WFRE_BY_EMBEDDING;
    } else if (strcmp(name, "explain") == 0 && s->model) {
        if (!read_yes(value, &s->explain))
            return "yes or no";
    } else if (strcmp(name, "page") == 0) {
        if (!read_yes(value, &s->page))
            return "yes or no";
    } else {
        return "one of those that set alone shows";
    }
    return NULL;
}

static int change_setting(ask_session *s, char *words)
{
    const char *name = strtok(words, " \t"), *value = strtok(NULL, " \t");
    if (!name) {
        show_settings(s);
        return EXIT_DONE;
    }
    const char *wrong = value ? set(s, name, value) : "followed by a value";
    if (!wrong)
        return EXIT_DONE;
    cli_note("set %s: it must be %s", name, wrong);
    return EXIT_FAILED;
}

/* ---- names -------------------------------------------------------------------------------- */

static int find(ask_session *s, const char *text)
{
    enum { SHOWN = 20 };
    wfre_completion items[SHOWN];
    wfre_complete_options options;
    wfre_error error;
    size_t count;
    wfre_complete_options_default(&options);
    if (wfre_engine_complete(s->engine, text, strlen(text), &options, items, SHOWN, &count,
                             &error) != WFRE_OK)
        return cli_fail(&error);
    for (size_t i = 0; i < count; i++) {
        FILE *line = cli_line();
        fprintf(line, "%-8s %9s  ", items[i].is_relation ? "relation" : "entity",
                cli_thousands(items[i].count));
        if (items[i].is_relation)
            cli_print_relation(line, s->graph, items[i].id);
        else
            cli_print_entity(line, s->graph, items[i].id);
        cli_line_end();
    }
    if (count == 0)
        cli_note("nothing has %s in its name or label", text);
    return EXIT_DONE;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Whether the line is the word, alone or with a blank behind it; *rest is what follows. */
static bool begins(const char *line, const char *word, const char **rest)
{
    size_t size = strlen(word);
    if (strncmp(line, word, size) != 0 || !strchr(" \t", line[size]))
        return line[size] == '\0' && strncmp(line, word, size) == 0 ? (*rest = line + size, true)
                                                                    : false;
    *rest = line + size + strspn(line + size, " \t");
    return **rest != '('; /* else it is a relation */
}

bool ask_is_command(const char *line)
{
    const char *rest;
    line += strspn(line, " \t");
    return ((begins(line, "quit", &rest) || begins(line, "exit", &rest) ||
             begins(line, "help", &rest) || begins(line, "?", &rest)) &&
            *rest == '\0') ||
           (begins(line, "find", &rest) && *rest) || begins(line, "set", &rest);
}

int ask_command(ask_session *session, const char *line, bool *quit)
{
    const char *rest;
    line += strspn(line, " \t");
    if (begins(line, "find", &rest))
        return find(session, rest);
    if (begins(line, "set", &rest)) {
        char words[256];
        (void)snprintf(words, sizeof words, "%s", rest);
        return change_setting(session, words);
    }
    *quit = begins(line, "quit", &rest) || begins(line, "exit", &rest);
    if (!*quit)
        fputs(HELP, stdout);
    return EXIT_DONE;
}
