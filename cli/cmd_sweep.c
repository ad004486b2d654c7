/* wfre sweep: trains and evaluates a model for each value of some settings.
 *
 * Everything is kept in one folder under the name of the run: NAME.safetensors once it is trained,
 * NAME.standings once it is evaluated. What is there is not done again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "train_settings.h"

enum { MOST_PANELS = 8, MOST_VALUES = 32, MOST_SEEDS = 32, MOST_RUNS = 1024 };

typedef struct run_result {
    char name[128];
    wfre_evaluation *evaluation;
} run_result;

typedef struct panel {
    char text[512]; /* "radius\0" "1\0" "2\0" ... */
    const char *name;
    const char *setting; /* the same; NULL if nothing but the seed varies */
    const char *values[MOST_VALUES];
    size_t count;
    const wfre_evaluation *runs[MOST_VALUES][MOST_SEEDS];
    wfre_sweep_point points[MOST_VALUES];
} panel;

typedef struct sweep {
    const cli_call *call;
    wfre_graph *graph;
    wfre_pool *pool;
    const char *folder, *queries;
    wfre_train_settings base;
    unsigned seeds;
    panel panels[MOST_PANELS];
    size_t panel_count;
    run_result runs[MOST_RUNS];
    size_t run_count;
} sweep;

static wfre_status fail(wfre_error *error, wfre_status code, const char *what, const char *why)
{
    error->code = code;
    (void)snprintf(error->message, sizeof error->message, "%.480s: %.480s", what, why);
    return code;
}

/* ---- what to vary ------------------------------------------------------------------------- */

/* One setting of a panel; NULL as the panel's setting leaves everything as it is. */
static wfre_status apply(const panel *p, size_t index, wfre_train_settings *settings,
                         wfre_error *error)
{
    return p->setting ? wfre_train_set(settings, p->setting, p->values[index], error) : WFRE_OK;
}

/* Takes NAME=V1,V2,... apart. */
static wfre_status parse_panel(const char *text, panel *p, wfre_error *error)
{
    (void)snprintf(p->text, sizeof p->text, "%s", text);
    char *at = strchr(p->text, '=');
    if (!at || strlen(text) >= sizeof p->text)
        return fail(error, WFRE_ERR_ARGUMENT, text, "expected --vary NAME=VALUE,VALUE,...");
    p->name = p->setting = p->text;
    while (at && p->count < MOST_VALUES) {
        *at++ = '\0';
        p->values[p->count++] = at;
        at = strchr(at, ',');
    }
    return at ? fail(error, WFRE_ERR_ARGUMENT, text, "too many values") : WFRE_OK;
}

/* All settings but the seed, a line each: what tells one run from another. */
static void describe(const wfre_train_settings *settings, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < wfre_train_setting_count() && used < size; i++) {
        wfre_setting_text row = wfre_train_setting(settings, i);
        if (strcmp(row.name, "seed") != 0)
            used += (size_t)snprintf(text + used, size - used, "%s=%s\n", row.name, row.value);
    }
}

/* Which weights all runs start with, as a line: known by themselves, since another model may come
 * to lie at the same path. Empty without --from. */
static wfre_status describe_start(const sweep *s, char *text, size_t size, wfre_error *error)
{
    const char *from = cli_text(s->call, "from", NULL);
    wfre_model *model = NULL;
    text[0] = '\0';
    if (!from)
        return WFRE_OK;
    wfre_status status = wfre_model_open(from, &model, error);
    if (status == WFRE_OK)
        (void)snprintf(text, size, "from=%016" PRIx64 "\n", wfre_model_weights_hash(model));
    wfre_model_free(model);
    return status;
}

/* A folder holds one sweep: refuses one that was begun with other settings. */
static wfre_status claim_folder(const sweep *s, wfre_error *error)
{
    char path[4096], mine[8192], theirs[8192];
    wfre_status status = describe_start(s, mine, sizeof mine, error);
    if (status != WFRE_OK)
        return status;
    size_t used = strlen(mine);
    describe(&s->base, mine + used, sizeof mine - used);
    (void)snprintf(path, sizeof path, "%s/settings.txt", s->folder);
    if (mkdir(s->folder, 0777) != 0 && errno != EEXIST)
        return fail(error, WFRE_ERR_IO, s->folder, strerror(errno));
    FILE *file = fopen(path, "r");
    if (file) {
        theirs[fread(theirs, 1, sizeof theirs - 1, file)] = '\0';
        fclose(file);
        return strcmp(mine, theirs) == 0
                   ? WFRE_OK
                   : fail(error, WFRE_ERR_MISMATCH, s->folder,
                          "holds a sweep with other settings or from another model "
                          "(settings.txt); use another folder");
    }
    return wfre_write_file(path, mine, strlen(mine), error);
}

