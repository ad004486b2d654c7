/* wfre info of a query set: how many queries and answers each type has. */
#include "info.h"

static void print_json(const wfre_queryset *set)
{
    printf("{\"kind\":\"query set\",\"queries\":%u,\"types\":[", wfre_queryset_queries(set));
    for (uint32_t i = 0; i < wfre_queryset_type_count(set); i++) {
        wfre_queryset_type type = wfre_queryset_get_type(set, i);
        printf("%s{\"type\":", i ? "," : "");
        cli_print_json(stdout, type.name.bytes, type.name.length);
        printf(",\"queries\":%u,\"easy\":%llu,\"hard\":%llu}", type.queries,
               (unsigned long long)type.easy, (unsigned long long)type.hard);
    }
    printf("]}\n");
}

static void print_text(const char *path, const wfre_queryset *set)
{
    uint32_t types = wfre_queryset_type_count(set);
    printf("%s: query set, %s queries of %u type%s\n\n", cli_visible(path),
           cli_thousands(wfre_queryset_queries(set)), types, types == 1 ? "" : "s");
    printf("%10s %12s %12s  type\n", "queries", "easy a query", "hard a query");
    for (uint32_t i = 0; i < types; i++) {
        wfre_queryset_type type = wfre_queryset_get_type(set, i);
        cli_print("%10s %12.1f %12.1f  ", cli_thousands(type.queries),
                  (double)type.easy / type.queries, (double)type.hard / type.queries);
        cli_print_name(stdout, type.name.bytes, type.name.length);
        printf("\n");
    }
}

int info_queryset(const cli_call *call, const char *path)
{
    wfre_queryset *set;
    wfre_error error;
    if (wfre_queryset_open(path, NULL, &set, &error) != WFRE_OK)
        return cli_fail(&error);
    if (cli_has(call, "json"))
        print_json(set);
    else
        print_text(path, set);
    wfre_queryset_close(set);
    return EXIT_DONE;
}
