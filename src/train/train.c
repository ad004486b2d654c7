/* A whole training run: steps, progress, checkpoints, validation, a log and a picture.
 *
 * It can be interrupted at any time, also within a step (base/watch.h). The checkpoint is then that
 * of the last whole step.
 *
 * Nothing here changes what is learned: a run that was interrupted and resumed, however often, ends
 * with the same bits (when its length is given in steps). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/watch.h"
#include "fit/edges.h"
#include "model/calibration.h"
#include "model/extend.h"
#include "model/file.h"
#include "model/safetensors.h"
#include "model/settings.h"
#include "report/chart.h"
#include "report/curve.h"
#include "train/checkpoint.h"
#include "train/effort.h"
#include "train/outputs.h"
#include "train/validation.h"

enum {
    LOG_POINTS = 200,
    MOST_SECONDS = 100000000 /* left, as shown */
};

/* Of a run limited by time, one validation may take about this share, and all of them that one;
 * none is made in the first part of it, when nothing has been learned and ranking is slowest. */
static const double SAMPLE_SHARE = 0.01, VALIDATION_SHARE = 0.1, FIRST_PART = 0.35;
/* Steps may take this part of such a run if there is something to fit behind them, and that one if
 * it is not how edges are predicted, which takes longest. Then fitting lifts, edges and
 * probabilities, and measuring, may take those shares of what is left when each begins. */
static const double STEPS_PART = 0.8, STEPS_PART_WITHOUT_EDGES = 0.92;
/* On slow machines and large graphs what is fitted needs as long as ranking so many queries without
 * preparation; steps leave that, but no more than this part. */
static const double FIT_QUERIES = 60, LEAST_PART = 0.7;
enum { FIT_TRIPLES = 7 }; /* to fit on, for each query of a type: as many as all types together */
static const double LAST_SHARE = 0.25, LIFT_SHARE = 0.1, EDGES_SHARE = 0.5,
                    CALIBRATION_SHARE = 0.75, MEASURE_SHARE = 0.9;

typedef struct training {
    const wfre_graph *graph;
    const wfre_train_run *run;
    wfre_pool *pool;
    wfre_watch watch;
    const wfre_monitor *monitor; /* the watch's */
    wfre_trainer *trainer;
    wfre_queryset *opened;        /* to be closed */
    const wfre_queryset *queries; /* for validation; NULL: sampled ones */
    wfre_validation *validation;  /* NULL without */
    wfre_outputs outputs;
    wfre_effort effort;
    double begun;        /* on wfre_clock */
    double save_seconds; /* that writing the model took */
    bool resumed;
    wfre_validated best, last;          /* validation, -1 for none yet */
    wfre_measured_row questions, links; /* of the finished model */
    double calibration;                 /* error of the probabilities, -1 without */
    wfre_reliability any, missing;
    uint64_t validated;                      /* the step of the last validation, or WFRE_NO_STEP */
    double validation_seconds, last_seconds; /* of all validations, of the last */
    double next_checkpoint;                  /* on wfre_clock */
    double next_log;                         /* in progress */
    uint32_t next_validation;                /* in tenths of it */
} training;

/* ---- log and picture ------------------------------------------------------------------------ */

/* Draws the validation MRR over the steps, or the loss if nothing is validated, as the log has it:
 * from the first step on, however often the run was resumed. */
static wfre_status draw_curve(const training *s, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text svg = {0};
    wfre_curve curve = {0};
    TRY(wfre_curve_read(&curve, s->outputs.log, error));
    bool judged = curve.mrr.count > 0;
    const wfre_track *track = judged ? &curve.mrr : &curve.loss;
    wfre_series series = {
        .mark = WFRE_MARK_LINE, .x = track->step, .y = track->value, .count = track->count};
    wfre_chart chart = {
        .title = judged ? "Validation MRR while training" : "Loss while training",
        .x = {.label = "step"},
        .y = {.label = judged ? "MRR" : "loss"},
        .series = &series,
        .count = 1,
    };
    wfre_chart_svg(&svg, &chart, 720, 360, true);
    TRY(wfre_text_status(&svg, "drawing the learning curve", error));
    TRY(wfre_write_file(s->outputs.curve, svg.data, svg.length, error));
cleanup:
    wfre_text_free(&svg);
    wfre_curve_free(&curve);
    return status;
}