/* ---- one run ------------------------------------------------------------------------------ */

static void file_of(const sweep *s, const char *name, const char *ending, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s%s", s->folder, name, ending);
}

/* NAME.safetensors is there only when all is done. */
static wfre_status train_run(const sweep *s, const char *name, const wfre_train_settings *settings,
                             wfre_error *error)
{
    char model[4096], checkpoint[4096];
    file_of(s, name, ".safetensors", model, sizeof model);
    file_of(s, name, ".checkpoint", checkpoint, sizeof checkpoint);
    if (access(model, F_OK) == 0)
        return wfre_train_tidy(model, error);
    cli_note("training %s", name);
    wfre_train_run options = {
        .model = model,
        .from = cli_text(s->call, "from", NULL),
        .resume = access(checkpoint, F_OK) == 0,
        .checkpoint_seconds = 60,
        .validate = 0,
        .calibrate = settings->lift || settings->edges ? CALIBRATION_QUERIES : 0,
    };
    wfre_train_summary summary;
    return wfre_train(s->graph, settings, &options, s->pool, cli_monitor(), &summary, error);
}

static wfre_status evaluate_run(const sweep *s, const char *name, wfre_evaluation **evaluation,
                                wfre_error *error)
{
    char path[4096], standings[4096];
    file_of(s, name, ".safetensors", path, sizeof path);
    file_of(s, name, ".standings", standings, sizeof standings);
    wfre_model *model = NULL;
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.label = name;
    options.partial = standings;
    options.keep = true;
    wfre_status status = wfre_model_open(path, &model, error);
    if (status == WFRE_OK)
        status = wfre_evaluate_model(s->graph, model, s->queries, &options, s->pool, cli_monitor(),
                                     evaluation, error);
    wfre_model_free(model);
    return status;
}

/* Trains and evaluates under this name, unless another panel has done so. */
static wfre_status do_run(sweep *s, const char *name, const wfre_train_settings *settings,
                          const wfre_evaluation **result, wfre_error *error)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (strcmp(s->runs[i].name, name) == 0) {
            *result = s->runs[i].evaluation;
            return WFRE_OK;
        }
    if (s->run_count == MOST_RUNS)
        return fail(error, WFRE_ERR_ARGUMENT, name, "too many runs");
    run_result *run = &s->runs[s->run_count];
    (void)snprintf(run->name, sizeof run->name, "%s", name);
    wfre_status status = train_run(s, name, settings, error);
    if (status == WFRE_OK)
        status = evaluate_run(s, name, &run->evaluation, error);
    if (status != WFRE_OK)
        return status;
    s->run_count++;
    *result = run->evaluation;
    return WFRE_OK;
}

/* ---- all runs ----------------------------------------------------------------------------- */

/* One value with all seeds. Where the value is the one that the others have anyway, the run is
 * called "base" and serves every panel. */
static wfre_status do_point(sweep *s, panel *p, size_t index, wfre_error *error)
{
    char mine[8192], base[8192];
    wfre_train_settings settings = s->base;
    wfre_status status = apply(p, index, &settings, error);
    describe(&settings, mine, sizeof mine);
    describe(&s->base, base, sizeof base);
    bool same = strcmp(mine, base) == 0;
    for (unsigned k = 0; status == WFRE_OK && k < s->seeds; k++) {
        char name[128];
        settings.seed = s->base.seed + k;
        (void)snprintf(name, sizeof name, "%s%s%s-seed%llu", same ? "base" : p->name,
                       same ? "" : "=", same ? "" : p->values[index],
                       (unsigned long long)settings.seed);
        status = do_run(s, name, &settings, &p->runs[index][k], error);
    }
    p->points[index] = (wfre_sweep_point){p->values[index], p->runs[index], s->seeds};
    return status;
}

