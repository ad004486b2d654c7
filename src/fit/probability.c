/* Fitting the two probabilities.
 *
 *   1. by edges: the odds of single edges, on pairs of an entity and a relation
 *   2. any: questions of all shapes, as people ask them
 *   3. missing: the given queries, all of which lack something
 *
 * Who asks knows facts that the model has not learned, and what seems to be missing where such a
 * fact is known is often that fact in other words. So 1 and 2 are asked with one half of the valid
 * facts known and the other half missing, and once more the other way round; on a large graph
 * only once, since half of its valid facts are enough.
 *
 * Shapes are fitted with a penalty on the distance from the fit of all shapes together: a shape
 * with many questions goes its own way, one with few stays near the common one. */
#include "fit/probability.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "exact/exact.h"
#include "fit/bend.h"
#include "fit/logistic.h"
#include "fit/reliability.h"
#include "fit/reveal.h"
#include "graph/graph.h"
#include "infer/probability.h"
#include "query/types.h"
#include "sample/queryset.h"

enum {
    TERMS = WFRE_CALIBRATION_TERMS,
    EDGES_A_QUERY = 20,
    SHOWN = 10 /* predictions a question that the reliability counts: what people see */
};

static const char SINGLE[] = "1p";        /* a question of one edge */
static const double MOST_LACKING = 0.999; /* share of what is true; a file holds none of 1 */
static const double PENALTY = 4;          /* in samples */
static const double LIKELY = 0.05; /* less likely predictions do not count for the error of any */
static const double PRIOR = 10;    /* entities that a rate is taken from all relations for */
static const double LEAST_SLOPE = 0.1; /* of the odds of an edge over its softmax */

typedef struct fitting {
    const wfre_probability_fit *given;
    wfre_session *session; /* that is asked */
    double seconds;        /* that there are for questions; 0: no limit */
    wfre_calibration *made;
    wfre_revealed revealed;          /* questions as people ask them are asked of these */
    double rate;                     /* share of what is true that is missing there */
    const wfre_missing_counts *room; /* of the one that is asked */
    wfre_strings names;              /* of shapes; 0 is "*" */
    wfre_text name;
    wfre_sample *samples;
    size_t sample_count, sample_capacity;
    size_t bent;            /* of these, the first ones, single edges whose odds are bent already */
    size_t base;            /* questions that were asked before these */
    uint64_t fitted, apart; /* questions */
    bool ranking;           /* samples have the terms of a ranking, not of a product of odds */
} fitting;

/* ---- samples ------------------------------------------------------------------------------ */

static wfre_status reserve(fitting *f, size_t more, wfre_error *error)
{
    return WFRE_RESERVE(&f->samples, &f->sample_capacity, f->sample_count + more)
               ? WFRE_OK
               : wfre_fail_memory(error, "calibrating");
}

/* The index of the tree's shape, new or known; its name is in f->name. */
static wfre_status find_shape(fitting *f, const wfre_node *tree, uint32_t *shape, wfre_error *error)
{
    wfre_text_clear(&f->name);
    CHECK(wfre_type_name(tree, &f->name, error));
    return wfre_strings_intern(&f->names, f->name.data, f->name.length, shape, error);
}

static void begin_samples(fitting *f)
{
    f->sample_count = f->bent = 0;
    f->fitted = f->apart = 0;
}

/* A sample of what does not depend on how it is fitted. */
static wfre_sample *new_sample(fitting *f, const wfre_asked *asked, size_t question,
                               const wfre_wanted *found, size_t i)
{
    wfre_sample *s = &f->samples[f->sample_count++];
    *s = (wfre_sample){.terms = {1},
                       .weight = 1,
                       .question = (uint32_t)(f->base + question),
                       .answer = wfre_list_has(asked->hard, found->hits[i].entity),
                       .apart = asked->apart,
                       .shown = i < SHOWN};
    return s;
}

static wfre_judged judged(const fitting *f, const wfre_asked *asked, const wfre_reasoner *reasoner)
{
    const wfre_model *model = f->session->engine->model;
    return (wfre_judged){.model = model,
                         .way = &model->settings.way,
                         .reasoner = reasoner,
                         .tree = asked->tree,
                         .shape = f->name.data,
                         .known = asked->easy.count};
}

