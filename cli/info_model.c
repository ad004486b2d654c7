/* wfre info on a model: its sizes and settings. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "info.h"

static void print_text(const char *path, const wfre_model *model)
{
    const wfre_model_settings *settings = wfre_model_get_settings(model);
    struct stat file;
    uint64_t bytes = stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
    printf("%s: model, %s bytes, of the graph %016" PRIx64 "\n", cli_visible(path),
           cli_thousands(bytes), wfre_model_fingerprint(model));
    if (wfre_model_unfinished(model))
        printf("unfinished         half-trained, of a run that has not ended\n");
    printf("entities           %s\n", cli_thousands(wfre_model_entities(model)));
    printf("relations          %s\n", cli_thousands(wfre_model_relations(model) / 2));
    printf("parameters         %s\n", cli_thousands(wfre_model_parameters(model)));
    const wfre_reliability *reliability = wfre_model_reliability(model);
    if (reliability && reliability->queries > 0)
        cli_print("probabilities      calibration error %.3f on %s queries\n\n", reliability->error,
                  cli_thousands(reliability->queries));
    else
        printf("probabilities      %s\n\n", reliability ? "unchecked" : "none");
    for (size_t i = 0; i < wfre_model_setting_count(); i++) {
        wfre_setting_text row = wfre_model_setting(settings, i);
        printf("%-18s %-12s %s\n", row.name, row.value, row.help);
    }
}

static void print_json(const wfre_model *model)
{
    const wfre_model_settings *settings = wfre_model_get_settings(model);
    printf("{\"kind\":\"model\",\"graph\":\"%016" PRIx64 "\",\"entities\":%" PRIu32
           ",\"relations\":%" PRIu32 ",\"parameters\":%" PRIu64,
           wfre_model_fingerprint(model), wfre_model_entities(model),
           wfre_model_relations(model) / 2, wfre_model_parameters(model));
    const wfre_reliability *reliability = wfre_model_reliability(model);
    if (reliability)
        cli_print(",\"calibration\":{\"queries\":%" PRIu64 ",\"error\":%.6f}", reliability->queries,
                  reliability->error);
    if (wfre_model_unfinished(model))
        printf(",\"unfinished\":true");
    printf(",\"settings\":{");
    for (size_t i = 0; i < wfre_model_setting_count(); i++) {
        wfre_setting_text row = wfre_model_setting(settings, i);
        printf("%s\"%s\":", i ? "," : "", row.name);
        cli_print_json(stdout, row.value, strlen(row.value));
    }
    printf("}}\n");
}

int info_model(const cli_call *call, const char *path)
{
    wfre_model *model = NULL;
    wfre_error error;
    if (wfre_model_open(path, &model, &error) != WFRE_OK)
        return cli_fail(&error);
    if (cli_has(call, "check") && wfre_model_validate(model, &error) != WFRE_OK) {
        cli_note("wfre: %s: %s", path, cli_message(&error));
        wfre_model_free(model);
        return EXIT_FAILED;
    }
    if (cli_has(call, "json"))
        print_json(model);
    else
        print_text(path, model);
    wfre_model_free(model);
    return EXIT_DONE;
}
