/* A fact of one end, (x, s, z), speaks for the edge to y as much as others that have it, too, have
 * that edge: of n others k do, where of all entities a share p does. The weight is the logarithm of
 *
 *   (k + 2 p) / (n + 2) / p
 *
 * so that few cases say little. For a fact that joins the ends, the others are the pairs that it
 * joins, and p is the share of the pairs of a head and a tail of the relation that it joins. */
#include "answer/evidence.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "exact/set.h"

enum {
    MOST_FACTS = 400,   /* of an end that are looked at */
    MOST_CASES = 20000, /* that a fact may share with others, or pairs that it joins */
    COMPARED = 8,       /* hits among which the one most alike is sought */
    MOST_KEPT = 64
};

static const double PRIOR = 2;

/* Facts in the making. */
typedef struct search {
    const wfre_graph *graph;
    const wfre_adjacency *edges;
    wfre_split split;
    wfre_evidence kept[MOST_KEPT];
    size_t count, most;
} search;

static void keep(search *s, const wfre_evidence *fact)
{
    size_t at = s->count;
    if (!(fact->weight > 0))
        return;
    while (at > 0 && s->kept[at - 1].weight < fact->weight)
        at--;
    if (at >= s->most)
        return;
    size_t last = s->count < s->most ? s->count++ : s->most - 1;
    memmove(&s->kept[at + 1], &s->kept[at], (last - at) * sizeof s->kept[0]);
    s->kept[at] = *fact;
}

static double weight_of(uint64_t hits, uint64_t cases, double share)
{
    if (hits == 0 || !(share > 0))
        return 0;
    return log(((double)hits + PRIOR * share) / ((double)cases + PRIOR) / share);
}

/* How many facts two entities share. */
static size_t count_shared(const search *s, wfre_entity a, wfre_entity b)
{
    size_t shared = 0;
    uint32_t first, end = wfre_entity_edges(s->edges, a, &first);
    for (uint32_t i = first; i < end && i < first + MOST_FACTS; i++) {
        wfre_edge_group edge = wfre_entity_edge(s->edges, i);
        uint32_t other = wfre_find_group(s->edges, edge.relation, b);
        if (other == WFRE_NONE)
            continue;
        wfre_list mine = wfre_group_targets(s->edges, edge.group);
        wfre_list theirs = wfre_group_targets(s->edges, other);
        for (size_t k = 0; k < mine.count && k < MOST_FACTS; k++)
            shared += wfre_list_has(theirs, mine.ids[k]);
    }
    return shared;
}

/* The edge as it is seen from one of its ends, x. */
typedef struct view {
    wfre_evidence_kind kind;
    wfre_entity x;
    wfre_list holders; /* of the edge to the other end, ascending */
    double share;
} view;

/* Judges the fact (x, relation, z) by those who have it, too. */
static void judge(search *s, const view *v, wfre_relation relation, wfre_entity z)
{
    wfre_list others = wfre_graph_targets(s->graph, s->split, relation ^ 1, z);
    size_t best = 0, compared = 0;
    wfre_evidence fact = {.kind = v->kind,
                          .head = relation % 2 ? z : v->x,
                          .relation = relation / 2 * 2,
                          .tail = relation % 2 ? v->x : z,
                          .example = WFRE_NONE};
    if (others.count < 2 || others.count > MOST_CASES)
        return;
    bool fewer = v->holders.count < others.count;
    wfre_list from = fewer ? v->holders : others, in = fewer ? others : v->holders;
    fact.cases = others.count - 1;
    for (size_t i = 0; i < from.count; i++)
        if (from.ids[i] != v->x && wfre_list_has(in, from.ids[i])) {
            fact.hits++;
            size_t alike = compared++ < COMPARED ? count_shared(s, v->x, from.ids[i]) + 1 : 0;
            if (alike > best) {
                best = alike;
                fact.example = from.ids[i];
            }
        }
    fact.weight = weight_of(fact.hits, fact.cases, v->share);
    keep(s, &fact);
}

