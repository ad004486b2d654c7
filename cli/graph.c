/* Opening a graph or a model for a command. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* ---- files that must not change ----------------------------------------------------------- */

/* Larger files are mapped; the default is that of wfre_private_files. */
static off_t private_bytes = (off_t)32 << 20;

enum { MOST_MAPPED = 2 }; /* a graph and a model */
static struct {
    const char *path;
    struct stat file;
} mapped[MOST_MAPPED];
static int mapped_count;

void cli_choose_private(void)
{
    const char *text = getenv("WFRE_PRIVATE");
    char *end;
    long long bytes = text ? strtoll(text, &end, 10) : -1;
    if (bytes < 0 || *end || end == text)
        return;
    private_bytes = (off_t)bytes;
    wfre_private_files((uint64_t)bytes);
}

/* Remembers what the file is like, if it is mapped. */
static void remember(const char *path)
{
    struct stat file;
    if (mapped_count == MOST_MAPPED || stat(path, &file) != 0 || file.st_size <= private_bytes)
        return;
    mapped[mapped_count].path = path;
    mapped[mapped_count++].file = file;
}

wfre_status cli_check_mapped(wfre_error *error)
{
    for (int i = 0; i < mapped_count; i++) {
        const struct stat *was = &mapped[i].file;
        struct stat is;
        if (stat(mapped[i].path, &is) != 0 || is.st_ino != was->st_ino || is.st_dev != was->st_dev)
            continue; /* removed or replaced: the old one is still there for us */
        if (is.st_size == was->st_size &&
            memcmp(&is.st_mtim, &was->st_mtim, sizeof is.st_mtim) == 0)
            continue;
        error->code = WFRE_ERR_IO;
        (void)snprintf(
            error->message, sizeof error->message,
            "%.400s: it was changed in place while it was open; start again, and replace "
            "it under its name (mv) next time",
            mapped[i].path);
        return error->code;
    }
    return WFRE_OK;
}

/* ---- opening ------------------------------------------------------------------------------ */

wfre_status cli_load_graph(const char *path, wfre_graph **graph, wfre_error *error)
{
    remember(path);
    return wfre_graph_open(path, graph, error);
}

int cli_open_graph(const char *path, wfre_graph **graph)
{
    wfre_error error;
    return cli_load_graph(path, graph, &error) == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}

bool cli_is_model(const char *text)
{
    static const char ENDING[] = ".safetensors";
    unsigned char head[16];
    size_t length = strlen(text);
    if (length >= sizeof ENDING - 1 && strcmp(text + length - (sizeof ENDING - 1), ENDING) == 0)
        return true;
    struct stat kind;
    if (stat(text, &kind) != 0 || !S_ISREG(kind.st_mode))
        return false;
    FILE *file = fopen(text, "rb");
    size_t read = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        (void)fclose(file);
    return wfre_model_recognises(head, read);
}

wfre_status cli_load_model(const char *path, wfre_model **model, wfre_error *error)
{
    remember(path);
    wfre_status status = wfre_model_open(path, model, error);
    if (status == WFRE_OK && wfre_model_unfinished(*model))
        cli_note("%s: a half-trained model, of a run that has not ended", path);
    return status;
}

wfre_status cli_write_model(const cli_call *call, wfre_model *model, const char *path,
                            wfre_error *error)
{
    wfre_pool *pool = NULL;
    (void)cli_interrupted(); /* from now on Ctrl-C leaves no half of a file */
    wfre_status status = wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, error);
    if (status == WFRE_OK)
        status = wfre_model_prepare(model, pool, error);
    if (status == WFRE_OK && cli_interrupted()) {
        *error = (wfre_error){.code = WFRE_ERR_INTERRUPTED, .message = "interrupted"};
        status = error->code;
    }
    if (status == WFRE_OK)
        status = wfre_model_save(model, path, cli_has(call, "bf16"), error);
    wfre_pool_free(pool);
    return status;
}

int cli_need_probabilities(const wfre_model *model, double min_probability)
{
    if (min_probability == 0 || !model || wfre_model_reliability(model))
        return EXIT_DONE;
    return cli_fail(&(wfre_error){
        .code = WFRE_ERR_ARGUMENT,
        .message = "--min-probability: the model has no probabilities; it was trained without "
                   "validation data"});
}
