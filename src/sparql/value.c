/* The values that expressions compute with: reading, writing, arithmetic and comparison (section 17
 * of the recommendation). */
#include "sparql/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool wfre_sq_same_name(wfre_name a, wfre_name b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

bool wfre_sq_name_is(wfre_name name, const char *text)
{
    return wfre_sq_same_name(name, wfre_sq_name(text, strlen(text)));
}

/* ---- types -------------------------------------------------------------------------------- */

typedef struct type_name {
    const char *name;
    wfre_sq_type type;
    wfre_sq_moment_kind kind;
} type_name;

static const type_name TYPES[] = {
    {"string", WFRE_SQ_T_STRING, 0},
    {"boolean", WFRE_SQ_T_BOOLEAN, 0},
    {"integer", WFRE_SQ_T_INTEGER, 0},
    {"decimal", WFRE_SQ_T_DECIMAL, 0},
    {"float", WFRE_SQ_T_FLOAT, 0},
    {"double", WFRE_SQ_T_DOUBLE, 0},
    {"dateTime", WFRE_SQ_T_MOMENT, WFRE_SQ_DATE_TIME},
    {"date", WFRE_SQ_T_MOMENT, WFRE_SQ_DATE},
    {"time", WFRE_SQ_T_MOMENT, WFRE_SQ_TIME},
    {"gYear", WFRE_SQ_T_MOMENT, WFRE_SQ_G_YEAR},
    {"gYearMonth", WFRE_SQ_T_MOMENT, WFRE_SQ_G_YEAR_MONTH},
    {"duration", WFRE_SQ_T_DURATION, 0},
    {"dayTimeDuration", WFRE_SQ_T_DURATION, 0},
    {"yearMonthDuration", WFRE_SQ_T_DURATION, 0},
    {"nonPositiveInteger", WFRE_SQ_T_INTEGER, 0},
    {"negativeInteger", WFRE_SQ_T_INTEGER, 0},
    {"long", WFRE_SQ_T_INTEGER, 0},
    {"int", WFRE_SQ_T_INTEGER, 0},
    {"short", WFRE_SQ_T_INTEGER, 0},
    {"byte", WFRE_SQ_T_INTEGER, 0},
    {"nonNegativeInteger", WFRE_SQ_T_INTEGER, 0},
    {"unsignedLong", WFRE_SQ_T_INTEGER, 0},
    {"unsignedInt", WFRE_SQ_T_INTEGER, 0},
    {"unsignedShort", WFRE_SQ_T_INTEGER, 0},
    {"unsignedByte", WFRE_SQ_T_INTEGER, 0},
    {"positiveInteger", WFRE_SQ_T_INTEGER, 0},
    {"dateTimeStamp", WFRE_SQ_T_MOMENT, WFRE_SQ_DATE_TIME},
};

wfre_sq_type wfre_sq_type_of(wfre_name datatype, wfre_sq_moment_kind *kind)
{
    static const size_t PREFIX = sizeof WFRE_SQ_XSD - 1;
    *kind = WFRE_SQ_DATE_TIME;
    if (datatype.length == 0)
        return WFRE_SQ_T_STRING;
    if (datatype.length <= PREFIX || memcmp(datatype.bytes, WFRE_SQ_XSD, PREFIX) != 0)
        return WFRE_SQ_T_OTHER;
    wfre_name local = {datatype.bytes + PREFIX, datatype.length - PREFIX};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (wfre_sq_name_is(local, TYPES[i].name)) {
            *kind = TYPES[i].kind;
            return TYPES[i].type;
        }
    return WFRE_SQ_T_OTHER;
}

/* XML blanks at both ends do not count in numbers, dates and booleans. */
static wfre_name strip(wfre_name text)
{
    while (text.length && strchr(" \t\n\r", text.bytes[0]) && text.bytes[0]) {
        text.bytes++;
        text.length--;
    }
    while (text.length && strchr(" \t\n\r", text.bytes[text.length - 1]) &&
           text.bytes[text.length - 1])
        text.length--;
    return text;
}

