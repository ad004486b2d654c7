/* A pickled tuple of three, the queries, their easy and their hard answers, into a query set. */
#include "sample/convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_pickle pickle;
    wfre_queryset set = {0};
    wfre_error error;
    if (wfre_pickle_parse(&pickle, bytes, length, &error) == WFRE_OK &&
        pickle.root.kind == WFRE_PICKLE_TUPLE && pickle.root.body->count == 3) {
        const wfre_pickle_value *parts = pickle.root.body->items;
        if (wfre_convert_pickles(&parts[0], &parts[1], &parts[2], &set, &error) == WFRE_OK)
            for (uint32_t i = 0; i < set.count; i++)
                if (!set.rows[i].tree || set.rows[i].end > set.id_count)
                    __builtin_trap();
    }
    wfre_queryset_clear(&set);
    wfre_pickle_free(&pickle);
    return 0;
}
