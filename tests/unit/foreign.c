/* What callers from other languages need besides: triples from memory, sizes of structs, names that
 * may have been meant, a wish to stop for the whole thread, nearest histograms, rows of entities,
 * and news of each training step. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "toy.h"
#include "wfre.h"

/* ---- triples from memory ------------------------------------------------------------------ */

#define NAME(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define TRIPLE(h, r, t)                                                                            \
    {                                                                                              \
        NAME(h), NAME(r), NAME(t)                                                                  \
    }

static const wfre_named_triple TRIPLES[] = {
    TRIPLE("ann", "knows", "bob\tlee"), TRIPLE("bob\tlee", "knows", "cy\ndee"),
    TRIPLE("ann", "knows", "bob\tlee"), TRIPLE("cy\ndee", "knows", "ann"),
    TRIPLE("ann", "likes", "ann"),
};
static const size_t COUNTS[WFRE_SPLITS] = {3, 1, 1};

static void test_triples(void **state)
{
    (void)state;
    wfre_graph *graph;
    wfre_import_report report;
    assert_ok(wfre_import_triples(TRIPLES, COUNTS, NULL, NULL, &graph, &report, error));
    assert_int_equal(wfre_graph_entities(graph), 3);
    assert_int_equal(wfre_graph_relations(graph), 4);
    assert_int_equal(wfre_graph_triples(graph, WFRE_TRAIN), 2);
    assert_int_equal(wfre_graph_triples(graph, WFRE_VALID), 3);
    assert_int_equal(wfre_graph_triples(graph, WFRE_TEST), 4);
    assert_int_equal(report.duplicates, 1);
    assert_string_equal(report.format, "memory");
    assert_ok(wfre_graph_validate(graph, error));
    wfre_entity ann = wfre_graph_find_entity(graph, "ann", 3);
    wfre_entity bob = wfre_graph_find_entity(graph, "bob\tlee", 7);
    wfre_relation knows = wfre_graph_find_relation(graph, "knows", 5);
    assert_true(wfre_graph_has(graph, WFRE_TRAIN, ann, knows, bob));
    wfre_graph_close(graph);
}

static void test_bad_triples(void **state)
{
    (void)state;
    static const wfre_named_triple bad[] = {
        {NAME("a"), {NULL, 0}, NAME("b")},
        {NAME("a"), NAME("r"), NAME("")},
        {NAME("a"), NAME("r"), {"a\0b", 3}},
        {{"\xff", 1}, NAME("r"), NAME("b")},
    };
    static const char *const said[] = {
        "triple 1: its relation is empty", "triple 1: its tail is empty",
        "triple 1: its tail has a NUL byte; names must be text", "triple 1: its head is not UTF-8"};
    wfre_graph *graph = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wfre_error error;
        wfre_named_triple two[] = {TRIPLE("a", "r", "b"), bad[i]};
        assert_int_equal(
            wfre_import_triples(two, (size_t[]){2, 0, 0}, NULL, NULL, &graph, NULL, &error),
            WFRE_ERR_FORMAT);
        assert_string_equal(error.message, said[i]);
        assert_int_equal(error.offset, 1);
    }
    size_t none[WFRE_SPLITS] = {0};
    wfre_import_options empty = {.allow_empty = true};
    assert_int_equal(wfre_import_triples(NULL, none, NULL, NULL, &graph, NULL, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_import_triples(NULL, COUNTS, NULL, NULL, &graph, NULL, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_null(graph);
    assert_ok(wfre_import_triples(NULL, none, &empty, NULL, &graph, NULL, error));
    assert_int_equal(wfre_graph_entities(graph), 0);
    wfre_graph_close(graph);
}

static wfre_status attempt_triples(void *context)
{
    (void)context;
    wfre_graph *graph = NULL;
    wfre_import_options options = {.holdout = 0.3, .base = "urn:x:"};
    wfre_status status =
        wfre_import_triples(TRIPLES, (size_t[]){5, 0, 0}, &options, NULL, &graph, NULL, NULL);
    wfre_graph_close(graph);
    return status;
}

static void test_triples_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt_triples, NULL);
}

static void test_copy(void **state)
{
    (void)state;
    wfre_graph *graph = toy_random_graph(4, 30, 3, 200);
    for (int split = 0; split < WFRE_SPLITS; split++) {
        uint64_t count = wfre_graph_triples(graph, (wfre_split)split);
        uint32_t *ids = malloc(3 * count * sizeof *ids);
        assert_non_null(ids);
        assert_ok(wfre_graph_copy_triples(graph, (wfre_split)split, ids, count, error));
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t *t = ids + 3 * i;
            assert_int_equal(t[1] % 2, 0);
            assert_true(wfre_graph_has(graph, (wfre_split)split, t[0], t[1], t[2]));
            assert_true(i == 0 || memcmp(t - 3, t, 3 * sizeof *t) != 0);
        }
        assert_int_equal(wfre_graph_copy_triples(graph, (wfre_split)split, ids, count - 1, NULL),
                         WFRE_ERR_ARGUMENT);
        free(ids);
    }
    wfre_graph_close(graph);
}

