/* Sentences: what cannot be made true by any edge that may be missing is refuted, anything else as
 * likely as its parts say.
 *
 *   atom          proven, or as likely as the surer of its ends says (given.c)
 *   a = b         true or false: two names are two entities
 *   !, &, |       1 - p, the product, the best
 *   exists ?x. F  the likeliest answer to ?x : F; of several variables in a row, of the first that
 *                 can be asked for alone
 *
 * Alongside goes what is certain: an edge that the graph has is, one that it lacks is not. */
#include <math.h>
#include <string.h>

#include "answer/reply.h"
#include "graph/graph.h"
#include "infer/session.h"

/* What is certain of a part. */
typedef enum truth { NO, PERHAPS, YES } truth;

typedef struct judgement {
    truth certain;
    double probability; /* NAN if the model cannot say */
    double score;       /* log of the same; of a single atom, the model's */
} judgement;

typedef struct judging {
    const wfre_replying *r;
    const uint32_t *values; /* of the query's variables: none has one */
    bool can_predict;
} judging;

static wfre_status judge(judging *j, const wfre_formula *f, judgement *result, wfre_error *error);

static judgement decided(bool holds)
{
    return (judgement){holds ? YES : NO, holds ? 1 : 0, holds ? 0 : -INFINITY};
}

static wfre_status judge_atom(judging *j, const wfre_formula *f, judgement *result,
                              wfre_error *error)
{
    wfre_given_triple triple = {f->left.id, f->relation, f->right.id};
    wfre_scored_triple scored;
    const wfre_errand *errand = &j->r->errand;
    if (wfre_graph_has(j->r->graph, errand->options.split, triple.head, triple.relation,
                       triple.tail)) {
        *result = decided(true);
        return WFRE_OK;
    }
    *result = (judgement){PERHAPS, (double)NAN, (double)NAN};
    if (!j->can_predict)
        return WFRE_OK;
    wfre_ask_options options = wfre_errand_options(errand);
    CHECK(
        wfre_session_score(errand->session, &triple, 1, &options, errand->cancel, &scored, error));
    result->probability = scored.probability;
    result->score = scored.score;
    return WFRE_OK;
}

/* Whether a formula says nothing of what is missing: then what holds is certain. That two names are
 * two entities does not depend on it. */
static bool is_positive(const wfre_formula *f)
{
    if (f->kind == WFRE_NOT && f->children[0]->kind == WFRE_EQUAL)
        return true;
    bool positive = f->kind != WFRE_NOT;
    for (uint32_t i = 0; positive && i < f->child_count; i++)
        positive = is_positive(f->children[i]);
    return positive;
}

/* The likeliest answer for one of the variables; *unpredicted says why there is none. */
static wfre_status judge_variable(judging *j, const wfre_formula *f, uint32_t variable,
                                  judgement *result, bool *predicted, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_query *query = NULL;
    wfre_answers *answers = NULL;
    const wfre_replying *r = j->r;
    TRY(wfre_query_derive(r->graph, r->query, f, j->values, &variable, 1, &query, error));
    TRY(wfre_errand_ask(&r->errand, &query, 1, 1, &answers, error));
    *predicted = !answers->unpredicted;
    if (answers->known.count > 0) {
        *result = decided(true);
        result->certain = is_positive(f) ? YES : PERHAPS;
    } else if (answers->predicted_count > 0) {
        result->probability = answers->predicted[0].probability;
        result->score = answers->predicted[0].score;
    } else if (answers->unpredicted && !r->reply->unpredicted) {
        TRY(wfre_reply_note(r, answers->unpredicted, error));
    }
cleanup:
    wfre_answers_free(answers);
    wfre_query_free(query);
    return status;
}

static wfre_status judge_exists(judging *j, const wfre_formula *f, judgement *result,
                                wfre_error *error)
{
    const wfre_formula *inner = f;
    bool predicted = false;
    *result = (judgement){PERHAPS, (double)NAN, (double)NAN};
    for (; inner->kind == WFRE_EXISTS; inner = inner->children[0])
        if (inner->of_relations)
            return wfre_reply_note(j->r, "a variable stands for any relation", error);
    for (const wfre_formula *e = f; e->kind == WFRE_EXISTS && !predicted; e = e->children[0])
        CHECK(judge_variable(j, inner, e->variable, result, &predicted, error));
    return WFRE_OK;
}

static void negate(judgement *result)
{
    result->certain = (truth)(YES - result->certain);
    result->probability = 1 - result->probability;
    result->score = log(fmax(result->probability, 1e-12));
}

/* The product of the parts, or the best of them. */
static wfre_status judge_joined(judging *j, const wfre_formula *f, judgement *result,
                                wfre_error *error)
{
    bool all = f->kind == WFRE_AND;
    CHECK(judge(j, f->children[0], result, error));
    for (uint32_t i = 1; i < f->child_count; i++) {
        judgement part;
        CHECK(judge(j, f->children[i], &part, error));
        bool better =
            wfre_likelier(part.probability, part.score, result->probability, result->score);
        if (all) {
            result->probability *= part.probability;
            result->score += part.score;
        } else if (better || isnan(result->probability)) {
            result->probability = part.probability;
            result->score = part.score;
        }
        bool takes = all ? part.certain < result->certain : part.certain > result->certain;
        result->certain = takes ? part.certain : result->certain;
    }
    return WFRE_OK;
}

static wfre_status judge(judging *j, const wfre_formula *f, judgement *result, wfre_error *error)
{
    switch (f->kind) {
    case WFRE_ATOM:
        return judge_atom(j, f, result, error);
    case WFRE_EQUAL:
        *result = decided(f->left.id == f->right.id);
        return WFRE_OK;
    case WFRE_NOT:
        CHECK(judge(j, f->children[0], result, error));
        negate(result);
        return WFRE_OK;
    case WFRE_AND:
    case WFRE_OR:
        return judge_joined(j, f, result, error);
    case WFRE_EXISTS:
        return judge_exists(j, f, result, error);
    case WFRE_LINK:
        break;
    }
    *result = (judgement){PERHAPS, (double)NAN, (double)NAN};
    return WFRE_OK;
}

wfre_status wfre_reply_sentence(const wfre_replying *r, wfre_error *error)
{
    wfre_reply *reply = r->reply;
    judgement result;
    judging j = {.r = r};
    uint32_t *values = wfre_arena_alloc(r->arena, r->query->variable_count, sizeof *values);
    if (!values)
        return wfre_fail_memory(error, "answering");
    memset(values, 0xFF, r->query->variable_count * sizeof *values);
    j.values = values;
    j.can_predict = r->errand.session->engine->model && r->errand.options.predicted;
    CHECK(judge(&j, r->query->formula, &result, error));
    if (result.certain == NO) {
        reply->verdict = WFRE_VERDICT_REFUTED;
        reply->probability = 0;
        reply->unpredicted = NULL;
    } else if (j.can_predict && isfinite(result.score)) {
        reply->verdict = WFRE_VERDICT_PREDICTED;
        reply->probability = result.probability;
        reply->score = result.score;
        reply->unpredicted = NULL;
    } else if (!j.can_predict) {
        reply->unpredicted = NULL;
    }
    return WFRE_OK;
}
