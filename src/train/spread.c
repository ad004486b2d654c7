/* rho by a rule. Distances with transport are smaller and lie closer together, so one rho means
 * another softness of the loss for each radius and block. The rule: the logits of a query spread as
 * widely at the start as they would by the local form in blocks of REFERENCE_BLOCK bins with the
 * rho that is given. gamma follows, so that their mean stays, too, and the price of mass, which is
 * in units of rho.
 *
 * At the start entities are uniform and queries sigmoids of nearly normal numbers, all independent:
 * the spread of a mean over b blocks is that of one block over sqrt b. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "train/settings.h"

enum { SAMPLE = 256, REFERENCE_BLOCK = 5 };

typedef struct spread {
    double mean, deviation; /* over the entities, for a query */
} spread;

/* The spread of single blocks by a score; `settings` has the dimension of its block. */
static wfre_status measure(const wfre_score_settings *settings, wfre_pool *pool, spread *found,
                           wfre_error *error)
{
    size_t a = settings->block;
    wfre_arena arena = {0};
    wfre_score *score = NULL;
    wfre_status status;
    float *left = wfre_arena_alloc(&arena, SAMPLE * a, sizeof *left);
    float *right = wfre_arena_alloc(&arena, SAMPLE * a, sizeof *right);
    uint32_t *entity = wfre_arena_alloc(&arena, SAMPLE * SAMPLE, sizeof *entity);
    uint32_t *query = wfre_arena_alloc(&arena, SAMPLE * SAMPLE, sizeof *query);
    float *distance = wfre_arena_alloc(&arena, SAMPLE * SAMPLE, sizeof *distance);
    if (!left || !right || !entity || !query || !distance) {
        status = wfre_fail_memory(error, "finding rho");
        goto cleanup;
    }
    wfre_rng rng = wfre_rng_for(0, WFRE_FOR_SPREAD, a, 0);
    for (size_t i = 0; i < SAMPLE * a; i++) {
        left[i] = wfre_rng_float(&rng);
        right[i] = (float)(1 / (1 + exp(-wfre_rng_normal(&rng))));
    }
    for (uint32_t i = 0; i < SAMPLE * SAMPLE; i++) {
        query[i] = i / SAMPLE;
        entity[i] = i % SAMPLE;
    }
    TRY(wfre_score_create(settings, &score, error));
    wfre_pairs pairs = {{left, a}, {right, a}, entity, query, SAMPLE * SAMPLE};
    TRY(wfre_score_pairs(score, pool, &pairs, distance, NULL, error));
    double sum = 0, variance = 0;
    for (size_t q = 0; q < SAMPLE; q++) {
        double own = 0, squares = 0;
        for (size_t e = 0; e < SAMPLE; e++) {
            double d = (double)distance[q * SAMPLE + e];
            own += d / SAMPLE;
            squares += d * d / SAMPLE;
        }
        sum += own;
        variance += squares - own * own;
    }
    *found = (spread){sum / SAMPLE, sqrt(variance / SAMPLE)};
cleanup:
    wfre_score_free(score);
    wfre_arena_free(&arena);
    return status;
}

wfre_status wfre_train_scale(wfre_train_settings *settings, wfre_pool *pool, wfre_error *error)
{
    wfre_score_settings own = settings->model.score, local = own;
    spread found, wanted;
    if (settings->rho_rule == WFRE_RHO_GIVEN)
        return WFRE_OK;
    own.dimension = own.block;
    local.kind = WFRE_SCORE_LOCAL;
    local.block = REFERENCE_BLOCK;
    local.dimension = REFERENCE_BLOCK;
    CHECK(measure(&own, pool, &found, error));
    CHECK(measure(&local, pool, &wanted, error));
    double wide = wanted.deviation * sqrt(REFERENCE_BLOCK), narrow = found.deviation;
    narrow *= sqrt((double)own.block);
    if (!(narrow > 0))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "rho-rule: the score does not tell histograms apart");
    double ratio = wide / narrow, rho = settings->model.rho;
    settings->model.gamma += rho * (ratio * found.mean - wanted.mean);
    settings->model.rho = rho * ratio;
    settings->mass /= ratio;
    settings->rho_rule = WFRE_RHO_GIVEN;
    return WFRE_OK;
}
