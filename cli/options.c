/* Parsing of the command line by option table, --help and the manual page. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct setting {
    const cli_option *option;
    const char *text; /* NULL for a flag or an optional value left out */
    double number;
} setting;

enum { MAXIMUM_SETTINGS = 256 };

struct cli_call {
    const cli_command *command;
    const char **arguments;
    int argument_count;
    setting settings[MAXIMUM_SETTINGS];
    int setting_count;
};

/* ---- access ------------------------------------------------------------------------------- */

int cli_argument_count(const cli_call *call)
{
    return call->argument_count;
}

const char *cli_argument(const cli_call *call, int index)
{
    return index < call->argument_count ? call->arguments[index] : NULL;
}

/* The last setting wins, as users expect of repeated options. */
static const setting *find_setting(const cli_call *call, const char *name)
{
    for (int i = call->setting_count - 1; i >= 0; i--)
        if (strcmp(call->settings[i].option->name, name) == 0)
            return &call->settings[i];
    return NULL;
}

bool cli_has(const cli_call *call, const char *option)
{
    return find_setting(call, option) != NULL;
}

const char *cli_text(const cli_call *call, const char *option, const char *fallback)
{
    const setting *found = find_setting(call, option);
    return found && found->text ? found->text : fallback;
}

double cli_number(const cli_call *call, const char *option, double fallback)
{
    const setting *found = find_setting(call, option);
    return found ? found->number : fallback;
}

double cli_duration(const cli_call *call, const char *option, double fallback)
{
    return cli_number(call, option, fallback);
}

long long cli_integer(const cli_call *call, const char *option, long long fallback)
{
    const setting *found = find_setting(call, option);
    return found ? (long long)found->number : fallback;
}

FILE *cli_summary_stream(const cli_call *call)
{
    const char *out = cli_text(call, "out", "");
    struct stat there, output;
    bool taken =
        strcmp(out, "-") == 0 || (stat(out, &there) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
                                  there.st_dev == output.st_dev && there.st_ino == output.st_ino);
    return taken ? stderr : stdout;
}

const char *cli_repeated(const cli_call *call, const char *option, int k)
{
    for (int i = 0; i < call->setting_count; i++)
        if (strcmp(call->settings[i].option->name, option) == 0 && k-- == 0)
            return call->settings[i].text;
    return NULL;
}

int cli_split(const cli_call *call, wfre_split fallback, wfre_split *split)
{
    static const char *const NAMES[] = {"train", "valid", "test"};
    const char *name = cli_text(call, "split", NAMES[fallback]);
    for (int i = 0; i < WFRE_SPLITS; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *split = (wfre_split)i;
            return EXIT_DONE;
        }
    }
    return cli_usage(call, "--split is train, valid or test, not %s", name);
}

int cli_by(const cli_call *call, wfre_way *way)
{
    const char *by = cli_text(call, "by", NULL);
    if (!by)
        return EXIT_DONE;
    if (strcmp(by, "edges") != 0 && strcmp(by, "embedding") != 0)
        return cli_usage(call, "--by is embedding or edges, not %s", by);
    way->by = strcmp(by, "edges") == 0 ? WFRE_BY_EDGES : WFRE_BY_EMBEDDING;
    return EXIT_DONE;
}

int cli_literals(const cli_call *call, wfre_literals *literals)
{
    static const char *const names[] = {"attributes", "entities", "drop"};
    const char *wanted = cli_text(call, "literals", names[0]);
    for (int i = 0; i < 3; i++)
        if (strcmp(wanted, names[i]) == 0) {
            *literals = (wfre_literals)i;
            return EXIT_DONE;
        }
    return cli_usage(call, "--literals is attributes, entities or drop, not %s", wanted);
}

/* ---- help --------------------------------------------------------------------------------- */

static bool takes_value(const cli_option *option)
{
    return option->kind != CLI_FLAG && option->kind != CLI_OPTIONAL_TEXT;
}

