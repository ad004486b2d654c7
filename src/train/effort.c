/* Counting the work of a run. */
#include "train/effort.h"

#include <math.h>

#include "graph/graph.h"

enum {
    VALIDATIONS = 10,
    TYPES = 14,
    MEASURED = 50, /* queries of each type, and triples, that a finished model is measured */
    MEASURED_TRIPLES = 500, /* on */
    FITTED = 70000          /* rankings that all fits together make if nothing limits them */
};

/* Pairs of a query and an entity, so many that small graphs have all there is to have. */
static const double LEAST_PAIRS = 1e8;

/* That the steps score. */
static double pairs_of(const wfre_graph *graph, const wfre_train_settings *settings)
{
    double candidates = settings->candidates == WFRE_CANDIDATES_ALL ? wfre_graph_entities(graph)
                                                                    : settings->negatives;
    return (double)settings->steps * settings->batch * candidates;
}

static uint32_t part_of(uint32_t count, double share)
{
    return (uint32_t)ceil(share * count);
}

wfre_effort wfre_effort_of(const wfre_graph *graph, const wfre_train_settings *settings,
                           const wfre_train_run *run)
{
    wfre_effort effort = {.validations = VALIDATIONS, .share = 1};
    double entities = fmax(wfre_graph_entities(graph), 1);
    if (settings->steps > 0) {
        double rankings = fmax(pairs_of(graph, settings), LEAST_PAIRS) / entities;
        double one = (TYPES + 2.0 * WFRE_VALIDATION_TRIPLES) * fmax(run->validate, 1);
        effort.validations = (uint32_t)fmin(fmax(rankings / one, 1), VALIDATIONS);
        effort.share = fmin(rankings / FITTED, 1);
    }
    uint32_t measured = run->calibrate < MEASURED ? run->calibrate : MEASURED;
    effort.calibrate = part_of(run->calibrate, effort.share);
    effort.measure = part_of(measured, effort.share);
    effort.measure_triples = part_of(MEASURED_TRIPLES, effort.share);
    return effort;
}
