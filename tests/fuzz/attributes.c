/* The attributes of a snapshot: bytes of a sound one are replaced as the input says (three bytes
 * each: place within the sections of attributes, low byte first, and value), and the checksums made
 * to fit. What opens can be asked everything; what validates gives back its own terms. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/builder.h"
#include "graph/image.h"
#include "graph/rdf.h"
#include "snapshot.h"
#include "wfre/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static wfre_name name_of(const char *text)
{
    return (wfre_name){text, strlen(text)};
}

static void add(wfre_graph_builder *builder, wfre_rdf_value s, const char *p, wfre_rdf_value o)
{
    const wfre_rdf_value triple[] = {s, {.kind = WFRE_RDF_IRI, .text = name_of(p)}, o};
    uint32_t terms[3];
    for (int i = 0; i < 3; i++)
        if (wfre_attributes_term(&builder->attributes, &triple[i], &terms[i], NULL) != WFRE_OK)
            abort();
    uint32_t graph = o.kind == WFRE_RDF_BLANK; /* one of the two named graphs */
    if (wfre_attributes_add(&builder->attributes, terms[0], terms[1], terms[2], NULL) != WFRE_OK ||
        wfre_quads_add(&builder->attributes.named, graph, terms[0], terms[1], terms[2], NULL) !=
            WFRE_OK)
        abort();
}

/* Two entities, some 90 attributes of all kinds, two prefixes, a label property, two named
 * graphs. */
static wfre_graph *make_graph(void)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    wfre_entity a, b;
    wfre_relation r;
    uint32_t graphs[2], own;
    if (wfre_graph_builder_create(&builder, NULL) != WFRE_OK ||
        wfre_graph_builder_entity(builder, "http://x/a", 10, &a, NULL) != WFRE_OK ||
        wfre_graph_builder_entity(builder, "http://x/b", 10, &b, NULL) != WFRE_OK ||
        wfre_graph_builder_relation(builder, "http://x/r", 10, &r, NULL) != WFRE_OK ||
        wfre_graph_builder_triple(builder, WFRE_TRAIN, a, r, b, NULL) != WFRE_OK ||
        wfre_graph_builder_prefix(builder, name_of("x"), name_of("http://x/"), NULL) != WFRE_OK ||
        wfre_graph_builder_prefix(builder, name_of(""), name_of("http://y/"), NULL) != WFRE_OK ||
        wfre_strings_intern(&builder->own_labels, "http://x/p", 10, &own, NULL) != WFRE_OK ||
        wfre_strings_intern(&builder->graphs, "http://x/g", 10, &graphs[0], NULL) != WFRE_OK ||
        wfre_strings_intern(&builder->graphs, "http://x/h", 10, &graphs[1], NULL) != WFRE_OK ||
        wfre_quads_add(&builder->named, graphs[1], a, r / 2, b, NULL) != WFRE_OK)
        abort();
    for (int i = 0; i < 90; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "text %d", i % 40);
        wfre_rdf_value subject = {.kind = i % 3 == 0 ? WFRE_RDF_BLANK : WFRE_RDF_IRI,
                                  .text = name_of(i % 2 ? "http://x/a" : "http://x/only")};
        wfre_rdf_value object = {.kind = i % 7 == 0 ? WFRE_RDF_BLANK : WFRE_RDF_LITERAL,
                                 .text = name_of(text),
                                 .language = name_of(i % 5 == 0 ? "en" : ""),
                                 .datatype = name_of(i % 5 == 1 ? "http://x/type" : "")};
        add(builder, subject, i % 4 ? "http://x/p" : "http://x/r", object);
    }
    if (wfre_graph_builder_finish(builder, &graph, NULL) != WFRE_OK)
        abort();
    wfre_graph_builder_free(builder);
    return graph;
}

/* Keeps the compiler from leaving the reads out. */
static volatile uint64_t sink;

/* Scans in all orders what is not bound at all, otherwise in one that depends on the term. */
static void ask_pattern(const wfre_rdf *rdf, const wfre_rdf_triple *pattern, wfre_rdf_id term)
{
    wfre_rdf_scan scan = {0};
    wfre_rdf_column column = {0};
    wfre_rdf_triple found;
    wfre_rdf_id member;
    uint64_t steps = 0;
    sink = wfre_rdf_count(rdf, pattern);
    for (int order = 0; order < WFRE_RDF_ORDERS; order++)
        if ((term == WFRE_NONE || term % WFRE_RDF_ORDERS == (unsigned)order) &&
            wfre_rdf_scan_open(&scan, rdf, pattern, (wfre_rdf_order)order, NULL) == WFRE_OK)
            while (wfre_rdf_scan_next(&scan, &found) && steps++ < 10000)
                sink = found.at[0];
    for (int place = 0; place < WFRE_RDF_PLACES; place++)
        if (pattern->at[place] == WFRE_NONE &&
            wfre_rdf_column_open(&column, rdf, pattern, (wfre_rdf_place)place, NULL) == WFRE_OK)
            for (wfre_rdf_id least = 0; wfre_rdf_column_seek(&column, least, &member) &&
                                        member >= least && member < WFRE_NONE - 1 &&
                                        steps++ < 20000;)
                least = member + 1;
    wfre_rdf_scan_free(&scan);
    wfre_rdf_column_free(&column);
}

