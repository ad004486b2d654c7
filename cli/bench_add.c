/* Entities added after training: how well questions about them are answered, and how long it takes.
 *
 * A tenth of the entities is taken out of the graph, a model learns the rest, and wfre_add brings
 * them back with part of their triples. The questions are about the other part:
 *
 *   answer   the new entity is to be found          ?x : r(?x, old)
 *   anchor   the question is about the new entity   ?x : r(new, ?x)
 *   old      of old entities, about triples that nobody was shown: is harm done to them?
 *
 * Beside the added entities stand an untrained model, new entities that are mere copies of the old
 * one most like them, and a model trained anew with the same triples. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { FOLDS = 10, STEPS = 1000 };
static const double OLD_SHARE = 0.05; /* of old triples that are kept for questions */

typedef enum kind { BASE, GIVEN, REST, OLD, UNUSED } kind;
typedef enum question_set { ANSWER, ANCHOR, OLD_BEFORE, OLD_AFTER, SETS } question_set;
typedef enum file { TRIPLES, GRAPH, MODEL, QUERIES, FILES = QUERIES + SETS } file;

typedef struct work {
    const cli_call *call;
    wfre_graph *full;
    bool *held_out; /* by entity of `full` */
    double share;   /* of their triples that new entities come with */
    char folder[BENCH_PATH];
    char paths[FILES][BENCH_PATH + 32];
    wfre_pool *pool;
    wfre_train_settings settings;
    wfre_graph *base, *larger;
    size_t counts[SETS]; /* of questions */
    wfre_error error;
} work;

/* ---- the parts of the graph --------------------------------------------------------------- */

/* A uniform number for a triple or an entity, the same in every run. */
static double chance(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xbf58476d1ce4e5b9u ^ (c + 1) * 0x94d049bb133111ebu;
    for (int i = 0; i < 2; i++)
        x = (x ^ x >> 29) * 0xff51afd7ed558ccdu;
    return (double)(x >> 11) * 0x1p-53;
}

static kind classify(const work *w, wfre_entity head, wfre_relation relation, wfre_entity tail)
{
    double drawn =
        relation % 2 ? chance(tail, relation / 2, head) : chance(head, relation / 2, tail);
    if (w->held_out[head] && w->held_out[tail])
        return UNUSED;
    if (w->held_out[head] || w->held_out[tail])
        return drawn < w->share ? GIVEN : REST;
    return drawn < OLD_SHARE ? OLD : BASE;
}

static bool hold_out(work *w)
{
    uint32_t entities = wfre_graph_entities(w->full);
    double fold = (double)cli_integer(w->call, "fold", 1) - 1;
    w->held_out = calloc(entities, sizeof *w->held_out);
    for (wfre_entity e = 0; w->held_out && e < entities; e++) {
        double place = chance(e, 0, 0) * FOLDS;
        w->held_out[e] = place >= fold && place < fold + 1;
    }
    return w->held_out;
}

static wfre_status fail_file(work *w, const char *path)
{
    w->error = (wfre_error){.code = WFRE_ERR_IO};
    (void)snprintf(w->error.message, sizeof w->error.message, "%s: cannot write", path);
    return WFRE_ERR_IO;
}

/* All triples of a kind, by name. */
static wfre_status write_triples(work *w, kind wanted)
{
    const char *path = w->paths[TRIPLES];
    FILE *stream = fopen(path, "w");
    for (wfre_relation r = 0; stream && r < wfre_graph_relations(w->full); r += 2) {
        wfre_name name = wfre_graph_relation_name(w->full, r);
        if (w->base && wfre_graph_find_relation(w->base, name.bytes, name.length) == WFRE_NONE)
            continue; /* nor can it be added */
        wfre_list heads = wfre_graph_sources(w->full, WFRE_TEST, r);
        for (size_t h = 0; h < heads.count; h++) {
            wfre_name head = wfre_graph_entity_name(w->full, heads.ids[h]);
            wfre_list tails = wfre_graph_targets(w->full, WFRE_TEST, r, heads.ids[h]);
            for (size_t t = 0; t < tails.count; t++) {
                wfre_name tail = wfre_graph_entity_name(w->full, tails.ids[t]);
                if (classify(w, heads.ids[h], r, tails.ids[t]) == wanted)
                    fprintf(stream, "%.*s\t%.*s\t%.*s\n", (int)head.length, head.bytes,
                            (int)name.length, name.bytes, (int)tail.length, tail.bytes);
            }
        }
    }
    return stream && fclose(stream) == 0 ? WFRE_OK : fail_file(w, path);
}

