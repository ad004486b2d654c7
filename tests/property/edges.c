/* Random questions on random graphs and models, answered edge by edge: the truth values are those
 * of the definition (src/infer/way_edges.h), worked out here in plain double precision over all
 * entities, and without negation those that are certain are the known answers. */
#include "check.h"

#include <complex.h>
#include <math.h>

#include "model/factors.h"
#include "predict.h"
#include "toy.h"

/* So few that a projection follows all of them. */
enum { TRIALS = 500, ENTITIES = BRUTE_ENTITIES, RELATIONS = 3, DIM = 20 };

static const double TOLERANCE = 2e-3; /* of logarithms */
static const double NOTHING = -80, IDLE = 0.2;

typedef struct definition {
    const brute_graph *brute;
    const wfre_model *model;
    const wfre_graph *graph;
    double alike[2 * RELATIONS][ENTITIES][ENTITIES]; /* gains */
} definition;

static bool has_edge(const brute_graph *brute, wfre_relation relation, uint32_t x, uint32_t y)
{
    return relation & 1 ? brute->edge[relation / 2][y][x] : brute->edge[relation / 2][x][y];
}

static uint32_t degree(const brute_graph *brute, wfre_relation relation, uint32_t x)
{
    uint32_t count = 0;
    for (uint32_t y = 0; y < brute->entities; y++)
        count += has_edge(brute, relation, x, y);
    return count;
}

/* The logarithm of (n + 1) c(n+1) / c(n), with one added to each count. */
static double room(const brute_graph *brute, wfre_relation relation, uint32_t x)
{
    uint32_t n = degree(brute, relation, x), have[3] = {0};
    for (uint32_t e = 0; e < brute->entities; e++) {
        uint32_t other = degree(brute, relation, e);
        have[0] += other == n;
        have[1] += other == n + 1;
        have[2] += other == 1;
    }
    double same = n == 0 ? fmin(have[0], IDLE * have[2]) : have[0];
    return log((n + 1) * (have[1] + 1.0) / (same + 1));
}

/* Relations are all kinds here. */
static double kinds_fit(const brute_graph *brute, wfre_relation place, uint32_t y)
{
    double sum = 0, fillers = 0, kinds = 0, strange = 0;
    if (degree(brute, place, y) > 0)
        return 0;
    for (uint32_t e = 0; e < brute->entities; e++)
        fillers += degree(brute, place, e) > 0;
    for (wfre_relation r = 0; r < 2 * brute->relations; r++) {
        double have = 0, all = 0;
        for (uint32_t e = 0; e < brute->entities; e++) {
            all += degree(brute, r, e) > 0;
            have += degree(brute, r, e) > 0 && degree(brute, place, e) > 0;
        }
        double share = (all + 1) / (brute->entities + 1.0);
        if (degree(brute, r, y) == 0)
            continue;
        sum += log((have + 0.5 * share) / ((fillers + 0.5) * share));
        kinds++;
        strange += have == 0;
    }
    return kinds > 0 ? fmax(fmin(sum * (1 + 3 * strange / kinds), 0), -16) : 0;
}

static bool joined(const brute_graph *brute, wfre_relation relation, uint32_t x, uint32_t y)
{
    bool found = false;
    for (wfre_relation r = 0; r < 2 * brute->relations; r++)
        found = found || (r != relation && has_edge(brute, r, x, y));
    return found;
}

/* Of the others that have a fact, how many have the edge to y: the largest share of all facts of x.
 */
static double head_share(const brute_graph *brute, wfre_relation relation, uint32_t x, uint32_t y)
{
    double best = 0;
    for (wfre_relation s = 0; s < 2 * brute->relations; s++)
        for (uint32_t z = 0; z < brute->entities; z++) {
            double others = 0, have = 0;
            for (uint32_t e = 0; e < brute->entities; e++) {
                bool other = e != x && has_edge(brute, s, e, z);
                others += other;
                have += other && has_edge(brute, relation, e, y);
            }
            if (has_edge(brute, s, x, z) && have >= 2)
                best = fmax(best, have / (others + 5));
        }
    return best;
}

