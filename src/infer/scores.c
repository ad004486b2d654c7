/* The best entities of questions. Exact scores are simply looked through.
 *
 * Estimates are made exact in rounds, until it is most unlikely that another entity belongs to the
 * best: the next candidate's estimate, corrected by as much as estimates were seen to err, is below
 * all that is wanted. In each round every question that is not sure yet takes its next candidates
 * in the order of their estimates; all candidates of the round are scored together. */
#include <math.h>

#include "base/pool.h"
#include "infer/reasoner.h"

enum { FIRST_ROUND = 64 };          /* candidates, at least */
static const double DEVIATIONS = 5; /* by which an estimate may err */

/* One question on its way. Candidates are the entities with the best estimates, in their order. */
typedef struct query_search {
    wfre_best candidates;
    size_t capacity;
    size_t scored;      /* of the candidates so far */
    size_t goal;        /* to be scored by the end of this round */
    size_t first_pair;  /* in this round */
    double sum, square; /* of the errors of their estimates */
    wfre_best best;
} query_search;

/* All questions at work. */
typedef struct top_search {
    const wfre_scores *scores;
    const uint32_t *questions;
    wfre_wanted *wanted;
    size_t entities;
    query_search *searches; /* of estimates only */
    uint32_t *indexes;      /* [2, pairs] and [candidates] of a round */
    float *exact;           /* [pairs] */
    size_t index_capacity, exact_capacity;
} top_search;

static float better_of(float a, float b)
{
    return a > b ? a : b;
}

static size_t branches_of(const top_search *t, size_t q)
{
    return t->scores->begin[q + 1] - t->scores->begin[q];
}

static wfre_wanted *wanted_of(const top_search *t, size_t q)
{
    return &t->wanted[t->questions[q]];
}

/* Offers all entities but those to leave out, by what the table says. */
static void offer_all(const top_search *t, size_t q, wfre_best *best)
{
    wfre_list without = wanted_of(t, q)->without;
    size_t next = 0, branches = branches_of(t, q), entities = t->entities;
    const float *rows = t->scores->table + wfre_scores_row(t->scores, q) * entities;
    if (branches == 1) {
        const wfre_vector_table *vectors = wfre_linalg_vectors(t->scores->session->linalg);
        wfre_best_offer_all(best, vectors, rows, entities, without);
        wfre_best_settle(best);
        return;
    }
    for (size_t e = 0; e < entities; e++) {
        wfre_hit hit = {(wfre_entity)e, rows[e]};
        for (size_t b = 1; b < branches; b++)
            hit.score = better_of(hit.score, rows[b * entities + e]);
        if (next < without.count && without.ids[next] == e)
            next++;
        else
            wfre_best_offer(best, hit);
    }
    wfre_best_settle(best);
}

/* ---- exact scores ------------------------------------------------------------------------- */

static void look_through(void *context, size_t q, unsigned worker)
{
    (void)worker;
    const top_search *t = context;
    wfre_wanted *wanted = wanted_of(t, q);
    wfre_best best = {.hits = wanted->hits, .top = wanted->top};
    offer_all(t, q, &best);
    wanted->hit_count = best.count;
    wanted->scored = t->entities;
}

/* ---- estimates ---------------------------------------------------------------------------- */

/* Takes the best candidates by estimate, as many as there is room for. */
static void choose_candidates(void *context, size_t q, unsigned worker)
{
    (void)worker;
    const top_search *t = context;
    t->searches[q].candidates.count = 0;
    offer_all(t, q, &t->searches[q].candidates);
}

static size_t candidates_of(const top_search *t, size_t q)
{
    return t->entities - wanted_of(t, q)->without.count;
}

/* Notes the scores of a round, and says whether the next candidate may still be among the best: if
 * so, it sets a new goal. */
static bool record(const top_search *t, size_t q, const float *exact)
{
    query_search *own = &t->searches[q];
    size_t branches = branches_of(t, q);
    for (size_t i = own->scored; i < own->goal; i++, exact += branches) {
        wfre_hit hit = {own->candidates.hits[i].entity, exact[0]};
        for (size_t b = 1; b < branches; b++)
            hit.score = better_of(hit.score, exact[b]);
        double error = (double)hit.score - (double)own->candidates.hits[i].score;
        own->sum += error;
        own->square += error * error;
        wfre_best_offer(&own->best, hit);
    }
    own->scored = own->goal;
    if (own->best.top == 0 || own->scored == candidates_of(t, q))
        return false;
    if (own->scored < own->candidates.count && own->best.count == own->best.top) {
        double count = (double)own->scored, mean = own->sum / count;
        double deviation = sqrt(fmax(own->square / count - mean * mean, 0));
        double next = (double)own->candidates.hits[own->scored].score;
        if (next + mean + DEVIATIONS * deviation < (double)own->best.hits[0].score)
            return false;
    }
    own->goal = own->scored + own->scored / 2;
    return true;
}

