/* wfre types: the built-in query types and their normal forms. */
#include <string.h>

#include "commands.h"

static const cli_option OPTIONS[] = {
    {"set", 0, CLI_TEXT, "SET", "betae (14 types, the default) or efo1 (301 types)", 0, 0},
    {"form", 0, CLI_TEXT, "FORM",
     "original (default), DeMorgan, DeMorgan+MultiI, DNF, DNF+MultiIU or all", 0, 0},
    CLI_OPTION_JSON,
};

static void print_json(const wfre_types *types, int first, int last)
{
    printf("[");
    for (size_t i = 0; i < wfre_types_count(types); i++) {
        printf(i ? ",\n {\"name\":\"%s\"" : "\n {\"name\":\"%s\"", wfre_types_name(types, i));
        for (int form = first; form <= last; form++)
            printf(",\"%s\":\"%s\"", wfre_form_name((wfre_form)form),
                   wfre_types_tree(types, i, (wfre_form)form));
        printf("}");
    }
    printf("\n]\n");
}

static void print_text(const wfre_types *types, int first, int last)
{
    for (size_t i = 0; i < wfre_types_count(types); i++) {
        const char *name = wfre_types_name(types, i);
        if (first == last) {
            printf("%-8s  %s\n", name, wfre_types_tree(types, i, (wfre_form)first));
            continue;
        }
        printf("%s\n", name);
        for (int form = first; form <= last; form++)
            printf("  %-15s  %s\n", wfre_form_name((wfre_form)form),
                   wfre_types_tree(types, i, (wfre_form)form));
    }
}

static int run(const cli_call *call)
{
    const char *set = cli_text(call, "set", "betae"), *form = cli_text(call, "form", "original");
    wfre_form chosen = WFRE_FORM_ORIGINAL;
    bool all = strcmp(form, "all") == 0, efo1 = strcmp(set, "efo1") == 0;
    if (!efo1 && strcmp(set, "betae") != 0)
        return cli_usage(call, "unknown set %s; there are betae and efo1", set);
    if (!all && !wfre_form_from_name(form, &chosen))
        return cli_usage(call,
                         "unknown form %s; there are original, DeMorgan, DeMorgan+MultiI, DNF, "
                         "DNF+MultiIU and all",
                         form);
    wfre_types *types;
    wfre_error error;
    if (wfre_types_create(efo1 ? WFRE_TYPES_EFO1 : WFRE_TYPES_BETAE, &types, &error) != WFRE_OK)
        return cli_fail(&error);
    (cli_has(call, "json") ? print_json : print_text)(types, all ? 0 : (int)chosen,
                                                      all ? WFRE_FORMS - 1 : (int)chosen);
    wfre_types_free(types);
    return EXIT_DONE;
}

const cli_command command_types = {
    .name = "types",
    .arguments = "",
    .summary = "the query types and their normal forms",
    .details =
        "Letters: e entity, p projection, i intersection, u union, n negation; I and U have\n"
        "more than two arguments. The EFO-1-QA types have their published ids.\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 0,
    .maximum_arguments = 0,
    .run = run,
};
