/* A model for a graph with more entities. */
#ifndef WFRE_SRC_MODEL_EXTEND_H
#define WFRE_SRC_MODEL_EXTEND_H

#include "model/model.h"

/* The same model for a graph whose first entities are those of its own; the others start as the
 * mean of all. */
WFRE_NODISCARD wfre_status wfre_model_extend(const wfre_model *model, const wfre_graph *graph,
                                             wfre_model **larger, wfre_error *error);

/* A model of its own with the same weights; none of it lies in a file. */
WFRE_NODISCARD wfre_status wfre_model_copy(const wfre_model *model, wfre_model **copy,
                                           wfre_error *error);

#endif
