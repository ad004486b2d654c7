/* How hierarchical a relation is: Krackhardt's score and the curvature estimate of Gu et al. 2018.
 *
 * Curvature of a triangle of nodes a, b, c with m the middle of a shortest path from b to c:
 *     xi(m; b, c; a) = (d(a,m)^2 + d(b,c)^2 / 4 - (d(a,b)^2 + d(a,c)^2) / 2) / (2 d(a,m))
 * averaged over random triangles within connected components, a component being drawn by the
 * cube of its size, that is by its share of all triangles. Triangles with no node between b and c,
 * or with m = a, say nothing and are drawn again a few times.
 *
 * The relation is first copied to a compact graph without loops. Breadth-first searches run on the
 * pool; their results are kept by place, so the number of threads does not matter. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "graph/image.h"

enum {
    DEFAULT_TRIANGLES = 1000,
    DRAWS = 16,           /* tries for one triangle */
    SOURCE_LIMIT = 65536, /* searches for Krackhardt's score */
    SOURCES_A_CHUNK = 64,
    TRIANGLES_A_CHUNK = 8
};

/* ---- the compact graph -------------------------------------------------------------------- */

typedef struct arcs {
    uint32_t *begin; /* nodes + 1 */
    uint32_t *to;
} arcs;

typedef struct compact {
    uint32_t nodes;
    uint32_t edges;
    wfre_entity *entity; /* of each node, ascending */
    arcs along, against;
} compact;

static void free_compact(compact *g)
{
    wfre_free(g->entity);
    wfre_free(g->along.begin);
    wfre_free(g->along.to);
    wfre_free(g->against.begin);
    wfre_free(g->against.to);
}

static uint32_t node_of(const compact *g, wfre_entity entity)
{
    uint32_t low = 0, high = g->nodes;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->entity[middle] <= entity)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The entities at either end of the relation. */
static void merge_ends(compact *g, wfre_list heads, wfre_list tails)
{
    size_t i = 0, j = 0;
    while (i < heads.count || j < tails.count) {
        bool head = j >= tails.count || (i < heads.count && heads.ids[i] <= tails.ids[j]);
        wfre_entity next = head ? heads.ids[i] : tails.ids[j];
        i += i < heads.count && heads.ids[i] == next;
        j += j < tails.count && tails.ids[j] == next;
        g->entity[g->nodes++] = next;
    }
}

/* The arcs of one direction, each node's in ascending order. */
static bool copy_arcs(const compact *g, const wfre_graph *graph, wfre_split split,
                      wfre_relation relation, arcs *out)
{
    size_t most = (size_t)wfre_graph_relation_triples(graph, split, relation);
    out->begin = wfre_alloc((size_t)g->nodes + 1, sizeof *out->begin);
    out->to = wfre_alloc(most, sizeof *out->to);
    if (!out->begin || !out->to)
        return false;
    uint32_t filled = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        wfre_list targets = wfre_graph_targets(graph, split, relation, g->entity[node]);
        out->begin[node] = filled;
        for (size_t i = 0; i < targets.count; i++)
            if (targets.ids[i] != g->entity[node])
                out->to[filled++] = node_of(g, targets.ids[i]);
    }
    out->begin[g->nodes] = filled;
    return true;
}

static bool make_compact(const wfre_graph *graph, wfre_split split, wfre_relation relation,
                         compact *g)
{
    wfre_list heads = wfre_graph_sources(graph, split, relation);
    wfre_list tails = wfre_graph_sources(graph, split, relation ^ 1);
    g->entity = wfre_alloc(heads.count + tails.count, sizeof *g->entity);
    if (!g->entity)
        return false;
    merge_ends(g, heads, tails);
    if (!copy_arcs(g, graph, split, relation, &g->along) ||
        !copy_arcs(g, graph, split, relation ^ 1, &g->against))
        return false;
    g->edges = g->along.begin[g->nodes];
    return true;
}

/* The share of edges whose reverse is no edge; both lists of a node ascend. */
static double one_way_share(const compact *g)
{
    uint64_t both = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        uint32_t i = g->along.begin[node], j = g->against.begin[node];
        while (i < g->along.begin[node + 1] && j < g->against.begin[node + 1]) {
            uint32_t a = g->along.to[i], b = g->against.to[j];
            both += a == b;
            i += a <= b;
            j += b <= a;
        }
    }
    return g->edges ? 1 - (double)both / g->edges : 0;
}

/* ---- breadth-first search ----------------------------------------------------------------- */