static bool read_truth(wfre_name text, bool *truth)
{
    *truth = wfre_sq_name_is(text, "true") || wfre_sq_name_is(text, "1");
    return *truth || wfre_sq_name_is(text, "false") || wfre_sq_name_is(text, "0");
}

static bool read_value(wfre_name text, wfre_sq_moment_kind kind, wfre_sq_value *value)
{
    text = strip(text);
    switch (value->type) {
    case WFRE_SQ_T_BOOLEAN:
        return read_truth(text, &value->truth);
    case WFRE_SQ_T_INTEGER:
        return (text.length == 0 || !memchr(text.bytes, '.', text.length)) &&
               wfre_sq_decimal_parse(text.bytes, text.length, &value->decimal);
    case WFRE_SQ_T_DECIMAL:
        return wfre_sq_decimal_parse(text.bytes, text.length, &value->decimal);
    case WFRE_SQ_T_FLOAT:
    case WFRE_SQ_T_DOUBLE:
        if (!wfre_sq_read_double(text, &value->real))
            return false;
        if (value->type == WFRE_SQ_T_FLOAT)
            value->real = (float)value->real;
        return true;
    case WFRE_SQ_T_MOMENT:
        return wfre_sq_moment_parse(kind, text, &value->moment);
    case WFRE_SQ_T_DURATION:
        return wfre_sq_duration_parse(text, &value->duration);
    default:
        return true;
    }
}

void wfre_sq_value_read_as(wfre_sq_type type, wfre_sq_moment_kind kind, wfre_name text,
                           wfre_name datatype, wfre_name language, wfre_sq_value *value)
{
    if (!text.bytes)
        text.bytes = "";
    value->text = text;
    value->datatype = datatype;
    value->language = language;
    value->type = type;
    if (type == WFRE_SQ_T_STRING || type == WFRE_SQ_T_TAGGED)
        value->datatype = wfre_sq_name(NULL, 0);
    if (!read_value(text, kind, value))
        value->type = WFRE_SQ_T_OTHER;
}

void wfre_sq_value_read(wfre_name text, wfre_name datatype, wfre_name language,
                        wfre_sq_value *value)
{
    wfre_sq_moment_kind kind = WFRE_SQ_DATE_TIME;
    wfre_sq_type type = language.length ? WFRE_SQ_T_TAGGED : wfre_sq_type_of(datatype, &kind);
    wfre_sq_value_read_as(type, kind, text, datatype, language, value);
}

wfre_name wfre_sq_value_datatype(const wfre_sq_value *value)
{
    static const char *const NAMES[] = {
        [WFRE_SQ_T_STRING] = WFRE_SQ_XSD "string",
        [WFRE_SQ_T_TAGGED] = WFRE_SQ_LANG_STRING,
        [WFRE_SQ_T_BOOLEAN] = WFRE_SQ_XSD "boolean",
        [WFRE_SQ_T_INTEGER] = WFRE_SQ_XSD "integer",
        [WFRE_SQ_T_DECIMAL] = WFRE_SQ_XSD "decimal",
        [WFRE_SQ_T_FLOAT] = WFRE_SQ_XSD "float",
        [WFRE_SQ_T_DOUBLE] = WFRE_SQ_XSD "double",
        [WFRE_SQ_T_DURATION] = WFRE_SQ_XSD "dayTimeDuration",
        [WFRE_SQ_T_OTHER] = WFRE_SQ_XSD "string",
    };
    static const char *const MOMENTS[] = {WFRE_SQ_XSD "dateTime", WFRE_SQ_XSD "date",
                                          WFRE_SQ_XSD "time", WFRE_SQ_XSD "gYear",
                                          WFRE_SQ_XSD "gYearMonth"};
    if (value->datatype.length)
        return value->datatype;
    const char *name =
        value->type == WFRE_SQ_T_MOMENT ? MOMENTS[value->moment.kind] : NAMES[value->type];
    return wfre_sq_name(name, strlen(name));
}

wfre_sq_value wfre_sq_truth(bool truth)
{
    wfre_sq_value v = {.type = WFRE_SQ_T_BOOLEAN};
    v.truth = truth;
    return v;
}

