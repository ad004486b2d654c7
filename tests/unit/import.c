/* The importers by what they build, the holdout by its promises, and running out of memory at every
 * step. The messages for bad input are tested from the command line. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "graph/import.h"
#include "wfre/query.h"

/* ---- a folder of source files ------------------------------------------------------------- */

typedef struct sources {
    char folder[64];
    char path[8][128];
    int count;
} sources;

static void make_folder(sources *s)
{
    *s = (sources){.folder = "/tmp/wfre-import-XXXXXX"};
    assert_non_null(mkdtemp(s->folder));
}

static const char *put(sources *s, const char *name, const char *text, size_t length)
{
    char path[sizeof s->path[0]];
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    assert_ok(wfre_write_file(path, text, length, error));
    return memcpy(s->path[s->count++], path, sizeof path);
}

#define PUT(s, name, text) put(s, name, text, sizeof text - 1)

static void remove_folder(sources *s)
{
    for (int i = 0; i < s->count; i++)
        unlink(s->path[i]);
    assert_int_equal(rmdir(s->folder), 0);
}

/* Imports one source and opens the result; the output file is gone again afterwards. */
static wfre_status import_one(const sources *s, const char *source,
                              const wfre_import_options *options, wfre_import_report *report,
                              wfre_graph **graph, wfre_error *error)
{
    char output[128];
    (void)snprintf(output, sizeof output, "%s/out.kg", s->folder);
    wfre_status status;
    TRY(wfre_import(&source, 1, options, output, NULL, report, error));
    TRY(wfre_graph_open(output, graph, error));
cleanup:
    unlink(output);
    return status;
}

static bool has(const wfre_graph *graph, const char *head, const char *relation, const char *tail)
{
    wfre_entity h = wfre_graph_find_entity(graph, head, strlen(head));
    wfre_entity t = wfre_graph_find_entity(graph, tail, strlen(tail));
    wfre_relation r = wfre_graph_find_relation(graph, relation, strlen(relation));
    return h != WFRE_NONE && r != WFRE_NONE && t != WFRE_NONE &&
           wfre_graph_has(graph, WFRE_TEST, h, r, t);
}

static void assert_text(wfre_name name, const char *expected)
{
    assert_int_equal(name.length, strlen(expected));
    assert_memory_equal(name.bytes, expected, name.length);
}

/* ---- formats ------------------------------------------------------------------------------ */

#define TURTLE                                                                                     \
    "@prefix ex: <http://x/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"         \
    "ex:a ex:r ex:b ; rdfs:label \"A\"@fr, \"the A\"@en, \"an A\" ; ex:age 4 .\n"                  \
    "ex:b rdfs:label \"ein B\"@de ; ex:r [ ex:r ex:a ] .\nex:r rdfs:label \"related\" .\n"

static void test_rdf(void **state)
{
    (void)state;
    sources s;
    make_folder(&s);
    const char *path = PUT(&s, "g.ttl", TURTLE);
    wfre_graph *graph;
    wfre_import_report report;
    assert_ok(import_one(&s, path, NULL, &report, &graph, error));
    assert_string_equal(report.format, "ttl");
    assert_int_equal(report.entities, 2);
    assert_int_equal(report.attributes, 8);
    assert_int_equal(report.literals + report.blanks, 0);
    assert_text(wfre_graph_entity_name(graph, 0), "http://x/a");
    assert_text(wfre_graph_entity_label(graph, 0), "the A"); /* English wins */
    assert_text(wfre_graph_entity_label(graph, 1), "ein B");
    assert_text(wfre_graph_relation_label(graph, 0), "related");
    assert_true(has(graph, "the A", "related", "http://x/b"));
    wfre_graph_close(graph);

    const wfre_import_options all = {.literals = WFRE_LITERALS_ENTITIES};
    assert_ok(import_one(&s, path, &all, &report, &graph, error));
    assert_int_equal(report.literals + report.blanks, 0);
    assert_true(has(graph, "http://x/a", "http://x/age",
                    "\"4\"^^<http://www.w3.org/2001/XMLSchema#integer>"));
    assert_true(has(graph, "http://x/a", "age", "4")); /* by labels */
    wfre_graph_close(graph);
    remove_folder(&s);
}

