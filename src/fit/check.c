/* What a model's probabilities are worth, on questions that it was not fitted to. */
#include "fit/probability.h"
#include "fit/reliability.h"
#include "graph/graph.h"
#include "infer/probability.h"
#include "query/types.h"

#include <math.h>

enum { SHOWN = 10 };

static const double LIKELY = 0.05;

/* The predictions of some questions. */
typedef struct pile {
    wfre_judgement *list;
    size_t count, capacity;
    uint64_t questions;
} pile;

typedef struct checking {
    const wfre_model *model;
    wfre_way way;
    bool apart; /* other questions do not count */
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
    p->list[p->count++] = (wfre_judgement){probability, (uint32_t)question, answer};
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
    c->any.questions++;
    c->missing.questions += asked->hard.count > 0;
    for (size_t i = 0; i < found->hit_count && i < SHOWN; i++) {
        wfre_chance chance = wfre_calibration_chance(&view, found->hits, i);
        bool answer = wfre_list_has(asked->hard, found->hits[i].entity);
        if (isfinite(chance.any))
            CHECK(put(&c->any, chance.any, index, answer, error));
        if (asked->hard.count > 0 && isfinite(chance.missing))
            CHECK(put(&c->missing, chance.missing, index, answer, error));
    }
    return WFRE_OK;
}

/* Asks what is drawn with `asking`, or of each shape if that is wanted. */
static wfre_status survey(checking *c, wfre_session *session, const wfre_asking *asking,
                          bool shapes, const wfre_monitor *monitor, wfre_error *error)
{
    wfre_status status;
    wfre_asked_set set = {0};
    size_t done;
    wfre_survey how = {.session = session,
                       .way = c->way,
                       .split = asking->split,
                       .monitor = monitor,
                       .task = "checking probabilities"};
    TRY(shapes ? wfre_asked_shapes(asking, session->pool, &set, error)
               : wfre_asked_edges(asking, WFRE_ASKED_KNOWN, &set, error));
    TRY(wfre_survey_run(&how, set.list, set.count, use, c, &done, error));
cleanup:
    wfre_asked_clear(&set);
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
    wfre_session *session = NULL;
    checking c = {
        .model = model, .way = model->settings.way, .apart = options->split == WFRE_VALID};
    wfre_asking asking = {.graph = graph, .count = options->edges, .seed = options->seed};
    TRY(wfre_check_split(options->split, error));
    if (options->split == WFRE_TRAIN || !model->calibration)
        TRY(wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                      model->calibration ? "probabilities are measured on the valid or test split"
                                         : "the model has no probabilities"));
    asking.split = (wfre_split)(options->split - 1);
    if (options->split == WFRE_TEST) /* valid facts are known then, as to who asks */
        c.way.missing_rate = wfre_missing_rate(model, &c.way, WFRE_VALID, 0);
    TRY(wfre_session_open(graph, model, pool, &session, error));
    TRY(survey(&c, session, &asking, false, monitor, error));
    asking.count = options->shapes;
    TRY(survey(&c, session, &asking, true, monitor, error));
    TRY(conclude(&c.any, LIKELY, options->seed, any, error));
    TRY(conclude(&c.missing, 0, options->seed, missing, error));
cleanup:
    wfre_session_free(session);
    wfre_text_free(&c.name);
    wfre_free(c.any.list);
    wfre_free(c.missing.list);
    return status;
}
