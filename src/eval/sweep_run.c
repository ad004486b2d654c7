/* Running a sweep: trains and evaluates a model for each value of some settings.
 *
 * Everything is kept in one folder under the name of the run: NAME.safetensors once it is trained
 * (NAME.new.* while it is), NAME.standings once it is evaluated. What is there is not done again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/settings.h"
#include "wfre/eval.h"

enum { SETTINGS_LIMIT = 1 << 20, CHECKPOINT_SECONDS = 60 };

typedef struct run_result {
    char *name;
    wfre_evaluation *evaluation;
} run_result;

struct wfre_sweep {
    const wfre_graph *graph;
    const wfre_queryset *queries;
    const wfre_sweep_options *options;
    wfre_pool *pool;
    const wfre_monitor *monitor;
    wfre_arena arena; /* panels, points and names */
    wfre_sweep_panel *panels;
    size_t panel_count;
    run_result *runs; /* one for each value and seed at most */
    size_t run_count;
};

WFRE_PRINTF(2, 3) static void say(const wfre_sweep *s, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    (void)wfre_format_list(line, sizeof line, format, args);
    va_end(args);
    if (s->options->say)
        s->options->say(s->options->context, line);
}

/* ---- one folder, one sweep ---------------------------------------------------------------- */

/* All settings but the seed, a line each: what tells one run from another. */
static void describe(const wfre_train_settings *settings, wfre_text *text)
{
    for (size_t i = 0; i < wfre_train_setting_count(); i++) {
        wfre_setting_text row = wfre_train_setting(settings, i);
        if (strcmp(row.name, "seed") != 0)
            wfre_text_format(text, "%s=%s\n", row.name, row.value);
    }
}

/* Which weights all runs start with, as a line: known by themselves, since another model may come
 * to lie at the same path. Nothing if they start at random. */
static wfre_status describe_start(const wfre_sweep *s, wfre_text *text, wfre_error *error)
{
    wfre_model *model = NULL;
    if (!s->options->from)
        return WFRE_OK;
    CHECK(wfre_model_open(s->options->from, &model, error));
    wfre_text_format(text, "from=%016" PRIx64 "\n", wfre_model_weights_hash(model));
    wfre_model_free(model);
    return WFRE_OK;
}

/* Refuses a folder whose sweep was begun with other settings. */
static wfre_status claim_folder(const wfre_sweep *s, wfre_error *error)
{
    const char *folder = s->options->folder;
    wfre_text mine = {0};
    char *theirs = NULL;
    size_t length;
    wfre_status status;
    char *path = wfre_path_join(folder, "settings.txt");
    if (!path)
        TRY(wfre_fail_memory(error, "starting a sweep"));
    TRY(describe_start(s, &mine, error));
    describe(&s->options->settings, &mine);
    TRY(wfre_text_status(&mine, "starting a sweep", error));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        TRY(wfre_fail_errno(error, folder, "create the folder"));
    if (!wfre_file_exists(path)) {
        TRY(wfre_write_file(path, mine.data, mine.length, error));
        goto cleanup;
    }
    TRY(wfre_read_all(path, SETTINGS_LIMIT, &theirs, &length, error));
    if (strcmp(mine.data, theirs) != 0)
        status = wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                           "%s: holds a sweep with other settings or from another model "
                           "(settings.txt); use another folder",
                           folder);
cleanup:
    wfre_free(path);
    wfre_free(theirs);
    wfre_text_free(&mine);
    return status;
}

/* ---- one run ------------------------------------------------------------------------------ */

/* FOLDER/NAME + ending, in the arena; NULL when out of memory. */
static char *file_of(wfre_sweep *s, const char *name, const char *ending)
{
    size_t size = strlen(s->options->folder) + strlen(name) + strlen(ending) + 2;
    char *path = wfre_arena_alloc(&s->arena, size, 1);
    if (path)
        (void)snprintf(path, size, "%s/%s%s", s->options->folder, name, ending);
    return path;
}

/* NAME.safetensors is there only when all is done. */
static wfre_status train_run(wfre_sweep *s, const char *name, const wfre_train_settings *settings,
                             wfre_error *error)
{
    const char *model = file_of(s, name, ".safetensors");
    if (!model)
        return wfre_fail_memory(error, "naming a run");
    if (wfre_file_exists(model))
        return wfre_train_tidy(model, error);
    say(s, "training %s", name);
    wfre_train_run run = {
        .model = model,
        .from = s->options->from,
        .resume = true,
        .checkpoint_seconds = CHECKPOINT_SECONDS,
        .calibrate = settings->lift || settings->edges ? s->options->calibrate : 0,
    };
    wfre_train_summary summary;
    return wfre_train(s->graph, settings, &run, s->pool, s->monitor, &summary, error);
}

