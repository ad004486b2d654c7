/* Reading the learning curve from a training log. */
#include "report/curve.h"

#include <jansson.h>
#include <math.h>

#include "base/file.h"
#include "base/memory.h"

typedef struct point {
    double step, loss, mrr;
} point;

static double number_of(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* False if the line has nothing for the curve. */
static bool read_point(const char *line, size_t length, point *p)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    *p = (point){number_of(object, "step"), number_of(object, "loss"), number_of(object, "mrr")};
    json_decref(object);
    return isfinite(p->step) && (isfinite(p->loss) || isfinite(p->mrr));
}

static wfre_status read_points(const char *path, point **points, size_t *count, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_reader *reader = NULL;
    size_t capacity = 0;
    TRY(wfre_reader_open(path, &reader, error));
    for (;;) {
        const char *line;
        size_t length;
        TRY(wfre_reader_line(reader, &line, &length, error));
        if (!line)
            break;
        if (!WFRE_RESERVE(points, &capacity, *count + 1))
            TRY(wfre_fail_memory(error, "reading a training log"));
        *count += read_point(line, length, &(*points)[*count]);
    }
cleanup:
    wfre_reader_close(reader);
    return status;
}

/* Takes the points at which the number at `offset` of a point is there. Where the steps go back, a
 * run was resumed from a checkpoint before the end of the log: what came after is replaced. */
static wfre_status fill_track(wfre_track *track, const point *points, size_t count, size_t offset,
                              wfre_error *error)
{
    track->step = wfre_alloc(2 * count + 1, sizeof *track->step);
    if (!track->step)
        return wfre_fail_memory(error, "reading a training log");
    track->value = track->step + count;
    for (size_t i = 0; i < count; i++) {
        double value = *(const double *)((const char *)&points[i] + offset);
        if (!isfinite(value))
            continue;
        while (track->count > 0 && track->step[track->count - 1] >= points[i].step)
            track->count--;
        track->step[track->count] = points[i].step;
        track->value[track->count++] = value;
    }
    return WFRE_OK;
}

wfre_status wfre_curve_read(wfre_curve *curve, const char *path, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    point *points = NULL;
    size_t count = 0;
    TRY(read_points(path, &points, &count, error));
    TRY(fill_track(&curve->loss, points, count, offsetof(point, loss), error));
    TRY(fill_track(&curve->mrr, points, count, offsetof(point, mrr), error));
cleanup:
    wfre_free(points);
    return status;
}

void wfre_curve_free(wfre_curve *curve)
{
    wfre_free(curve->loss.step);
    wfre_free(curve->mrr.step);
    *curve = (wfre_curve){0};
}