/* "-o, --out FILE" into a caller's buffer. */
static void option_heading(const cli_option *option, char *buffer, size_t size)
{
    const char *value = option->value ? option->value : "";
    const char *glue = option->kind == CLI_OPTIONAL_TEXT ? "[=" : *value ? " " : "";
    const char *end = option->kind == CLI_OPTIONAL_TEXT ? "]" : "";
    if (option->letter)
        (void)snprintf(buffer, size, "-%c, --%s%s%s%s", option->letter, option->name, glue, value,
                       end);
    else
        (void)snprintf(buffer, size, "    --%s%s%s%s", option->name, glue, value, end);
}

void options_print_help(const cli_command *command, FILE *stream)
{
    fprintf(stream, "usage: wfre %s%s%s%s\n\n%s\n", command->name, *command->arguments ? " " : "",
            command->arguments, command->option_count ? " [OPTION...]" : "", command->summary);
    if (command->option_count)
        fprintf(stream, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        char heading[96];
        option_heading(&command->options[i], heading, sizeof heading);
        fprintf(stream, "  %-28s %s\n", heading, command->options[i].help);
    }
    if (command->details)
        fprintf(stream, "\n%s", command->details);
}

/* Text with roff's special characters escaped; a blank line becomes a paragraph. */
static void print_roff(const char *text, FILE *stream)
{
    bool line_start = true;
    for (const char *c = text; *c; c++) {
        if (line_start && (*c == '.' || *c == '\''))
            fputs("\\&", stream);
        if (*c == '\\')
            fputs("\\e", stream);
        else if (*c == '-')
            fputs("\\-", stream);
        else
            fputc(*c, stream);
        line_start = *c == '\n';
    }
}

void options_print_manual(const cli_command *command, FILE *stream)
{
    fprintf(stream, ".SS \"wfre %s %s\"\n", command->name, command->arguments);
    print_roff(command->summary, stream);
    fputs("\n", stream);
    for (size_t i = 0; i < command->option_count; i++) {
        char heading[96];
        option_heading(&command->options[i], heading, sizeof heading);
        fputs(".TP\n.B ", stream);
        print_roff(heading + strspn(heading, " "), stream);
        fputs("\n", stream);
        print_roff(command->options[i].help, stream);
        fputs("\n", stream);
    }
    if (command->details) {
        fputs(".PP\n.nf\n", stream);
        print_roff(command->details, stream);
        fputs(".fi\n", stream);
    }
}

int cli_usage(const cli_call *call, const char *format, ...)
{
    cli_progress_end();
    fprintf(stderr, "wfre %s: ", call->command->name);
    va_list args;
    va_start(args, format);
    cli_say(format, args);
    va_end(args);
    fprintf(stderr, "\nusage: wfre %s %s [OPTION...]\nTry 'wfre %s --help'.\n", call->command->name,
            call->command->arguments, call->command->name);
    return EXIT_USAGE;
}

int cli_fail_setting(const cli_call *call, const wfre_error *error)
{
    bool usage = error->code == WFRE_ERR_ARGUMENT || error->code == WFRE_ERR_NOT_FOUND;
    return usage ? cli_usage(call, "%s", cli_message(error)) : cli_fail(error);
}

