/* The files of a training run. */
#include "train/outputs.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "wfre/train.h"

char *wfre_output_beside(const char *model, const char *suffix)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(model), cut = sizeof ending - 1, extra = strlen(suffix);
    if (length > cut && strcmp(model + length - cut, ending) == 0)
        length -= cut;
    char *path = wfre_alloc(length + extra + 1, 1);
    if (path) {
        memcpy(path, model, length);
        memcpy(path + length, suffix, extra + 1);
    }
    return path;
}

static wfre_status take_lock(wfre_outputs *outputs, wfre_error *error)
{
    char what[512];
    char *path = wfre_output_beside(outputs->model, ".lock");
    (void)snprintf(what, sizeof what, "trains %.400s", outputs->model);
    wfre_status status = path ? wfre_lock_take(&outputs->lock, path, what, error)
                              : wfre_fail_memory(error, "preparing to train");
    wfre_free(path);
    return status;
}

wfre_status wfre_outputs_open(wfre_outputs *outputs, const char *model, wfre_error *error)
{
    *outputs = (wfre_outputs){.model = model, .logged = WFRE_NO_STEP, .judged = WFRE_NO_STEP};
    outputs->unfinished = wfre_output_beside(model, ".unfinished.safetensors");
    outputs->checkpoint = wfre_output_beside(model, ".checkpoint");
    outputs->log = wfre_output_beside(model, ".log.jsonl");
    outputs->curve = wfre_output_beside(model, ".curve.svg");
    if (!outputs->unfinished || !outputs->checkpoint || !outputs->log || !outputs->curve)
        return wfre_fail_memory(error, "preparing to train");
    CHECK(wfre_probe_regular(model, error)); /* it also cleans */
    CHECK(take_lock(outputs, error));
    wfre_temporary_clean(outputs->unfinished);
    wfre_temporary_clean(outputs->checkpoint);
    wfre_temporary_clean(outputs->log);
    wfre_temporary_clean(outputs->curve);
    return WFRE_OK;
}

static wfre_status open_log(wfre_outputs *outputs, int flags, wfre_error *error)
{
    int fd = wfre_open_file(outputs->log, O_WRONLY | O_CREAT | O_APPEND | flags, 0666);
    if (fd < 0)
        return wfre_fail_errno(error, outputs->log, "write");
    outputs->log_file = fd;
    outputs->logging = true;
    return WFRE_OK;
}

wfre_status wfre_outputs_begin(wfre_outputs *outputs, wfre_error *error)
{
    CHECK(open_log(outputs, O_TRUNC, error));
    wfre_outputs_finish(outputs);
    return WFRE_OK;
}

/* Whether a line tells of a step up to this one; counts it then. */
static bool is_kept(wfre_outputs *outputs, const char *line, size_t length, uint64_t step)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    const json_t *number = json_object_get(object, "step");
    bool loss = json_object_get(object, "loss"), mrr = json_object_get(object, "mrr");
    bool kept = json_is_integer(number) && json_integer_value(number) >= 0 &&
                (uint64_t)json_integer_value(number) <= step && (loss || mrr);
    if (kept && loss) {
        outputs->logged = (uint64_t)json_integer_value(number);
        outputs->lines++;
    }
    if (kept && mrr)
        outputs->judged = (uint64_t)json_integer_value(number);
    json_decref(object);
    return kept;
}

static wfre_status collect_lines(wfre_outputs *outputs, uint64_t step, wfre_text *kept,
                                 wfre_error *error)
{
    wfre_reader *reader = NULL;
    wfre_status status;
    TRY(wfre_reader_open(outputs->log, &reader, error));
    for (;;) {
        const char *line;
        size_t length;
        TRY(wfre_reader_line(reader, &line, &length, error));
        if (!line)
            break;
        if (is_kept(outputs, line, length, step)) {
            wfre_text_append(kept, line, length);
            wfre_text_char(kept, '\n');
        }
    }
    TRY(wfre_text_status(kept, "reading a training log", error));
cleanup:
    wfre_reader_close(reader);
    return status;
}

wfre_status wfre_outputs_resume(wfre_outputs *outputs, uint64_t step, wfre_error *error)
{
    wfre_text kept = {0};
    wfre_status status = WFRE_OK;
    if (wfre_file_exists(outputs->log)) {
        TRY(collect_lines(outputs, step, &kept, error));
        TRY(wfre_write_file(outputs->log, kept.data, kept.length, error));
    }
    TRY(open_log(outputs, 0, error));
cleanup:
    wfre_text_free(&kept);
    return status;
}

wfre_status wfre_outputs_log(wfre_outputs *outputs, const char *line, wfre_error *error)
{
    if (!wfre_write_fully(outputs->log_file, line, strlen(line)))
        return wfre_fail_errno(error, outputs->log, "write");
    return WFRE_OK;
}

/* The checkpoint first: resumed without the best model so far, a run might keep another. */
void wfre_outputs_finish(wfre_outputs *outputs)
{
    (void)unlink(outputs->checkpoint);
    (void)unlink(outputs->unfinished);
}

wfre_status wfre_train_tidy(const char *model, wfre_error *error)
{
    wfre_outputs outputs;
    wfre_status status = wfre_outputs_open(&outputs, model, error);
    if (status == WFRE_OK)
        wfre_outputs_finish(&outputs);
    wfre_outputs_close(&outputs);
    return status;
}

void wfre_outputs_close(wfre_outputs *outputs)
{
    if (outputs->logging)
        close(outputs->log_file);
    wfre_lock_release(&outputs->lock);
    wfre_free(outputs->unfinished);
    wfre_free(outputs->checkpoint);
    wfre_free(outputs->log);
    wfre_free(outputs->curve);
    *outputs = (wfre_outputs){0};
}
