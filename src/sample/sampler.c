/* Training queries: attempts until one is good, in chunks over the pool's threads.
 *
 * Each chunk has an arena for what it made and keeps it from step to step; each thread has an
 * engine and an arena for attempts. So once sizes have settled, a step does not allocate. */
#include "base/pool.h"
#include "query/typelist.h"
#include "sample/ground.h"

enum {
    CHUNK = 16,       /* queries; small, since types differ much in cost */
    ATTEMPTS = 10000, /* for one query before its type is given up, unless told otherwise */
};

static const char TRAINING_TYPES[] = "1p 2p 3p 2i 3i 2in 3in inp pin pni";

/* What one thread works with. */
typedef struct worker {
    wfre_exact exact;
    wfre_arena attempt;
} worker;

/* What one chunk made, or why it could not. */
typedef struct chunk {
    wfre_arena made;
    wfre_status status;
    wfre_error error;
} chunk;

struct wfre_sampler {
    const wfre_graph *graph;
    wfre_split split;
    size_t cap;
    uint64_t seed;
    double forward_edges, forward_paths; /* shares that are walked forwards */
    uint32_t substitute;                 /* the type to take instead; WFRE_NONE for none */
    uint32_t *attempts;                  /* [types] before one is given up */
    wfre_type_list types;
    worker *workers;
    size_t worker_count;
    chunk *chunks;
    size_t chunk_count;
    wfre_sampled *queries;
    size_t query_capacity;
    /* The step at work. */
    uint64_t step;
    const uint32_t *step_types;
    size_t count;
};

wfre_status wfre_sampler_create(const wfre_graph *graph, wfre_split split, const char *types,
                                size_t cap, uint64_t seed, wfre_sampler **sampler,
                                wfre_error *error)
{
    GIVEN(graph);
    wfre_status status = WFRE_OK;
    wfre_sampler *made = wfre_alloc_zero(1, sizeof *made);
    if (!made)
        return wfre_fail_memory(error, "starting the sampler");
    made->graph = graph;
    made->split = split;
    made->cap = cap ? cap : SIZE_MAX;
    made->seed = seed;
    made->substitute = WFRE_NONE;
    TRY(wfre_check_split(split, error));
    TRY(wfre_graph_trust(graph, error));
    TRY(wfre_type_list_parse(&made->types, types ? types : TRAINING_TYPES, error));
    made->attempts = wfre_alloc(made->types.count, sizeof *made->attempts);
    if (!made->attempts) {
        status = wfre_fail_memory(error, "starting the sampler");
        goto cleanup;
    }
    for (uint32_t i = 0; i < made->types.count; i++)
        made->attempts[i] = ATTEMPTS;
    *sampler = made;
    made = NULL;
cleanup:
    wfre_sampler_free(made);
    return status;
}

void wfre_sampler_free(wfre_sampler *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->worker_count; i++) {
        wfre_exact_close(&sampler->workers[i].exact);
        wfre_arena_free(&sampler->workers[i].attempt);
    }
    for (size_t i = 0; i < sampler->chunk_count; i++)
        wfre_arena_free(&sampler->chunks[i].made);
    wfre_free(sampler->attempts);
    wfre_free(sampler->workers);
    wfre_free(sampler->chunks);
    wfre_free(sampler->queries);
    wfre_type_list_free(&sampler->types);
    wfre_free(sampler);
}

void wfre_sampler_forward(wfre_sampler *sampler, double edges, double paths)
{
    sampler->forward_edges = edges;
    sampler->forward_paths = paths;
}

void wfre_sampler_substitute(wfre_sampler *sampler, uint32_t type)
{
    sampler->substitute = type;
}

void wfre_sampler_limit(wfre_sampler *sampler, uint32_t type, uint32_t attempts)
{
    sampler->attempts[type] = attempts < ATTEMPTS ? attempts : ATTEMPTS;
}

uint32_t wfre_sampler_type_count(const wfre_sampler *sampler)
{
    return sampler->types.count;
}

/* ---- one query ---------------------------------------------------------------------------- */

/* Puts a query and its answers where they live until the next step. */
static wfre_status keep(chunk *c, const wfre_sets *sets, const wfre_node *tree,
                        const wfre_set *answers, wfre_sampled *query)
{
    size_t count = wfre_set_size(sets, answers);
    const wfre_node *copy = wfre_tree_copy(&c->made, tree);
    wfre_entity *ids = wfre_arena_alloc(&c->made, count, sizeof *ids);
    if (!copy || !ids)
        return wfre_fail_memory(&c->error, "sampling a query");
    wfre_set_write(sets, answers, ids);
    query->tree = copy;
    query->answers = (wfre_list){ids, count};
    return WFRE_OK;
}

/* How many projections a path has; 0 for types that are not paths. */
static unsigned path_length(const wfre_node *type)
{
    unsigned length = 0;
    for (; type->op == WFRE_OP_PROJECT; type = type->children[0])
        length++;
    return type->op == WFRE_OP_ENTITY ? length : 0;
}

static wfre_status ground(const wfre_sampler *sampler, worker *w, chunk *c, wfre_rng *rng,
                          const wfre_node *type, const wfre_node **tree)
{
    unsigned length = path_length(type);
    double share = length == 0 ? 0 : length == 1 ? sampler->forward_edges : sampler->forward_paths;
    if (share > 0 && wfre_rng_double(rng) < share)
        return wfre_ground_path(sampler->graph, sampler->split, length, rng, &w->attempt, tree,
                                &c->error);
    return wfre_ground(sampler->graph, sampler->split, type, rng, &w->attempt, tree, &c->error);
}