/* Refuses settings that runs do not take from the panel: all its values would be the same run. */
static wfre_status check_setting(const sweep *s, const char *setting, wfre_error *error)
{
    static const char *const SIZES[] = {"dim", "bases", "layers", "members"};
    if (strcmp(setting, "seed") == 0)
        return fail(error, WFRE_ERR_ARGUMENT, "--vary seed",
                    "use --seeds N, and --seed for the first");
    if (strncmp(setting, "lift-", 5) == 0 && s->base.lift)
        return fail(error, WFRE_ERR_ARGUMENT, setting, "is fitted; --set lift=no leaves it as set");
    if (strncmp(setting, "edge-", 5) == 0 && s->base.edges)
        return fail(error, WFRE_ERR_ARGUMENT, setting,
                    "is fitted; --set answering=edges leaves it as set");
    if (strcmp(setting, "union") == 0 && s->base.edges)
        return fail(error, WFRE_ERR_ARGUMENT, setting,
                    "makes no difference by edges; add --set answering=embedding");
    for (size_t i = 0; cli_has(s->call, "from") && i < sizeof SIZES / sizeof *SIZES; i++)
        if (strcmp(setting, SIZES[i]) == 0)
            return fail(error, WFRE_ERR_ARGUMENT, setting,
                        "cannot be varied, since runs have the sizes of the model of --from");
    return WFRE_OK;
}

/* Tells a query set that cannot be read before hours are spent on training. */
static wfre_status check_queries(const sweep *s, wfre_error *error)
{
    wfre_queryset *set = NULL;
    wfre_status status = wfre_queryset_open(s->queries, s->graph, &set, error);
    if (status == WFRE_OK)
        wfre_queryset_close(set);
    return status;
}

/* Tells a misspelt setting or value, or one that does not go with the others, likewise. */
static wfre_status check_values(const sweep *s, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    for (size_t p = 0; status == WFRE_OK && p < s->panel_count; p++) {
        if (s->panels[p].setting)
            status = check_setting(s, s->panels[p].setting, error);
        for (size_t i = 0; status == WFRE_OK && i < s->panels[p].count; i++) {
            wfre_train_settings settings = s->base;
            status = apply(&s->panels[p], i, &settings, error);
            if (status == WFRE_OK)
                status = wfre_train_settings_check(&settings, error);
        }
    }
    return status;
}

/* The local guide is one closed form whatever the score: says so, or a sweep over scores would be
 * taken for more than it is. */
static void note_guide(const sweep *s)
{
    static const char *const OF_SCORE[] = {"score", "radius", "power", "iterations"};
    for (size_t p = 0; s->base.guide == WFRE_GUIDE_LOCAL && p < s->panel_count; p++)
        for (size_t k = 0; s->panels[p].setting && k < sizeof OF_SCORE / sizeof *OF_SCORE; k++)
            if (strcmp(s->panels[p].setting, OF_SCORE[k]) == 0)
                cli_note("%s changes the ranking alone, since guide=local trains without it; "
                         "--set guide=staged trains with it too",
                         OF_SCORE[k]);
}

static wfre_status do_all(sweep *s, wfre_error *error)
{
    wfre_status status = cli_load_graph(cli_argument(s->call, 0), &s->graph, error);
    if (status == WFRE_OK)
        status = train_settings(s->call, s->graph, &s->base, error);
    const char *vary;
    for (int k = 0; status == WFRE_OK && (vary = cli_repeated(s->call, "vary", k)); k++)
        status = s->panel_count < MOST_PANELS
                     ? parse_panel(vary, &s->panels[s->panel_count++], error)
                     : fail(error, WFRE_ERR_ARGUMENT, vary, "too many settings to vary");
    if (s->panel_count == 0)
        s->panels[s->panel_count++] = (panel){.name = "settings", .values = {"base"}, .count = 1};
    if (status == WFRE_OK)
        status = check_queries(s, error);
    if (status == WFRE_OK)
        status = check_values(s, error);
    if (status == WFRE_OK)
        status = claim_folder(s, error);
    if (status == WFRE_OK)
        note_guide(s);
    if (status == WFRE_OK)
        status = wfre_pool_create((unsigned)cli_integer(s->call, "threads", 0), &s->pool, error);
    for (size_t p = 0; p < s->panel_count; p++)
        for (size_t i = 0; status == WFRE_OK && i < s->panels[p].count; i++)
            status = do_point(s, &s->panels[p], i, error);
    return status;
}

