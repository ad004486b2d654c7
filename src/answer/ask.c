/* Known answers by the exact engine, predicted ones by the reasoner of the way. What is known is
 * left out of the search, so that the two never mix, and so is what the graph refutes.
 *
 * All answers of a call lie in one arena, which the caller gets with them. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "infer/probability.h"
#include "query/formula.h"
#include "query/normal.h"
#include "query/types.h"
#include "wfre/answer.h"

/* What the caller gets, from `list` on. */
typedef struct bundle {
    wfre_arena arena;
    wfre_answers list[];
} bundle;

/* One question on its way. */
typedef struct asked {
    const wfre_question *question;
    wfre_answers *answers;
    wfre_way way;
    wfre_wanted wanted; /* of the model */
    bool predict;       /* the model is to be asked */
} asked;

typedef struct asking {
    wfre_session *session;
    double start; /* on wfre_clock */
    wfre_arena *arena;
    asked *list;
    size_t count;
} asking;

void wfre_ask_options_default(wfre_ask_options *options)
{
    *options = (wfre_ask_options){.split = WFRE_TEST, .known = true, .predicted = true, .top = 10};
}

void wfre_answers_free(wfre_answers *answers)
{
    if (!answers)
        return;
    bundle *b = (bundle *)((char *)answers - offsetof(bundle, list));
    wfre_arena_free(&b->arena);
    wfre_free(b);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* When the question has to be done; 0: never. */
static double deadline_of(const asking *a, const asked *own)
{
    double timeout = own->question->options.timeout;
    return timeout > 0 ? a->start + timeout : 0;
}

/* This question failed; the others go on. */
static void note_failure(const asking *a, asked *own, wfre_status status, const wfre_error *error)
{
    *own->answers = (wfre_answers){.status = status, .message = wfre_status_name(status)};
    own->predict = false;
    char *copy = wfre_arena_text(a->arena, error->message, strlen(error->message));
    if (copy)
        own->answers->message = copy;
}

/* ---- what the graph proves ---------------------------------------------------------------- */

/* Copies what the exact engine found, which it forgets with the next question. */
static wfre_status find_known(const asking *a, asked *own, wfre_error *error)
{
    wfre_list found;
    CHECK(wfre_exact_answer(a->session->exact, own->question->options.split, own->question->query,
                            0, NULL, &found, error));
    wfre_entity *copy = wfre_arena_alloc(a->arena, found.count, sizeof *copy);
    if (!copy)
        return wfre_fail_memory(error, "answering");
    if (found.count > 0)
        memcpy(copy, found.ids, found.count * sizeof *copy);
    own->answers->known = (wfre_list){copy, found.count};
    return WFRE_OK;
}

/* ---- what to ask the model ---------------------------------------------------------------- */

/* Why the model cannot predict answers to the query, if so. */
static wfre_status find_obstacle(const asking *a, asked *own, wfre_error *error)
{
    const wfre_query *query = own->question->query;
    const wfre_node *normal;
    wfre_error why;
    const char **obstacle = &own->answers->unpredicted;
    *obstacle = query->tree ? NULL : query->not_a_tree;
    if (!query->tree || own->way.unions != WFRE_UNION_DNF ||
        (own->way.by == WFRE_BY_EDGES && wfre_edges_suit(query->tree)))
        return WFRE_OK;
    wfre_status status =
        wfre_tree_normal(a->arena, query->tree, WFRE_FORM_DNF_MULTI, &normal, &why);
    if (status == WFRE_OK)
        return WFRE_OK;
    if (status == WFRE_ERR_UNSUPPORTED)
        *obstacle = wfre_arena_text(a->arena, why.message, strlen(why.message));
    return *obstacle ? WFRE_OK : wfre_fail_memory(error, "answering");
}

/* What is wanted. Probabilities look at some more than are asked for. */
static wfre_status plan(const asking *a, asked *own, wfre_error *error)
{
    const wfre_ask_options *options = &own->question->options;
    wfre_wanted *wanted = &own->wanted;
    CHECK(find_obstacle(a, own, error));
    if (own->answers->unpredicted)
        return WFRE_OK;
    CHECK(wfre_exact_settled(a->session->exact, options->split, own->question->query->tree,
                             own->answers->known, a->arena, &wanted->without, error));
    size_t deep = options->top > WFRE_CALIBRATION_DEPTH ? options->top : WFRE_CALIBRATION_DEPTH;
    wanted->top = smaller(deep, a->session->engine->model->entity_count - wanted->without.count);
    wanted->hits = wfre_arena_alloc(a->arena, wanted->top, sizeof *wanted->hits);
    if (!wanted->hits)
        return wfre_fail_memory(error, "answering");
    own->predict = true;
    return WFRE_OK;
}

/* Everything about one question but what the model says. */
static void begin(const asking *a, asked *own)
{
    wfre_error error;
    wfre_scope scope = wfre_scope_current(), before = scope;
    scope.deadline = deadline_of(a, own);
    (void)wfre_scope_enter(scope);
    wfre_status status = find_known(a, own, &error);
    if (status == WFRE_OK && a->session->engine->model && own->question->options.predicted)
        status = plan(a, own, &error);
    if (status != WFRE_OK)
        note_failure(a, own, status, &error);
    (void)wfre_scope_enter(before);
}

/* ---- what the model says ------------------------------------------------------------------ */

/* Turns what was found into predictions. */
static wfre_status conclude(const asking *a, asked *own, const wfre_reasoner *reasoner,
                            wfre_error *error)
{
    wfre_status status;
    wfre_text shape = {0};
    const wfre_model *model = a->session->engine->model;
    const wfre_ask_options *options = &own->question->options;
    const wfre_wanted *found = &own->wanted;
    size_t most = smaller(options->top, found->hit_count), count = 0;
    wfre_prediction *predictions = wfre_arena_alloc(a->arena, most, sizeof *predictions);
    if (!predictions)
        TRY(wfre_fail_memory(error, "answering"));
    TRY(wfre_type_name(own->question->query->tree, &shape, error));
    wfre_judged of = {.model = model,
                      .way = &own->way,
                      .reasoner = reasoner,
                      .tree = own->question->query->tree,
                      .shape = shape.data,
                      .known = own->answers->known.count};
    wfre_calibration_view view = wfre_calibration_view_of(&of, found->hits, found->hit_count);
    for (; count < most; count++) {
        wfre_prediction *p = &predictions[count];
        p->entity = found->hits[count].entity;
        p->score = reasoner->logit(model, found->hits[count].score);
        wfre_chance chance = wfre_calibration_chance(&view, found->hits, count);
        p->probability = chance.any;
        p->missing_probability = chance.missing;
        if (options->min_probability > 0 && !(p->probability >= options->min_probability))
            break; /* nor can those after it be more likely; without a calibration none is */
    }
    own->answers->predicted = predictions;
    own->answers->predicted_count = count;
    own->answers->scored = found->scored;
cleanup:
    wfre_text_free(&shape);
    return status;
}

/* Some questions that are predicted together. */
typedef struct group {
    const asking *asking;
    asked **members;
    wfre_wanted *wanted;
} group;

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    const group *g = context;
    CHECK(wfre_scores_top(scores, questions, g->wanted, error));
    for (size_t q = 0; q < scores->count; q++) {
        asked *own = g->members[questions[q]];
        own->wanted = g->wanted[questions[q]];
        CHECK(conclude(g->asking, own, scores->reasoner, error));
    }
    return WFRE_OK;
}

