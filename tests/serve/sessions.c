/* sessions G.kg M.safetensors QUESTIONS THREADS BATCH SECONDS: how many questions a second the
 * sessions of a server would answer without HTTP. QUESTIONS has one a line, as operator trees.
 * All are asked once before, so that what is derived is there. Prints questions a second, and
 * milliseconds of CPU for each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "wfre.h"

enum { MOST = 4096, MOST_BATCH = 64 };

static wfre_engine *engine;
static wfre_query *queries[MOST];
static size_t query_count, batch;
static double seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *ask(void *context)
{
    wfre_session *session = NULL;
    wfre_question questions[MOST_BATCH];
    size_t *count = context, at = *count;
    *count = 0;
    if (wfre_session_create(engine, NULL, &session, NULL) != WFRE_OK)
        return NULL;
    for (double end = now() + seconds; now() < end; *count += batch) {
        wfre_answers *answers = NULL;
        for (size_t i = 0; i < batch; i++) {
            questions[i].query = queries[at++ % query_count];
            wfre_ask_options_default(&questions[i].options);
        }
        if (wfre_session_ask(session, questions, batch, NULL, &answers, NULL) != WFRE_OK)
            break;
        wfre_answers_free(answers);
    }
    wfre_session_free(session);
    return NULL;
}

static double cpu(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Asks each question once. */
static void warm_up(void)
{
    wfre_session *session = NULL;
    wfre_question question;
    wfre_ask_options_default(&question.options);
    if (wfre_session_create(engine, NULL, &session, NULL) != WFRE_OK)
        return;
    for (size_t i = 0; i < query_count; i++) {
        wfre_answers *answers = NULL;
        question.query = queries[i];
        if (wfre_session_ask(session, &question, 1, NULL, &answers, NULL) == WFRE_OK)
            wfre_answers_free(answers);
    }
    wfre_session_free(session);
}

static int read_questions(const char *path, const wfre_graph *graph)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    while (file && query_count < MOST && fgets(line, sizeof line, file))
        query_count += wfre_query_parse(graph, WFRE_NOTATION_TREE, line, strcspn(line, "\n"),
                                        &queries[query_count], NULL) == WFRE_OK;
    if (file)
        fclose(file);
    return query_count > 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    size_t counts[64], all = 0;
    wfre_graph *graph = NULL;
    wfre_model *model = NULL;
    if (argc != 7 || wfre_graph_open(argv[1], &graph, NULL) != WFRE_OK ||
        wfre_model_open(argv[2], &model, NULL) != WFRE_OK ||
        wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, NULL) != WFRE_OK ||
        !read_questions(argv[3], graph))
        return 1;
    size_t count = (size_t)atoi(argv[4]);
    batch = (size_t)atoi(argv[5]);
    seconds = atoi(argv[6]);
    warm_up();
    double start = now(), before = cpu();
    for (size_t i = 0; i < count; i++) {
        counts[i] = i * 1000;
        if (pthread_create(&threads[i], NULL, ask, &counts[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        all += counts[i];
    }
    printf("%.1f %.3f\n", (double)all / (now() - start), 1e3 * (cpu() - before) / (double)all);
    return 0;
}