wfre_sq_value wfre_sq_whole(int64_t number)
{
    wfre_sq_value v = {.type = WFRE_SQ_T_INTEGER};
    wfre_sq_decimal_whole(number, &v.decimal);
    return v;
}

wfre_sq_value wfre_sq_string(wfre_name text)
{
    return (wfre_sq_value){.type = WFRE_SQ_T_STRING, .text = text};
}

double wfre_sq_value_real(const wfre_sq_value *value)
{
    return value->type == WFRE_SQ_T_INTEGER || value->type == WFRE_SQ_T_DECIMAL
               ? wfre_sq_decimal_double(&value->decimal)
               : value->real;
}

/* ---- numbers as text ---------------------------------------------------------------------- */

bool wfre_sq_read_double(wfre_name text, double *value)
{
    char buffer[400];
    size_t i = 0, digits = 0;
    bool negative = i < text.length && text.bytes[i] == '-';
    if (wfre_sq_name_is(text, "INF") || wfre_sq_name_is(text, "+INF") ||
        wfre_sq_name_is(text, "-INF")) {
        *value = negative ? -INFINITY : INFINITY;
        return true;
    }
    if (wfre_sq_name_is(text, "NaN")) {
        *value = NAN;
        return true;
    }
    if (text.length >= sizeof buffer)
        return false;
    i += i < text.length && (text.bytes[i] == '-' || text.bytes[i] == '+');
    bool point = false, exponent = false;
    for (; i < text.length; i++) {
        char c = text.bytes[i];
        if (c >= '0' && c <= '9') {
            digits++;
        } else if (c == '.' && !point && !exponent) {
            point = true;
        } else if ((c == 'e' || c == 'E') && !exponent && digits) {
            exponent = true;
            digits = 0;
            i += i + 1 < text.length && (text.bytes[i + 1] == '-' || text.bytes[i + 1] == '+');
        } else {
            return false;
        }
    }
    if (digits == 0)
        return false;
    memcpy(buffer, text.bytes, text.length);
    buffer[text.length] = '\0';
    *value = wfre_parse_real(buffer, NULL);
    return true;
}

/* The digits and the exponent of the shortest text that reads back as the number. */
static void shortest(double value, bool single, char *digits, int *exponent)
{
    char text[40];
    for (int precision = single ? 5 : 14; precision <= (single ? 8 : 16); precision++) {
        (void)wfre_format(text, sizeof text, "%.*e", precision, value);
        double back = wfre_parse_real(text, NULL);
        if (single ? (float)back == (float)value : back == value)
            break;
    }
    size_t used = 0;
    char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[used++] = *p;
    *exponent = *p == 'e' ? (int)strtol(p + 1, NULL, 10) : 0;
    while (used > 1 && digits[used - 1] == '0')
        used--;
    digits[used] = '\0';
}

size_t wfre_sq_print_double(double value, bool single, char text[WFRE_SQ_VALUE_TEXT])
{
    char digits[40];
    int exponent;
    size_t used = 0;
    if (isnan(value))
        return (size_t)snprintf(text, 8, "NaN");
    if (isinf(value))
        return (size_t)snprintf(text, 8, "%sINF", value < 0 ? "-" : "");
    if (value == 0)
        return (size_t)snprintf(text, 8, "%s0.0E0", signbit(value) ? "-" : "");
    shortest(fabs(value), single, digits, &exponent);
    if (value < 0)
        text[used++] = '-';
    int count = (int)strlen(digits);
    used += (size_t)snprintf(text + used, WFRE_SQ_VALUE_TEXT - used, "%c.%sE%d", digits[0],
                             count > 1 ? digits + 1 : "0", exponent);
    return used;
}

