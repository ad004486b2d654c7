/* The functions of section 17.4. All arguments have values; false means a type error. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

#include "base/hash.h"
#include "base/memory.h"
#include "sparql/digest.h"
#include "sparql/exec.h"
#include "sparql/iri.h"
#include "sparql/letter_case.h"
#include "sparql/lexer.h"
#include "sparql/prepared.h"

/* ---- strings ------------------------------------------------------------------------------ */

/* A string with the language of another. */
static wfre_sq_value like(const wfre_sq_value *model, wfre_name text)
{
    return (wfre_sq_value){.type = model->type, .text = text, .language = model->language};
}

/* Whether the second string may be looked for in the first: it has no language, or the same. */
static bool compatible(const wfre_sq_value *a, const wfre_sq_value *b)
{
    if (!wfre_sq_is_stringy(a) || !wfre_sq_is_stringy(b))
        return false;
    return b->type == WFRE_SQ_T_STRING ||
           (a->language.length == b->language.length &&
            strncasecmp(a->language.bytes, b->language.bytes, a->language.length) == 0);
}

/* Where `part` first stands in `text`; SIZE_MAX if it does not, or if the run failed. */
static size_t position(wfre_sq_exec *x, wfre_name text, wfre_name part)
{
    if (part.length == 0)
        return 0;
    for (size_t i = 0; i + part.length <= text.length; i++) {
        const char *at = memchr(text.bytes + i, part.bytes[0], text.length - part.length - i + 1);
        if (!at)
            return SIZE_MAX;
        i = (size_t)(at - text.bytes);
        if (memcmp(at, part.bytes, part.length) == 0)
            return i;
        if (wfre_sq_tick_text(x, part.length) != WFRE_SQ_GO)
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

static bool string_pair(wfre_sq_exec *x, wfre_sq_op op, const wfre_sq_value *a,
                        const wfre_sq_value *b, wfre_sq_value *value)
{
    if (!compatible(a, b))
        return false;
    wfre_name text = a->text, part = b->text;
    size_t at = op == WFRE_SQ_STRSTARTS || op == WFRE_SQ_STRENDS ? 0 : position(x, text, part);
    bool fits = part.length <= text.length;
    switch (op) {
    case WFRE_SQ_CONTAINS:
        *value = wfre_sq_truth(at != SIZE_MAX);
        return true;
    case WFRE_SQ_STRSTARTS:
        *value = wfre_sq_truth(
            fits && (part.length == 0 || memcmp(text.bytes, part.bytes, part.length) == 0));
        return true;
    case WFRE_SQ_STRENDS:
        *value = wfre_sq_truth(
            fits && (part.length == 0 ||
                     memcmp(text.bytes + text.length - part.length, part.bytes, part.length) == 0));
        return true;
    default:
        break;
    }
    if (at == SIZE_MAX)
        *value = wfre_sq_string(wfre_sq_name("", 0));
    else if (op == WFRE_SQ_STRBEFORE)
        *value = like(a, wfre_sq_name(text.bytes, at));
    else
        *value =
            like(a, wfre_sq_name(text.bytes + at + part.length, text.length - at - part.length));
    return true;
}

static size_t characters(wfre_name text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += ((unsigned char)text.bytes[i] & 0xC0) != 0x80;
    return count;
}

/* SUBSTR: places count from 1, and are rounded. */
static bool substring(const wfre_sq_value *arguments, uint32_t count, wfre_sq_value *value)
{
    const wfre_sq_value *s = &arguments[0];
    if (!wfre_sq_is_stringy(s) || !wfre_sq_is_numeric(&arguments[1]) ||
        (count > 2 && !wfre_sq_is_numeric(&arguments[2])))
        return false;
    double from = floor(wfre_sq_value_real(&arguments[1]) + 0.5), to = INFINITY;
    if (count > 2)
        to = from + floor(wfre_sq_value_real(&arguments[2]) + 0.5);
    size_t begin = s->text.length, end = s->text.length, i = 0;
    double place = 1;
    for (; i < s->text.length; place++) {
        if (place >= from && begin > i && begin == s->text.length)
            begin = i;
        if (!(place < to)) {
            end = i;
            break;
        }
        i++;
        while (i < s->text.length && ((unsigned char)s->text.bytes[i] & 0xC0) == 0x80)
            i++;
    }
    if (isnan(from) || isnan(to) || begin > end)
        begin = end;
    *value = like(s, wfre_sq_name(s->text.bytes + begin, end - begin));
    return true;
}

static bool change_case(wfre_sq_exec *x, bool upper, const wfre_sq_value *s, wfre_sq_value *value)
{
    if (!wfre_sq_is_stringy(s))
        return false;
    char *out = wfre_sq_scratch_text(x, s->text.length * WFRE_CASE_MOST + 1);
    if (!out)
        return false;
    size_t used = 0;
    for (size_t i = 0, size; i < s->text.length; i += size) {
        uint32_t c = wfre_sq_decode(s->text.bytes + i, s->text.length - i, &size);
        uint32_t to[WFRE_CASE_MOST];
        size_t count = upper ? wfre_sq_upper(c, x->locale, to)
                             : wfre_sq_lower(s->text, i, c, size, x->locale, to);
        for (size_t k = 0; k < count; k++)
            used += wfre_sq_encode(to[k], out + used);
    }
    *value = like(s, wfre_sq_name(out, used));
    return true;
}

static bool concat(wfre_sq_exec *x, const wfre_sq_value *arguments, uint32_t count,
                   wfre_sq_value *value)
{
    size_t length = 0;
    bool same = count > 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!wfre_sq_is_stringy(&arguments[i]))
            return false;
        length += arguments[i].text.length;
        same &= arguments[i].type == arguments[0].type &&
                arguments[i].language.length == arguments[0].language.length &&
                (arguments[i].language.length == 0 ||
                 strncasecmp(arguments[i].language.bytes, arguments[0].language.bytes,
                             arguments[i].language.length) == 0);
    }
    char *out = wfre_sq_scratch_text(x, length + 1);
    if (!out)
        return false;
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].text.length)
            memcpy(out + used, arguments[i].text.bytes, arguments[i].text.length);
        used += arguments[i].text.length;
    }
    *value = same ? like(&arguments[0], wfre_sq_name(out, used))
                  : wfre_sq_string(wfre_sq_name(out, used));
    return true;
}