static wfre_status evaluate_run(wfre_sweep *s, const char *name, wfre_evaluation **evaluation,
                                wfre_error *error)
{
    const char *path = file_of(s, name, ".safetensors");
    wfre_model *model = NULL;
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.label = name;
    options.partial = file_of(s, name, ".standings");
    options.keep = true;
    if (!path || !options.partial)
        return wfre_fail_memory(error, "naming a run");
    CHECK(wfre_model_open(path, &model, error));
    wfre_status status = wfre_evaluate_model_with(s->graph, model, s->queries, &options, s->pool,
                                                  s->monitor, evaluation, error);
    wfre_model_free(model);
    return status;
}

/* Trains and evaluates under this name, unless another panel has done so. */
static wfre_status do_run(wfre_sweep *s, const char *name, const wfre_train_settings *settings,
                          const wfre_evaluation **result, wfre_error *error)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (strcmp(s->runs[i].name, name) == 0) {
            *result = s->runs[i].evaluation;
            return WFRE_OK;
        }
    run_result *run = &s->runs[s->run_count];
    run->name = wfre_arena_text(&s->arena, name, strlen(name));
    if (!run->name)
        return wfre_fail_memory(error, "naming a run");
    CHECK(train_run(s, name, settings, error));
    CHECK(evaluate_run(s, name, &run->evaluation, error));
    s->run_count++;
    *result = run->evaluation;
    return WFRE_OK;
}

/* ---- all runs ----------------------------------------------------------------------------- */

/* One value with all seeds. Where the value is the one that the others have anyway, the run is
 * called "base" and serves every panel. */
static wfre_status do_point(wfre_sweep *s, const char *setting, const char *value,
                            wfre_sweep_point *point, wfre_error *error)
{
    wfre_train_settings settings = s->options->settings;
    const wfre_evaluation **runs = wfre_arena_alloc(&s->arena, s->options->seeds, sizeof *runs);
    wfre_text mine = {0}, base = {0}, name = {0};
    wfre_status status = WFRE_OK;
    if (!runs)
        TRY(wfre_fail_memory(error, "running a sweep"));
    if (setting)
        TRY(wfre_train_set(&settings, setting, value, error));
    describe(&settings, &mine);
    describe(&s->options->settings, &base);
    TRY(wfre_text_status(&mine, "running a sweep", error));
    TRY(wfre_text_status(&base, "running a sweep", error));
    bool same = strcmp(mine.data, base.data) == 0;
    for (unsigned k = 0; k < s->options->seeds; k++) {
        settings.seed = s->options->settings.seed + k;
        wfre_text_clear(&name);
        if (same)
            wfre_text_add(&name, "base");
        else
            wfre_text_format(&name, "%s=%s", setting, value);
        wfre_text_format(&name, "-seed%" PRIu64, settings.seed);
        TRY(wfre_text_status(&name, "naming a run", error));
        TRY(do_run(s, name.data, &settings, &runs[k], error));
    }
    *point = (wfre_sweep_point){value, runs, s->options->seeds};
cleanup:
    wfre_text_free(&mine);
    wfre_text_free(&base);
    wfre_text_free(&name);
    return status;
}

/* Memory for the panels, and the texts of their values; without any there is one with one value. */
static wfre_status make_panels(wfre_sweep *s, wfre_error *error)
{
    static const char *const base_value[] = {"base"};
    static const wfre_sweep_axis base_axis = {NULL, base_value, 1};
    const wfre_sweep_axis *axes = s->options->axis_count ? s->options->axes : &base_axis;
    size_t runs = 0, count = s->options->axis_count ? s->options->axis_count : 1;
    s->panels = wfre_arena_alloc(&s->arena, count, sizeof *s->panels);
    for (size_t p = 0; s->panels && p < count; p++) {
        const char *name = axes[p].setting ? axes[p].setting : "settings";
        wfre_sweep_point *points = wfre_arena_alloc(&s->arena, axes[p].count, sizeof *points);
        char *kept = wfre_arena_text(&s->arena, name, strlen(name));
        for (size_t i = 0; points && i < axes[p].count; i++) {
            const char *value = axes[p].values[i];
            points[i] =
                (wfre_sweep_point){wfre_arena_text(&s->arena, value, strlen(value)), NULL, 0};
            if (!points[i].value)
                points = NULL;
        }
        if (!points || !kept)
            return wfre_fail_memory(error, "starting a sweep");
        s->panels[p] = (wfre_sweep_panel){kept, points, axes[p].count};
        runs += axes[p].count * s->options->seeds;
    }
    s->panel_count = count;
    s->runs = wfre_alloc_zero(runs, sizeof *s->runs);
    return s->panels && s->runs ? WFRE_OK : wfre_fail_memory(error, "starting a sweep");
}