size_t wfre_sq_value_print(const wfre_sq_value *value, char text[WFRE_SQ_VALUE_TEXT])
{
    switch (value->type) {
    case WFRE_SQ_T_BOOLEAN:
        return (size_t)snprintf(text, 8, "%s", value->truth ? "true" : "false");
    case WFRE_SQ_T_INTEGER:
    case WFRE_SQ_T_DECIMAL:
        return wfre_sq_decimal_print(&value->decimal, text);
    case WFRE_SQ_T_FLOAT:
    case WFRE_SQ_T_DOUBLE:
        return wfre_sq_print_double(value->real, value->type == WFRE_SQ_T_FLOAT, text);
    case WFRE_SQ_T_MOMENT:
        return wfre_sq_moment_print(&value->moment, text);
    case WFRE_SQ_T_DURATION:
        return wfre_sq_duration_print(&value->duration, text);
    default:
        text[0] = '\0';
        return 0;
    }
}

/* ---- operators ---------------------------------------------------------------------------- */

static bool is_true_or_number(wfre_sq_type type)
{
    return type == WFRE_SQ_T_BOOLEAN || type == WFRE_SQ_T_INTEGER || type == WFRE_SQ_T_DECIMAL ||
           type == WFRE_SQ_T_FLOAT || type == WFRE_SQ_T_DOUBLE;
}

int wfre_sq_value_truth(const wfre_sq_value *value)
{
    wfre_sq_moment_kind kind;
    switch (value->type) {
    case WFRE_SQ_T_BOOLEAN:
        return value->truth;
    case WFRE_SQ_T_STRING:
    case WFRE_SQ_T_TAGGED: /* a plain literal, too */
        return value->text.length > 0;
    case WFRE_SQ_T_INTEGER:
    case WFRE_SQ_T_DECIMAL:
        return value->decimal.count > 0;
    case WFRE_SQ_T_FLOAT:
    case WFRE_SQ_T_DOUBLE:
        return !isnan(value->real) && value->real != 0;
    case WFRE_SQ_T_OTHER: /* an invalid text of a boolean or number is false */
        return is_true_or_number(wfre_sq_type_of(value->datatype, &kind)) ? 0 : -1;
    default:
        return -1;
    }
}

static bool real_arithmetic(char op, double x, double y, wfre_sq_value *result)
{
    double z = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    result->real = result->type == WFRE_SQ_T_FLOAT ? (float)z : z;
    return true;
}

/* A moment moved by a duration, or the duration between two moments. */
static bool moment_arithmetic(char op, const wfre_sq_value *a, const wfre_sq_value *b,
                              wfre_sq_value *result)
{
    if (a->type == WFRE_SQ_T_MOMENT && b->type == WFRE_SQ_T_MOMENT && op == '-' &&
        a->moment.kind == b->moment.kind) {
        int64_t seconds = wfre_sq_moment_seconds(&a->moment) - wfre_sq_moment_seconds(&b->moment);
        int64_t nano = (int64_t)a->moment.nano - b->moment.nano;
        if (seconds > 0 && nano < 0) {
            seconds--;
            nano += 1000000000;
        } else if (seconds < 0 && nano > 0) {
            seconds++;
            nano -= 1000000000;
        }
        result->type = WFRE_SQ_T_DURATION;
        result->duration = (wfre_sq_duration){0, seconds, (int32_t)nano};
        return true;
    }
    if (a->type != WFRE_SQ_T_MOMENT || b->type != WFRE_SQ_T_DURATION || (op != '+' && op != '-') ||
        b->duration.months || b->duration.nano)
        return false;
    wfre_sq_moment local = a->moment;
    local.zone = WFRE_SQ_NO_ZONE;
    int64_t moved =
        wfre_sq_moment_seconds(&local) + (op == '+' ? b->duration.seconds : -b->duration.seconds);
    result->type = WFRE_SQ_T_MOMENT;
    wfre_sq_moment_from_seconds(moved, a->moment.nano, &result->moment);
    result->moment.kind = a->moment.kind;
    result->moment.zone = a->moment.zone;
    return true;
}

