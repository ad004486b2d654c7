/* Walking property paths (section 18.4).
 *
 * Sequences, alternatives and negated sets keep duplicates, as joins and unions do; ?, * and + give
 * each pair once. From a known end a repetition is a search in breadth, in either direction. */
#include <string.h>

#include "sparql/plan.h"

/* ---- sets of terms ------------------------------------------------------------------------ */

/* Terms in the order in which they came. */
static const wfre_sq_table NO_TERMS = {.width = 1, .keys = 1};

static wfre_sq_flow add(wfre_sq_exec *x, wfre_sq_table *set, wfre_rdf_id term)
{
    size_t index;
    bool fresh;
    return wfre_sq_table_find_or_add(x, set, &term, &index, &fresh, "a path");
}

/* ---- single links ------------------------------------------------------------------------- */

static bool excluded(const wfre_sq_exec *x, const wfre_sq_path *path, bool inverse,
                     wfre_rdf_id predicate)
{
    for (uint32_t i = 0; i < path->count; i++) {
        const wfre_sq_path *link = path->children[i];
        bool is_inverse = link->kind == WFRE_SQ_INVERSE;
        if (is_inverse)
            link = link->children[0];
        if (is_inverse == inverse && x->constants[link->link.constant] == predicate)
            return true;
    }
    return false;
}

static bool has_direction(const wfre_sq_path *path, bool inverse)
{
    for (uint32_t i = 0; i < path->count; i++)
        if ((path->children[i]->kind == WFRE_SQ_INVERSE) == inverse)
            return true;
    return path->count == 0 && !inverse;
}

/* Triples from one term to another whose predicate is `predicate`, or, if that is WFRE_NONE, any
 * but those of a negated set. */
static wfre_sq_flow walk_triples(wfre_sq_exec *x, const wfre_sq_path *negated, bool inverse,
                                 wfre_rdf_id predicate, wfre_rdf_id from, wfre_rdf_id to,
                                 wfre_sq_walker *walker)
{
    const wfre_rdf_triple pattern = {{inverse ? to : from, predicate, inverse ? from : to}};
    bool s = pattern.at[WFRE_RDF_S] != WFRE_NONE, o = pattern.at[WFRE_RDF_O] != WFRE_NONE;
    wfre_rdf_order order = s                        ? WFRE_RDF_SPO
                           : predicate != WFRE_NONE ? (o ? WFRE_RDF_POS : WFRE_RDF_PSO)
                           : o                      ? WFRE_RDF_OPS
                                                    : WFRE_RDF_PSO;
    wfre_rdf_scan scan;
    memset(&scan, 0, sizeof scan);
    wfre_status status = wfre_rdf_scan_open(&scan, x->rdf, &pattern, order, x->error);
    wfre_sq_flow flow = status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(x, status);
    wfre_rdf_triple t;
    while (flow == WFRE_SQ_GO && wfre_rdf_scan_next(&scan, &t)) {
        if ((flow = wfre_sq_tick_text(x, 16 + (negated ? 16 * (size_t)negated->count : 0))) !=
            WFRE_SQ_GO)
            break;
        if (!negated || !excluded(x, negated, inverse, t.at[WFRE_RDF_P]))
            flow = walker->emit(walker, x, t.at[inverse ? WFRE_RDF_O : WFRE_RDF_S],
                                t.at[inverse ? WFRE_RDF_S : WFRE_RDF_O]);
    }
    wfre_rdf_scan_free(&scan);
    return flow;
}

static wfre_sq_flow walk_negated(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id from,
                                 wfre_rdf_id to, wfre_sq_walker *walker)
{
    wfre_sq_flow flow = WFRE_SQ_GO;
    for (int inverse = 0; inverse < 2 && flow == WFRE_SQ_GO; inverse++)
        if (has_direction(path, inverse))
            flow = walk_triples(x, path, inverse, WFRE_NONE, from, to, walker);
    return flow;
}

