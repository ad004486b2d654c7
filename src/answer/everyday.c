/* Everyday questions: what is declared before it is there. */
#include "wfre/everyday.h"
#include "base/error.h"

static wfre_status not_yet(wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "this is not there yet");
}

const char *wfre_verdict_name(wfre_verdict verdict)
{
    static const char *const NAMES[] = {"", "proven", "refuted", "predicted", "unknown"};
    return NAMES[verdict];
}

wfre_status wfre_session_reply(wfre_session *session, const wfre_question *question, size_t most,
                               wfre_cancel *cancel, wfre_reply **reply, wfre_error *error)
{
    (void)session, (void)question, (void)most, (void)cancel, (void)reply;
    return not_yet(error);
}

void wfre_reply_free(wfre_reply *reply)
{
    (void)reply;
}

wfre_status wfre_reply_print_json(const wfre_graph *graph, const wfre_question *question,
                                  const wfre_reply *reply, const wfre_answers_json *options,
                                  char **json, wfre_error *error)
{
    (void)graph, (void)question, (void)reply, (void)options, (void)json;
    return not_yet(error);
}

wfre_status wfre_session_score(wfre_session *session, const wfre_triple *triples, size_t count,
                               const wfre_ask_options *options, wfre_cancel *cancel,
                               wfre_scored_triple *scores, wfre_error *error)
{
    (void)session, (void)triples, (void)count, (void)options, (void)cancel, (void)scores;
    return not_yet(error);
}

void wfre_describe_options_default(wfre_describe_options *options)
{
    *options = (wfre_describe_options){.split = WFRE_TEST, .missing = 10};
}

wfre_status wfre_session_describe(wfre_session *session, wfre_entity entity,
                                  const wfre_describe_options *options, wfre_cancel *cancel,
                                  wfre_description **description, wfre_error *error)
{
    (void)session, (void)entity, (void)options, (void)cancel, (void)description;
    return not_yet(error);
}

void wfre_description_free(wfre_description *description)
{
    (void)description;
}

wfre_status wfre_description_print_json(const wfre_graph *graph,
                                        const wfre_description *description, size_t top,
                                        char **json, wfre_error *error)
{
    (void)graph, (void)description, (void)top, (void)json;
    return not_yet(error);
}

wfre_status wfre_session_nearest(wfre_session *session, wfre_entity entity, wfre_cancel *cancel,
                                 wfre_prediction *nearest, size_t capacity, size_t *count,
                                 wfre_error *error)
{
    (void)session, (void)entity, (void)cancel, (void)nearest, (void)capacity, (void)count;
    return not_yet(error);
}

wfre_status wfre_command_parse(const wfre_graph *graph, const char *text, size_t length,
                               wfre_command *command, wfre_entity *entity, wfre_error *error)
{
    (void)graph, (void)text, (void)length, (void)entity, (void)error;
    *command = WFRE_COMMAND_NONE;
    return WFRE_OK;
}

void wfre_complete_options_default(wfre_complete_options *options)
{
    *options = (wfre_complete_options){.entities = true, .relations = true, .having = WFRE_NONE};
}

wfre_status wfre_engine_complete(wfre_engine *engine, const char *text, size_t length,
                                 const wfre_complete_options *options, wfre_completion *items,
                                 size_t capacity, size_t *count, wfre_error *error)
{
    (void)engine, (void)text, (void)length, (void)options, (void)items, (void)capacity, (void)count;
    return not_yet(error);
}
