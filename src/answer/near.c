/* Likeness: the entities whose histograms are nearest to another's. That is what the question for
 * the entity itself comes to, embedded as a whole. */
#include <math.h>
#include <string.h>

#include "base/scope.h"
#include "infer/reasoner.h"
#include "query/scan.h"
#include "wfre/everyday.h"

typedef struct search {
    wfre_wanted wanted;
    wfre_prediction *nearest;
    size_t *count;
} search;

static wfre_status use_scores(void *context, const wfre_scores *scores, const uint32_t *questions,
                              wfre_error *error)
{
    search *s = context;
    CHECK(wfre_scores_top(scores, questions, &s->wanted, error));
    for (size_t i = 0; i < s->wanted.hit_count; i++)
        s->nearest[i] =
            (wfre_prediction){.entity = s->wanted.hits[i].entity,
                              .score = scores->reasoner->logit(scores->session->engine->model,
                                                               s->wanted.hits[i].score),
                              .probability = (double)NAN,
                              .missing_probability = (double)NAN};
    *s->count = s->wanted.hit_count;
    return WFRE_OK;
}

static wfre_status find_nearest(wfre_session *session, wfre_entity entity, search *s,
                                wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_arena arena = {0};
    const wfre_node *tree = wfre_node_entity(&arena, entity);
    size_t others = session->engine->model->entity_count - 1;
    s->wanted.top = s->wanted.top < others ? s->wanted.top : others;
    s->wanted.without = (wfre_list){&entity, 1};
    s->wanted.hits = wfre_arena_alloc(&arena, s->wanted.top, sizeof *s->wanted.hits);
    if (!tree || !s->wanted.hits)
        TRY(wfre_fail_memory(error, "looking for what is near"));
    wfre_inference question = {.trees = &tree,
                               .count = 1,
                               .way = wfre_engine_way(session->engine),
                               .split = WFRE_TEST,
                               .purpose = WFRE_FOR_TOP};
    question.way.by = WFRE_BY_EMBEDDING;
    TRY(wfre_infer(session, &question, use_scores, s, error));
cleanup:
    wfre_arena_free(&arena);
    return status;
}

wfre_status wfre_session_nearest(wfre_session *session, wfre_entity entity, wfre_cancel *cancel,
                                 wfre_prediction *nearest, size_t capacity, size_t *count,
                                 wfre_error *error)
{
    GIVEN(session);
    GIVEN(nearest);
    GIVEN(count);
    if (!session->engine->model)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "what is near is judged by a model, and there is none");
    if (entity >= session->engine->model->entity_count)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "entity #%u is not in the graph",
                         entity);
    search s = {.nearest = nearest, .count = count, .wanted.top = capacity};
    *count = 0;
    wfre_scope before = wfre_session_enter(session, cancel, 0);
    wfre_status status = find_nearest(session, entity, &s, error);
    (void)wfre_scope_enter(before);
    return status;
}

/* ---- describe and near as text ------------------------------------------------------------ */

static const struct {
    const char *word;
    wfre_command command;
} COMMANDS[] = {{"describe", WFRE_COMMAND_DESCRIBE}, {"near", WFRE_COMMAND_NEAR}};

/* The command that the text begins with. What comes behind a blank must be a name: a bracket would
 * make a relation of the word, a variable or a pattern in braces SPARQL. */
static wfre_command recognise(wfre_cursor *cursor)
{
    (void)wfre_scan_peek(cursor);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        size_t size = strlen(COMMANDS[i].word), at = cursor->at + size;
        if (cursor->length <= at ||
            memcmp(cursor->text + cursor->at, COMMANDS[i].word, size) != 0 ||
            !strchr(" \t", cursor->text[at]))
            continue;
        cursor->at = at;
        char next = wfre_scan_peek(cursor);
        bool other = next == '\0' || strchr("(=?*", next) ||
                     memchr(cursor->text + cursor->at, '{', cursor->length - cursor->at);
        return other ? WFRE_COMMAND_NONE : COMMANDS[i].command;
    }
    return WFRE_COMMAND_NONE;
}

wfre_status wfre_command_parse(const wfre_graph *graph, const char *text, size_t length,
                               wfre_command *command, wfre_entity *entity, wfre_error *error)
{
    GIVEN(command);
    GIVEN(entity);
    wfre_arena arena = {0};
    wfre_cursor cursor = {text, length, 0, "", graph, &arena, error};
    wfre_symbol symbol;
    *entity = WFRE_NONE;
    *command = length > 0 ? recognise(&cursor) : WFRE_COMMAND_NONE;
    if (*command == WFRE_COMMAND_NONE)
        return WFRE_OK;
    size_t begin = cursor.at, end = length;
    while (end > begin && strchr(" \t\r\n", text[end - 1]))
        end--;
    wfre_status status = wfre_scan_symbol(&cursor, false, &symbol);
    if (status == WFRE_OK && cursor.at < end) { /* more words, without quotes */
        if (strchr("\"'#", text[begin]))
            status = wfre_fail(error, WFRE_ERR_FORMAT, cursor.at, "expected the end of the line");
        symbol = (wfre_symbol){
            .offset = begin, .bytes = text + begin, .length = end - begin, .id = WFRE_NONE};
    }
    if (status == WFRE_OK)
        status = wfre_resolve_entity(&cursor, &symbol, entity);
    if (status == WFRE_OK && graph && *entity >= wfre_graph_entities(graph))
        status =
            wfre_fail(error, WFRE_ERR_NOT_FOUND, begin, "entity #%u is not in the graph", *entity);
    wfre_arena_free(&arena);
    return status;
}
