/* Questions go through in batches, which bounds the memory of embedding. */
#include "infer/reasoner.h"

enum { BATCH = 256 };

const wfre_reasoner *wfre_reasoner_of(const wfre_way *way)
{
    return way->by == WFRE_BY_EDGES ? &wfre_by_edges : &wfre_by_embedding;
}

/* The questions of a batch that one reasoner answers. */
typedef struct share {
    const wfre_reasoner *reasoner;
    const wfre_node *forms[BATCH];
    uint32_t numbers[BATCH];
    size_t count;
} share;

/* Deals a batch out to the reasoner of its way and, for what that cannot answer, to the other. */
static wfre_status deal(const wfre_inference *all, size_t first, wfre_arena *arena, share shares[2],
                        wfre_error *error)
{
    for (size_t q = first; q < all->count && q < first + BATCH; q++) {
        const wfre_node *form = NULL;
        share *own = &shares[1];
        CHECK(own->reasoner->form(arena, all->trees[q], &form, error));
        if (!form) {
            own = &shares[0];
            CHECK(own->reasoner->form(arena, all->trees[q], &form, error));
        }
        own->forms[own->count] = form;
        own->numbers[own->count++] = (uint32_t)q;
    }
    return WFRE_OK;
}

wfre_status wfre_infer(wfre_session *session, const wfre_inference *questions, wfre_scores_use *use,
                       void *context, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_arena arena = {0};
    share *shares = wfre_alloc(2, sizeof *shares);
    if (!shares)
        return wfre_fail_memory(error, "predicting");
    shares[0].reasoner = &wfre_by_embedding;
    shares[1].reasoner =
        session->engine->graph ? wfre_reasoner_of(&questions->way) : &wfre_by_embedding;
    for (size_t first = 0; first < questions->count; first += BATCH) {
        shares[0].count = shares[1].count = 0;
        wfre_arena_reset(&arena);
        TRY(deal(questions, first, &arena, shares, error));
        for (int i = 0; i < 2; i++) {
            wfre_inference part = *questions;
            part.trees = shares[i].forms;
            part.count = shares[i].count;
            if (part.count > 0)
                TRY(shares[i].reasoner->score(session, &part, shares[i].numbers, use, context,
                                              error));
        }
    }
    TRY(wfre_model_sound(session->engine->model, error));
cleanup:
    wfre_arena_free(&arena);
    wfre_free(shares);
    return status;
}
