/* Evaluation: how well answers that the graph does not prove are predicted.
 *
 * Every hard answer of a query is ranked against all entities that are not answers; ties count
 * half. Metrics are averaged over a query's hard answers, then over the queries of its type, then
 * over the types of a group. */
#ifndef WFRE_EVAL_H
#define WFRE_EVAL_H

#include "wfre/base.h"
#include "wfre/graph.h"
#include "wfre/model.h"
#include "wfre/query.h"
#include "wfre/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- results ------------------------------------------------------------------------------ */

/* What one evaluation of a query set found. */
typedef struct wfre_evaluation wfre_evaluation;

WFRE_API void wfre_evaluation_free(wfre_evaluation *evaluation);

/* The metrics of a type, or of a group of types. Lives as long as the evaluation. */
typedef struct wfre_evaluation_row {
    const char *name;         /* "2in", "A_P"; a type that has no name stands as its tree */
    uint32_t types;           /* types averaged over; 1 for a type, 0: the group is empty */
    uint64_t queries;         /* with at least one hard answer */
    uint64_t answers;         /* hard ones, each ranked */
    wfre_metrics mean;        /* over queries, then over types */
    double mrr_low, mrr_high; /* 95% interval of the MRR, by bootstrap over queries */
} wfre_evaluation_row;

WFRE_API size_t wfre_evaluation_types(const wfre_evaluation *evaluation);
/* Types without negation come first, then those with; the well-known ones in their usual order. */
WFRE_API const wfre_evaluation_row *wfre_evaluation_type(const wfre_evaluation *evaluation,
                                                         size_t index);

typedef enum wfre_group {
    WFRE_GROUP_POSITIVE, /* A_P: without negation */
    WFRE_GROUP_PATHS,    /* A_p: projections only (1p 2p 3p) */
    WFRE_GROUP_OTHERS,   /* A_l: without negation, not a path */
    WFRE_GROUP_NEGATIVE, /* A_N: with negation */
    WFRE_GROUP_ALL       /* all types */
} wfre_group;
enum { WFRE_GROUPS = 5 };

WFRE_API const wfre_evaluation_row *wfre_evaluation_group(const wfre_evaluation *evaluation,
                                                          wfre_group group);

/* The hard answers of a type that need the same number of edges which the graph before the split's
 * lacks, in the way to them that needs fewest. Names are such as "3p, 1 missing" and "3p, all 3
 * missing". */
typedef struct wfre_evaluation_stratum {
    const char *type;        /* "3p" */
    uint32_t missing;        /* edges that have to be predicted */
    bool whole;              /* those are all there are: nothing on the way is known */
    wfre_evaluation_row row; /* over the type's queries that have such answers */
} wfre_evaluation_stratum;

/* None if they were not asked for; else those of each type together, in the order of the types. */
WFRE_API size_t wfre_evaluation_strata(const wfre_evaluation *evaluation);
WFRE_API const wfre_evaluation_stratum *
wfre_evaluation_get_stratum(const wfre_evaluation *evaluation, size_t index);

/* How it was done. */
typedef struct wfre_evaluation_info {
    const char *label;   /* what was evaluated */
    const char *dataset; /* the published data set that the graph is, or NULL */
    const char *method;  /* "given scores", "exhaustive", "filtered", "edge by edge"; if that scored
                          * every entity, "edge by edge, exhaustively" */
    uint64_t unranked;   /* queries left out because they have no hard answer */
    uint64_t pairs; /* (query, entity) pairs that ranking had to decide about; 0 for given scores */
    uint64_t exact; /* of which this many were scored exactly; not counted edge by edge */
    double seconds;
} wfre_evaluation_info;

WFRE_API const wfre_evaluation_info *wfre_evaluation_get_info(const wfre_evaluation *evaluation);

/* ---- evaluating --------------------------------------------------------------------------- */

typedef struct wfre_eval_options {
    const char *label;  /* NULL: the name of the file with the scores, or "model" */
    uint32_t bootstrap; /* resamplings for the intervals; at least 1 */
    uint64_t seed;      /* of the resamplings */
    bool strata;        /* also by the number of edges that answers lack ... */
    wfre_split split;   /* ... for queries of this split, valid or test */

    /* Of models only. */
    const wfre_way *way; /* how queries are answered; NULL: as the model says. Unless it is
                          * exhaustive, most scores are estimated: then ranks are close, but not
                          * always the same */
    wfre_split known;    /* the edges that are known when it answers edge by edge; must be among
                          * those that make answers easy */
    /* The same model and queries with another treatment of unions, or NULL: queries without a union
     * are taken from it. */
    const wfre_evaluation *base;
    /* Keeps unfinished work, or NULL: what this file holds of the same evaluation is not done
     * again. It is written now and then and when interrupted, and removed at the end. */
    const char *partial;
    bool keep; /* leave that file at the end: the same evaluation is then free */
} wfre_eval_options;