/* Samples of what shapes are fitted to. */
static wfre_status add_answers(void *context, const wfre_asked *asked, size_t index,
                               const wfre_wanted *found, const wfre_reasoner *reasoner,
                               wfre_error *error)
{
    fitting *f = context;
    uint32_t shape;
    CHECK(find_shape(f, asked->tree, &shape, error));
    CHECK(reserve(f, found->hit_count, error));
    if (reasoner != wfre_reasoner_of(&f->session->engine->model->settings.way))
        return WFRE_OK; /* it has no probability */
    wfre_judged of = judged(f, asked, reasoner);
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    f->fitted += !asked->apart;
    f->apart += asked->apart;
    for (size_t i = 0; i < found->hit_count; i++) {
        wfre_sample *s = new_sample(f, asked, index, found, i);
        s->shape = shape;
        if (f->ranking)
            wfre_calibration_terms(&view, found->hits, i, s->terms);
        else
            s->terms[1] = wfre_truth_logit((double)found->hits[i].score);
    }
    return WFRE_OK;
}

/* Samples of single edges; the score is still room * softmax / (1 + room * softmax). */
static wfre_status add_edges(void *context, const wfre_asked *asked, size_t index,
                             const wfre_wanted *found, const wfre_reasoner *reasoner,
                             wfre_error *error)
{
    fitting *f = context;
    (void)reasoner;
    wfre_relation relation = asked->tree->id;
    size_t known = asked->easy.count;
    wfre_source_kind kind = known > 0 ? WFRE_SOURCE_KNOWN : WFRE_SOURCE_FRESH;
    double room = (double)wfre_missing_counts_log(f->room, relation, known);
    CHECK(reserve(f, found->hit_count, error));
    for (size_t i = 0; i < found->hit_count; i++) {
        wfre_sample *s = new_sample(f, asked, index, found, i);
        s->terms[1] = wfre_truth_logit((double)found->hits[i].score) - room;
        s->terms[2] = known > 0 ? room : 0; /* hardly differs where there are none */
        s->terms[3] = log(known > 0 ? (double)known : 1);
        s->terms[4] = wfre_calibration_rate(f->made, relation, kind);
    }
    return WFRE_OK;
}

/* ---- rates -------------------------------------------------------------------------------- */

/* What was held out of a relation. */
typedef struct held_out {
    double sources[2]; /* entities that have edges of it; the same, once more */
    double edges[2];   /* held out of them; entities that lost all they had */
} held_out;

static held_out count_held_out(const wfre_graph *graph, wfre_relation relation)
{
    held_out sum = {{0}, {0}};
    wfre_list sources = wfre_graph_sources(graph, WFRE_VALID, relation);
    for (size_t i = 0; i < sources.count; i++) {
        wfre_entity x = sources.ids[i];
        if (wfre_asked_apart(x))
            continue;
        size_t known = wfre_graph_targets(graph, WFRE_TRAIN, relation, x).count;
        size_t all = wfre_graph_targets(graph, WFRE_VALID, relation, x).count;
        sum.sources[0] += known > 0;
        sum.edges[0] += known > 0 ? (double)(all - known) : 0;
        sum.edges[1] += known == 0;
    }
    sum.sources[1] = sum.sources[0];
    return sum;
}

/* What was held out, of what. */
static void measure_splits(fitting *f)
{
    wfre_calibration *c = f->made;
    double train = (double)wfre_graph_triples(f->given->graph, WFRE_TRAIN);
    double valid = (double)wfre_graph_triples(f->given->graph, WFRE_VALID);
    double all = (double)wfre_graph_triples(f->given->graph, WFRE_TEST);
    c->share = (valid - train) / valid;
    c->lacking[WFRE_TRAIN] = fmin((all - train) / all, MOST_LACKING);
    c->lacking[WFRE_VALID] = all > valid ? (all - valid) / all : c->share;
    c->lacking[WFRE_TEST] = c->share;
}

static wfre_status measure_rates(fitting *f, wfre_error *error)
{
    const wfre_graph *graph = f->given->graph;
    wfre_calibration *c = f->made;
    wfre_relation relations = wfre_graph_relations(graph);
    held_out *counts = wfre_alloc_zero(relations, sizeof *counts);
    c->rates = wfre_alloc(2 * (size_t)relations, sizeof *c->rates);
    if (!counts || !c->rates) {
        wfre_free(counts);
        return wfre_fail_memory(error, "calibrating");
    }
    c->relations = relations;
    held_out sum = {{0}, {0}};
    for (wfre_relation r = 0; r < relations; r++) {
        counts[r] = count_held_out(graph, r);
        for (int k = 0; k < 2; k++) {
            sum.sources[k] += counts[r].sources[k];
            sum.edges[k] += counts[r].edges[k];
        }
    }
    for (int k = 0; k < 2; k++) {
        double mean = (sum.edges[k] + 1) / (sum.sources[k] + 1);
        c->usual[k] = log(mean);
        for (wfre_relation r = 0; r < relations; r++)
            c->rates[2 * r + (wfre_relation)k] =
                (float)log((counts[r].edges[k] + PRIOR * mean) / (counts[r].sources[k] + PRIOR));
    }
    wfre_free(counts);
    return WFRE_OK;
}

