/* wfre eval: how well hard answers are ranked, as tables for people and machines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* What is evaluated, and the results so far. */
typedef struct job {
    const cli_call *call;
    wfre_graph *graph;
    wfre_pool *pool;
    const char *queries;
    wfre_split split; /* to sample from */
    wfre_eval_options options;
    wfre_evaluation **results;
    size_t count;
} job;

static const char *const UNIONS[] = {"dnf", "demorgan", "tconorm"};
enum { UNION_COUNT = sizeof UNIONS / sizeof UNIONS[0] };

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file's name without folders, unless another of the files has the same in another folder. */
static const char *distinct_name(const cli_call *call, const char *path)
{
    const char *name = file_name(path), *scores;
    int same = 0;
    for (int i = 1; i < cli_argument_count(call) - 1; i++)
        same += strcmp(file_name(cli_argument(call, i)), name) == 0;
    for (int k = 0; (scores = cli_repeated(call, "scores", k)); k++)
        same += strcmp(file_name(scores), name) == 0;
    return same > 1 ? path : name;
}

/* The file's name without ending, with the treatment of unions if there is a choice. */
static void make_label(const cli_call *call, const char *path, const char *unions, char *label,
                       size_t size)
{
    static const char ending[] = ".safetensors";
    const char *name = distinct_name(call, path);
    size_t length = strlen(name), cut = sizeof ending - 1;
    if (length > cut && strcmp(name + length - cut, ending) == 0)
        length -= cut;
    (void)snprintf(label, size, "%.*s%s%s", (int)length, name, unions ? ", " : "",
                   unions ? unions : "");
}

/* One model, with one treatment of unions (NULL: its own). */
static wfre_status evaluate_model(job *j, const wfre_model *model, const char *path,
                                  const char *unions, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_model_settings settings = *wfre_model_get_settings(model);
    char label[256], partial[4096];
    make_label(j->call, path, unions, label, sizeof label);
    (void)snprintf(partial, sizeof partial, "%s.%s.%s.partial", path, file_name(j->queries),
                   unions ? unions : "eval");
    const char *by = cli_text(j->call, "by", unions ? "embedding" : NULL);
    if (unions)
        status = wfre_model_set(&settings, "union", unions, error);
    if (by && status == WFRE_OK)
        status = wfre_model_set(&settings, "answering", by, error);
    if (status != WFRE_OK)
        return status;
    wfre_eval_options options = j->options;
    options.label = label;
    options.partial = partial;
    settings.way.exhaustive = cli_has(j->call, "exhaustive");
    options.way = &settings.way;
    status = wfre_evaluate_model(j->graph, model, j->queries, &options, j->pool, cli_monitor(),
                                 &j->results[j->count], error);
    j->count += status == WFRE_OK;
    return status;
}

static bool is_treatment(const char *name)
{
    bool found = strcmp(name, "all") == 0;
    for (int u = 0; u < UNION_COUNT; u++)
        found = found || strcmp(name, UNIONS[u]) == 0;
    return found;
}

static bool all_unions(const cli_call *call)
{
    return strcmp(cli_text(call, "union", ""), "all") == 0;
}

/* One model with one or all treatments of unions; all but the first only rank what differs. */
static wfre_status evaluate_file(job *j, const char *path, wfre_error *error)
{
    const char *unions = cli_text(j->call, "union", NULL);
    wfre_model *model = NULL;
    wfre_status status = cli_load_model(path, &model, error);
    if (!all_unions(j->call)) {
        if (status == WFRE_OK)
            status = evaluate_model(j, model, path, unions, error);
    } else {
        for (int u = 0; status == WFRE_OK && u < UNION_COUNT; u++) {
            status = evaluate_model(j, model, path, UNIONS[u], error);
            if (u == 0 && status == WFRE_OK)
                j->options.base = j->results[j->count - 1];
        }
        j->options.base = NULL;
    }
    wfre_model_free(model);
    return status;
}

