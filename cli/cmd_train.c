/* wfre train: a model from a graph. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "train_settings.h"

static const cli_option OPTIONS[] = {
    {"out", 'o', CLI_FILE, "FILE", "the model to write (default: GRAPH's name, .safetensors)", 0,
     0},
    {"preset", 0, CLI_TEXT, "NAME",
     "small, base, large, embedding, or paper-wn18rr, -fb15k-237, -nell, -fb15k (default: by "
     "size)",
     0, 0},
    {"time", 0, CLI_DURATION, "TIME", "length of the run, such as 90s, 30m, 1.5h", 0, 0},
    {"steps", 0, CLI_INTEGER, "N", "length of the run in steps, for exact reproduction", 1, 1e15},
    {"resume", 0, CLI_FLAG, NULL,
     "go on with an interrupted run, with its settings, if there is one", 0, 0},
    {"from", 0, CLI_TEXT, "FILE", "start with the weights (and the sizes) of this model", 0, 0},
    {"dim", 0, CLI_TEXT, "N", "length of a histogram, a multiple of the block size", 0, 0},
    {"bases", 0, CLI_TEXT, "N", "matrices that relations are mixed from; 0: a free one each", 0, 0},
    {"batch", 0, CLI_TEXT, "N", "queries a step", 0, 0},
    {"negatives", 0, CLI_TEXT, "N", "candidates drawn for each query, or shared by a batch", 0, 0},
    {"loss", 0, CLI_TEXT, "NAME", "softmax or sigmoid (the paper's)", 0, 0},
    {"guide", 0, CLI_TEXT, "NAME", "distance in the loss: score, local or staged", 0, 0},
    {"rho", 0, CLI_TEXT, "X", "scale of the distance", 0, 0},
    {"precision", 0, CLI_TEXT, "NAME", "of matrix products: fp32 or bf16", 0, 0},
    {"set", 0, CLI_REPEATED, "NAME=VALUE", "any other setting; may be repeated", 0, 0},
    {"settings", 0, CLI_FLAG, NULL, "list all settings with their values, and stop", 0, 0},
    {"queries", 0, CLI_TEXT, "FILE", "validation queries (default: sampled from the valid split)",
     0, 0},
    {"validate", 0, CLI_INTEGER, "N", "validation queries of each type; 0: none (default 20)", 0,
     1e6},
    {"calibrate", 0, CLI_INTEGER, "N",
     "queries of each type to fit how edges are predicted, and probabilities, to; 0: none (default "
     "200)",
     0, 1e6},
    {"checkpoint", 0, CLI_DURATION, "TIME", "between checkpoints (default 60s)", 0, 0},
    CLI_OPTION_SEED,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
};

static void list_settings(const cli_call *call, const wfre_train_settings *settings)
{
    bool json = cli_has(call, "json");
    for (size_t i = 0; i < wfre_train_setting_count(); i++) {
        wfre_setting_text row = wfre_train_setting(settings, i);
        if (json) {
            printf("%s\"%s\":", i ? "," : "{", row.name);
            cli_print_json(stdout, row.value, strlen(row.value));
        } else {
            printf("%-18s %-12s %s\n", row.name, row.value, row.help);
        }
    }
    printf("%s", json ? "}\n" : "");
}

/* The graph's path with .safetensors instead of .kg. */
static char *default_output(const char *graph)
{
    static const char suffix[] = ".safetensors";
    size_t length = strlen(graph);
    if (length > 3 && strcmp(graph + length - 3, ".kg") == 0)
        length -= 3;
    char *path = malloc(length + sizeof suffix);
    if (path) {
        memcpy(path, graph, length);
        memcpy(path + length, suffix, sizeof suffix);
    }
    return path;
}

static void json_measured(const char *key, const wfre_measured_row *row)
{
    if (row->questions > 0)
        cli_print(", \"%s\": {\"questions\": %llu, \"mrr\": %.4f, \"mrr_low\": %.4f, "
                  "\"mrr_high\": %.4f, \"hits10\": %.4f}",
                  key, (unsigned long long)row->questions, row->mean.mrr, row->mrr_low,
                  row->mrr_high, row->mean.hits10);
}

/* What the finished model can do, in the way in which it answers; wfre info has it by type. */
static void print_measured(const wfre_train_summary *summary)
{
    const wfre_measured_row *questions = &summary->questions, *links = &summary->links;
    if (questions->questions > 0)
        cli_print("  finished: MRR %.3f (%.3f to %.3f) on %s questions of %u type%s\n",
                  questions->mean.mrr, questions->mrr_low, questions->mrr_high,
                  cli_thousands(questions->questions), questions->types,
                  questions->types == 1 ? "" : "s");
    if (links->questions > 0)
        cli_print("  link prediction: MRR %.3f (%.3f to %.3f), Hits@10 %.3f on %s triples\n",
                  links->mean.mrr, links->mrr_low, links->mrr_high, links->mean.hits10,
                  cli_thousands(links->questions / 2));
}

/* How the model that was kept did on the way, by embedding. */
static void print_validation(const wfre_train_summary *summary)
{
    if (summary->best_mrr < 0 && summary->best_links_mrr < 0)
        return;
    printf("  validation on the way: MRR");
    if (summary->best_mrr >= 0)
        cli_print(" %.3f on questions", summary->best_mrr);
    if (summary->best_links_mrr >= 0)
        cli_print("%s %.3f on links", summary->best_mrr >= 0 ? "," : "", summary->best_links_mrr);
    printf("\n");
}