static const uint32_t UNSEEN = UINT32_MAX;

typedef struct search {
    uint32_t *distance; /* UNSEEN between searches */
    uint32_t *parent;
    uint32_t *queue;
    uint32_t count; /* nodes reached, in the queue */
} search;

static void free_searches(search *searches, unsigned count)
{
    for (unsigned i = 0; searches && i < count; i++) {
        wfre_free(searches[i].distance);
        wfre_free(searches[i].parent);
        wfre_free(searches[i].queue);
    }
    wfre_free(searches);
}

static search *make_searches(unsigned count, uint32_t nodes)
{
    search *searches = wfre_alloc_zero(count, sizeof *searches);
    for (unsigned i = 0; searches && i < count; i++) {
        searches[i].distance = wfre_alloc(nodes, sizeof *searches[i].distance);
        searches[i].parent = wfre_alloc(nodes, sizeof *searches[i].parent);
        searches[i].queue = wfre_alloc(nodes, sizeof *searches[i].queue);
        if (!searches[i].distance || !searches[i].parent || !searches[i].queue) {
            free_searches(searches, count);
            return NULL;
        }
        memset(searches[i].distance, 0xFF, (size_t)nodes * sizeof *searches[i].distance);
    }
    return searches;
}

static void end_search(search *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->distance[s->queue[i]] = UNSEEN;
    s->count = 0;
}

static void visit(search *s, const arcs *to, uint32_t node)
{
    for (uint32_t i = to->begin[node]; i < to->begin[node + 1]; i++) {
        uint32_t next = to->to[i];
        if (s->distance[next] == UNSEEN) {
            s->distance[next] = s->distance[node] + 1;
            s->parent[next] = node;
            s->queue[s->count++] = next;
        }
    }
}

/* All nodes reached from `start`, or until `goal` is; along the edges only if `directed`. */
static void run_search(const compact *g, search *s, uint32_t start, uint32_t goal, bool directed)
{
    s->count = 0;
    s->distance[start] = 0;
    s->queue[s->count++] = start;
    for (uint32_t i = 0; i < s->count; i++) {
        if (goal != UNSEEN && s->distance[goal] != UNSEEN)
            return;
        visit(s, &g->along, s->queue[i]);
        if (!directed)
            visit(s, &g->against, s->queue[i]);
    }
}

/* ---- Krackhardt's score ------------------------------------------------------------------- */

/* Tarjan's strongly connected components without recursion; root[v] names v's component. */
static bool strong_components(const compact *g, uint32_t *root, uint32_t *size)
{
    uint32_t n = g->nodes, *low = wfre_alloc(n, sizeof *low), *next = wfre_alloc(n, sizeof *next);
    uint32_t *stack = wfre_alloc(n, sizeof *stack), *call = wfre_alloc(n, sizeof *call);
    uint32_t *order = wfre_alloc(n, sizeof *order), visited = 0, height = 0;
    bool ok = low && next && stack && call && order;
    if (ok)
        memset(order, 0xFF, (size_t)n * sizeof *order);
    for (uint32_t v = 0; ok && v < n; v++)
        root[v] = UNSEEN, size[v] = 0, next[v] = g->along.begin[v];
    for (uint32_t start = 0; ok && start < n; start++) {
        if (order[start] != UNSEEN)
            continue;
        uint32_t depth = 0;
        call[depth++] = start;
        while (depth > 0) {
            uint32_t v = call[depth - 1];
            if (order[v] == UNSEEN) {
                order[v] = low[v] = visited++;
                stack[height++] = v;
            }
            if (next[v] < g->along.begin[v + 1]) {
                uint32_t w = g->along.to[next[v]];
                if (order[w] == UNSEEN) {
                    call[depth++] = w; /* comes back to this same arc */
                    continue;
                }
                if (root[w] == UNSEEN && low[w] < low[v])
                    low[v] = low[w];
                next[v]++;
                continue;
            }
            depth--;
            if (low[v] != order[v])
                continue;
            do {
                root[stack[--height]] = v;
                size[v]++;
            } while (stack[height] != v);
        }
    }
    wfre_free(low);
    wfre_free(next);
    wfre_free(stack);
    wfre_free(call);
    wfre_free(order);
    return ok;
}

typedef struct source {
    uint32_t node;
    uint32_t weight; /* how many nodes it stands for: all of a component reach the same */
} source;

typedef struct reach_task {
    const compact *g;
    search *searches;
    const source *sources;
    size_t count;
    uint64_t *reached; /* by chunk */
} reach_task;

