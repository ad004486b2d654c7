/* Predicted rows. One variable gets values, each of which is put into the question, and so on until
 * one variable is left: that is asked for as ever. All questions for it go together.
 *
 * A variable for a relation is predicted where it stands alone: ?r(a, b), ?r(a, ?y), ?r(?x, b). */
#include <math.h>
#include <string.h>

#include "answer/reply.h"
#include "infer/session.h"

/* Values of the first variable, of the second, of each further one. */
static const size_t VALUES[] = {WFRE_ROW_VALUES, 8, 4, 2};
enum { LEVELS = sizeof VALUES / sizeof VALUES[0] };
/* Predictions of each question for the last variable, at most. */
enum { MOST_LAST = 1000 };

typedef struct searching {
    const wfre_replying *r;
    uint32_t *values; /* [variables]: given so far, else WFRE_NONE */
    wfre_row_list list;
    bool predicted;      /* at least one question could be */
    const char *why_not; /* the first reason why another could not */
} searching;

static wfre_status no_memory(wfre_error *error)
{
    return wfre_fail_memory(error, "predicting rows");
}

/* The variables asked for that have no value yet. */
static uint32_t open_columns(const searching *s, uint32_t *columns)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < s->r->query->asked; v++)
        if (s->values[v] == WFRE_NONE)
            columns[count++] = v;
    return count;
}

static wfre_status note_reason(searching *s, const char *why, wfre_error *error)
{
    if (s->why_not)
        return WFRE_OK;
    s->why_not = wfre_arena_text(s->r->arena, why, strlen(why));
    return s->why_not ? WFRE_OK : no_memory(error);
}

/* The question with the values so far, asking for one variable; NULL if it cannot be predicted. */
static wfre_status derive(searching *s, uint32_t column, wfre_query **query, wfre_error *error)
{
    const wfre_replying *r = s->r;
    CHECK(wfre_query_derive(r->graph, r->query, r->query->formula, s->values, &column, 1, query,
                            error));
    if ((*query)->tree)
        return WFRE_OK;
    wfre_status status = note_reason(s, (*query)->not_a_tree, error);
    wfre_query_free(*query);
    *query = NULL;
    return status;
}

/* ---- the last variable -------------------------------------------------------------------- */

static wfre_status add_row(searching *s, uint32_t column, const wfre_prediction *p,
                           wfre_error *error)
{
    wfre_row_list *list = &s->list;
    uint32_t width = s->r->query->asked;
    uint32_t *ids = wfre_arena_alloc(s->r->arena, width, sizeof *ids);
    if (!ids || !WFRE_RESERVE(&list->rows, &list->capacity, list->count + 1))
        return no_memory(error);
    memcpy(ids, s->values, width * sizeof *ids);
    ids[column] = p->entity;
    list->rows[list->count++] =
        (wfre_predicted_row){ids, p->score, p->probability, p->missing_probability};
    return WFRE_OK;
}

/* Asks for `last` with each of the values for `column`. */
static wfre_status ask_last(searching *s, uint32_t column, const wfre_entity *values, size_t count,
                            uint32_t last, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_answers *answers = NULL;
    size_t asked = 0;
    wfre_query **queries = wfre_alloc_zero(count, sizeof *queries);
    wfre_entity *given = wfre_alloc(count, sizeof *given);
    if (!queries || !given)
        TRY(no_memory(error));
    for (size_t i = 0; i < count; i++) {
        s->values[column] = values[i];
        TRY(derive(s, last, &queries[asked], error));
        given[asked] = values[i];
        asked += queries[asked] != NULL;
    }
    size_t top = s->r->top < MOST_LAST ? s->r->top : MOST_LAST;
    if (asked > 0)
        TRY(wfre_errand_ask(&s->r->errand, queries, asked, top, &answers, error));
    for (size_t i = 0; i < asked; i++) {
        s->values[column] = given[i];
        if (answers[i].unpredicted)
            TRY(note_reason(s, answers[i].unpredicted, error));
        else
            s->predicted = true;
        for (size_t k = 0; k < answers[i].predicted_count; k++)
            TRY(add_row(s, last, &answers[i].predicted[k], error));
    }
cleanup:
    s->values[column] = WFRE_NONE;
    wfre_answers_free(answers);
    wfre_queries_free(queries, count);
    wfre_free(given);
    return status;
}

/* ---- values for the others ---------------------------------------------------------------- */

