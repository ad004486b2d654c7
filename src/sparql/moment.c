/* Dates, times and durations of XML Schema, in the Gregorian calendar without end. */
#include "sparql/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DAY = 86400, ZONE_RANGE = 14 * 3600 };

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct reader {
    const char *text;
    size_t length, at;
    bool wrong;
} reader;

static bool accept(reader *r, char c)
{
    if (r->at >= r->length || r->text[r->at] != c)
        return false;
    r->at++;
    return true;
}

static void expect(reader *r, char c)
{
    if (!accept(r, c))
        r->wrong = true;
}

/* Digits, at least `least` and at most `most` of them. */
static int64_t number(reader *r, size_t least, size_t most, size_t *count)
{
    int64_t value = 0;
    size_t digits = 0;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9' && digits < most) {
        value = value * 10 + (r->text[r->at++] - '0');
        digits++;
    }
    if (digits < least)
        r->wrong = true;
    if (count)
        *count = digits;
    return value;
}

static uint8_t two(reader *r, int64_t low, int64_t high)
{
    int64_t value = number(r, 2, 2, NULL);
    if (value < low || value > high)
        r->wrong = true;
    return (uint8_t)value;
}

/* Behind a decimal point: nanoseconds; what is finer is dropped. */
static uint32_t fraction(reader *r)
{
    size_t digits;
    uint32_t nano = (uint32_t)number(r, 1, 9, &digits);
    for (; digits < 9; digits++)
        nano *= 10;
    while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9')
        r->at++;
    return nano;
}

static int64_t year(reader *r)
{
    bool negative = accept(r, '-');
    size_t begin = r->at, digits;
    int64_t value = number(r, 4, 15, &digits);
    if (digits > 4 && r->text[begin] == '0')
        r->wrong = true;
    return negative ? -value : value;
}

static int16_t zone(reader *r)
{
    if (accept(r, 'Z'))
        return 0;
    bool negative = r->at < r->length && r->text[r->at] == '-';
    if (!negative && !(r->at < r->length && r->text[r->at] == '+'))
        return WFRE_SQ_NO_ZONE;
    r->at++;
    int hours = two(r, 0, 14);
    expect(r, ':');
    int minutes = two(r, 0, 59);
    if (hours == 14 && minutes)
        r->wrong = true;
    int total = hours * 60 + minutes;
    return (int16_t)(negative ? -total : total);
}

static int days_in(int64_t y, int month)
{
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
    return DAYS[month - 1] + (month == 2 && leap);
}

