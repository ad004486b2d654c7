/* Cases for scores, from JSON text: what wfre_score_cases_open does once it has read the file. */
#ifndef WFRE_SRC_WFR_CASES_H
#define WFRE_SRC_WFR_CASES_H

#include "wfre/score.h"

/* `name` is for messages. */
WFRE_NODISCARD wfre_status wfre_score_cases_parse(const char *name, const char *text, size_t length,
                                                  const wfre_score_settings *defaults,
                                                  wfre_score_cases **cases, wfre_error *error);

#endif
