/* wfre predict: the triples that relations seem to lack, all at once.
 *
 * Relations are done one after the other, and are the parts of the output (wfre_parts): the same
 * command goes on behind the last of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

enum { DEFAULT_TOP = 10, LINE = 4096 };

typedef struct job {
    wfre_graph *graph;
    wfre_model *model;
    wfre_session *session;
    wfre_way way;
    wfre_missing_options options;
    wfre_triples_format format;
    const char *output; /* or NULL: standard output, or a device or pipe */
    wfre_parts *parts;  /* of the output: the triples of a relation each */
    wfre_relation *relations;
    size_t count, done; /* relations to do, and those done */
    uint64_t written;   /* triples */
    double start;
} job;

/* ---- what is written ---------------------------------------------------------------------- */

/* What must be the same for a run to go on. */
static void describe(const job *j, const cli_call *call, char *line, size_t size)
{
    (void)wfre_format(line, size,
                      "wfre predict, graph %016llx, model %016llx, split %d, top %zu, "
                      "min-probability %g, missing-rate %g, way %016llx, format %s, %s",
                      (unsigned long long)wfre_graph_fingerprint(j->graph),
                      (unsigned long long)wfre_model_weights_hash(j->model), (int)j->options.split,
                      j->options.top, j->options.min_probability, j->options.missing_rate,
                      (unsigned long long)wfre_way_hash(&j->way),
                      wfre_triples_format_name(j->format),
                      cli_text(call, "relation", "all relations"));
}

/* Opens the output at the place where an earlier run stopped. */
static int open_output(job *j, const cli_call *call)
{
    char work[LINE];
    wfre_error error;
    describe(j, call, work, sizeof work);
    if (wfre_parts_open(j->output, work, j->relations, j->count, &j->parts, &error) != WFRE_OK)
        return cli_fail(&error);
    j->done = wfre_parts_done(j->parts);
    j->written = wfre_parts_items(j->parts);
    if (j->done > 0)
        cli_note("%zu of %zu relations were done before; going on", j->done, j->count);
    return EXIT_DONE;
}

/* Writes the triples of a relation. */
static int keep(job *j, const char *text, size_t length, size_t count)
{
    wfre_error error;
    if (!j->output) {
        (void)fwrite(text, 1, length, stdout);
        if (fflush(stdout) != 0 || ferror(stdout))
            return EXIT_FAILED; /* cli_end_output says why */
    } else if (wfre_parts_add(j->parts, text, length, count, &error) != WFRE_OK)
        return cli_fail(&error);
    j->written += count;
    return EXIT_DONE;
}

/* ---- predicting --------------------------------------------------------------------------- */

static int interrupted(const job *j)
{
    cli_progress_end();
    if (j->output)
        cli_note("wfre: interrupted; %zu of %zu relations are done and kept, and the same command "
                 "goes on with the rest",
                 j->done, j->count);
    else
        cli_note("wfre: interrupted after %zu of %zu relations", j->done, j->count);
    return EXIT_INTERRUPTED;
}

static int predict_one(job *j, wfre_relation relation)
{
    wfre_error error;
    wfre_missing_triple *triples = NULL;
    size_t count = 0, length = 0;
    char *text = NULL;
    wfre_status status = wfre_session_missing(j->session, relation, &j->options, cli_cancel(),
                                              &triples, &count, &error);
    if (status == WFRE_OK)
        status =
            wfre_missing_triples_print(j->graph, triples, count, j->format, &text, &length, &error);
    int code = status == WFRE_OK                ? keep(j, text, length, count)
               : status == WFRE_ERR_INTERRUPTED ? interrupted(j)
                                                : cli_fail(&error);
    wfre_string_free(text);
    wfre_missing_triples_free(triples);
    return code;
}

/* Questions that the first `count` relations take: one for each entity at either end. */
static uint64_t questions_of(const job *j, size_t count)
{
    uint64_t questions = 0;
    for (size_t i = 0; i < count; i++)
        for (wfre_relation inverse = 0; inverse < 2; inverse++)
            questions +=
                wfre_graph_sources(j->graph, j->options.split, j->relations[i] + inverse).count;
    return questions;
}

static void report(const job *j)
{
    const wfre_monitor *monitor = cli_monitor();
    char note[96];
    (void)snprintf(note, sizeof note, "%zu of %zu relations, %s triples", j->done, j->count,
                   cli_thousands(j->written));
    wfre_progress progress = {.task = "predicting",
                              .done = questions_of(j, j->done),
                              .total = questions_of(j, j->count),
                              .note = note,
                              .share = true};
    monitor->report(monitor->context, &progress);
}

