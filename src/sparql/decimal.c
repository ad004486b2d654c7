/* Decimal numbers, by the methods of school. Results are always reduced: no zeros at the end of the
 * fraction, no limbs of zero at the top. */
#include "sparql/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wfre/base.h"

enum { BASE = 1000000000, DIGITS = 9, WIDE = 2 * WFRE_SQ_LIMBS + 4 };

/* A magnitude with room for products and shifted dividends. */
typedef struct wide {
    size_t count;
    uint32_t limbs[WIDE];
} wide;

static const uint32_t POWERS[] = {1,      10,      100,      1000,      10000,
                                  100000, 1000000, 10000000, 100000000, 1000000000};

static void trim(wide *w)
{
    while (w->count && w->limbs[w->count - 1] == 0)
        w->count--;
}

/* w = w * factor + carry; false if there is no room. */
static bool scale_up(wide *w, uint32_t factor, uint32_t carry)
{
    uint64_t rest = carry;
    for (size_t i = 0; i < w->count; i++) {
        rest += (uint64_t)w->limbs[i] * factor;
        w->limbs[i] = (uint32_t)(rest % BASE);
        rest /= BASE;
    }
    if (rest) {
        if (w->count == WIDE)
            return false;
        w->limbs[w->count++] = (uint32_t)rest;
    }
    return true;
}

/* w = w / divisor; the remainder. */
static uint32_t scale_down(wide *w, uint32_t divisor)
{
    uint64_t rest = 0;
    for (size_t i = w->count; i-- > 0;) {
        rest = rest * BASE + w->limbs[i];
        w->limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(w);
    return (uint32_t)rest;
}

static bool shift_left(wide *w, size_t digits)
{
    if (w->count == 0)
        return true;
    for (; digits >= DIGITS; digits -= DIGITS) {
        if (w->count == WIDE)
            return false;
        memmove(w->limbs + 1, w->limbs, w->count * sizeof *w->limbs);
        w->limbs[0] = 0;
        w->count++;
    }
    return scale_up(w, POWERS[digits], 0);
}

static void load(const wfre_sq_decimal *number, wide *w)
{
    w->count = number->count;
    memcpy(w->limbs, number->limbs, number->count * sizeof *w->limbs);
}

/* Reduces and stores; false if it has too many digits. */
static bool store(wide *w, bool negative, size_t scale, wfre_sq_decimal *number)
{
    trim(w);
    while (scale > 0 && w->count && w->limbs[0] % 10 == 0) {
        scale_down(w, 10);
        scale--;
    }
    if (w->count > WFRE_SQ_LIMBS || scale > UINT16_MAX)
        return false;
    number->negative = negative && w->count > 0;
    number->scale = w->count ? (uint16_t)scale : 0;
    number->count = (uint16_t)w->count;
    memcpy(number->limbs, w->limbs, w->count * sizeof *w->limbs);
    return true;
}

bool wfre_sq_decimal_parse(const char *text, size_t length, wfre_sq_decimal *number)
{
    wide w = {0};
    size_t i = 0, scale = 0, digits = 0;
    bool negative = false, point = false;
    if (i < length && (text[i] == '-' || text[i] == '+'))
        negative = text[i++] == '-';
    for (; i < length; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            return false;
        digits++;
        scale += point;
        if (w.count > WFRE_SQ_LIMBS)
            return false;
        uint32_t digit = (uint32_t)(text[i] - '0');
        if (w.count == 0 && digit) {
            w.limbs[w.count++] = digit;
        } else if (w.count == 1 && w.limbs[0] < BASE / 10) {
            w.limbs[0] = w.limbs[0] * 10 + digit;
        } else if (w.count && !scale_up(&w, 10, digit)) {
            return false;
        }
    }
    return digits > 0 && store(&w, negative, scale, number);
}

size_t wfre_sq_decimal_print(const wfre_sq_decimal *number, char *text)
{
    char digits[WFRE_SQ_LIMBS * DIGITS + 1];
    size_t length = 0, used = 0;
    if (number->count == 0) {
        text[0] = '0';
        text[1] = '\0';
        return 1;
    }
    for (size_t i = number->count; i-- > 0;) {
        int wrote = snprintf(digits + length, DIGITS + 1, i + 1 == number->count ? "%u" : "%09u",
                             (unsigned)number->limbs[i]);
        length += (size_t)wrote;
    }
    if (number->negative)
        text[used++] = '-';
    if (number->scale >= WFRE_SQ_DECIMAL_TEXT - 8 - length && number->scale > length) {
        /* more zeros than any result needs: such numbers come from texts only */
        used += (size_t)snprintf(text + used, WFRE_SQ_DECIMAL_TEXT - used, "0.0");
        return used;
    }
    if (number->scale >= length) {
        text[used++] = '0';
        text[used++] = '.';
        for (size_t i = length; i < number->scale; i++)
            text[used++] = '0';
        memcpy(text + used, digits, length);
        used += length;
    } else {
        size_t whole = length - number->scale;
        memcpy(text + used, digits, whole);
        used += whole;
        if (number->scale) {
            text[used++] = '.';
            memcpy(text + used, digits + whole, number->scale);
            used += number->scale;
        }
    }
    text[used] = '\0';
    return used;
}

void wfre_sq_decimal_whole(int64_t value, wfre_sq_decimal *number)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *number = (wfre_sq_decimal){.negative = value < 0};
    for (; rest; rest /= BASE)
        number->limbs[number->count++] = (uint32_t)(rest % BASE);
}

