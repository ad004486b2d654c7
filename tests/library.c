/* The shared library as anyone would use it, through the public headers alone: import a graph,
 * train a few steps, open an engine, ask and explain in two sessions on two threads, score a pair.
 * That it links at all says that everything public is exported. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wfre.h>

enum { ENTITIES = 40, PATH_SIZE = 256 };

static char folder[] = "/tmp/wfre-library-XXXXXX";
static wfre_error error;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n  %s\n", __FILE__, __LINE__, #condition, error.message);   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *in_folder(const char *name, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

/* Two relations on a ring: the next one, and the one after that. */
static wfre_graph *import(void)
{
    char triples[PATH_SIZE], snapshot[PATH_SIZE];
    FILE *file = fopen(in_folder("ring.tsv", triples), "w");
    MUST(file);
    for (int i = 0; i < ENTITIES; i++)
        for (int step = 1; step <= 2; step++)
            fprintf(file, "e%d\t%s\te%d\n", i, step == 1 ? "next" : "second",
                    (i + step) % ENTITIES);
    MUST(fclose(file) == 0);
    const char *sources[] = {triples};
    wfre_import_options options = {.holdout = 0.1, .seed = 1};
    wfre_import_report report;
    wfre_graph *graph = NULL;
    MUST(wfre_import(sources, 1, &options, in_folder("ring.kg", snapshot), NULL, &report, &error) ==
         WFRE_OK);
    MUST(report.entities == ENTITIES && report.relations == 2);
    MUST(wfre_graph_open(snapshot, &graph, &error) == WFRE_OK);
    return graph;
}

static wfre_model *train(const wfre_graph *graph)
{
    char path[PATH_SIZE];
    wfre_train_settings settings;
    wfre_train_summary summary;
    wfre_model *model = NULL;
    MUST(wfre_train_preset("small", graph, &settings, &error) == WFRE_OK);
    MUST(wfre_train_set(&settings, "dim", "20", &error) == WFRE_OK);
    MUST(wfre_train_set(&settings, "bases", "3", &error) == WFRE_OK);
    MUST(wfre_train_set(&settings, "batch", "16", &error) == WFRE_OK);
    MUST(wfre_train_set(&settings, "steps", "5", &error) == WFRE_OK);
    wfre_train_run run = {.model = in_folder("ring.safetensors", path), .checkpoint_seconds = 60};
    MUST(wfre_train(graph, &settings, &run, NULL, NULL, &summary, &error) == WFRE_OK);
    MUST(summary.status.step == 5 && isfinite(summary.status.loss));
    MUST(wfre_model_open(path, &model, &error) == WFRE_OK);
    return model;
}

/* Asks and explains; the answers as JSON, which is released with wfre_string_free. */
static void *ask(void *context)
{
    static const char TEXT[] = "?x : next(e3, ?y) & second(?y, ?x)";
    wfre_engine *engine = context;
    const wfre_graph *graph = wfre_engine_graph(engine);
    wfre_session *session = NULL;
    wfre_question question = {0};
    wfre_answers *answers = NULL;
    wfre_explanation *explanation = NULL;
    wfre_query *query = NULL;
    char *json = NULL, *text = NULL;
    MUST(wfre_session_create(engine, NULL, &session, NULL) == WFRE_OK);
    MUST(wfre_query_parse(graph, WFRE_NOTATION_AUTO, TEXT, strlen(TEXT), &query, NULL) == WFRE_OK);
    question.query = query;
    wfre_ask_options_default(&question.options);
    MUST(wfre_session_ask(session, &question, 1, NULL, &answers, NULL) == WFRE_OK);
    MUST(answers[0].status == WFRE_OK && answers[0].known.count == 1);
    wfre_name name = wfre_graph_entity_name(graph, answers[0].known.ids[0]);
    MUST(name.length == 2 && memcmp(name.bytes, "e6", 2) == 0);
    MUST(answers[0].predicted_count > 0);
    MUST(wfre_session_explain(session, &question, &answers[0], NULL, &explanation, NULL) ==
         WFRE_OK);
    MUST(wfre_explanation_print(graph, explanation, WFRE_EXPLAIN_JSON, &text, NULL) == WFRE_OK);
    wfre_answers_json how = {TEXT, strlen(TEXT), -1, 10, text};
    MUST(wfre_answers_print_json(graph, &question, &answers[0], &how, &json, NULL) == WFRE_OK);
    wfre_string_free(text);
    wfre_explanation_free(explanation);
    wfre_answers_free(answers);
    wfre_query_free(query);
    wfre_session_free(session);
    return json;
}

/* Two threads get the same answer. */
static void ask_twice(wfre_engine *engine)
{
    pthread_t other;
    void *theirs = NULL;
    MUST(pthread_create(&other, NULL, ask, engine) == 0);
    char *mine = ask(engine);
    MUST(pthread_join(other, &theirs) == 0);
    MUST(mine && theirs && strcmp(mine, theirs) == 0);
    MUST(strstr(mine, "\"known\"") && strstr(mine, "\"predicted\""));
    wfre_string_free(mine);
    wfre_string_free(theirs);
}

static void score(void)
{
    const double left[5] = {1, 0, 0, 0, 0}, right[5] = {0, 1, 0, 0, 0};
    double distance = 0, gradient[10];
    wfre_score_settings settings;
    wfre_score *score = NULL;
    wfre_score_defaults(5, &settings);
    MUST(wfre_score_create(&settings, &score, &error) == WFRE_OK);
    MUST(wfre_score_pair(score, left, right, &distance, gradient, gradient + 5, &error) == WFRE_OK);
    MUST(distance > 0 && isfinite(distance));
    wfre_score_free(score);
}

int main(void)
{
    MUST(mkdtemp(folder));
    wfre_graph *graph = import();
    wfre_model *model = train(graph);
    wfre_engine *engine = NULL;
    MUST(wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, &error) == WFRE_OK);
    wfre_model_free(model); /* the engine owns both as well */
    wfre_graph_close(graph);
    ask_twice(engine);
    wfre_engine_unref(engine);
    score();
    static const char *const FILES[] = {"ring.tsv", "ring.kg", "ring.safetensors", "ring.log.jsonl",
                                        "ring.curve.svg"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[PATH_SIZE];
        MUST(unlink(in_folder(FILES[i], path)) == 0);
    }
    MUST(rmdir(folder) == 0);
    printf("%s %s\n", wfre_version(), wfre_isa_name(WFRE_ISA_REFERENCE));
    return 0;
}
