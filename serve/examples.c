/* Drawing example questions: an entity is drawn, some of its edges become the question, so that it
 * has at least that entity as its answer; those with a handful of answers are kept. */
#include "examples.h"

#include "buffer.h"

#include <string.h>

enum { SHAPES = 6, ATTEMPTS = 300, MOST_ANSWERS = 30, MOST_PARTS = 3 };

typedef struct draw {
    const serve_world *world;
    wfre_query_builder *builder;
    wfre_exact *exact;
    uint64_t state;
} draw;

static uint32_t below(draw *d, size_t limit)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((d->state >> 33) % (limit ? limit : 1));
}

typedef struct edge {
    wfre_relation relation; /* going out; may be an inverse */
    wfre_entity target;
} edge;

/* One of the edges of an entity, by a relation drawn first; false if a few tries find none. */
static bool draw_edge(draw *d, wfre_entity from, edge *drawn)
{
    const wfre_graph *graph = d->world->graph;
    uint32_t relations = wfre_graph_relations(graph), at = below(d, relations);
    for (uint32_t i = 0; i < relations; i++) {
        wfre_relation relation = (at + i) % relations;
        wfre_list targets = wfre_graph_targets(graph, WFRE_TEST, relation, from);
        if (targets.count > 0) {
            *drawn = (edge){relation, targets.ids[below(d, targets.count)]};
            return true;
        }
    }
    return false;
}

static const wfre_formula *atom(draw *d, wfre_term from, const edge *by, wfre_term to)
{
    return wfre_build_atom(d->builder, by->relation, from, to);
}

/* The parts of a question of this shape for x, of which `entity` is an answer; their number. */
static size_t draw_parts(draw *d, int shape, wfre_entity entity, wfre_term x,
                         const wfre_formula **parts)
{
    wfre_term y = wfre_build_variable(d->builder, "y");
    edge one, two, three, other;
    if (!draw_edge(d, entity, &one) || !draw_edge(d, entity, &two) ||
        !draw_edge(d, one.target, &three))
        return 0;
    wfre_term a = wfre_term_entity(one.target), b = wfre_term_entity(two.target);
    bool differ = one.relation != two.relation || one.target != two.target;
    parts[0] = atom(d, x, &one, a);
    switch (shape) {
    case 0:
        return 1;
    case 1:
        parts[1] = atom(d, x, &two, b);
        return differ ? 2 : 0;
    case 2: /* two steps */
    case 3: /* and something else */
        if (three.target == entity)
            return 0;
        parts[0] = atom(d, x, &one, y);
        parts[1] = atom(d, y, &three, wfre_term_entity(three.target));
        parts[2] = atom(d, x, &two, b);
        return shape == 2 ? 2 : differ ? 3 : 0;
    case 4: { /* another one that has the first, but has what this one has not */
        wfre_list same =
            wfre_graph_targets(d->world->graph, WFRE_TEST, one.relation ^ 1, one.target);
        wfre_entity another = same.count ? same.ids[below(d, same.count)] : entity;
        if (another == entity || !draw_edge(d, another, &other) ||
            wfre_graph_has(d->world->graph, WFRE_TEST, entity, other.relation, other.target))
            return 0;
        parts[1] = wfre_build_not(d->builder, atom(d, x, &other, wfre_term_entity(other.target)));
        return 2;
    }
    default: {
        const wfre_formula *either[2] = {parts[0], atom(d, x, &two, b)};
        parts[0] = wfre_build_or(d->builder, either, 2);
        return differ ? 1 : 0;
    }
    }
}

/* A question of the shape with few answers; NULL if this attempt finds none. */
static wfre_query *attempt(draw *d, int shape, size_t *answers)
{
    const wfre_formula *parts[MOST_PARTS];
    wfre_query *query = NULL;
    wfre_list found;
    if (wfre_query_builder_create(d->world->graph, &d->builder, NULL) != WFRE_OK)
        return NULL;
    wfre_term x = wfre_build_variable(d->builder, "x");
    wfre_entity entity = below(d, wfre_graph_entities(d->world->graph));
    size_t count = draw_parts(d, shape, entity, x, parts);
    if (count > 0 && wfre_build_query(d->builder, &x, 1, wfre_build_and(d->builder, parts, count),
                                      &query, NULL) != WFRE_OK)
        query = NULL;
    wfre_query_builder_free(d->builder);
    if (query &&
        wfre_exact_answer(d->exact, WFRE_TEST, query, 0.1, NULL, &found, NULL) == WFRE_OK &&
        found.count > 0 && found.count <= MOST_ANSWERS) {
        *answers = found.count;
        return query;
    }
    wfre_query_free(query);
    return NULL;
}

static void put_example(serve_buffer *buffer, const draw *d, const wfre_query *query,
                        size_t answers, bool first)
{
    char *text = NULL, *sentence = NULL;
    if (wfre_query_print(query, d->world->graph, WFRE_NOTATION_LOGIC, &text, NULL) == WFRE_OK &&
        wfre_query_sentence(query, d->world->graph, &sentence, NULL) == WFRE_OK) {
        serve_put(buffer, first ? "{\"text\":" : ",{\"text\":");
        serve_put_text(buffer, text);
        serve_put(buffer, ",\"sentence\":");
        serve_put_text(buffer, sentence);
        serve_put_format(buffer, ",\"answers\":%zu,\"predicted\":%s}", answers,
                         d->world->model && !wfre_query_not_a_tree(query) ? "true" : "false");
    }
    wfre_string_free(text);
    wfre_string_free(sentence);
}

static void put_examples(serve_buffer *buffer, const serve_world *world)
{
    draw d = {.world = world, .state = wfre_graph_fingerprint(world->graph)};
    bool first = true;
    serve_put(buffer, "[");
    if (wfre_graph_entities(world->graph) > 0 && wfre_graph_relations(world->graph) > 0 &&
        wfre_exact_create(world->graph, &d.exact, NULL) == WFRE_OK) {
        for (int shape = 0; shape < SHAPES; shape++)
            for (int i = 0; i < ATTEMPTS; i++) {
                size_t answers;
                wfre_query *query = attempt(&d, shape, &answers);
                if (!query)
                    continue;
                put_example(buffer, &d, query, answers, first);
                first = false;
                wfre_query_free(query);
                break;
            }
        wfre_exact_free(d.exact);
    }
    serve_put(buffer, "]");
}

const char *serve_examples(serve_world *world)
{
    pthread_mutex_lock(&world->lock);
    if (!world->examples) {
        serve_buffer made = {0};
        put_examples(&made, world);
        world->examples = made.bytes;
    }
    const char *examples = world->examples ? world->examples : "[]";
    pthread_mutex_unlock(&world->lock);
    return examples;
}