/* Refuses settings that runs do not take from the panel: all its values would be the same run. */
static wfre_status check_setting(const wfre_sweep_options *options, const char *setting,
                                 wfre_error *error)
{
    unsigned traits = wfre_train_setting_traits(setting);
    const wfre_train_settings *base = &options->settings;
    const char *wrong = NULL;
    if (strcmp(setting, "seed") == 0)
        wrong = "cannot be varied; use `seeds`, and `seed` for the first";
    else if ((traits & WFRE_SETTING_OF_LIFT) && base->lift)
        wrong = "is fitted; `lift=no` leaves it as set";
    else if ((traits & WFRE_SETTING_OF_EDGES) && base->edges)
        wrong = "is fitted; `answering=edges` leaves it as set";
    else if ((traits & WFRE_SETTING_OF_EMBEDDING) && base->edges)
        wrong = "makes no difference by edges; add `answering=embedding`";
    else if ((traits & WFRE_SETTING_SIZE) && options->from)
        wrong = "cannot be varied, since runs have the sizes of the model of `from`";
    return wrong ? wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s: %s", setting, wrong)
                 : WFRE_OK;
}

/* Tells a misspelt setting or value, or one that does not go with the others, before hours are
 * spent on training. */
static wfre_status check_values(const wfre_sweep_options *options, wfre_error *error)
{
    if (options->seeds < 1)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "`seeds` must be at least 1");
    for (size_t p = 0; p < options->axis_count; p++) {
        const wfre_sweep_axis *axis = &options->axes[p];
        if (axis->count == 0)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "%s: no value to try",
                             axis->setting);
        CHECK(check_setting(options, axis->setting, error));
        for (size_t i = 0; i < axis->count; i++) {
            wfre_train_settings settings = options->settings;
            CHECK(wfre_train_set(&settings, axis->setting, axis->values[i], error));
            CHECK(wfre_train_settings_check(&settings, error));
        }
    }
    return WFRE_OK;
}

/* The local guide is one closed form whatever the score: says so, or a sweep over scores would be
 * taken for more than it is. */
static void note_guide(const wfre_sweep *s)
{
    for (size_t p = 0; p < s->options->axis_count; p++) {
        const char *setting = s->options->axes[p].setting;
        if (s->options->settings.guide == WFRE_GUIDE_LOCAL &&
            (wfre_train_setting_traits(setting) & WFRE_SETTING_OF_SCORE))
            say(s,
                "%s changes the ranking alone, since guide=local trains without it; `guide=staged` "
                "trains with it too",
                setting);
    }
}

wfre_status wfre_sweep_run(const wfre_graph *graph, const wfre_queryset *queries,
                           const wfre_sweep_options *options, wfre_pool *pool,
                           const wfre_monitor *monitor, wfre_sweep **sweep, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(queries);
    GIVEN(options);
    wfre_status status = WFRE_OK;
    wfre_sweep *s = wfre_alloc_zero(1, sizeof *s);
    if (!s)
        return wfre_fail_memory(error, "starting a sweep");
    s->graph = graph;
    s->queries = queries;
    s->options = options;
    s->pool = pool;
    s->monitor = monitor;
    TRY(check_values(options, error));
    TRY(make_panels(s, error));
    TRY(claim_folder(s, error));
    note_guide(s);
    for (size_t p = 0; p < s->panel_count; p++)
        for (size_t i = 0; i < s->panels[p].count; i++) {
            wfre_sweep_point *point = (wfre_sweep_point *)&s->panels[p].points[i];
            const char *setting = options->axis_count ? s->panels[p].name : NULL;
            TRY(do_point(s, setting, point->value, point, error));
        }
    s->options = NULL;
    *sweep = s;
    s = NULL;
cleanup:
    wfre_sweep_free(s);
    return status;
}

const wfre_sweep_panel *wfre_sweep_panels(const wfre_sweep *sweep, size_t *count)
{
    *count = sweep->panel_count;
    return sweep->panels;
}

void wfre_sweep_free(wfre_sweep *sweep)
{
    if (!sweep)
        return;
    for (size_t i = 0; i < sweep->run_count; i++)
        wfre_evaluation_free(sweep->runs[i].evaluation);
    wfre_free(sweep->runs);
    wfre_arena_free(&sweep->arena);
    wfre_free(sweep);
}