/* ---- the odds of edges -------------------------------------------------------------------- */

/* The odds of one kind, whose samples get them as offset. */
static wfre_status fit_odds(fitting *f, wfre_source_kind kind, wfre_sample *samples, size_t count,
                            wfre_error *error)
{
    static const int sign[WFRE_LOGISTIC_TERMS] = {0, 1};
    wfre_logistic l = {
        .terms = WFRE_EDGE_TERMS, .samples = samples, .count = count, .penalty = PENALTY};
    double start = wfre_missing_gain(f->given->model, f->rate);
    double factors[WFRE_LOGISTIC_TERMS] = {start, 1, kind == WFRE_SOURCE_KNOWN ? 1 : 0};
    wfre_logistic_measure(&l);
    wfre_logistic_fit(&l, 0, sign, factors);
    factors[1] = fmax(factors[1], LEAST_SLOPE);
    memcpy(f->made->odds[kind], factors, sizeof f->made->odds[kind]);
    for (size_t i = 0; i < count; i++)
        for (int t = 0; t < WFRE_EDGE_TERMS; t++)
            samples[i].offset += factors[t] * samples[i].terms[t];
    return wfre_bend_fit(samples, count, PENALTY, &f->made->bends[kind], error);
}

/* Samples of single edges as samples of their shape: the odds are known, nothing is asked again. */
static wfre_status keep_edges(fitting *f, size_t count, wfre_error *error)
{
    uint32_t shape;
    f->sample_count = f->bent = count;
    if (count == 0)
        return WFRE_OK;
    CHECK(wfre_strings_intern(&f->names, SINGLE, sizeof SINGLE - 1, &shape, error));
    for (size_t i = 0; i < count; i++) {
        wfre_sample *s = &f->samples[i];
        bool first = i == 0 || s->question != s[-1].question;
        f->fitted += first && !s->apart;
        f->apart += first && s->apart;
        s->shape = shape;
        s->terms[1] = s->offset;
        s->offset = 0;
    }
    return WFRE_OK;
}

static wfre_survey survey_of(const fitting *f, double share)
{
    wfre_survey survey = {.session = f->session,
                          .way = f->session->engine->model->settings.way,
                          .split = WFRE_TRAIN,
                          .seconds = share * f->seconds,
                          .monitor = f->given->monitor,
                          .task = "calibrating"};
    survey.way.missing_rate = f->rate;
    return survey;
}

/* Questions of a kind: their samples begin at `first`; so many were asked, of so many there are. */
typedef struct drawn {
    size_t first, asked, all;
} drawn;

/* Asks single edges of one part, at most `count`, for a share of the time. */
static wfre_status ask_edges(fitting *f, int part, wfre_asked_kind kind, size_t count, double share,
                             drawn *d, wfre_error *error)
{
    wfre_status status;
    wfre_asked_set set = {0};
    wfre_asking asking = {.graph = f->revealed.graphs[part],
                          .split = WFRE_TRAIN,
                          .count = count,
                          .seed = f->given->seed + (uint64_t)part};
    f->session = f->revealed.sessions[part];
    wfre_survey survey = survey_of(f, share);
    *d = (drawn){.first = f->sample_count};
    TRY(wfre_engine_missing(f->session->engine, WFRE_TRAIN, &f->room, error));
    TRY(wfre_asked_edges(&asking, kind, &set, error));
    d->all = set.all;
    TRY(wfre_survey_run(&survey, set.list, set.count, f->ranking ? add_answers : add_edges, f,
                        &d->asked, error));
    f->base += d->asked;
cleanup:
    wfre_asked_clear(&set);
    return status;
}

/* Of entities that have the relation. Questions that lack something are few, and say most of what
 * there is to be learned: a quarter is asked of them, and every sample gets the weight that makes
 * up for it. */
