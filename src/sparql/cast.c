/* Constructor functions: xsd:integer(?x) and the like (section 17.5). */
#include <math.h>
#include <string.h>

#include "sparql/exec.h"

/* The whole part of a number. */
static bool to_integer(const wfre_sq_value *a, wfre_sq_decimal *whole)
{
    wfre_sq_decimal number;
    if (a->type >= WFRE_SQ_T_FLOAT) {
        if (!wfre_sq_decimal_real(a->real, &number))
            return false;
    } else {
        number = a->decimal;
    }
    return wfre_sq_decimal_round(&number, WFRE_SQ_TOWARDS_ZERO, whole);
}

/* A double as the shortest decimal that reads back as it. */
static bool to_decimal(const wfre_sq_value *a, wfre_sq_decimal *number)
{
    char text[WFRE_SQ_VALUE_TEXT];
    if (a->type < WFRE_SQ_T_FLOAT) {
        *number = a->decimal;
        return true;
    }
    if (!isfinite(a->real) || fabs(a->real) >= 1e100 || (a->real != 0 && fabs(a->real) < 1e-100))
        return false;
    /* digits and exponent of the text, put together again */
    size_t length = wfre_sq_print_double(a->real, a->type == WFRE_SQ_T_FLOAT, text);
    char *e = memchr(text, 'E', length);
    if (!e)
        return false;
    int exponent = 0;
    bool negative = e[1] == '-';
    for (char *p = e + 1 + negative; p < text + length; p++)
        exponent = exponent * 10 + (*p - '0');
    wfre_sq_decimal ten;
    wfre_sq_decimal_whole(10, &ten);
    if (!wfre_sq_decimal_parse(text, (size_t)(e - text), number))
        return false;
    if (negative) {
        if (number->count)
            number->scale = (uint16_t)(number->scale + exponent);
        return true;
    }
    for (int i = 0; i < exponent; i++)
        if (!wfre_sq_decimal_multiply(number, &ten, number))
            return false;
    return true;
}

static bool from_truth(wfre_sq_type type, bool truth, wfre_sq_value *value)
{
    *value = wfre_sq_whole(truth);
    value->type = type;
    if (type == WFRE_SQ_T_FLOAT || type == WFRE_SQ_T_DOUBLE)
        value->real = truth;
    return type >= WFRE_SQ_T_INTEGER && type <= WFRE_SQ_T_DOUBLE;
}

static bool from_number(wfre_sq_type type, const wfre_sq_value *a, wfre_sq_value *value)
{
    wfre_sq_value result = {.type = type};
    bool ok = true;
    switch (type) {
    case WFRE_SQ_T_BOOLEAN:
        result.truth = wfre_sq_value_truth(a) == 1;
        break;
    case WFRE_SQ_T_INTEGER:
        ok = to_integer(a, &result.decimal);
        break;
    case WFRE_SQ_T_DECIMAL:
        ok = to_decimal(a, &result.decimal);
        break;
    case WFRE_SQ_T_FLOAT:
        result.real = (float)wfre_sq_value_real(a);
        break;
    case WFRE_SQ_T_DOUBLE:
        result.real = wfre_sq_value_real(a);
        break;
    default:
        return false;
    }
    *value = result;
    return ok;
}

/* Numbers as XPath writes them: 1.5E0 is 1.5, and 3.0 is 3. */
static bool to_string(wfre_sq_exec *x, const wfre_sq_value *a, wfre_sq_value *value)
{
    char text[WFRE_SQ_VALUE_TEXT];
    wfre_name kept = a->text;
    wfre_sq_value plain = *a;
    if (a->type == WFRE_SQ_T_BLANK)
        return false;
    if (a->type == WFRE_SQ_T_FLOAT || a->type == WFRE_SQ_T_DOUBLE) {
        double size = fabs(a->real);
        if (size == 0 || (size >= 1e-6 && size < 1e6)) {
            if (!to_decimal(a, &plain.decimal))
                return false;
            plain.type = WFRE_SQ_T_DECIMAL;
        }
        kept.bytes = NULL;
    }
    if (a->type == WFRE_SQ_T_BOOLEAN || a->type == WFRE_SQ_T_INTEGER ||
        a->type == WFRE_SQ_T_DECIMAL || !kept.bytes)
        kept = wfre_sq_keep(x, text, wfre_sq_value_print(&plain, text));
    *value = wfre_sq_string(kept);
    return kept.bytes != NULL;
}

/* Between dates and times: a part of what is there. */
static bool from_moment(wfre_sq_moment_kind kind, const wfre_sq_value *a, wfre_sq_value *value)
{
    wfre_sq_moment m = a->moment;
    bool down = m.kind == WFRE_SQ_DATE_TIME || m.kind == kind;
    bool up = m.kind == WFRE_SQ_DATE && kind != WFRE_SQ_TIME;
    if (!down && !up)
        return false;
    if (kind != WFRE_SQ_DATE_TIME && kind != WFRE_SQ_TIME)
        m.hour = m.minute = m.second = 0, m.nano = 0;
    m.kind = kind;
    *value = (wfre_sq_value){.type = WFRE_SQ_T_MOMENT};
    value->moment = m;
    return true;
}

bool wfre_sq_cast(wfre_sq_exec *x, wfre_name type, const wfre_sq_value *a, wfre_sq_value *value)
{
    wfre_sq_moment_kind kind;
    wfre_sq_type target = wfre_sq_type_of(type, &kind);
    if (target == WFRE_SQ_T_STRING)
        return to_string(x, a, value);
    bool ok;
    if (wfre_sq_is_stringy(a)) {
        if (a->type == WFRE_SQ_T_TAGGED)
            return false;
        wfre_sq_value_read_as(target, kind, a->text, type, wfre_sq_name(NULL, 0), value);
        ok = value->type == target;
        if (ok && target != WFRE_SQ_T_DURATION)
            value->text.bytes = NULL; /* written in its canonical form */
    } else if (a->type == WFRE_SQ_T_BOOLEAN && target != WFRE_SQ_T_BOOLEAN) {
        ok = from_truth(target, a->truth, value);
    } else if (a->type == WFRE_SQ_T_BOOLEAN) {
        *value = wfre_sq_truth(a->truth);
        ok = true;
    } else if (wfre_sq_is_numeric(a)) {
        ok = from_number(target, a, value);
    } else if (a->type == WFRE_SQ_T_MOMENT && target == WFRE_SQ_T_MOMENT) {
        ok = from_moment(kind, a, value);
    } else {
        return false;
    }
    value->datatype = type;
    return ok;
}
