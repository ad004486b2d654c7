/* Training: queries are sampled from the train graph as they are needed, and the model learns to
 * put their answers close to them. With its length given in steps, a run with the same seed gives
 * the same bits on any number of threads. */
#ifndef WFRE_TRAIN_H
#define WFRE_TRAIN_H

#include "wfre/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is minimised for a query with an answer a and other candidates c, l being the logit. */
typedef enum wfre_loss {
    WFRE_LOSS_SIGMOID, /* (-log sig(l_a) - mean log sig(-l_c)) / 2: the paper's */
    WFRE_LOSS_SOFTMAX  /* -log of exp(l_a) / (exp(l_a) + sum exp(l_c)) */
} wfre_loss;

/* Which entities a query is compared with besides its answers. */
typedef enum wfre_candidates {
    WFRE_CANDIDATES_OWN,    /* drawn for each query: the paper's negatives */
    WFRE_CANDIDATES_SHARED, /* drawn once for the batch, the batch's answers among them */
    WFRE_CANDIDATES_ALL     /* every entity */
} wfre_candidates;

/* By which distance the loss compares. */
typedef enum wfre_guide {
    WFRE_GUIDE_SCORE,  /* the model's own score, pair by pair */
    WFRE_GUIDE_LOCAL,  /* the local closed form, as one matrix product for the whole batch */
    WFRE_GUIDE_STAGED, /* local first; then the model's score on the candidates that the local one
                          finds hardest */
    WFRE_GUIDE_SURROGATE,       /* a fitted form of the model's score, as matrix products, too */
    WFRE_GUIDE_STAGED_SURROGATE /* the same first; then as in a staged run */
} wfre_guide;

/* What shares a mask of the dropout on basis outputs. */
typedef enum wfre_mask {
    WFRE_MASK_RELATION, /* all rows of a batch that go through a relation: nothing gets slower */
    WFRE_MASK_ROW       /* none: as published */
} wfre_mask;

/* How large the weights are at the start. */
typedef enum wfre_initial {
    WFRE_INITIAL_OWN,      /* bases nearly orthogonal: normal with variance 1/w */
    WFRE_INITIAL_PUBLISHED /* uniform by Xavier's rule over all bases at once, which makes them
                              sqrt((K + 1) / 2) times smaller: they turn faster at the same rate */
} wfre_initial;

/* How the learning rate goes over the run. */
typedef enum wfre_schedule {
    WFRE_SCHEDULE_STEPS, /* divided by 5 at 1/2 and at 3/4: the paper's */
    WFRE_SCHEDULE_COSINE /* a short warm-up, then half a cosine down to nearly nothing */
} wfre_schedule;

/* What the setting rho means. */
typedef enum wfre_rho_rule {
    WFRE_RHO_GIVEN, /* the model's rho */
    WFRE_RHO_SPREAD /* that of the local form in blocks of 5 bins: the model's, gamma and mass are
                       set so that logits spread as widely at the start, whatever the score */
} wfre_rho_rule;

/* The query types of training, in the order of wfre_train_settings.mix. */
enum { WFRE_TRAIN_TYPES = 10 };
WFRE_API extern const char *const wfre_train_type_names[WFRE_TRAIN_TYPES];

typedef struct wfre_train_settings {
    wfre_model_settings model;

    wfre_loss loss;
    wfre_candidates candidates;
    wfre_guide guide;
    wfre_rho_rule rho_rule;
    uint32_t batch; /* queries per step */
    uint32_t deal;  /* batches drawn together and dealt out by relations; 0 and 1: each by itself */
    uint32_t negatives; /* candidates drawn (for each query, or shared) */
    uint32_t positives; /* answers drawn for each query */
    bool repeats;       /* as published, answers may be drawn twice, and also as own negatives */
    bool every_answer;  /* all answers among shared candidates are aimed at, not the drawn alone */
    double mass;        /* what the mass costs that a question's last projection gives, with the
                           local guide */
    double relation_loss; /* weight of telling the relations of facts from others; 0: not asked */
    uint32_t relation_facts;    /* facts of a step, of its single edges, whose relation is asked */
    uint32_t relation_rivals;   /* others that each is compared with */
    uint32_t factor_facts;      /* facts of a step that factors learn from */
    uint32_t factor_candidates; /* entities they are compared with; all if there are fewer */
    double factor_penalty;      /* what the cube of a factor's absolute value costs (N3) */
    double factor_rate;         /* learning rate of factors */
    double teach;               /* weight of what factors say of answers that are not known */
    double answer_weight;       /* a query with n answers weighs (n + 4) to this power */
    bool lift;                  /* at the end, fit the model's lifts on validation queries */
    bool edges; /* at the end, let the model answer edge by edge, unless validation queries lose */
    uint32_t hard; /* candidates a query keeps in the second stage of a staged run */
    uint32_t
        exact; /* candidates a query, and answers, that the guide surrogate leaves to the score */
    double stage;                 /* share of the run after which the second stage begins */
    double mix[WFRE_TRAIN_TYPES]; /* share of each query type; need not sum to 1 */
    double mix_1p_end; /* that of 1p at the end, where mix[0] is that at the start; 0: the same */
    bool turns; /* as published, batches of paths alone and of others alone: two and one by turns */
    double forward_edges, forward_paths; /* as for wfre_sampler_forward: of 1p, of 2p and 3p */

    wfre_schedule schedule;
    double warmup;        /* share of the run */
    bool fresh;           /* as published, AdamW begins anew whenever the rate drops */
    double rate_entities; /* learning rates */
    double rate_layers;
    double decay; /* AdamW's weight decay */
    double clip;  /* largest norm of the gradient of the layers; 0: no limit */
    bool bounded; /* entities are put back into [0, 1] after each update */
    double drop_input, drop_basis, drop_negation;
    wfre_mask mask;
    wfre_initial initial;

    uint64_t steps; /* length of the run; or, if 0, ... */
    double seconds; /* ... its wall-clock time, over all resumptions */
    uint64_t seed;
    wfre_precision precision;
} wfre_train_settings;

