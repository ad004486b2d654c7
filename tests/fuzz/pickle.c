/* Pickles: whatever is accepted can be walked to its last value. */
#include <stdint.h>
#include <stdlib.h>

#include "base/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static uint64_t walk(wfre_pickle_value value, uint32_t depth, uint64_t *budget)
{
    if (value.kind == WFRE_PICKLE_CLASS || depth > WFRE_PICKLE_DEPTH + 1)
        abort();
    if (*budget == 0)
        return 0;
    --*budget;
    if (value.kind == WFRE_PICKLE_INT)
        return (uint64_t)value.number;
    uint64_t sum = value.body->count;
    for (size_t i = 0; i < value.body->count; i++)
        sum += value.kind == WFRE_PICKLE_STR ? (unsigned char)value.body->text[i]
                                             : walk(value.body->items[i], depth + 1, budget);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_pickle pickle;
    wfre_error error = {0};
    if (wfre_pickle_parse(&pickle, bytes, length, &error) == WFRE_OK) {
        uint64_t budget = 1 << 20; /* shared parts may be visited very often */
        volatile uint64_t sum = walk(pickle.root, 0, &budget);
        (void)sum;
        wfre_pickle_free(&pickle);
    } else if (error.message[0] == '\0') {
        abort();
    }
    return 0;
}
