#include "infer/odds.h"

#include <math.h>
#include <string.h>

#include "infer/probability.h"

enum { TILE = 16 };                   /* numbers that the compiler makes vectors of */
static const float HIGHEST_ODDS = 16; /* log; where they are fitted badly */

static inline float odds_at(const wfre_odds_line *line, float logit)
{
    float z = line->slope * logit + line->shift, sum = line->start + line->first * z;
    for (int i = 0; i < WFRE_BEND_KNOTS; i++)
        sum += line->gains[i] * wfre_larger(z - line->knots[i], 0);
    return wfre_smaller(wfre_larger(sum, WFRE_NOTHING),
                        HIGHEST_ODDS); /* what is no number, is nothing */
}

/* Logits become logarithms of odds, in `odds` too. Nearly all are below the first knot, where the
 * line is straight. */
static void make_odds(size_t count, wfre_odds_line line, float *row, float *odds)
{
    float slope = line.first * line.slope, shift = line.start + line.first * line.shift;
    float bent = (line.knots[0] - line.shift) / line.slope; /* logits above it are */
    size_t y = 0;
    for (; y + TILE <= count; y += TILE) {
        int above = 0;
        for (size_t k = y; k < y + TILE; k++) { /* as vectors */
            above |= row[k] > bent;
            odds[k] = wfre_smaller(wfre_larger(slope * row[k] + shift, WFRE_NOTHING), HIGHEST_ODDS);
        }
        for (size_t k = y; above && k < y + TILE; k++)
            odds[k] = odds_at(&line, row[k]);
    }
    for (; y < count; y++)
        odds[y] = odds_at(&line, row[y]);
    memcpy(row, odds, count * sizeof *row);
}

/* 1 + x */
static void add_one(size_t count, float *x)
{
    size_t y = 0;
    for (; y + TILE <= count; y += TILE)
        for (size_t k = y; k < y + TILE; k++)
            x[k] += 1;
    for (; y < count; y++)
        x[y] += 1;
}

void wfre_odds_row(const wfre_vector_table *vectors, size_t count, wfre_odds_line line, float *row,
                   float *other)
{
    make_odds(count, line, row, other);
    vectors->exp(count, other, other);
    add_one(count, other);
    vectors->log(count, other, other);
    vectors->axpy(count, -1, other, row);
}

wfre_odds_line wfre_odds_of(const wfre_model *model, double missing_rate, wfre_relation relation,
                            size_t degree, double room, double sum)
{
    wfre_odds_line line = {.slope = 1, .first = 1};
    const wfre_calibration *c = model->calibration;
    if (!c || !c->edges) {
        line.shift = (float)(room - sum);
        return line;
    }
    wfre_source_kind kind = degree > 0 ? WFRE_SOURCE_KNOWN : WFRE_SOURCE_FRESH;
    const double *f = c->odds[kind];
    double start = f[0] + f[2] * room + f[4] * wfre_calibration_rate(c, relation, kind);
    start += f[3] * log(degree > 0 ? (double)degree : 1);
    line.slope = (float)f[1];
    line.shift = (float)(start - f[1] * sum);
    const wfre_bend *bend = &c->bends[kind];
    line.start = (float)(bend->start + wfre_missing_gain(model, missing_rate));
    line.first = (float)bend->slopes[0];
    for (int i = 0; i < WFRE_BEND_KNOTS; i++) {
        line.knots[i] = (float)bend->knots[i];
        line.gains[i] = (float)(bend->slopes[i + 1] - bend->slopes[i]);
    }
    return line;
}