/* A named recipe: paper-wn18rr, paper-fb15k-237, paper-nell, paper-fb15k (the paper's best
 * hyperparameters), small, base, large, embedding (ours). NULL chooses small or base by the graph's
 * size. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_preset(const char *name, const wfre_graph *graph,
                                                      wfre_train_settings *settings,
                                                      wfre_error *error);

/* Sets one setting of training or model by its name, such as "batch" or "dim", from text. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_set(wfre_train_settings *settings, const char *name,
                                                   const char *text, wfre_error *error);

/* Gives the settings of a run the sizes of the model that it starts from. Fails with
 * WFRE_ERR_ARGUMENT if a size was set to something that is neither the model's nor the preset's. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_take_sizes(wfre_train_settings *settings,
                                                          const wfre_train_settings *preset,
                                                          const wfre_model_settings *model,
                                                          wfre_error *error);

/* All settings of training and model, for listing. */
WFRE_API size_t wfre_train_setting_count(void);
WFRE_API wfre_setting_text wfre_train_setting(const wfre_train_settings *settings, size_t index);

/* What is known after a step, for progress lines and logs. */
typedef struct wfre_train_status {
    uint64_t step, steps; /* steps is 0 when time limits the run */
    double seconds;       /* of training so far, over all resumptions */
    double progress;      /* 0 .. 1 */
    double loss;          /* smoothed */
    double last_loss;     /* of the last step */
    double rate;          /* the schedule's factor */
    double queries_per_second;
    double time_sampling, time_projection, time_scoring, time_optimizer; /* seconds in all */
} wfre_train_status;

/* WFRE_ERR_ARGUMENT, saying why, if no run can have these settings. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_settings_check(const wfre_train_settings *settings,
                                                              wfre_error *error);

typedef struct wfre_trainer wfre_trainer;

/* Borrows the graph and the pool until freed. */
WFRE_API WFRE_NODISCARD wfre_status wfre_trainer_create(const wfre_graph *graph,
                                                        const wfre_train_settings *settings,
                                                        wfre_pool *pool, wfre_trainer **trainer,
                                                        wfre_error *error);
WFRE_API void wfre_trainer_free(wfre_trainer *trainer);

/* One step. Fails with WFRE_ERR_NUMERIC, and with advice, if the loss is not finite, and with
 * WFRE_ERR_INTERRUPTED if it is stopped (wfre_cancel_here). The model then stays as it was, and the
 * step can be made again, with the same result. */
WFRE_API WFRE_NODISCARD wfre_status wfre_trainer_step(wfre_trainer *trainer, wfre_error *error);
WFRE_API bool wfre_trainer_done(const wfre_trainer *trainer);
WFRE_API wfre_train_status wfre_trainer_status(const wfre_trainer *trainer);
/* How well a guide stands for the score: errors of gradients are relative to their norm, and the
 * true gradient is what the score itself gives as guide (wfre/score.h). */
typedef struct wfre_guide_error {
    double fit;       /* R^2 of the surrogate's values of single blocks; 0 for another guide */
    double slope;     /* error of its derivative, beside that of the score's value */
    double gradient;  /* error of what it follows, beside the score's gradient */
    double questions; /* error of the loss's gradient by the embedded questions */
    double entities;  /* the same by the candidates */
} wfre_guide_error;

/* Compares the guide, local or surrogate, with the score on the first `queries` of the batch that
 * comes next, over all of its candidates; the surrogate is fitted to the batch first, and leaves
 * `exact` candidates a query to the score. Nothing is learned. WFRE_ERR_ARGUMENT for another guide,
 * and for a model of several members. */
WFRE_API WFRE_NODISCARD wfre_status wfre_trainer_compare(wfre_trainer *trainer, uint32_t queries,
                                                         uint32_t exact, wfre_guide_error *result,
                                                         wfre_error *error);
/* The model in training; owned by the trainer. */
WFRE_API const wfre_model *wfre_trainer_model(const wfre_trainer *trainer);

/* ---- a whole run -------------------------------------------------------------------------- */