static bool encode_for_uri(wfre_sq_exec *x, const wfre_sq_value *s, wfre_sq_value *value)
{
    static const char HEX[] = "0123456789ABCDEF";
    char *out = wfre_sq_is_stringy(s) ? wfre_sq_scratch_text(x, s->text.length * 3 + 1) : NULL;
    if (!out)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < s->text.length; i++) {
        unsigned char c = (unsigned char)s->text.bytes[i];
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            c == '-' || c == '_' || c == '.' || c == '~') {
            out[used++] = (char)c;
        } else {
            out[used++] = '%';
            out[used++] = HEX[c >> 4];
            out[used++] = HEX[c & 15];
        }
    }
    *value = wfre_sq_string(wfre_sq_name(out, used));
    return true;
}

static bool lang_matches(const wfre_sq_value *tag, const wfre_sq_value *range, wfre_sq_value *value)
{
    if (tag->type != WFRE_SQ_T_STRING || range->type != WFRE_SQ_T_STRING)
        return false;
    bool matches =
        wfre_sq_name_is(range->text, "*")
            ? tag->text.length > 0
            : tag->text.length >= range->text.length && range->text.length > 0 &&
                  strncasecmp(tag->text.bytes, range->text.bytes, range->text.length) == 0 &&
                  (tag->text.length == range->text.length ||
                   tag->text.bytes[range->text.length] == '-');
    *value = wfre_sq_truth(matches);
    return true;
}

/* ---- regular expressions ------------------------------------------------------------------ */