/* Predicts the answers of questions that are to be answered in the same way by the same split. */
static wfre_status predict(const asking *a, asked **members, size_t count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    group g = {.asking = a, .members = members};
    double deadline = 0;
    bool endless = false;
    const wfre_node **trees = wfre_alloc(count, sizeof *trees);
    g.wanted = wfre_alloc(count, sizeof *g.wanted);
    if (!trees || !g.wanted)
        TRY(wfre_fail_memory(error, "answering"));
    for (size_t i = 0; i < count; i++) {
        double own = deadline_of(a, members[i]);
        trees[i] = members[i]->question->query->tree;
        g.wanted[i] = members[i]->wanted;
        endless = endless || own == 0;
        deadline = fmax(deadline, own);
    }
    wfre_inference questions = {.trees = trees,
                                .count = count,
                                .way = members[0]->way,
                                .split = members[0]->question->options.split,
                                .purpose = WFRE_FOR_TOP};
    wfre_scope scope = wfre_scope_current(), before = scope;
    scope.deadline = endless ? 0 : deadline;
    (void)wfre_scope_enter(scope);
    status = wfre_infer(a->session, &questions, use_scores, &g, error);
    (void)wfre_scope_enter(before);
cleanup:
    wfre_free((void *)trees);
    wfre_free(g.wanted);
    return status;
}