typedef struct wfre_train_run {
    const char *model;         /* the file to write at the end; beside it NAME.log.jsonl,
                                  NAME.curve.svg and, while the run lasts, NAME.checkpoint,
                                  NAME.unfinished.safetensors (the best so far) and NAME.lock */
    const char *from;          /* start with this model's weights; NULL: at random */
    bool resume;               /* go on from the checkpoint, if there is one; else begin anew */
    double checkpoint_seconds; /* between checkpoints; negative: none at all */
    const char *queries;       /* validation query set (*.tsv); NULL: sampled from the graph */
    uint32_t validate;         /* validation queries of each type; 0: no validation */
    uint32_t calibrate;        /* queries of each type for what is fitted at the end; 0: none */
    /* Called after every step, by the thread that called wfre_train; `mrr` is that of the last
     * validation, -1 before the first. NULL: nobody is told. */
    void (*step)(void *context, const wfre_train_status *status, double mrr);
    void *context;
    /* Instead of `queries` and `from`, if they are open already; both are borrowed until the run
     * has ended. The query set must have been opened with the graph. */
    const wfre_queryset *queryset;
    const wfre_model *from_model;
} wfre_train_run;

/* The settings of this model file's interrupted run; a resumed run keeps all but its length.
 * WFRE_ERR_NOT_FOUND if it has no checkpoint. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_resumed_settings(const char *model,
                                                                wfre_train_settings *settings,
                                                                wfre_error *error);

typedef struct wfre_train_summary {
    wfre_train_status status;
    double mrr;                    /* of the validation sample, at the end; -1 without validation */
    double best_mrr;               /* of the model that was kept */
    double calibration_error;      /* of its probabilities (wfre_reliability); -1 if it has none */
    wfre_reliability any, missing; /* what they are worth; no queries if they were not checked */
    bool resumed;                  /* it went on from a checkpoint */
    double links_mrr, best_links_mrr;   /* link prediction of the same; -1 without valid triples */
    wfre_measured_row questions, links; /* of the finished model (wfre_model_measured); no questions
                                           if it was not measured */
} wfre_train_summary;

/* Trains and writes the model: the one with the best validation (the mean of its MRR on questions,
 * averaged over types, and on link prediction), or the last without. One run at a
 * time can have an output: another fails with WFRE_ERR_IO and names its process. When interrupted,
 * which it is within a step, too, it writes a checkpoint of the last whole step and returns
 * WFRE_ERR_INTERRUPTED; before there is anything to keep it writes none. The monitor's report
 * carries the state of the run in its note. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train(const wfre_graph *graph,
                                               const wfre_train_settings *settings,
                                               const wfre_train_run *run, wfre_pool *pool,
                                               const wfre_monitor *monitor,
                                               wfre_train_summary *summary, wfre_error *error);

/* ---- entities added after training -------------------------------------------------------- */

typedef struct wfre_add_options {
    const char *triples; /* anything that wfre_import reads; all of it counts as training data */
    const char *format;  /* of the triples, and what becomes of literals and blank nodes: as in */
    wfre_literals literals; /* wfre_import_options */
    const char *graph;      /* the files to write */
    const char *model;
    uint32_t steps; /* of fitting an entity; 0: it becomes a copy of the one most like it */
} wfre_add_options;

/* 40 steps. The files are the caller's to fill in. */
WFRE_API void wfre_add_options_default(wfre_add_options *options);

typedef struct wfre_addition {
    uint32_t entities; /* that are new */
    uint64_t triples;
    uint64_t literals, blanks; /* triples left out for a literal, for a blank node */
    double seconds;            /* for fitting the entities */
} wfre_addition;

/* Writes a graph with more triples and a model that knows their entities: a new one gets a
 * histogram fitted to its triples with known entities, the rest of the model stays as it is. Fails
 * with WFRE_ERR_NOT_FOUND for a relation that the model has not learned. Old entities keep their
 * ids. */
WFRE_API WFRE_NODISCARD wfre_status wfre_add(const wfre_graph *graph, const wfre_model *model,
                                             const wfre_add_options *options, wfre_pool *pool,
                                             const wfre_monitor *monitor, wfre_addition *report,
                                             wfre_error *error);

/* The same in memory: the triples are those of a graph of their own (wfre_import_graph), joined by
 * the names of entities and relations. The caller closes and frees what it gets. */
WFRE_API WFRE_NODISCARD wfre_status wfre_add_with(const wfre_graph *graph, const wfre_model *model,
                                                  const wfre_graph *extra, uint32_t steps,
                                                  wfre_pool *pool, const wfre_monitor *monitor,
                                                  wfre_graph **larger_graph,
                                                  wfre_model **larger_model, wfre_addition *report,
                                                  wfre_error *error);

/* Removes what a run that was killed left beside a model that is finished all the same. Fails with
 * WFRE_ERR_IO while a run has the output. */
WFRE_API WFRE_NODISCARD wfre_status wfre_train_tidy(const char *model, wfre_error *error);

#ifdef __cplusplus
}
#endif

#endif