bool wfre_sq_arithmetic(char op, const wfre_sq_value *a, const wfre_sq_value *b,
                        wfre_sq_value *result)
{
    wfre_sq_value r = {0};
    bool ok;
    if (!wfre_sq_is_numeric(a) || !wfre_sq_is_numeric(b)) {
        ok = moment_arithmetic(op, a, b, &r);
    } else {
        r.type = a->type > b->type ? a->type : b->type;
        if (r.type >= WFRE_SQ_T_FLOAT) {
            ok = real_arithmetic(op, wfre_sq_value_real(a), wfre_sq_value_real(b), &r);
        } else {
            if (op == '/')
                r.type = WFRE_SQ_T_DECIMAL;
            ok = op == '+'   ? wfre_sq_decimal_add(&a->decimal, &b->decimal, &r.decimal)
                 : op == '-' ? wfre_sq_decimal_subtract(&a->decimal, &b->decimal, &r.decimal)
                 : op == '*' ? wfre_sq_decimal_multiply(&a->decimal, &b->decimal, &r.decimal)
                             : wfre_sq_decimal_divide(&a->decimal, &b->decimal, &r.decimal);
        }
    }
    *result = r;
    return ok;
}

static int sign(double x, double y)
{
    if (isnan(x) || isnan(y))
        return 3;
    return (x > y) - (x < y);
}

static int compare_numbers(const wfre_sq_value *a, const wfre_sq_value *b)
{
    if (a->type <= WFRE_SQ_T_DECIMAL && b->type <= WFRE_SQ_T_DECIMAL)
        return wfre_sq_decimal_compare(&a->decimal, &b->decimal);
    if (a->type == WFRE_SQ_T_FLOAT && b->type != WFRE_SQ_T_DOUBLE)
        return sign(a->real, (float)wfre_sq_value_real(b));
    if (b->type == WFRE_SQ_T_FLOAT && a->type != WFRE_SQ_T_DOUBLE)
        return sign((float)wfre_sq_value_real(a), b->real);
    return sign(wfre_sq_value_real(a), wfre_sq_value_real(b));
}

static int compare_bytes(wfre_name a, wfre_name b)
{
    size_t least = a.length < b.length ? a.length : b.length;
    int order = least ? memcmp(a.bytes, b.bytes, least) : 0;
    if (order)
        return order < 0 ? -1 : 1;
    return (a.length > b.length) - (a.length < b.length);
}

static int compare_durations(const wfre_sq_duration *a, const wfre_sq_duration *b)
{
    /* a month has 28 to 31 days: durations with both parts have no certain order */
    if (a->months != b->months && (a->seconds != b->seconds || a->nano != b->nano) &&
        (a->seconds || a->nano || b->seconds || b->nano))
        return 2;
    if (a->months != b->months)
        return a->months < b->months ? -1 : 1;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    return (a->nano > b->nano) - (a->nano < b->nano);
}

int wfre_sq_value_compare(const wfre_sq_value *a, const wfre_sq_value *b)
{
    if (wfre_sq_is_numeric(a) && wfre_sq_is_numeric(b))
        return compare_numbers(a, b);
    if (a->type != b->type)
        return 2;
    switch (a->type) {
    case WFRE_SQ_T_STRING:
        return compare_bytes(a->text, b->text);
    case WFRE_SQ_T_BOOLEAN:
        return (a->truth > b->truth) - (a->truth < b->truth);
    case WFRE_SQ_T_MOMENT:
        return a->moment.kind == b->moment.kind ? wfre_sq_moment_compare(&a->moment, &b->moment)
                                                : 2;
    case WFRE_SQ_T_DURATION:
        return compare_durations(&a->duration, &b->duration);
    default:
        return 2;
    }
}

bool wfre_sq_value_same(const wfre_sq_value *a, const wfre_sq_value *b)
{
    char left[WFRE_SQ_VALUE_TEXT], right[WFRE_SQ_VALUE_TEXT];
    bool a_literal = a->type >= WFRE_SQ_T_STRING, b_literal = b->type >= WFRE_SQ_T_STRING;
    wfre_name x = a->text, y = b->text;
    if (a_literal != b_literal || (!a_literal && a->type != b->type))
        return false;
    if (!x.bytes)
        x = wfre_sq_name(left, wfre_sq_value_print(a, left));
    if (!y.bytes)
        y = wfre_sq_name(right, wfre_sq_value_print(b, right));
    return wfre_sq_same_name(x, y) &&
           (!a_literal ||
            (wfre_sq_same_name(wfre_sq_value_datatype(a), wfre_sq_value_datatype(b)) &&
             a->language.length == b->language.length &&
             (a->language.length == 0 ||
              strncasecmp(a->language.bytes, b->language.bytes, a->language.length) == 0)));
}

