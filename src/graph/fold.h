/* Folded texts: case, and the difference of blank, '_' and '-', do not count. */
#ifndef WFRE_SRC_GRAPH_FOLD_H
#define WFRE_SRC_GRAPH_FOLD_H

#include "wfre/graph.h"

/* The lower-case form of a character, for the alphabets in which it is a fixed step away. Its UTF-8
 * is as long as before. */
static inline uint32_t wfre_fold_point(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
        (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40F)
        return c + 0x50;
    bool pairs = (c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177);
    bool shifted = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    if ((pairs && c % 2 == 0) || (shifted && c % 2 == 1))
        return c + 1;
    return c == ' ' || c == '-' ? '_' : c;
}

/* The next character, folded; *at moves behind it. */
static inline uint32_t wfre_fold_next(wfre_name text, size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)text.bytes + *at;
    size_t length = wfre_utf8_sequence(text.bytes + *at, text.length - *at);
    if (length != 2) { /* no case, or none that matters here: byte by byte */
        ++*at;
        return wfre_fold_point(bytes[0] < 0x80 ? bytes[0] : bytes[0] | 0x80000000u);
    }
    *at += 2;
    return wfre_fold_point((bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu));
}

/* Writes the folded text, which has the same length. */
static inline void wfre_fold_into(char *folded, wfre_name text)
{
    for (size_t at = 0; at < text.length;) {
        size_t begin = at;
        uint32_t c = wfre_fold_next(text, &at);
        if (at - begin == 1) {
            folded[begin] = (char)(c & 0xFF);
        } else {
            folded[begin] = (char)(0xC0 | c >> 6);
            folded[begin + 1] = (char)(0x80 | (c & 0x3F));
        }
    }
}

#endif