static int predict_all(job *j)
{
    int code = EXIT_DONE;
    report(j);
    while (code == EXIT_DONE && j->done < j->count) {
        bool stop = cli_interrupted(); /* a small relation never looks */
        code = stop ? interrupted(j) : predict_one(j, j->relations[j->done]);
        j->done += code == EXIT_DONE;
        if (code != EXIT_INTERRUPTED)
            report(j);
    }
    return code;
}

/* ---- the call ----------------------------------------------------------------------------- */

static int read_format(const cli_call *call, const char *output, wfre_triples_format *format)
{
    const char *name = cli_text(call, "format", NULL), *dot = output ? strrchr(output, '.') : NULL;
    *format = WFRE_TRIPLES_TSV;
    for (int f = 0; f < WFRE_TRIPLES_FORMATS; f++) {
        const char *own = wfre_triples_format_name((wfre_triples_format)f);
        if (strcmp(name ? name : dot ? dot + 1 : "tsv", own) == 0) {
            *format = (wfre_triples_format)f;
            return EXIT_DONE;
        }
    }
    return name ? cli_usage(call, "--format is tsv, nt or jsonl, not %s", name) : EXIT_DONE;
}

/* The relations to do: one, or all. */
static int choose_relations(const cli_call *call, job *j)
{
    const char *name = cli_text(call, "relation", NULL);
    uint32_t all = wfre_graph_relations(j->graph) / 2;
    j->relations = malloc((all + 1) * sizeof *j->relations);
    if (!j->relations)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    for (uint32_t r = 0; !name && r < all; r++)
        if (wfre_graph_relation_triples(j->graph, j->options.split, 2 * r) > 0)
            j->relations[j->count++] = 2 * r;
    if (!name)
        return EXIT_DONE;
    wfre_relation found = wfre_graph_find_relation(j->graph, name, strlen(name));
    if (found != WFRE_NONE) {
        j->relations[j->count++] = found;
        return EXIT_DONE;
    }
    wfre_relation near[3];
    wfre_error error = {.code = WFRE_ERR_NOT_FOUND, .offset = WFRE_NO_OFFSET};
    size_t count = wfre_nearest_relations(j->graph, name, strlen(name), near, 3);
    int used = snprintf(error.message, sizeof error.message, "no relation is called %.200s%s", name,
                        count > 0 ? "; the nearest:" : "");
    for (size_t i = 0; i < count && used > 0 && (size_t)used < sizeof error.message; i++) {
        wfre_name own = wfre_graph_relation_label(j->graph, near[i]);
        used += snprintf(error.message + used, sizeof error.message - (size_t)used, "%s %.*s",
                         i > 0 ? "," : "", (int)(own.length < 200 ? own.length : 200), own.bytes);
    }
    return cli_fail(&error);
}

/* Whether an output is standard output by another name, such as /dev/stdout. */
static bool is_standard(const char *output)
{
    struct stat there, standard;
    return strcmp(output, "-") == 0 ||
           (stat(output, &there) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
            there.st_dev == standard.st_dev && there.st_ino == standard.st_ino);
}

/* A device or pipe takes triples as they come, in the place of standard output; of these nothing is
 * kept. */
static int open_stream(job *j)
{
    int fd = open(j->output, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        wfre_error error = {.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error.message, sizeof error.message, "%s: %s", cli_visible(j->output),
                       strerror(errno));
        return cli_fail(&error);
    }
    close(fd);
    j->output = NULL;
    return EXIT_DONE;
}

/* Neither the output nor a file beside it may be an input. */
static int keep_inputs(const cli_call *call, const char *output)
{
    static const char *const ENDINGS[] = {"", ".part", ".progress", ".lock"};
    enum { ENDING_COUNT = sizeof ENDINGS / sizeof *ENDINGS };
    char path[LINE];
    int code = EXIT_DONE;
    for (int i = 0; i < 2 * ENDING_COUNT && code == EXIT_DONE; i++) {
        (void)snprintf(path, sizeof path, "%s%s", output, ENDINGS[i / 2]);
        code = cli_keep_apart(call, path, cli_argument(call, i % 2));
    }
    return code;
}

static int read_options(const cli_call *call, job *j)
{
    wfre_missing_options_default(&j->options);
    j->output = cli_text(call, "out", NULL);
    j->options.top = (size_t)cli_integer(call, "top", DEFAULT_TOP);
    j->options.min_probability = cli_number(call, "min-probability", 0);
    j->options.missing_rate = cli_number(call, "missing", 0);
    if (cli_has(call, "all") == cli_has(call, "relation"))
        return cli_usage(call, "say what to predict: --relation R, or --all");
    int code = read_format(call, j->output, &j->format);
    if (j->output && is_standard(j->output))
        j->output = NULL;
    if (code == EXIT_DONE && j->output)
        code = keep_inputs(call, j->output);
    return code == EXIT_DONE ? cli_split(call, WFRE_TEST, &j->options.split) : code;
}