/* ---- questions ---------------------------------------------------------------------------- */

/* The id in the larger graph, or WFRE_NONE: not all entities keep a triple. */
static wfre_entity translate(const work *w, wfre_entity entity)
{
    wfre_name name = wfre_graph_entity_name(w->full, entity);
    return wfre_graph_find_entity(w->larger, name.bytes, name.length);
}

/* Writes the answers that are to be found (hard) or that are left out of the ranking. Before new
 * entities are added, they cannot be answers. */
static size_t write_answers(const work *w, FILE *stream, wfre_entity from, wfre_relation relation,
                            question_set set, bool hard)
{
    kind wanted = set == OLD_BEFORE || set == OLD_AFTER ? OLD : REST;
    wfre_list all = wfre_graph_targets(w->full, WFRE_TEST, relation, from);
    size_t count = 0;
    for (size_t i = 0; i < all.count; i++) {
        wfre_entity answer = translate(w, all.ids[i]);
        if (set == OLD_BEFORE && w->held_out[all.ids[i]])
            continue;
        if (answer != WFRE_NONE && (classify(w, from, relation, all.ids[i]) == wanted) == hard) {
            if (stream)
                fprintf(stream, "%s%u", count > 0 ? " " : "", answer);
            count++;
        }
    }
    return count;
}

static wfre_status write_queries(work *w, question_set set)
{
    const char *path = w->paths[QUERIES + set];
    FILE *stream = fopen(path, "w");
    for (wfre_relation r = 0; stream && r < wfre_graph_relations(w->full); r++) {
        wfre_name name = wfre_graph_relation_name(w->full, r);
        wfre_relation relation = wfre_graph_find_relation(w->larger, name.bytes, name.length);
        wfre_list sources = wfre_graph_sources(w->full, WFRE_TEST, r);
        for (size_t i = 0; relation != WFRE_NONE && i < sources.count; i++) {
            wfre_entity from = sources.ids[i], id = translate(w, from);
            if (id == WFRE_NONE || w->held_out[from] != (set == ANCHOR) ||
                write_answers(w, NULL, from, r, set, true) == 0)
                continue;
            fprintf(stream, "1p\t(p,#%u,(e,#%u))\t", relation + r % 2, id);
            (void)write_answers(w, stream, from, r, set, false);
            fputc('\t', stream);
            (void)write_answers(w, stream, from, r, set, true);
            fputc('\n', stream);
            w->counts[set]++;
        }
    }
    return stream && fclose(stream) == 0 ? WFRE_OK : fail_file(w, path);
}

/* ---- models ------------------------------------------------------------------------------- */

static wfre_status train(work *w, const wfre_graph *graph, wfre_trainer **trainer)
{
    const wfre_monitor *monitor = cli_monitor();
    wfre_status status = wfre_trainer_create(graph, &w->settings, w->pool, trainer, &w->error);
    while (status == WFRE_OK && !wfre_trainer_done(*trainer)) {
        status = wfre_trainer_step(*trainer, &w->error);
        wfre_train_status now = wfre_trainer_status(*trainer);
        wfre_progress progress = {.task = "training", .done = now.step, .total = now.steps};
        monitor->report(monitor->context, &progress);
        if (status == WFRE_OK && monitor->interrupted(monitor->context)) {
            w->error = (wfre_error){.code = WFRE_ERR_INTERRUPTED, .message = "interrupted"};
            status = WFRE_ERR_INTERRUPTED;
        }
    }
    return status;
}

/* MRR of a question set, in percent. */
static wfre_status judge(work *w, const wfre_graph *graph, const wfre_model *model,
                         question_set set, double *mrr)
{
    wfre_evaluation *evaluation = NULL;
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    options.bootstrap = 1;
    *mrr = 0;
    if (w->counts[set] == 0)
        return WFRE_OK;
    wfre_status status = wfre_evaluate_model(graph, model, w->paths[QUERIES + set], &options,
                                             w->pool, NULL, &evaluation, &w->error);
    if (status == WFRE_OK)
        *mrr = 100 * wfre_evaluation_group(evaluation, WFRE_GROUP_ALL)->mean.mrr;
    wfre_evaluation_free(evaluation);
    return status;
}

