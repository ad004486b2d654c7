/* What the tests of training share. */
#ifndef WFRE_TESTS_TRAINING_H
#define WFRE_TESTS_TRAINING_H

#include "check.h"
#include "toy.h"
#include "train/settings.h"
#include "train/trainer.h"

/* Every way of training, small. */
static inline wfre_train_settings recipe(int variant)
{
    wfre_train_settings s;
    assert_ok(wfre_train_preset(variant == 3 ? "paper-wn18rr" : "small", NULL, &s, error));
    s.model.dim = 20;
    s.model.bases = variant == 1 ? 0 : 3;
    s.model.layers = variant == 2 ? 2 : 1;
    s.model.members = variant < 2 ? 2 : 1;
    s.batch = 24;
    s.negatives = 16;
    s.hard = 5;
    s.positives = variant == 2 ? 3 : 1;
    s.every_answer = variant < 2;
    s.relation_loss = variant == 0 || variant == 2 ? 0.5 : 0;
    s.relation_facts = 5;
    s.relation_rivals = 3;
    s.steps = 6;
    s.drop_basis = variant == 0 || variant == 3 ? 0.1 : 0;
    if (variant == 4)
        s.precision = WFRE_BF16;
    if (variant == 1)
        s.candidates = WFRE_CANDIDATES_ALL;
    if (variant == 2) {
        s.guide = WFRE_GUIDE_STAGED;
        s.stage = 0.5;
        s.clip = 0.1;
    }
    if (variant == 2 || variant == 3)
        s.deal = 4;
    if (variant == 5) {
        s.guide = WFRE_GUIDE_STAGED_SURROGATE;
        s.model.score.radius = 3;
    }
    if (variant == 6) { /* some pairs by the score, for each member */
        s.guide = WFRE_GUIDE_SURROGATE;
        s.model.score.radius = 2;
        s.model.members = 2;
        s.exact = 4;
    }
    return s;
}
enum { VARIANTS = 7 };

/* The last variant updates entities as large graphs do. */
static inline void choose_updates(wfre_trainer *trainer, int variant)
{
    trainer->lazy = variant == 4;
}

static inline void take_steps(wfre_trainer *trainer, int count)
{
    for (int i = 0; i < count; i++)
        assert_ok(wfre_trainer_step(trainer, error));
}

static inline void assert_same_model(const wfre_model *a, const wfre_model *b)
{
    for (uint32_t t = 0; t < a->tensor_count; t++)
        assert_memory_equal(a->tensors[t].data, b->tensors[t].data,
                            a->tensors[t].count * sizeof(float));
}

#endif
