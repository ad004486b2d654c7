/* wfre score: the distances of pairs of histograms, from a JSON file. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const cli_option OPTIONS[] = {
    {"preset", 0, CLI_TEXT, "NAME", "reference (default), paper or exact: radius and power", 0, 0},
    {"score", 0, CLI_TEXT, "NAME",
     "wfr (default), local, hellinger, kl, l1, l2, inner or wasserstein", 0, 0},
    {"block", 0, CLI_INTEGER, "N", "bins in a block (default 5)", 1, 65536},
    {"iterations", 0, CLI_INTEGER, "N", "iterations (default 10)", 1, WFRE_ITERATION_LIMIT},
    {"epsilon", 0, CLI_NUMBER, "X", "entropic regularisation (default 0.1)", 0.001, 1000},
    {"gradients", 0, CLI_FLAG, NULL, "print JSON with both gradients instead of bare numbers", 0,
     0},
};

/* What is wrong with case `index`; returns EXIT_FAILED. */
static int bad_case(const char *path, size_t index, const char *why)
{
    cli_note("wfre: %s: case %zu: %s", path, index, why);
    return EXIT_FAILED;
}

/* A JSON array of numbers as doubles; NULL if it is not one. */
static double *read_row(const json_t *array, size_t *count)
{
    *count = json_array_size(array);
    double *row = json_is_array(array) ? malloc((*count + 1) * sizeof *row) : NULL;
    for (size_t i = 0; row && i < *count; i++) {
        const json_t *item = json_array_get(array, i);
        row[i] = json_number_value(item);
        if (!json_is_number(item)) {
            free(row);
            return NULL;
        }
    }
    return row;
}

/* Replaces a setting by the case's own, if it has one; false if that is not a number. */
static bool read_number(const json_t *object, const char *key, double *value)
{
    const json_t *item = json_object_get(object, key);
    if (!item)
        return true;
    *value = json_number_value(item);
    return json_is_number(item);
}

static bool read_whole(const json_t *object, const char *key, uint32_t *value)
{
    double number = *value;
    bool good = read_number(object, key, &number) && number >= 0 && number <= UINT32_MAX &&
                number == floor(number);
    *value = good ? (uint32_t)number : *value;
    return good;
}

static bool read_case(const json_t *object, wfre_score_settings *settings)
{
    return read_whole(object, "block", &settings->block) &&
           read_whole(object, "iterations", &settings->iterations) &&
           read_number(object, "radius", &settings->radius) &&
           read_number(object, "epsilon", &settings->epsilon) &&
           read_number(object, "power", &settings->power) &&
           read_number(object, "floor", &settings->floor);
}

static void print_row(const char *key, const double *row, size_t count)
{
    printf(", \"%s\": [", key);
    for (size_t i = 0; i < count; i++)
        printf("%s%.17g", i ? ", " : "", row[i]);
    printf("]");
}

/* Scores one case and prints it. */
static int score_case(const char *path, size_t index, const json_t *object,
                      wfre_score_settings settings, bool gradients)
{
    wfre_error error;
    wfre_score *score = NULL;
    size_t count = 0, other = 0;
    double distance;
    int code = EXIT_DONE;
    double *left = read_row(json_object_get(object, "left"), &count);
    double *right = read_row(json_object_get(object, "right"), &other);
    double *slopes = calloc(2 * count + 1, sizeof *slopes);
    settings.dimension = count;
    if (!left || !right || !slopes)
        code = bad_case(path, index, "\"left\" and \"right\" must be arrays of numbers");
    else if (count != other)
        code = bad_case(path, index, "\"left\" and \"right\" differ in length");
    else if (!read_case(object, &settings))
        code = bad_case(path, index, "a setting is not a number of its kind");
    else if (wfre_score_create(&settings, &score, &error) != WFRE_OK ||
             wfre_score_pair(score, left, right, &distance, slopes, slopes + count, &error) !=
                 WFRE_OK)
        code = bad_case(path, index, error.message);
    else if (gradients) {
        printf("{\"distance\": %.17g", distance);
        print_row("left_gradient", slopes, count);
        print_row("right_gradient", slopes + count, count);
        printf("}\n");
    } else
        printf("%.17g\n", distance);
    wfre_score_free(score);
    free(slopes);
    free(left);
    free(right);
    return code;
}

static int run(const cli_call *call)
{
    const char *path = cli_argument(call, 0);
    wfre_score_settings settings;
    wfre_error error;
    json_error_t reason;
    wfre_score_defaults(0, &settings);
    if (wfre_score_preset(cli_text(call, "preset", "reference"), &settings, &error) != WFRE_OK ||
        wfre_score_kind_parse(cli_text(call, "score", "wfr"), &settings.kind, &error) != WFRE_OK)
        return cli_fail(&error);
    settings.block = (uint32_t)cli_integer(call, "block", settings.block);
    settings.iterations = (uint32_t)cli_integer(call, "iterations", settings.iterations);
    settings.epsilon = cli_number(call, "epsilon", settings.epsilon);
    json_t *cases = strcmp(path, "-") == 0 ? json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &reason)
                                           : json_load_file(path, 0, &reason);
    if (!cases) {
        if (reason.line > 0)
            cli_note("wfre: %s:%d: %s", path, reason.line, reason.text);
        else
            cli_note("wfre: %s", reason.text);
        return EXIT_FAILED;
    }
    int code = EXIT_DONE;
    if (!json_is_array(cases)) {
        cli_note("wfre: %s: expected an array of cases, [{\"left\": [], \"right\": []}]", path);
        code = EXIT_FAILED;
    }
    for (size_t i = 0; code == EXIT_DONE && i < json_array_size(cases); i++)
        code = score_case(path, i, json_array_get(cases, i), settings, cli_has(call, "gradients"));
    json_decref(cases);
    return code;
}

const cli_command command_score = {
    .name = "score",
    .arguments = "CASES.json",
    .summary = "distances between pairs of histograms, one a line",
    .details =
        "CASES.json is an array of cases; each has \"left\" and \"right\", and may have its own\n"
        "\"block\", \"radius\", \"epsilon\", \"power\", \"iterations\" and \"floor\". - is "
        "standard input.\n"
        "Numbers are printed with 17 digits; the reference kernels (WFRE_ISA=reference) compute\n"
        "in double precision, the others in float.\n\n"
        "  echo '[{\"left\": [1,0,0,0,0], \"right\": [0,1,0,0,0]}]' | wfre score -\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