/* Types of which a part of the queries is not found, with the share that is; "" if there is none.
 */
static void list_rare(const training *s, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t t = 0; t < WFRE_TRAIN_TYPES; t++) {
        double found = wfre_batcher_found(s->trainer->batcher, t);
        if (found > 0.99 || size - used < 32)
            continue;
        used += (size_t)wfre_format(text + used, size - used, "%s\"%s\": %.3f",
                                    used ? ", " : ", \"rare\": {", wfre_train_type_names[t], found);
    }
    if (used)
        (void)wfre_format(text + used, size - used, "}");
}

/* A step is logged once, also if the run was interrupted right behind it. */
static wfre_status log_status(training *s, wfre_error *error)
{
    wfre_train_status now = wfre_trainer_status(s->trainer);
    char line[1024], rare[512];
    if (s->outputs.logged == now.step)
        return WFRE_OK;
    list_rare(s, rare, sizeof rare);
    (void)wfre_format(line, sizeof line,
                      "{\"step\": %" PRIu64 ", \"seconds\": %.1f, \"loss\": %.6g, \"rate\": %.4g, "
                      "\"queries_per_second\": %.0f%s}\n",
                      now.step, now.seconds, now.loss, now.rate, now.queries_per_second, rare);
    s->outputs.logged = now.step;
    return wfre_outputs_log(&s->outputs, line, error);
}

/* ---- on the way --------------------------------------------------------------------------- */

static void report(const training *s)
{
    wfre_train_status now = wfre_trainer_status(s->trainer);
    double left = now.progress > 0 ? now.seconds * (1 / now.progress - 1) : 0;
    uint64_t seconds = left < MOST_SECONDS ? (uint64_t)left : MOST_SECONDS;
    char note[200], mrr[40] = "", links[40] = "";
    if (s->last.mrr >= 0)
        (void)wfre_format(mrr, sizeof mrr, "  MRR %.3f", s->last.mrr);
    if (s->last.links >= 0)
        (void)wfre_format(links, sizeof links, ", links %.3f", s->last.links);
    (void)wfre_format(
        note, sizeof note,
        "%" PRIu64 ":%02" PRIu64 " left  step %" PRIu64 "  loss %.3f%s%s  %.0f queries/s",
        seconds / 60, seconds % 60, now.step, now.loss, mrr, links, now.queries_per_second);
    wfre_report_share(s->monitor, "training", now.progress, note);
}

/* How the model does on the sample; what that takes counts. */
static wfre_status rank_sample(training *s, const wfre_model *model, wfre_validated *found,
                               wfre_error *error)
{
    const wfre_train_settings *settings = &s->trainer->settings;
    double start = wfre_clock(), limit = settings->steps ? 0 : SAMPLE_SHARE * settings->seconds;
    wfre_status status = wfre_validation_run(s->validation, model, limit, s->monitor, found, error);
    s->last_seconds = wfre_clock() - start;
    s->validation_seconds += s->last_seconds;
    return status;
}

/* Writes the model as it is now, to be finished later. */
static wfre_status keep_model(training *s, wfre_error *error)
{
    double start = wfre_clock();
    CHECK(wfre_model_keep(s->trainer->model, s->outputs.unfinished, false, error));
    s->save_seconds = wfre_clock() - start;
    return WFRE_OK;
}

