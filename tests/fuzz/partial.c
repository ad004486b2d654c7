/* Kept standings of an evaluation: as the input has them, and edits of right ones with and without
 * a checksum that fits. What is taken over can be averaged. */
#include "eval/partial.h"
#include "editing.h"
#include "importing.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { KEY = 77 };
static const char QUERIES[] =
    "1p\t(p,#0,(e,#0))\t1\t2 3\n2i\t(i,(p,#0,(e,#1)),(p,#2,(e,#2)))\t\t0\n";

static void try_file(const void *bytes, size_t length)
{
    wfre_queryset set = {0};
    wfre_evaluation *e = NULL;
    const char *queries = fuzz_write("q.tsv", QUERIES, sizeof QUERIES - 1);
    must(wfre_queryset_read(queries, small_graph(), &set, NULL) == WFRE_OK);
    must(wfre_evaluation_create(&set, small_graph(), "x", &e, NULL) == WFRE_OK);
    must(wfre_partial_read(e, KEY, fuzz_write("p.partial", bytes, length), NULL) == WFRE_OK);
    (void)(wfre_evaluation_finish(e, 10, 1, NULL, NULL) == WFRE_OK);
    wfre_evaluation_free(e);
    wfre_queryset_clear(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static char *right;
    static size_t right_length;
    if (!right) {
        wfre_queryset set = {0};
        wfre_evaluation *e = NULL;
        const char *queries = fuzz_write("q.tsv", QUERIES, sizeof QUERIES - 1);
        const char *path = fuzz_write("p.partial", "", 0);
        must(wfre_queryset_read(queries, small_graph(), &set, NULL) == WFRE_OK);
        must(wfre_evaluation_create(&set, small_graph(), "x", &e, NULL) == WFRE_OK);
        must(wfre_partial_write(e, KEY, path, NULL) == WFRE_OK &&
             wfre_read_all(path, 1 << 20, &right, &right_length, NULL) == WFRE_OK);
        wfre_evaluation_free(e);
        wfre_queryset_clear(&set);
    }
    try_file(bytes, length);
    size_t size = right_length;
    unsigned char *copy = edited(right, &size, bytes, length);
    try_file(copy, size);
    if (size > 8) {
        uint64_t sum = wfre_hash(copy, size - 8, 0);
        memcpy(copy + size - 8, &sum, sizeof sum);
        try_file(copy, size);
    }
    free(copy);
    return 0;
}
