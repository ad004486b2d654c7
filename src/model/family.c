/* The table of model families. */
#include "model/family.h"

#include <string.h>

static const wfre_family *const FAMILIES[] = {&wfre_family_wfre};

const wfre_family *wfre_family_find(const char *name)
{
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++)
        if (strcmp(FAMILIES[i]->name, name) == 0)
            return FAMILIES[i];
    return NULL;
}

const wfre_family *wfre_family_of(const wfre_model_settings *settings)
{
    return settings->family ? settings->family : FAMILIES[0];
}

void wfre_family_read_entity(const wfre_model *model, const wfre_vector_table *vectors,
                             size_t entity, float *row)
{
    wfre_family_of(&model->settings)
        ->entity.forward(vectors, model->settings.dim, wfre_model_row(model, entity), row);
}