/* Texts as labels: as they are, in a language, in other case, misspelt. */
static void use_labels(const wfre_graph *graph)
{
    uint32_t ids[WFRE_NEAREST];
    sink = wfre_graph_find_entity(graph, "text 5", 6);
    sink = wfre_graph_find_entity(graph, "\"text 5\"@en", 11);
    sink = wfre_graph_find_entity(graph, "TEXT-7", 6);
    sink = wfre_graph_find_relation(graph, "text 39", 7);
    sink = wfre_nearest_entities(graph, "tekst 5", 7, ids, WFRE_NEAREST);
    sink = wfre_nearest_relations(graph, "tekst 5", 7, ids, WFRE_NEAREST);
}

/* Every term, and patterns with each of them; of a valid graph each term is found by its value. */
static void use(const wfre_graph *graph, bool valid)
{
    wfre_rdf *rdf;
    wfre_text scratch = {0};
    if (wfre_rdf_open(graph, WFRE_TEST, &rdf, NULL) != WFRE_OK)
        return;
    use_labels(graph);
    const wfre_rdf_triple all = {{WFRE_NONE, WFRE_NONE, WFRE_NONE}};
    ask_pattern(rdf, &all, WFRE_NONE);
    for (size_t i = 0; i < wfre_rdf_named_count(rdf) && i < 10; i++) {
        const wfre_rdf *view;
        if (wfre_rdf_named_view(rdf, i, &view, NULL) != WFRE_OK)
            continue;
        ask_pattern(view, &all, WFRE_NONE);
        for (wfre_rdf_id id = 0; id < wfre_rdf_terms(rdf) && id < 40; id++)
            for (int place = 0; place < WFRE_RDF_PLACES; place++) {
                wfre_rdf_triple pattern = all;
                pattern.at[place] = id;
                ask_pattern(view, &pattern, id);
            }
    }
    for (wfre_rdf_id id = 0; id < wfre_rdf_terms(rdf) && id < 200; id++) {
        wfre_rdf_value value;
        wfre_rdf_id found = WFRE_NONE;
        if (wfre_rdf_get(rdf, id, &scratch, &value, NULL) != WFRE_OK)
            continue;
        if (wfre_rdf_find(rdf, &value, &found, NULL) == WFRE_OK && valid && found == WFRE_NONE)
            abort();
        for (int place = 0; place < WFRE_RDF_PLACES; place++) {
            wfre_rdf_triple pattern = all;
            pattern.at[place] = id;
            ask_pattern(rdf, &pattern, id);
        }
    }
    wfre_text_free(&scratch);
    wfre_rdf_close(rdf);
}

static void damage(unsigned char *image, const uint8_t *bytes, size_t length)
{
    const wfre_image_header *header = (const wfre_image_header *)(const void *)image;
    uint64_t begin = header->sections[WFRE_FIRST_ATTRIBUTES].offset;
    uint64_t room = header->sums - begin;
    for (size_t i = 0; i + 3 <= length; i += 3)
        image[begin + (bytes[i] | (uint64_t)bytes[i + 1] << 8) % room] = bytes[i + 2];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static wfre_graph *sound;
    wfre_graph *graph = NULL;
    wfre_error error = {0};
    if (!sound)
        sound = make_graph();
    size_t size = (size_t)wfre_graph_bytes(sound);
    unsigned char *image = malloc(size);
    if (!image)
        abort();
    memcpy(image, sound->bytes, size);
    damage(image, bytes, length);
    snapshot_seal(image, size);
    if (wfre_graph_from_bytes(image, size, WFRE_TRUST_LATER, &graph, &error) == WFRE_OK) {
        use(graph, false);
        bool valid = wfre_graph_validate(graph, &error) == WFRE_OK;
        if (!valid && error.message[0] == 0)
            abort();
        if (valid)
            use(graph, true);
        wfre_graph_close(graph);
    } else if (error.message[0] == 0) {
        abort();
    }
    free(image);
    return 0;
}
