/* seal FILE: makes the checksums of a snapshot or model fit what it holds, for tests/mutate.sh.
 * Fails if the file is neither. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "sealing.h"
#include "snapshot.h"

int main(int argc, char **argv)
{
    char *bytes = NULL;
    size_t length;
    if (argc != 2 || wfre_read_all(argv[1], (size_t)1 << 30, &bytes, &length, NULL) != WFRE_OK)
        return 1;
    bool sealed = wfre_graph_recognises(bytes, length);
    if (sealed)
        snapshot_seal(bytes, length);
    else
        sealed = model_seal(bytes, length);
    if (sealed && wfre_write_file(argv[1], bytes, length, NULL) != WFRE_OK)
        sealed = false;
    wfre_free(bytes);
    return sealed ? 0 : 1;
}
