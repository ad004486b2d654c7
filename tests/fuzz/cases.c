/* Cases for scores: what is taken has rows of equal length and is scored,
 * or refused by the score. */
#include <math.h>
#include <stdlib.h>

#include "wfr/cases.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Rows within [0, 1] have a finite distance, others none. Few iterations, so that the fuzzer stays
 * fast. */
static void check_case(const wfre_score_case *one)
{
    wfre_score_settings settings = one->settings;
    wfre_score *score;
    double distance;
    bool proper = true;
    settings.iterations = settings.iterations > 30 ? 30 : settings.iterations;
    if (wfre_score_create_for(&settings, WFRE_ISA_REFERENCE, &score, NULL) != WFRE_OK)
        return;
    for (size_t i = 0; i < settings.dimension; i++)
        proper = proper && one->left[i] >= 0 && one->left[i] <= 1 && one->right[i] >= 0 &&
                 one->right[i] <= 1;
    wfre_status status = wfre_score_pair(score, one->left, one->right, &distance, NULL, NULL, NULL);
    must(proper ? status == WFRE_OK && isfinite(distance) : status == WFRE_ERR_NUMERIC);
    wfre_score_free(score);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_score_settings defaults;
    wfre_score_cases *cases;
    wfre_error error = {0};
    wfre_score_defaults(0, &defaults);
    if (wfre_score_cases_parse("input", (const char *)bytes, length, &defaults, &cases, &error) !=
        WFRE_OK) {
        must(error.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < wfre_score_cases_count(cases); i++)
        check_case(wfre_score_cases_get(cases, i));
    wfre_score_cases_free(cases);
    return 0;
}
