/* From scores to probabilities.
 *
 * Two probabilities of a predicted answer are fitted on facts that were held out for validation:
 *
 *   any       that it is right, whoever asks: on questions drawn as people ask them, of which most
 *             lack nothing
 *   missing   the same for questions that lack an answer
 *
 * Answers that are found edge by edge. An edge (x, r, y) that the graph lacks has the odds
 *
 *   z = f0 + f1 log softmax + f2 log room(r, x) + f3 log n + f4 rate(r),   log odds = bend(z)
 *
 * where x has n edges of r, room is how many it seems to lack (graph/missing.h), and rate(r) is the
 * logarithm of how many edges of r were held out for each entity that has any. Entities without an
 * edge of r have factors, rates and a bend of their own. A bend is a rising line with knees: what a
 * straight one promises too much or too little at some height is put right there, most of all at
 * the upper end, where the likeliest facts are often known already. This is the truth value of an
 * edge (infer/way_edges.h), so that those of the best derivation multiply to the score of an
 * answer, p. For a question of one edge that is the probability. For others it is, by shape,
 *
 *   logistic(bend(f0 + f1 logit p))
 *
 * since other derivations count, too, and edges depend on each other: as likely as answers with
 * such a best derivation turned out to be, and nothing else enters.
 *
 * In all other cases a probability is a logistic function of what the ranking of a question shows,
 *
 *   1  best  best - score  log rank  best - score at WFRE_CALIBRATION_DEPTH  log(1 + known)  rate
 *
 * with the rate of the relation that is asked last. The factors of best - score and of log rank are
 * never positive, so that within one question a higher score never has a lower probability.
 *
 * Each shape is fitted by itself, and all together for shapes that had too few.
 *
 * `any` is the chance of being one of the valid facts when the others are known. Who asks of the
 * train graph alone lacks more, who knows all lacks something else: the odds are scaled by what is
 * lacking (infer/probability.h). */
#ifndef WFRE_SRC_MODEL_CALIBRATION_H
#define WFRE_SRC_MODEL_CALIBRATION_H

#include "base/text.h"
#include "model/model.h"

enum {
    WFRE_CALIBRATION_DEPTH = 20, /* predictions a question that the fit looks at */
    WFRE_CALIBRATION_TERMS = 7,
    WFRE_EDGE_TERMS = 5,
    WFRE_BEND_KNOTS = 5
};

/* By wfre_source_kind of single edges, then one of all other shapes together. */
enum { WFRE_BEND_SHAPES = 2, WFRE_BENDS };

/* z to start + slopes[0] z, and above each knot with the next slope. */
typedef struct wfre_bend {
    double start;
    double knots[WFRE_BEND_KNOTS];      /* rising */
    double slopes[WFRE_BEND_KNOTS + 1]; /* positive */
} wfre_bend;

typedef struct wfre_calibration_shape {
    char *name; /* as wfre_type_name says it; "*" for all together, the first */
    double factors[WFRE_CALIBRATION_TERMS];
} wfre_calibration_shape;

/* One of the two probabilities. */
typedef struct wfre_calibration_part {
    wfre_calibration_shape *shapes; /* none: it was not fitted */
    size_t shape_count, shape_capacity;
    wfre_reliability reliability;
} wfre_calibration_part;

/* Whether an entity has edges of a relation already. */
typedef enum wfre_source_kind { WFRE_SOURCE_KNOWN, WFRE_SOURCE_FRESH } wfre_source_kind;

typedef struct wfre_calibration {
    wfre_calibration_part any, missing;
    bool edges;                      /* odds of edges are fitted, and so `any` to them */
    double odds[2][WFRE_EDGE_TERMS]; /* by wfre_source_kind */
    wfre_bend bends[WFRE_BENDS];     /* straight unless fitted */
    double share;                    /* of train and valid facts, those held out for validation */
    double lacking[WFRE_SPLITS];     /* share of all facts that a split's graph lacks (infer/) */
    double usual[2];                 /* rates of a relation about which nothing is known */
    float *rates;                    /* [relations][2], or NULL */
    uint32_t relations;              /* directed */
} wfre_calibration;

WFRE_NODISCARD wfre_status wfre_calibration_create(wfre_calibration **calibration,
                                                   wfre_error *error);
void wfre_calibration_free(wfre_calibration *calibration);
void wfre_calibration_part_clear(wfre_calibration_part *part);

static inline double wfre_calibration_rate(const wfre_calibration *calibration,
                                           wfre_relation relation, wfre_source_kind kind)
{
    return relation < calibration->relations ? (double)calibration->rates[2 * relation + kind]
                                             : calibration->usual[kind];
}

double wfre_bend_at(const wfre_bend *bend, double z);

/* A calibration as text for a model's metadata; and back. */
void wfre_calibration_print(const wfre_calibration *calibration, wfre_text *text);
WFRE_NODISCARD wfre_status wfre_calibration_parse(const char *text, wfre_calibration **calibration,
                                                  wfre_error *error);

#endif