/* Validates, and keeps the model if it is the best so far. */
static wfre_status validate(training *s, wfre_error *error)
{
    const wfre_model *model = wfre_trainer_model(s->trainer);
    double start = wfre_clock();
    if (s->validated == s->trainer->step)
        return WFRE_OK; /* nothing has changed since */
    CHECK(rank_sample(s, model, &s->last, error));
    s->validated = s->trainer->step;
    wfre_train_status now = wfre_trainer_status(s->trainer);
    char line[256], mrr[40] = "", links[40] = "";
    if (s->last.mrr >= 0)
        (void)wfre_format(mrr, sizeof mrr, ", \"mrr\": %.6f", s->last.mrr);
    if (s->last.links >= 0)
        (void)wfre_format(links, sizeof links, ", \"links_mrr\": %.6f", s->last.links);
    (void)wfre_format(line, sizeof line,
                      "{\"step\": %" PRIu64 ", \"seconds\": %.1f%s%s, "
                      "\"validation_seconds\": %.1f}\n",
                      now.step, now.seconds, mrr, links, wfre_clock() - start);
    if (s->outputs.judged != now.step)
        CHECK(wfre_outputs_log(&s->outputs, line, error));
    s->outputs.judged = now.step;
    CHECK(draw_curve(s, error));
    if (wfre_validated_score(s->last) >= wfre_validated_score(s->best)) {
        s->best = s->last;
        CHECK(keep_model(s, error));
    }
    return WFRE_OK;
}

static wfre_status write_checkpoint(const training *s, wfre_error *error)
{
    return wfre_checkpoint_write(s->trainer, s->outputs.checkpoint, wfre_validated_score(s->best),
                                 s->next_validation, error);
}

/* Keeps the state of the run, if that is wanted; returns that it was interrupted. */
static wfre_status stop(training *s, wfre_error *error)
{
    if (s->run->checkpoint_seconds < 0)
        return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                         "interrupted at step %" PRIu64, s->trainer->step);
    CHECK(write_checkpoint(s, error));
    return wfre_fail(error, WFRE_ERR_INTERRUPTED, WFRE_NO_OFFSET,
                     "interrupted at step %" PRIu64 "; `resume` goes on from %s", s->trainer->step,
                     s->outputs.checkpoint);
}

/* The part of the run that steps may take at the most. */
static double most_part(const training *s)
{
    return s->run->calibrate == 0       ? 1
           : s->trainer->settings.edges ? STEPS_PART
                                        : STEPS_PART_WITHOUT_EDGES;
}

/* Leaves time for the fits, by what a validation took. */
static void reserve(training *s)
{
    const wfre_train_settings *settings = &s->trainer->settings;
    if (settings->steps || s->run->calibrate == 0)
        return;
    double part = 1 - FIT_QUERIES * s->last.each / settings->seconds, most = most_part(s);
    s->trainer->part = part > most ? most : part < LEAST_PART ? LEAST_PART : part;
}

static wfre_status validate_if_due(training *s, wfre_error *error)
{
    double progress = wfre_trainer_progress(s->trainer);
    if (!s->validation || progress < (double)s->next_validation / s->effort.validations)
        return WFRE_OK;
    double spent = (s->validation_seconds + s->last_seconds) / wfre_trainer_seconds(s->trainer);
    if (s->trainer->settings.steps || (progress > FIRST_PART && spent < VALIDATION_SHARE))
        CHECK(validate(s, error));
    s->next_validation++;
    reserve(s);
    return WFRE_OK;
}

/* What is due between two steps. */
static wfre_status between_steps(training *s, wfre_error *error)
{
    double progress = wfre_trainer_progress(s->trainer);
    report(s);
    if (s->run->step) {
        wfre_train_status now = wfre_trainer_status(s->trainer);
        wfre_watch_leave(&s->watch);
        s->run->step(s->run->context, &now, s->last.mrr);
        wfre_watch_enter(&s->watch);
    }
    if (progress >= s->next_log) {
        s->next_log += 1.0 / LOG_POINTS;
        CHECK(log_status(s, error));
    }
    CHECK(validate_if_due(s, error));
    CHECK(wfre_check_interrupt(s->monitor, error));
    if (s->run->checkpoint_seconds >= 0 && wfre_clock() >= s->next_checkpoint) {
        CHECK(write_checkpoint(s, error));
        s->next_checkpoint = wfre_clock() + s->run->checkpoint_seconds;
    }
    return WFRE_OK;
}

/* A share of the seconds that are left of the run; 0 if it is not limited by time. However little
 * that is, something is fitted. */
