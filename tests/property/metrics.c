/* Evaluation against a brute-force reading of the protocol, on random query sets and scores with
 * many ties, several hard and easy answers, unions and negations. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "eval/evaluation.h"
#include "star.h"

enum { ENTITIES = 60, QUERIES = 90, TRIALS = 40 };
static const uint64_t SEED = 20230711;

typedef struct shape {
    const char *name;
    const char *tree;
    bool negated, path;
} shape;

static const shape SHAPES[] = {
    {"1p", "(p,#0,(e,#1))", false, true},
    {"3p", "(p,#0,(p,#1,(p,#0,(e,#1))))", false, true},
    {"2i", "(i,(p,#0,(e,#1)),(p,#1,(e,#2)))", false, false},
    {"2u", "(u,(p,#0,(e,#1)),(p,#1,(e,#2)))", false, false},
    {"up", "(p,#0,(u,(p,#0,(e,#1)),(p,#1,(e,#2))))", false, false},
    {"2in", "(i,(n,(p,#0,(e,#1))),(p,#1,(e,#2)))", true, false},
    {"mine", "(u,(n,(p,#0,(e,#1))),(p,#1,(e,#2)))", true, false},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

/* One random problem, held in the plainest form. */
typedef struct problem {
    int shape[QUERIES];
    char answer[QUERIES][ENTITIES]; /* 'e' easy, 'h' hard, 0 */
    double score[QUERIES][ENTITIES];
    bool listed[QUERIES][ENTITIES];
} problem;

static char folder[] = "/tmp/wfre-metrics-XXXXXX";
static char queries_path[64], scores_path[64];

static void make_problem(problem *p, wfre_rng *rng)
{
    memset(p, 0, sizeof *p);
    uint32_t levels = 2 + wfre_rng_below(rng, 30);
    for (int q = 0; q < QUERIES; q++) {
        p->shape[q] = (int)wfre_rng_below(rng, SHAPE_COUNT);
        for (int e = 0; e < ENTITIES; e++) {
            uint32_t draw = wfre_rng_below(rng, 12);
            p->answer[q][e] = draw < 2 ? 'e' : draw < 4 ? 'h' : 0;
            p->score[q][e] = (double)wfre_rng_below(rng, levels) / 7 - 1;
            p->listed[q][e] = wfre_rng_below(rng, 4) > 0;
        }
        p->listed[q][wfre_rng_below(rng, ENTITIES)] = true;
    }
}

static void write_problem(const problem *p)
{
    wfre_text queries = {0}, scores = {0};
    for (int q = 0; q < QUERIES; q++) {
        wfre_text_format(&queries, "%s\t%s\t", SHAPES[p->shape[q]].name, SHAPES[p->shape[q]].tree);
        for (const char *kind = "eh"; *kind; kind++) {
            for (int e = 0; e < ENTITIES; e++)
                if (p->answer[q][e] == *kind)
                    wfre_text_format(&queries, "%d ", e);
            wfre_text_char(&queries, *kind == 'e' ? '\t' : '\n');
        }
        for (int e = ENTITIES; e-- > 0;)
            if (p->listed[q][e])
                wfre_text_format(&scores, "%d\t%d\t%.17g\n", q, e, p->score[q][e]);
    }
    assert_ok(wfre_write_file(queries_path, queries.data, queries.length, error));
    assert_ok(wfre_write_file(scores_path, scores.data, scores.length, error));
    wfre_text_free(&queries);
    wfre_text_free(&scores);
}

/* The rank of a hard answer by definition: best and worst place among the non-answers. */
static double brute_rank(const problem *p, int q, int answer)
{
    int best = 1, worst = 1;
    for (int e = 0; e < ENTITIES; e++) {
        if (p->answer[q][e])
            continue;
        double mine = p->listed[q][answer] ? p->score[q][answer] : -INFINITY;
        double other = p->listed[q][e] ? p->score[q][e] : -INFINITY;
        best += other > mine;
        worst += other >= mine;
    }
    return (best + worst) / 2.0;
}