static void print_summary(const cli_call *call, const wfre_train_summary *summary, const char *out)
{
    const wfre_reliability *shown = summary->any.queries ? &summary->any : &summary->missing;
    if (cli_has(call, "json")) {
        printf("{\"model\": ");
        cli_print_json(stdout, out, strlen(out));
        cli_print(
            ", \"steps\": %llu, \"seconds\": %.1f, \"loss\": %.6g, \"queries_per_second\": %.0f",
            (unsigned long long)summary->status.step, summary->status.seconds, summary->status.loss,
            summary->status.queries_per_second);
        if (summary->best_mrr >= 0)
            cli_print(", \"mrr\": %.4f, \"best_mrr\": %.4f", summary->mrr, summary->best_mrr);
        if (summary->best_links_mrr >= 0)
            cli_print(", \"links_mrr\": %.4f, \"best_links_mrr\": %.4f", summary->links_mrr,
                      summary->best_links_mrr);
        json_measured("measured_questions", &summary->questions);
        json_measured("measured_links", &summary->links);
        if (summary->calibration_error >= 0)
            cli_print(", \"calibration_error\": %.4f, \"calibration_low\": %.4f, "
                      "\"calibration_high\": %.4f, \"calibration_questions\": %llu",
                      summary->calibration_error, shown->low, shown->high,
                      (unsigned long long)shown->queries);
        printf("}\n");
        return;
    }
    cli_progress_end();
    cli_print("%s: %s steps in %.0f s, loss %.3f\n", cli_visible(out),
              cli_thousands(summary->status.step), summary->status.seconds, summary->status.loss);
    print_validation(summary);
    print_measured(summary);
    if (summary->calibration_error >= 0)
        cli_print("  probabilities: calibration error %.3f (%.3f to %.3f) on %s questions%s\n",
                  summary->calibration_error, shown->low, shown->high,
                  cli_thousands(shown->queries),
                  shown->queries < CLI_FEW_QUESTIONS ? ": too few to tell" : "");
    fflush(stdout);
}

static int run(const cli_call *call)
{
    wfre_error error = {.code = WFRE_ERR_MEMORY, .message = "out of memory"};
    wfre_graph *graph = NULL;
    wfre_pool *pool = NULL;
    wfre_train_settings settings;
    if (strcmp(cli_text(call, "queries", ""), "-") == 0)
        return cli_usage(call, "--queries -: they are read more than once; name a file");
    char *fallback = default_output(cli_argument(call, 0));
    const char *out = cli_text(call, "out", fallback);
    bool resume = cli_has(call, "resume");
    int code = cli_keep_apart(call, out, cli_argument(call, 0));
    if (code == EXIT_DONE)
        code = cli_keep_apart(call, out, cli_text(call, "queries", NULL));
    if (code != EXIT_DONE)
        goto cleanup;
    if (!out || cli_load_graph(cli_argument(call, 0), &graph, &error) != WFRE_OK) {
        code = cli_fail(&error);
        goto cleanup;
    }
    if (resume && wfre_train_resumed_settings(out, &settings, &error) == WFRE_ERR_NOT_FOUND) {
        cli_note("nothing to resume: %s has no checkpoint, so training starts anew", out);
        resume = false;
    }
    if ((resume ? train_settings_resumed(call, out, &settings, &error)
                : train_settings(call, graph, &settings, &error)) != WFRE_OK) {
        code = resume ? cli_fail(&error) : cli_fail_setting(call, &error);
        goto cleanup;
    }
    if (cli_has(call, "settings")) {
        list_settings(call, &settings);
        goto cleanup;
    }
    if (!resume && wfre_train_settings_check(&settings, &error) != WFRE_OK) {
        code = cli_fail_setting(call, &error);
        goto cleanup;
    }
    wfre_train_run options = {
        .model = out,
        .from = cli_text(call, "from", NULL),
        .resume = resume,
        .checkpoint_seconds = cli_duration(call, "checkpoint", 60),
        .queries = cli_text(call, "queries", NULL),
        .validate = (uint32_t)cli_integer(call, "validate", 20),
        .calibrate = (uint32_t)cli_integer(call, "calibrate", CALIBRATION_QUERIES),
    };
    wfre_train_summary summary;
    if (wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error) != WFRE_OK ||
        wfre_train(graph, &settings, &options, pool, cli_monitor(), &summary, &error) != WFRE_OK)
        code = cli_fail(&error);
    else
        print_summary(call, &summary, out);
    if (code == EXIT_DONE && options.calibrate > 0 && summary.calibration_error < 0)
        cli_note("no probabilities, or unchecked ones: too few validation queries to fit them to; "
                 "wfre import --holdout makes a valid split");
cleanup:
    wfre_pool_free(pool);
    wfre_graph_close(graph);
    free(fallback);
    return code;
}

const cli_command command_train = {
    .name = "train",
    .arguments = "G.kg",
    .summary = "learn to predict: trains a model, with progress, checkpoints and validation",
    .details =
        "Without a preset one is chosen by the size of the graph; small, base and large fit\n"
        "themselves to graphs with many relations or edges (--settings shows how). --time fits\n"
        "the learning rate to the time there is. Ctrl-C writes a checkpoint; --resume goes on\n"
        "from it. Beside the model the run leaves NAME.log.jsonl (one JSON object a line) and\n"
        "NAME.curve.svg. Until it ends, NAME.safetensors stays what it was, and the best model so\n"
        "far is NAME.unfinished.safetensors; one run at a time can write to a NAME.\n\n"
        "  wfre train wordnet.kg --time 5m\n"
        "  wfre train fb.kg -o fb.safetensors --preset base --dim 400 --set drop-input=0.2\n"
        "  wfre train fb.kg --preset paper-fb15k-237 --settings\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 1,
    .run = run,
};
