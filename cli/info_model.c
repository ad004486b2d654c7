/* wfre info on a model: its sizes and settings. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "info.h"

/* How probable answers of some questions turned out: a line, and one for each bin. */
static void print_reliability(const char *questions, const wfre_reliability *r)
{
    if (!r || r->queries == 0) {
        printf("probabilities      %s: %s\n", questions, r ? "unchecked" : "none");
        return;
    }
    cli_print("probabilities      %s: calibration error %.3f", questions, r->error);
    if (r->high > 0)
        cli_print(" (%.3f to %.3f)", r->low, r->high);
    printf(" on %s questions%s\n", cli_thousands(r->queries),
           r->queries < CLI_FEW_QUESTIONS ? ": too few to tell" : "");
    if (r->fitted > 0)
        cli_print("                   fitted to %s others; %.0f answers expected, %s found\n",
                  cli_thousands(r->fitted), r->expected, cli_thousands(r->found));
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        if (r->bins[b].count > 0)
            cli_print("                   said %.2f: %.2f of %s answers were right\n",
                      r->bins[b].predicted, r->bins[b].observed, cli_thousands(r->bins[b].count));
}

/* "MRR 0.312 (0.290 to 0.334)" */
static void print_mrr(const wfre_measured_row *row)
{
    cli_print("MRR %.3f (%.3f to %.3f)", row->mean.mrr, row->mrr_low, row->mrr_high);
}

static void print_mean(const char *what, const wfre_measured_row *row)
{
    if (row->questions == 0)
        return;
    printf("                   %s: ", what);
    print_mrr(row);
    printf(" on %s of %u type%s\n", cli_thousands(row->questions), row->types,
           row->types == 1 ? "" : "s");
}

/* How well it ranked what was held out. */
static void print_measured(const wfre_measured *m)
{
    if (!m) {
        printf("measured           nothing that this file keeps; wfre eval measures\n");
        return;
    }
    printf("measured           on the valid split, %s, %s; by the program of commit %s\n",
           m->by == WFRE_BY_EDGES ? "edge by edge" : "each question as a whole",
           m->sampled ? "questions drawn from it" : "questions from a file",
           *m->commit ? cli_visible(m->commit) : "unknown");
    if (m->links.questions > 0) {
        printf("                   link prediction: ");
        print_mrr(&m->links);
        cli_print(", Hits@1 %.3f, @3 %.3f, @10 %.3f on %s of %s triples, both ways\n",
                  m->links.mean.hits1, m->links.mean.hits3, m->links.mean.hits10,
                  cli_thousands(m->links.questions / 2), cli_thousands(m->triples));
    }
    print_mean("questions without not", &m->without_not);
    print_mean("questions with not", &m->with_not);
    for (size_t i = 0; i < m->type_count; i++) {
        printf("                   %-8s ", cli_visible(m->types[i].name));
        print_mrr(&m->types[i]);
        printf(" on %s\n", cli_thousands(m->types[i].questions));
    }
}

static void json_reliability(const char *key, const wfre_reliability *r)
{
    if (!r)
        return;
    cli_print(",\"%s\":{\"queries\":%" PRIu64 ",\"fitted\":%" PRIu64
              ",\"error\":%.6f,\"low\":%.6f,\"high\":%.6f,\"expected\":%.3f,\"found\":%" PRIu64
              ",\"bins\":[",
              key, r->queries, r->fitted, r->error, r->low, r->high, r->expected, r->found);
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++)
        cli_print("%s{\"count\":%" PRIu64 ",\"predicted\":%.6f,\"observed\":%.6f}", b ? "," : "",
                  r->bins[b].count, r->bins[b].predicted, r->bins[b].observed);
    printf("]}");
}

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
    print_reliability("any question", wfre_model_reliability(model));
    print_reliability("if one is missing", wfre_model_missing_reliability(model));
    if (!wfre_model_reliability(model) && wfre_model_missing_reliability(model))
        printf("                   made before probabilities of any question were fitted\n");
    print_measured(wfre_model_measured(model));
    printf("\n");
    for (size_t i = 0; i < wfre_model_setting_count(); i++) {
        wfre_setting_text row = wfre_model_setting(settings, i);
        printf("%-18s %-12s %s\n", row.name, row.value, row.help);
    }
}

static int print_json(const wfre_model *model)
{
    char *measured = NULL;
    wfre_error error;
    if (wfre_model_measured_json(model, &measured, &error) != WFRE_OK)
        return cli_fail(&error);
    const wfre_model_settings *settings = wfre_model_get_settings(model);
    printf("{\"kind\":\"model\",\"graph\":\"%016" PRIx64 "\",\"entities\":%" PRIu32
           ",\"relations\":%" PRIu32 ",\"parameters\":%" PRIu64,
           wfre_model_fingerprint(model), wfre_model_entities(model),
           wfre_model_relations(model) / 2, wfre_model_parameters(model));
    json_reliability("calibration", wfre_model_reliability(model));
    json_reliability("missing_calibration", wfre_model_missing_reliability(model));
    printf(",\"measured\":%s", measured);
    wfre_string_free(measured);
    if (wfre_model_unfinished(model))
        printf(",\"unfinished\":true");
    printf(",\"settings\":{");
    for (size_t i = 0; i < wfre_model_setting_count(); i++) {
        wfre_setting_text row = wfre_model_setting(settings, i);
        printf("%s\"%s\":", i ? "," : "", row.name);
        cli_print_json(stdout, row.value, strlen(row.value));
    }
    printf("}}\n");
    return EXIT_DONE;
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
    int code = EXIT_DONE;
    if (cli_has(call, "json"))
        code = print_json(model);
    else
        print_text(path, model);
    wfre_model_free(model);
    return code;
}
