/* The WFRE model: entities as histograms, relations as learned projections, logic as t-norms.
 *
 * A model belongs to one graph, which it knows by fingerprint. It is trained by wfre/train.h. */
#ifndef WFRE_MODEL_H
#define WFRE_MODEL_H

#include "wfre/base.h"
#include "wfre/graph.h"
#include "wfre/query.h"
#include "wfre/score.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wfre_model wfre_model;

/* How an intersection combines two truth values (a union is its dual). */
typedef enum wfre_tnorm {
    WFRE_TNORM_GODEL,      /* min(a, b) */
    WFRE_TNORM_PRODUCT,    /* a b */
    WFRE_TNORM_LUKASIEWICZ /* max(a + b - 1, 0) */
} wfre_tnorm;

/* How a union is answered. */
typedef enum wfre_union {
    WFRE_UNION_DNF,      /* the best score over the branches of the disjunctive normal form */
    WFRE_UNION_DEMORGAN, /* as the complement of an intersection of complements */
    WFRE_UNION_TCONORM   /* by the t-norm's dual, inside the embedding */
} wfre_union;

/* The last operator of a question, which selects its lift. */
typedef enum wfre_last_step {
    WFRE_LAST_PROJECTION,
    WFRE_LAST_INTERSECTION,
    WFRE_LAST_NEGATION, /* an intersection with a complement */
    WFRE_LAST_OTHER     /* an entity, a complement, a union inside the embedding */
} wfre_last_step;

/* How the sets of a question are found. */
typedef enum wfre_answering {
    WFRE_BY_EMBEDDING, /* the whole question becomes a histogram: the paper's way */
    WFRE_BY_EDGES /* edge by edge: those of the graph are certain, others as likely as the model
                   * says */
} wfre_answering;

enum { WFRE_MAXIMUM_LAYERS = 4, WFRE_LIFTS = WFRE_LAST_OTHER };

/* How questions are answered with a model: a value, of which a model's file keeps a default one,
 * and every question may have its own. */
typedef struct wfre_way {
    wfre_answering by;
    wfre_union unions;
    bool exhaustive; /* score every entity instead of estimating most of them */
    /* By embedding: what a question's histogram is multiplied by (and cut off at 1) before it is
     * compared with entities, by its last step; 1 in training, and as the paper has it. */
    double lift[WFRE_LIFTS];
    double edge_sharpness; /* by edges: factor of the logits */
    double edge_room;      /* by edges: weight of how many edges the answer seems to lack */
    double edge_joined;  /* by edges: what the logit gains where another relation joins the ends */
    double edge_kinds;   /* by edges: weight of whether the answer is of a kind that stands there */
    double edge_alike;   /* by edges: weight of what those do that share facts with the ends */
    double edge_factors; /* by edges: weight of what factors say, beside the distance */
    double missing_rate; /* share of what is true that the graph lacks; 0: as was held out of it */
} wfre_way;

/* The same for the same way: for keys of what was computed in it. */
WFRE_API uint64_t wfre_way_hash(const wfre_way *way);

typedef struct wfre_model_settings {
    uint32_t dim;     /* length of a histogram; a multiple of score.block */
    uint32_t bases;   /* shared matrices a relation is mixed from; 0: a free matrix each */
    uint32_t layers;  /* of a projection; 1 .. WFRE_MAXIMUM_LAYERS */
    uint32_t members; /* equal parts of a histogram, each projected by itself; divides dim */
    uint32_t factors; /* complex numbers that an entity has beside it, for single edges; 0: none */
    wfre_tnorm tnorm;
    double complement;         /* f: the complement of m is 1/2 - f (m - 1/2), so 1 is 1 - m */
    wfre_score_settings score; /* how an entity (left) is compared with a query (right); its
                                  dimension is set to dim */
    double gamma;              /* margin: logit = gamma - rho * distance */
    double rho;                /* scale */
    wfre_way way;              /* how questions are answered if nothing else is said */
    /* What entities, relations and logic are as numbers; NULL: histograms, as above. There is no
     * other yet. A model's file says the name. */
    const struct wfre_family *family;
} wfre_model_settings;

/* What the paper uses, at a modest size. */
WFRE_API void wfre_model_settings_default(wfre_model_settings *settings);

/* How well answers that a graph lacks are ranked: all between 0 and 1, higher is better. */
typedef struct wfre_metrics {
    double mrr;   /* mean of 1 / rank */
    double hits1; /* share of ranks <= 1 */
    double hits3;
    double hits10;
} wfre_metrics;