static void test_queries(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-foreign-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    static const char LINES[] =
        "1p\t(p,#0,(e,#1))\t2\t3 4\n2u\t(u,(p,#0,(e,#1)),(p,#2,(e,#0)))\t\t5\n";
    assert_int_equal(write(file, LINES, sizeof LINES - 1), sizeof LINES - 1);
    close(file);
    wfre_graph *graph = toy_random_graph(4, 30, 3, 200);
    wfre_queryset *set;
    char *text;
    assert_ok(wfre_queryset_open(path, graph, &set, error));
    wfre_queryset_query first = wfre_queryset_get_query(set, 0);
    wfre_queryset_query second = wfre_queryset_get_query(set, 1);
    assert_int_equal(first.easy.count, 1);
    assert_int_equal(first.hard.ids[1], 4);
    assert_int_equal(second.type, 1);
    assert_int_equal(second.easy.count, 0);
    assert_int_equal(wfre_queryset_get_query(set, 2).type, WFRE_NONE);
    assert_ok(wfre_queryset_print(set, 1, graph, &text, error));
    assert_string_equal(text, "(u,(p,r0,(e,e1)),(p,r1,(e,e0)))");
    wfre_string_free(text);
    assert_ok(wfre_queryset_print(set, 0, NULL, &text, error));
    assert_string_equal(text, "(p,#0,(e,#1))");
    wfre_string_free(text);
    assert_int_equal(wfre_queryset_print(set, 2, graph, &text, NULL), WFRE_ERR_NOT_FOUND);
    wfre_queryset_close(set);
    wfre_graph_close(graph);
    unlink(path);
}

/* ---- sizes and errors --------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(wfre_struct_size("wfre_error"), sizeof(wfre_error));
    assert_int_equal(wfre_struct_size("wfre_train_settings"), sizeof(wfre_train_settings));
    assert_int_equal(wfre_struct_size("wfre_sparql_term"), sizeof(wfre_sparql_term));
    assert_int_equal(wfre_struct_size("wfre_graph"), 0); /* a handle */
    assert_int_equal(wfre_struct_size(""), 0);
    assert_int_equal(wfre_struct_size(NULL), 0);
}

static void test_meant(void **state)
{
    (void)state;
    static const char TEXT[] = "?x : nows(?x, ann)", GOOD[] = "?x : knows(?x, nobody)";
    wfre_graph *graph;
    wfre_query *query;
    wfre_error error;
    static const size_t two[WFRE_SPLITS] = {2, 0, 0};
    assert_int_equal(wfre_import_triples(TRIPLES, two, NULL, NULL, &graph, NULL, &error), WFRE_OK);
    assert_int_equal(
        wfre_query_parse(graph, WFRE_NOTATION_AUTO, TEXT, sizeof TEXT - 1, &query, &error),
        WFRE_ERR_NOT_FOUND);
    assert_string_equal(error.nearest, "knows\n");
    assert_int_equal(
        wfre_query_parse(graph, WFRE_NOTATION_AUTO, GOOD, sizeof GOOD - 1, &query, &error),
        WFRE_ERR_NOT_FOUND);
    assert_null(strstr(error.nearest, "knows"));
    wfre_error many = {0};
    (void)wfre_fail(&many, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET, "x");
    for (int i = 0; i < 200; i++)
        wfre_error_near(&many, "12345678", 8);
    assert_int_equal(strlen(many.nearest), 504); /* as many as there is room for */
    wfre_error_near(&many, "a\nb", 3);
    assert_int_equal(strlen(many.nearest), 504);
    (void)wfre_fail(&many, WFRE_ERR_IO, WFRE_NO_OFFSET, "y");
    assert_string_equal(many.nearest, "");
    wfre_graph_close(graph);
}

/* ---- scores ------------------------------------------------------------------------------- */

enum { D = 20, ROWS = 50, QUERIES = 4 };

typedef struct scored {
    float rows[ROWS * D];
    wfre_score *score;
    wfre_store *store;
} scored;

static void make_scored(scored *s)
{
    wfre_score_settings settings;
    for (int i = 0; i < ROWS * D; i++)
        s->rows[i] = (float)(i * 7919 % 1009) / 1009;
    memcpy(s->rows + 30 * D, s->rows + 7 * D, D * sizeof(float)); /* a tie */
    wfre_score_defaults(D, &settings);
    assert_ok(wfre_score_create(&settings, &s->score, error));
    assert_ok(wfre_store_create(s->score, NULL, s->rows, WFRE_FLOAT32, D, ROWS, &s->store, error));
}

static void free_scored(scored *s)
{
    wfre_store_free(s->store);
    wfre_score_free(s->score);
}

