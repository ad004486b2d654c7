/* Asking for another question's sake, and queries made of parts of others. */
#include "answer/everyday.h"

#include <string.h>

#include "base/clock.h"
#include "infer/session.h"

static const double SHORTEST = 1e-6; /* seconds: 0 would be no limit */

wfre_errand wfre_errand_of(wfre_session *session, wfre_cancel *cancel,
                           const wfre_ask_options *options)
{
    wfre_errand errand = {.session = session, .cancel = cancel, .options = *options};
    if (options->timeout > 0)
        errand.deadline = wfre_clock() + options->timeout;
    errand.options.known = true;
    errand.options.predicted = true;
    errand.options.timeout = 0;
    return errand;
}

wfre_ask_options wfre_errand_options(const wfre_errand *errand)
{
    wfre_ask_options options = errand->options;
    double left = errand->deadline > 0 ? errand->deadline - wfre_clock() : 0;
    if (errand->deadline > 0)
        options.timeout = left > SHORTEST ? left : SHORTEST;
    return options;
}

wfre_status wfre_need_graph(const wfre_session *session, wfre_error *error)
{
    if (session->engine->graph)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "there is no graph to ask");
}

/* ---- asking ------------------------------------------------------------------------------- */

static wfre_status check_answers(const wfre_answers *answers, size_t count, wfre_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (answers[i].status != WFRE_OK)
            return wfre_fail(error, answers[i].status, WFRE_NO_OFFSET, "%s", answers[i].message);
    return WFRE_OK;
}

wfre_status wfre_errand_ask(const wfre_errand *errand, wfre_query *const *queries, size_t count,
                            size_t top, wfre_answers **answers, wfre_error *error)
{
    wfre_question *questions = wfre_alloc(count, sizeof *questions);
    if (!questions)
        return wfre_fail_memory(error, "answering");
    for (size_t i = 0; i < count; i++) {
        questions[i] = (wfre_question){queries[i], wfre_errand_options(errand)};
        questions[i].options.top = top;
    }
    wfre_status status =
        wfre_session_ask(errand->session, questions, count, errand->cancel, answers, error);
    wfre_free(questions);
    if (status == WFRE_OK && (status = check_answers(*answers, count, error)) != WFRE_OK) {
        wfre_answers_free(*answers);
        *answers = NULL;
    }
    return status;
}

static wfre_status build_edge(const wfre_graph *graph, wfre_source from, wfre_query **query,
                              wfre_error *error)
{
    wfre_query_builder *b;
    CHECK(wfre_query_builder_create(graph, &b, error));
    wfre_term y = wfre_build_variable(b, "y");
    wfre_status status = wfre_build_query(
        b, &y, 1, wfre_build_atom(b, from.relation, wfre_term_entity(from.entity), y), query,
        error);
    wfre_query_builder_free(b);
    return status;
}

void wfre_queries_free(wfre_query **queries, size_t count)
{
    for (size_t i = 0; queries && i < count; i++)
        wfre_query_free(queries[i]);
    wfre_free((void *)queries);
}

wfre_status wfre_errand_edges(const wfre_errand *errand, const wfre_source *sources, size_t count,
                              size_t top, wfre_answers **answers, wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_query **queries = wfre_alloc_zero(count, sizeof *queries);
    if (!queries)
        return wfre_fail_memory(error, "answering");
    for (size_t i = 0; i < count; i++)
        TRY(build_edge(errand->session->engine->graph, sources[i], &queries[i], error));
    TRY(wfre_errand_ask(errand, queries, count, top, answers, error));
cleanup:
    wfre_queries_free(queries, count);
    return status;
}

/* ---- derived queries ---------------------------------------------------------------------- */

typedef struct deriving {
    wfre_query_builder *builder;
    const wfre_query *query;
    const uint32_t *values; /* of the query's variables, WFRE_NONE for those without */
    wfre_term *terms;       /* their variables in the builder */
    bool no_memory;
    bool pins; /* atoms keep their variables, which an equality gives their values */
} deriving;

static bool is_given(const deriving *d, wfre_term term)
{
    return !term.is_variable || d->values[term.id] != WFRE_NONE;
}

