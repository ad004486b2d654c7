/* Checkpoints: as the input has them, and edits of a right one whose checksums are made to fit. One
 * that is read goes on with a step; a refused one gets a message of one line. */
#include "train/checkpoint.h"
#include "base/file.h"
#include "editing.h"
#include "importing.h"
#include "sealing.h"
#include "toy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static wfre_graph *graph;
static char *right;
static size_t right_length;

static void make_right(void)
{
    wfre_train_settings settings;
    wfre_trainer *trainer = NULL;
    const char *path = fuzz_write("right.checkpoint", "", 0);
    graph = toy_random_graph(3, 12, 2, 40);
    if (wfre_train_preset("small", NULL, &settings, NULL) != WFRE_OK)
        abort();
    settings.model.dim = 10;
    settings.model.bases = 1;
    settings.model.members = 1;
    settings.model.factors = 2;
    settings.factor_facts = 4;
    settings.batch = 4;
    settings.negatives = 4;
    settings.hard = 1;
    settings.steps = 2;
    if (wfre_trainer_create(graph, &settings, NULL, &trainer, NULL) != WFRE_OK ||
        wfre_checkpoint_write(trainer, path, 0.5, 1, NULL) != WFRE_OK ||
        wfre_read_all(path, 1 << 20, &right, &right_length, NULL) != WFRE_OK)
        abort();
    wfre_trainer_free(trainer);
}

static void try_file(const void *bytes, size_t length)
{
    wfre_trainer *trainer = NULL;
    wfre_train_settings same = {0};
    wfre_error error = {0};
    double best;
    uint32_t next;
    const char *path = fuzz_write("run.checkpoint", bytes, length);
    wfre_status status =
        wfre_checkpoint_read(path, graph, NULL, &same, &trainer, &best, &next, &error);
    if (status == WFRE_OK && trainer->settings.batch <= 64 && trainer->settings.negatives <= 64 &&
        trainer->settings.factor_facts <= 64)
        (void)(wfre_trainer_step(trainer, NULL) == WFRE_OK);
    if (status != WFRE_OK && (error.message[0] == '\0' || strchr(error.message, '\n')))
        abort();
    wfre_trainer_free(trainer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!graph)
        make_right();
    try_file(bytes, length);
    size_t size = right_length;
    unsigned char *copy = edited(right, &size, bytes, length);
    if (model_seal((char *)copy, size))
        try_file(copy, size);
    free(copy);
    return 0;
}