/* Values of one variable. */
typedef struct choice {
    uint32_t column;
    wfre_entity values[WFRE_ROW_VALUES];
    size_t count;
} choice;

/* Half of the values are known ones, if there are as many, the others the best predicted ones. */
static wfre_status choose_predicted(searching *s, size_t most, choice *chosen, wfre_error *error)
{
    wfre_query *query = NULL;
    wfre_answers *answers;
    CHECK(derive(s, chosen->column, &query, error));
    if (!query)
        return WFRE_OK;
    wfre_status status = wfre_errand_ask(&s->r->errand, &query, 1, most, &answers, error);
    wfre_query_free(query);
    if (status != WFRE_OK)
        return status;
    size_t half = most / 2, known = answers->known.count, more = answers->predicted_count;
    if (known > half)
        known = more < most - half ? (known < most - more ? known : most - more) : half;
    for (size_t i = 0; i < known; i++)
        chosen->values[chosen->count++] = answers->known.ids[i];
    for (size_t i = 0; i < more && chosen->count < most; i++)
        chosen->values[chosen->count++] = answers->predicted[i].entity;
    wfre_answers_free(answers);
    return WFRE_OK;
}

/* Those that the variable has in known rows that agree with the values so far. */
static void choose_known(const searching *s, size_t most, choice *chosen)
{
    const wfre_tuples *known = &s->r->reply->known;
    for (size_t i = 0; i < known->count && chosen->count < most; i++) {
        const uint32_t *row = known->ids + i * known->width;
        bool fits = true;
        for (uint32_t v = 0; fits && v < known->width; v++)
            fits = s->values[v] == WFRE_NONE || s->values[v] == row[v];
        for (size_t k = 0; fits && k < chosen->count; k++)
            fits = chosen->values[k] != row[chosen->column];
        if (fits)
            chosen->values[chosen->count++] = row[chosen->column];
    }
}

static wfre_status search(searching *s, size_t level, wfre_error *error)
{
    uint32_t columns[LEVELS + 1] = {0};
    uint32_t count = open_columns(s, columns);
    choice chosen = {0};
    for (uint32_t i = 0; i < count && chosen.count == 0; i++) {
        chosen.column = columns[i];
        CHECK(choose_predicted(s, VALUES[level], &chosen, error));
    }
    if (chosen.count == 0) {
        chosen.column = columns[0];
        choose_known(s, VALUES[level], &chosen);
    }
    uint32_t last = columns[0] == chosen.column ? columns[1] : columns[0];
    if (count == 2)
        return ask_last(s, chosen.column, chosen.values, chosen.count, last, error);
    for (size_t i = 0; i < chosen.count; i++) {
        s->values[chosen.column] = chosen.values[i];
        CHECK(search(s, level + 1, error));
    }
    s->values[chosen.column] = WFRE_NONE;
    return WFRE_OK;
}

/* ---- relations ---------------------------------------------------------------------------- */

/* Relations that both ends may have: forward ids in `relations`, which has room for all. */
static wfre_status common_relations(const searching *s, const wfre_formula *link,
                                    wfre_relation *relations, size_t *count, wfre_error *error)
{
    const wfre_graph *graph = s->r->graph;
    wfre_split split = s->r->errand.options.split;
    size_t forward, backward, kept = 0;
    wfre_relation *inverse = wfre_alloc(wfre_graph_relations(graph), sizeof *inverse);
    if (!inverse)
        return no_memory(error);
    wfre_status status =
        wfre_usual_relations(graph, split, link->left.id, relations, &forward, error);
    if (status == WFRE_OK)
        status = wfre_usual_relations(graph, split, link->right.id, inverse, &backward, error);
    for (size_t i = 0, k = 0; status == WFRE_OK && i < forward; i++) {
        while (k < backward && inverse[k] < relations[i] + 1)
            k++;
        if (relations[i] % 2 == 0 && k < backward && inverse[k] == relations[i] + 1)
            relations[kept++] = relations[i];
    }
    *count = kept;
    wfre_free(inverse);
    return status;
}

