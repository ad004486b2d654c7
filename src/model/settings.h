/* The fields of wfre_model_settings by name; training has more in train/settings.h. */
#ifndef WFRE_SRC_MODEL_SETTINGS_H
#define WFRE_SRC_MODEL_SETTINGS_H

#include "base/settings.h"
#include "wfre/model.h"

extern const wfre_setting wfre_model_table[];
extern const size_t wfre_model_table_count;

/* Whether weights for the one have the shapes of weights for the other. */
bool wfre_model_same_sizes(const wfre_model_settings *a, const wfre_model_settings *b);
void wfre_model_copy_sizes(wfre_model_settings *to, const wfre_model_settings *from);

#endif
