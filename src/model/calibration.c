/* Calibrations, and their text form. */
#include "model/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void wfre_calibration_free(wfre_calibration *calibration)
{
    if (!calibration)
        return;
    for (size_t i = 0; i < calibration->shape_count; i++)
        wfre_free(calibration->shapes[i].name);
    wfre_free(calibration->shapes);
    wfre_free(calibration);
}

const wfre_reliability *wfre_model_reliability(const wfre_model *model)
{
    return model->calibration ? &model->calibration->reliability : NULL;
}

const wfre_reliability *wfre_model_missing_reliability(const wfre_model *model)
{
    return model->calibration ? &model->calibration->reliability : NULL;
}

/* ---- as text ------------------------------------------------------------------------------ */

/* One line for the reliability, then one for each shape: numbers separated by blanks. */
void wfre_calibration_print(const wfre_calibration *calibration, wfre_text *text)
{
    const wfre_reliability *r = &calibration->reliability;
    wfre_text_format(text, "%" PRIu64 " %.17g", r->queries, r->error);
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        wfre_text_format(text, " %" PRIu64 " %.17g %.17g", r->bins[b].count, r->bins[b].predicted,
                         r->bins[b].observed);
    wfre_text_char(text, '\n');
    for (size_t i = 0; i < calibration->shape_count; i++) {
        wfre_text_add(text, calibration->shapes[i].name);
        for (int t = 0; t < WFRE_CALIBRATION_TERMS; t++)
            wfre_text_format(text, " %.17g", calibration->shapes[i].factors[t]);
        wfre_text_char(text, '\n');
    }
}

/* The next number of the line; false if there is none. */
static bool read_number(const char **text, double *number)
{
    char *end;
    if (**text != ' ')
        return false;
    *number = wfre_parse_real(*text + 1, &end);
    bool found = end > *text + 1 && isfinite(*number);
    *text = end;
    return found;
}

static bool read_reliability(const char **text, wfre_reliability *r)
{
    char *end;
    r->queries = strtoull(*text, &end, 10);
    bool good = end > *text;
    *text = end;
    good = good && read_number(text, &r->error);
    for (int b = 0; good && b < WFRE_RELIABILITY_BINS; b++) {
        double count = 0;
        good = read_number(text, &count) && count >= 0 && count < 0x1p53 &&
               read_number(text, &r->bins[b].predicted) && read_number(text, &r->bins[b].observed);
        r->bins[b].count = good ? (uint64_t)count : 0;
    }
    return good && *(*text)++ == '\n';
}

static wfre_status damaged(wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "the calibration is damaged");
}

static wfre_status read_shape(const char **text, wfre_calibration *calibration, wfre_error *error)
{
    size_t length = strcspn(*text, " \n");
    if (!WFRE_RESERVE(&calibration->shapes, &calibration->shape_capacity,
                      calibration->shape_count + 1))
        return wfre_fail_memory(error, "reading a calibration");
    wfre_calibration_shape *shape = &calibration->shapes[calibration->shape_count];
    shape->name = wfre_copy_text(*text, length);
    if (!shape->name)
        return wfre_fail_memory(error, "reading a calibration");
    calibration->shape_count++;
    *text += length;
    for (int t = 0; t < WFRE_CALIBRATION_TERMS; t++)
        if (!read_number(text, &shape->factors[t]))
            return damaged(error);
    return *(*text)++ == '\n' ? WFRE_OK : damaged(error);
}

wfre_status wfre_calibration_parse(const char *text, wfre_calibration **result, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_calibration *calibration = wfre_alloc_zero(1, sizeof *calibration);
    if (!calibration)
        return wfre_fail_memory(error, "reading a calibration");
    if (!read_reliability(&text, &calibration->reliability) || !*text)
        TRY(damaged(error));
    while (*text)
        TRY(read_shape(&text, calibration, error));
    *result = calibration;
    calibration = NULL;
cleanup:
    wfre_calibration_free(calibration);
    return status;
}