bool wfre_sq_decimal_real(double value, wfre_sq_decimal *number)
{
    char text[512];
    if (!isfinite(value) || fabs(value) > 1e100)
        return false;
    /* the exact value of small numbers has too many digits; 40 behind the point will do */
    int length = wfre_format(text, sizeof text, "%.40f", value);
    return wfre_sq_decimal_parse(text, (size_t)length, number);
}

double wfre_sq_decimal_double(const wfre_sq_decimal *number)
{
    static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t small = number->count ? number->limbs[0] : 0;
    if (number->count == 2)
        small += (uint64_t)number->limbs[1] * BASE;
    if (number->count <= 2 && small <= (UINT64_C(1) << 53) && number->scale <= 22) {
        double value = (double)small / TENS[number->scale];
        return number->negative ? -value : value;
    }
    char text[WFRE_SQ_LIMBS * DIGITS + 32];
    size_t length = 0;
    for (size_t i = number->count; i-- > 0;)
        length += (size_t)snprintf(text + length, DIGITS + 1, "%09u", (unsigned)number->limbs[i]);
    (void)snprintf(text + length, sizeof text - length, "e-%u", (unsigned)number->scale);
    double value = wfre_parse_real(text, NULL);
    return number->negative ? -value : value;
}

bool wfre_sq_decimal_int(const wfre_sq_decimal *number, int64_t *value)
{
    if (number->scale || number->count > 3)
        return false;
    uint64_t magnitude = 0;
    for (size_t i = number->count; i-- > 0;) {
        if (magnitude > ((uint64_t)INT64_MAX - number->limbs[i]) / BASE)
            return false;
        magnitude = magnitude * BASE + number->limbs[i];
    }
    *value = number->negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/* ---- arithmetic --------------------------------------------------------------------------- */

static int compare_wide(const wide *a, const wide *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* a += b */
static bool add_wide(wide *a, const wide *b)
{
    uint32_t carry = 0;
    size_t count = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; i < count || carry; i++) {
        if (i == WIDE)
            return false;
        uint32_t sum = (i < a->count ? a->limbs[i] : 0) + (i < b->count ? b->limbs[i] : 0) + carry;
        carry = sum >= BASE;
        a->limbs[i] = carry ? sum - BASE : sum;
        if (i >= a->count)
            a->count = i + 1;
    }
    return true;
}

/* a -= b, which is not larger */
static void subtract_wide(wide *a, const wide *b)
{
    uint32_t borrow = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint32_t take = (i < b->count ? b->limbs[i] : 0) + borrow;
        borrow = a->limbs[i] < take;
        a->limbs[i] = borrow ? a->limbs[i] + BASE - take : a->limbs[i] - take;
    }
    trim(a);
}

/* Brings both to the same number of digits behind the point. */
static bool align(const wfre_sq_decimal *a, const wfre_sq_decimal *b, wide *x, wide *y,
                  size_t *scale)
{
    load(a, x);
    load(b, y);
    *scale = a->scale > b->scale ? a->scale : b->scale;
    return shift_left(x, *scale - a->scale) && shift_left(y, *scale - b->scale);
}

static bool add_signed(const wfre_sq_decimal *a, const wfre_sq_decimal *b, bool negate,
                       wfre_sq_decimal *sum)
{
    wide x, y;
    size_t scale;
    bool b_negative = b->negative != negate;
    if (!align(a, b, &x, &y, &scale))
        return false;
    if (a->negative == b_negative)
        return add_wide(&x, &y) && store(&x, a->negative, scale, sum);
    if (compare_wide(&x, &y) >= 0) {
        subtract_wide(&x, &y);
        return store(&x, a->negative, scale, sum);
    }
    subtract_wide(&y, &x);
    return store(&y, b_negative, scale, sum);
}