/* ---- inverse and sequence ----------------------------------------------------------------- */

typedef struct turner {
    wfre_sq_walker base;
    wfre_sq_walker *outer;
} turner;

static wfre_sq_flow turn(wfre_sq_walker *base, wfre_sq_exec *x, wfre_rdf_id from, wfre_rdf_id to)
{
    turner *t = (turner *)base;
    return t->outer->emit(t->outer, x, to, from);
}

/* Walks the links of a sequence, the next of which is `index`, forwards or backwards. */
typedef struct chain {
    wfre_sq_walker base;
    const wfre_sq_path *path;
    uint32_t index;
    bool backward;
    wfre_rdf_id start; /* the end that the walk began at; WFRE_NONE before its first link */
    wfre_rdf_id goal;  /* the other end, or WFRE_NONE */
    wfre_sq_walker *outer;
} chain;

static wfre_sq_flow walk_chain(wfre_sq_exec *x, const chain *c, wfre_rdf_id at)
{
    bool last = c->index + 1 == c->path->count;
    uint32_t which = c->backward ? c->path->count - 1 - c->index : c->index;
    wfre_rdf_id goal = last ? c->goal : WFRE_NONE;
    chain next = *c;
    return wfre_sq_walk(x, c->path->children[which], c->backward ? goal : at,
                        c->backward ? at : goal, &next.base);
}

static wfre_sq_flow link_walked(wfre_sq_walker *base, wfre_sq_exec *x, wfre_rdf_id from,
                                wfre_rdf_id to)
{
    chain *c = (chain *)base;
    wfre_rdf_id near = c->backward ? to : from, far = c->backward ? from : to;
    chain next = *c;
    if (next.start == WFRE_NONE)
        next.start = near;
    if (++next.index == c->path->count)
        return c->outer->emit(c->outer, x, c->backward ? far : next.start,
                              c->backward ? next.start : far);
    return walk_chain(x, &next, far);
}

static wfre_sq_flow walk_sequence(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id from,
                                  wfre_rdf_id to, wfre_sq_walker *walker)
{
    chain c = {.base = {link_walked},
               .path = path,
               .backward = from == WFRE_NONE && to != WFRE_NONE,
               .outer = walker};
    c.start = c.backward ? to : from;
    c.goal = c.backward ? from : to;
    return walk_chain(x, &c, c.start);
}

/* ---- repetition --------------------------------------------------------------------------- */

typedef struct collector {
    wfre_sq_walker base;
    wfre_sq_table *set;
    bool backward;
} collector;

static wfre_sq_flow collect(wfre_sq_walker *base, wfre_sq_exec *x, wfre_rdf_id from, wfre_rdf_id to)
{
    collector *c = (collector *)base;
    return add(x, c->set, c->backward ? from : to);
}

/* What a repetition reaches from one term: by one step (?) or by any number of them. */
static wfre_sq_flow reach(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id start,
                          bool backward, wfre_sq_table *reached)
{
    collector c = {{collect}, reached, backward};
    wfre_sq_flow flow = WFRE_SQ_GO;
    if (path->kind != WFRE_SQ_REPEAT)
        flow = add(x, reached, start);
    if (flow == WFRE_SQ_GO)
        flow = wfre_sq_walk(x, path->children[0], backward ? WFRE_NONE : start,
                            backward ? start : WFRE_NONE, &c.base);
    for (size_t i = 0; path->kind != WFRE_SQ_OPTIONAL && i < reached->count && flow == WFRE_SQ_GO;
         i++) {
        wfre_rdf_id at = reached->rows[i];
        if ((flow = wfre_sq_tick(x)) != WFRE_SQ_GO)
            break;
        if (at == start) /* its steps have been taken */
            continue;
        flow = wfre_sq_walk(x, path->children[0], backward ? WFRE_NONE : at,
                            backward ? at : WFRE_NONE, &c.base);
    }
    return flow;
}