/* Makes the query set if it is wanted and not there. */
static wfre_status sample_queries(const job *j, wfre_error *error)
{
    const char *types = cli_text(j->call, "sample", NULL);
    if (!types || access(j->queries, F_OK) == 0)
        return WFRE_OK;
    wfre_benchmark_options options = {
        .types = types,
        .count = (size_t)cli_integer(j->call, "count", 20),
        .cap = 100,
        .seed = (uint64_t)cli_integer(j->call, "seed", 1),
        .split = j->split,
        .protocol = WFRE_PROTOCOL_BETAE,
    };
    return wfre_benchmark_sample(j->graph, &options, j->queries, j->pool, cli_monitor(), NULL, NULL,
                                 error);
}

/* Fails if a file cannot be read; standard input and no file at all are fine. */
static wfre_status check_readable(const char *path, wfre_error *error)
{
    if (!path || strcmp(path, "-") == 0 || access(path, R_OK) == 0)
        return WFRE_OK;
    *error = (wfre_error){.code = WFRE_ERR_IO};
    (void)snprintf(error->message, sizeof error->message, "%.400s: cannot read: %s", path,
                   strerror(errno));
    return error->code;
}

/* Tells what is missing before the first of many is evaluated. */
static wfre_status check_files(const job *j, wfre_error *error)
{
    wfre_status status = check_readable(cli_text(j->call, "log", NULL), error);
    for (int i = 1; status == WFRE_OK && i < cli_argument_count(j->call) - 1; i++) {
        wfre_model *model = NULL;
        status = wfre_model_open(cli_argument(j->call, i), &model, error);
        wfre_model_free(model);
    }
    const char *scores;
    for (int k = 0; status == WFRE_OK && (scores = cli_repeated(j->call, "scores", k)); k++)
        status = check_readable(scores, error);
    return status;
}

static wfre_status evaluate_all(job *j, wfre_error *error)
{
    wfre_status status = cli_load_graph(cli_argument(j->call, 0), &j->graph, error);
    if (status == WFRE_OK)
        status = check_files(j, error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(j->call, "threads", 0), &j->pool, error);
    if (status == WFRE_OK)
        status = sample_queries(j, error);
    for (int i = 1; status == WFRE_OK && i < cli_argument_count(j->call) - 1; i++)
        status = evaluate_file(j, cli_argument(j->call, i), error);
    const char *scores;
    for (int k = 0; status == WFRE_OK && (scores = cli_repeated(j->call, "scores", k)); k++) {
        wfre_eval_options options = j->options;
        options.label = distinct_name(j->call, scores);
        status = wfre_evaluate_scores(j->graph, j->queries, scores, &options, j->pool,
                                      cli_monitor(), &j->results[j->count], error);
        j->count += status == WFRE_OK;
    }
    return status;
}

static wfre_status report_all(const job *j, wfre_error *error)
{
    const wfre_evaluation *const *results = (const wfre_evaluation *const *)j->results;
    wfre_report_options options = {
        .title = cli_text(j->call, "title", NULL),
        .log = cli_text(j->call, "log", NULL),
        .repeats = cli_has(j->call, "repeats"),
    };
    wfre_report_format format = cli_has(j->call, "json")  ? WFRE_REPORT_JSON
                                : cli_has(j->call, "csv") ? WFRE_REPORT_CSV
                                                          : WFRE_REPORT_TABLE;
    cli_progress_end();
    char *text = NULL;
    wfre_status status = wfre_report_print(results, j->count, &options, format, &text, error);
    if (status == WFRE_OK)
        fputs(text, stdout);
    wfre_string_free(text);
    const char *folder = cli_text(j->call, "report", NULL);
    if (status == WFRE_OK && folder) {
        status = wfre_report_write(results, j->count, &options, folder, error);
        if (status == WFRE_OK)
            cli_note("%s/report.html written", folder);
    }
    return status;
}

/* How many evaluations there will be, and how often they read standard input: each reads the
 * queries anew. */
static size_t count_evaluations(const job *j, size_t *standard)
{
    size_t models = (size_t)(cli_argument_count(j->call) - 2), scored = 0;
    size_t count = models * (all_unions(j->call) ? UNION_COUNT : 1);
    const char *scores;
    for (int k = 0; (scores = cli_repeated(j->call, "scores", k)); k++) {
        scored += strcmp(scores, "-") == 0;
        count++;
    }
    *standard = scored + (strcmp(j->queries, "-") == 0 ? count : 0);
    return count;
}

/* ---- link prediction: a model, and no queries --------------------------------------------- */