int cli_keep_apart(const cli_call *call, const char *output, const char *other)
{
    struct stat a, b;
    if (!output || !other || strcmp(output, "-") == 0 || strcmp(other, "-") == 0)
        return EXIT_DONE;
    bool same = strcmp(output, other) == 0 ||
                (stat(output, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
                 a.st_dev == b.st_dev && a.st_ino == b.st_ino);
    return same ? cli_usage(call, "%s is also an input, or another output; choose another name",
                            output)
                : EXIT_DONE;
}

/* ---- parsing ------------------------------------------------------------------------------ */

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == length &&
            memcmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

/* Reads a number with an optional unit of time after it; false if it is not one. */
static bool parse_number(const char *text, bool duration, double *number)
{
    char *end;
    errno = 0;
    double value = wfre_parse_real(text, &end);
    if (end == text || errno == ERANGE || !isfinite(value))
        return false;
    static const struct {
        const char *name;
        double seconds;
    } UNITS[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double unit = *end == '\0' ? 1 : 0;
    for (size_t i = 0; duration && i < sizeof UNITS / sizeof UNITS[0]; i++)
        if (strcmp(end, UNITS[i].name) == 0)
            unit = UNITS[i].seconds;
    *number = value * unit;
    return unit > 0;
}

/* Adds one option with its value; 0, or EXIT_USAGE after a message. */
static int add_setting(cli_call *call, const cli_option *option, const char *text)
{
    setting value = {option, text, 0};
    bool numeric = option->kind == CLI_INTEGER || option->kind == CLI_NUMBER;
    if (option->kind == CLI_FILE && strcmp(text, "-") == 0)
        return cli_usage(call, "--%s -: this cannot go to standard output; name a file",
                         option->name);
    if (option->kind == CLI_DURATION) {
        if (!parse_number(text, true, &value.number) || value.number < 0 || value.number > 1e9)
            return cli_usage(call, "--%s %s: expected a time such as 90s, 30m or 1.5h",
                             option->name, text);
    } else if (numeric) {
        bool whole = option->kind == CLI_INTEGER;
        if (!parse_number(text, false, &value.number) ||
            (whole && (value.number > 9.1e15 || value.number < -9.1e15 ||
                       value.number != (double)(long long)value.number)))
            return cli_usage(call, "--%s %s: expected a %snumber", option->name, text,
                             whole ? "whole " : "");
        bool bounded = option->minimum < option->maximum;
        if (bounded && (value.number < option->minimum || value.number > option->maximum))
            return cli_usage(call, "--%s %s: must be between %g and %g", option->name, text,
                             option->minimum, option->maximum);
    }
    if (call->setting_count == MAXIMUM_SETTINGS)
        return cli_usage(call, "too many options");
    call->settings[call->setting_count++] = value;
    return 0;
}

/* Handles argv[*index], an option; moves *index past a separate value. */
static int parse_option(cli_call *call, char **argv, int argc, int *index)
{
    const char *word = argv[*index];
    const cli_option *option;
    const char *value = NULL;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
        option = find_option(call->command, word + 2, length);
        value = equals ? equals + 1 : NULL;
    } else {
        option = find_letter(call->command, word[1]);
        if (option && word[2])
            value = word + 2;
    }
    if (!option)
        return cli_usage(call, "unknown option %s", word);
    if (option->kind == CLI_FLAG && value)
        return cli_usage(call, "--%s takes no value", option->name);
    if (takes_value(option) && !value) {
        if (*index + 1 >= argc)
            return cli_usage(call, "--%s needs a value", option->name);
        value = argv[++*index];
    }
    return add_setting(call, option, value);
}

int options_run(const cli_command *command, int argc, char **argv)
{
    cli_call call = {.command = command};
    options_running(command);
    call.arguments = calloc((size_t)argc + 1, sizeof *call.arguments);
    if (!call.arguments) {
        fputs("wfre: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    int code = 0;
    bool only_arguments = false;
    for (int i = 0; i < argc && code == 0; i++) {
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == '\0')
            call.arguments[call.argument_count++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_arguments = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_print_help(command, stdout);
            goto cleanup;
        } else
            code = parse_option(&call, argv, argc, &i);
    }
    if (code == 0 && call.argument_count < command->minimum_arguments)
        code = cli_usage(&call, "something is missing");
    if (code == 0 && command->maximum_arguments >= 0 &&
        call.argument_count > command->maximum_arguments)
        code =
            cli_usage(&call, "unexpected argument %s", call.arguments[command->maximum_arguments]);
    if (code == 0)
        code = command->run(&call);
cleanup:
    free(call.arguments);
    return code;
}