/* Facts of one end. */
static void look_at(search *s, wfre_evidence_kind kind, wfre_doubtful_edge e)
{
    view v = {.kind = kind,
              .x = e.head,
              .holders = wfre_graph_targets(s->graph, s->split, e.relation ^ 1, e.tail)};
    v.share = (double)v.holders.count / (double)wfre_graph_entities(s->graph);
    uint32_t first, end = wfre_entity_edges(s->edges, e.head, &first), looked = 0;
    for (uint32_t i = first; i < end && v.holders.count > 0; i++) {
        wfre_edge_group edge = wfre_entity_edge(s->edges, i);
        wfre_list targets = wfre_group_targets(s->edges, edge.group);
        for (size_t k = 0; k < targets.count && looked < MOST_FACTS; k++, looked++)
            if (targets.ids[k] != e.tail)
                judge(s, &v, edge.relation, targets.ids[k]);
    }
}

/* Pairs that `relation` joins, and how many of them the other one joins, too. */
static void judge_joined(search *s, wfre_doubtful_edge e, wfre_relation relation)
{
    wfre_evidence fact = {.kind = WFRE_EVIDENCE_JOINED,
                          .head = relation % 2 ? e.tail : e.head,
                          .relation = relation / 2 * 2,
                          .tail = relation % 2 ? e.head : e.tail,
                          .example = WFRE_NONE};
    wfre_list heads = wfre_graph_sources(s->graph, s->split, relation);
    double all = (double)wfre_graph_sources(s->graph, s->split, e.relation).count *
                 (double)wfre_graph_sources(s->graph, s->split, e.relation ^ 1).count;
    double edges = 0;
    for (size_t h = 0; h < heads.count && fact.cases < MOST_CASES; h++) {
        wfre_list tails = wfre_graph_targets(s->graph, s->split, relation, heads.ids[h]);
        wfre_list with = wfre_graph_targets(s->graph, s->split, e.relation, heads.ids[h]);
        edges += (double)with.count;
        fact.cases += tails.count - (heads.ids[h] == e.head);
        for (size_t i = 0; i < tails.count && with.count > 0; i++)
            fact.hits += wfre_list_has(with, tails.ids[i]);
    }
    fact.weight = all > 0 ? weight_of(fact.hits, fact.cases, fmax(edges, 1) / all) : 0;
    keep(s, &fact);
}

static void look_between(search *s, wfre_doubtful_edge e)
{
    uint32_t first, end = wfre_entity_edges(s->edges, e.head, &first);
    for (uint32_t i = first; i < end; i++) {
        wfre_edge_group edge = wfre_entity_edge(s->edges, i);
        if (edge.relation != e.relation &&
            wfre_list_has(wfre_group_targets(s->edges, edge.group), e.tail))
            judge_joined(s, e, edge.relation);
    }
}

/* Facts of the tail get half of the places at most. */
static void look(const search *empty, wfre_doubtful_edge edge, search *all)
{
    search own = *empty, tail = *empty;
    tail.most = empty->most / 2;
    look_at(&own, WFRE_EVIDENCE_HEAD, edge);
    look_between(&own, edge);
    look_at(&tail, WFRE_EVIDENCE_TAIL,
            (wfre_doubtful_edge){edge.tail, edge.relation ^ 1, edge.head});
    *all = *empty;
    for (size_t i = 0; i < tail.count; i++)
        keep(all, &tail.kept[i]);
    size_t left = empty->most - tail.count;
    for (size_t i = 0; i < own.count && i < left; i++)
        keep(all, &own.kept[i]);
}

wfre_status wfre_evidence_find(const wfre_graph *graph, wfre_split split, wfre_doubtful_edge edge,
                               size_t most, wfre_arena *arena, const wfre_evidence **found,
                               size_t *count, wfre_error *error)
{
    search s = {.graph = graph,
                .edges = wfre_graph_adjacency(graph, split),
                .split = split,
                .most = most < MOST_KEPT ? most : MOST_KEPT};
    search all;
    *found = NULL;
    *count = 0;
    if (most == 0)
        return WFRE_OK;
    look(&s, edge, &all);
    wfre_evidence *copy = wfre_arena_alloc(arena, all.count, sizeof *copy);
    if (!copy)
        return wfre_fail_memory(error, "explaining");
    if (all.count > 0)
        memcpy(copy, all.kept, all.count * sizeof *copy);
    *found = copy;
    *count = all.count;
    return WFRE_OK;
}