/* ---- calendar ----------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days since 1970-01-01: years begin in March, so that leap days come last. */
static int64_t days_from_date(int64_t y, int month, int day)
{
    y -= month <= 2;
    int64_t era = floor_divide(y, 400), year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void date_from_days(int64_t days, wfre_sq_moment *m)
{
    days += 719468;
    int64_t era = floor_divide(days, 146097), day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    m->day = (uint8_t)(day_of_year - (153 * month + 2) / 5 + 1);
    m->month = (uint8_t)(month + (month < 10 ? 3 : -9));
    m->year = year_of_era + era * 400 + (m->month <= 2);
}

static void read_time(reader *r, wfre_sq_moment *m, bool *midnight)
{
    m->hour = two(r, 0, 24);
    expect(r, ':');
    m->minute = two(r, 0, 59);
    expect(r, ':');
    m->second = two(r, 0, 59);
    if (accept(r, '.'))
        m->nano = fraction(r);
    *midnight = m->hour == 24;
    if (*midnight && (m->minute || m->second || m->nano))
        r->wrong = true;
    if (*midnight)
        m->hour = 0;
}

bool wfre_sq_moment_parse(wfre_sq_moment_kind kind, wfre_name text, wfre_sq_moment *moment)
{
    reader r = {text.bytes, text.length, 0, false};
    wfre_sq_moment m = {.kind = kind, .year = 1972, .month = 12, .day = 31};
    bool midnight = false;
    if (kind != WFRE_SQ_TIME) {
        m.year = year(&r);
        m.month = m.day = 1;
        if (kind != WFRE_SQ_G_YEAR) {
            expect(&r, '-');
            m.month = two(&r, 1, 12);
        }
        if (kind == WFRE_SQ_DATE || kind == WFRE_SQ_DATE_TIME) {
            expect(&r, '-');
            m.day = two(&r, 1, 31);
            if (!r.wrong && m.day > days_in(m.year, m.month))
                r.wrong = true;
        }
        if (kind == WFRE_SQ_DATE_TIME)
            expect(&r, 'T');
    }
    if (kind == WFRE_SQ_DATE_TIME || kind == WFRE_SQ_TIME)
        read_time(&r, &m, &midnight);
    m.zone = zone(&r);
    if (r.wrong || r.at != r.length)
        return false;
    if (midnight && kind == WFRE_SQ_DATE_TIME)
        date_from_days(days_from_date(m.year, m.month, m.day) + 1, &m);
    *moment = m;
    return true;
}

int64_t wfre_sq_moment_seconds(const wfre_sq_moment *m)
{
    int64_t zone_minutes = m->zone == WFRE_SQ_NO_ZONE ? 0 : m->zone;
    return days_from_date(m->year, m->month, m->day) * DAY + m->hour * 3600 +
           ((int64_t)m->minute - zone_minutes) * 60 + m->second;
}

int wfre_sq_moment_compare(const wfre_sq_moment *a, const wfre_sq_moment *b)
{
    int64_t x = wfre_sq_moment_seconds(a), y = wfre_sq_moment_seconds(b);
    bool one = (a->zone == WFRE_SQ_NO_ZONE) != (b->zone == WFRE_SQ_NO_ZONE);
    if (one && x - y <= ZONE_RANGE && y - x <= ZONE_RANGE)
        return 2;
    if (x != y)
        return x < y ? -1 : 1;
    return (a->nano > b->nano) - (a->nano < b->nano);
}

void wfre_sq_moment_from_seconds(int64_t seconds, uint32_t nano, wfre_sq_moment *m)
{
    int64_t days = floor_divide(seconds, DAY), rest = seconds - days * DAY;
    *m = (wfre_sq_moment){.kind = WFRE_SQ_DATE_TIME, .nano = nano};
    date_from_days(days, m);
    m->hour = (uint8_t)(rest / 3600);
    m->minute = (uint8_t)(rest / 60 % 60);
    m->second = (uint8_t)(rest % 60);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* ".5" for half a second, nothing for none. */
static size_t put_fraction(uint32_t nano, char *text)
{
    size_t length = nano ? (size_t)snprintf(text, 16, ".%09" PRIu32, nano) : 0;
    while (length && text[length - 1] == '0')
        length--;
    text[length] = '\0';
    return length;
}

static size_t put_zone(int16_t minutes, char *text)
{
    if (minutes == WFRE_SQ_NO_ZONE)
        return 0;
    if (minutes == 0)
        return (size_t)snprintf(text, 8, "Z");
    int size = minutes < 0 ? -minutes : minutes;
    return (size_t)snprintf(text, 8, "%c%02d:%02d", minutes < 0 ? '-' : '+', size / 60 % 24,
                            size % 60);
}

size_t wfre_sq_moment_print(const wfre_sq_moment *m, char *text)
{
    size_t used = 0;
    if (m->kind != WFRE_SQ_TIME) {
        int64_t y = m->year < 0 ? -m->year : m->year;
        used = (size_t)snprintf(text, 24, "%s%04" PRId64, m->year < 0 ? "-" : "", y);
        if (m->kind != WFRE_SQ_G_YEAR)
            used += (size_t)snprintf(text + used, 8, "-%02u", m->month % 100u);
        if (m->kind == WFRE_SQ_DATE || m->kind == WFRE_SQ_DATE_TIME)
            used += (size_t)snprintf(text + used, 8, "-%02u", m->day % 100u);
        if (m->kind == WFRE_SQ_DATE_TIME)
            text[used++] = 'T';
    }
    if (m->kind == WFRE_SQ_DATE_TIME || m->kind == WFRE_SQ_TIME) {
        used += (size_t)snprintf(text + used, 16, "%02u:%02u:%02u", m->hour % 100u,
                                 m->minute % 100u, m->second % 100u);
        used += put_fraction(m->nano, text + used);
    }
    used += put_zone(m->zone, text + used);
    text[used] = '\0';
    return used;
}

/* ---- durations ---------------------------------------------------------------------------- */

/* Seconds of the part behind T, or days, months and years in front of it. */
static bool read_part(reader *r, bool time, int64_t *last, wfre_sq_duration *d)
{
    static const char DATE_UNITS[] = "YMD", TIME_UNITS[] = "HMS";
    static const int64_t DATE_SIZE[] = {12, 1, DAY}, TIME_SIZE[] = {3600, 60, 1};
    int64_t value = number(r, 1, 15, NULL);
    if (time && accept(r, '.')) {
        d->nano = (int32_t)fraction(r);
        if (r->at >= r->length || r->text[r->at] != 'S')
            return false;
    }
    const char *units = time ? TIME_UNITS : DATE_UNITS;
    const char *unit = r->at < r->length ? strchr(units, r->text[r->at]) : NULL;
    if (r->wrong || !unit || *unit == '\0' || unit - units <= *last)
        return false;
    *last = unit - units;
    r->at++;
    if (time)
        d->seconds += value * TIME_SIZE[*last];
    else if (*last == 2)
        d->seconds += value * DATE_SIZE[*last];
    else
        d->months += value * DATE_SIZE[*last];
    return true;
}

bool wfre_sq_duration_parse(wfre_name text, wfre_sq_duration *duration)
{
    reader r = {text.bytes, text.length, 0, false};
    wfre_sq_duration d = {0};
    bool negative = accept(&r, '-'), any = false, time = false;
    int64_t last = -1;
    expect(&r, 'P');
    while (!r.wrong && r.at < r.length) {
        if (!time && accept(&r, 'T')) {
            time = true;
            last = -1;
            any = false;
            continue;
        }
        if (!read_part(&r, time, &last, &d))
            return false;
        any = true;
    }
    if (r.wrong || !any)
        return false;
    if (negative)
        d = (wfre_sq_duration){-d.months, -d.seconds, -d.nano};
    *duration = d;
    return true;
}

/* Appends a number and its unit, unless it is 0. */
static size_t put_unit(char *text, int64_t value, char unit)
{
    return value ? (size_t)snprintf(text, 24, "%" PRId64 "%c", value, unit) : 0;
}

size_t wfre_sq_duration_print(const wfre_sq_duration *d, char *text)
{
    bool negative = d->months < 0 || d->seconds < 0 || d->nano < 0;
    int64_t months = negative ? -d->months : d->months;
    int64_t seconds = negative ? -d->seconds : d->seconds;
    uint32_t nano = (uint32_t)(negative ? -d->nano : d->nano);
    size_t used = (size_t)snprintf(text, 4, "%sP", negative ? "-" : "");
    size_t before = used;
    used += put_unit(text + used, months / 12, 'Y');
    used += put_unit(text + used, months % 12, 'M');
    used += put_unit(text + used, seconds / DAY, 'D');
    seconds %= DAY;
    if (seconds || nano) {
        text[used++] = 'T';
        used += put_unit(text + used, seconds / 3600, 'H');
        used += put_unit(text + used, seconds / 60 % 60, 'M');
        if (seconds % 60 || nano) {
            used += (size_t)snprintf(text + used, 24, "%" PRId64, seconds % 60);
            used += put_fraction(nano, text + used);
            text[used++] = 'S';
        }
    }
    if (used == before)
        used += (size_t)snprintf(text + used, 8, "T0S");
    text[used] = '\0';
    return used;
}
