/* BetaE folders: two pickles and two files of triples, separated by lines "%%". */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"id2ent.pkl", "id2rel.pkl", "train.txt", "valid.txt"};
    const wfre_import_options options = {0};
    fuzz_write_parts(bytes, length, names, 4);
    fuzz_import(&wfre_importer_betae, fuzz_folder, &options);
    return 0;
}