static double left(const training *s, double share)
{
    const wfre_train_settings *settings = &s->trainer->settings;
    double seconds =
        share * (settings->seconds - wfre_trainer_seconds(s->trainer) - s->save_seconds);
    return settings->steps ? 0 : seconds > 0.01 ? seconds : 0.01;
}

/* Lets the model answer edge by edge, as its settings say if there is nothing to fit them on. */
static wfre_status fit_edges(training *s, const wfre_validation *queries, double seconds,
                             wfre_model *model, wfre_error *error)
{
    char line[240];
    wfre_edges_usual(model, &model->settings.way);
    if (!queries)
        return WFRE_OK;
    CHECK(wfre_validation_edges(queries, model, s->effort.share, seconds, s->monitor, error));
    (void)wfre_format(line, sizeof line,
                      "{\"by_edges\": %s, \"edge_sharpness\": %.4f, \"edge_room\": %.4f, "
                      "\"edge_joined\": %.4f, \"edge_kinds\": %.4f, \"edge_alike\": %.4f, "
                      "\"edge_factors\": %.4f}\n",
                      model->settings.way.by == WFRE_BY_EDGES ? "true" : "false",
                      model->settings.way.edge_sharpness, model->settings.way.edge_room,
                      model->settings.way.edge_joined, model->settings.way.edge_kinds,
                      model->settings.way.edge_alike, model->settings.way.edge_factors);
    return wfre_outputs_log(&s->outputs, line, error);
}

/* Logs what the probabilities are worth, if there were enough queries to hold some out. */
static wfre_status note_reliability(training *s, const wfre_model *model, wfre_error *error)
{
    char line[320];
    const wfre_reliability *any = wfre_model_reliability(model);
    const wfre_reliability *missing = wfre_model_missing_reliability(model);
    s->any = any ? *any : (wfre_reliability){0};
    s->missing = missing ? *missing : (wfre_reliability){0};
    const wfre_reliability *shown = s->any.queries ? &s->any : &s->missing;
    if (shown->queries == 0)
        return WFRE_OK;
    s->calibration = shown->error;
    (void)wfre_format(
        line, sizeof line,
        "{\"calibration_error\": %.6f, \"low\": %.6f, \"high\": %.6f, "
        "\"questions\": %" PRIu64 ", \"fitted\": %" PRIu64 ", \"missing_error\": %.6f}\n",
        shown->error, shown->low, shown->high, shown->queries, shown->fitted, s->missing.error);
    return wfre_outputs_log(&s->outputs, line, error);
}

/* Fits what is left to fit, if there are queries to do it on: first lifts, then what a search
 * reads, then how edges are predicted by it, then probabilities, which depend on all of them. */
static wfre_status fit(training *s, const wfre_validation *queries, wfre_model *model,
                       wfre_error *error)
{
    const wfre_train_settings *settings = &s->trainer->settings;
    if (queries && settings->lift) {
        char line[160];
        const double *lift = model->settings.way.lift;
        CHECK(wfre_validation_lift(queries, model, left(s, LIFT_SHARE), s->monitor, error));
        (void)wfre_format(line, sizeof line,
                          "{\"lift_projection\": %.4f, \"lift_intersection\": %.4f, "
                          "\"lift_negation\": %.4f}\n",
                          lift[0], lift[1], lift[2]);
        CHECK(wfre_outputs_log(&s->outputs, line, error));
    }
    CHECK(wfre_model_prepare(model, s->pool, error));
    if (settings->edges)
        CHECK(fit_edges(s, queries, left(s, EDGES_SHARE), model, error));
    if (queries) {
        CHECK(wfre_validation_calibrate(queries, model, s->effort.share, left(s, CALIBRATION_SHARE),
                                        s->monitor, error));
        CHECK(note_reliability(s, model, error));
    }
    return WFRE_OK;
}