static void reach_chunk(void *context, size_t chunk, unsigned worker)
{
    reach_task *task = context;
    search *s = &task->searches[worker];
    size_t begin = chunk * SOURCES_A_CHUNK, end = begin + SOURCES_A_CHUNK;
    uint64_t sum = 0;
    for (size_t i = begin; i < end && i < task->count; i++) {
        run_search(task->g, s, task->sources[i].node, UNSEEN, true);
        sum += (uint64_t)task->sources[i].weight * (s->count - 1);
        end_search(s);
    }
    task->reached[chunk] = sum;
}

/* One node of each component, or random nodes if there are too many. */
static size_t choose_sources(const compact *g, const uint32_t *root, const uint32_t *size,
                             wfre_rng *rng, source *sources)
{
    size_t count = 0;
    if (g->nodes <= SOURCE_LIMIT) {
        for (uint32_t v = 0; v < g->nodes; v++)
            if (root[v] == v)
                sources[count++] = (source){v, size[v]};
    } else {
        while (count < SOURCE_LIMIT)
            sources[count++] = (source){wfre_rng_below(rng, g->nodes), 1};
    }
    return count;
}

static bool krackhardt(const compact *g, search *searches, wfre_pool *pool, wfre_rng rng,
                       double *score)
{
    uint32_t *root = wfre_alloc(g->nodes, sizeof *root);
    uint32_t *size = wfre_alloc(g->nodes, sizeof *size);
    size_t most = g->nodes < SOURCE_LIMIT ? g->nodes : SOURCE_LIMIT;
    source *sources = wfre_alloc(most, sizeof *sources);
    size_t chunks = most / SOURCES_A_CHUNK + 1;
    uint64_t *reached = wfre_alloc_zero(chunks, sizeof *reached);
    bool ok = root && size && sources && reached && strong_components(g, root, size);
    if (ok) {
        reach_task task = {g, searches, sources, 0, reached};
        task.count = choose_sources(g, root, size, &rng, sources);
        wfre_pool_run(pool, chunks, reach_chunk, &task);
        uint64_t joined = 0, back = 0;
        for (size_t i = 0; i < chunks; i++)
            joined += reached[i];
        for (size_t i = 0; i < task.count; i++)
            back += (uint64_t)sources[i].weight * (size[root[sources[i].node]] - 1);
        *score = joined ? 1 - (double)back / (double)joined : 0;
    }
    wfre_free(root);
    wfre_free(size);
    wfre_free(sources);
    wfre_free(reached);
    return ok;
}

/* ---- curvature ---------------------------------------------------------------------------- */

/* Nodes by weakly connected component, components of at least three nodes only. */
typedef struct components {
    uint32_t *nodes;
    uint32_t *begin;    /* count + 1 */
    double *cumulative; /* sums of cubed sizes */
    uint32_t count;
} components;

static void find_components(const compact *g, search *s, components *c, uint32_t *seen)
{
    uint32_t filled = 0;
    double sum = 0;
    memset(seen, 0, (size_t)g->nodes * sizeof *seen);
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (seen[v])
            continue;
        run_search(g, s, v, UNSEEN, false);
        for (uint32_t i = 0; i < s->count; i++)
            seen[s->queue[i]] = 1;
        if (s->count >= 3) {
            c->begin[c->count] = filled;
            memcpy(c->nodes + filled, s->queue, s->count * sizeof *c->nodes);
            filled += s->count;
            sum += (double)s->count * s->count * s->count;
            c->cumulative[c->count++] = sum;
        }
        end_search(s);
    }
    c->begin[c->count] = filled;
}

typedef struct triangle_task {
    const compact *g;
    const components *parts;
    search *searches;
    double *value; /* by triangle; NAN where none was found */
    size_t count;
    uint64_t seed;
    wfre_relation relation;
} triangle_task;

