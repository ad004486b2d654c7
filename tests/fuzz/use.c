/* Snapshots whose checksums fit, whatever they hold: asked, sampled and trained on, looked at when
 * they are opened and part by part. Nothing reads or writes outside, and nothing waits for ever. */
#include "editing.h"
#include "exact/exact.h"
#include "graph/image.h"
#include "snapshot.h"
#include "toy.h"
#include "wfre/train.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char *const QUESTIONS[] = {
    "?x : r0(e1, ?x)",
    "?x : r0(?y, ?x) & r1(e2, ?y)",
    "?x : r0(e1, ?x) & !r1(e3, ?x)",
    "?x : !r0(?x, e1)",
    "?x : r0(?x, ?x)",
    "?x : r0(?x, ?y) & r1(?y, ?z) & r0(?z, ?x)",
    "(p,r0,(n,(p,r1,(e,e3))))",
    "(u,(p,r0,(e,e1)),(p,r1^-1,(e,e2)))",
};

static void ask(const wfre_graph *graph)
{
    wfre_exact *exact = NULL;
    if (wfre_exact_create(graph, &exact, NULL) != WFRE_OK)
        return;
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof QUESTIONS[0]; i++)
        for (int split = 0; split < WFRE_SPLITS; split++) {
            wfre_query *query = NULL;
            wfre_list answers;
            if (wfre_query_parse(graph, WFRE_NOTATION_AUTO, QUESTIONS[i], strlen(QUESTIONS[i]),
                                 &query, NULL) == WFRE_OK &&
                wfre_exact_answer(exact, (wfre_split)split, query, 0, NULL, &answers, NULL) ==
                    WFRE_OK)
                for (size_t k = 0; k < answers.count; k++)
                    if (answers.ids[k] >= wfre_graph_entities(graph))
                        abort();
            wfre_query_free(query);
        }
    wfre_exact_free(exact);
}

static void sample(const wfre_graph *graph)
{
    wfre_sampler *sampler = NULL;
    const wfre_sampled *queries;
    if (wfre_sampler_create(graph, WFRE_TRAIN, "1p 2i 2in", 0, 1, &sampler, NULL) == WFRE_OK) {
        wfre_sampler_forward(sampler, 0.5, 0.5);
        (void)(wfre_sampler_step(sampler, NULL, 0, NULL, 6, &queries, NULL) == WFRE_OK);
    }
    wfre_sampler_free(sampler);
}

static void train(const wfre_graph *graph)
{
    wfre_train_settings settings;
    wfre_trainer *trainer = NULL;
    if (wfre_train_preset("small", NULL, &settings, NULL) != WFRE_OK)
        abort();
    settings.model.dim = 10;
    settings.model.bases = 1;
    settings.model.members = 1;
    settings.batch = 4;
    settings.negatives = 4;
    settings.hard = 1;
    settings.steps = 1;
    if (wfre_trainer_create(graph, &settings, NULL, &trainer, NULL) == WFRE_OK)
        (void)(wfre_trainer_step(trainer, NULL) == WFRE_OK);
    wfre_trainer_free(trainer);
}

static void use(void *bytes, size_t length, wfre_trust trust)
{
    wfre_graph *graph = NULL;
    wfre_degrees degrees;
    wfre_hierarchy hierarchy;
    if (wfre_graph_from_bytes(bytes, length, trust, &graph, NULL) != WFRE_OK)
        return;
    ask(graph);
    volatile uint64_t sink = snapshot_use(graph);
    (void)sink;
    (void)(wfre_graph_degrees(graph, WFRE_TEST, &degrees, NULL) == WFRE_OK);
    if (wfre_graph_relations(graph) > 0)
        (void)(wfre_graph_hierarchy(graph, WFRE_TEST, 0, 8, 1, NULL, &hierarchy, NULL) == WFRE_OK);
    sample(graph);
    train(graph);
    wfre_graph_close(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static wfre_graph *whole;
    if (!whole)
        whole = toy_random_graph(3, 12, 2, 40);
    size_t size = (size_t)wfre_graph_bytes(whole);
    unsigned char *copy = edited(whole->bytes, &size, bytes, length);
    snapshot_seal(copy, size);
    use(copy, size, WFRE_TRUST_NOW);
    use(copy, size, WFRE_TRUST_LATER);
    free(copy);
    return 0;
}
