/* Answers of a kind that was never seen where they are given: what people call nonsense, whether or
 * not it costs a ranking anything. */
#include <string.h>

#include "exact/set.h"
#include "fit/asked.h"
#include "graph/kinds.h"
#include "wfre/eval.h"

enum { SHOWN = 10 };

typedef struct counting {
    const wfre_graph *graph;
    const wfre_adjacency *edges;
    wfre_relation type; /* rdf:type, or WFRE_NONE */
    uint16_t *shared;   /* [entities]: kinds of an answer that each has; all 0 between answers */
    wfre_strangers sums;
} counting;

/* Marks the entities of a relation; returns the most marks of one that stands at the place. */
static uint32_t mark(const counting *c, wfre_relation relation, wfre_relation place)
{
    uint32_t most = 0, first, end = wfre_relation_groups(c->edges, relation, &first);
    uint32_t at, last = wfre_relation_groups(c->edges, place, &at);
    for (uint32_t g = first; g < end; g++) { /* both are ascending */
        wfre_entity e = c->edges->group_entity[g];
        while (at < last && c->edges->group_entity[at] < e)
            at++;
        if (at == last)
            break;
        if (c->edges->group_entity[at] == e && ++c->shared[e] > most)
            most = c->shared[e];
    }
    return most;
}

static void unmark(const counting *c, wfre_relation place)
{
    uint32_t first, end = wfre_relation_groups(c->edges, place, &first);
    for (uint32_t g = first; g < end; g++)
        c->shared[c->edges->group_entity[g]] = 0;
}

/* Whether it has classes, and nobody at the place has any of them. */
static bool foreign_class(const counting *c, wfre_relation place, wfre_entity answer)
{
    uint32_t group = c->type == WFRE_NONE ? WFRE_NONE : wfre_find_group(c->edges, c->type, answer);
    if (group == WFRE_NONE)
        return false;
    wfre_list classes = wfre_group_targets(c->edges, group);
    for (size_t i = 0; i < classes.count; i++) {
        uint32_t back = wfre_find_group(c->edges, c->type ^ 1, classes.ids[i]);
        wfre_list like = wfre_group_targets(c->edges, back);
        for (size_t k = 0; k < like.count; k++)
            if (wfre_find_group(c->edges, place, like.ids[k]) != WFRE_NONE)
                return false;
    }
    return true;
}

static void judge(counting *c, wfre_relation place, wfre_entity answer)
{
    uint32_t most = 0, kinds = 0, first, end = wfre_entity_edges(c->edges, answer, &first);
    c->sums.answers++;
    if (wfre_find_group(c->edges, place, answer) != WFRE_NONE)
        return;
    c->sums.fresh++;
    for (uint32_t i = first; i < end; i++, kinds++) {
        uint32_t now = mark(c, wfre_edge_relation(c->edges, i), place);
        most = now > most ? now : most;
    }
    unmark(c, place);
    bool classes = foreign_class(c, place, answer);
    c->sums.apart += kinds > 0 && most == 0;
    c->sums.classes += classes;
    c->sums.strangers += (kinds > 0 && 2 * most < kinds) || classes;
}

static wfre_status use(void *context, const wfre_asked *asked, size_t index,
                       const wfre_wanted *found, const wfre_reasoner *reasoner, wfre_error *error)
{
    (void)index;
    (void)reasoner;
    (void)error;
    counting *c = context;
    c->sums.questions++;
    for (size_t i = 0; i < found->hit_count && i < SHOWN; i++)
        judge(c, asked->tree->id ^ 1, found->hits[i].entity);
    return WFRE_OK;
}

wfre_status wfre_measure_strangers(const wfre_graph *graph, const wfre_model *model,
                                   const wfre_way *way, size_t count, uint64_t seed,
                                   wfre_pool *pool, const wfre_monitor *monitor,
                                   wfre_strangers *strangers, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(model);
    GIVEN(strangers);
    wfre_status status;
    size_t done;
    wfre_asked_set set = {0};
    wfre_session *session = NULL;
    counting c = {.graph = graph, .type = wfre_kinds_type(graph)};
    wfre_asking asking = {.graph = graph, .split = WFRE_TRAIN, .count = count, .seed = seed};
    TRY(wfre_graph_settle(graph, error));
    c.edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    c.shared = wfre_alloc_zero(wfre_graph_entities(graph) + (size_t)1, sizeof *c.shared);
    if (!c.shared)
        TRY(wfre_fail_memory(error, "counting strangers"));
    TRY(wfre_session_open(graph, model, pool, &session, error));
    TRY(wfre_asked_edges(&asking, WFRE_ASKED_KNOWN, &set, error));
    wfre_survey survey = {.session = session,
                          .way = way ? *way : wfre_engine_way(wfre_session_engine(session)),
                          .split = WFRE_TRAIN,
                          .monitor = monitor,
                          .task = "counting strangers"};
    TRY(wfre_survey_run(&survey, set.list, set.count, use, &c, &done, error));
    *strangers = c.sums;
cleanup:
    wfre_asked_clear(&set);
    wfre_session_free(session);
    wfre_free(c.shared);
    return status;
}