/* The compiled expression, kept from call to call as long as pattern and flags stay the same. */
static wfre_sq_regex *regex_of(wfre_sq_exec *x, const wfre_sq_expression *e,
                               const wfre_sq_value *pattern, const wfre_sq_value *flags)
{
    wfre_sq_prepared *kept = &x->prepared[e->number];
    wfre_name flag_text = flags ? flags->text : wfre_sq_name("", 0);
    if (pattern->type != WFRE_SQ_T_STRING || (flags && flags->type != WFRE_SQ_T_STRING))
        return NULL;
    if (kept->regex &&
        wfre_sq_same_name(wfre_sq_name(kept->pattern.data, kept->pattern.length), pattern->text) &&
        wfre_sq_same_name(wfre_sq_name(kept->flags.data, kept->flags.length), flag_text))
        return kept->regex;
    wfre_sq_regex_free(kept->regex);
    kept->regex = NULL;
    wfre_text_clear(&kept->pattern);
    wfre_text_clear(&kept->flags);
    wfre_text_append(&kept->pattern, pattern->text.bytes, pattern->text.length);
    wfre_text_append(&kept->flags, flag_text.bytes, flag_text.length);
    if (kept->pattern.failed || kept->flags.failed) {
        (void)wfre_sq_no_memory(x);
        return NULL;
    }
    wfre_error error;
    wfre_status status =
        wfre_sq_regex_compile(pattern->text, flag_text, x->locale, &kept->regex, &error);
    if (status == WFRE_ERR_MEMORY || status == WFRE_ERR_UNSUPPORTED)
        x->status = wfre_fail(x->error, status, e->offset, "%s", error.message);
    return wfre_sq_check_time(x) == WFRE_SQ_GO ? kept->regex : NULL; /* that took a while */
}

static bool match(wfre_sq_exec *x, const wfre_sq_expression *e, const wfre_sq_value *arguments,
                  wfre_sq_value *value)
{
    bool stopped;
    if (!wfre_sq_is_stringy(&arguments[0]))
        return false;
    wfre_sq_regex *regex = regex_of(x, e, &arguments[1], e->count > 2 ? &arguments[2] : NULL);
    if (!regex)
        return false;
    *value = wfre_sq_truth(wfre_sq_regex_search(regex, arguments[0].text, &stopped));
    return !stopped || wfre_sq_check_time(x) == WFRE_SQ_GO;
}

