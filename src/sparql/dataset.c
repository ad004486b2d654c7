/* Which graphs a query sees: the default graph, and those that GRAPH can name.
 *
 * Without FROM the default graph is everything that the snapshot has, in whatever graph, and all
 * its named graphs can be named. FROM makes a default graph of the graphs it names, FROM NAMED says
 * which can be named; what neither names is not there. For both, a snapshot without named graphs
 * that was imported with a base is the graph of that name. */
#include "sparql/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A graph that FROM, FROM NAMED or a protocol asks for. */
typedef struct request {
    wfre_name iri;
    size_t offset;
    bool named;
} request;

static wfre_name name_of(const wfre_sq_exec *x, size_t index)
{
    const wfre_rdf *all = x->dataset.all;
    return index < wfre_rdf_named_count(all) ? wfre_rdf_named_iri(all, index)
                                             : wfre_graph_base(wfre_rdf_graph(all));
}

/* How many graphs FROM can name; the whole is one if there is no other and it was given a base. */
static size_t count_names(const wfre_sq_exec *x)
{
    size_t count = wfre_rdf_named_count(x->dataset.all);
    wfre_name base = wfre_graph_base(wfre_rdf_graph(x->dataset.all));
    return count ? count : base.length > 0 && !wfre_sq_name_is(base, "urn:wfre:");
}

/* Which graph has the name; SIZE_MAX if none has. */
static wfre_sq_flow find(wfre_sq_exec *x, wfre_name iri, size_t *index)
{
    wfre_sq_flow flow = WFRE_SQ_GO;
    *index = SIZE_MAX;
    for (size_t i = 0; i < count_names(x) && *index == SIZE_MAX && flow == WFRE_SQ_GO; i++) {
        wfre_name name = name_of(x, i);
        flow = wfre_sq_tick(x);
        if (name.length == iri.length && memcmp(name.bytes, iri.bytes, iri.length) == 0)
            *index = i;
    }
    return flow;
}

