/* What training measured of a model, kept in its file as text:
 *
 *   version 1
 *   way edges | embedding
 *   questions sampled | given
 *   commit NAME
 *   triples N                        that the valid split adds
 *   mean without_not TYPES ROW       and with_not, all; only those that have questions
 *   mean links 1 ROW
 *   type ROW NAME                    for each type
 *
 * A ROW is the number of questions, MRR, its interval, Hits@1, @3 and @10. */
#ifndef WFRE_SRC_MODEL_MEASURED_H
#define WFRE_SRC_MODEL_MEASURED_H

#include "base/memory.h"
#include "base/text.h"
#include "model/model.h"

typedef struct wfre_measurement {
    wfre_measured shown; /* its texts lie in the arena */
    wfre_measured_row *types;
    size_t capacity;
    wfre_arena arena;
} wfre_measurement;

WFRE_NODISCARD wfre_status wfre_measurement_create(wfre_measurement **measurement,
                                                   wfre_error *error);
void wfre_measurement_free(wfre_measurement *measurement);
/* Adds a type; its name is copied, or becomes "?" if no file can keep it. Types beyond some
 * thousands are left out. */
WFRE_NODISCARD wfre_status wfre_measurement_add(wfre_measurement *measurement,
                                                const wfre_measured_row *row, size_t length,
                                                wfre_error *error);
/* What of a commit's name is kept: letters, digits and a few marks. */
WFRE_NODISCARD wfre_status wfre_measurement_commit(wfre_measurement *measurement, const char *name,
                                                   size_t length, wfre_error *error);

void wfre_measurement_print(const wfre_measurement *measurement, wfre_text *text);
WFRE_NODISCARD wfre_status wfre_measurement_parse(const char *text, wfre_measurement **measurement,
                                                  wfre_error *error);

#endif