/* Of all that have a fact of y, how many x has the edge to; but not by that edge itself. */
static double tail_share(const brute_graph *brute, wfre_relation relation, uint32_t x, uint32_t y)
{
    double best = 0;
    for (wfre_relation s = 0; s < 2 * brute->relations; s++)
        for (uint32_t z = 0; z < brute->entities; z++) {
            double all = 0, have = 0;
            for (uint32_t e = 0; e < brute->entities; e++) {
                all += has_edge(brute, s, e, z);
                have += has_edge(brute, s, e, z) && has_edge(brute, relation, x, e);
            }
            bool own = s == (relation ^ 1) && z == x;
            if (!own && has_edge(brute, s, y, z) && have >= 2)
                best = fmax(best, have / (all + 5));
        }
    return best;
}

static double alike_gain(const brute_graph *brute, wfre_relation relation, uint32_t x, uint32_t y)
{
    if (has_edge(brute, relation, x, y))
        return 0;
    return log(1 + 50 * head_share(brute, relation, x, y)) +
           log(1 + 50 * tail_share(brute, relation, x, y));
}

/* What is said against an edge from an entity to itself. */
static double loop_gain(const brute_graph *brute, wfre_relation relation)
{
    double loops = 0, all = 0;
    for (uint32_t x = 0; x < brute->entities; x++) {
        loops += has_edge(brute, relation, x, x);
        all += degree(brute, relation, x);
    }
    return log((loops + 1) / (all + 1));
}

/* Re sum x r conj(y) */
static double factor_score(const wfre_factors *f, wfre_relation relation, uint32_t x, uint32_t y)
{
    const float *a = wfre_factors_entity(f, x), *r = wfre_factors_relation(f, relation);
    const float *b = wfre_factors_entity(f, y);
    double sum = 0;
    for (uint32_t i = 0; i < f->size; i++) {
        double complex from = (double)a[i] + I * (double)a[f->size + i];
        double complex by = (double)r[i] + I * (double)r[f->size + i];
        double complex to = (double)b[i] + I * (double)b[f->size + i];
        sum += creal(from * by * conj(to));
    }
    return sum;
}

/* The logarithms of the truth values of the edges from x. */
static void edges_from(const definition *d, wfre_relation relation, uint32_t x, double *out)
{
    const wfre_model_settings *settings = &d->model->settings;
    wfre_arena arena = {0};
    wfre_hit hits[ENTITIES];
    predict_query query = {.tree = wfre_node_project(&arena, relation, wfre_node_entity(&arena, x)),
                           .top = d->brute->entities,
                           .hits = hits};
    double sum = 0;
    predict_how how = {.model = d->model, .exhaustive = true};
    assert_ok(predict(&how, &query, 1, error));
    assert_int_equal(query.hit_count, d->brute->entities);
    for (size_t i = 0; i < query.hit_count; i++) {
        double logit = wfre_by_embedding.logit(d->model, hits[i].score) +
                       settings->way.edge_room * room(d->brute, relation ^ 1, hits[i].entity) +
                       settings->way.edge_alike * d->alike[relation][x][hits[i].entity];
        if (d->model->factors)
            logit += settings->way.edge_factors *
                     factor_score(d->model->factors, relation, x, hits[i].entity);
        out[hits[i].entity] = settings->way.edge_sharpness * logit;
        if (joined(d->brute, relation, x, hits[i].entity))
            out[hits[i].entity] += settings->way.edge_joined;
        out[hits[i].entity] +=
            settings->way.edge_kinds * kinds_fit(d->brute, relation ^ 1, hits[i].entity);
        if (hits[i].entity == x)
            out[x] += loop_gain(d->brute, relation);
        sum += exp(out[hits[i].entity]);
    }
    for (uint32_t y = 0; y < d->brute->entities; y++) {
        double odds = exp(out[y] + room(d->brute, relation, x)) / sum;
        out[y] = has_edge(d->brute, relation, x, y) ? 0 : log(odds / (1 + odds));
    }
    wfre_arena_free(&arena);
}