#define CITIES                                                                                     \
    "@prefix ex: <http://x/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"         \
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"                                     \
    "ex:m ex:in ex:b ; rdfs:label \"Munich\"@en, \"M\u00FCnchen\"@de, \"Monaco\"@it .\n"           \
    "ex:c ex:in ex:b ; rdfs:label \"Monaco\"@en ; skos:prefLabel \"The Rock\"@en-GB .\n"           \
    "ex:b rdfs:label \"Bavaria\"@en, \"Bayern\"@de ; ex:nick \"Freistaat\", \"Land\" .\n"          \
    "ex:f ex:in ex:m ; rdfs:label \"FCB\"@en, \"Bayern\"@de .\n"                                   \
    "ex:in rdfs:label \"in\"@en, \"liegt in\"@de ; rdfs:comment \"Lage\"@de .\n"

static wfre_entity find(const wfre_graph *graph, const char *text)
{
    return wfre_graph_find_entity(graph, text, strlen(text));
}

/* Entities are m, b, c, f: one label is shown, but all of them are names. */
static void test_labels(void **state)
{
    (void)state;
    sources s;
    make_folder(&s);
    const char *path = PUT(&s, "g.ttl", CITIES);
    const wfre_import_options own = {.label_property = "http://x/nick"};
    wfre_entity ids[WFRE_NEAREST];
    wfre_graph *graph;
    assert_ok(import_one(&s, path, NULL, NULL, &graph, error));
    wfre_entity m = find(graph, "http://x/m"), b = find(graph, "http://x/b");
    wfre_entity c = find(graph, "http://x/c");
    assert_int_equal(find(graph, "M\u00FCnchen"), m);
    assert_int_equal(find(graph, "\"M\u00FCnchen\"@de"), m);
    assert_int_equal(find(graph, "\"M\u00FCnchen\"@DE"), m);
    assert_int_equal(find(graph, "\"M\u00FCnchen\"@en"), WFRE_NONE);
    assert_int_equal(find(graph, "\"M\u00FCnchen\"@d"), WFRE_NONE);
    assert_int_equal(find(graph, "\"M\u00FCnchen\"@"), WFRE_NONE);
    assert_int_equal(find(graph, "m\u00DCNCHEN"), m); /* in other case */
    assert_int_equal(find(graph, "\"m\u00DCNCHEN\"@de"), m);
    assert_int_equal(find(graph, "Monaco"), c); /* what is shown comes first */
    assert_int_equal(find(graph, "\"Monaco\"@it"), m);
    assert_int_equal(find(graph, "the rock"), c);
    assert_int_equal(find(graph, "\"The Rock\"@en"), c); /* a region of it */
    assert_int_equal(find(graph, "Bayern"), WFRE_NONE);  /* of two */
    assert_int_equal(find(graph, "Freistaat"), WFRE_NONE);
    assert_int_equal(find(graph, "Lage"), WFRE_NONE); /* no label */
    assert_int_equal(wfre_graph_find_relation(graph, "liegt in", 8), 0);
    assert_int_equal(wfre_graph_find_relation(graph, "Liegt_In", 8), 0);
    assert_int_equal(wfre_graph_find_relation(graph, "\"liegt in\"@de", 13), 0);
    assert_int_equal(wfre_graph_find_relation(graph, "Bayern", 6), WFRE_NONE);
    assert_int_equal(wfre_nearest_entities(graph, "Mnchen", 6, ids, 8), 1);
    assert_int_equal(ids[0], m);
    assert_int_equal(wfre_nearest_entities(graph, "Bayrn", 5, ids, 8), 2);
    assert_int_equal(wfre_nearest_relations(graph, "liegt", 5, ids, 8), 1);
    wfre_graph_close(graph);

    assert_ok(import_one(&s, path, &own, NULL, &graph, error)); /* the snapshot knows it */
    assert_int_equal(find(graph, "Freistaat"), b);
    assert_int_equal(find(graph, "land"), b);
    wfre_name prefix, iri;
    assert_false(wfre_graph_prefix(graph, 3, &prefix, &iri));
    assert_text(wfre_graph_base(graph), "urn:wfre:");
    wfre_graph_close(graph);
    remove_folder(&s);
}