/* The same, but a failure is that of the question alone that it comes from. */
static void predict_apart(const asking *a, asked **members, size_t count)
{
    wfre_error error;
    wfre_status status = predict(a, members, count, &error);
    for (size_t i = 0; i < count && status != WFRE_OK; i++) {
        wfre_status own = count == 1 ? status : predict(a, members + i, 1, &error);
        if (own != WFRE_OK)
            note_failure(a, members[i], own, &error);
    }
    for (size_t i = 0; i < count; i++) {
        double deadline = deadline_of(a, members[i]);
        members[i]->predict = false;
        if (count > 1 && deadline > 0 && wfre_clock() > deadline) { /* the others had more time */
            (void)wfre_fail(&error, WFRE_ERR_TIMEOUT, WFRE_NO_OFFSET, "the time limit ran out");
            note_failure(a, members[i], WFRE_ERR_TIMEOUT, &error);
        }
    }
}

static bool go_together(const asked *a, const asked *b)
{
    return a->question->options.split == b->question->options.split &&
           wfre_way_hash(&a->way) == wfre_way_hash(&b->way);
}

/* ---- all ---------------------------------------------------------------------------------- */

static wfre_status answer(asking *a, wfre_error *error)
{
    asked **members = wfre_alloc(a->count, sizeof *members);
    if (!members)
        return wfre_fail_memory(error, "answering");
    for (size_t q = 0; q < a->count; q++)
        begin(a, &a->list[q]);
    for (size_t q = 0; q < a->count; q++) {
        size_t count = 0;
        for (size_t other = q; a->list[q].predict && other < a->count; other++)
            if (a->list[other].predict && go_together(&a->list[q], &a->list[other]))
                members[count++] = &a->list[other];
        if (count > 0)
            predict_apart(a, members, count);
        if (!a->list[q].question->options.known)
            a->list[q].answers->known = (wfre_list){0};
    }
    wfre_free(members);
    return WFRE_OK;
}

wfre_status wfre_session_ask(wfre_session *session, const wfre_question *questions, size_t count,
                             wfre_cancel *cancel, wfre_answers **answers, wfre_error *error)
{
    GIVEN(session);
    GIVEN(answers);
    for (size_t q = 0; q < count; q++)
        GIVEN(questions && questions[q].query);
    wfre_status status = WFRE_OK;
    bundle *b = wfre_alloc_zero(1, sizeof *b + count * sizeof b->list[0]);
    if (!b)
        return wfre_fail_memory(error, "answering");
    wfre_scope before = wfre_session_enter(session, cancel, 0);
    asking a = {.session = session, .start = wfre_clock(), .arena = &b->arena, .count = count};
    a.list = wfre_alloc_zero(count, sizeof *a.list);
    if (!a.list)
        TRY(wfre_fail_memory(error, "answering"));
    for (size_t q = 0; q < count; q++) {
        const wfre_way *way = questions[q].options.way;
        TRY(wfre_check_split(questions[q].options.split, error));
        a.list[q] = (asked){.question = &questions[q], .answers = &b->list[q]};
        a.list[q].way = way ? *way : wfre_engine_way(session->engine);
        a.list[q].way.missing_rate =
            wfre_missing_rate(session->engine->model, &a.list[q].way, questions[q].options.split,
                              questions[q].options.missing_rate);
    }
    TRY(answer(&a, error));
    TRY(wfre_graph_sound(session->engine->graph, error));
    if (before.budget != &session->budget) /* else the caller frees it under the same budget */
        wfre_scope_charge(0, wfre_arena_bytes(&b->arena));
    *answers = b->list;
    b = NULL;
cleanup:
    wfre_free(a.list);
    if (b)
        wfre_arena_free(&b->arena);
    (void)wfre_scope_enter(before);
    wfre_free(b);
    return status;
}
