/* Calibrations, and their text form.
 *
 *   version 4
 *   share S, usual A B, then what each split lacks   (without these before version 4)
 *   edges 5 factors, 5 factors          if odds of edges are fitted
 *   bend WHICH start 5 knots 6 slopes    if they are bent
 *   rates N and 2 N numbers             if there are any
 *   any, then its reliability           if it is fitted; then a line for each shape
 *   missing, the same
 *
 * Numbers are separated by blanks, lines begin with a word. Files of before have no version line,
 * and only what `missing` has: the reliability first, with fewer numbers, then the shapes with six
 * factors. */
#include "model/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    OLD_TERMS = 6,
    VERSION = 4,
    LEAST_VERSION = 2, /* odds were not bent */
    MOST_RELATIONS = 1 << 24
};

/* Of a factor, a knot or a rate: products of a few of them with logits are still floats. */
static const double LARGEST = 1e9;

wfre_status wfre_calibration_create(wfre_calibration **calibration, wfre_error *error)
{
    *calibration = wfre_alloc_zero(1, sizeof **calibration);
    if (!*calibration)
        return wfre_fail_memory(error, "calibrating");
    for (int b = 0; b < WFRE_BENDS; b++)
        for (int i = 0; i <= WFRE_BEND_KNOTS; i++)
            (*calibration)->bends[b].slopes[i] = 1;
    return WFRE_OK;
}

double wfre_bend_at(const wfre_bend *bend, double z)
{
    double sum = bend->start + bend->slopes[0] * z;
    for (int i = 0; i < WFRE_BEND_KNOTS; i++)
        sum += (bend->slopes[i + 1] - bend->slopes[i]) * fmax(z - bend->knots[i], 0);
    return sum;
}

void wfre_calibration_part_clear(wfre_calibration_part *part)
{
    for (size_t i = 0; i < part->shape_count; i++)
        wfre_free(part->shapes[i].name);
    wfre_free(part->shapes);
    *part = (wfre_calibration_part){0};
}

void wfre_calibration_free(wfre_calibration *calibration)
{
    if (!calibration)
        return;
    wfre_calibration_part_clear(&calibration->any);
    wfre_calibration_part_clear(&calibration->missing);
    wfre_free(calibration->rates);
    wfre_free(calibration);
}

const wfre_reliability *wfre_model_reliability(const wfre_model *model)
{
    const wfre_calibration *c = model->calibration;
    return c && c->any.shape_count > 0 ? &c->any.reliability : NULL;
}

const wfre_reliability *wfre_model_missing_reliability(const wfre_model *model)
{
    const wfre_calibration *c = model->calibration;
    return c && c->missing.shape_count > 0 ? &c->missing.reliability : NULL;
}

/* ---- as text ------------------------------------------------------------------------------ */

static void print_numbers(wfre_text *text, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wfre_text_format(text, " %.17g", numbers[i]);
}

static void print_part(const char *name, const wfre_calibration_part *part, wfre_text *text)
{
    const wfre_reliability *r = &part->reliability;
    if (part->shape_count == 0)
        return;
    wfre_text_format(text, "%s %" PRIu64 " %" PRIu64 " %.17g %.17g %.17g %.17g %" PRIu64, name,
                     r->queries, r->fitted, r->error, r->low, r->high, r->expected, r->found);
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        wfre_text_format(text, " %" PRIu64 " %.17g %.17g", r->bins[b].count, r->bins[b].predicted,
                         r->bins[b].observed);
    wfre_text_char(text, '\n');
    for (size_t i = 0; i < part->shape_count; i++) {
        wfre_text_format(text, "shape %s", part->shapes[i].name);
        print_numbers(text, part->shapes[i].factors, WFRE_CALIBRATION_TERMS);
        wfre_text_char(text, '\n');
    }
}

static void print_bend(int which, const wfre_bend *bend, wfre_text *text)
{
    wfre_text_format(text, "bend %d %.17g", which, bend->start);
    print_numbers(text, bend->knots, WFRE_BEND_KNOTS);
    print_numbers(text, bend->slopes, WFRE_BEND_KNOTS + 1);
    wfre_text_char(text, '\n');
}

