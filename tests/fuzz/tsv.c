/* TSV and CSV triples, plain or gzip, with and without a first line that names the columns. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *path = fuzz_write("triples", bytes, length);
    for (int header = 0; header < 2; header++) {
        const wfre_import_options options = {.header = header == 1};
        fuzz_import(&wfre_importer_tsv, path, &options);
        fuzz_import(&wfre_importer_csv, path, &options);
    }
    return 0;
}
