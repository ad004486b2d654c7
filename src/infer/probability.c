/* What the ranking of one question shows, and the probability that follows from it. */
#include "infer/probability.h"

#include <math.h>
#include <string.h>

wfre_calibration_view wfre_calibration_view_of(const wfre_model *model,
                                               const wfre_reasoner *reasoner, const char *shape,
                                               const wfre_hit *hits, size_t count, size_t known)
{
    wfre_calibration_view view = {.model = model, .reasoner = reasoner};
    const wfre_calibration *calibration = model->calibration;
    if (count > WFRE_CALIBRATION_DEPTH)
        count = WFRE_CALIBRATION_DEPTH;
    if (count > 0) {
        double best = reasoner->logit(model, hits[0].score);
        double last = reasoner->logit(model, hits[count - 1].score);
        view.terms[0] = 1;
        view.terms[1] = best;
        view.terms[4] = best - last;
        view.terms[5] = log1p((double)known);
    }
    if (reasoner != wfre_reasoner_of(&model->settings.way))
        return view;
    for (size_t i = 0; calibration && i < calibration->shape_count; i++)
        if (i == 0 || strcmp(calibration->shapes[i].name, shape) == 0)
            view.shape = &calibration->shapes[i];
    return view;
}

void wfre_calibration_terms(const wfre_calibration_view *view, const wfre_hit *hits, size_t index,
                            double *terms)
{
    memcpy(terms, view->terms, sizeof view->terms);
    terms[2] = view->terms[1] - view->reasoner->logit(view->model, hits[index].score);
    terms[3] = log((double)index + 1);
}

double wfre_calibration_probability(const wfre_calibration_view *view, const wfre_hit *hits,
                                    size_t index)
{
    if (!view->shape)
        return NAN;
    double terms[WFRE_CALIBRATION_TERMS], sum = 0;
    wfre_calibration_terms(view, hits, index, terms);
    for (int t = 0; t < WFRE_CALIBRATION_TERMS; t++)
        sum += view->shape->factors[t] * terms[t];
    return 1 / (1 + exp(-sum));
}