/* ?r(a, b): the relations that both may have. */
static wfre_status predict_relations(searching *s, const wfre_formula *link, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    const wfre_errand *errand = &s->r->errand;
    size_t all = wfre_graph_relations(s->r->graph), count = 0;
    wfre_given_triple *triples = wfre_alloc(all, sizeof *triples);
    wfre_scored_triple *scores = wfre_alloc(all, sizeof *scores);
    uint32_t *ids = wfre_arena_alloc(s->r->arena, all, sizeof *ids);
    if (!triples || !scores || !ids || !WFRE_RESERVE(&s->list.rows, &s->list.capacity, all))
        TRY(no_memory(error));
    wfre_ask_options options = wfre_errand_options(errand);
    TRY(common_relations(s, link, ids, &count, error));
    for (size_t i = 0; i < count; i++)
        triples[i] = (wfre_given_triple){link->left.id, ids[i], link->right.id};
    TRY(wfre_session_score(errand->session, triples, count, &options, errand->cancel, scores,
                           error));
    for (size_t i = 0; i < count; i++)
        if (scores[i].verdict == WFRE_VERDICT_PREDICTED)
            s->list.rows[s->list.count++] = (wfre_predicted_row){
                &ids[i], scores[i].score, scores[i].probability, scores[i].missing_probability};
    s->predicted = true;
cleanup:
    wfre_free(triples);
    wfre_free(scores);
    return status;
}

/* ?r(a, ?y) and ?r(?x, b): the missing edges of an entity. */
static wfre_status predict_edges(searching *s, const wfre_formula *link, wfre_error *error)
{
    const wfre_replying *r = s->r;
    bool forward = !link->left.is_variable;
    wfre_entity entity = forward ? link->left.id : link->right.id;
    uint32_t other = forward ? link->right.id : link->left.id; /* the variable's number */
    const wfre_missing_triple *missing;
    size_t count;
    CHECK(wfre_missing_edges(&r->errand, entity, forward ? 1 : 2, r->top, r->arena, &missing,
                             &count, error));
    uint32_t *ids = wfre_arena_alloc(r->arena, 2 * count, sizeof *ids);
    if (!ids || !WFRE_RESERVE(&s->list.rows, &s->list.capacity, count))
        return no_memory(error);
    for (size_t i = 0; i < count; i++, ids += 2) {
        ids[link->variable] = missing[i].relation;
        ids[other] = forward ? missing[i].tail : missing[i].head;
        s->list.rows[s->list.count++] = (wfre_predicted_row){
            ids, missing[i].score, missing[i].probability, missing[i].missing_probability};
    }
    s->predicted = true;
    return WFRE_OK;
}

static wfre_status predict_link(searching *s, wfre_error *error)
{
    const wfre_query *query = s->r->query;
    const wfre_formula *link = query->formula;
    bool alone = link->kind == WFRE_LINK && link->variable < query->asked;
    if (alone && query->asked == 1 && !link->left.is_variable && !link->right.is_variable)
        return predict_relations(s, link, error);
    if (alone && query->asked == 2 && link->left.is_variable != link->right.is_variable)
        return predict_edges(s, link, error);
    s->why_not = "a variable for a relation is predicted in ?r(a, b), ?r(a, ?y) and ?r(?x, b) only";
    return WFRE_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool has_relations(const wfre_query *query)
{
    bool has = false;
    for (uint32_t v = 0; query->of_relations && v < query->variable_count; v++)
        has = has || query->of_relations[v];
    return has;
}

/* The rows move into the reply's memory. */
static wfre_status keep(searching *s, wfre_error *error)
{
    wfre_row_list kept = {.count = s->list.count};
    kept.rows = wfre_arena_alloc(s->r->arena, kept.count, sizeof *kept.rows);
    if (!kept.rows)
        return no_memory(error);
    if (kept.count > 0)
        memcpy(kept.rows, s->list.rows, kept.count * sizeof *kept.rows);
    wfre_reply_take(s->r, &kept);
    if (s->predicted)
        return WFRE_OK;
    return wfre_reply_note(
        s->r, s->why_not ? s->why_not : "no variable has a known value to begin with", error);
}

wfre_status wfre_reply_rows(const wfre_replying *r, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    searching s = {.r = r};
    uint32_t variables = r->query->variable_count;
    s.values = wfre_arena_alloc(r->arena, variables, sizeof *s.values);
    if (!s.values)
        return no_memory(error);
    memset(s.values, 0xFF, variables * sizeof *s.values);
    if (has_relations(r->query))
        TRY(predict_link(&s, error));
    else if (r->query->asked > LEVELS + 1)
        s.why_not = "rows of more than five variables are not predicted";
    else
        TRY(search(&s, 0, error));
    TRY(keep(&s, error));
cleanup:
    wfre_free(s.list.rows);
    return status;
}
