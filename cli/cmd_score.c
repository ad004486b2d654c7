/* wfre score: the distances of pairs of histograms, from a JSON file. */
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

static void print_row(const char *key, const double *row, size_t count)
{
    printf(", \"%s\": [", key);
    for (size_t i = 0; i < count; i++)
        cli_print("%s%.17g", i ? ", " : "", row[i]);
    printf("]");
}

/* Scores one case and prints it. */
static wfre_status score_case(const wfre_score_case *one, bool gradients, wfre_error *error)
{
    size_t count = one->settings.dimension;
    wfre_score *score = NULL;
    double distance, *left = NULL, *right = NULL;
    wfre_status status = wfre_score_create(&one->settings, &score, error);
    if (status == WFRE_OK && gradients) {
        left = calloc(2 * count, sizeof *left);
        right = left + count;
        if (!left) {
            (void)snprintf(error->message, sizeof error->message, "out of memory");
            status = error->code = WFRE_ERR_MEMORY;
        }
    }
    if (status == WFRE_OK)
        status = wfre_score_pair(score, one->left, one->right, &distance, left, right, error);
    if (status == WFRE_OK && gradients) {
        cli_print("{\"distance\": %.17g", distance);
        print_row("left_gradient", left, count);
        print_row("right_gradient", right, count);
        printf("}\n");
    } else if (status == WFRE_OK) {
        cli_print("%.17g\n", distance);
    }
    wfre_score_free(score);
    free(left);
    return status;
}

static int run(const cli_call *call)
{
    const char *path = cli_argument(call, 0);
    wfre_score_settings settings;
    wfre_score_cases *cases;
    wfre_error error;
    wfre_score_defaults(0, &settings);
    if (wfre_score_preset(cli_text(call, "preset", "reference"), &settings, &error) != WFRE_OK ||
        wfre_score_kind_parse(cli_text(call, "score", "wfr"), &settings.kind, &error) != WFRE_OK)
        return cli_fail_setting(call, &error);
    settings.block = (uint32_t)cli_integer(call, "block", settings.block);
    settings.iterations = (uint32_t)cli_integer(call, "iterations", settings.iterations);
    settings.epsilon = cli_number(call, "epsilon", settings.epsilon);
    if (wfre_score_cases_open(path, &settings, &cases, &error) != WFRE_OK)
        return cli_fail(&error);
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < wfre_score_cases_count(cases); i++) {
        const wfre_score_case *one = wfre_score_cases_get(cases, i);
        if (score_case(one, cli_has(call, "gradients"), &error) != WFRE_OK) {
            cli_note("wfre: %s: case %zu: %s", strcmp(path, "-") == 0 ? "standard input" : path, i,
                     cli_message(&error));
            code = EXIT_FAILED;
        }
    }
    wfre_score_cases_free(cases);
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
