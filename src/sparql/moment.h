/* Dates, times and durations of XML Schema. */
#ifndef WFRE_SRC_SPARQL_MOMENT_H
#define WFRE_SRC_SPARQL_MOMENT_H

#include "wfre/graph.h"

enum { WFRE_SQ_NO_ZONE = INT16_MAX };

/* What of a moment is given. */
typedef enum wfre_sq_moment_kind {
    WFRE_SQ_DATE_TIME,
    WFRE_SQ_DATE,
    WFRE_SQ_TIME,
    WFRE_SQ_G_YEAR,
    WFRE_SQ_G_YEAR_MONTH
} wfre_sq_moment_kind;

typedef struct wfre_sq_moment {
    wfre_sq_moment_kind kind;
    int64_t year;
    uint8_t month, day, hour, minute, second; /* 24:00:00 is kept as the next day's 00:00:00 */
    uint32_t nano;
    int16_t zone; /* minutes, or WFRE_SQ_NO_ZONE */
} wfre_sq_moment;

typedef struct wfre_sq_duration {
    int64_t months;
    int64_t seconds; /* both of the same sign, or 0 */
    int32_t nano;
} wfre_sq_duration;

bool wfre_sq_moment_parse(wfre_sq_moment_kind kind, wfre_name text, wfre_sq_moment *moment);
/* Nanoseconds are behind the seconds; a moment without a zone is taken as UTC. */
int64_t wfre_sq_moment_seconds(const wfre_sq_moment *moment);
/* -1, 0, 1; 2 if a zone is lacking on one side and the moments are less than 14 hours apart. */
int wfre_sq_moment_compare(const wfre_sq_moment *a, const wfre_sq_moment *b);
/* Writes the canonical form; the length, below 64. */
size_t wfre_sq_moment_print(const wfre_sq_moment *moment, char *text);
/* The moment so many seconds after 1970, in UTC. */
void wfre_sq_moment_from_seconds(int64_t seconds, uint32_t nano, wfre_sq_moment *moment);

bool wfre_sq_duration_parse(wfre_name text, wfre_sq_duration *duration);
size_t wfre_sq_duration_print(const wfre_sq_duration *duration, char *text);

#endif
