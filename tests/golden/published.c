/* Every answer set of the published validation queries is reproduced. Skips without the data. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "wfre/query.h"

static const struct {
    const char *folder;
    uint64_t queries;
} SETS[] = {{"WN18RR-QA", 18202}, {"FB15k-237-betae", 23000}, {"NELL-betae", 23000}};

/* 0 if all is well, 77 if the folder is not there. */
static int check(const char *shared, const char *name, uint64_t queries, wfre_pool *pool)
{
    char folder[4096];
    wfre_conversion report;
    wfre_error error;
    wfre_convert_options options = {.split = WFRE_VALID, .verify = true};
    (void)snprintf(folder, sizeof folder, "%s/data/%s", shared, name);
    if (!wfre_is_folder(folder)) {
        printf("skipped: no %s\n", name);
        return 77;
    }
    double begin = wfre_clock();
    if (wfre_queries_convert(folder, &options, NULL, pool, NULL, &report, &error) != WFRE_OK) {
        printf("%s: %s\n", name, error.message);
        return 1;
    }
    printf("%s: %llu queries of %u types, %llu differ, %.2f s\n", name,
           (unsigned long long)report.queries, report.types, (unsigned long long)report.differ,
           wfre_clock() - begin);
    return report.queries != queries || report.types != 14 || report.differ != 0;
}

int main(void)
{
    const char *shared = getenv("WFRE_SHARED");
    wfre_pool *pool;
    int worst = 0;
    if (!shared || wfre_pool_create(0, &pool, NULL) != WFRE_OK)
        return 1;
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS && worst != 1; i++) {
        int code = check(shared, SETS[i].folder, SETS[i].queries, pool);
        worst = code ? code : worst;
    }
    wfre_pool_free(pool);
    return worst;
}
