/* What a model's probabilities are worth, on questions that it was not fitted to.
 *
 * Test facts are sought when the valid ones are known, as to who asks. Valid facts are sought as
 * the fit does, with a part of them known (fit/reveal.h), and again with all of them missing, for
 * the probability that goes by that. */
#include "fit/probability.h"
#include "fit/reliability.h"
#include "fit/reveal.h"
#include "graph/graph.h"
#include "infer/probability.h"
#include "query/types.h"

#include <math.h>

enum { SHOWN = 10 };

static const double LIKELY = 0.05;

/* The predictions of some questions. */
typedef struct pile {
    bool wanted;
    wfre_judgement *list;
    size_t count, capacity;
    uint64_t questions;
} pile;

typedef struct checking {
    const wfre_model *model;
    const wfre_reliability_options *options;
    wfre_way way;
    const wfre_monitor *monitor;
    bool apart;  /* other questions do not count */
    size_t base; /* questions that were asked before these */
    wfre_text name;
    pile any, missing;
} checking;

void wfre_reliability_options_default(const wfre_graph *graph, wfre_reliability_options *options)
{
    bool test = wfre_graph_triples(graph, WFRE_TEST) > wfre_graph_triples(graph, WFRE_VALID);
    *options = (wfre_reliability_options){
        .split = test ? WFRE_TEST : WFRE_VALID, .edges = 12000, .shapes = 50, .seed = 2};
}

static wfre_status put(pile *p, double probability, size_t question, bool answer, wfre_error *error)
{
    if (!WFRE_RESERVE(&p->list, &p->capacity, p->count + 1))
        return wfre_fail_memory(error, "checking probabilities");
    p->list[p->count++] = (wfre_judgement){probability, 1, (uint32_t)question, answer};
    return WFRE_OK;
}

static wfre_status use(void *context, const wfre_asked *asked, size_t index,
                       const wfre_wanted *found, const wfre_reasoner *reasoner, wfre_error *error)
{
    checking *c = context;
    if (c->apart && !asked->apart)
        return WFRE_OK;
    wfre_text_clear(&c->name);
    CHECK(wfre_type_name(asked->tree, &c->name, error));
    wfre_judged of = {.model = c->model,
                      .way = &c->way,
                      .reasoner = reasoner,
                      .tree = asked->tree,
                      .shape = c->name.data,
                      .known = asked->easy.count};
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    bool lacks = c->missing.wanted && asked->hard.count > 0;
    c->any.questions += c->any.wanted;
    c->missing.questions += lacks;
    for (size_t i = 0; i < found->hit_count && i < SHOWN; i++) {
        wfre_chance chance = wfre_calibration_chance(&view, found->hits, i);
        bool answer = wfre_list_has(asked->hard, found->hits[i].entity);
        if (c->any.wanted && isfinite(chance.any))
            CHECK(put(&c->any, chance.any, c->base + index, answer, error));
        if (lacks && isfinite(chance.missing))
            CHECK(put(&c->missing, chance.missing, c->base + index, answer, error));
    }
    return WFRE_OK;
}

/* Asks `of` so many single edges and questions of each shape; only what lacks something, if nothing
 * else is wanted. */
static wfre_status survey(checking *c, wfre_session *session, wfre_asking of, size_t edges,
                          size_t shapes, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_asked_set set = {0};
    size_t done;
    wfre_survey how = {.session = session,
                       .way = c->way,
                       .split = of.split,
                       .monitor = c->monitor,
                       .task = "checking probabilities"};
    of.count = edges;
    TRY(wfre_asked_edges(&of, c->any.wanted ? WFRE_ASKED_KNOWN : WFRE_ASKED_LACKING, &set, error));
    TRY(wfre_survey_run(&how, set.list, set.count, use, c, &done, error));
    c->base += done;
    wfre_asked_clear(&set);
    of.count = shapes;
    TRY(wfre_asked_shapes(&of, session->pool, &set, error));
    TRY(wfre_survey_run(&how, set.list, set.count, use, c, &done, error));
    c->base += done;
cleanup:
    wfre_asked_clear(&set);
    return status;
}

static wfre_status survey_revealed(checking *c, const wfre_graph *graph, wfre_pool *pool,
                                   wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_revealed revealed = {0};
    TRY(wfre_revealed_open(graph, c->model, pool, c->monitor, &revealed, error));
    c->way.missing_rate = revealed.rate;
    for (int p = 0; p < revealed.count; p++) {
        wfre_asking of = {.graph = revealed.graphs[p],
                          .split = WFRE_TRAIN,
                          .seed = c->options->seed + (uint64_t)p};
        size_t parts = (size_t)revealed.count;
        TRY(survey(c, revealed.sessions[p], of, (c->options->edges + parts - 1) / parts,
                   (c->options->shapes + parts - 1) / parts, error));
    }
cleanup:
    wfre_revealed_clear(&revealed);
    return status;
}

static wfre_status survey_all(checking *c, const wfre_graph *graph, wfre_pool *pool,
                              wfre_error *error)
{
    wfre_session *session = NULL;
    wfre_asking of = {.graph = graph, .split = WFRE_VALID, .seed = c->options->seed};
    c->any.wanted = c->missing.wanted = true;
    if (c->options->split == WFRE_VALID) {
        c->missing.wanted = false;
        CHECK(survey_revealed(c, graph, pool, error));
        c->any.wanted = false;
        c->missing.wanted = true;
        of.split = WFRE_TRAIN;
    }
    c->way.missing_rate = wfre_missing_rate(c->model, &c->model->settings.way, of.split, 0);
    CHECK(wfre_session_open(graph, c->model, pool, &session, error));
    wfre_status status = survey(c, session, of, c->options->edges, c->options->shapes, error);
    wfre_session_free(session);
    return status;
}

static wfre_status conclude(const pile *p, double least, uint64_t seed, wfre_reliability *result,
                            wfre_error *error)
{
    *result = (wfre_reliability){.queries = p->questions};
    return wfre_reliability_of(p->list, p->count, least, seed, result, error);
}

wfre_status wfre_measure_reliability(const wfre_graph *graph, const wfre_model *model,
                                     const wfre_reliability_options *options, wfre_pool *pool,
                                     const wfre_monitor *monitor, wfre_reliability *any,
                                     wfre_reliability *missing, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(options);
    wfre_status status;
    checking c = {.model = model,
                  .options = options,
                  .way = model->settings.way,
                  .monitor = monitor,
                  .apart = options->split == WFRE_VALID};
    TRY(wfre_check_split(options->split, error));
    if (options->split == WFRE_TRAIN || !model->calibration)
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                      model->calibration ? "probabilities are measured on the valid or test split"
                                         : "the model has no probabilities"));
    TRY(survey_all(&c, graph, pool, error));
    TRY(conclude(&c.any, LIKELY, options->seed, any, error));
    TRY(conclude(&c.missing, 0, options->seed, missing, error));
cleanup:
    wfre_text_free(&c.name);
    wfre_free(c.any.list);
    wfre_free(c.missing.list);
    return status;
}