/* Measures the finished model on queries of their own, unless they come from a file. */
static wfre_status measure(training *s, wfre_model *model, wfre_error *error)
{
    wfre_status status;
    wfre_validation *sample = NULL;
    wfre_text line = {0};
    char *json = NULL;
    wfre_validation_options options = {
        .queries = s->queries,
        .per_type = s->effort.measure,
        .distinct = true,
        .triples = s->effort.measure_triples,
        .seed = wfre_seed_for(s->trainer->settings.seed, WFRE_FOR_MEASURING),
    };
    TRY(wfre_validation_create(s->graph, &options, s->pool, &sample, error));
    if (!sample)
        goto cleanup;
    TRY(wfre_validation_measure(sample, model, left(s, MEASURE_SHARE), s->monitor, error));
    s->questions = wfre_model_measured(model)->all;
    s->links = wfre_model_measured(model)->links;
    TRY(wfre_model_measured_json(model, &json, error));
    wfre_text_format(&line, "{\"measured\": %s}\n", json);
    TRY(wfre_text_status(&line, "logging a measurement", error));
    TRY(wfre_outputs_log(&s->outputs, line.data, error));
cleanup:
    wfre_validation_free(sample);
    wfre_string_free(json);
    wfre_text_free(&line);
    return status;
}

/* Adds to the model that was kept what answering questions needs; then it is finished, and gets its
 * name. */
static wfre_status complete(training *s, wfre_error *error)
{
    wfre_status status;
    wfre_model *model = NULL;
    wfre_validation *queries = NULL;
    TRY(wfre_model_open(s->outputs.unfinished, &model, error));
    TRY(wfre_model_check_graph(model, s->graph, error));
    /* Not those that chose the model, unless they come from a file. */
    wfre_validation_options options = {
        .queries = s->queries,
        .per_type = s->effort.calibrate,
        .triples = (size_t)FIT_TRIPLES * s->effort.calibrate,
        .seed = wfre_seed_for(s->trainer->settings.seed, WFRE_FOR_FITTING),
    };
    if (s->run->calibrate > 0)
        TRY(wfre_validation_create(s->graph, &options, s->pool, &queries, error));
    TRY(fit(s, queries, model, error));
    if (s->run->calibrate > 0)
        TRY(measure(s, model, error));
    model->unfinished = false;
    TRY(wfre_model_keep(model, s->run->model, false, error));
cleanup:
    wfre_validation_free(queries);
    wfre_model_free(model);
    return status;
}

/* Whether there is time for a last look, by what the one before took. */
static bool is_time_to_validate(const training *s)
{
    return s->trainer->settings.steps || s->validated == s->trainer->step ||
           s->last_seconds < left(s, LAST_SHARE);
}

/* The end: a last look, the model if nothing better was kept, and no checkpoint any more. The last
 * model is taken for the best if there is no time to look. */
static wfre_status finish(training *s, wfre_error *error)
{
    CHECK(log_status(s, error));
    if (s->validation && is_time_to_validate(s)) {
        CHECK(validate(s, error));
    } else {
        CHECK(keep_model(s, error));
        CHECK(draw_curve(s, error));
    }
    CHECK(complete(s, error));
    wfre_outputs_finish(&s->outputs);
    report(s);
    return WFRE_OK;
}

/* ---- begin and end ------------------------------------------------------------------------ */

/* A trainer that starts with the weights of a trained model; score and recipe are its own. */
static wfre_status start_from(training *s, const wfre_train_settings *settings, wfre_error *error)
{
    wfre_safetensors *file = NULL;
    wfre_model *model = NULL;
    wfre_status status;
    if (s->run->from_model) {
        TRY(wfre_model_copy(s->run->from_model, &model, error));
    } else {
        TRY(wfre_safetensors_open(s->run->from, &file, error));
        TRY(wfre_model_read(file, s->run->from, &model, error));
    }
    TRY(wfre_model_check_graph(model, s->graph, error));
    wfre_model_settings old = model->settings;
    model->settings = settings->model;
    wfre_model_copy_sizes(&model->settings, &old);
    model->settings.score.dimension = old.dim;
    wfre_calibration_free(model->calibration); /* of other weights */
    model->calibration = NULL;
    wfre_measurement_free(model->measurement);
    model->measurement = NULL;
    TRY(wfre_model_settings_check(&model->settings, error));
    TRY(wfre_trainer_create_with(s->graph, settings, s->pool, model, &s->trainer, error));
    model = NULL; /* the trainer's now */
cleanup:
    wfre_model_free(model);
    wfre_safetensors_close(file);
    return status;
}

