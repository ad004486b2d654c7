/* Evaluating expressions (section 17). A function returns false for "no value": a type error, or
 * something unbound. That is not a failure of the run; x->status tells them apart. */
#include <string.h>

#include "sparql/exec.h"
#include "sparql/plan.h"

enum { FEW = 8 };

/* ---- logic -------------------------------------------------------------------------------- */

/* 1, 0, or -1 for an error. */
static int truth_of(wfre_sq_exec *x, const wfre_sq_expression *e)
{
    wfre_sq_value v;
    return wfre_sq_evaluate(x, e, &v) ? wfre_sq_value_truth(&v) : -1;
}

/* && and ||: an error on one side does not matter if the other decides. */
static bool connect(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    int decisive = e->op == WFRE_SQ_OR;
    int left = truth_of(x, e->arguments[0]);
    if (x->status != WFRE_OK)
        return false;
    if (left != decisive) {
        int right = truth_of(x, e->arguments[1]);
        if (right == decisive)
            left = right;
        else if (left == -1 || right == -1)
            return false;
    }
    *value = wfre_sq_truth(left == decisive ? decisive : !decisive);
    return true;
}

static bool compare(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    wfre_sq_value a, b;
    if (!wfre_sq_evaluate(x, e->arguments[0], &a) || !wfre_sq_evaluate(x, e->arguments[1], &b))
        return false;
    if (e->op == WFRE_SQ_EQUAL || e->op == WFRE_SQ_UNEQUAL) {
        int equal = wfre_sq_value_equal(&a, &b);
        if (equal < 0)
            return false;
        *value = wfre_sq_truth(equal == (e->op == WFRE_SQ_EQUAL));
        return true;
    }
    int order = wfre_sq_value_compare(&a, &b);
    if (order == 2)
        return false;
    bool holds = e->op == WFRE_SQ_LESS      ? order == -1
                 : e->op == WFRE_SQ_GREATER ? order == 1
                 : e->op == WFRE_SQ_AT_MOST ? order == -1 || order == 0
                                            : order == 1 || order == 0;
    *value = wfre_sq_truth(holds);
    return true;
}

static bool is_in(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    wfre_sq_value item, other;
    bool error = false;
    if (!wfre_sq_evaluate(x, e->arguments[0], &item))
        return false;
    for (uint32_t i = 1; i < e->count; i++) {
        int equal =
            wfre_sq_evaluate(x, e->arguments[i], &other) ? wfre_sq_value_equal(&item, &other) : -1;
        if (x->status != WFRE_OK)
            return false;
        if (equal == 1) {
            *value = wfre_sq_truth(e->op == WFRE_SQ_IN);
            return true;
        }
        error |= equal < 0;
    }
    *value = wfre_sq_truth(e->op == WFRE_SQ_NOT_IN);
    return !error;
}

/* ---- forms whose arguments need not all have values --------------------------------------- */

static bool choose(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    if (e->op == WFRE_SQ_IF) {
        int truth = truth_of(x, e->arguments[0]);
        return truth >= 0 && wfre_sq_evaluate(x, e->arguments[truth ? 1 : 2], value);
    }
    for (uint32_t i = 0; i < e->count; i++)
        if (wfre_sq_evaluate(x, e->arguments[i], value) || x->status != WFRE_OK)
            return x->status == WFRE_OK;
    return false;
}

static bool exists(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    bool found = false;
    if (wfre_sq_exists(x, wfre_sq_plan_of(x->plan, e->pattern), &found) == WFRE_SQ_FAIL)
        return false;
    *value = wfre_sq_truth(found == (e->op == WFRE_SQ_EXISTS));
    return true;
}

static bool negate(const wfre_sq_value *argument, wfre_sq_value *value)
{
    if (!wfre_sq_is_numeric(argument))
        return false;
    wfre_sq_value result = {.type = argument->type};
    if (argument->type >= WFRE_SQ_T_FLOAT) {
        result.real = -argument->real;
    } else {
        result.decimal = argument->decimal;
        result.decimal.negative = result.decimal.count && !result.decimal.negative;
    }
    *value = result;
    return true;
}

static bool unary(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    wfre_sq_value argument;
    if (!wfre_sq_evaluate(x, e->arguments[0], &argument))
        return false;
    if (e->op == WFRE_SQ_NEGATE)
        return negate(&argument, value);
    if (e->op == WFRE_SQ_PLUS) {
        *value = argument;
        return wfre_sq_is_numeric(&argument);
    }
    int truth = wfre_sq_value_truth(&argument);
    *value = wfre_sq_truth(!truth);
    return truth >= 0;
}

