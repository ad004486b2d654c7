/* A model's file. One that opens answers a question, whatever its numbers are; a refused one gets a
 * message. */
#include "importing.h"
#include "predict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void ask(const wfre_model *model)
{
    wfre_arena arena = {0};
    wfre_hit hit;
    predict_query query = {
        .tree = wfre_node_project(&arena, 0, wfre_node_entity(&arena, 0)), .top = 1, .hits = &hit};
    predict_how how = {.model = model};
    if (predict(&how, &query, 1, NULL) != WFRE_OK || query.hit_count > 1)
        abort();
    wfre_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_model *model = NULL;
    wfre_error error = {0};
    if (wfre_model_open(fuzz_write("m.safetensors", bytes, length), &model, &error) == WFRE_OK) {
        if (wfre_model_entities(model) > 0 && wfre_model_relations(model) > 0)
            ask(model);
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    wfre_model_free(model);
    return 0;
}