/* Refuses lifts that would be thrown away. */
static wfre_status check_lifts(const wfre_train_settings *settings, wfre_error *error)
{
    for (int i = 0; i < WFRE_LIFTS; i++)
        if (settings->lift && settings->model.way.lift[i] != 1)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "lifts are fitted when all is learned; `lift=no` leaves them as "
                             "they are set");
    return WFRE_OK;
}

/* The same for edges. Whoever says how to answer (wfre_train_set) has them fitted no more. */
static wfre_status check_edges(const wfre_train_settings *settings, wfre_error *error)
{
    wfre_model_settings usual;
    wfre_model_settings_default(&usual);
    if (settings->edges && (settings->model.way.edge_sharpness != usual.way.edge_sharpness ||
                            settings->model.way.edge_room != usual.way.edge_room ||
                            settings->model.way.edge_joined != usual.way.edge_joined ||
                            settings->model.way.edge_kinds != usual.way.edge_kinds ||
                            settings->model.way.edge_alike != usual.way.edge_alike ||
                            settings->model.way.edge_factors != usual.way.edge_factors))
        return wfre_fail(
            error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
            "edge-sharpness, edge-room, edge-joined, edge-kinds, edge-alike and edge-factors are "
            "fitted when all is learned; `answering=edges` leaves them as they are set");
    return WFRE_OK;
}

wfre_status wfre_train_resumed_settings(const char *model, wfre_train_settings *settings,
                                        wfre_error *error)
{
    char *path = wfre_output_beside(model, ".checkpoint");
    wfre_status status = WFRE_OK;
    if (!path)
        status = wfre_fail_memory(error, "looking for a checkpoint");
    else if (!wfre_file_exists(path))
        status = wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                           "%s: no such checkpoint to go on from", path);
    else
        status = wfre_checkpoint_read_settings(path, settings, error);
    wfre_free(path);
    return status;
}

/* Whether a model has the shape of the one in training. */
static bool has_its_shape(const training *s, const wfre_model *model)
{
    return model->fingerprint == wfre_graph_fingerprint(s->graph) &&
           wfre_model_same_sizes(&model->settings, &s->trainer->settings.model);
}

/* The model that an interrupted run kept stays only if it is still there, and counts by what it
 * does on the queries that the run will be validated on from now on. */
static wfre_status judge_kept(training *s, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_model *model = NULL;
    wfre_validated kept = {-1, -1, 0};
    if (wfre_validated_score(s->best) >= 0 && s->validation &&
        wfre_file_exists(s->outputs.unfinished) &&
        wfre_model_open(s->outputs.unfinished, &model, NULL) == WFRE_OK &&
        has_its_shape(s, model)) {
        memcpy(model->settings.way.lift, s->trainer->settings.model.way.lift,
               sizeof model->settings.way.lift);
        TRY(rank_sample(s, model, &kept, error));
    }
    s->best = kept;
cleanup:
    wfre_model_free(model);
    return status;
}

/* The trainer, fresh or as it was when the run was interrupted. */
static wfre_status make_trainer(training *s, const wfre_train_settings *settings, wfre_error *error)
{
    if (s->resumed)
        return wfre_checkpoint_read(s->outputs.checkpoint, s->graph, s->pool, settings, &s->trainer,
                                    &s->best.mrr, &s->next_validation, error);
    s->next_validation = 1;
    if (s->run->from || s->run->from_model)
        return start_from(s, settings, error);
    return wfre_trainer_create(s->graph, settings, s->pool, &s->trainer, error);
}

/* Those that were given, opened or by name. */
static wfre_status open_queries(training *s, wfre_error *error)
{
    s->queries = s->run->queryset;
    if (s->queries || !s->run->queries)
        return WFRE_OK;
    CHECK(wfre_queryset_open(s->run->queries, s->graph, &s->opened, error));
    s->queries = s->opened;
    return WFRE_OK;
}

