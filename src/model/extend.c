/* Models made of others. */
#include "model/extend.h"

#include <math.h>
#include <string.h>

#include "model/calibration.h"
#include "model/factors.h"
#include "model/family.h"

static wfre_status copy_calibration(const wfre_model *from, wfre_model *to, wfre_error *error)
{
    wfre_text text = {0};
    wfre_status status = WFRE_OK;
    if (!from->calibration)
        return WFRE_OK;
    wfre_calibration_print(from->calibration, &text);
    TRY(wfre_text_status(&text, "copying a model", error));
    TRY(wfre_calibration_parse(text.data, &to->calibration, error));
cleanup:
    wfre_text_free(&text);
    return status;
}

wfre_status wfre_model_copy(const wfre_model *model, wfre_model **result, wfre_error *error)
{
    wfre_model *copy = NULL;
    wfre_status status;
    TRY(wfre_model_settle(model, error));
    TRY(wfre_model_allocate(&model->settings, model->entity_count, model->relation_count,
                            model->fingerprint, &copy, error));
    const wfre_tensor *parts[WFRE_MAXIMUM_PARTS], *own[WFRE_MAXIMUM_PARTS];
    uint32_t count = wfre_model_parts(model, parts);
    (void)wfre_model_parts(copy, own);
    for (uint32_t t = 0; t < count; t++)
        memcpy(own[t]->data, parts[t]->data, parts[t]->count * sizeof(float));
    TRY(copy_calibration(model, copy, error));
    *result = copy;
    copy = NULL;
cleanup:
    wfre_model_free(copy);
    return status;
}

/* New entities have the mean of the old ones. */
static void extend_factors(const wfre_factors *factors, wfre_factors *larger, size_t old,
                           size_t all)
{
    size_t w = wfre_factors_width(factors);
    for (int t = 0; t < WFRE_FACTOR_TENSORS; t++)
        memcpy(larger->tensors[t].data, factors->tensors[t].data,
               factors->tensors[t].count * sizeof(float));
    for (size_t i = 0; i < w && all > old; i++) {
        double sum = 0;
        for (size_t e = 0; e < old; e++)
            sum += (double)wfre_factors_entity(factors, e)[i];
        for (size_t e = old; e < all; e++)
            wfre_factors_entity(larger, e)[i] = (float)(sum / (double)old);
    }
}

wfre_status wfre_model_extend(const wfre_model *model, const wfre_graph *graph, wfre_model **result,
                              wfre_error *error)
{
    wfre_model *larger = NULL;
    wfre_status status;
    size_t d = model->settings.dim, old = model->entity_count, all = wfre_graph_entities(graph);
    const wfre_family *family = wfre_family_of(&model->settings);
    if (family != &wfre_family_wfre)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "entities cannot be added to a model of the family '%s'", family->name);
    TRY(wfre_model_allocate(&model->settings, (uint32_t)all, model->relation_count,
                            wfre_graph_fingerprint(graph), &larger, error));
    for (uint32_t t = 1; t < model->tensor_count; t++)
        memcpy(larger->tensors[t].data, model->tensors[t].data,
               model->tensors[t].count * sizeof(float));
    memcpy(larger->entities, model->entities, old * d * sizeof(float));
    for (size_t i = 0; i < d && all > old; i++) {
        double sum = 0;
        for (size_t e = 0; e < old; e++)
            sum += (double)fminf(fmaxf(model->entities[e * d + i], 0), 1);
        for (size_t e = old; e < all; e++)
            larger->entities[e * d + i] = (float)(sum / (double)old);
    }
    if (model->factors)
        extend_factors(model->factors, larger->factors, old, all);
    TRY(copy_calibration(model, larger, error));
    *result = larger;
    larger = NULL;
cleanup:
    wfre_model_free(larger);
    return status;
}
