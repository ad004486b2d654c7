/* Case mapping where one character becomes several, or its place matters (Unicode 15,
 * SpecialCasing.txt without the rows of single languages); all others are the C library's. */
#include "sparql/letter_case.h"

#include <stdbool.h>
#include <string.h>
#include <wctype.h>

#include "sparql/lexer.h"

typedef struct expansion {
    uint16_t from, to[WFRE_CASE_MOST];
} expansion;

/* Greek letters with iota subscript from U+1F80 to U+1FAF follow a rule instead. */
static const expansion UPPER[] = {
    {0x00DF, {'S', 'S'}},
    {0x0149, {0x02BC, 'N'}},
    {0x01F0, {'J', 0x030C}},
    {0x0390, {0x0399, 0x0308, 0x0301}},
    {0x03B0, {0x03A5, 0x0308, 0x0301}},
    {0x0587, {0x0535, 0x0552}},
    {0x1E96, {'H', 0x0331}},
    {0x1E97, {'T', 0x0308}},
    {0x1E98, {'W', 0x030A}},
    {0x1E99, {'Y', 0x030A}},
    {0x1E9A, {'A', 0x02BE}},
    {0x1F50, {0x03A5, 0x0313}},
    {0x1F52, {0x03A5, 0x0313, 0x0300}},
    {0x1F54, {0x03A5, 0x0313, 0x0301}},
    {0x1F56, {0x03A5, 0x0313, 0x0342}},
    {0x1FB2, {0x1FBA, 0x0399}},
    {0x1FB3, {0x0391, 0x0399}},
    {0x1FB4, {0x0386, 0x0399}},
    {0x1FB6, {0x0391, 0x0342}},
    {0x1FB7, {0x0391, 0x0342, 0x0399}},
    {0x1FBC, {0x0391, 0x0399}},
    {0x1FC2, {0x1FCA, 0x0399}},
    {0x1FC3, {0x0397, 0x0399}},
    {0x1FC4, {0x0389, 0x0399}},
    {0x1FC6, {0x0397, 0x0342}},
    {0x1FC7, {0x0397, 0x0342, 0x0399}},
    {0x1FCC, {0x0397, 0x0399}},
    {0x1FD2, {0x0399, 0x0308, 0x0300}},
    {0x1FD3, {0x0399, 0x0308, 0x0301}},
    {0x1FD6, {0x0399, 0x0342}},
    {0x1FD7, {0x0399, 0x0308, 0x0342}},
    {0x1FE2, {0x03A5, 0x0308, 0x0300}},
    {0x1FE3, {0x03A5, 0x0308, 0x0301}},
    {0x1FE4, {0x03A1, 0x0313}},
    {0x1FE6, {0x03A5, 0x0342}},
    {0x1FE7, {0x03A5, 0x0308, 0x0342}},
    {0x1FF2, {0x1FFA, 0x0399}},
    {0x1FF3, {0x03A9, 0x0399}},
    {0x1FF4, {0x038F, 0x0399}},
    {0x1FF6, {0x03A9, 0x0342}},
    {0x1FF7, {0x03A9, 0x0342, 0x0399}},
    {0x1FFC, {0x03A9, 0x0399}},
    {0xFB00, {'F', 'F'}},
    {0xFB01, {'F', 'I'}},
    {0xFB02, {'F', 'L'}},
    {0xFB03, {'F', 'F', 'I'}},
    {0xFB04, {'F', 'F', 'L'}},
    {0xFB05, {'S', 'T'}},
    {0xFB06, {'S', 'T'}},
    {0xFB13, {0x0544, 0x0546}},
    {0xFB14, {0x0544, 0x0535}},
    {0xFB15, {0x0544, 0x053B}},
    {0xFB16, {0x054E, 0x0546}},
    {0xFB17, {0x0544, 0x053D}},
};

enum { SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, CAPITAL_SIGMA = 0x3A3, DOTTED_I = 0x130 };

static size_t expand(uint32_t c, uint32_t to[WFRE_CASE_MOST])
{
    static const uint16_t GREEK[] = {0x1F08, 0x1F28, 0x1F68};
    if (c >= 0x1F80 && c <= 0x1FAF) {
        to[0] = GREEK[(c - 0x1F80) / 16] | (c & 7);
        to[1] = 0x399;
        return 2;
    }
    size_t low = 0, high = sizeof UPPER / sizeof UPPER[0], count = 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (UPPER[middle].from <= c)
            low = middle;
        else
            high = middle;
    }
    while (UPPER[low].from == c && count < WFRE_CASE_MOST && UPPER[low].to[count]) {
        to[count] = UPPER[low].to[count];
        count++;
    }
    return count;
}

size_t wfre_sq_upper(uint32_t c, locale_t locale, uint32_t to[WFRE_CASE_MOST])
{
    size_t count = c >= 0xDF && c <= 0xFFFF ? expand(c, to) : 0;
    if (count > 0)
        return count;
    to[0] = (uint32_t)towupper_l((wint_t)c, locale);
    return 1;
}

/* ---- lower case --------------------------------------------------------------------------- */

/* What may stand between the letters of a word without ending it. */
static bool is_ignored(uint32_t c)
{
    return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' || c == 0xA8 || c == 0xAD ||
           c == 0xAF || c == 0xB4 || c == 0xB7 || c == 0xB8 || (c >= 0x2B0 && c <= 0x36F) ||
           c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027;
}

static bool is_cased(uint32_t c, locale_t locale)
{
    return iswlower_l((wint_t)c, locale) || iswupper_l((wint_t)c, locale);
}

/* Whether a letter comes before the place, or behind it, in the same word. */
static bool letter_before(wfre_name text, size_t at, locale_t locale)
{
    while (at > 0) {
        size_t size;
        do
            at--;
        while (at > 0 && ((unsigned char)text.bytes[at] & 0xC0) == 0x80);
        uint32_t c = wfre_sq_decode(text.bytes + at, text.length - at, &size);
        if (!is_ignored(c))
            return is_cased(c, locale);
    }
    return false;
}

static bool letter_behind(wfre_name text, size_t at, locale_t locale)
{
    for (size_t size; at < text.length; at += size) {
        uint32_t c = wfre_sq_decode(text.bytes + at, text.length - at, &size);
        if (!is_ignored(c))
            return is_cased(c, locale);
    }
    return false;
}

size_t wfre_sq_lower(wfre_name text, size_t at, uint32_t c, size_t size, locale_t locale,
                     uint32_t to[WFRE_CASE_MOST])
{
    to[0] = (uint32_t)towlower_l((wint_t)c, locale);
    if (c == CAPITAL_SIGMA)
        to[0] = letter_before(text, at, locale) && !letter_behind(text, at + size, locale)
                    ? FINAL_SIGMA
                    : SMALL_SIGMA;
    if (c != DOTTED_I)
        return 1;
    to[0] = 'i';
    to[1] = 0x307; /* the dot above, which i has already: kept so that nothing is lost */
    return 2;
}
