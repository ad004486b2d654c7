/* WordNet dictionaries: eight files, separated by lines "%%". */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"data.noun",  "data.verb",  "data.adj",  "data.adv",
                                        "index.noun", "index.verb", "index.adj", "index.adv"};
    const wfre_import_options options = {0};
    fuzz_write_parts(bytes, length, names, 8);
    fuzz_import(&wfre_importer_wordnet, fuzz_folder, &options);
    return 0;
}