/* Against a walk through all distances. */
static void check_nearest(const scored *s, const uint32_t *selection, size_t selected, size_t k)
{
    float all[QUERIES * ROWS], distances[QUERIES * ROWS];
    uint32_t ids[QUERIES * ROWS];
    wfre_rank_job job = {{s->rows + 7 * D, D}, QUERIES, selection, selected, WFRE_RANK_TRUE, ROWS};
    assert_ok(wfre_score_rank(s->score, NULL, s->store, &job, all, error));
    assert_ok(wfre_score_nearest(s->score, NULL, s->store, &job, k, ids, distances, error));
    size_t count = selection ? selected : ROWS;
    for (size_t q = 0; q < QUERIES; q++) {
        bool taken[ROWS] = {false};
        for (size_t i = 0; i < k; i++) {
            size_t best = ROWS;
            for (size_t j = 0; j < count; j++) {
                float here = all[q * ROWS + j];
                uint32_t id = selection ? selection[j] : (uint32_t)j;
                if (!taken[j] &&
                    (best == ROWS || here < all[q * ROWS + best] ||
                     (here == all[q * ROWS + best] && selection && id < selection[best])))
                    best = j;
            }
            taken[best] = true;
            assert_int_equal(ids[q * k + i], selection ? selection[best] : best);
            assert_true(distances[q * k + i] == all[q * ROWS + best]);
        }
    }
}

static void test_nearest(void **state)
{
    (void)state;
    scored s;
    make_scored(&s);
    static const uint32_t some[] = {40, 30, 7, 11, 3};
    static const size_t sizes[] = {1, 2, 3, 10, ROWS};
    for (int i = 0; i < 5; i++)
        check_nearest(&s, NULL, 0, sizes[i]);
    for (size_t k = 1; k <= 5; k++)
        check_nearest(&s, some, 5, k);
    wfre_rank_job job = {{s.rows, D}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
    uint32_t id;
    float distance;
    assert_int_equal(
        wfre_score_nearest(s.score, NULL, s.store, &job, ROWS + 1, &id, &distance, NULL),
        WFRE_ERR_ARGUMENT);
    assert_ok(wfre_score_nearest(s.score, NULL, s.store, &job, 0, NULL, NULL, error));
    free_scored(&s);
}

static wfre_status attempt_nearest(void *context)
{
    const scored *s = context;
    uint32_t ids[2];
    float distances[2];
    wfre_rank_job job = {{s->rows, D}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
    return wfre_score_nearest(s->score, NULL, s->store, &job, 2, ids, distances, NULL);
}

static void test_nearest_memory(void **state)
{
    (void)state;
    scored s;
    make_scored(&s);
    sweep_allocations(attempt_nearest, &s);
    free_scored(&s);
}

static void test_stop_here(void **state)
{
    (void)state;
    scored s;
    float distances[ROWS];
    wfre_cancel *cancel;
    make_scored(&s);
    wfre_rank_job job = {{s.rows, D}, 1, NULL, 0, WFRE_RANK_TRUE, ROWS};
    assert_ok(wfre_cancel_create(&cancel, error));
    wfre_cancel_now(cancel);
    assert_null(wfre_cancel_here(cancel));
    assert_int_equal(wfre_score_rank(s.score, NULL, s.store, &job, distances, NULL),
                     WFRE_ERR_INTERRUPTED);
    assert_ptr_equal(wfre_cancel_here(NULL), cancel);
    assert_ok(wfre_score_rank(s.score, NULL, s.store, &job, distances, error));
    wfre_cancel_free(cancel);
    free_scored(&s);
}

/* ---- models ------------------------------------------------------------------------------- */

typedef struct news {
    uint64_t calls;
    wfre_train_status last;
    double mrr;
} news;

static void hear(void *context, const wfre_train_status *status, double mrr)
{
    news *n = context;
    n->calls++;
    n->last = *status;
    n->mrr = mrr;
}

static void test_training(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-foreign-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors");
    wfre_graph *graph = toy_random_graph(6, 40, 4, 300);
    wfre_train_settings settings;
    wfre_train_summary summary;
    wfre_model *model;
    wfre_rows rows;
    news n = {.mrr = -2};
    wfre_train_run run = {.model = path, .validate = 5, .step = hear, .context = &n};
    assert_ok(wfre_train_preset("small", graph, &settings, error));
    settings.model.dim = 40;
    settings.model.score.dimension = 40;
    settings.steps = 12;
    settings.batch = 16;
    assert_ok(wfre_train(graph, &settings, &run, NULL, NULL, &summary, error));
    assert_int_equal(n.calls, 12);
    assert_int_equal(n.last.step, 12);
    assert_true(n.mrr >= 0 && n.last.loss > 0);
    assert_ok(wfre_model_open(path, &model, error));
    assert_ok(wfre_model_entity_rows(model, &rows, error));
    assert_int_equal(rows.stride, 40);
    for (size_t i = 0; i < 40 * rows.stride; i++)
        assert_true(isfinite(rows.data[i]));
    assert_int_equal(wfre_model_entity_rows(NULL, &rows, NULL), WFRE_ERR_ARGUMENT);
    wfre_model_free(model);
    wfre_graph_close(graph);
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    wfre_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triples),        cmocka_unit_test(test_bad_triples),
        cmocka_unit_test(test_triples_memory), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_meant),          cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_nearest_memory), cmocka_unit_test(test_stop_here),
        cmocka_unit_test(test_training),       cmocka_unit_test(test_copy),
        cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