bool wfre_sq_decimal_add(const wfre_sq_decimal *a, const wfre_sq_decimal *b, wfre_sq_decimal *sum)
{
    return add_signed(a, b, false, sum);
}

bool wfre_sq_decimal_subtract(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                              wfre_sq_decimal *difference)
{
    return add_signed(a, b, true, difference);
}

bool wfre_sq_decimal_multiply(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                              wfre_sq_decimal *product)
{
    wide w = {0};
    w.count = (size_t)a->count + b->count;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (size_t k = 0; k < b->count; k++) {
            carry += w.limbs[i + k] + (uint64_t)a->limbs[i] * b->limbs[k];
            w.limbs[i + k] = (uint32_t)(carry % BASE);
            carry /= BASE;
        }
        w.limbs[i + b->count] = (uint32_t)carry;
    }
    return store(&w, a->negative != b->negative, (size_t)a->scale + b->scale, product);
}

/* The next limb of a quotient: how often `divisor` goes into `rest`, which is reduced. */
static uint32_t next_limb(wide *rest, const wide *divisor)
{
    uint32_t low = 0, high = BASE - 1;
    wide product = {0};
    while (low < high) { /* the largest factor whose product is not above the rest */
        uint32_t middle = low + (high - low + 1) / 2;
        product = *divisor;
        if (scale_up(&product, middle, 0) && compare_wide(&product, rest) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    product = *divisor;
    (void)scale_up(&product, low, 0);
    trim(&product);
    subtract_wide(rest, &product);
    return low;
}

bool wfre_sq_decimal_divide(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                            wfre_sq_decimal *quotient)
{
    wide dividend, divisor, rest = {0}, result = {0};
    if (b->count == 0)
        return false;
    load(a, &dividend);
    load(b, &divisor);
    /* one digit more than wanted, to round by */
    size_t scale = WFRE_SQ_SCALE + 1;
    if (!shift_left(&dividend, scale + b->scale))
        return false;
    result.count = dividend.count;
    for (size_t i = dividend.count; i-- > 0;) {
        if (rest.count == WIDE)
            return false;
        memmove(rest.limbs + 1, rest.limbs, rest.count * sizeof *rest.limbs);
        rest.limbs[0] = dividend.limbs[i];
        rest.count++;
        trim(&rest);
        result.limbs[i] = next_limb(&rest, &divisor);
    }
    trim(&result);
    scale += a->scale;
    while (scale > WFRE_SQ_SCALE + 1) {
        (void)scale_down(&result, 10);
        scale--;
    }
    if (scale_down(&result, 10) >= 5) {
        const wide one = {1, {1}};
        if (!add_wide(&result, &one))
            return false;
    }
    return store(&result, a->negative != b->negative, scale - 1, quotient);
}

int wfre_sq_decimal_compare(const wfre_sq_decimal *a, const wfre_sq_decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order;
    if (a->scale == b->scale && a->count <= 1 && b->count <= 1) {
        uint32_t x = a->count ? a->limbs[0] : 0, y = b->count ? b->limbs[0] : 0;
        order = (x > y) - (x < y);
    } else {
        wide x, y;
        size_t scale;
        if (!align(a, b, &x, &y, &scale)) {
            double p = wfre_sq_decimal_double(a), q = wfre_sq_decimal_double(b);
            return (p > q) - (p < q);
        }
        order = compare_wide(&x, &y);
    }
    return a->negative ? -order : order;
}

bool wfre_sq_decimal_round(const wfre_sq_decimal *a, wfre_sq_rounding way, wfre_sq_decimal *whole)
{
    wide w;
    load(a, &w);
    if (a->scale == 0) {
        *whole = *a;
        return true;
    }
    bool any = false, half = false, above = false;
    for (size_t i = 0; i < a->scale; i++) {
        uint32_t digit = scale_down(&w, 10);
        if (i + 1 == a->scale) {
            half = digit >= 5;
            above = digit > 5 || (digit == 5 && any);
        }
        any |= digit != 0;
    }
    bool away = way == WFRE_SQ_DOWN      ? a->negative && any
                : way == WFRE_SQ_UP      ? !a->negative && any
                : way == WFRE_SQ_NEAREST ? (a->negative ? above : half)
                                         : false;
    const wide one = {1, {1}};
    if (away && !add_wide(&w, &one))
        return false;
    return store(&w, a->negative, 0, whole);
}