static void put_wordnet(sources *s)
{
    PUT(s, "data.noun",
        "  1 licence\n"
        "00000001 03 n 01 animal 0 001 ~ 00000002 n 0000 | a living organism  \n"
        "00000002 03 n 02 Dog 0 hound 0 002 @ 00000001 n 0000 + 00000001 v 0101 | a canine  \n"
        "00000003 03 n 01 dog 1 001 %p 00000001 n 0000 | a person  \n");
    PUT(s, "data.verb", "00000001 38 v 01 dog 0 001 + 00000002 n 0101 01 + 08 00 | go after\n");
    PUT(s, "data.adj",
        "00000001 00 a 01 big(p) 0 001 & 00000002 a 0000 | large\n"
        "00000002 00 s 01 huge 0 002 & 00000001 a 0000 \\ 00000001 n 0101 | very big\n");
    PUT(s, "data.adv", "00000001 02 r 01 hugely 0 001 \\ 00000002 a 0101 | very\n");
    PUT(s, "index.noun",
        "animal n 1 1 ~ 1 1 00000001  \ndog n 2 2 @ + 2 1 00000003 00000002  \n"
        "hound n 1 1 @ 1 0 00000002  \n");
    PUT(s, "index.verb", "dog v 1 1 + 1 0 00000001  \n");
    PUT(s, "index.adj", "big a 1 1 & 1 1 00000001  \nhuge a 1 1 & 1 0 00000002  \n");
    PUT(s, "index.adv", "hugely r 1 1 \\ 1 0 00000001  \n");
}

static void test_wordnet(void **state)
{
    (void)state;
    sources s;
    make_folder(&s);
    put_wordnet(&s);
    wfre_graph *graph;
    wfre_import_report report;
    assert_ok(import_one(&s, s.folder, NULL, &report, &graph, error));
    assert_string_equal(report.format, "wordnet");
    assert_int_equal(report.entities, 7);
    assert_int_equal(report.triples[WFRE_TRAIN], 8);
    assert_true(has(graph, "dog.n.02", "hypernym", "animal.n.01"));
    assert_true(has(graph, "dog.n.01", "has_part", "animal.n.01"));
    assert_true(has(graph, "dog.v.01", "derivationally_related_form", "dog.n.02"));
    assert_true(has(graph, "dog.n.02", "derivationally_related_form", "dog.v.01"));
    assert_true(has(graph, "huge.s.01", "similar_to", "big.a.01"));
    assert_true(has(graph, "huge.s.01", "pertainym", "animal.n.01"));
    assert_true(has(graph, "hugely.r.01", "derived_from_adjective", "huge.s.01"));
    wfre_entity dog = wfre_graph_find_entity(graph, "dog.n.02", 8);
    assert_text(wfre_graph_entity_description(graph, dog), "a canine");
    wfre_graph_close(graph);
    remove_folder(&s);
}

static void put_betae(sources *s)
{
    PUT(s, "id2ent.pkl",
        "\x80\x02}(K\x01X\x03\x00\x00\x00"
        "bobK\x00X\x03\x00\x00\x00"
        "annK\x02X\x03\x00\x00\x00"
        "catu.");
    PUT(s, "id2rel.pkl",
        "\x80\x04}(K\x00\x8c\x07+_childK\x01\x8c\x07-_childK\x02\x8c\x05likesK\x03\x8c\x04"
        "backu.");
    PUT(s, "train.txt", "2\t2\t1\n1\t3\t2\n0\t0\t1\n1\t1\t0\n2\t1\t0\n");
    PUT(s, "valid.txt", "1\t0\t2\n2\t1\t1\n");
}

static void test_betae(void **state)
{
    (void)state;
    sources s;
    make_folder(&s);
    put_betae(&s);
    const char *labels =
        PUT(&s, "labels.tsv", "ann\tAnn\tthe first\nlikes\tis fond of\nzoe\tZoe\n");
    const wfre_import_options options = {.labels = labels};
    wfre_graph *graph;
    wfre_import_report report;
    assert_ok(import_one(&s, s.folder, &options, &report, &graph, error));
    assert_string_equal(report.format, "betae");
    assert_int_equal(report.triples[WFRE_TRAIN], 3);
    assert_int_equal(report.triples[WFRE_VALID], 1);
    assert_int_equal(report.duplicates, 0);
    assert_int_equal(report.labels, 2);
    assert_int_equal(report.labels_unknown, 1);
    /* The folder's ids are the graph's. */
    assert_text(wfre_graph_entity_name(graph, 0), "ann");
    assert_text(wfre_graph_entity_name(graph, 2), "cat");
    assert_text(wfre_graph_relation_name(graph, 0), "_child");
    assert_text(wfre_graph_relation_label(graph, 1), "child");
    assert_text(wfre_graph_relation_label(graph, 2), "is fond of");
    assert_text(wfre_graph_entity_description(graph, 0), "the first");
    assert_true(wfre_graph_has(graph, WFRE_TRAIN, 2, 2, 1));
    assert_true(wfre_graph_has(graph, WFRE_TRAIN, 0, 0, 2)); /* came as its inverse alone */
    assert_true(wfre_graph_has(graph, WFRE_VALID, 2, 1, 1));
    wfre_graph_close(graph);
    remove_folder(&s);
}