/* A random model for the graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_create(const wfre_graph *graph,
                                                      const wfre_model_settings *settings,
                                                      uint64_t seed, wfre_model **model,
                                                      wfre_error *error);
/* Another owner of the same model, who frees it as well; returns it. Any thread may call it. */
WFRE_API wfre_model *wfre_model_ref(const wfre_model *model);
WFRE_API void wfre_model_free(wfre_model *model);

/* Model files are safetensors; bf16 halves their weights at the price of rounding. An open model of
 * float32 maps its entities from the file, so that opening takes no time; the file may be replaced,
 * but not changed in place. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_open(const char *path, wfre_model **model,
                                                    wfre_error *error);
/* Whether a file that begins with these bytes (at least 16 of them) looks like a
 * safetensors file. */
WFRE_API bool wfre_model_recognises(const void *head, size_t length);
WFRE_API WFRE_NODISCARD wfre_status wfre_model_save(const wfre_model *model, const char *path,
                                                    bool bf16, wfre_error *error);

/* Whether a training run that had not ended wrote it: it has learned less than it was to, and has
 * no probabilities. */
WFRE_API bool wfre_model_unfinished(const wfre_model *model);

/* A checkpoint of the published PyTorch code (a zip archive) as a model for the graph, whose
 * entities and relations must be numbered as there, as in a folder of the published benchmarks. It
 * is read as data, nothing in it is executed. Sizes, weights and gamma are the checkpoint's; the
 * other settings are given. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_convert(const char *path, const wfre_graph *graph,
                                                       const wfre_model_settings *settings,
                                                       wfre_model **model, wfre_error *error);

/* Makes what a search among the entities reads, about a byte for each bin of each; a saved model
 * keeps it, and then needs no time before its first question. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_prepare(wfre_model *model, wfre_pool *pool,
                                                       wfre_error *error);

WFRE_API const wfre_model_settings *wfre_model_get_settings(const wfre_model *model);
WFRE_API uint32_t wfre_model_entities(const wfre_model *model);
WFRE_API uint32_t wfre_model_relations(const wfre_model *model);
WFRE_API uint64_t wfre_model_parameters(const wfre_model *model);
/* The entities' histograms, a row of dim numbers each, as they lie in memory or in the mapped file;
 * numbers outside [0, 1] count as 0 and 1. For reading, as long as the model lives. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_entity_rows(const wfre_model *model, wfre_rows *rows,
                                                           wfre_error *error);
/* Of the graph it was trained on. */
WFRE_API uint64_t wfre_model_fingerprint(const wfre_model *model);
/* A hash of its weights, which tells trained models apart. */
WFRE_API uint64_t wfre_model_weights_hash(const wfre_model *model);
/* WFRE_ERR_MISMATCH, with both sizes in the message, if the model was trained on another graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_check_graph(const wfre_model *model,
                                                           const wfre_graph *graph,
                                                           wfre_error *error);

/* One setting, for listing. */
typedef struct wfre_setting_text {
    const char *name;
    char value[64];
    const char *help; /* one line */
} wfre_setting_text;
WFRE_API size_t wfre_model_setting_count(void);
WFRE_API wfre_setting_text wfre_model_setting(const wfre_model_settings *settings, size_t index);

/* Sets one setting by its name, such as "dim" or "tnorm", from text. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_set(wfre_model_settings *settings, const char *name,
                                                   const char *text, wfre_error *error);

/* Reads every weight: WFRE_ERR_NUMERIC, naming the tensor, if one is not a finite number. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_validate(const wfre_model *model, wfre_error *error);

/* ---- probabilities ------------------------------------------------------------------------ */

enum { WFRE_RELIABILITY_BINS = 10 };

/* The predictions with a probability from b/10 to (b+1)/10. */
typedef struct wfre_reliability_bin {
    uint64_t count;
    double predicted; /* mean probability */
    double observed;  /* share that were answers */
} wfre_reliability_bin;

/* How well a calibrated model's probabilities agree with what is true. */
typedef struct wfre_reliability {
    uint64_t queries; /* that it was measured on; probabilities were fitted to others */
    uint64_t fitted;  /* how many those others were; 0: not known */
    double error;     /* expected calibration error: mean of |predicted - observed|
                       * over predictions */
    double low, high; /* 95% interval of the error; both 0: not known */
    double expected;  /* sum of the probabilities: as many answers should be found */
    uint64_t found;   /* and so many were. Where questions that lack something were drawn more
                       * often, in a model's own check, all but counts are weighted for it */
    wfre_reliability_bin bins[WFRE_RELIABILITY_BINS];
} wfre_reliability;

