/* The sections of a snapshot that hold attributes, their terms, and prefixes. */
#include "base/memory.h"
#include "graph/builder.h"
#include "graph/image.h"
#include "graph/labels.h"
#include "graph/rdf_named.h"

static wfre_status put_terms(wfre_image_writer *to, const wfre_attribute_sections *from,
                             wfre_error *error)
{
    const struct {
        int part;
        const void *bytes;
        size_t length;
    } rows[] = {
        {WFRE_TERMS_CLASSES, from->classes, from->class_count * sizeof *from->classes},
        {WFRE_TERMS_KEYS, from->keys.data, from->keys.length},
        {WFRE_TERMS_BLOCKS, from->blocks, from->block_count * sizeof *from->blocks},
        {WFRE_TERMS_BYTES, from->bytes.data, from->bytes.length},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK(wfre_image_put(to, wfre_section_of_attributes(rows[i].part), rows[i].bytes,
                             rows[i].length, error));
    return WFRE_OK;
}

/* Counts different neighbours of a predicate's triples, which stand together and are sorted by
 * `place` next. */
static uint32_t count_different(const wfre_triple *rows, uint32_t count, int place)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < count; i++)
        different += i == 0 || rows[i].field[place] != rows[i - 1].field[place];
    return different;
}

/* Fills one column of the predicates from rows sorted by predicate and then by `place`. */
static wfre_status count_predicates(wfre_attribute_sections *a, int place, wfre_error *error)
{
    uint32_t predicate = 0;
    size_t capacity = a->predicate_count;
    for (uint32_t i = 0, end; i < a->count; i = end, predicate++) {
        wfre_rdf_id term = a->rows[i].field[WFRE_RDF_P];
        for (end = i + 1; end < a->count && a->rows[end].field[WFRE_RDF_P] == term; end++) {
        }
        if (!WFRE_RESERVE(&a->predicates, &capacity, (size_t)predicate + 1))
            return wfre_fail_memory(error, "counting attributes");
        uint32_t different = count_different(a->rows + i, end - i, place);
        if (place == WFRE_RDF_S)
            a->predicates[predicate] =
                (wfre_attribute_predicate){.term = term, .triples = end - i, .subjects = different};
        else
            a->predicates[predicate].objects = different;
    }
    a->predicate_count = predicate;
    return WFRE_OK;
}

static wfre_status put_order(wfre_image_writer *to, const wfre_attribute_sections *a,
                             wfre_rdf_order order, wfre_error *error)
{
    static const int columns[3][WFRE_TRIPLE_FIELDS] = {
        [WFRE_RDF_SPO] = {WFRE_RDF_S, WFRE_RDF_P, WFRE_RDF_O},
        [WFRE_RDF_PSO] = {WFRE_RDF_P, WFRE_RDF_S, WFRE_RDF_O},
        [WFRE_RDF_POS] = {WFRE_RDF_P, WFRE_RDF_O, WFRE_RDF_S},
    };
    wfre_packed packed = {.rows = a->count};
    size_t blocks = (size_t)wfre_packed_blocks(&packed);
    int section = wfre_section_of_attributes(WFRE_ATTRIBUTE_ORDERS + 2 * (int)order);
    wfre_text bytes = {0};
    wfre_packed_head *heads = wfre_alloc_zero(blocks, sizeof *heads);
    wfre_status status = WFRE_OK;
    if (!heads)
        return wfre_fail_memory(error, "packing attributes");
    wfre_packed_write(a->rows, a->count, columns[order], heads, &bytes);
    TRY(wfre_text_status(&bytes, "packing attributes", error));
    TRY(wfre_image_put(to, section, heads, blocks * sizeof *heads, error));
    TRY(wfre_image_put(to, section + 1, bytes.data, bytes.length, error));
cleanup:
    wfre_text_free(&bytes);
    wfre_free(heads);
    return status;
}

/* Each order is a stable sort away from the one before it. */
static wfre_status put_triples(wfre_image_writer *to, wfre_attribute_sections *a, uint32_t terms,
                               wfre_error *error)
{
    CHECK(put_order(to, a, WFRE_RDF_SPO, error));
    wfre_triples_sort_field(&a->rows, &a->scratch, a->count, WFRE_RDF_P, 0, terms);
    CHECK(put_order(to, a, WFRE_RDF_PSO, error));
    CHECK(count_predicates(a, WFRE_RDF_S, error));
    wfre_triples_sort_field(&a->rows, &a->scratch, a->count, WFRE_RDF_O, 0, terms);
    wfre_triples_sort_field(&a->rows, &a->scratch, a->count, WFRE_RDF_P, 0, terms);
    CHECK(put_order(to, a, WFRE_RDF_POS, error));
    CHECK(count_predicates(a, WFRE_RDF_O, error));
    return wfre_image_put(to, wfre_section_of_attributes(WFRE_ATTRIBUTE_PREDICATES), a->predicates,
                          a->predicate_count * sizeof *a->predicates, error);
}

/* Quads by graph: those of graph i are rows[begin[i]] to rows[begin[i + 1]]. */
typedef struct arranged {
    wfre_triple *rows;
    size_t *begin;
} arranged;