/* Whether the values would leave an atom without a variable, which no tree has. */
static bool leaves_constant(const deriving *d, const wfre_formula *f)
{
    bool constant = f->kind == WFRE_ATOM && f->variable_count > 0 && is_given(d, f->left) &&
                    is_given(d, f->right);
    for (uint32_t i = 0; !constant && i < f->child_count; i++)
        constant = leaves_constant(d, f->children[i]);
    return constant;
}

static wfre_term term_of(const deriving *d, wfre_term term)
{
    if (!term.is_variable)
        return term;
    uint32_t value = d->values[term.id];
    return value != WFRE_NONE ? wfre_term_entity(value) : d->terms[term.id];
}

/* The same in an atom. */
static wfre_term end_of(const deriving *d, wfre_term term)
{
    return term.is_variable && d->pins ? d->terms[term.id] : term_of(d, term);
}

static const wfre_formula *derive(deriving *d, const wfre_formula *f)
{
    wfre_query_builder *b = d->builder;
    const wfre_formula **parts, *joined;
    switch (f->kind) {
    case WFRE_ATOM:
        return wfre_build_atom(b, f->relation, end_of(d, f->left), end_of(d, f->right));
    case WFRE_LINK:
        if (d->values[f->variable] != WFRE_NONE)
            return wfre_build_atom(b, d->values[f->variable], term_of(d, f->left),
                                   term_of(d, f->right));
        return wfre_build_link(b, d->terms[f->variable], term_of(d, f->left), term_of(d, f->right));
    case WFRE_EQUAL:
        return wfre_build_equal(b, term_of(d, f->left), term_of(d, f->right));
    case WFRE_NOT:
        return wfre_build_not(b, derive(d, f->children[0]));
    case WFRE_EXISTS:
        return wfre_build_exists(b, d->terms[f->variable], derive(d, f->children[0]));
    case WFRE_AND:
    case WFRE_OR:
        break;
    }
    parts = wfre_alloc(f->child_count, sizeof *parts);
    if (!parts) {
        d->no_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; i < f->child_count; i++)
        parts[i] = derive(d, f->children[i]);
    joined = f->kind == WFRE_AND ? wfre_build_and(b, parts, f->child_count)
                                 : wfre_build_or(b, parts, f->child_count);
    wfre_free((void *)parts);
    return joined;
}

/* The formula, and ?x = a for every variable that has a value and keeps its place. */
static const wfre_formula *derive_whole(deriving *d, const wfre_formula *formula)
{
    d->pins = leaves_constant(d, formula);
    const wfre_formula *whole = derive(d, formula);
    for (uint32_t v = 0; d->pins && v < d->query->variable_count; v++) {
        bool relation = d->query->of_relations && d->query->of_relations[v];
        if (d->values[v] == WFRE_NONE || relation)
            continue;
        const wfre_formula *parts[2] = {
            wfre_build_equal(d->builder, d->terms[v], wfre_term_entity(d->values[v])), whole};
        whole = wfre_build_and(d->builder, parts, 2);
    }
    return whole;
}

wfre_status wfre_query_derive(const wfre_graph *graph, const wfre_query *query,
                              const wfre_formula *formula, const uint32_t *values,
                              const uint32_t *asked, uint32_t count, wfre_query **derived,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    deriving d = {.query = query, .values = values};
    wfre_term *terms = wfre_alloc(query->variable_count, sizeof *terms);
    wfre_term *wanted = wfre_alloc(count, sizeof *wanted);
    if (!terms || !wanted)
        TRY(wfre_fail_memory(error, "building a query"));
    TRY(wfre_query_builder_create(graph, &d.builder, error));
    for (uint32_t v = 0; v < query->variable_count; v++)
        terms[v] = wfre_build_variable(d.builder, query->variable_names[v]);
    d.terms = terms;
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = terms[asked[i]];
    formula = derive_whole(&d, formula);
    if (d.no_memory)
        TRY(wfre_fail_memory(error, "building a query"));
    TRY(wfre_build_query(d.builder, wanted, count, formula, derived, error));
cleanup:
    wfre_query_builder_free(d.builder);
    wfre_free(terms);
    wfre_free(wanted);
    return status;
}