static int prepare(const cli_call *call, job *j, wfre_pool *pool)
{
    wfre_error error;
    wfre_engine *engine = NULL;
    int code = choose_relations(call, j);
    if (code != EXIT_DONE)
        return code;
    wfre_status status = cli_load_model(cli_argument(call, 1), &j->model, &error);
    if (status == WFRE_OK)
        status = wfre_engine_open(j->graph, j->model, NULL, pool, cli_cancel(), &engine, &error);
    if (status == WFRE_OK)
        status =
            wfre_session_create(engine, &(wfre_session_options){.pool = pool}, &j->session, &error);
    if (status != WFRE_OK) {
        wfre_engine_unref(engine);
        return cli_fail(&error);
    }
    j->way = wfre_engine_way(engine);
    wfre_engine_unref(engine);
    j->options.way = &j->way;
    code = cli_by(call, &j->way);
    if (code == EXIT_DONE)
        code = cli_need_probabilities(j->model, j->options.min_probability);
    if (code != EXIT_DONE)
        return code;
    struct stat info;
    if (j->output && stat(j->output, &info) == 0 && !S_ISREG(info.st_mode))
        code = open_stream(j);
    return code == EXIT_DONE && j->output ? open_output(j, call) : code;
}

static void clean(job *j)
{
    wfre_parts_close(j->parts);
    free(j->relations);
    wfre_session_free(j->session);
    wfre_model_free(j->model);
    wfre_graph_close(j->graph);
}

static int run(const cli_call *call)
{
    job j = {.start = cli_clock()};
    wfre_pool *pool = NULL;
    wfre_error error;
    int code = read_options(call, &j);
    if (code == EXIT_DONE)
        code = cli_open_graph(cli_argument(call, 0), &j.graph);
    if (code == EXIT_DONE &&
        wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error) != WFRE_OK)
        code = cli_fail(&error);
    if (code == EXIT_DONE)
        code = prepare(call, &j, pool);
    if (code == EXIT_DONE)
        code = predict_all(&j);
    if (code == EXIT_DONE && j.output && wfre_parts_finish(j.parts, &error) != WFRE_OK)
        code = cli_fail(&error);
    if (code == EXIT_DONE)
        cli_note("%s triples of %zu relation%s%s%s in %.1f s", cli_thousands(j.written), j.count,
                 j.count == 1 ? "" : "s", j.output ? " written to " : "",
                 j.output ? cli_visible(j.output) : "", cli_clock() - j.start);
    clean(&j);
    wfre_pool_free(pool);
    return code;
}

static const cli_option OPTIONS[] = {
    {"relation", 0, CLI_TEXT, "R", "predict triples of this relation", 0, 0},
    {"all", 0, CLI_FLAG, NULL, "predict triples of all relations", 0, 0},
    {"out", 'o', CLI_TEXT, "FILE", "the file to write; - is standard output (default)", 0, 0},
    {"format", 0, CLI_TEXT, "F", "tsv, nt or jsonl (default: what FILE ends in, else tsv)", 0, 0},
    {"top", 0, CLI_INTEGER, "K",
     "at most K triples for each entity that has the relation, from either end (default 10)", 1,
     1000000},
    {"min-probability", 0, CLI_NUMBER, "P", "leave out triples less likely than this", 0, 1},
    {"missing", 0, CLI_NUMBER, "RATE",
     "share of what is true that the graph lacks, if you know (default: as was held out)", 0, 0.99},
    {"split", 0, CLI_TEXT, "S",
     "the graph that knows: train, valid (train and valid) or test (all; the default)", 0, 0},
    CLI_OPTION_BY,
    CLI_OPTION_THREADS,
};

const cli_command command_predict = {
    .name = "predict",
    .arguments = "G.kg M.safetensors --relation R|--all [-o FILE]",
    .summary = "write the triples that a graph seems to lack, with their probabilities",
    .details =
        "Every entity that has a relation, at either end, is asked for more; a triple that both\n"
        "ends name is written once, with the higher probability. Within a relation the likeliest\n"
        "come first. TSV has a fourth column with the probability, JSON lines have it as a\n"
        "member, N-Triples as a comment behind the triple.\n"
        "\n"
        "Relations are done one after the other. After Ctrl-C, or a crash, the same command goes\n"
        "on with the relations that are left: until then FILE.part has the triples so far, and\n"
        "FILE.progress says which relations are done.\n"
        "\n"
        "Examples:\n"
        "  wfre predict g.kg m.safetensors --relation producer --min-probability 0.5\n"
        "  wfre predict g.kg m.safetensors --all --top 10 -o new.nt\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