static wfre_status rank_links(const cli_call *call, wfre_split split, wfre_error *error)
{
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    wfre_pool *pool = NULL;
    wfre_links *links = NULL;
    char *text = NULL;
    wfre_links_options options;
    wfre_links_options_default(&options);
    options.split = split;
    options.known =
        strcmp(cli_text(call, "known", "train"), "valid") == 0 ? WFRE_VALID : WFRE_TRAIN;
    wfre_status status = wfre_graph_open(cli_argument(call, 0), &graph, error);
    if (status == WFRE_OK)
        status = wfre_model_open(cli_argument(call, 1), &model, error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, error);
    wfre_model_settings settings;
    if (status == WFRE_OK) {
        settings = *wfre_model_get_settings(model);
        const char *by = cli_text(call, "by", NULL);
        if (by)
            status = wfre_model_set(&settings, "answering", by, error);
        settings.way.exhaustive = cli_has(call, "exhaustive");
        options.way = &settings.way;
    }
    if (status == WFRE_OK)
        status = wfre_evaluate_links(graph, model, &options, pool, cli_monitor(), &links, error);
    if (status == WFRE_OK)
        status = wfre_links_print(links,
                                  cli_has(call, "json")  ? WFRE_REPORT_JSON
                                  : cli_has(call, "csv") ? WFRE_REPORT_CSV
                                                         : WFRE_REPORT_TABLE,
                                  &text, error);
    cli_progress_end();
    if (status == WFRE_OK)
        printf("%s", text);
    if (status == WFRE_OK && !cli_has(call, "json") && !cli_has(call, "csv"))
        cli_note("link prediction on the %s split, %s, in %.1f s",
                 split == WFRE_VALID ? "valid" : "test", wfre_links_get_info(links)->method,
                 wfre_links_get_info(links)->seconds);
    wfre_string_free(text);
    wfre_links_free(links);
    wfre_pool_free(pool);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return status;
}

/* ---- what probabilities are worth --------------------------------------------------------- */

static void print_reliability(const cli_call *call, const char *name, const wfre_reliability *r)
{
    bool json = cli_has(call, "json");
    double ratio = r->found > 0 ? r->expected / (double)r->found : 0;
    cli_print(json ? "\"%s\":{\"questions\":%llu,\"expected\":%.2f,\"found\":%llu,\"ratio\":%.4f,"
                     "\"error\":%.6f,\"low\":%.6f,\"high\":%.6f,\"bins\":["
                   : "%s: %llu questions, %.1f answers expected, %llu found (%.2f), error %.4f "
                     "(%.4f to %.4f)\n",
              name, (unsigned long long)r->queries, r->expected, (unsigned long long)r->found,
              ratio, r->error, r->low, r->high);
    const char *comma = "";
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        if (r->bins[b].count > 0) {
            cli_print(json ? "%s{\"predicted\":%.4f,\"observed\":%.4f,\"count\":%llu}"
                           : "%s    %.2f -> %.2f of %llu\n",
                      comma, r->bins[b].predicted, r->bins[b].observed,
                      (unsigned long long)r->bins[b].count);
            comma = json ? "," : "";
        }
    printf("%s", json ? "]}" : "");
}