/* One attempt; query->tree stays NULL if it failed. */
static wfre_status attempt(const wfre_sampler *sampler, worker *w, chunk *c, wfre_rng *rng,
                           wfre_sampled *query)
{
    wfre_status status;
    const wfre_node *tree;
    wfre_set answers = wfre_set_empty();
    wfre_arena_reset(&w->attempt);
    TRY(ground(sampler, w, c, rng, sampler->types.trees[query->type], &tree));
    if (!tree)
        goto cleanup;
    TRY(wfre_exact_set(&w->exact, sampler->split, tree, &answers, &c->error));
    size_t count = wfre_set_size(&w->exact.sets, &answers);
    bool good = count > 0 && count <= sampler->cap;
    if (good)
        TRY(wfre_branches_matter(&w->exact, sampler->split, WFRE_BRANCHES_NEGATED, tree, count,
                                 &good, &c->error));
    if (good)
        TRY(keep(c, &w->exact.sets, tree, &answers, query));
cleanup:
    wfre_set_release(&w->exact.sets, &answers);
    return status;
}

static wfre_status sample_query(wfre_sampler *sampler, worker *w, chunk *c, size_t index)
{
    uint32_t type =
        sampler->step_types ? sampler->step_types[index] : (uint32_t)(index % sampler->types.count);
    wfre_rng rng = wfre_rng_for(sampler->seed, WFRE_FOR_QUERIES, sampler->step, index);
    wfre_sampled query = {.type = type};
    for (uint32_t i = 0; i < sampler->attempts[type] && !query.tree; i++)
        CHECK(attempt(sampler, w, c, &rng, &query));
    if (!query.tree && sampler->substitute != WFRE_NONE)
        query.type = sampler->substitute;
    for (int i = 0; i < ATTEMPTS && !query.tree && query.type != type; i++)
        CHECK(attempt(sampler, w, c, &rng, &query));
    if (!query.tree)
        return wfre_fail(&c->error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                         "no query of type %s was found in %u attempts; leave the type out, in "
                         "training by `mix-%s=0`",
                         sampler->types.names[type], sampler->attempts[type],
                         sampler->types.names[type]);
    sampler->queries[index] = query;
    return WFRE_OK;
}

/* ---- steps -------------------------------------------------------------------------------- */

static void sample_chunk(void *context, size_t index, unsigned thread)
{
    wfre_sampler *sampler = context;
    chunk *c = &sampler->chunks[index];
    size_t end = (index + 1) * CHUNK < sampler->count ? (index + 1) * CHUNK : sampler->count;
    wfre_arena_reset(&c->made);
    c->status = WFRE_OK;
    for (size_t i = index * CHUNK; i < end && c->status == WFRE_OK; i++)
        c->status = sample_query(sampler, &sampler->workers[thread], c, i);
}

/* Makes room for the threads and queries of a step. */
static wfre_status prepare_step(wfre_sampler *sampler, size_t threads, size_t chunks,
                                wfre_error *error)
{
    if (threads > sampler->worker_count) {
        worker *workers = wfre_resize(sampler->workers, threads, sizeof *workers);
        if (!workers)
            return wfre_fail_memory(error, "starting the sampler");
        sampler->workers = workers;
    }
    while (sampler->worker_count < threads) {
        worker *w = &sampler->workers[sampler->worker_count];
        w->attempt = (wfre_arena){0};
        wfre_status status = wfre_exact_open(&w->exact, sampler->graph, error);
        if (status != WFRE_OK)
            return status;
        sampler->worker_count++;
    }
    if (chunks > sampler->chunk_count) {
        chunk *grown = wfre_resize(sampler->chunks, chunks, sizeof *grown);
        if (!grown)
            return wfre_fail_memory(error, "starting the sampler");
        sampler->chunks = grown;
        while (sampler->chunk_count < chunks)
            sampler->chunks[sampler->chunk_count++].made = (wfre_arena){0};
    }
    if (!WFRE_RESERVE(&sampler->queries, &sampler->query_capacity, sampler->count))
        return wfre_fail_memory(error, "starting the sampler");
    return WFRE_OK;
}

wfre_status wfre_sampler_step(wfre_sampler *sampler, wfre_pool *pool, uint64_t step,
                              const uint32_t *types, size_t count, const wfre_sampled **queries,
                              wfre_error *error)
{
    GIVEN(sampler);
    size_t chunks = (count + CHUNK - 1) / CHUNK;
    for (size_t i = 0; types && i < count; i++)
        if (types[i] >= sampler->types.count)
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                             "query type %u is beyond the sampler's %u types", types[i],
                             sampler->types.count);
    sampler->step = step;
    sampler->step_types = types;
    sampler->count = count;
    CHECK(prepare_step(sampler, pool ? wfre_pool_threads(pool) : 1, chunks, error));
    CHECK(wfre_pool_try(pool, chunks, sample_chunk, sampler, error));
    for (size_t i = 0; i < chunks; i++) {
        if (sampler->chunks[i].status != WFRE_OK) {
            if (error)
                *error = sampler->chunks[i].error;
            return sampler->chunks[i].status;
        }
    }
    *queries = sampler->queries;
    return WFRE_OK;
}
