/* Settings by name: one table describes the fields of a settings struct, and from it come parsing,
 * printing, range checks, file metadata and command-line help. */
#ifndef WFRE_SRC_BASE_SETTINGS_H
#define WFRE_SRC_BASE_SETTINGS_H

#include "base/error.h"

typedef enum wfre_setting_kind {
    WFRE_SETTING_U32,
    WFRE_SETTING_U64,
    WFRE_SETTING_REAL,
    WFRE_SETTING_BOOL, /* "yes" or "no" */
    WFRE_SETTING_NAME  /* an enum; `names` lists its values from 0, NULL at the end */
} wfre_setting_kind;

typedef struct wfre_setting {
    const char *name;
    wfre_setting_kind kind;
    size_t offset; /* of the field in its struct */
    double minimum, maximum;
    const char *const *names;
    const char *help;
} wfre_setting;

/* NULL if the table has no such name. */
const wfre_setting *wfre_setting_find(const wfre_setting *table, size_t count, const char *name);
/* Reads `text` into the field; the message names the setting and what it takes. */
WFRE_NODISCARD wfre_status wfre_setting_parse(const wfre_setting *setting, void *structure,
                                              const char *text, wfre_error *error);
/* Writes the field as text that wfre_setting_parse reads back to the same bits. */
void wfre_setting_print(const wfre_setting *setting, const void *structure, char *text,
                        size_t size);

#endif