static wfre_status ask_known(fitting *f, wfre_error *error)
{
    static const double LACKING = 0.25, SHARE = 0.5;
    enum { KINDS = 2 * WFRE_PARTS };
    drawn of[KINDS + 1];
    size_t count = f->given->edges / (size_t)f->revealed.count;
    double share = SHARE / f->revealed.count, asked = 0, all = 0;
    int kinds = 0;
    for (int part = 0; part < f->revealed.count; part++) {
        drawn *d = &of[kinds];
        CHECK(ask_edges(f, part, WFRE_ASKED_SOUND, (size_t)((1 - LACKING) * (double)count),
                        (1 - LACKING) * share, &d[0], error));
        CHECK(ask_edges(f, part, WFRE_ASKED_LACKING, count - d[0].asked, LACKING * share, &d[1],
                        error));
        kinds += 2;
    }
    of[kinds].first = f->sample_count;
    for (int k = 0; k < kinds; k++) {
        asked += (double)of[k].asked;
        all += (double)of[k].all;
    }
    for (int k = 0; k < kinds; k++) {
        double weight = (double)of[k].all / all * asked / (double)of[k].asked;
        for (size_t i = of[k].first; i < of[k + 1].first; i++)
            f->samples[i].weight = weight;
    }
    return WFRE_OK;
}

/* Of those that have it not; every part gets its share. */
static wfre_status ask_fresh(fitting *f, wfre_error *error)
{
    static const double SHARE = 0.1;
    drawn d;
    for (int part = 0; part < f->revealed.count; part++)
        CHECK(ask_edges(f, part, WFRE_ASKED_FRESH, f->given->edges / 4 / (size_t)f->revealed.count,
                        SHARE / f->revealed.count, &d, error));
    return WFRE_OK;
}

/* Samples of those without edges of the relation are not kept. The odds were fitted to half of what
 * is missing, and are to be those of as much as was held out. */
static wfre_status learn_odds(fitting *f, wfre_error *error)
{
    size_t first;
    CHECK(ask_known(f, error));
    first = f->sample_count;
    CHECK(ask_fresh(f, error));
    CHECK(fit_odds(f, WFRE_SOURCE_KNOWN, f->samples, first, error));
    CHECK(fit_odds(f, WFRE_SOURCE_FRESH, f->samples + first, f->sample_count - first, error));
    for (int kind = 0; kind < 2; kind++)
        f->made->bends[kind].start -= wfre_missing_gain(f->given->model, f->rate);
    f->made->edges = true;
    return keep_edges(f, first, error);
}

/* ---- shapes ------------------------------------------------------------------------------- */

static wfre_status fit_shapes(const fitting *f, wfre_calibration_part *part, wfre_error *error)
{
    static const int ranking[WFRE_LOGISTIC_TERMS] = {0, 0, -1, -1};
    static const int product[WFRE_LOGISTIC_TERMS] = {0, 1};
    const int *sign = f->ranking ? ranking : product;
    wfre_logistic l = {.terms = f->ranking ? TERMS : 2,
                       .samples = f->samples,
                       .count = f->sample_count,
                       .penalty = PENALTY};
    double common[WFRE_LOGISTIC_TERMS] = {0, f->ranking ? 0 : 1};
    if (f->ranking)
        common[0] = wfre_missing_gain(f->given->model, f->rate);
    part->shapes = wfre_alloc_zero(f->names.count, sizeof *part->shapes);
    if (!part->shapes)
        return wfre_fail_memory(error, "calibrating");
    wfre_logistic_measure(&l);
    wfre_logistic_fit(&l, 0, sign, common);
    for (uint32_t s = 0; s < f->names.count; s++) {
        wfre_calibration_shape *shape = &part->shapes[s];
        size_t length;
        const char *name = wfre_strings_get(&f->names, s, &length);
        shape->name = wfre_copy_text(name, length);
        if (!shape->name)
            return wfre_fail_memory(error, "calibrating");
        part->shape_count++;
        double factors[WFRE_LOGISTIC_TERMS] = {0};
        memcpy(factors, common, sizeof factors);
        if (s > 0)
            wfre_logistic_fit(&l, s, sign, factors);
        if (!f->ranking && length == sizeof SINGLE - 1 && memcmp(name, SINGLE, length) == 0) {
            factors[0] = 0; /* they are the odds that were fitted */
            factors[1] = 1;
        }
        memcpy(shape->factors, factors, sizeof shape->factors);
    }
    return WFRE_OK;
}