int wfre_sq_value_equal(const wfre_sq_value *a, const wfre_sq_value *b)
{
    bool literals = a->type >= WFRE_SQ_T_STRING && b->type >= WFRE_SQ_T_STRING;
    if (!literals)
        return wfre_sq_value_same(a, b);
    int order = wfre_sq_value_compare(a, b);
    if (order == 3)
        return 0;
    if (order != 2)
        return order == 0;
    if (wfre_sq_value_same(a, b))
        return 1;
    /* What one of them means is unknown here, or its text is invalid: they may be equal. */
    if (a->type == WFRE_SQ_T_OTHER || b->type == WFRE_SQ_T_OTHER)
        return a->type == WFRE_SQ_T_TAGGED || b->type == WFRE_SQ_T_TAGGED ? 0 : -1;
    if (a->type == WFRE_SQ_T_MOMENT && b->type == WFRE_SQ_T_MOMENT)
        return a->moment.kind == b->moment.kind ? -1 : 0;
    return 0;
}

/* ---- the order of ORDER BY ---------------------------------------------------------------- */

/* Values of one rank can be compared with each other. */
static int rank(const wfre_sq_value *v)
{
    if (v->type == WFRE_SQ_T_BLANK)
        return 1;
    if (v->type == WFRE_SQ_T_IRI)
        return 2;
    if (wfre_sq_is_numeric(v))
        return 4;
    static const int RANKS[] = {
        [WFRE_SQ_T_STRING] = 3, [WFRE_SQ_T_TAGGED] = 9,   [WFRE_SQ_T_BOOLEAN] = 5,
        [WFRE_SQ_T_MOMENT] = 6, [WFRE_SQ_T_DURATION] = 8, [WFRE_SQ_T_OTHER] = 10};
    return RANKS[v->type];
}

static int order_within(const wfre_sq_value *a, const wfre_sq_value *b)
{
    if (wfre_sq_is_numeric(a)) {
        int order = compare_numbers(a, b);
        if (order != 3)
            return order;
        bool x = a->type >= WFRE_SQ_T_FLOAT && isnan(a->real);
        bool y = b->type >= WFRE_SQ_T_FLOAT && isnan(b->real);
        return (int)y - (int)x; /* NaN in front of all numbers */
    }
    if (a->type == WFRE_SQ_T_MOMENT) {
        if (a->moment.kind != b->moment.kind)
            return a->moment.kind < b->moment.kind ? -1 : 1;
        int64_t x = wfre_sq_moment_seconds(&a->moment), y = wfre_sq_moment_seconds(&b->moment);
        if (x != y)
            return x < y ? -1 : 1;
        return (a->moment.nano > b->moment.nano) - (a->moment.nano < b->moment.nano);
    }
    if (a->type == WFRE_SQ_T_BOOLEAN)
        return (a->truth > b->truth) - (a->truth < b->truth);
    if (a->type == WFRE_SQ_T_DURATION) {
        double x = (double)a->duration.months * 2629746.0 + (double)a->duration.seconds;
        double y = (double)b->duration.months * 2629746.0 + (double)b->duration.seconds;
        return (x > y) - (x < y);
    }
    int order = compare_bytes(a->text, b->text);
    if (order == 0)
        order = compare_bytes(a->language, b->language);
    return order ? order : compare_bytes(a->datatype, b->datatype);
}

int wfre_sq_value_order(const wfre_sq_value *a, const wfre_sq_value *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int x = rank(a), y = rank(b);
    return x != y ? (x < y ? -1 : 1) : order_within(a, b);
}