static wfre_sq_flow add_named(wfre_sq_exec *x, size_t index)
{
    wfre_sq_dataset *d = &x->dataset;
    wfre_name iri = name_of(x, index);
    const wfre_rdf_value value = {.kind = WFRE_RDF_IRI, .text = iri};
    wfre_rdf_id id;
    if (wfre_sq_charge(x, sizeof *d->named + sizeof *d->by_name, "named graphs") != WFRE_SQ_GO ||
        wfre_sq_tick(x) != WFRE_SQ_GO || wfre_sq_intern(x, &value, &id) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (!WFRE_RESERVE(&d->named, &d->named_capacity, d->named_count + 1))
        return wfre_sq_no_memory(x);
    for (size_t i = 0; d->given && i < d->named_count; i++) /* FROM NAMED may name one twice */
        if (d->named[i].name == id)
            return WFRE_SQ_GO;
    d->named[d->named_count++] = (wfre_sq_named){.name = id, .index = index};
    return WFRE_SQ_GO;
}

static int compare_names(const void *a, const void *b)
{
    const wfre_sq_place_of *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

wfre_sq_flow wfre_sq_dataset_list(wfre_sq_exec *x)
{
    wfre_sq_dataset *d = &x->dataset;
    wfre_sq_flow flow = WFRE_SQ_GO;
    if (d->listed)
        return flow;
    for (size_t i = 0; !d->given && i < wfre_rdf_named_count(d->all) && flow == WFRE_SQ_GO; i++)
        flow = add_named(x, i);
    d->by_name = wfre_alloc(d->named_count + 1, sizeof *d->by_name);
    if (!d->by_name)
        return wfre_sq_no_memory(x);
    for (size_t i = 0; i < d->named_count; i++)
        d->by_name[i] = (wfre_sq_place_of){d->named[i].name, (uint32_t)i};
    if (d->named_count > 0)
        qsort(d->by_name, d->named_count, sizeof *d->by_name, compare_names);
    d->listed = flow == WFRE_SQ_GO;
    return flow;
}

/* The i-th request; false at the end. What a protocol names comes in place of what the query does.
 */
static bool next_request(const wfre_sq_exec *x, size_t i, request *r)
{
    const wfre_sparql_run_options *o = x->options;
    *r = (request){.offset = WFRE_NO_OFFSET};
    if (o->default_graph_count + o->named_graph_count > 0) {
        r->named = i >= o->default_graph_count;
        if (i >= o->default_graph_count + o->named_graph_count)
            return false;
        const char *iri =
            r->named ? o->named_graphs[i - o->default_graph_count] : o->default_graphs[i];
        r->iri = (wfre_name){iri, strlen(iri)};
        return true;
    }
    if (i >= x->query->source_count)
        return false;
    const wfre_sq_source *source = &x->query->sources[i];
    *r = (request){source->name.text, source->name.offset, source->named};
    return true;
}

static wfre_sq_flow not_found(wfre_sq_exec *x, const request *r)
{
    return wfre_sq_fail(x,
                        wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, r->offset,
                                  "FROM%s: the snapshot has no graph <%.*s>; SELECT ?g { GRAPH ?g "
                                  "{} } lists those it has",
                                  r->named ? " NAMED" : "",
                                  (int)(r->iri.length < 200 ? r->iri.length : 200), r->iri.bytes));
}

/* The default graph of several; one that is the whole makes it the whole. */
static wfre_sq_flow merge(wfre_sq_exec *x, const size_t *graphs, size_t count)
{
    wfre_sq_dataset *d = &x->dataset;
    wfre_status status = WFRE_OK;
    for (size_t i = 0; i < count; i++)
        if (graphs[i] >= wfre_rdf_named_count(d->all))
            return WFRE_SQ_GO;
    if (count == 1)
        status = wfre_rdf_named_view(d->all, graphs[0], &d->main, x->error);
    else
        status = wfre_rdf_merge(d->all, graphs, count, &d->merged, x->error);
    if (d->merged)
        d->main = d->merged;
    return status == WFRE_OK ? WFRE_SQ_GO : wfre_sq_fail(x, status);
}

wfre_sq_flow wfre_sq_dataset_open(wfre_sq_exec *x)
{
    wfre_sq_dataset *d = &x->dataset;
    size_t *graphs = NULL, count = 0, capacity = 0;
    wfre_sq_flow flow = WFRE_SQ_GO;
    request r;
    d->all = d->main = x->rdf;
    d->name = WFRE_NONE;
    for (size_t i = 0; flow == WFRE_SQ_GO && next_request(x, i, &r); i++) {
        size_t index;
        d->given = true;
        flow = find(x, r.iri, &index);
        if (flow != WFRE_SQ_GO)
            break;
        if (index == SIZE_MAX)
            flow = not_found(x, &r);
        else if (r.named)
            flow = add_named(x, index);
        else if (!WFRE_RESERVE(&graphs, &capacity, count + 1))
            flow = wfre_sq_no_memory(x);
        else
            graphs[count++] = index;
    }
    if (flow == WFRE_SQ_GO && d->given)
        flow = merge(x, graphs, count);
    wfre_free(graphs);
    return flow;
}

void wfre_sq_dataset_close(wfre_sq_exec *x)
{
    wfre_rdf_close(x->dataset.merged);
    wfre_free(x->dataset.named);
    wfre_free(x->dataset.by_name);
}

size_t wfre_sq_dataset_find(const wfre_sq_exec *x, wfre_rdf_id name)
{
    const wfre_sq_dataset *d = &x->dataset;
    const wfre_sq_place_of key = {.name = name}, *found = NULL;
    if (d->named_count > 0)
        found = bsearch(&key, d->by_name, d->named_count, sizeof key, compare_names);
    return found ? found->place : d->named_count;
}

/* ---- GRAPH -------------------------------------------------------------------------------- */

/* Inside, the run sees the named graph; what comes behind sees the one around. */
typedef struct changer {
    wfre_sq_sink base;
    wfre_sq_sink *sink;
    const wfre_rdf *outside, *inside;
    wfre_rdf_id outside_name, inside_name;
} changer;

static wfre_sq_flow pass_out(wfre_sq_sink *base, wfre_sq_exec *x)
{
    changer *c = (changer *)base;
    x->rdf = c->outside;
    x->dataset.name = c->outside_name;
    wfre_sq_flow flow = c->sink->emit(c->sink, x);
    x->rdf = c->inside;
    x->dataset.name = c->inside_name;
    return flow;
}

static wfre_sq_flow run_in(wfre_sq_exec *x, const wfre_sq_node *node, size_t graph,
                           wfre_sq_sink *sink)
{
    const wfre_sq_named *named = &x->dataset.named[graph];
    changer c = {{pass_out}, sink, x->rdf, x->dataset.all, x->dataset.name, named->name};
    if (named->index < wfre_rdf_named_count(x->dataset.all)) {
        wfre_status status = wfre_rdf_named_view(x->dataset.all, named->index, &c.inside, x->error);
        if (status != WFRE_OK)
            return wfre_sq_fail(x, status);
    }
    x->rdf = c.inside;
    x->dataset.name = c.inside_name;
    wfre_sq_flow flow = wfre_sq_run(x, node->children[0], &c.base);
    x->rdf = c.outside;
    x->dataset.name = c.outside_name;
    return flow;
}

wfre_sq_flow wfre_sq_run_graph(wfre_sq_exec *x, const wfre_sq_node *node, wfre_sq_sink *sink)
{
    const wfre_sq_term *name = &node->pattern->name;
    wfre_rdf_id given =
        name->kind == WFRE_SQ_SLOT ? x->row[name->slot] : x->constants[name->constant];
    wfre_sq_flow flow = WFRE_SQ_GO;
    if (given != WFRE_NONE) {
        size_t graph = wfre_sq_dataset_find(x, given);
        return graph < x->dataset.named_count ? run_in(x, node, graph, sink) : WFRE_SQ_GO;
    }
    for (size_t i = 0; i < x->dataset.named_count && flow == WFRE_SQ_GO; i++)
        flow = run_in(x, node, i, sink);
    return flow;
}