void wfre_calibration_print(const wfre_calibration *c, wfre_text *text)
{
    wfre_text_format(text, "version %d\nshare %.17g %.17g %.17g", VERSION, c->share, c->usual[0],
                     c->usual[1]);
    print_numbers(text, c->lacking, WFRE_SPLITS);
    wfre_text_char(text, '\n');
    if (c->edges) {
        wfre_text_add(text, "edges");
        print_numbers(text, c->odds[0], WFRE_EDGE_TERMS);
        print_numbers(text, c->odds[1], WFRE_EDGE_TERMS);
        wfre_text_char(text, '\n');
        for (int b = 0; b < WFRE_BENDS; b++)
            print_bend(b, &c->bends[b], text);
    }
    if (c->relations > 0) {
        wfre_text_format(text, "rates %" PRIu32, c->relations);
        for (size_t i = 0; i < 2 * (size_t)c->relations; i++)
            wfre_text_format(text, " %.9g", (double)c->rates[i]);
        wfre_text_char(text, '\n');
    }
    print_part("any", &c->any, text);
    print_part("missing", &c->missing, text);
}

static wfre_status damaged(wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "the calibration is damaged");
}

/* The next number of the line; false if there is none, or a larger one than any fit finds. */
static bool read_up_to(const char **text, double largest, double *number)
{
    char *end;
    if (**text != ' ')
        return false;
    *number = wfre_parse_real(*text + 1, &end);
    bool found = end > *text + 1 && fabs(*number) <= largest; /* which NaN is not */
    *text = end;
    return found;
}

static bool read_number(const char **text, double *number)
{
    return read_up_to(text, LARGEST, number);
}

static bool read_numbers(const char **text, double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!read_number(text, &numbers[i]))
            return false;
    return true;
}

static bool read_count(const char **text, uint64_t *count)
{
    double number = 0;
    bool good = read_up_to(text, 0x1p53, &number) && number >= 0 && number == floor(number);
    *count = good ? (uint64_t)number : 0;
    return good;
}

static bool read_bins(const char **text, wfre_reliability *r)
{
    bool good = true;
    for (int b = 0; good && b < WFRE_RELIABILITY_BINS; b++)
        good = read_count(text, &r->bins[b].count) && read_number(text, &r->bins[b].predicted) &&
               read_number(text, &r->bins[b].observed);
    return good;
}

static bool read_reliability(const char **text, wfre_reliability *r)
{
    return read_count(text, &r->queries) && read_count(text, &r->fitted) &&
           read_number(text, &r->error) && read_number(text, &r->low) &&
           read_number(text, &r->high) && read_number(text, &r->expected) &&
           read_count(text, &r->found) && read_bins(text, r);
}

/* A name and its factors, up to the end of the line. */
static wfre_status read_shape(const char **text, wfre_calibration_part *part, size_t terms,
                              wfre_error *error)
{
    size_t length = strcspn(*text, " \n");
    if (!WFRE_RESERVE(&part->shapes, &part->shape_capacity, part->shape_count + 1))
        return wfre_fail_memory(error, "reading a calibration");
    wfre_calibration_shape *shape = &part->shapes[part->shape_count];
    *shape = (wfre_calibration_shape){.name = wfre_copy_text(*text, length)};
    if (!shape->name)
        return wfre_fail_memory(error, "reading a calibration");
    part->shape_count++;
    *text += length;
    if (!read_numbers(text, shape->factors, terms) || **text != '\n')
        return damaged(error);
    ++*text;
    return WFRE_OK;
}

/* As it was before there were two parts. */
static wfre_status read_old(const char *text, wfre_calibration *c, wfre_error *error)
{
    wfre_reliability *r = &c->missing.reliability;
    char *end;
    r->queries = strtoull(text, &end, 10);
    bool good = end > text;
    text = end;
    if (!good || !read_number(&text, &r->error) || !read_bins(&text, r) || *text++ != '\n' ||
        !*text)
        return damaged(error);
    while (*text)
        CHECK(read_shape(&text, &c->missing, OLD_TERMS, error));
    return WFRE_OK;
}

static wfre_status read_rates(const char **text, wfre_calibration *c, wfre_error *error)
{
    uint64_t count;
    if (c->rates || !read_count(text, &count) || count == 0 || count > MOST_RELATIONS ||
        2 * count > strlen(*text))
        return damaged(error);
    c->rates = wfre_alloc(2 * (size_t)count, sizeof *c->rates);
    if (!c->rates)
        return wfre_fail_memory(error, "reading a calibration");
    c->relations = (uint32_t)count;
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        double number = 0;
        if (!read_number(text, &number))
            return damaged(error);
        c->rates[i] = (float)number;
    }
    return WFRE_OK;
}