typedef struct tally {
    double mrr, hits1, hits3, hits10;
    int count;
} tally;

static void tally_add(tally *t, double mrr, double hits1, double hits3, double hits10)
{
    t->mrr += mrr;
    t->hits1 += hits1;
    t->hits3 += hits3;
    t->hits10 += hits10;
    t->count++;
}

static void tally_into(tally *sum, const tally *t)
{
    if (t->count)
        tally_add(sum, t->mrr / t->count, t->hits1 / t->count, t->hits3 / t->count,
                  t->hits10 / t->count);
}

static void brute_types(const problem *p, tally *types)
{
    for (int q = 0; q < QUERIES; q++) {
        tally query = {0};
        for (int e = 0; e < ENTITIES; e++) {
            if (p->answer[q][e] != 'h')
                continue;
            double rank = brute_rank(p, q, e);
            tally_add(&query, 1 / rank, rank <= 1, rank <= 3, rank <= 10);
        }
        tally_into(&types[p->shape[q]], &query);
    }
}

static void check_row(const wfre_evaluation_row *row, const tally *expected)
{
    tally mean = {0};
    tally_into(&mean, expected);
    assert_true(fabs(row->mean.mrr - mean.mrr) < 1e-12);
    assert_true(fabs(row->mean.hits1 - mean.hits1) < 1e-12);
    assert_true(fabs(row->mean.hits3 - mean.hits3) < 1e-12);
    assert_true(fabs(row->mean.hits10 - mean.hits10) < 1e-12);
    assert_true(row->mrr_low <= mean.mrr && mean.mrr <= row->mrr_high);
}

static void check_groups(const wfre_evaluation *evaluation, const tally *types)
{
    tally groups[WFRE_GROUPS] = {0};
    for (int s = 0; s < SHAPE_COUNT; s++) {
        const shape *t = &SHAPES[s];
        tally_into(&groups[t->negated ? WFRE_GROUP_NEGATIVE : WFRE_GROUP_POSITIVE], &types[s]);
        if (!t->negated)
            tally_into(&groups[t->path ? WFRE_GROUP_PATHS : WFRE_GROUP_OTHERS], &types[s]);
        tally_into(&groups[WFRE_GROUP_ALL], &types[s]);
    }
    for (int g = 0; g < WFRE_GROUPS; g++)
        check_row(wfre_evaluation_group(evaluation, (wfre_group)g), &groups[g]);
}

static void check_problem(const problem *p, const wfre_graph *graph)
{
    write_problem(p);
    wfre_eval_options options;
    wfre_eval_options_default(&options);
    wfre_evaluation *evaluation;
    assert_ok(wfre_evaluate_scores(graph, queries_path, scores_path, &options, NULL, NULL,
                                   &evaluation, error));
    tally types[SHAPE_COUNT] = {0};
    brute_types(p, types);
    size_t found = 0;
    for (int s = 0; s < SHAPE_COUNT; s++)
        for (size_t i = 0; i < wfre_evaluation_types(evaluation); i++) {
            const wfre_evaluation_row *row = wfre_evaluation_type(evaluation, i);
            if (strcmp(row->name, SHAPES[s].name) == 0) {
                check_row(row, &types[s]);
                assert_int_equal(row->queries, types[s].count);
                found++;
            }
        }
    assert_int_equal(found, wfre_evaluation_types(evaluation));
    check_groups(evaluation, types);
    wfre_evaluation_free(evaluation);
}

static void test_against_brute_force(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)SEED);
    problem *p = malloc(sizeof *p);
    assert_non_null(p);
    wfre_graph *graph = star_graph(ENTITIES);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        wfre_rng rng = wfre_rng_keyed(SEED, trial, 0);
        make_problem(p, &rng);
        check_problem(p, graph);
    }
    wfre_graph_close(graph);
    free(p);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(queries_path, sizeof queries_path, "%s/q.tsv", folder);
    (void)snprintf(scores_path, sizeof scores_path, "%s/s.tsv", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(queries_path);
    unlink(scores_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_brute_force)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