/* Both kinds of questions about new entities. */
typedef struct result {
    double answer, anchor;
} result;

static wfre_status judge_new(work *w, const wfre_model *model, result *found)
{
    wfre_status status = judge(w, w->larger, model, ANSWER, &found->answer);
    return status == WFRE_OK ? judge(w, w->larger, model, ANCHOR, &found->anchor) : status;
}

/* wfre_add with so many steps; the result is opened. */
static wfre_status add(work *w, const wfre_model *base, const uint32_t *steps, wfre_model **model,
                       wfre_addition *addition)
{
    wfre_add_options options;
    wfre_add_options_default(&options);
    options.triples = w->paths[TRIPLES];
    options.graph = w->paths[GRAPH];
    options.model = w->paths[MODEL];
    if (steps)
        options.steps = *steps;
    wfre_status status =
        wfre_add(w->base, base, &options, w->pool, cli_monitor(), addition, &w->error);
    return status == WFRE_OK ? wfre_model_open(w->paths[MODEL], model, &w->error) : status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

typedef struct results {
    result untrained, copied, added, retrained;
    double old_before, old_copied, old_after;
    wfre_addition addition;
} results;

static wfre_status compare_added(work *w, const wfre_model *base, results *r)
{
    static const uint32_t NO_STEPS = 0;
    wfre_model *copied = NULL, *added = NULL;
    wfre_addition unused;
    wfre_status status = add(w, base, &NO_STEPS, &copied, &unused);
    if (status == WFRE_OK)
        status = add(w, base, NULL, &added, &r->addition);
    if (status == WFRE_OK)
        status = wfre_graph_open(w->paths[GRAPH], &w->larger, &w->error);
    for (int set = 0; set < SETS && status == WFRE_OK; set++)
        status = write_queries(w, (question_set)set);
    if (status == WFRE_OK)
        status = judge_new(w, copied, &r->copied);
    if (status == WFRE_OK)
        status = judge_new(w, added, &r->added);
    if (status == WFRE_OK)
        status = judge(w, w->base, base, OLD_BEFORE, &r->old_before);
    if (status == WFRE_OK)
        status = judge(w, w->larger, copied, OLD_AFTER, &r->old_copied);
    if (status == WFRE_OK)
        status = judge(w, w->larger, added, OLD_AFTER, &r->old_after);
    wfre_model_free(copied);
    wfre_model_free(added);
    return status;
}

static wfre_status compare_whole(work *w, results *r)
{
    wfre_model *untrained = NULL;
    wfre_trainer *trainer = NULL;
    wfre_status status = wfre_model_create(w->larger, &w->settings.model, 1, &untrained, &w->error);
    if (status == WFRE_OK)
        status = judge_new(w, untrained, &r->untrained);
    if (status == WFRE_OK)
        status = train(w, w->larger, &trainer);
    if (status == WFRE_OK)
        status = judge_new(w, wfre_trainer_model(trainer), &r->retrained);
    wfre_trainer_free(trainer);
    wfre_model_free(untrained);
    return status;
}

static wfre_status measure(work *w, results *r)
{
    const char *source = w->paths[TRIPLES];
    wfre_import_options format = {.format = "tsv"};
    wfre_trainer *trainer = NULL;
    wfre_status status = write_triples(w, BASE);
    if (status == WFRE_OK)
        status = wfre_import_graph(&source, 1, &format, NULL, &w->base, NULL, &w->error);
    if (status == WFRE_OK)
        status =
            wfre_train_preset(cli_text(w->call, "preset", NULL), w->full, &w->settings, &w->error);
    if (status != WFRE_OK)
        return status;
    w->settings.model.dim = (uint32_t)cli_integer(w->call, "dim", w->settings.model.dim);
    w->settings.steps = (uint64_t)cli_integer(w->call, "steps", STEPS);
    status = train(w, w->base, &trainer);
    if (status == WFRE_OK)
        status = write_triples(w, GIVEN);
    if (status == WFRE_OK)
        status = compare_added(w, wfre_trainer_model(trainer), r);
    wfre_trainer_free(trainer);
    return status == WFRE_OK ? compare_whole(w, r) : status;
}

static void report(const work *w, const results *r)
{
    const cli_call *call = w->call;
    cli_progress_end();
    bench_begin(call, "add");
    bench_number(call, "entities", wfre_graph_entities(w->base), "entities before");
    bench_number(call, "added", r->addition.entities, "entities added");
    bench_number(call, "triples", (double)r->addition.triples, "triples they came with");
    bench_number(call, "dim", w->settings.model.dim, "dimensions");
    bench_number(call, "steps", (double)w->settings.steps, "training steps");
    bench_number(call, "milliseconds", 1e3 * r->addition.seconds / r->addition.entities,
                 "ms an entity");
    bench_number(call, "untrained_answer", r->untrained.answer, "MRR x 100 as answer, untrained");
    bench_number(call, "copied_answer", r->copied.answer, "copied from the most alike");
    bench_number(call, "added_answer", r->added.answer, "added");
    bench_number(call, "retrained_answer", r->retrained.answer, "trained anew");
    bench_number(call, "untrained_anchor", r->untrained.anchor, "MRR x 100 as anchor, untrained");
    bench_number(call, "copied_anchor", r->copied.anchor, "copied from the most alike");
    bench_number(call, "added_anchor", r->added.anchor, "added");
    bench_number(call, "retrained_anchor", r->retrained.anchor, "trained anew");
    bench_number(call, "old_before", r->old_before, "MRR x 100 of old questions, before");
    bench_number(call, "old_copied", r->old_copied, "with copies");
    bench_number(call, "old_after", r->old_after, "with the entities added");
    bench_end(call);
}

/* Without a graph: circles of several widths, of which any part follows from the rest. */
static wfre_status make_graph(work *w)
{
    enum { RING = 120, WIDTHS = 6 };
    const char *path = w->paths[TRIPLES];
    wfre_import_options format = {.format = "tsv"};
    FILE *stream = fopen(path, "w");
    for (int i = 0; stream && i < RING; i++)
        for (int r = 1; r <= WIDTHS; r++)
            fprintf(stream, "e%d\tr%d\te%d\n", i, r, (i + r) % RING);
    if (!stream || fclose(stream) != 0)
        return fail_file(w, path);
    return wfre_import_graph(&path, 1, &format, NULL, &w->full, NULL, &w->error);
}

static wfre_status prepare(work *w)
{
    static const char *const NAMES[FILES] = {
        "t.tsv", "g.kg", "m.safetensors", "answer.tsv", "anchor.tsv", "before.tsv", "after.tsv"};
    const char *path = cli_text(w->call, "graph", NULL);
    w->share = cli_number(w->call, "share", 0.5);
    bench_temporary(w->folder);
    if (!mkdtemp(w->folder))
        return fail_file(w, w->folder);
    for (int f = 0; f < FILES; f++)
        (void)snprintf(w->paths[f], sizeof w->paths[f], "%s/%s", w->folder, NAMES[f]);
    wfre_status status = path ? wfre_graph_open(path, &w->full, &w->error) : make_graph(w);
    if (status == WFRE_OK)
        status =
            wfre_pool_create((unsigned)cli_integer(w->call, "threads", 0), &w->pool, &w->error);
    if (status == WFRE_OK && !hold_out(w))
        status = WFRE_ERR_MEMORY;
    return status;
}

static int run(const cli_call *call)
{
    work w = {.call = call, .error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"}};
    results r = {0};
    wfre_status status = prepare(&w);
    if (status == WFRE_OK)
        status = measure(&w, &r);
    if (status == WFRE_OK)
        report(&w, &r);
    for (int f = 0; f < FILES; f++)
        (void)unlink(w.paths[f]);
    (void)rmdir(w.folder);
    free(w.held_out);
    wfre_graph_close(w.base);
    wfre_graph_close(w.larger);
    wfre_graph_close(w.full);
    wfre_pool_free(w.pool);
    return status == WFRE_OK ? EXIT_DONE : cli_fail(&w.error);
}

const bench bench_add = {
    .name = "add",
    .about = "entities added after training, against training anew",
    .run = run,
};