/* What is being read. */
typedef struct reading {
    wfre_calibration *calibration;
    wfre_calibration_part *part; /* that shapes belong to now */
    const char *text;
    unsigned long version;
} reading;

/* A bend must rise, or likelier edges would get less. */
static bool read_bend(const char **text, wfre_bend *bends)
{
    double which;
    if (!read_number(text, &which) || (which != 0 && which != 1 && which != 2))
        return false;
    wfre_bend *bend = &bends[(int)which];
    bool good = read_number(text, &bend->start) &&
                read_numbers(text, bend->knots, WFRE_BEND_KNOTS) &&
                read_numbers(text, bend->slopes, WFRE_BEND_KNOTS + 1);
    for (int i = 0; good && i < WFRE_BEND_KNOTS; i++)
        good = i == 0 || bend->knots[i] >= bend->knots[i - 1];
    for (int i = 0; good && i <= WFRE_BEND_KNOTS; i++)
        good = bend->slopes[i] > 0;
    return good;
}

/* One line, from behind its first word on. */
static wfre_status read_line(reading *r, const char *word, size_t length, wfre_error *error)
{
    wfre_calibration *c = r->calibration;
    double share[3];
    bool good = false;
    if (length == 5 && memcmp(word, "shape", 5) == 0 && r->part && *r->text == ' ') {
        r->text++;
        return read_shape(&r->text, r->part, WFRE_CALIBRATION_TERMS, error);
    }
    if (length == 5 && memcmp(word, "rates", 5) == 0) {
        CHECK(read_rates(&r->text, c, error));
        good = true;
    } else if (length == 5 && memcmp(word, "share", 5) == 0) {
        good = read_numbers(&r->text, share, 3);
        c->share = good ? share[0] : 0;
        c->usual[0] = good ? share[1] : 0;
        c->usual[1] = good ? share[2] : 0;
        bool whole = r->version >= VERSION; /* else what splits lack is not said */
        for (int s = 0; s < WFRE_SPLITS && good && (whole || *r->text == ' '); s++)
            good = read_number(&r->text, &c->lacking[s]) && c->lacking[s] >= 0 && c->lacking[s] < 1;
    } else if (length == 5 && memcmp(word, "edges", 5) == 0) {
        c->edges = true;
        good = read_numbers(&r->text, c->odds[0], WFRE_EDGE_TERMS) &&
               read_numbers(&r->text, c->odds[1], WFRE_EDGE_TERMS);
    } else if (length == 4 && memcmp(word, "bend", 4) == 0) {
        good = read_bend(&r->text, c->bends);
    } else if (length == 3 && memcmp(word, "any", 3) == 0) {
        r->part = &c->any;
        good = read_reliability(&r->text, &c->any.reliability);
    } else if (length == 7 && memcmp(word, "missing", 7) == 0) {
        r->part = &c->missing;
        good = read_reliability(&r->text, &c->missing.reliability);
    }
    if (!good || *r->text != '\n')
        return damaged(error);
    r->text++;
    return WFRE_OK;
}

static wfre_status read_lines(const char *text, unsigned long version, wfre_calibration *c,
                              wfre_error *error)
{
    reading r = {.calibration = c, .text = text, .version = version};
    while (*r.text) {
        const char *word = r.text;
        size_t length = strcspn(word, " \n");
        r.text += length;
        CHECK(read_line(&r, word, length, error));
    }
    bool odds = !c->edges || (c->odds[0][1] > 0 && c->odds[1][1] > 0);
    return odds && c->any.shape_count + c->missing.shape_count > 0 ? WFRE_OK : damaged(error);
}

wfre_status wfre_calibration_parse(const char *text, wfre_calibration **result, wfre_error *error)
{
    static const char FIRST[] = "version ";
    wfre_status status = WFRE_OK;
    wfre_calibration *calibration = NULL;
    TRY(wfre_calibration_create(&calibration, error));
    if (strncmp(text, FIRST, sizeof FIRST - 1) != 0) {
        TRY(read_old(text, calibration, error));
    } else {
        char *end;
        unsigned long version = strtoul(text + sizeof FIRST - 1, &end, 10);
        if (*end != '\n' || version >= 1000)
            TRY(damaged(error));
        if (version < LEAST_VERSION || version > VERSION)
            TRY(wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                          "the calibration has version %lu, and this program reads %d", version,
                          VERSION));
        TRY(read_lines(end + 1, version, calibration, error));
    }
    *result = calibration;
    calibration = NULL;
cleanup:
    wfre_calibration_free(calibration);
    return status;
}
