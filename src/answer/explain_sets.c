/* The sets of a question, its variables, and what both are called. */
#include <stdio.h>
#include <string.h>

#include "answer/explaining.h"
#include "graph/graph.h"
#include "query/formula.h"

/* Appends the node and all below it, parents first. */
static void list_sets(wfre_explaining *b, const wfre_node *node, uint32_t parent, uint32_t depth,
                      uint32_t own_variable)
{
    wfre_explanation *out = &b->out->shown;
    uint32_t own = out->set_count++;
    bool entity = node->op == WFRE_OP_ENTITY;
    b->sets[own] = (wfre_explained_set){
        .parent = parent, .depth = depth, .variable = entity ? WFRE_NONE : own_variable};
    b->inner[own] = (wfre_inner_set){.node = node};
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t below = own_variable;
        if (node->op == WFRE_OP_PROJECT && node->children[i]->op != WFRE_OP_ENTITY) {
            below = out->variable_count++;
            b->variables[below] = (wfre_asked_variable){.set = out->set_count};
        }
        list_sets(b, node->children[i], own, depth + 1, below);
    }
}

static size_t count_nodes(const wfre_node *node)
{
    size_t count = 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        count += count_nodes(node->children[i]);
    return count;
}

/* The variable of the formula at the other end of an atom of this relation at variable `from`: one
 * that is not `taken`, or else the first. */
static uint32_t other_end(const wfre_formula *formula, wfre_relation relation, uint32_t from,
                          const bool *taken)
{
    if (formula->kind == WFRE_ATOM && formula->relation == relation / 2 * 2) {
        wfre_term near = relation % 2 == 0 ? formula->right : formula->left;
        wfre_term far = relation % 2 == 0 ? formula->left : formula->right;
        if (near.is_variable && near.id == from && far.is_variable)
            return far.id;
    }
    uint32_t best = WFRE_NONE;
    for (uint32_t i = 0; i < formula->child_count; i++) {
        uint32_t found = other_end(formula->children[i], relation, from, taken);
        if (found != WFRE_NONE && (best == WFRE_NONE || (taken[best] && !taken[found])))
            best = found;
    }
    return best;
}

/* Names the variables as the question does, as far as its atoms tell; else y1, y2, ... */
static wfre_status name_variables(const wfre_explaining *b)
{
    const wfre_query *query = b->question->query;
    uint32_t count = b->out->shown.variable_count;
    uint32_t *formula_variable = wfre_explaining_take(b, count, sizeof *formula_variable);
    bool *taken = wfre_explaining_take(b, query->variable_count + 1, sizeof *taken);
    if (!formula_variable || !taken)
        return wfre_explaining_fail(b);
    memset(taken, 0, query->variable_count * sizeof *taken);
    for (uint32_t v = 0; v < count; v++) {
        char made[16] = "x";
        uint32_t found = query->formula ? 0 : WFRE_NONE /* the one asked for is the first */;
        if (v > 0) {
            uint32_t above = b->sets[b->variables[v].set].parent;
            uint32_t from = formula_variable[b->sets[above].variable];
            found = from == WFRE_NONE
                        ? WFRE_NONE
                        : other_end(query->formula, b->inner[above].node->id, from, taken);
            (void)snprintf(made, sizeof made, "y%u", v);
        }
        formula_variable[v] = found;
        if (found != WFRE_NONE)
            taken[found] = true;
        const char *name = found == WFRE_NONE ? made : query->variable_names[found];
        b->names[v] = wfre_arena_text(&b->out->arena, name, strlen(name));
        if (!b->names[v])
            return wfre_explaining_fail(b);
    }
    return WFRE_OK;
}

static void add_entity(const wfre_explaining *b, wfre_entity entity, wfre_text *text)
{
    wfre_name label = wfre_graph_entity_label(wfre_explaining_graph(b), entity);
    wfre_text_visible(text, label.bytes, label.length);
}

/* The argument of a projection: an entity or a variable. */
static void add_argument(const wfre_explaining *b, uint32_t set, wfre_text *text)
{
    const wfre_node *argument = b->inner[set + 1].node; /* the only child stands next */
    if (argument->op == WFRE_OP_ENTITY)
        add_entity(b, argument->id, text);
    else
        wfre_text_format(text, "?%s", b->names[b->sets[set + 1].variable]);
}

/* What a set is called. In the logic notation the argument of a projection comes first unless its
 * relation is an inverse. */
static void add_label(const wfre_explaining *b, uint32_t set, wfre_text *text)
{
    static const char *const WORDS[] = {[WFRE_OP_INTERSECT] = "and",
                                        [WFRE_OP_UNION] = "or",
                                        [WFRE_OP_NEGATE] = "not",
                                        [WFRE_OP_PROJECT] = NULL};
    const wfre_node *node = b->inner[set].node;
    if (node->op == WFRE_OP_ENTITY) {
        add_entity(b, node->id, text);
        return;
    }
    if (node->op != WFRE_OP_PROJECT) {
        wfre_text_add(text, WORDS[node->op]);
        return;
    }
    wfre_name relation = wfre_graph_relation_label(wfre_explaining_graph(b), node->id);
    wfre_text_visible(text, relation.bytes, relation.length);
    wfre_text_char(text, '(');
    if (wfre_explaining_forward(node))
        add_argument(b, set, text);
    else
        wfre_text_format(text, "?%s", b->names[b->sets[set].variable]);
    wfre_text_add(text, ", ");
    if (wfre_explaining_forward(node))
        wfre_text_format(text, "?%s", b->names[b->sets[set].variable]);
    else
        add_argument(b, set, text);
    wfre_text_char(text, ')');
}

static wfre_status label_sets(const wfre_explaining *b)
{
    wfre_status status = WFRE_OK;
    wfre_text text = {0};
    for (uint32_t s = 0; s < b->out->shown.set_count; s++) {
        wfre_text_clear(&text);
        add_label(b, s, &text);
        TRY(wfre_text_status(&text, "explaining", b->error));
        b->sets[s].label = wfre_arena_text(&b->out->arena, text.data, text.length);
        if (!b->sets[s].label)
            TRY(wfre_explaining_fail(b));
    }
cleanup:
    wfre_text_free(&text);
    return status;
}

wfre_status wfre_explaining_list(wfre_explaining *b)
{
    const wfre_node *tree = b->question->query->tree;
    size_t count = count_nodes(tree);
    if (count > WFRE_EXPLAIN_SETS)
        return wfre_fail(b->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "a question of %zu operators is too large to explain; at most %d", count,
                         WFRE_EXPLAIN_SETS);
    b->sets = wfre_explaining_take(b, count, sizeof *b->sets);
    b->inner = wfre_explaining_take(b, count, sizeof *b->inner);
    b->variables = wfre_explaining_take(b, count + 1, sizeof *b->variables);
    b->names = wfre_explaining_take(b, count + 1, sizeof *b->names);
    if (!b->sets || !b->inner || !b->variables || !b->names)
        return wfre_explaining_fail(b);
    b->variables[b->out->shown.variable_count++] = (wfre_asked_variable){0};
    list_sets(b, tree, WFRE_NONE, 0, 0);
    CHECK(name_variables(b));
    return label_sets(b);
}
