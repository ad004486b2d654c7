/* Benchmark query sets: distinct queries with hard answers, type by type.
 *
 * Attempt k at a type is a function of the seed, the type and k. Attempts are made in waves over
 * all threads and judged in order, so the set depends neither on the number of threads nor on which
 * other types are asked for. */
#include "base/pool.h"
#include "query/notation.h"
#include "query/typelist.h"
#include "sample/ground.h"
#include "sample/queryset.h"

enum {
    CHUNK = 32,
    SMALLEST_WAVE = 256,
    LARGEST_WAVE = 8192,
    PATIENCE = 100000 /* attempts in a row without a new query before a type is given up */
};

/* A query that meets all conditions but being new. */
typedef struct found {
    const wfre_node *tree; /* NULL if the attempt failed */
    wfre_list easy, hard;
} found;

/* What one chunk of a wave made. */
typedef struct chunk {
    wfre_arena arena;
    found found[CHUNK];
    wfre_status status;
    wfre_error error;
} chunk;

typedef struct sampling {
    const wfre_graph *graph;
    const wfre_benchmark_options *options;
    size_t cap;          /* SIZE_MAX for none */
    wfre_exact *engines; /* one a thread */
    size_t engine_count;
    wfre_arena *attempts; /* one a thread: the query at hand */
    chunk *chunks;
    wfre_queryset_writer writer;
    wfre_strings seen; /* the queries of the type at hand, as text */
    wfre_text key;
    /* The wave at work. */
    const wfre_node *type;
    uint64_t type_hash;
    uint64_t first;
} sampling;

/* ---- one attempt -------------------------------------------------------------------------- */

static bool copy_set(wfre_arena *arena, const wfre_sets *sets, const wfre_set *set, wfre_list *list)
{
    wfre_entity *ids = wfre_arena_alloc(arena, wfre_set_size(sets, set), sizeof *ids);
    if (!ids)
        return false;
    wfre_set_write(sets, set, ids);
    *list = (wfre_list){ids, wfre_set_size(sets, set)};
    return true;
}

/* Takes away from a set what another holds. */
static bool subtract(wfre_sets *sets, wfre_set *set, const wfre_set *other)
{
    wfre_set rest = wfre_set_view(*other);
    rest.complement = !rest.complement;
    return wfre_set_intersect(sets, set, &rest);
}

/* The answers on both graphs, if they are within the cap and some are hard; else hard is empty.
 * Both sets are the caller's to release. */
static wfre_status answer_both(const sampling *s, wfre_exact *exact, const wfre_node *tree,
                               wfre_set *easy, wfre_set *hard, size_t *all, wfre_error *error)
{
    wfre_split split = s->options->split;
    CHECK(wfre_exact_set(exact, split, tree, hard, error));
    *all = wfre_set_size(&exact->sets, hard);
    if (*all > 0 && *all <= s->cap)
        CHECK(wfre_exact_set(exact, (wfre_split)(split - 1), tree, easy, error));
    if (*all == 0 || *all > s->cap || wfre_set_size(&exact->sets, easy) > s->cap) {
        wfre_set_release(&exact->sets, hard);
        return WFRE_OK;
    }
    if (!subtract(&exact->sets, hard, easy))
        return wfre_fail_memory(error, "sampling a query");
    return WFRE_OK;
}

/* A query as the strict protocol wants them. */
static wfre_status judge_strict(const sampling *s, wfre_exact *exact, const wfre_node *tree,
                                wfre_set *easy, wfre_set *hard, bool *good, wfre_error *error)
{
    size_t all;
    CHECK(answer_both(s, exact, tree, easy, hard, &all, error));
    *good = wfre_set_size(&exact->sets, hard) > 0;
    if (*good)
        CHECK(wfre_branches_matter(exact, s->options->split,
                                   s->options->idle_branches ? WFRE_BRANCHES_NEGATED
                                                             : WFRE_BRANCHES_ALL,
                                   tree, all, good, error));
    return WFRE_OK;
}

/* A query as BetaE's published sets have them. What the larger graph refutes is an answer on the
 * smaller one, and counts as easy, since a model that knows that graph alone must be allowed to say
 * so. */
static wfre_status judge_betae(const sampling *s, wfre_exact *exact, const wfre_node *tree,
                               wfre_set *easy, wfre_set *hard, bool *good, wfre_error *error)
{
    wfre_status status;
    wfre_split split = s->options->split;
    wfre_set refuted = wfre_set_empty();
    bool negated = wfre_tree_count(tree, WFRE_OP_NEGATE) > 0;
    TRY(wfre_exact_set(exact, split, tree, hard, error));
    TRY(wfre_exact_set(exact, (wfre_split)(split - 1), tree, easy, error));
    if (negated) {
        TRY(wfre_exact_set(exact, (wfre_split)(split - 1), tree, &refuted, error));
        if (!subtract(&exact->sets, &refuted, hard))
            TRY(wfre_fail_memory(error, "sampling a query"));
    }
    if (!subtract(&exact->sets, hard, easy))
        TRY(wfre_fail_memory(error, "sampling a query"));
    size_t gained = wfre_set_size(&exact->sets, hard);
    size_t lost = wfre_set_size(&exact->sets, &refuted);
    *good = gained > 0 && gained <= s->cap && lost <= s->cap && (lost > 0 || !negated);
cleanup:
    wfre_set_release(&exact->sets, &refuted);
    return status;
}

