/* Which graphs a query sees: the default graph, and those that GRAPH can name.
 *
 * Without FROM the default graph is everything that the snapshot has, in whatever graph, and all
 * its named graphs can be named. A snapshot without named graphs is itself one if it was imported
 * with a base: that is its name. FROM makes a default graph of the graphs it names, FROM NAMED says
 * which can be named; what neither names is not there. */
#include "sparql/dataset.h"

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

/* How many graphs have names; the whole is one if there is no other and it has a base. */
static size_t count_names(const wfre_sq_exec *x)
{
    size_t count = wfre_rdf_named_count(x->dataset.all);
    return count ? count : wfre_sq_names_graph(wfre_graph_base(wfre_rdf_graph(x->dataset.all)));
}

static size_t find(const wfre_sq_exec *x, wfre_name iri)
{
    for (size_t i = 0; i < count_names(x); i++) {
        wfre_name name = name_of(x, i);
        if (name.length == iri.length && memcmp(name.bytes, iri.bytes, iri.length) == 0)
            return i;
    }
    return SIZE_MAX;
}

static wfre_sq_flow add_named(wfre_sq_exec *x, size_t index)
{
    wfre_sq_dataset *d = &x->dataset;
    wfre_name iri = name_of(x, index);
    const wfre_rdf_value value = {.kind = WFRE_RDF_IRI, .text = iri};
    wfre_rdf_id id;
    if (!WFRE_RESERVE(&d->named, &d->named_capacity, d->named_count + 1))
        return wfre_sq_no_memory(x);
    if (wfre_sq_intern(x, &value, &id) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (size_t i = 0; i < d->named_count; i++)
        if (d->named[i].name == id)
            return WFRE_SQ_GO;
    d->named[d->named_count++] = (wfre_sq_named){.name = id, .index = index};
    return WFRE_SQ_GO;
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
    bool any = false;
    for (size_t i = 0; flow == WFRE_SQ_GO && next_request(x, i, &r); i++) {
        size_t index = find(x, r.iri);
        any = true;
        if (index == SIZE_MAX)
            flow = not_found(x, &r);
        else if (r.named)
            flow = add_named(x, index);
        else if (!WFRE_RESERVE(&graphs, &capacity, count + 1))
            flow = wfre_sq_no_memory(x);
        else
            graphs[count++] = index;
    }
    if (flow == WFRE_SQ_GO && any)
        flow = merge(x, graphs, count);
    for (size_t i = 0; !any && i < count_names(x) && flow == WFRE_SQ_GO; i++)
        flow = add_named(x, i);
    wfre_free(graphs);
    return flow;
}

void wfre_sq_dataset_close(wfre_sq_exec *x)
{
    wfre_rdf_close(x->dataset.merged);
    wfre_free(x->dataset.named);
}

size_t wfre_sq_dataset_find(const wfre_sq_exec *x, wfre_rdf_id name)
{
    size_t i = 0;
    while (i < x->dataset.named_count && x->dataset.named[i].name != name)
        i++;
    return i;
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
