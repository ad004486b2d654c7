/* A model's file. One that opens answers a question, whatever its numbers are; a refused one gets a
 * message. */
#include "importing.h"
#include "infer/predict.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void ask(const wfre_model *model)
{
    wfre_predictor *predictor = NULL;
    wfre_arena arena = {0};
    wfre_hit hit;
    const wfre_node *tree = wfre_node_project(&arena, 0, wfre_node_entity(&arena, 0));
    wfre_predict_query query = {.tree = tree, .top = 1, .hits = &hit};
    if (wfre_predictor_create(model, NULL, &predictor, NULL) != WFRE_OK ||
        wfre_predict(predictor, &query, 1, false, NULL) != WFRE_OK || query.hit_count > 1)
        abort();
    wfre_predictor_free(predictor);
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
