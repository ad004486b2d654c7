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

/* What is special about a setting, for whoever treats some of them in another way: a sum of these.
 * To fit means to choose on validation queries when all is learned. */
typedef enum wfre_setting_trait {
    WFRE_SETTING_PLAIN = 0,
    WFRE_SETTING_LATER = 1,         /* older files lack it, being of a time that had its default */
    WFRE_SETTING_SIZE = 2,          /* says what shape the weights have */
    WFRE_SETTING_OF_LIFT = 4,       /* fitted if `lift` says so */
    WFRE_SETTING_OF_EDGES = 8,      /* fitted if `edges` says so */
    WFRE_SETTING_SAYS_EDGES = 16,   /* whoever sets it has no edges fitted */
    WFRE_SETTING_OF_EMBEDDING = 32, /* makes no difference to answers by edges */
    WFRE_SETTING_OF_SCORE = 64      /* of the score alone, which the local guide does without */
} wfre_setting_trait;

typedef struct wfre_setting {
    const char *name;
    wfre_setting_kind kind;
    size_t offset; /* of the field in its struct */
    double minimum, maximum;
    const char *const *names;
    const char *help;
    unsigned traits; /* of wfre_setting_trait */
} wfre_setting;

/* NULL if the table has no such name. */
const wfre_setting *wfre_setting_find(const wfre_setting *table, size_t count, const char *name);
/* Reads `text` into the field; the message names the setting and what it takes. */
WFRE_NODISCARD wfre_status wfre_setting_parse(const wfre_setting *setting, void *structure,
                                              const char *text, wfre_error *error);
/* Writes the field as text that wfre_setting_parse reads back to the same bits. */
void wfre_setting_print(const wfre_setting *setting, const void *structure, char *text,
                        size_t size);

/* Whether two structs agree in the field, and to make them do so. */
bool wfre_setting_same(const wfre_setting *setting, const void *a, const void *b);
void wfre_setting_copy(const wfre_setting *setting, void *to, const void *from);

#endif