static bool binary(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    static const char SIGNS[] = "+-*/";
    wfre_sq_value a, b;
    return wfre_sq_evaluate(x, e->arguments[0], &a) && wfre_sq_evaluate(x, e->arguments[1], &b) &&
           wfre_sq_arithmetic(SIGNS[e->op - WFRE_SQ_ADD], &a, &b, value);
}

/* All arguments, then the function. */
static bool call(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    wfre_sq_value few[FEW], *arguments = few;
    if (e->count > FEW)
        arguments = wfre_arena_alloc(&x->scratch, e->count, sizeof *arguments);
    if (!arguments) {
        (void)wfre_sq_no_memory(x);
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++)
        if (!wfre_sq_evaluate(x, e->arguments[i], &arguments[i]))
            return false;
    if (e->op == WFRE_SQ_CAST)
        return e->count == 1 && wfre_sq_cast(x, e->term.text, &arguments[0], value);
    return wfre_sq_call(x, e, arguments, value);
}

bool wfre_sq_evaluate(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_sq_value *value)
{
    wfre_rdf_id id;
    if (x->status != WFRE_OK || wfre_sq_tick(x) != WFRE_SQ_GO)
        return false;
    switch (e->op) {
    case WFRE_SQ_CONSTANT:
        return wfre_sq_value_of(x, x->constants[e->term.constant], value) == WFRE_SQ_GO;
    case WFRE_SQ_VARIABLE:
        id = x->row[e->term.slot];
        return id != WFRE_NONE && wfre_sq_value_of(x, id, value) == WFRE_SQ_GO;
    case WFRE_SQ_OR:
    case WFRE_SQ_AND:
        return connect(x, e, value);
    case WFRE_SQ_EQUAL:
    case WFRE_SQ_UNEQUAL:
    case WFRE_SQ_LESS:
    case WFRE_SQ_GREATER:
    case WFRE_SQ_AT_MOST:
    case WFRE_SQ_AT_LEAST:
        return compare(x, e, value);
    case WFRE_SQ_IN:
    case WFRE_SQ_NOT_IN:
        return is_in(x, e, value);
    case WFRE_SQ_ADD:
    case WFRE_SQ_SUBTRACT:
    case WFRE_SQ_MULTIPLY:
    case WFRE_SQ_DIVIDE:
        return binary(x, e, value);
    case WFRE_SQ_NOT:
    case WFRE_SQ_NEGATE:
    case WFRE_SQ_PLUS:
        return unary(x, e, value);
    case WFRE_SQ_EXISTS:
    case WFRE_SQ_NOT_EXISTS:
        return exists(x, e, value);
    case WFRE_SQ_IF:
    case WFRE_SQ_COALESCE:
        return choose(x, e, value);
    case WFRE_SQ_BOUND:
        *value = wfre_sq_truth(x->row[e->arguments[0]->term.slot] != WFRE_NONE);
        return true;
    default:
        return call(x, e, value);
    }
}

/* ---- from outside ------------------------------------------------------------------------- */

wfre_sq_flow wfre_sq_test(wfre_sq_exec *x, const wfre_sq_expression *e, bool *holds)
{
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    *holds = truth_of(x, e) == 1;
    wfre_sq_scratch_end(x, mark);
    return x->status == WFRE_OK ? WFRE_SQ_GO : WFRE_SQ_FAIL;
}

wfre_sq_flow wfre_sq_compute(wfre_sq_exec *x, const wfre_sq_expression *e, wfre_rdf_id *id)
{
    wfre_sq_value value;
    *id = WFRE_NONE;
    if (e->op == WFRE_SQ_VARIABLE) {
        *id = x->row[e->term.slot];
        return WFRE_SQ_GO;
    }
    if (e->op == WFRE_SQ_CONSTANT) {
        *id = x->constants[e->term.constant];
        return WFRE_SQ_GO;
    }
    wfre_sq_mark mark = wfre_sq_scratch_begin(x);
    wfre_sq_flow flow = WFRE_SQ_GO;
    if (wfre_sq_evaluate(x, e, &value))
        flow = wfre_sq_term_of(x, &value, id);
    wfre_sq_scratch_end(x, mark);
    return x->status == WFRE_OK ? flow : WFRE_SQ_FAIL;
}
