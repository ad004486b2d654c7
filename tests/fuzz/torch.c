/* A checkpoint of the published PyTorch code. One that converts has finite weights, as many as its
 * file has numbers; a refused one gets a message. */
#include "importing.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static wfre_graph *graph;
    wfre_model *model = NULL;
    wfre_model_settings settings;
    wfre_error error = {0};
    if (!graph) { /* of ten entities and three relations, as the checkpoints of the corpus */
        static const char text[] = "0\ta\t1\n2\tb\t3\n4\tc\t5\n6\ta\t7\n8\tb\t9\n";
        const char *source = fuzz_write("g.tsv", (const uint8_t *)text, sizeof text - 1);
        wfre_import_options options = {0};
        if (wfre_import_graph(&source, 1, &options, NULL, &graph, NULL, &error) != WFRE_OK)
            abort();
    }
    wfre_model_settings_default(&settings);
    if (wfre_model_convert(fuzz_write("c.ckpt", bytes, length), graph, &settings, &model, &error) ==
        WFRE_OK) {
        if (wfre_model_validate(model, NULL) != WFRE_OK ||
            wfre_model_parameters(model) > length / 2 + 1)
            abort();
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    wfre_model_free(model);
    return 0;
}
