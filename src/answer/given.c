/* Given triples: each is looked for among the answers to both questions that it answers, from its
 * head and from its tail. Triples that share one are looked for together. */
#include <math.h>
#include <stdlib.h>

#include "answer/everyday.h"
#include "infer/session.h"

enum { TOGETHER = 64 };                       /* questions at a time, at most ... */
static const size_t BYTES = (size_t)64 << 20; /* ... and what all their answers may take */

const char *wfre_verdict_name(wfre_verdict verdict)
{
    static const char *const NAMES[] = {"", "proven", "refuted", "predicted", "unknown"};
    return (size_t)verdict < sizeof NAMES / sizeof NAMES[0] ? NAMES[verdict] : "";
}

/* An entity to be looked for among the answers to a question. */
typedef struct wish {
    wfre_source from;
    wfre_entity wanted;
    size_t triple;
} wish;

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_wishes(const void *left, const void *right)
{
    const wish *a = left, *b = right;
    int order = compare_numbers(a->from.relation, b->from.relation);
    if (order == 0)
        order = compare_numbers(a->from.entity, b->from.entity);
    return order != 0 ? order : compare_numbers(a->wanted, b->wanted);
}

static bool same_source(const wish *a, const wish *b)
{
    return a->from.relation == b->from.relation && a->from.entity == b->from.entity;
}

/* Notes what one end says, if it is surer than the other. */
static void note(wfre_scored_triple *score, const wfre_prediction *p)
{
    if (score->verdict == WFRE_VERDICT_PREDICTED &&
        !wfre_likelier(p->probability, p->score, score->probability, score->score))
        return;
    *score = (wfre_scored_triple){WFRE_VERDICT_PREDICTED, p->score, p->probability,
                                  p->missing_probability};
}

/* The wishes [0, count) are for answers to one question; they ascend. */
static void look(const wish *wishes, size_t count, const wfre_answers *answers,
                 wfre_scored_triple *scores)
{
    for (size_t i = 0; i < answers->predicted_count; i++) {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (wishes[middle].wanted < answers->predicted[i].entity)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < count && wishes[low].wanted == answers->predicted[i].entity; low++)
            note(&scores[wishes[low].triple], &answers->predicted[i]);
    }
}

static wfre_status fulfil(const wfre_errand *errand, const wish *wishes, size_t count,
                          wfre_scored_triple *scores, wfre_error *error)
{
    size_t entities = errand->session->engine->model->entity_count;
    size_t fit = BYTES / (entities * (sizeof(wfre_prediction) + sizeof(uint64_t)) + 1) + 1;
    size_t most = fit < TOGETHER ? fit : TOGETHER;
    for (size_t first = 0; first < count;) {
        wfre_source sources[TOGETHER];
        size_t begin[TOGETHER + 1], asked = 0, end = first;
        while (end < count && (asked < most || same_source(&wishes[end], &wishes[end - 1]))) {
            if (end == first || !same_source(&wishes[end], &wishes[end - 1])) {
                begin[asked] = end;
                sources[asked++] = wishes[end].from;
            }
            end++;
        }
        begin[asked] = end;
        wfre_answers *answers;
        CHECK(wfre_errand_edges(errand, sources, asked, entities, &answers, error));
        for (size_t i = 0; i < asked; i++)
            look(wishes + begin[i], begin[i + 1] - begin[i], &answers[i], scores);
        wfre_answers_free(answers);
        first = end;
    }
    return WFRE_OK;
}

static wfre_status check_triples(const wfre_graph *graph, const wfre_given_triple *triples,
                                 size_t count, wfre_error *error)
{
    uint32_t entities = wfre_graph_entities(graph), relations = wfre_graph_relations(graph);
    for (size_t i = 0; i < count; i++)
        if (triples[i].head >= entities || triples[i].tail >= entities ||
            triples[i].relation >= relations)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "triple %zu, (#%u, #%u, #%u), is not of this graph", i + 1,
                             triples[i].head, triples[i].relation, triples[i].tail);
    return WFRE_OK;
}

wfre_status wfre_session_score(wfre_session *session, const wfre_given_triple *triples,
                               size_t count, const wfre_ask_options *options, wfre_cancel *cancel,
                               wfre_scored_triple *scores, wfre_error *error)
{
    GIVEN(session);
    GIVEN(options);
    if (count == 0)
        return WFRE_OK;
    GIVEN(triples);
    GIVEN(scores);
    CHECK(wfre_need_graph(session, error));
    const wfre_graph *graph = session->engine->graph;
    CHECK(wfre_check_split(options->split, error));
    CHECK(check_triples(graph, triples, count, error));
    wfre_errand errand = wfre_errand_of(session, cancel, options);
    errand.options.min_probability = 0;
    size_t wanted = 0;
    wish *wishes = wfre_alloc(2 * count, sizeof *wishes);
    if (!wishes)
        return wfre_fail_memory(error, "scoring triples");
    for (size_t i = 0; i < count; i++) {
        wfre_given_triple t = triples[i];
        bool known = wfre_graph_has(graph, options->split, t.head, t.relation, t.tail);
        scores[i] = known ? (wfre_scored_triple){WFRE_VERDICT_PROVEN, (double)NAN, 1, 1}
                          : (wfre_scored_triple){WFRE_VERDICT_UNKNOWN, (double)NAN, (double)NAN,
                                                 (double)NAN};
        if (known || !session->engine->model)
            continue;
        wishes[wanted++] = (wish){{t.relation, t.head}, t.tail, i};
        wishes[wanted++] = (wish){{t.relation ^ 1, t.tail}, t.head, i};
    }
    qsort(wishes, wanted, sizeof *wishes, compare_wishes);
    wfre_status status = WFRE_OK;
    if (wanted > 0) /* which only a model makes so */
        status = fulfil(&errand, wishes, wanted, scores, error);
    wfre_free(wishes);
    return status;
}
