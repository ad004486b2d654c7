/* RDF through serd: the first byte chooses the syntax and whether literals are kept. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    const wfre_import_options options = {.literals = bytes[0] & 1};
    fuzz_import(bytes[0] & 2 ? &wfre_importer_nt : &wfre_importer_ttl,
                fuzz_write("graph", bytes + 1, length - 1), &options);
    return 0;
}
