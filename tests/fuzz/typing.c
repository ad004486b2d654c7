/* What people type besides queries: commands with a name, parts of names, and everyday questions,
 * which are answered without a model. */
#include "small_graph.h"
#include "wfre/everyday.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static wfre_session *small_session(void)
{
    static wfre_session *session;
    wfre_engine *engine;
    if (session)
        return session;
    must(wfre_engine_open(small_graph(), NULL, NULL, NULL, NULL, &engine, NULL) == WFRE_OK);
    must(wfre_session_create(engine, NULL, &session, NULL) == WFRE_OK);
    wfre_engine_unref(engine);
    return session;
}

/* Items come in order, each once. */
static void complete(wfre_engine *engine, const char *text, size_t length)
{
    wfre_completion items[32];
    wfre_complete_options options;
    size_t count;
    wfre_complete_options_default(&options);
    must(wfre_engine_complete(engine, text, length, &options, items, 32, &count, NULL) == WFRE_OK);
    must(count <= 32);
    for (size_t i = 0; i < count; i++) {
        must(items[i].id < (items[i].is_relation ? wfre_graph_relations(small_graph())
                                                 : wfre_graph_entities(small_graph())));
        must(i == 0 || items[i - 1].match <= items[i].match);
        for (size_t k = 0; k < i; k++)
            must(items[k].id != items[i].id || items[k].is_relation != items[i].is_relation);
    }
}

static void reply(wfre_session *session, const char *text, size_t length)
{
    wfre_query *query;
    wfre_reply *answer;
    char *json;
    wfre_error error;
    if (wfre_query_parse(small_graph(), WFRE_NOTATION_LOGIC, text, length, &query, &error) !=
        WFRE_OK)
        return;
    wfre_question question = {.query = query};
    wfre_ask_options_default(&question.options);
    question.options.timeout = 0.2;
    if (wfre_session_reply(session, &question, 100, NULL, &answer, &error) == WFRE_OK) {
        wfre_answers_json options = {.text = text, .text_length = length, .top = 10};
        must(answer->width + wfre_query_counted(query) == wfre_query_width(query));
        must(wfre_reply_print_json(small_graph(), &question, answer, &options, &json, NULL) ==
             WFRE_OK);
        wfre_string_free(json);
        wfre_reply_free(answer);
    }
    wfre_query_free(query);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_session *session = small_session();
    const char *text = (const char *)bytes;
    wfre_error error;
    wfre_command command;
    wfre_entity entity;
    wfre_status status = wfre_command_parse(small_graph(), text, length, &command, &entity, &error);
    if (status != WFRE_OK)
        must(error.offset <= length);
    else if (command != WFRE_COMMAND_NONE)
        must(entity < wfre_graph_entities(small_graph()));
    complete((wfre_engine *)(uintptr_t)wfre_session_engine(session), text, length);
    if (length < 4096)
        reply(session, text, length);
    return 0;
}
