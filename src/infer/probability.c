/* What the ranking of one question shows, and the probabilities that follow from it. */
#include "infer/probability.h"

#include <math.h>
#include <string.h>

#include "query/tree.h"

double wfre_truth_logit(double log_truth)
{
    double most = -1e-6; /* nothing that is predicted is surer */
    double value = log_truth < most ? log_truth : most;
    return value - log(-expm1(value));
}

double wfre_missing_gain(const wfre_model *model, double rate)
{
    const wfre_calibration *c = model->calibration;
    if (!(rate > 0 && rate < 1) || !c || !(c->share > 0 && c->share < 1))
        return 0;
    return log(rate / (1 - rate)) - log(c->share / (1 - c->share));
}

double wfre_missing_rate(const wfre_model *model, const wfre_way *way, wfre_split split,
                         double asked)
{
    if (asked > 0 || way->missing_rate > 0)
        return asked > 0 ? asked : way->missing_rate;
    bool known = model && model->calibration && (int)split >= 0 && (int)split < WFRE_SPLITS;
    return known ? model->calibration->lacking[split] : 0;
}

static const wfre_calibration_shape *find(const wfre_calibration_part *part, const char *name)
{
    const wfre_calibration_shape *found = part->shape_count > 0 ? &part->shapes[0] : NULL;
    for (size_t i = 1; i < part->shape_count; i++)
        if (strcmp(part->shapes[i].name, name) == 0)
            found = &part->shapes[i];
    return found;
}

wfre_calibration_view wfre_calibration_view_of(const wfre_judged *of, const wfre_hit *hits,
                                               size_t count)
{
    wfre_calibration_view view = {.of = *of};
    const wfre_model *model = of->model;
    const wfre_calibration *c = model->calibration;
    if (count > WFRE_CALIBRATION_DEPTH)
        count = WFRE_CALIBRATION_DEPTH;
    if (count > 0) {
        double best = of->reasoner->logit(model, hits[0].score);
        double last = of->reasoner->logit(model, hits[count - 1].score);
        view.terms[0] = 1;
        view.terms[1] = best;
        view.terms[4] = best - last;
        view.terms[5] = log1p((double)of->known);
    }
    if (c && of->tree->op == WFRE_OP_PROJECT)
        view.terms[6] = wfre_calibration_rate(c, of->tree->id, WFRE_SOURCE_KNOWN);
    else if (c)
        view.terms[6] = c->usual[WFRE_SOURCE_KNOWN];
    if (!c || of->reasoner != wfre_reasoner_of(&model->settings.way))
        return view;
    view.missing = find(&c->missing, of->shape);
    view.any = find(&c->any, of->shape);
    view.by_edges = c->edges && of->reasoner == &wfre_by_edges;
    if (!view.by_edges)
        view.more = wfre_missing_gain(model, of->way->missing_rate);
    return view;
}

void wfre_calibration_terms(const wfre_calibration_view *view, const wfre_hit *hits, size_t index,
                            double *terms)
{
    memcpy(terms, view->terms, sizeof view->terms);
    terms[2] = view->terms[1] - view->of.reasoner->logit(view->of.model, hits[index].score);
    terms[3] = log((double)index + 1);
}

static double logistic(double logit)
{
    return 1 / (1 + exp(-logit));
}

static double from_ranking(const wfre_calibration_view *view, const wfre_calibration_shape *shape,
                           const wfre_hit *hits, size_t index)
{
    double terms[WFRE_CALIBRATION_TERMS], sum = 0;
    wfre_calibration_terms(view, hits, index, terms);
    for (int t = 0; t < WFRE_CALIBRATION_TERMS; t++)
        sum += shape->factors[t] * terms[t];
    return sum;
}

wfre_chance wfre_calibration_chance(const wfre_calibration_view *view, const wfre_hit *hits,
                                    size_t index)
{
    wfre_chance chance = {(double)NAN, (double)NAN};
    if (view->any && view->by_edges) {
        double logit = wfre_truth_logit((double)hits[index].score);
        const double *f = view->any->factors;
        const wfre_bend *bend = &view->of.model->calibration->bends[WFRE_BEND_SHAPES];
        bool single = strcmp(view->any->name, "1p") == 0; /* is bent already */
        logit = f[0] + f[1] * logit;
        chance.any = logistic(single ? logit : wfre_bend_at(bend, logit));
    } else if (view->any) {
        chance.any = logistic(from_ranking(view, view->any, hits, index) + view->more);
    }
    if (view->missing)
        chance.missing = logistic(from_ranking(view, view->missing, hits, index));
    if (chance.missing < chance.any) /* more is known there */
        chance.missing = chance.any;
    return chance;
}
