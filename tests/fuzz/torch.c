/* A checkpoint of the published PyTorch code. One that converts has finite weights, as many as its
 * file has numbers; a refused one gets a message. Checksums are made to fit, or little behind them
 * would ever be read. */
#include <zlib.h>

#include "importing.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static uint32_t number(const uint8_t *bytes, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

/* A copy in which every entry of the directory has the checksum of its member. */
static uint8_t *seal(const uint8_t *bytes, size_t length)
{
    enum { ENTRY = 46, LOCAL = 30 };
    uint8_t *copy = malloc(length + 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, length);
    for (size_t at = 0; at + ENTRY <= length; at++) {
        if (memcmp(copy + at, "PK\1\2", 4) != 0)
            continue;
        size_t size = number(copy + at + 20, 4), from = number(copy + at + 42, 4);
        if (from + LOCAL > length)
            continue;
        from += LOCAL + number(copy + from + 26, 2) + number(copy + from + 28, 2);
        if (from > length || size > length - from)
            continue;
        uint32_t sum = (uint32_t)crc32_z(0, copy + from, size);
        for (size_t i = 0; i < 4; i++)
            copy[at + 16 + i] = (uint8_t)(sum >> 8 * i);
    }
    return copy;
}

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
    uint8_t *sealed = seal(bytes, length);
    const char *path = fuzz_write("c.ckpt", sealed, length);
    free(sealed);
    if (wfre_model_convert(path, graph, &settings, &model, &error) == WFRE_OK) {
        if (wfre_model_validate(model, NULL) != WFRE_OK ||
            wfre_model_parameters(model) > length / 2 + 1)
            abort();
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    wfre_model_free(model);
    return 0;
}