static uint32_t draw_component(const components *c, wfre_rng *rng)
{
    double at = wfre_rng_double(rng) * c->cumulative[c->count - 1];
    uint32_t low = 0, high = c->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->cumulative[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Three different nodes of one component. */
static void draw_nodes(const components *c, wfre_rng *rng, uint32_t drawn[3])
{
    uint32_t part = draw_component(c, rng);
    uint32_t begin = c->begin[part], size = c->begin[part + 1] - begin, place[3];
    do {
        for (int i = 0; i < 3; i++)
            place[i] = wfre_rng_below(rng, size);
    } while (place[0] == place[1] || place[0] == place[2] || place[1] == place[2]);
    for (int i = 0; i < 3; i++)
        drawn[i] = c->nodes[begin + place[i]];
}

static double triangle_curvature(const compact *g, search *s, const uint32_t drawn[3])
{
    uint32_t a = drawn[0], b = drawn[1], c = drawn[2];
    run_search(g, s, b, c, false);
    uint32_t between = s->distance[c], m = c;
    for (uint32_t i = 0; i < between / 2; i++)
        m = s->parent[m];
    end_search(s);
    if (between < 2 || m == a)
        return NAN;
    run_search(g, s, a, UNSEEN, false);
    double am = s->distance[m], ab = s->distance[b], ac = s->distance[c], bc = between;
    end_search(s);
    return (am * am + bc * bc / 4 - (ab * ab + ac * ac) / 2) / (2 * am);
}

static void triangle_chunk(void *context, size_t chunk, unsigned worker)
{
    triangle_task *task = context;
    size_t begin = chunk * TRIANGLES_A_CHUNK, end = begin + TRIANGLES_A_CHUNK;
    for (size_t i = begin; i < end && i < task->count; i++) {
        wfre_rng rng = wfre_rng_for(task->seed, WFRE_FOR_HIERARCHY, task->relation, i + 1);
        task->value[i] = NAN;
        for (int draw = 0; draw < DRAWS && isnan(task->value[i]); draw++) {
            uint32_t drawn[3];
            draw_nodes(task->parts, &rng, drawn);
            task->value[i] = triangle_curvature(task->g, &task->searches[worker], drawn);
        }
    }
}

static bool curvature(triangle_task *task, wfre_pool *pool, wfre_hierarchy *result)
{
    const compact *g = task->g;
    components parts = {
        .nodes = wfre_alloc(g->nodes, sizeof *parts.nodes),
        .begin = wfre_alloc((size_t)g->nodes / 3 + 1, sizeof *parts.begin),
        .cumulative = wfre_alloc((size_t)g->nodes / 3 + 1, sizeof *parts.cumulative),
    };
    uint32_t *seen = wfre_alloc(g->nodes, sizeof *seen);
    task->value = wfre_alloc(task->count, sizeof *task->value);
    task->parts = &parts;
    bool ok = parts.nodes && parts.begin && parts.cumulative && seen && task->value;
    double sum = 0;
    if (ok)
        find_components(g, &task->searches[0], &parts, seen);
    if (parts.count > 0) {
        wfre_pool_run(pool, task->count / TRIANGLES_A_CHUNK + 1, triangle_chunk, task);
        for (size_t i = 0; i < task->count; i++)
            if (!isnan(task->value[i])) {
                sum += task->value[i];
                result->triangles++;
            }
    }
    result->curvature = result->triangles ? sum / result->triangles : NAN;
    wfre_free(parts.nodes);
    wfre_free(parts.begin);
    wfre_free(parts.cumulative);
    wfre_free(seen);
    wfre_free(task->value);
    return ok;
}

wfre_status wfre_graph_hierarchy(const wfre_graph *graph, wfre_split split, wfre_relation relation,
                                 uint32_t triangles, uint64_t seed, wfre_pool *pool,
                                 wfre_hierarchy *hierarchy, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(hierarchy);
    if (relation >= wfre_graph_relations(graph))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "no relation has the id %u",
                         relation);
    wfre_status status = wfre_check_split(split, error);
    if (status == WFRE_OK)
        status = wfre_graph_trust(graph, error);
    if (status != WFRE_OK)
        return status;
    compact g = {0};
    wfre_hierarchy result = {0};
    unsigned workers = pool ? wfre_pool_threads(pool) : 1;
    search *searches = NULL;
    bool ok = make_compact(graph, split, relation, &g);
    if (ok) {
        searches = make_searches(workers, g.nodes);
        triangle_task task = {.g = &g,
                              .searches = searches,
                              .count = triangles ? triangles : DEFAULT_TRIANGLES,
                              .seed = seed,
                              .relation = relation};
        result.entities = g.nodes;
        result.edges = g.edges;
        result.one_way = one_way_share(&g);
        ok = searches &&
             krackhardt(&g, searches, pool, wfre_rng_for(seed, WFRE_FOR_HIERARCHY, relation, 0),
                        &result.krackhardt) &&
             curvature(&task, pool, &result);
    }
    free_searches(searches, workers);
    free_compact(&g);
    if (!ok)
        return wfre_fail_memory(error, "measuring a hierarchy");
    *hierarchy = result;
    return WFRE_OK;
}