static wfre_status ground_attempt(const sampling *s, wfre_rng *rng, wfre_arena *arena,
                                  const wfre_node **tree, wfre_error *error)
{
    wfre_split split = s->options->split;
    bool edge = wfre_node_is_edge(s->type);
    if (edge && s->options->edges == WFRE_DRAW_QUESTIONS)
        return wfre_ground_path(s->graph, split, 1, rng, arena, tree, error);
    if (edge && s->options->edges == WFRE_DRAW_FACTS)
        return wfre_ground_fact(s->graph, split, rng, arena, tree, error);
    return wfre_ground(s->graph, split, s->type, rng, arena, tree, error);
}

static wfre_status attempt(sampling *s, unsigned thread, wfre_rng *rng, chunk *c, found *out)
{
    wfre_status status;
    wfre_exact *exact = &s->engines[thread];
    wfre_set easy = wfre_set_empty();
    wfre_set hard = wfre_set_empty();
    const wfre_node *tree;
    bool good;
    wfre_arena_reset(&s->attempts[thread]);
    TRY(ground_attempt(s, rng, &s->attempts[thread], &tree, &c->error));
    if (!tree)
        goto cleanup;
    TRY((s->options->protocol == WFRE_PROTOCOL_BETAE ? judge_betae : judge_strict)(
        s, exact, tree, &easy, &hard, &good, &c->error));
    if (!good)
        goto cleanup;
    out->tree = wfre_tree_copy(&c->arena, tree);
    if (!out->tree || !copy_set(&c->arena, &exact->sets, &easy, &out->easy) ||
        !copy_set(&c->arena, &exact->sets, &hard, &out->hard))
        status = wfre_fail_memory(&c->error, "sampling a query");
cleanup:
    wfre_set_release(&exact->sets, &easy);
    wfre_set_release(&exact->sets, &hard);
    return status;
}

static void sample_chunk(void *context, size_t index, unsigned thread)
{
    sampling *s = context;
    chunk *c = &s->chunks[index];
    wfre_arena_reset(&c->arena);
    c->status = WFRE_OK;
    for (size_t i = 0; i < CHUNK && c->status == WFRE_OK; i++) {
        wfre_rng rng = wfre_rng_for(s->options->seed, WFRE_FOR_DATA, s->type_hash,
                                    s->first + index * CHUNK + i);
        c->found[i].tree = NULL;
        c->status = attempt(s, thread, &rng, c, &c->found[i]);
    }
}

/* ---- one type ----------------------------------------------------------------------------- */

/* Writes the query unless it was there before. */
static wfre_status accept(sampling *s, const char *name, const found *query, chunk *c, bool *is_new,
                          wfre_error *error)
{
    uint32_t before = s->seen.count;
    uint32_t index;
    const wfre_node *sorted = wfre_tree_sort(&c->arena, query->tree);
    if (!sorted)
        return wfre_fail_memory(error, "sampling a query");
    wfre_text_clear(&s->key);
    wfre_tree_print(&s->key, NULL, sorted);
    CHECK(wfre_text_status(&s->key, "sampling a query", error));
    CHECK(wfre_strings_intern(&s->seen, s->key.data, s->key.length, &index, error));
    *is_new = index == before;
    if (*is_new)
        CHECK(wfre_queryset_writer_put(&s->writer, name, query->tree, query->easy, query->hard,
                                       error));
    return WFRE_OK;
}

/* Makes `chunks` chunks of attempts and takes what is good and new; *last is the attempt that gave
 * the last of these. */
static wfre_status run_wave(sampling *s, const char *name, wfre_pool *pool, size_t chunks,
                            size_t *count, uint64_t *last, wfre_error *error)
{
    wfre_pool_run(pool, chunks, sample_chunk, s);
    for (size_t i = 0; i < chunks; i++) {
        if (s->chunks[i].status != WFRE_OK) {
            if (error)
                *error = s->chunks[i].error;
            return s->chunks[i].status;
        }
    }
    for (size_t i = 0; i < chunks * CHUNK && *count < s->options->count; i++) {
        chunk *c = &s->chunks[i / CHUNK];
        bool is_new = false;
        if (c->found[i % CHUNK].tree)
            CHECK(accept(s, name, &c->found[i % CHUNK], c, &is_new, error));
        if (is_new) {
            ++*count;
            *last = s->first + i + 1;
        }
    }
    return WFRE_OK;
}