static wfre_status report(const sweep *s, wfre_error *error)
{
    wfre_sweep_panel panels[MOST_PANELS];
    for (size_t p = 0; p < s->panel_count; p++)
        panels[p] = (wfre_sweep_panel){s->panels[p].name, s->panels[p].points, s->panels[p].count};
    wfre_report_format format = cli_has(s->call, "json")  ? WFRE_REPORT_JSON
                                : cli_has(s->call, "csv") ? WFRE_REPORT_CSV
                                                          : WFRE_REPORT_TABLE;
    cli_progress_end();
    wfre_status status = wfre_sweep_print(panels, s->panel_count, format, stdout, error);
    if (status == WFRE_OK)
        status = wfre_sweep_write(panels, s->panel_count, cli_text(s->call, "title", NULL),
                                  s->folder, error);
    if (status == WFRE_OK)
        cli_note("%s/sweep.html written", s->folder);
    return status;
}

static int run(const cli_call *call)
{
    if (!cli_has(call, "vary") && !cli_has(call, "seeds"))
        return cli_usage(call, "say what to vary, such as --vary radius=1,2,3,4 or --seeds 4");
    if (!cli_has(call, "out"))
        return cli_usage(call, "say where to keep the runs: -o DIR");
    if (strcmp(cli_argument(call, 1), "-") == 0)
        return cli_usage(call, "every run reads the queries, and standard input can be read only "
                               "once; put it into a file");
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    sweep *s = calloc(1, sizeof *s);
    if (!s)
        return cli_fail(&error);
    s->call = call;
    s->folder = cli_text(call, "out", NULL);
    s->queries = cli_argument(call, 1);
    s->seeds = (unsigned)cli_integer(call, "seeds", 1);
    wfre_status status = do_all(s, &error);
    if (status == WFRE_OK)
        status = report(s, &error);
    for (size_t i = 0; i < s->run_count; i++)
        wfre_evaluation_free(s->runs[i].evaluation);
    wfre_pool_free(s->pool);
    wfre_graph_close(s->graph);
    free(s);
    if (status == WFRE_ERR_INTERRUPTED)
        cli_note("the same command goes on where this one stopped");
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

static const cli_option OPTIONS[] = {
    {"vary", 0, CLI_REPEATED, "NAME=V,V,..", "a setting and its values; may be repeated", 0, 0},
    {"out", 'o', CLI_TEXT, "DIR", "folder for models and reports", 0, 0},
    {"seeds", 0, CLI_INTEGER, "N", "runs of each value, with seeds from --seed on (default 1)", 1,
     MOST_SEEDS},
    {"preset", 0, CLI_TEXT, "NAME", "the settings that are not varied (see wfre train)", 0, 0},
    {"set", 0, CLI_REPEATED, "NAME=VALUE", "any other setting; may be repeated", 0, 0},
    {"from", 0, CLI_TEXT, "FILE", "start each run with the weights (and the sizes) of this model",
     0, 0},
    {"time", 0, CLI_DURATION, "TIME", "length of each training run, such as 10m", 0, 0},
    {"steps", 0, CLI_INTEGER, "N", "length of each training run in steps", 1, 1e15},
    {"title", 0, CLI_TEXT, "TEXT", "title of the page", 0, 0},
    CLI_OPTION_SEED,
    {"csv", 0, CLI_FLAG, NULL, "print CSV", 0, 0},
    CLI_OPTION_JSON,
    CLI_OPTION_THREADS,
};

const cli_command command_sweep = {
    .name = "sweep",
    .arguments = "G.kg Q.tsv -o DIR",
    .summary = "train and evaluate a model for each value of some settings",
    .details =
        "One setting is varied at a time while the others stand. Prints a table for each setting\n"
        "and writes sweep.html, sweep.csv, sweep.json and a figure NAME.svg for each setting into\n"
        "the folder. What the folder holds is not done again: the same command goes on after an\n"
        "interruption, and more values or seeds can be added later. Each run fits its lifts, and\n"
        "how it answers by edges, as wfre train does; --set lift=no --set edges=no leave that "
        "out.\n\n"
        "Examples:\n"
        "  wfre sweep G.kg valid.tsv -o local-global --vary radius=1,2,3,5 --vary block=2,5,10 \\\n"
        "      --set radius=3 --set guide=staged --time 10m\n"
        "  wfre sweep G.kg valid.tsv -o scores --vary score=wfr,hellinger,kl,l2,wasserstein \\\n"
        "      --set guide=staged --time 10m\n"
        "  wfre sweep G.kg valid.tsv -o tuned --from M.safetensors --vary radius=1,2,3 \\\n"
        "      --set guide=staged --set stage=0 --steps 1000\n"
        "  wfre sweep G.kg valid.tsv -o seeds --seeds 4 --time 10m\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