static bool arrange(const wfre_quads *quads, uint32_t graphs, arranged *to)
{
    to->rows = wfre_alloc(quads->count + 1, sizeof *to->rows);
    to->begin = wfre_alloc_zero((size_t)graphs + 2, sizeof *to->begin);
    if (!to->rows || !to->begin)
        return false;
    for (size_t i = 0; i < quads->count; i++)
        to->begin[quads->graphs[i] + 2]++;
    for (uint32_t i = 0; i < graphs; i++)
        to->begin[i + 2] += to->begin[i + 1];
    for (size_t i = 0; i < quads->count; i++)
        to->rows[to->begin[quads->graphs[i] + 1]++] = quads->rows[i];
    return true;
}

static void put_arranged(wfre_text *text, const arranged *from, uint32_t graph)
{
    wfre_text_char(text, '\t');
    wfre_named_put(text, from->rows + from->begin[graph],
                   from->begin[graph + 1] - from->begin[graph]);
}

/* A line for each named graph (graph/rdf_named.c). */
static wfre_status put_graphs(wfre_text *text, const wfre_graph_builder *builder, wfre_error *error)
{
    arranged edges = {0}, attributes = {0};
    uint32_t graphs = builder->graphs.count;
    wfre_status status = WFRE_OK;
    if (graphs == 0 || (graphs == 1 && wfre_strings_find(&builder->graphs, "", 0) == 0))
        return WFRE_OK; /* the default graph is all there is */
    if (!arrange(&builder->named, graphs, &edges) ||
        !arrange(&builder->attributes.named, graphs, &attributes)) {
        status = wfre_fail_memory(error, "writing named graphs");
        goto cleanup;
    }
    for (uint32_t i = 0; i < graphs; i++) {
        size_t length;
        const char *name = wfre_strings_get(&builder->graphs, i, &length);
        wfre_text_add(text, "@graph\t");
        wfre_text_append(text, name, length);
        put_arranged(text, &edges, i);
        put_arranged(text, &attributes, i);
        wfre_text_char(text, '\n');
    }
    TRY(wfre_text_status(text, "writing named graphs", error));
cleanup:
    wfre_free(edges.rows);
    wfre_free(edges.begin);
    wfre_free(attributes.rows);
    wfre_free(attributes.begin);
    return status;
}

/* "name <TAB> IRI <LF>" each, in the order of declaration; "@base" is the base, and "@label"
 * another label property. */
static wfre_status put_prefixes(wfre_image_writer *to, const wfre_graph_builder *builder,
                                wfre_error *error)
{
    wfre_text text = {0};
    wfre_status status;
    if (builder->base.length > 0) {
        wfre_text_add(&text, "@base\t");
        wfre_text_append(&text, builder->base.data, builder->base.length);
        wfre_text_char(&text, '\n');
    }
    for (uint32_t i = 0; i < builder->prefixes.count; i++) {
        size_t length;
        const char *name = wfre_strings_get(&builder->prefixes, i, &length);
        wfre_name iri = wfre_notes_get(&builder->prefix_iris, i);
        wfre_text_append(&text, name, length);
        wfre_text_char(&text, '\t');
        wfre_text_append(&text, iri.bytes, iri.length);
        wfre_text_char(&text, '\n');
    }
    for (uint32_t i = 0; i < builder->own_labels.count; i++) {
        size_t length;
        const char *iri = wfre_strings_get(&builder->own_labels, i, &length);
        wfre_text_add(&text, WFRE_LABEL_LINE "\t");
        wfre_text_append(&text, iri, length);
        wfre_text_char(&text, '\n');
    }
    TRY(wfre_text_status(&text, "writing prefixes", error));
    TRY(put_graphs(&text, builder, error));
    TRY(wfre_image_put(to, WFRE_PREFIXES, text.data, text.length, error));
cleanup:
    wfre_text_free(&text);
    return status;
}

wfre_status wfre_image_put_attributes(wfre_image_writer *to, struct wfre_graph_builder *builder,
                                      wfre_image_header *header, wfre_error *error)
{
    wfre_attribute_sections sections = {0};
    wfre_status status;
    uint64_t given = builder->attributes.count;
    if (given == 0) {
        for (int part = 0; part < WFRE_ATTRIBUTE_SECTIONS; part++)
            TRY(wfre_image_put(to, wfre_section_of_attributes(part), NULL, 0, error));
    } else {
        TRY(wfre_attributes_finish(&builder->attributes, &builder->entities, &sections, error));
        builder->duplicates += given - sections.count;
        header->attributes = sections.count;
        header->dictionary_terms = sections.terms;
        header->blanks = sections.blanks;
        TRY(put_terms(to, &sections, error));
        TRY(put_triples(to, &sections, header->entities + header->dictionary_terms + header->blanks,
                        error));
    }
    header->flags = builder->rdf_names ? WFRE_IMAGE_RDF_NAMES : 0;
    TRY(put_prefixes(to, builder, error));
cleanup:
    wfre_attribute_sections_free(&sections);
    return status;
}