/* ---- holding out -------------------------------------------------------------------------- */

static void check_holdout(uint32_t entities, uint32_t pairs, uint32_t triples, double share,
                          uint64_t seed)
{
    wfre_rng rng = wfre_rng_keyed(seed, 1, 2);
    wfre_graph_builder *builder;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (uint32_t i = 0; i < triples; i++) {
        char head[16], relation[16], tail[16];
        uint32_t h, r, t;
        size_t lengths[3] = {
            (size_t)snprintf(head, sizeof head, "e%u", wfre_rng_below(&rng, entities)),
            (size_t)snprintf(relation, sizeof relation, "r%u", wfre_rng_below(&rng, pairs)),
            (size_t)snprintf(tail, sizeof tail, "e%u", wfre_rng_below(&rng, entities))};
        assert_ok(wfre_graph_builder_entity(builder, head, lengths[0], &h, error));
        assert_ok(wfre_graph_builder_relation(builder, relation, lengths[1], &r, error));
        assert_ok(wfre_graph_builder_entity(builder, tail, lengths[2], &t, error));
        assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, h, r, t, error));
    }
    assert_ok(wfre_graph_builder_holdout(builder, share, seed, error));
    wfre_graph *graph;
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    uint64_t train = wfre_graph_triples(graph, WFRE_TRAIN);
    uint64_t valid = wfre_graph_triples(graph, WFRE_VALID) - train;
    uint64_t all = wfre_graph_triples(graph, WFRE_TEST), test = all - valid - train;
    assert_true(valid == test || valid == test + 1);
    assert_true((double)(valid + test) <= share * (double)all + 0.5);
    /* Everything that had a triple has one to train on. */
    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    for (wfre_entity e = 0; e < wfre_graph_entities(graph); e++)
        assert_true(edges->entity_begin[e + 1] > edges->entity_begin[e]);
    for (wfre_relation r = 0; r < wfre_graph_relations(graph); r++)
        assert_true(wfre_graph_sources(graph, WFRE_TRAIN, r).count > 0);
    if (triples >= 20 * entities) /* then nothing stands in the way of the full share */
        assert_true((double)(valid + test) >= share * (double)all - 0.5);
    wfre_graph_close(graph);
}

static void test_holdout(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        check_holdout(30, 3, 40, 0.5, seed);
        check_holdout(3, 2, 12, 0.9, seed);
        check_holdout(40, 4, 900, 0.1, seed);
    }
}

/* ---- out of memory ------------------------------------------------------------------------ */

typedef struct attempt {
    const sources *s;
    const char *source;
    wfre_import_options options;
} attempt;

static wfre_status attempt_import(void *context)
{
    const attempt *a = context;
    wfre_graph *graph = NULL;
    wfre_status status = import_one(a->s, a->source, &a->options, NULL, &graph, NULL);
    wfre_graph_close(graph);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sources s;
    make_folder(&s);
    const char *labels = PUT(&s, "labels.tsv", "ann\tAnn, one\nbob\tBob, two\n");
    const char *triples = PUT(&s, "g.tsv", "ann\tlikes\tbob\nbob\tlikes\tcat\n");
    const char *turtle = PUT(&s, "g.ttl", TURTLE);
    sweep_allocations(attempt_import, &(attempt){&s, triples, {.labels = labels, .holdout = 0.5}});
    sweep_allocations(attempt_import, &(attempt){&s, turtle, {.literals = true}});
    put_betae(&s);
    sweep_allocations(attempt_import, &(attempt){&s, s.folder, {.labels = labels}});
    remove_folder(&s);
    make_folder(&s);
    put_wordnet(&s);
    sweep_allocations(attempt_import, &(attempt){.s = &s, .source = s.folder});
    remove_folder(&s);
}

static void test_formats(void **state)
{
    (void)state;
    const char *about;
    size_t count = 0;
    for (; wfre_import_format(count, &about); count++)
        assert_non_null(about);
    assert_int_equal(count, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rdf),    cmocka_unit_test(test_wordnet),
        cmocka_unit_test(test_betae),  cmocka_unit_test(test_holdout),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_formats),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