/* Learns to turn scores into probabilities from a query set (*.tsv) with easy and hard answers: the
 * probability of a predicted answer is that of its being a hard one. Each query shape is fitted by
 * itself, as far as there are queries of it. A saved model keeps its calibration. */
WFRE_API WFRE_NODISCARD wfre_status wfre_calibrate(const wfre_graph *graph, wfre_model *model,
                                                   const char *queries, wfre_pool *pool,
                                                   const wfre_monitor *monitor, wfre_error *error);
/* The same with a query set that was opened with this graph. */
WFRE_API WFRE_NODISCARD wfre_status wfre_calibrate_with(const wfre_graph *graph, wfre_model *model,
                                                        const wfre_queryset *queries,
                                                        wfre_pool *pool,
                                                        const wfre_monitor *monitor,
                                                        wfre_error *error);
/* What probabilities mean. `probability` is the chance that a predicted answer is right, whoever
 * asks and whether or not anything is missing: of all answers that get 0.3, three of ten are
 * confirmed by facts of this graph that were held out and that the model has not seen. It is fitted
 * to questions drawn as people ask them, most of which lack nothing. So it counts what is missing
 * as held-out facts are: if more is missing than was held out, or something else, it is too low or
 * wrong, and it cannot know that. `missing_probability` is the same number for questions of which
 * it is known that they lack an answer. */

/* Measuring what a model's probabilities are worth. */
typedef struct wfre_reliability_options {
    wfre_split split; /* whose facts are held out, valid or test; the others are known */
    size_t edges;     /* pairs of an entity and a relation that it has, all equally likely */
    size_t shapes;    /* questions of each of 13 other shapes, grown in what is known */
    uint64_t seed;
} wfre_reliability_options;

/* The test split if there is one, 12,000 single edges, 50 questions of each other shape. */
WFRE_API void wfre_reliability_options_default(const wfre_graph *graph,
                                               wfre_reliability_options *options);
/* `any` is measured on all questions, by predictions of 0.05 and more; `missing`, by all, on those
 * that lack something. On the valid split, to which models are fitted, only entities are asked
 * about that were set apart then, and one half of the split's facts is known while `any` is
 * measured on the other, as in the fit. */
WFRE_API WFRE_NODISCARD wfre_status wfre_measure_reliability(
    const wfre_graph *graph, const wfre_model *model, const wfre_reliability_options *options,
    wfre_pool *pool, const wfre_monitor *monitor, wfre_reliability *any, wfre_reliability *missing,
    wfre_error *error);

/* Of questions drawn as people ask them; NULL if the model is not calibrated, or only for questions
 * with something missing, as models made before were. */
WFRE_API const wfre_reliability *wfre_model_reliability(const wfre_model *model);
/* Of questions with something missing; NULL if the model is not calibrated. */
WFRE_API const wfre_reliability *wfre_model_missing_reliability(const wfre_model *model);

/* ---- what training measured --------------------------------------------------------------- */

/* How well answers that the train split lacks were ranked. */
typedef struct wfre_measured_row {
    const char *name;   /* of a type, as a file of queries names it ("2in"); NULL for a mean */
    uint32_t types;     /* that it is the mean of; 1 for a type */
    uint64_t questions; /* none: it was not measured */
    wfre_metrics mean;  /* over questions, then over types */
    double mrr_low, mrr_high; /* 95% interval of its MRR */
} wfre_measured_row;

/* What a training run measured of its finished model, on facts of the valid split, in the way in
 * which the model answers if nothing else is said. Those facts also chose the model and the few
 * numbers that are fitted at the end, so a test split may read a little lower. */
typedef struct wfre_measured {
    wfre_answering by;
    bool sampled;                  /* questions were drawn; else they came from a query set */
    wfre_measured_row without_not; /* mean over the types without negation, */
    wfre_measured_row with_not;    /* over those with it, */
    wfre_measured_row all;         /* and over all of them */
    wfre_measured_row links;       /* link prediction: triples, asked for tail and for head; each
                                    * is two questions, and counts by itself */
    uint64_t triples;              /* that the split adds, of which those of `links` were drawn */
    const char *commit;            /* of the program that measured */
    size_t type_count;
    const wfre_measured_row *types;
} wfre_measured;

/* NULL if its file says nothing, as that of a model made before, converted or enlarged. Lives as
 * long as the model. Names come from files: escape them before they are shown. */
WFRE_API const wfre_measured *wfre_model_measured(const wfre_model *model);
/* The same as a JSON object, or "null"; release it with wfre_string_free. */
WFRE_API WFRE_NODISCARD wfre_status wfre_model_measured_json(const wfre_model *model, char **json,
                                                             wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