static bool replace(wfre_sq_exec *x, const wfre_sq_expression *e, const wfre_sq_value *arguments,
                    wfre_sq_value *value)
{
    wfre_text out = {0};
    if (!wfre_sq_is_stringy(&arguments[0]) || arguments[2].type != WFRE_SQ_T_STRING)
        return false;
    wfre_sq_regex *regex = regex_of(x, e, &arguments[1], e->count > 3 ? &arguments[3] : NULL);
    size_t most = x->memory < x->memory_limit ? x->memory_limit - x->memory : 0;
    wfre_sq_regex_end end =
        regex ? wfre_sq_regex_replace(regex, arguments[0].text, arguments[2].text, most, &out)
              : WFRE_SQ_REGEX_WRONG;
    if (out.failed)
        (void)wfre_sq_no_memory(x);
    else if (end == WFRE_SQ_REGEX_STOPPED)
        (void)wfre_sq_check_time(x);
    else if (end == WFRE_SQ_REGEX_LARGE)
        (void)wfre_sq_scratch_text(x, most + 1); /* says so */
    else if (end == WFRE_SQ_REGEX_DONE)
        *value = like(&arguments[0], wfre_sq_keep(x, out.data ? out.data : "", out.length));
    wfre_text_free(&out);
    return end == WFRE_SQ_REGEX_DONE && x->status == WFRE_OK;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static bool round_number(wfre_sq_op op, const wfre_sq_value *a, wfre_sq_value *value)
{
    if (!wfre_sq_is_numeric(a))
        return false;
    wfre_sq_value result = {.type = a->type};
    if (a->type >= WFRE_SQ_T_FLOAT) {
        double v = a->real;
        result.real = op == WFRE_SQ_ABS     ? fabs(v)
                      : op == WFRE_SQ_CEIL  ? ceil(v)
                      : op == WFRE_SQ_FLOOR ? floor(v)
                                            : floor(v + 0.5);
        *value = result;
        return true;
    }
    result.decimal = a->decimal;
    bool ok = true;
    if (op == WFRE_SQ_ABS)
        result.decimal.negative = false;
    else
        ok = wfre_sq_decimal_round(&a->decimal,
                                   op == WFRE_SQ_CEIL    ? WFRE_SQ_UP
                                   : op == WFRE_SQ_FLOOR ? WFRE_SQ_DOWN
                                                         : WFRE_SQ_NEAREST,
                                   &result.decimal);
    *value = result;
    return ok;
}

static uint64_t random_bits(wfre_sq_exec *x)
{
    return wfre_mix64(x->random_seed + 0x9E3779B97F4A7C15u * ++x->random_count);
}

static bool uuid(wfre_sq_exec *x, bool iri, wfre_sq_value *value)
{
    char text[64];
    uint64_t a = random_bits(x), b = random_bits(x);
    a = (a & ~UINT64_C(0xF000)) | 0x4000;
    b = (b & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;
    int length = snprintf(text, sizeof text,
                          "%s%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                          iri ? "urn:uuid:" : "", a >> 32, a >> 16 & 0xFFFF, a & 0xFFFF, b >> 48,
                          b & UINT64_C(0xFFFFFFFFFFFF));
    wfre_name kept = wfre_sq_keep(x, text, (size_t)length);
    *value = (wfre_sq_value){.type = iri ? WFRE_SQ_T_IRI : WFRE_SQ_T_STRING, .text = kept};
    return kept.bytes != NULL;
}

/* ---- dates -------------------------------------------------------------------------------- */

static bool part_of_moment(wfre_sq_exec *x, wfre_sq_op op, const wfre_sq_value *a,
                           wfre_sq_value *value)
{
    const wfre_sq_moment *m = &a->moment;
    if (a->type != WFRE_SQ_T_MOMENT)
        return false;
    bool date = m->kind == WFRE_SQ_DATE_TIME || m->kind == WFRE_SQ_DATE;
    bool time = m->kind == WFRE_SQ_DATE_TIME || m->kind == WFRE_SQ_TIME;
    wfre_sq_moment zone = {.kind = WFRE_SQ_TIME, .zone = m->zone};
    char text[WFRE_SQ_VALUE_TEXT];
    switch (op) {
    case WFRE_SQ_YEAR:
        *value = wfre_sq_whole(m->year);
        return m->kind != WFRE_SQ_TIME;
    case WFRE_SQ_MONTH:
        *value = wfre_sq_whole(m->month);
        return date || m->kind == WFRE_SQ_G_YEAR_MONTH;
    case WFRE_SQ_DAY:
        *value = wfre_sq_whole(m->day);
        return date;
    case WFRE_SQ_HOURS:
        *value = wfre_sq_whole(m->hour);
        return time;
    case WFRE_SQ_MINUTES:
        *value = wfre_sq_whole(m->minute);
        return time;
    case WFRE_SQ_SECONDS: {
        int length = snprintf(text, sizeof text, "%u.%09" PRIu32, m->second % 100u, m->nano);
        *value = (wfre_sq_value){.type = WFRE_SQ_T_DECIMAL};
        return time && wfre_sq_decimal_parse(text, (size_t)length, &value->decimal);
    }
    case WFRE_SQ_TIMEZONE:
        *value = (wfre_sq_value){.type = WFRE_SQ_T_DURATION};
        value->duration = (wfre_sq_duration){.seconds = m->zone * (int64_t)60};
        return m->zone != WFRE_SQ_NO_ZONE;
    default: {
        size_t length = wfre_sq_moment_print(&zone, text);
        *value = wfre_sq_string(wfre_sq_keep(x, text + 8, length - 8));
        return value->text.bytes != NULL;
    }
    }
}

/* ---- terms -------------------------------------------------------------------------------- */

static bool make_iri(wfre_sq_exec *x, const wfre_sq_value *a, wfre_sq_value *value)
{
    *value = (wfre_sq_value){.type = WFRE_SQ_T_IRI, .text = a->text};
    if (a->type != WFRE_SQ_T_IRI && a->type != WFRE_SQ_T_STRING)
        return false;
    if (a->type == WFRE_SQ_T_STRING && !wfre_sq_iri_absolute(a->text)) {
        if (x->query->base.length == 0)
            return false;
        if (!wfre_sq_iri_resolve(&x->scratch, x->query->base, a->text, &value->text)) {
            (void)wfre_sq_no_memory(x);
            return false;
        }
    }
    return true;
}

/* A blank node for a text, another one in each solution. */
static bool make_blank(wfre_sq_exec *x, const wfre_sq_expression *e, const wfre_sq_value *a,
                       wfre_sq_value *value)
{
    char label[64];
    if (e->count == 0) {
        int length = snprintf(label, sizeof label, "wfre-b%" PRIu64, x->blanks++);
        *value = (wfre_sq_value){.type = WFRE_SQ_T_BLANK,
                                 .text = wfre_sq_keep(x, label, (size_t)length)};
        return value->text.bytes != NULL;
    }
    if (a->type != WFRE_SQ_T_STRING)
        return false;
    int length = snprintf(label, sizeof label, "wfre-s%" PRIu64 "-%016" PRIx64, x->solution,
                          wfre_hash(a->text.bytes, a->text.length, 1));
    *value =
        (wfre_sq_value){.type = WFRE_SQ_T_BLANK, .text = wfre_sq_keep(x, label, (size_t)length)};
    return value->text.bytes != NULL;
}

/* The lexical form, in memory that stays. */
static wfre_name text_of(wfre_sq_exec *x, const wfre_sq_value *a)
{
    char text[WFRE_SQ_VALUE_TEXT];
    if (a->text.bytes)
        return a->text;
    return wfre_sq_keep(x, text, wfre_sq_value_print(a, text));
}

static bool about_term(wfre_sq_exec *x, wfre_sq_op op, const wfre_sq_value *a, wfre_sq_value *value)
{
    bool literal = a->type >= WFRE_SQ_T_STRING;
    switch (op) {
    case WFRE_SQ_IS_IRI:
        *value = wfre_sq_truth(a->type == WFRE_SQ_T_IRI);
        return true;
    case WFRE_SQ_IS_BLANK:
        *value = wfre_sq_truth(a->type == WFRE_SQ_T_BLANK);
        return true;
    case WFRE_SQ_IS_LITERAL:
        *value = wfre_sq_truth(literal);
        return true;
    case WFRE_SQ_IS_NUMERIC:
        *value = wfre_sq_truth(wfre_sq_is_numeric(a));
        return true;
    case WFRE_SQ_STR:
        *value = wfre_sq_string(text_of(x, a));
        return a->type != WFRE_SQ_T_BLANK && value->text.bytes;
    case WFRE_SQ_LANG:
        *value = wfre_sq_string(a->language.length ? a->language : wfre_sq_name("", 0));
        return literal;
    default:
        if (!literal)
            return false;
        *value = (wfre_sq_value){.type = WFRE_SQ_T_IRI, .text = wfre_sq_value_datatype(a)};
        return true;
    }
}

static bool typed_string(wfre_sq_op op, const wfre_sq_value *a, const wfre_sq_value *b,
                         wfre_sq_value *value)
{
    if (a->type != WFRE_SQ_T_STRING)
        return false;
    if (op == WFRE_SQ_STRDT) {
        if (b->type != WFRE_SQ_T_IRI)
            return false;
        wfre_sq_value_read(a->text, b->text, wfre_sq_name(NULL, 0), value);
        return true;
    }
    *value = (wfre_sq_value){.type = WFRE_SQ_T_TAGGED, .text = a->text, .language = b->text};
    return b->type == WFRE_SQ_T_STRING && b->text.length > 0;
}

static bool digest(wfre_sq_exec *x, wfre_sq_op op, const wfre_sq_value *a, wfre_sq_value *value)
{
    char text[WFRE_SQ_DIGEST_TEXT];
    if (a->type != WFRE_SQ_T_STRING)
        return false;
    wfre_sq_digest kind = op == WFRE_SQ_MD5      ? WFRE_SQ_DIGEST_MD5
                          : op == WFRE_SQ_SHA1   ? WFRE_SQ_DIGEST_SHA1
                          : op == WFRE_SQ_SHA256 ? WFRE_SQ_DIGEST_SHA256
                          : op == WFRE_SQ_SHA384 ? WFRE_SQ_DIGEST_SHA384
                                                 : WFRE_SQ_DIGEST_SHA512;
    size_t length = wfre_sq_digest_text(kind, a->text.bytes, a->text.length, text);
    *value = wfre_sq_string(wfre_sq_keep(x, text, length));
    return value->text.bytes != NULL;
}

/* ---- the table ---------------------------------------------------------------------------- */

static bool call_other(wfre_sq_exec *x, const wfre_sq_expression *e, const wfre_sq_value *a,
                       wfre_sq_value *value)
{
    switch (e->op) {
    case WFRE_SQ_NOW:
        *value = (wfre_sq_value){.type = WFRE_SQ_T_MOMENT};
        value->moment = x->now;
        return true;
    case WFRE_SQ_RAND:
        *value = (wfre_sq_value){.type = WFRE_SQ_T_DOUBLE};
        value->real = (double)(random_bits(x) >> 11) / 9007199254740992.0;
        return true;
    case WFRE_SQ_UUID:
        return uuid(x, true, value);
    case WFRE_SQ_STRUUID:
        return uuid(x, false, value);
    case WFRE_SQ_BNODE:
        return make_blank(x, e, a, value);
    case WFRE_SQ_IRI_OF:
        return make_iri(x, a, value);
    case WFRE_SQ_SAME_TERM:
        *value = wfre_sq_truth(wfre_sq_value_same(&a[0], &a[1]));
        return true;
    case WFRE_SQ_STRLEN:
        *value = wfre_sq_whole((int64_t)characters(a->text));
        return wfre_sq_is_stringy(a);
    default:
        return false;
    }
}

bool wfre_sq_call(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *a,
                  wfre_sq_value *value)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (wfre_sq_tick_text(x, a[i].text.length) != WFRE_SQ_GO)
            return false;
    switch (e->op) {
    case WFRE_SQ_ABS:
    case WFRE_SQ_CEIL:
    case WFRE_SQ_FLOOR:
    case WFRE_SQ_ROUND:
        return round_number(e->op, a, value);
    case WFRE_SQ_CONCAT:
        return concat(x, a, e->count, value);
    case WFRE_SQ_CONTAINS:
    case WFRE_SQ_STRSTARTS:
    case WFRE_SQ_STRENDS:
    case WFRE_SQ_STRBEFORE:
    case WFRE_SQ_STRAFTER:
        return string_pair(x, e->op, &a[0], &a[1], value);
    case WFRE_SQ_YEAR:
    case WFRE_SQ_MONTH:
    case WFRE_SQ_DAY:
    case WFRE_SQ_HOURS:
    case WFRE_SQ_MINUTES:
    case WFRE_SQ_SECONDS:
    case WFRE_SQ_TIMEZONE:
    case WFRE_SQ_TZ:
        return part_of_moment(x, e->op, a, value);
    case WFRE_SQ_IS_IRI:
    case WFRE_SQ_IS_BLANK:
    case WFRE_SQ_IS_LITERAL:
    case WFRE_SQ_IS_NUMERIC:
    case WFRE_SQ_STR:
    case WFRE_SQ_LANG:
    case WFRE_SQ_DATATYPE:
        return about_term(x, e->op, a, value);
    case WFRE_SQ_ENCODE_FOR_URI:
        return encode_for_uri(x, a, value);
    case WFRE_SQ_LANG_MATCHES:
        return lang_matches(&a[0], &a[1], value);
    case WFRE_SQ_LCASE:
    case WFRE_SQ_UCASE:
        return change_case(x, e->op == WFRE_SQ_UCASE, a, value);
    case WFRE_SQ_REGEX:
        return match(x, e, a, value);
    case WFRE_SQ_REPLACE:
        return replace(x, e, a, value);
    case WFRE_SQ_STRDT:
    case WFRE_SQ_STRLANG:
        return typed_string(e->op, &a[0], &a[1], value);
    case WFRE_SQ_SUBSTR:
        return substring(a, e->count, value);
    case WFRE_SQ_MD5:
    case WFRE_SQ_SHA1:
    case WFRE_SQ_SHA256:
    case WFRE_SQ_SHA384:
    case WFRE_SQ_SHA512:
        return digest(x, e->op, a, value);
    default:
        return call_other(x, e, a, value);
    }
}

void wfre_sq_prepared_free(wfre_sq_exec *x)
{
    for (uint32_t i = 0; x->prepared && i < x->query->expression_count; i++) {
        wfre_sq_regex_free(x->prepared[i].regex);
        wfre_text_free(&x->prepared[i].pattern);
        wfre_text_free(&x->prepared[i].flags);
    }
    wfre_free(x->prepared);
    x->prepared = NULL;
}
