/* Score files of other systems, for a fixed query set. */
#include "importing.h"
#include "small_graph.h"
#include "wfre/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char QUERIES[] =
    "1p\t(p,#0,(e,#0))\t1\t2 3\n2i\t(i,(p,#0,(e,#1)),(p,#2,(e,#2)))\t\t0\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_evaluation *evaluation = NULL;
    wfre_eval_options options;
    wfre_error error = {0};
    wfre_eval_options_default(&options);
    options.bootstrap = 10;
    const char *queries = fuzz_write("q.tsv", QUERIES, sizeof QUERIES - 1);
    const char *scores = fuzz_write("s.tsv", bytes, length);
    if (wfre_evaluate_scores(small_graph(), queries, scores, &options, NULL, NULL, &evaluation,
                             &error) == WFRE_OK) {
        for (size_t t = 0; t < wfre_evaluation_types(evaluation); t++) {
            double mrr = wfre_evaluation_type(evaluation, t)->mean.mrr;
            must(mrr >= 0 && mrr <= 1);
        }
    } else {
        must(error.message[0] != '\0' && !strchr(error.message, '\n'));
    }
    wfre_evaluation_free(evaluation);
    return 0;
}
