/* A guide beside the score: both losses of one batch, over the same candidates. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/trainer.h"

/* What the score needs to see the candidates that the guide sees: everything that is no answer. */
static bool list_negatives(wfre_loss_batch *view, wfre_arena *arena)
{
    uint32_t *begin = wfre_arena_alloc(arena, view->queries + 1, sizeof *begin);
    uint32_t *list = wfre_arena_alloc(arena, view->queries * view->candidates, sizeof *list);
    bool *answer = wfre_arena_alloc(arena, view->candidates, sizeof *answer);
    uint32_t used = 0;
    if (!begin || !list || !answer)
        return false;
    for (size_t q = 0; q < view->queries; q++) {
        begin[q] = used;
        memset(answer, 0, view->candidates * sizeof *answer);
        for (uint32_t i = view->answer_begin[q]; i < view->answer_begin[q + 1]; i++)
            answer[view->answers[i]] = true;
        for (uint32_t c = 0; c < view->candidates; c++)
            if (!answer[c])
                list[used++] = c;
    }
    begin[view->queries] = used;
    view->negative_begin = begin;
    view->negatives = list;
    return true;
}

static double apart(const float *guess, const float *truth, size_t count)
{
    double off = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        off += pow((double)guess[i] - (double)truth[i], 2);
        size += pow((double)truth[i], 2);
    }
    return size > 0 ? sqrt(off / size) : 0;
}

/* The first queries of the batch, whose mass costs nothing. */
static bool take_queries(wfre_loss_batch *view, uint32_t queries, wfre_arena *arena)
{
    view->queries = queries < view->queries ? queries : view->queries;
    view->branch_count = view->branch_begin[view->queries];
    float *prices = wfre_arena_alloc(arena, view->queries, sizeof *prices);
    if (!prices)
        return false;
    memset(prices, 0, view->queries * sizeof *prices);
    view->prices = prices;
    return list_negatives(view, arena);
}

wfre_status wfre_trainer_compare(wfre_trainer *t, uint32_t queries, uint32_t exact,
                                 wfre_guide_error *result, wfre_error *error)
{
    GIVEN(t);
    GIVEN(result);
    wfre_arena arena = {0};
    wfre_status status;
    double loss;
    bool local = t->settings.guide == WFRE_GUIDE_LOCAL;
    if ((!local && t->settings.guide != WFRE_GUIDE_SURROGATE) || t->settings.model.members != 1)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "a guide is compared with the score if it is `local` or `surrogate`, and "
                         "the model has one member");
    TRY(wfre_trainer_draw(t, error));
    wfre_loss_batch view = wfre_trainer_view(t);
    if (t->surrogate)
        TRY(wfre_trainer_refit(t, error));
    float *own = NULL;
    bool room = take_queries(&view, queries, &arena);
    size_t branches = view.branch_count * view.dim, table = view.candidates * view.dim;
    own = room ? wfre_arena_alloc(&arena, branches + table, sizeof *own) : NULL;
    if (!own) {
        status = wfre_fail_memory(error, "comparing a guide with the score");
        goto cleanup;
    }
    wfre_matrix_engine_exact(t->loss, exact);
    TRY(wfre_loss_matrix(t->loss, &view, &loss, error));
    memcpy(own, view.branch_gradient, branches * sizeof *own);
    memcpy(own + branches, view.table_gradient, table * sizeof *own);
    TRY(wfre_loss_pairs(t->pairs, &view, &loss, error));
    *result = (wfre_guide_error){
        .fit = t->surrogate ? t->surrogate->fit : 0,
        .gradient = t->surrogate ? t->surrogate->gradient_error[1] : 0,
        .slope = t->surrogate ? t->surrogate->slope_error : 0,
        .questions = apart(own, view.branch_gradient, branches),
        .entities = apart(own + branches, view.table_gradient, table),
    };
cleanup:
    wfre_matrix_engine_exact(t->loss, t->settings.exact);
    wfre_arena_free(&arena);
    return status;
}