static wfre_status sample_type(sampling *s, const wfre_node *type, const char *name,
                               wfre_pool *pool, const wfre_monitor *monitor,
                               wfre_benchmark_type *report, wfre_error *error)
{
    uint64_t last = 0;
    wfre_strings_free(&s->seen);
    s->type = type;
    s->type_hash = wfre_node_hash(type);
    s->first = 0;
    *report = (wfre_benchmark_type){.name = name};
    while (report->queries < s->options->count && s->first - last < PATIENCE) {
        CHECK(wfre_check_interrupt(monitor, error));
        size_t wave = (s->options->count - report->queries) * 2;
        wave = wave < SMALLEST_WAVE ? SMALLEST_WAVE : wave > LARGEST_WAVE ? LARGEST_WAVE : wave;
        size_t chunks = wave / CHUNK;
        CHECK(run_wave(s, name, pool, chunks, &report->queries, &last, error));
        s->first += chunks * CHUNK;
    }
    report->attempts = s->first;
    return WFRE_OK;
}

/* ---- the whole set ------------------------------------------------------------------------ */

static wfre_status open_sampling(sampling *s, wfre_pool *pool, wfre_error *error)
{
    CHECK(wfre_exact_open_all(s->graph, pool, &s->engines, &s->engine_count, error));
    s->attempts = wfre_alloc_zero(s->engine_count, sizeof *s->attempts);
    s->chunks = wfre_alloc_zero(LARGEST_WAVE / CHUNK, sizeof *s->chunks);
    if (!s->attempts || !s->chunks)
        return wfre_fail_memory(error, "sampling queries");
    return WFRE_OK;
}

static void close_sampling(sampling *s)
{
    for (size_t i = 0; s->attempts && i < s->engine_count; i++)
        wfre_arena_free(&s->attempts[i]);
    for (size_t i = 0; s->chunks && i < LARGEST_WAVE / CHUNK; i++)
        wfre_arena_free(&s->chunks[i].arena);
    wfre_free(s->attempts);
    wfre_free(s->chunks);
    wfre_exact_close_all(s->engines, s->engine_count);
    wfre_strings_free(&s->seen);
    wfre_text_free(&s->key);
    wfre_queryset_writer_discard(&s->writer);
}

static wfre_status check_options(const wfre_graph *graph, const wfre_benchmark_options *options,
                                 wfre_error *error)
{
    wfre_split split = options->split;
    if ((unsigned)options->edges > WFRE_DRAW_ANSWERS)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "single edges are drawn over questions, facts or answers");
    if (split != WFRE_VALID && split != WFRE_TEST)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "benchmark queries are for split valid or test");
    if (wfre_graph_triples(graph, split) == wfre_graph_triples(graph, (wfre_split)(split - 1)))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the graph has no triples in split %s, so nothing would be hard; hold "
                         "some out when it is imported: `holdout`",
                         split == WFRE_VALID ? "valid" : "test");
    return WFRE_OK;
}

wfre_status wfre_benchmark_sample(const wfre_graph *graph, const wfre_benchmark_options *options,
                                  const char *output, wfre_pool *pool, const wfre_monitor *monitor,
                                  void (*report)(void *context, const wfre_benchmark_type *type),
                                  void *context, wfre_error *error)
{
    GIVEN(graph);
    GIVEN(options);
    GIVEN(output);
    wfre_status status;
    wfre_type_list types = {0};
    sampling s = {
        .graph = graph, .options = options, .cap = options->cap ? options->cap : SIZE_MAX};
    static const char *const EDGES[] = {[WFRE_DRAW_QUESTIONS] = "questions",
                                        [WFRE_DRAW_FACTS] = "facts",
                                        [WFRE_DRAW_ANSWERS] = "answers"};
    char comment[160];
    uint64_t queries = 0;
    TRY(check_options(graph, options, error));
    TRY(wfre_graph_trust(graph, error));
    TRY(wfre_type_list_parse(&types, options->types ? options->types : "betae", error));
    TRY(open_sampling(&s, pool, error));
    (void)snprintf(comment, sizeof comment,
                   "sampled queries of split %s, seed %llu, cap %zu, protocol %s, 1p over %s",
                   options->split == WFRE_VALID ? "valid" : "test",
                   (unsigned long long)options->seed, options->cap,
                   options->protocol == WFRE_PROTOCOL_BETAE ? "betae" : "strict",
                   EDGES[options->edges]);
    TRY(wfre_queryset_writer_open(&s.writer, output, comment, error));
    for (uint32_t i = 0; i < types.count; i++) {
        wfre_benchmark_type done;
        wfre_report(monitor, "sampling", i, types.count, types.names[i]);
        TRY(sample_type(&s, types.trees[i], types.names[i], pool, monitor, &done, error));
        queries += done.queries;
        if (report)
            report(context, &done);
    }
    if (queries == 0) {
        status = wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                           "no query of these types was found in the graph; nothing was written");
        goto cleanup;
    }
    TRY(wfre_queryset_writer_commit(&s.writer, error));
cleanup:
    close_sampling(&s);
    wfre_type_list_free(&types);
    return status;
}
