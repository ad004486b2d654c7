/* TSV triples, plain or gzip. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const wfre_import_options options = {0};
    fuzz_import(&wfre_importer_tsv, fuzz_write("triples", bytes, length), &options);
    return 0;
}