/* Emits what is reached from a known end; `goal` is the other one, or WFRE_NONE. */
static wfre_sq_flow walk_from(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id start,
                              wfre_rdf_id goal, bool backward, wfre_sq_walker *walker)
{
    wfre_sq_table reached = NO_TERMS;
    wfre_sq_flow flow = reach(x, path, start, backward, &reached);
    for (size_t i = 0; i < reached.count && flow == WFRE_SQ_GO; i++) {
        wfre_rdf_id other = reached.rows[i];
        if ((flow = wfre_sq_tick(x)) != WFRE_SQ_GO)
            break;
        if (goal != WFRE_NONE && other != goal)
            continue;
        flow = walker->emit(walker, x, backward ? other : start, backward ? start : other);
    }
    wfre_sq_table_free(x, &reached);
    return flow;
}

/* All nodes: subjects and objects of the graph's triples. */
static wfre_sq_flow all_nodes(wfre_sq_exec *x, wfre_sq_table *nodes)
{
    static const wfre_rdf_triple ANY = {{WFRE_NONE, WFRE_NONE, WFRE_NONE}};
    wfre_sq_flow flow = WFRE_SQ_GO;
    for (int place = WFRE_RDF_S; place <= WFRE_RDF_O && flow == WFRE_SQ_GO; place += WFRE_RDF_O) {
        wfre_rdf_column column;
        wfre_rdf_id term;
        memset(&column, 0, sizeof column);
        wfre_status status =
            wfre_rdf_column_open(&column, x->rdf, &ANY, (wfre_rdf_place)place, x->error);
        if (status != WFRE_OK)
            flow = wfre_sq_fail(x, status);
        for (wfre_rdf_id least = 0;
             flow == WFRE_SQ_GO && wfre_rdf_column_seek(&column, least, &term); least = term + 1) {
            flow = add(x, nodes, term);
            if (flow == WFRE_SQ_GO)
                flow = wfre_sq_tick(x);
        }
        wfre_rdf_column_free(&column);
    }
    return flow;
}

static wfre_sq_flow walk_repeated(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id from,
                                  wfre_rdf_id to, wfre_sq_walker *walker)
{
    if (from != WFRE_NONE)
        return walk_from(x, path, from, to, false, walker);
    if (to != WFRE_NONE)
        return walk_from(x, path, to, from, true, walker);
    wfre_sq_table nodes = NO_TERMS;
    wfre_sq_flow flow = all_nodes(x, &nodes);
    for (size_t i = 0; i < nodes.count && flow == WFRE_SQ_GO; i++)
        flow = walk_from(x, path, nodes.rows[i], WFRE_NONE, false, walker);
    wfre_sq_table_free(x, &nodes);
    return flow;
}

wfre_sq_flow wfre_sq_walk(wfre_sq_exec *x, const wfre_sq_path *path, wfre_rdf_id from,
                          wfre_rdf_id to, wfre_sq_walker *walker)
{
    wfre_sq_flow flow = WFRE_SQ_GO;
    turner back = {{turn}, walker};
    switch (path->kind) {
    case WFRE_SQ_LINK:
        return walk_triples(x, NULL, false, x->constants[path->link.constant], from, to, walker);
    case WFRE_SQ_INVERSE:
        return wfre_sq_walk(x, path->children[0], to, from, &back.base);
    case WFRE_SQ_SEQUENCE:
        return walk_sequence(x, path, from, to, walker);
    case WFRE_SQ_ALTERNATIVE:
        for (uint32_t i = 0; i < path->count && flow == WFRE_SQ_GO; i++)
            flow = wfre_sq_walk(x, path->children[i], from, to, walker);
        return flow;
    case WFRE_SQ_NEGATED:
        return walk_negated(x, path, from, to, walker);
    default:
        return walk_repeated(x, path, from, to, walker);
    }
}