/* 1,000 resamplings, seed 1, filtered, no strata; edges of the train split are known. */
WFRE_API void wfre_eval_options_default(wfre_eval_options *options);

/* Evaluates a model on a query set (*.tsv). */
WFRE_API WFRE_NODISCARD wfre_status
wfre_evaluate_model(const wfre_graph *graph, const wfre_model *model, const char *queries,
                    const wfre_eval_options *options, wfre_pool *pool, const wfre_monitor *monitor,
                    wfre_evaluation **evaluation, wfre_error *error);
/* The same for a query set that was opened with this graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_evaluate_model_with(
    const wfre_graph *graph, const wfre_model *model, const wfre_queryset *queries,
    const wfre_eval_options *options, wfre_pool *pool, const wfre_monitor *monitor,
    wfre_evaluation **evaluation, wfre_error *error);

/* Evaluates another system's scores of the queries of a query set (*.tsv). Each line of the file is
 *
 *   query <TAB> entity <TAB> score     higher is better
 *   query <TAB> entity                 a ranking: the entities of a query in order, best first
 *
 * with queries counted from 0 in the order of the query set, and entities by id. The lines of a
 * query stand together. Entities that are not listed tie for the last place; a query without any
 * line is an error. */
WFRE_API WFRE_NODISCARD wfre_status
wfre_evaluate_scores(const wfre_graph *graph, const char *queries, const char *scores,
                     const wfre_eval_options *options, wfre_pool *pool, const wfre_monitor *monitor,
                     wfre_evaluation **evaluation, wfre_error *error);
WFRE_API WFRE_NODISCARD wfre_status wfre_evaluate_scores_with(
    const wfre_graph *graph, const wfre_queryset *queries, const char *scores,
    const wfre_eval_options *options, wfre_pool *pool, const wfre_monitor *monitor,
    wfre_evaluation **evaluation, wfre_error *error);

/* ---- link prediction ---------------------------------------------------------------------- */

/* The field's own measure of single edges: for every triple (h, r, t) that a split adds, the rank
 * of t among the entities that no split knows as a tail of (h, r), and the rank of h likewise. Ties
 * count half. Averages are over triples. */
typedef struct wfre_links wfre_links;

typedef struct wfre_links_options {
    wfre_split split;    /* WFRE_VALID or WFRE_TEST */
    const wfre_way *way; /* NULL: as the model says */
    wfre_split known;    /* the edges that are known, by edges; smaller than split */
} wfre_links_options;

/* The valid split, with those of train known. */
WFRE_API void wfre_links_options_default(wfre_links_options *options);

typedef struct wfre_links_row {
    const char *name; /* "all", "tails", "heads", or the label of a relation */
    uint64_t triples; /* ranked; each counts once for its tail and once for its head */
    wfre_metrics mean;
    double mrr_low, mrr_high; /* 95% interval of the MRR */
} wfre_links_row;

typedef struct wfre_links_info {
    const char *dataset; /* the published data set that the graph is, or NULL */
    const char *method;  /* as in wfre_evaluation_info */
    wfre_split split;
    double seconds;
} wfre_links_info;

WFRE_API WFRE_NODISCARD wfre_status wfre_evaluate_links(
    const wfre_graph *graph, const wfre_model *model, const wfre_links_options *options,
    wfre_pool *pool, const wfre_monitor *monitor, wfre_links **links, wfre_error *error);
WFRE_API void wfre_links_free(wfre_links *links);
/* All, tails and heads come first, then the relations, those with most triples first. */
WFRE_API size_t wfre_links_count(const wfre_links *links);
WFRE_API const wfre_links_row *wfre_links_at(const wfre_links *links, size_t index);
WFRE_API const wfre_links_info *wfre_links_get_info(const wfre_links *links);

/* ---- strangers ---------------------------------------------------------------------------- */

/* Among the ten likeliest answers to questions as people ask them (any entity, with any relation
 * that it has), those of a kind that was never seen where they are given. A stranger never stood at
 * that end of the relation, and either nobody who does has even half of the relations (with their
 * directions) that the stranger has edges of, or nobody there has any of its classes (rdf:type). */
typedef struct wfre_strangers {
    uint64_t questions, answers;
    uint64_t fresh;     /* answers that never stood there */
    uint64_t strangers; /* of these */
    uint64_t apart;     /* of these, with whom nobody there shares a single relation */
    uint64_t classes;   /* of these, with whom nobody there shares a class */
} wfre_strangers;