/* Asks what people ask, and says how many of the answers were right. */
static int check_probabilities(const cli_call *call, wfre_split split)
{
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    wfre_pool *pool = NULL;
    wfre_reliability any, missing;
    wfre_reliability_options options;
    wfre_error error;
    wfre_status status = wfre_graph_open(cli_argument(call, 0), &graph, &error);
    if (status == WFRE_OK)
        status = wfre_model_open(cli_argument(call, 1), &model, &error);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error);
    if (status == WFRE_OK) {
        wfre_reliability_options_default(graph, &options);
        options.split = cli_has(call, "split") ? split : options.split;
        options.seed = (uint64_t)cli_integer(call, "seed", (long long)options.seed);
        options.edges = (size_t)cli_integer(call, "reliability", (long long)options.edges);
        options.shapes = (size_t)cli_integer(call, "count", (long long)options.shapes);
        status = wfre_measure_reliability(graph, model, &options, pool, cli_monitor(), &any,
                                          &missing, &error);
    }
    cli_progress_end();
    if (status == WFRE_OK) {
        printf("%s", cli_has(call, "json") ? "{" : "");
        print_reliability(call, cli_has(call, "json") ? "any" : "any question", &any);
        printf("%s", cli_has(call, "json") ? "," : "");
        print_reliability(call, cli_has(call, "json") ? "missing" : "those that lack something",
                          &missing);
        printf("%s", cli_has(call, "json") ? "}\n" : "");
    }
    wfre_pool_free(pool);
    wfre_model_free(model);
    wfre_graph_close(graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

/* What is about query sets only. */
static int predict_links(const cli_call *call, wfre_split split)
{
    static const char *const OTHERS[] = {"union", "sample", "scores", "report",
                                         "title", "log",    "strata"};
    wfre_error error;
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (cli_has(call, OTHERS[i]))
            return cli_usage(call, "--%s is about a query set; name one", OTHERS[i]);
    return rank_links(call, split, &error) == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

static int run(const cli_call *call)
{
    job j = {.call = call, .queries = cli_argument(call, cli_argument_count(call) - 1)};
    size_t standard, wanted = count_evaluations(&j, &standard);
    int code = cli_split(call, WFRE_VALID, &j.split);
    if (code != EXIT_DONE)
        return code;
    if (j.split == WFRE_TRAIN)
        return cli_usage(call, "--split is valid or test; train has no hard answers");
    if (!is_treatment(cli_text(call, "union", "all")))
        return cli_usage(call, "--union is dnf, demorgan, tconorm or all");
    const char *by = cli_text(call, "by", "embedding");
    if (strcmp(by, "embedding") != 0 && strcmp(by, "edges") != 0)
        return cli_usage(call, "--by is embedding or edges, not %s", by);
    if (strcmp(by, "edges") == 0 && cli_has(call, "union"))
        return cli_usage(call, "--union is about embedding; leave out --by edges");
    const char *known = cli_text(call, "known", "train");
    if (strcmp(known, "train") != 0 && strcmp(known, "valid") != 0)
        return cli_usage(call, "--known is train or valid, not %s", known);
    if (cli_has(call, "reliability") && !(cli_argument_count(call) == 2 && cli_is_model(j.queries)))
        return cli_usage(call, "--reliability takes a graph and a model alone");
    if (cli_has(call, "reliability"))
        return check_probabilities(call, j.split);
    if (cli_argument_count(call) == 2 && cli_is_model(j.queries))
        return predict_links(call, j.split);
    if (wanted == 0)
        return cli_usage(call, "say what to evaluate: a model, or --scores FILE");
    if (cli_has(call, "sample") && strcmp(j.queries, "-") == 0)
        return cli_usage(call, "--sample makes the query set a file: say its name instead of -");
    if (standard > 1)
        return cli_usage(call,
                         "standard input can be read only once, and would be read %zu times; "
                         "put it into a file",
                         standard);
    wfre_eval_options_default(&j.options);
    j.options.bootstrap = (uint32_t)cli_integer(call, "bootstrap", j.options.bootstrap);
    j.options.known = strcmp(known, "valid") == 0 ? WFRE_VALID : WFRE_TRAIN;
    j.options.seed = (uint64_t)cli_integer(call, "seed", 1);
    j.options.strata = cli_has(call, "strata");
    j.options.split = j.split;
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    j.results = calloc(wanted, sizeof *j.results);
    wfre_status status = j.results ? evaluate_all(&j, &error) : WFRE_ERR_MEMORY;
    if (status == WFRE_OK)
        status = report_all(&j, &error);
    for (size_t i = 0; i < j.count; i++)
        wfre_evaluation_free(j.results[i]);
    free(j.results);
    wfre_pool_free(j.pool);
    wfre_graph_close(j.graph);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

static const cli_option OPTIONS[] = {
    {"exhaustive", 0, CLI_FLAG, NULL,
     "score every entity; else what a filter cannot decide or, by edges, the likeliest", 0, 0},
    {"by", 0, CLI_TEXT, "WAY",
     "answer by embedding, or by edges that are known or predicted (default: as the model says)", 0,
     0},
    {"known", 0, CLI_TEXT, "S",
     "by edges: those of train are known (default), or those of train and valid, for a test set", 0,
     0},
    {"union", 0, CLI_TEXT, "HOW",
     "by embedding: dnf, demorgan, tconorm, or all (default: as the model says)", 0, 0},
    {"reliability", 0, CLI_INTEGER, "N",
     "what probabilities are worth: N pairs of an entity and its relation are asked, and --count "
     "questions of each other shape (default 50), with the split's facts (default test) held out",
     1, 1e9},
    {"sample", 0, CLI_TEXT, "TYPES", "if Q.tsv is not there, make it: betae, efo1, or types", 0, 0},
    {"count", 0, CLI_INTEGER, "N", "queries of each type to sample (default 20)", 1, 1e9},
    {"split", 0, CLI_TEXT, "S",
     "of the queries or of the triples to predict: valid or test (default valid)", 0, 0},
    {"strata", 0, CLI_FLAG, NULL, "also by how many edges of an answer have to be predicted", 0, 0},
    {"scores", 0, CLI_REPEATED, "FILE", "evaluate scores from a file; may be repeated", 0, 0},
    {"report", 0, CLI_TEXT, "DIR", "write report.html, results.csv, results.json and figures there",
     0, 0},
    {"title", 0, CLI_TEXT, "TEXT", "title of the report", 0, 0},
    {"log", 0, CLI_TEXT, "FILE", "training log whose learning curve the report shows", 0, 0},
    {"repeats", 0, CLI_FLAG, NULL, "runs differ in the seed alone: add mean and deviation", 0, 0},
    {"bootstrap", 0, CLI_INTEGER, "N", "resamplings for the intervals (default 1000)", 1, 1e6},
    CLI_OPTION_SEED,
    {"csv", 0, CLI_FLAG, NULL, "print CSV", 0, 0},
    CLI_OPTION_JSON,
    CLI_OPTION_THREADS,
};

const cli_command command_eval = {
    .name = "eval",
    .arguments = "G.kg [M.safetensors...] [Q.tsv]",
    .summary = "rank the hard answers of a query set, or predict a split's triples",
    .details =
        "Without a query set, every triple of the split is predicted from both ends, as the field\n"
        "measures link prediction: the rank of its tail among all entities that are not known as\n"
        "one, and of its head likewise; averages are over triples, by direction and relation.\n\n"
        "Every hard answer is ranked against all entities that are not answers; ties count half.\n"
        "MRR and Hits are averaged over a query's hard answers, then over a type's queries, then\n"
        "over the types of a group: A_P without negation, A_N with, A_p paths, A_l the other "
        "types\n"
        "without negation.\n\n"
        "Some models answer by edges: what the graph knows is certain, and only what it lacks is\n"
        "predicted; but for the likeliest, by estimates, so that ranks may differ a little from\n"
        "those of --exhaustive. Others embed a question as a whole; then only those entities are "
        "scored that\n"
        "a cheap estimate cannot tell from a hard answer, and the report says how many. Ctrl-C\n"
        "keeps what is done beside the model, and the same command goes on from there.\n\n"
        "A file of scores has lines 'query <TAB> entity <TAB> score', higher is better, or\n"
        "'query <TAB> entity', best first. Queries are counted from 0 as they stand in Q.tsv,\n"
        "entities are ids; the lines of a query stand together. Entities not listed tie for the\n"
        "last place.\n\n"
        "With --strata the answers of a type are told apart by how many of their edges the graph\n"
        "before the split's lacks, in the way to them that lacks fewest: an answer to 3p with one\n"
        "missing edge is no harder than one to 1p. Edges under a negation are not counted.\n\n"
        "Examples:\n"
        "  wfre eval G.kg M.safetensors --split test\n"
        "  wfre eval G.kg M.safetensors valid.tsv --report out --log M.log.jsonl\n"
        "  wfre eval G.kg M.safetensors valid.tsv --by embedding\n"
        "  wfre eval G.kg M.safetensors efo1.tsv --sample efo1 --report all-types\n"
        "  wfre eval G.kg seed1.safetensors seed2.safetensors valid.tsv --repeats\n"
        "  wfre eval G.kg valid.tsv --scores theirs.tsv\n"
        "  wfre eval G.kg valid.tsv --scores a.tsv --scores b.tsv --report comparison\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = -1,
    .run = run,
};