static wfre_status begin(training *s, const wfre_train_settings *settings, wfre_error *error)
{
    wfre_outputs *outputs = &s->outputs;
    CHECK(wfre_outputs_open(outputs, s->run->model, error));
    s->resumed = s->run->resume && wfre_file_exists(outputs->checkpoint);
    CHECK(make_trainer(s, settings, error));
    s->trainer->model->unfinished = true;
    s->trainer->part = most_part(s);
    s->trainer->started = s->begun; /* what came before counts */
    s->effort = wfre_effort_of(s->graph, &s->trainer->settings, s->run);
    CHECK(open_queries(s, error));
    wfre_validation_options options = {
        .queries = s->queries,
        .per_type = s->run->validate,
        .triples = (size_t)s->run->validate * WFRE_VALIDATION_TRIPLES,
        .seed = wfre_seed_for(s->trainer->settings.seed, WFRE_FOR_VALIDATION),
    };
    if (s->run->validate > 0)
        CHECK(wfre_validation_create(s->graph, &options, s->pool, &s->validation, error));
    CHECK(s->resumed ? wfre_outputs_resume(outputs, s->trainer->step, error)
                     : wfre_outputs_begin(outputs, error));
    uint32_t next = (uint32_t)(wfre_trainer_progress(s->trainer) * s->effort.validations) + 1;
    if (s->next_validation > next) /* the run is longer than it was to be */
        s->next_validation = next;
    s->next_log = (double)outputs->lines / LOG_POINTS;
    s->next_checkpoint = wfre_clock() + s->run->checkpoint_seconds;
    return WFRE_OK;
}

static void end(training *s)
{
    wfre_validation_free(s->validation);
    wfre_queryset_close(s->opened);
    wfre_trainer_free(s->trainer);
    wfre_outputs_close(&s->outputs);
}

/* From where the run stands to its end. However little time there is, one step is made. */
static wfre_status proceed(training *s, wfre_error *error)
{
    if (s->resumed) {
        CHECK(judge_kept(s, error));
        CHECK(validate_if_due(s, error)); /* if that was interrupted */
    }
    while (s->trainer->step == 0 || !wfre_trainer_done(s->trainer)) {
        CHECK(wfre_trainer_step(s->trainer, error));
        CHECK(between_steps(s, error));
    }
    return finish(s, error);
}

wfre_status wfre_train(const wfre_graph *graph, const wfre_train_settings *settings,
                       const wfre_train_run *run, wfre_pool *pool, const wfre_monitor *monitor,
                       wfre_train_summary *summary, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(settings);
    training s = {.graph = graph,
                  .run = run,
                  .pool = pool,
                  .monitor = &s.watch.monitor,
                  .begun = wfre_clock(),
                  .best = {-1, -1, 0},
                  .last = {-1, -1, 0},
                  .calibration = -1,
                  .validated = WFRE_NO_STEP};
    wfre_status status;
    TRY(check_lifts(settings, error));
    TRY(check_edges(settings, error));
    TRY(wfre_watch_begin(&s.watch, monitor, error));
    status = begin(&s, settings, error);
    if (status == WFRE_OK)
        status = proceed(&s, error);
    wfre_watch_end(&s.watch);
    if (status == WFRE_ERR_INTERRUPTED && s.trainer)
        status = stop(&s, error);
    TRY(status);
    *summary = (wfre_train_summary){.status = wfre_trainer_status(s.trainer),
                                    .mrr = s.last.mrr,
                                    .best_mrr = s.best.mrr,
                                    .calibration_error = s.calibration,
                                    .any = s.any,
                                    .missing = s.missing,
                                    .resumed = s.resumed,
                                    .links_mrr = s.last.links,
                                    .best_links_mrr = s.best.links,
                                    .questions = s.questions,
                                    .links = s.links};
cleanup:
    wfre_watch_end(&s.watch);
    end(&s);
    return status;
}