/* Makes room for more candidates than are known, if the goal needs them. */
static wfre_status widen(const top_search *t, size_t q, wfre_error *error)
{
    query_search *own = &t->searches[q];
    size_t all = candidates_of(t, q);
    if (own->goal >= own->candidates.count && own->candidates.count < all) {
        size_t more = 4 * own->goal < all ? 4 * own->goal : all;
        if (!WFRE_RESERVE(&own->candidates.hits, &own->capacity, more))
            return wfre_fail_memory(error, "searching");
        own->candidates.top = more;
        choose_candidates((void *)(uintptr_t)t, q, 0);
    }
    if (own->goal > own->candidates.count)
        own->goal = own->candidates.count;
    return WFRE_OK;
}

/* Scores candidates `scored` to `goal` of every question with all its branches. */
static wfre_status score_round(top_search *t, wfre_error *error)
{
    size_t pairs = 0, entities = 0, pair = 0, row = 0;
    for (size_t q = 0; q < t->scores->count; q++) {
        size_t more = t->searches[q].goal - t->searches[q].scored;
        t->searches[q].first_pair = pairs;
        pairs += more * branches_of(t, q);
        entities += more;
    }
    if (entities == 0)
        return WFRE_OK;
    if (!WFRE_RESERVE(&t->indexes, &t->index_capacity, 2 * pairs + entities) ||
        !WFRE_RESERVE(&t->exact, &t->exact_capacity, pairs))
        return wfre_fail_memory(error, "searching");
    uint32_t *left = t->indexes, *right = left + pairs, *chosen = right + pairs;
    for (size_t q = 0; q < t->scores->count; q++)
        for (size_t i = t->searches[q].scored; i < t->searches[q].goal; i++, row++) {
            chosen[row] = t->searches[q].candidates.hits[i].entity;
            size_t end = wfre_scores_row(t->scores, q + 1);
            for (size_t r = wfre_scores_row(t->scores, q); r < end; r++) {
                left[pair] = (uint32_t)row;
                right[pair++] = (uint32_t)r;
            }
        }
    wfre_search_pairs job = {t->scores->histograms, right, chosen, entities, left, pairs};
    return wfre_search_score_pairs(t->scores->session->searcher, &job, t->exact, error);
}

static wfre_status start(top_search *t, wfre_error *error)
{
    size_t count = t->scores->count;
    t->searches = wfre_alloc_zero(count, sizeof *t->searches);
    if (!t->searches)
        return wfre_fail_memory(error, "searching");
    for (size_t q = 0; q < count; q++) {
        query_search *own = &t->searches[q];
        const wfre_wanted *wanted = wanted_of(t, q);
        size_t all = candidates_of(t, q);
        own->best = (wfre_best){.hits = wanted->hits, .top = wanted->top};
        own->goal = 2 * wanted->top > FIRST_ROUND ? 2 * wanted->top : FIRST_ROUND;
        own->goal = own->goal < all ? own->goal : all;
        own->candidates.top = 8 * own->goal < all ? 8 * own->goal : all;
        if (!WFRE_RESERVE(&own->candidates.hits, &own->capacity, own->candidates.top))
            return wfre_fail_memory(error, "searching");
    }
    return wfre_pool_try(t->scores->session->pool, count, choose_candidates, t, error);
}

static wfre_status search(top_search *t, wfre_error *error)
{
    CHECK(start(t, error));
    for (bool unsure = true; unsure;) {
        CHECK(score_round(t, error));
        unsure = false;
        for (size_t q = 0; q < t->scores->count; q++) {
            query_search *own = &t->searches[q];
            if (own->goal == own->scored || !record(t, q, t->exact + own->first_pair))
                continue;
            CHECK(widen(t, q, error));
            unsure = true;
        }
    }
    for (size_t q = 0; q < t->scores->count; q++) {
        wfre_best_settle(&t->searches[q].best);
        wanted_of(t, q)->hit_count = t->searches[q].best.count;
        wanted_of(t, q)->scored = t->searches[q].scored;
    }
    return WFRE_OK;
}

wfre_status wfre_scores_top(const wfre_scores *scores, const uint32_t *questions,
                            wfre_wanted *wanted, wfre_error *error)
{
    top_search t = {.scores = scores,
                    .questions = questions,
                    .wanted = wanted,
                    .entities = scores->session->engine->model->entity_count};
    if (!scores->histograms)
        return wfre_pool_try(scores->session->pool, scores->count, look_through, &t, error);
    wfre_status status = search(&t, error);
    for (size_t q = 0; t.searches && q < scores->count; q++)
        wfre_free(t.searches[q].candidates.hits);
    wfre_free(t.searches);
    wfre_free(t.indexes);
    wfre_free(t.exact);
    return status;
}
