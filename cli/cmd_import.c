/* wfre import: triples, RDF, WordNet or a benchmark folder into a graph snapshot. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static void print_json(const char *output, const wfre_import_report *report, double seconds)
{
    printf("{\"output\":");
    cli_print_json(stdout, output, strlen(output));
    printf(",\"format\":\"%s\",\"entities\":%u,\"relations\":%u", report->format, report->entities,
           report->relations);
    printf(",\"triples\":{\"train\":%llu,\"valid\":%llu,\"test\":%llu}",
           (unsigned long long)report->triples[WFRE_TRAIN],
           (unsigned long long)report->triples[WFRE_VALID],
           (unsigned long long)report->triples[WFRE_TEST]);
    cli_print(",\"duplicates\":%llu,\"attributes\":%llu,\"literals\":%llu,\"blanks\":%llu,"
              "\"named\":%llu,\"labels\":%llu,"
              "\"labels_unknown\":%llu,\"seconds\":%.3f}\n",
              (unsigned long long)report->duplicates, (unsigned long long)report->attributes,
              (unsigned long long)report->literals, (unsigned long long)report->blanks,
              (unsigned long long)report->named, (unsigned long long)report->labels,
              (unsigned long long)report->labels_unknown, seconds);
}

static void print_remark(const char *what, uint64_t count, const char *hint)
{
    if (count > 0)
        printf("  %s: %s%s\n", what, cli_thousands(count), hint);
}

static void print_report(const char *output, const wfre_import_report *report)
{
    uint64_t sum = 0;
    for (int split = 0; split < WFRE_SPLITS; split++)
        sum += report->triples[split];
    printf("%s (%s): %s entities, %s relations, %s triples\n", cli_visible(output), report->format,
           cli_thousands(report->entities), cli_thousands(report->relations), cli_thousands(sum));
    if (report->triples[WFRE_TRAIN] != sum)
        printf("  train %s, valid %s, test %s\n", cli_thousands(report->triples[WFRE_TRAIN]),
               cli_thousands(report->triples[WFRE_VALID]),
               cli_thousands(report->triples[WFRE_TEST]));
    print_remark("duplicates kept once", report->duplicates, "");
    print_remark("attributes", report->attributes, " (triples with a literal or a blank node)");
    print_remark("left out for a literal", report->literals, "");
    print_remark("left out for a blank node", report->blanks, "");
    print_remark("in graphs that blank nodes name, which are not kept", report->named, "");
    print_remark("labels", report->labels, "");
    print_remark("labels of unknown names", report->labels_unknown, "");
}

static bool is_format(const char *name)
{
    const char *about, *known;
    for (size_t i = 0; (known = wfre_import_format(i, &about)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return true;
    return strcmp(name, "auto") == 0;
}

static int run(const cli_call *call)
{
    const char *output = cli_text(call, "out", NULL);
    if (!output)
        return cli_usage(call, "say where to write the graph: -o G.kg");
    const char *format = cli_text(call, "format", "auto");
    if (!is_format(format))
        return cli_usage(call, "unknown format %s", format);
    wfre_literals literals = WFRE_LITERALS_ATTRIBUTES;
    int code = cli_literals(call, &literals);
    if (code == EXIT_DONE)
        code = cli_keep_apart(call, output, cli_text(call, "labels", NULL));
    for (int i = 0; i < cli_argument_count(call) && code == EXIT_DONE; i++)
        code = cli_keep_apart(call, output, cli_argument(call, i));
    if (code != EXIT_DONE)
        return code;
    size_t count = (size_t)cli_argument_count(call);
    const char **sources = malloc(count * sizeof *sources);
    if (!sources)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    for (size_t i = 0; i < count; i++)
        sources[i] = cli_argument(call, (int)i);
    wfre_import_options options = {
        .format = format,
        .labels = cli_text(call, "labels", NULL),
        .literals = literals,
        .language = cli_text(call, "language", NULL),
        .label_property = cli_text(call, "label-property", NULL),
        .base = cli_text(call, "base", NULL),
        .header = cli_has(call, "header"),
        .holdout = cli_number(call, "holdout", 0),
        .seed = (uint64_t)cli_integer(call, "seed", 1),
        .allow_empty = cli_has(call, "allow-empty"),
    };
    wfre_import_report report;
    wfre_error error;
    double start = cli_clock();
    wfre_status status =
        wfre_import(sources, count, &options, output, cli_monitor(), &report, &error);
    free(sources);
    if (status != WFRE_OK)
        return cli_fail(&error);
    cli_progress_end();
    if (cli_has(call, "json"))
        print_json(output, &report, cli_clock() - start);
    else
        print_report(output, &report);
    return EXIT_DONE;
}

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "G.kg", "the graph snapshot to write", 0, 0},
    {"format", 0, CLI_TEXT, "F", "auto, tsv, csv, nt, ttl, nq, trig, rdf, wordnet or betae", 0, 0},
    {"labels", 0, CLI_TEXT, "FILE", "readable names: name <TAB> label [<TAB> description]", 0, 0},
    CLI_OPTION_LITERALS,
    {"language", 0, CLI_TEXT, "TAG", "of RDF labels, then those without one, then any (default en)",
     0, 0},
    {"label-property", 0, CLI_TEXT, "IRI", "one more RDF property that gives labels", 0, 0},
    {"base", 0, CLI_TEXT, "IRI", "of relative IRIs, and of names that are none (urn:wfre:)", 0, 0},
    {"header", 0, CLI_FLAG, NULL, "the first line of TSV or CSV names the columns", 0, 0},
    {"holdout", 0, CLI_NUMBER, "SHARE", "hold out this share, half valid, half test", 0, 0.99},
    {"allow-empty", 0, CLI_FLAG, NULL, "a graph without a triple is no error", 0, 0},
    CLI_OPTION_SEED,
    CLI_OPTION_JSON,
};

const cli_command command_import = {
    .name = "import",
    .arguments = "SOURCE... -o G.kg",
    .summary = "read triples, RDF, WordNet or a benchmark folder into a graph snapshot",
    .details =
        "A SOURCE is a file, a folder, or - for standard input; gzip is decompressed.\n"
        "  tsv      head <TAB> relation <TAB> tail; a folder may have train, valid, test files\n"
        "  csv      the same with commas, and names in quotes\n"
        "  nt, ttl, nq, trig   RDF; rdf: a folder of such files\n"
        "  wordnet  a dictionary folder such as /usr/share/wordnet; entities like dog.n.01\n"
        "  betae    a published benchmark folder: ids are kept, so its query files fit\n"
        "Several files named train, valid and test are taken as such; others are training data.\n"
        "\n"
        "--holdout takes triples at random, as --seed decides, but never the last training\n"
        "triple of an entity or relation.\n"
        "\n"
        "Examples:\n"
        "  wfre import triples.tsv.gz -o g.kg --holdout 0.1\n"
        "  wfre import /usr/share/wordnet -o wordnet.kg\n"
        "  wfre import FB15k-237-betae -o fb.kg --labels names.txt\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = -1,
    .run = run,
};