/* Gives every sample the logit of its probability as offset. */
static wfre_status judge_samples(fitting *f, const wfre_calibration_part *part, wfre_error *error)
{
    for (size_t i = 0; i < f->sample_count; i++) {
        wfre_sample *s = &f->samples[i];
        for (int t = 0; t < (f->ranking ? TERMS : 2); t++)
            s->offset += part->shapes[s->shape].factors[t] * s->terms[t];
    }
    return f->ranking ? WFRE_OK
                      : wfre_bend_fit(f->samples + f->bent, f->sample_count - f->bent, PENALTY,
                                      &f->made->bends[WFRE_BEND_SHAPES], error);
}

/* How the fit does on the questions it has not seen. */
static wfre_status judge(const fitting *f, double least, wfre_calibration_part *part,
                         wfre_error *error)
{
    size_t count = 0;
    wfre_judgement *list = wfre_alloc(f->sample_count + 1, sizeof *list);
    if (!list)
        return wfre_fail_memory(error, "calibrating");
    for (size_t i = 0; i < f->sample_count; i++) {
        const wfre_sample *s = &f->samples[i];
        if (s->apart && s->shown)
            list[count++] =
                (wfre_judgement){1 / (1 + exp(-s->offset)), s->weight, s->question, s->answer};
    }
    part->reliability.queries = f->apart;
    part->reliability.fitted = f->fitted;
    wfre_status status =
        wfre_reliability_of(list, count, least, f->given->seed, &part->reliability, error);
    wfre_free(list);
    return status;
}

static wfre_status learn_shapes(fitting *f, double least, wfre_calibration_part *part,
                                wfre_error *error)
{
    CHECK(fit_shapes(f, part, error));
    CHECK(judge_samples(f, part, error));
    return judge(f, least, part, error);
}

/* ---- any ---------------------------------------------------------------------------------- */

static wfre_status ask_shapes(fitting *f, double share, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    static const double DRAWING = 0.25; /* of the time */
    wfre_asked_set set = {0};
    size_t done, parts = (size_t)f->revealed.count;
    for (int h = 0; h < f->revealed.count; h++) {
        double part = share / f->revealed.count;
        wfre_asking asking = {.graph = f->revealed.graphs[h],
                              .split = WFRE_TRAIN,
                              .count = (f->given->shapes + parts - 1) / parts,
                              .seed = f->given->seed + (uint64_t)h,
                              .seconds = DRAWING * part * f->seconds};
        f->session = f->revealed.sessions[h];
        wfre_survey survey = survey_of(f, (1 - DRAWING) * part);
        TRY(wfre_asked_shapes(&asking, f->given->pool, &set, error));
        TRY(wfre_survey_run(&survey, set.list, set.count, add_answers, f, &done, error));
        f->base += done;
        wfre_asked_clear(&set);
    }
cleanup:
    wfre_asked_clear(&set);
    return status;
}

static wfre_status learn_any(fitting *f, wfre_error *error)
{
    wfre_calibration_part *any = &f->made->any;
    measure_splits(f);
    CHECK(measure_rates(f, error));
    double begun = wfre_clock();
    CHECK(wfre_revealed_open(f->given->graph, f->given->model, f->given->pool, f->given->monitor,
                             &f->revealed, error));
    f->rate = f->revealed.rate;
    f->seconds = fmax(f->seconds - (wfre_clock() - begun), f->seconds / 4);
    begin_samples(f);
    f->ranking = f->given->model->settings.way.by != WFRE_BY_EDGES;
    CHECK(f->ranking ? ask_known(f, error) : learn_odds(f, error));
    CHECK(ask_shapes(f, 0.2, error));
    CHECK(learn_shapes(f, LIKELY, any, error));
    for (size_t s = 0; f->ranking && s < any->shape_count; s++) /* as learn_odds does */
        any->shapes[s].factors[0] -= wfre_missing_gain(f->given->model, f->rate);
    wfre_revealed_clear(&f->revealed);
    return WFRE_OK;
}

/* ---- missing ------------------------------------------------------------------------------ */

/* Every third query of a shape is set apart. */
static wfre_status add_given(fitting *f, wfre_exact *exact, wfre_asked_set *set, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    uint32_t *seen = NULL, shape;
    size_t capacity = 0;
    for (size_t q = 0; q < f->given->count; q++) {
        const wfre_rank_query *query = &f->given->queries[q];
        size_t before = capacity;
        wfre_list whole;
        TRY(wfre_check_interrupt(f->given->monitor, error));
        TRY(find_shape(f, query->tree, &shape, error));
        if (!WFRE_RESERVE(&seen, &capacity, shape + 1))
            TRY(wfre_fail_memory(error, "calibrating"));
        memset(seen + before, 0, (capacity - before) * sizeof *seen);
        TRY(wfre_exact_tree(exact, WFRE_TEST, query->tree, &whole, error));
        TRY(wfre_asked_add(set, query->tree, query->easy, query->hard, whole,
                           seen[shape]++ % 3 == 2, error));
    }
cleanup:
    wfre_free(seen);
    return status;
}