static void define(const definition *d, const wfre_node *node, double *out)
{
    uint32_t entities = d->brute->entities;
    double set[ENTITIES], edge[ENTITIES];
    for (uint32_t y = 0; y < entities; y++)
        out[y] = node->op == WFRE_OP_INTERSECT || (node->op == WFRE_OP_ENTITY && node->id == y)
                     ? 0
                     : NOTHING;
    for (uint32_t i = 0; i < node->child_count; i++) {
        const wfre_node *child = node->children[i];
        bool negated = child->op == WFRE_OP_NEGATE;
        define(d, negated ? child->children[0] : child, set);
        for (uint32_t y = 0; y < entities && negated; y++)
            set[y] = log(fmax(1 - exp(set[y]), 1e-6));
        for (uint32_t x = 0; x < entities; x++) {
            if (node->op == WFRE_OP_INTERSECT) {
                out[x] += set[x];
            } else if (node->op == WFRE_OP_UNION) {
                out[x] = fmax(out[x], set[x]);
            } else {
                edges_from(d, node->id, x, edge);
                for (uint32_t y = 0; y < entities; y++)
                    out[y] = fmax(out[y], set[x] + edge[y]);
            }
        }
    }
}

static void check(const definition *d, const wfre_node *tree)
{
    double expected[ENTITIES];
    wfre_hit hits[ENTITIES];
    predict_query query = {.tree = tree, .top = d->brute->entities, .hits = hits};
    define(d, tree, expected);
    predict_how how = {.graph = d->graph, .model = d->model, .exhaustive = true};
    assert_ok(predict(&how, &query, 1, error));
    assert_int_equal(query.hit_count, d->brute->entities);
    uint32_t certain = 0;
    for (size_t i = 0; i < query.hit_count; i++) {
        double truth = (double)hits[i].score, right = expected[hits[i].entity];
        if (right > -40) /* less is nothing in the end, and rounded on the way */
            assert_true(fabs(truth - right) < TOLERANCE * (1 + fabs(right)));
        else
            assert_true(truth < -35);
        certain |= (uint32_t)(right > -1e-9) << hits[i].entity;
    }
    if (wfre_tree_count(tree, WFRE_OP_NEGATE) == 0)
        assert_int_equal(certain, brute_tree(d->brute, tree));
}

static void trial(uint64_t seed)
{
    wfre_rng rng = wfre_rng_keyed(seed, 0, 0);
    brute_graph brute;
    brute_random_graph(&rng, ENTITIES, RELATIONS, &brute);
    wfre_graph *graph = toy_graph_of(&brute);
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = DIM;
    settings.bases = 2;
    settings.rho = 14;
    settings.way.by = WFRE_BY_EDGES;
    settings.way.edge_sharpness = 0.5 + (double)wfre_rng_float(&rng);
    settings.way.edge_room = (double)wfre_rng_float(&rng);
    settings.way.edge_joined = seed % 4 == 0 ? 0 : 4 * (double)wfre_rng_float(&rng) - 2;
    settings.way.edge_kinds = seed % 3 == 0 ? 0 : 2 * (double)wfre_rng_float(&rng);
    settings.way.edge_alike = seed % 3 == 1 ? 0 : 2 * (double)wfre_rng_float(&rng);
    settings.factors = seed % 3 == 2 ? 0 : 5;
    settings.way.edge_factors = 2 * (double)wfre_rng_float(&rng);
    wfre_model *model;
    definition d = {.brute = &brute, .graph = graph};
    assert_ok(wfre_model_create(graph, &settings, seed, &model, error));
    for (int t = 0; model->factors && t < WFRE_FACTOR_TENSORS; t++) /* larger than at the start */
        for (size_t i = 0; i < model->factors->tensors[t].count; i++)
            model->factors->tensors[t].data[i] = (float)wfre_rng_normal(&rng);
    d.model = model;
    for (wfre_relation r = 0; r < 2 * brute.relations; r++)
        for (uint32_t x = 0; x < brute.entities && settings.way.edge_alike > 0; x++)
            for (uint32_t y = 0; y < brute.entities; y++)
                d.alike[r][x][y] = alike_gain(&brute, r, x, y);
    wfre_arena arena = {0};
    for (int found = 0; found < 3;) {
        const wfre_node *tree = brute_random_tree(&arena, &rng, &brute, 4);
        if (!wfre_edges_suit(tree))
            continue;
        check(&d, tree);
        found++;
    }
    wfre_arena_free(&arena);
    wfre_model_free(model);
    wfre_graph_close(graph);
}

static void truth_is_as_defined(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        trial(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(truth_is_as_defined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
