/* Decimal numbers of up to 144 digits, exactly: what xsd:integer and xsd:decimal compute with. */
#ifndef WFRE_SRC_SPARQL_DECIMAL_H
#define WFRE_SRC_SPARQL_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limbs in base 10^9, the least first; and the most digits behind the point that division makes. */
enum { WFRE_SQ_LIMBS = 16, WFRE_SQ_SCALE = 18, WFRE_SQ_DECIMAL_TEXT = 168 };

/* (-1)^negative * limbs / 10^scale. Zero has no limbs and is not negative. */
typedef struct wfre_sq_decimal {
    bool negative;
    uint16_t scale;
    uint16_t count; /* of limbs; the last one is not 0 */
    uint32_t limbs[WFRE_SQ_LIMBS];
} wfre_sq_decimal;

/* Functions return false if the result has too many digits, or the text is no number. */
bool wfre_sq_decimal_parse(const char *text, size_t length, wfre_sq_decimal *number);
/* Writes the shortest form; returns its length, below WFRE_SQ_DECIMAL_TEXT. */
size_t wfre_sq_decimal_print(const wfre_sq_decimal *number, char *text);
void wfre_sq_decimal_whole(int64_t value, wfre_sq_decimal *number);
bool wfre_sq_decimal_real(double value, wfre_sq_decimal *number);
double wfre_sq_decimal_double(const wfre_sq_decimal *number);
/* False if it is no whole number of 64 bits. */
bool wfre_sq_decimal_int(const wfre_sq_decimal *number, int64_t *value);

bool wfre_sq_decimal_add(const wfre_sq_decimal *a, const wfre_sq_decimal *b, wfre_sq_decimal *sum);
bool wfre_sq_decimal_subtract(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                              wfre_sq_decimal *difference);
bool wfre_sq_decimal_multiply(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                              wfre_sq_decimal *product);
/* Rounded to WFRE_SQ_SCALE digits behind the point; false also for division by 0. */
bool wfre_sq_decimal_divide(const wfre_sq_decimal *a, const wfre_sq_decimal *b,
                            wfre_sq_decimal *quotient);
int wfre_sq_decimal_compare(const wfre_sq_decimal *a, const wfre_sq_decimal *b);

typedef enum wfre_sq_rounding {
    WFRE_SQ_DOWN,    /* towards minus infinity */
    WFRE_SQ_UP,      /* towards plus infinity */
    WFRE_SQ_NEAREST, /* halves up */
    WFRE_SQ_TOWARDS_ZERO
} wfre_sq_rounding;
bool wfre_sq_decimal_round(const wfre_sq_decimal *a, wfre_sq_rounding way, wfre_sq_decimal *whole);

#endif