static wfre_status learn_missing(fitting *f, wfre_error *error)
{
    wfre_status status;
    const wfre_probability_fit *given = f->given;
    wfre_asked_set set = {0};
    wfre_session *own = NULL;
    size_t done;
    TRY(wfre_session_open(given->graph, given->model, given->pool, &own, error));
    f->session = own;
    f->ranking = true;
    f->rate = f->made->lacking[WFRE_TRAIN];
    begin_samples(f);
    TRY(add_given(f, own->exact, &set, error));
    wfre_survey survey = survey_of(f, 0.2);
    TRY(wfre_survey_run(&survey, set.list, set.count, add_answers, f, &done, error));
    f->rate = 0; /* what is fitted is not scaled by it */
    TRY(learn_shapes(f, 0, &f->made->missing, error));
cleanup:
    f->session = NULL;
    wfre_session_free(own);
    wfre_asked_clear(&set);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static wfre_status learn(fitting *f, wfre_error *error)
{
    const wfre_probability_fit *given = f->given;
    uint32_t all;
    CHECK(wfre_strings_intern(&f->names, "*", 1, &all, error));
    if (given->edges > 0 &&
        wfre_graph_triples(given->graph, WFRE_VALID) > wfre_graph_triples(given->graph, WFRE_TRAIN))
        CHECK(learn_any(f, error));
    return given->count > 0 ? learn_missing(f, error) : WFRE_OK;
}

wfre_status wfre_probability_fit_run(const wfre_probability_fit *given, wfre_error *error)
{
    fitting f = {.given = given, .seconds = given->seconds};
    wfre_status status;
    wfre_model *model = given->model;
    wfre_calibration *before = model->calibration;
    if (given->count == 0 && given->edges == 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "there are no queries to calibrate on");
    TRY(wfre_calibration_create(&f.made, error));
    model->calibration = f.made; /* odds are used from when they are fitted */
    TRY(learn(&f, error));
cleanup:
    wfre_revealed_clear(&f.revealed);
    model->calibration = status == WFRE_OK ? f.made : before;
    wfre_calibration_free(status == WFRE_OK ? before : f.made);
    wfre_strings_free(&f.names);
    wfre_text_free(&f.name);
    wfre_free(f.samples);
    return status;
}

static size_t fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* With few queries, few questions are drawn, too. */
wfre_status wfre_calibrate_with(const wfre_graph *graph, wfre_model *model,
                                const wfre_queryset *set, wfre_pool *pool,
                                const wfre_monitor *monitor, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(set);
    wfre_status status;
    wfre_rank_query *list = NULL;
    TRY(wfre_queryset_check_graph(set, graph, error));
    list = wfre_alloc_zero(set->count + (size_t)1, sizeof *list);
    if (!list)
        TRY(wfre_fail_memory(error, "calibrating"));
    for (uint32_t q = 0; q < set->count; q++)
        list[q] = (wfre_rank_query){.tree = set->rows[q].tree,
                                    .easy = wfre_queryset_easy(set, q),
                                    .hard = wfre_queryset_hard(set, q)};
    wfre_probability_fit fit = {.model = model,
                                .queries = list,
                                .count = set->count,
                                .graph = graph,
                                .edges = fewer(set->count * EDGES_A_QUERY, WFRE_ASKED_EDGES),
                                .shapes = fewer(set->count, WFRE_ASKED_SHAPES),
                                .seed = 1,
                                .pool = pool,
                                .monitor = monitor};
    TRY(wfre_probability_fit_run(&fit, error));
cleanup:
    wfre_free(list);
    return status;
}

wfre_status wfre_calibrate(const wfre_graph *graph, wfre_model *model, const char *queries,
                           wfre_pool *pool, const wfre_monitor *monitor, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(queries);
    wfre_queryset set = {0};
    wfre_status status = wfre_queryset_read(queries, graph, &set, error);
    if (status == WFRE_OK)
        status = wfre_calibrate_with(graph, model, &set, pool, monitor, error);
    wfre_queryset_clear(&set);
    return status;
}
