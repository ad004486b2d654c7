/* Checks everything about attributes in a snapshot. */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "graph/image.h"

static wfre_status invalid(wfre_error *error, int section, const char *what)
{
    char name[64];
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "damaged graph snapshot: section '%s' %s; import the graph again",
                     wfre_image_section_name(section, name), what);
}

/* A line is "name <TAB> IRI", the base comes first. */
static wfre_status check_prefixes(const wfre_graph *graph, wfre_error *error)
{
    const char *at = graph->prefixes.bytes, *end = at + graph->prefixes.length;
    if (!wfre_utf8_valid(at, graph->prefixes.length))
        return invalid(error, WFRE_PREFIXES, "is not UTF-8");
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (!line || !memchr(at, '\t', (size_t)(line - at)))
            return invalid(error, WFRE_PREFIXES, "has a line that is none");
        at = line + 1;
    }
    return WFRE_OK;
}

/* Whether a triple may be an attribute: its predicate is an IRI, its subject no literal, and one of
 * its ends is not an entity. */
static bool is_attribute(const wfre_graph *graph, const wfre_triple *row)
{
    uint32_t entities = graph->header->entities, iris_end = 0, first = 0;
    uint32_t literals_end = entities + graph->header->dictionary_terms;
    if (graph->dictionary.class_count > 0)
        wfre_dictionary_range(&graph->dictionary, 0, &first, &iris_end);
    uint32_t s = row->field[WFRE_RDF_S], p = row->field[WFRE_RDF_P], o = row->field[WFRE_RDF_O];
    bool blank_subject = s >= literals_end;
    return p < entities + iris_end && (blank_subject || s < entities + iris_end) &&
           (blank_subject || o >= entities + iris_end);
}

/* After the orders themselves were found sound: all three have the same triples, which are
 * attributes. */
static wfre_status check_orders(const wfre_graph *graph, wfre_error *error)
{
    static const int places[3][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}};
    const wfre_triple none = {{0}};
    uint64_t sums[3] = {0};
    size_t done = 0;
    for (int order = 0; order < 3; order++) {
        wfre_packed_cursor cursor = wfre_packed_find(&graph->attributes[order], &none);
        for (; cursor.rank < cursor.packed->rows; wfre_packed_next(&cursor)) {
            if (wfre_leave_after(&done, 16))
                return wfre_check_stop(error);
            wfre_triple row;
            for (int i = 0; i < 3; i++)
                row.field[places[order][i]] = cursor.row.field[i];
            sums[order] += wfre_hash(&row, sizeof row, 0);
            if (order == 0 && !is_attribute(graph, &row))
                return invalid(error, wfre_section_of_attributes(WFRE_ATTRIBUTE_ORDERS + 1),
                               "has what is no attribute");
        }
    }
    if (sums[0] != sums[1] || sums[0] != sums[2])
        return invalid(error, wfre_section_of_attributes(WFRE_ATTRIBUTE_ORDERS + 1),
                       "has other triples than the other orders");
    return WFRE_OK;
}

static wfre_status check_predicates(const wfre_graph *graph, wfre_error *error)
{
    int section = wfre_section_of_attributes(WFRE_ATTRIBUTE_PREDICATES);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < graph->predicate_count; i++) {
        const wfre_attribute_predicate *row = &graph->predicates[i];
        wfre_triple prefix = {{row->term, 0, 0}};
        if (i > 0 && row->term <= graph->predicates[i - 1].term)
            return invalid(error, section, "is not in order");
        if (wfre_packed_count(&graph->attributes[WFRE_RDF_PSO], &prefix, 1) != row->triples ||
            row->subjects > row->triples || row->objects > row->triples)
            return invalid(error, section, "counts wrongly");
        sum += row->triples;
    }
    return sum == graph->header->attributes ? WFRE_OK
                                            : invalid(error, section, "lacks a predicate");
}

wfre_status wfre_graph_check_attributes(const wfre_graph *graph, wfre_error *error)
{
    uint32_t terms =
        graph->header->entities + graph->header->dictionary_terms + graph->header->blanks;
    const char *wrong = wfre_dictionary_check(&graph->dictionary);
    if (!wrong)
        return wfre_fail_memory(error, "checking a graph");
    if (*wrong)
        return invalid(error, wfre_section_of_attributes(WFRE_TERMS_BYTES), wrong);
    for (int order = 0; order < 3; order++) {
        if (wfre_may_leave())
            return wfre_check_stop(error);
        if (!wfre_packed_check(&graph->attributes[order], terms))
            return invalid(error, wfre_section_of_attributes(WFRE_ATTRIBUTE_ORDERS + 2 * order + 1),
                           "is not in order");
    }
    CHECK(check_orders(graph, error));
    CHECK(check_predicates(graph, error));
    return check_prefixes(graph, error);
}
