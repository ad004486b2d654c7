/* RDF: the first byte chooses the syntax and what becomes of literals. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    static const wfre_importer *const importers[] = {&wfre_importer_ttl, &wfre_importer_nt,
                                                     &wfre_importer_trig, &wfre_importer_nq};
    const wfre_import_options options = {.literals = bytes[0] & 1 ? WFRE_LITERALS_ENTITIES
                                                                  : WFRE_LITERALS_ATTRIBUTES,
                                         .base = bytes[0] & 8 ? "http://base/a/b" : NULL};
    fuzz_import(importers[bytes[0] >> 1 & 3], fuzz_write("graph", bytes + 1, length - 1), &options);
    return 0;
}
