/* The fields of wfre_train_settings by name; those of the model are in model/settings.h. */
#ifndef WFRE_SRC_TRAIN_SETTINGS_H
#define WFRE_SRC_TRAIN_SETTINGS_H

#include "base/settings.h"
#include "wfre/train.h"

extern const wfre_setting wfre_train_table[];
extern const size_t wfre_train_table_count;

/* Of a setting of training or model; none if nothing is called so. */
unsigned wfre_train_setting_traits(const char *name);

#endif