/* Asks `count` questions, drawn from the train split, in some way (NULL: as the model says). */
WFRE_API WFRE_NODISCARD wfre_status
wfre_measure_strangers(const wfre_graph *graph, const wfre_model *model, const wfre_way *way,
                       size_t count, uint64_t seed, wfre_pool *pool, const wfre_monitor *monitor,
                       wfre_strangers *strangers, wfre_error *error);

/* ---- reports ------------------------------------------------------------------------------ */

typedef enum wfre_report_format {
    WFRE_REPORT_TABLE, /* aligned columns for people, in percent */
    WFRE_REPORT_CSV,   /* one line per type or group */
    WFRE_REPORT_JSON
} wfre_report_format;

/* Link prediction in a format; a table for people has the most frequent relations, and published
 * results if the graph is a known data set. Release the text with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_links_print(const wfre_links *links,
                                                     wfre_report_format format, char **text,
                                                     wfre_error *error);

typedef struct wfre_report_options {
    const char *title; /* of the page; NULL: "Evaluation" */
    const char *log;   /* training log with the learning curve, or NULL */
    bool repeats;      /* the evaluations differ in the seed alone: give mean and deviation */
} wfre_report_options;

/* Evaluations of one query set (at least one) side by side as text, next to the published results
 * if the graph is a known data set. Release it with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_report_print(const wfre_evaluation *const *evaluations,
                                                      size_t count,
                                                      const wfre_report_options *options,
                                                      wfre_report_format format, char **text,
                                                      wfre_error *error);
/* Writes report.html (one page that needs no other file), results.csv and results.json into the
 * folder, which is made if it is not there; with more than 20 types also the figure shapes.svg. */
WFRE_API WFRE_NODISCARD wfre_status wfre_report_write(const wfre_evaluation *const *evaluations,
                                                      size_t count,
                                                      const wfre_report_options *options,
                                                      const char *folder, wfre_error *error);

/* ---- sweeps ------------------------------------------------------------------------------- */

/* One value of a setting, and what came of it with one or more seeds. */
typedef struct wfre_sweep_point {
    const char *value;
    const wfre_evaluation *const *runs;
    size_t count;
} wfre_sweep_point;

/* A setting that was varied while the others stood. */
typedef struct wfre_sweep_panel {
    const char *name;
    const wfre_sweep_point *points;
    size_t count;
} wfre_sweep_panel;

/* A setting to vary, and the values to try. */
typedef struct wfre_sweep_axis {
    const char *setting;
    const char *const *values;
    size_t count;
} wfre_sweep_axis;

typedef struct wfre_sweep_options {
    const char *folder;           /* for models and standings; made if it is not there */
    wfre_train_settings settings; /* of every run, but for what is varied */
    const char *from;             /* start each with this model's weights, or NULL */
    const wfre_sweep_axis *axes;
    size_t axis_count;  /* 0: nothing but the seed varies */
    unsigned seeds;     /* runs of each value, with seeds from settings.seed on; at least 1 */
    uint32_t calibrate; /* queries of each type for what is fitted at the end of a run */
    /* Gets a line now and then, such as "training radius=2-seed1", with settings named as in
     * wfre_error; may be NULL. */
    void (*say)(void *context, const char *line);
    void *context;
} wfre_sweep_options;

/* What a sweep found. */
typedef struct wfre_sweep wfre_sweep;

/* Trains a model for each value of each setting, the others standing as they are, and evaluates it
 * on the queries, which were opened with this graph. What the folder holds is not done again: the
 * same call goes on after an interruption, and more values or seeds can be added later. Fails with
 * WFRE_ERR_MISMATCH if the folder holds a sweep with other settings. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sweep_run(const wfre_graph *graph,
                                                   const wfre_queryset *queries,
                                                   const wfre_sweep_options *options,
                                                   wfre_pool *pool, const wfre_monitor *monitor,
                                                   wfre_sweep **sweep, wfre_error *error);
/* A panel for each setting, or a single one; they live as long as the sweep. */
WFRE_API const wfre_sweep_panel *wfre_sweep_panels(const wfre_sweep *sweep, size_t *count);
WFRE_API void wfre_sweep_free(wfre_sweep *sweep);

/* All panels as text: means over seeds, with standard deviations if there are several. Release it
 * with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sweep_print(const wfre_sweep_panel *panels, size_t count,
                                                     wfre_report_format format, char **text,
                                                     wfre_error *error);
/* Writes sweep.html, sweep.csv, sweep.json, and NAME.svg for each panel into the folder, which must
 * exist. */
WFRE_API WFRE_NODISCARD wfre_status wfre_sweep_write(const wfre_sweep_panel *panels, size_t count,
                                                     const char *title, const char *folder,
                                                     wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
