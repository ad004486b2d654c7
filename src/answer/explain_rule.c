/* The rule by which the probabilities of edges become that of an answer, in words. */
#include <math.h>
#include <string.h>

#include "answer/explaining.h"
#include "infer/probability.h"
#include "query/formula.h"
#include "query/types.h"

/* Whether there is but one way to an answer: no variable besides it, and no union. */
static bool has_one_way(const wfre_node *tree)
{
    bool one = tree->op != WFRE_OP_UNION &&
               (tree->op != WFRE_OP_PROJECT || tree->children[0]->op == WFRE_OP_ENTITY);
    for (uint32_t i = 0; one && i < tree->child_count; i++)
        one = has_one_way(tree->children[i]);
    return one;
}

/* What the product p of the edges means: a few values of it, and the share that is right. */
static void find_shares(const wfre_calibration_view *view, char *text, size_t size)
{
    static const double PRODUCTS[] = {0.01, 0.1, 0.3, 0.5, 0.7, 0.9};
    size_t used = 0;
    for (size_t i = 0; i < sizeof PRODUCTS / sizeof PRODUCTS[0]; i++) {
        const wfre_hit hit = {0, (float)log(PRODUCTS[i])};
        (void)wfre_format(text + used, size - used, "%s%g -> %.3f", i > 0 ? ", " : "", PRODUCTS[i],
                          wfre_calibration_chance(view, &hit, 0).any);
        used += strlen(text + used);
    }
}

/* How probabilities combine, of a question of a shape. */
static void find_rule(const wfre_explaining *b, const char *shape, char *text, size_t size)
{
    const wfre_model *model = b->session->engine->model;
    const wfre_node *tree = b->question->query->tree;
    const wfre_hit hit = {0, -1};
    wfre_calibration_view view = {0};
    if (model) {
        wfre_judged of = {model, &b->way, wfre_reasoner_of(&b->way), tree, shape, 0};
        view = wfre_calibration_view_of(&of, &hit, 1);
    }
    bool by_edges = view.by_edges && view.any;
    char shares[160];
    if (by_edges)
        find_shares(&view, shares, sizeof shares);
    if (!model)
        (void)wfre_format(text, size, "Known edges prove what they join.");
    else if (by_edges && wfre_node_is_edge(tree))
        (void)wfre_format(text, size, "The probability of the edge is that of the answer.");
    else if (by_edges)
        (void)wfre_format(text, size,
                          "What the edges of the best derivation multiply to decides the "
                          "probability: of answers to questions of this shape, so many were right: "
                          "%s. That is not the product itself: %s.",
                          shares,
                          has_one_way(tree) ? "edges depend on each other"
                                            : "other derivations count, too");
    else
        (void)wfre_format(text, size,
                          "The question is answered as a whole: edges are judged one by one, and "
                          "need not multiply to the answer's probability.");
}

wfre_status wfre_explaining_rule(const wfre_explaining *b)
{
    wfre_text shape = {0};
    char text[480];
    wfre_status status = wfre_type_name(b->question->query->tree, &shape, b->error);
    if (status == WFRE_OK)
        find_rule(b, shape.data, text, sizeof text);
    wfre_text_free(&shape);
    CHECK(status);
    b->out->shown.rule = wfre_arena_text(&b->out->arena, text, strlen(text));
    return b->out->shown.rule ? WFRE_OK : wfre_explaining_fail(b);
}
