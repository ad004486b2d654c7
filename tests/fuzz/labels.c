/* Label files, for a graph of a few names. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char triples[] = "a\tr\tb\nb\tr\tc\n";
    char path[128];
    (void)snprintf(path, sizeof path, "%s", fuzz_write("triples", triples, sizeof triples - 1));
    const wfre_import_options options = {.labels = fuzz_write("labels", bytes, length)};
    fuzz_import(&wfre_importer_tsv, path, &options);
    return 0;
}
