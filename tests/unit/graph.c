/* src/graph: building, looking up, the snapshot file and every way in which it can be damaged. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "graph/image.h"
#include "snapshot.h"

static wfre_status add(wfre_graph_builder *builder, wfre_split split, const char *head,
                       const char *relation, const char *tail, wfre_error *error)
{
    wfre_entity h, t;
    wfre_relation r;
    wfre_status status;
    TRY(wfre_graph_builder_entity(builder, head, strlen(head), &h, error));
    TRY(wfre_graph_builder_relation(builder, relation, strlen(relation), &r, error));
    TRY(wfre_graph_builder_entity(builder, tail, strlen(tail), &t, error));
    TRY(wfre_graph_builder_triple(builder, split, h, r, t, error));
cleanup:
    return status;
}

/* Seven people; a duplicate across splits, a self loop, a shared label. Valid adds nothing unless
 * `with_valid`. */
static wfre_status fill_family(wfre_graph_builder *builder, bool with_valid, wfre_error *error)
{
    wfre_status status;
    TRY(add(builder, WFRE_TRAIN, "ann", "child", "bob", error));
    TRY(add(builder, WFRE_TRAIN, "ann", "child", "cat", error));
    TRY(add(builder, WFRE_TRAIN, "bob", "child", "dan", error));
    TRY(add(builder, WFRE_TRAIN, "dan", "likes", "dan", error));
    TRY(add(builder, WFRE_TRAIN, "eve", "likes", "ann", error));
    TRY(add(builder, WFRE_TRAIN, "ann", "child", "bob", error));
    if (with_valid) {
        TRY(add(builder, WFRE_VALID, "cat", "child", "eve", error));
        TRY(add(builder, WFRE_VALID, "ann", "child", "cat", error));
    }
    TRY(add(builder, WFRE_TEST, "fay", "likes", "gus", error));
    TRY(wfre_graph_builder_label(builder, 0, "Ann A.", 6, error));
    TRY(wfre_graph_builder_label(builder, 1, "Robert", 6, error));
    TRY(wfre_graph_builder_label(builder, 2, "Robert", 6, error));
    TRY(wfre_graph_builder_describe(builder, 1, "the elder", 9, error));
    TRY(wfre_graph_builder_relation_label(builder, 2, "is fond of", 10, error));
cleanup:
    return status;
}

static wfre_status build_family(bool with_valid, wfre_graph **graph, wfre_error *error)
{
    wfre_graph_builder *builder = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_create(&builder, error));
    TRY(fill_family(builder, with_valid, error));
    TRY(wfre_graph_builder_finish(builder, graph, error));
cleanup:
    wfre_graph_builder_free(builder);
    return status;
}

static void assert_name(wfre_name name, const char *expected)
{
    assert_int_equal(name.length, strlen(expected));
    assert_memory_equal(name.bytes, expected, name.length);
}

static void assert_list(wfre_list list, size_t count, const wfre_entity *ids)
{
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list.ids[i], ids[i]);
}

static void test_lookup(void **state)
{
    (void)state;
    wfre_graph *graph;
    assert_ok(build_family(true, &graph, error));
    assert_ok(wfre_graph_validate(graph, error));
    assert_int_equal(wfre_graph_entities(graph), 7);
    assert_int_equal(wfre_graph_relations(graph), 4);
    assert_int_equal(wfre_graph_triples(graph, WFRE_TRAIN), 5);
    assert_int_equal(wfre_graph_triples(graph, WFRE_VALID), 6);
    assert_int_equal(wfre_graph_triples(graph, WFRE_TEST), 7);

    assert_name(wfre_graph_entity_name(graph, 0), "ann");
    assert_name(wfre_graph_entity_label(graph, 0), "Ann A.");
    assert_name(wfre_graph_entity_label(graph, 3), "dan");
    assert_name(wfre_graph_entity_description(graph, 1), "the elder");
    assert_null(wfre_graph_entity_description(graph, 0).bytes);
    assert_name(wfre_graph_relation_name(graph, 3), "likes");
    assert_name(wfre_graph_relation_label(graph, 2), "is fond of");
    assert_null(wfre_graph_entity_name(graph, 7).bytes);
    assert_int_equal(wfre_graph_find_entity(graph, "dan", 3), 3);
    assert_int_equal(wfre_graph_find_entity(graph, "Ann A.", 6), 0);
    assert_int_equal(wfre_graph_find_entity(graph, "Robert", 6), WFRE_NONE); /* of two */
    assert_int_equal(wfre_graph_find_entity(graph, "da", 2), WFRE_NONE);
    assert_int_equal(wfre_graph_find_entity(graph, "", 0), WFRE_NONE);
    assert_int_equal(wfre_graph_find_relation(graph, "likes", 5), 2);
    assert_int_equal(wfre_graph_find_relation(graph, "is fond of", 10), 2);

    assert_list(wfre_graph_targets(graph, WFRE_TRAIN, 0, 0), 2, (wfre_entity[]){1, 2});
    assert_list(wfre_graph_targets(graph, WFRE_TRAIN, 1, 3), 1, (wfre_entity[]){1});
    assert_list(wfre_graph_targets(graph, WFRE_TRAIN, 0, 2), 0, NULL);
    assert_list(wfre_graph_targets(graph, WFRE_VALID, 0, 2), 1, (wfre_entity[]){4});
    assert_list(wfre_graph_targets(graph, WFRE_TEST, 9, 2), 0, NULL);
    assert_list(wfre_graph_targets(graph, WFRE_TEST, 0, 99), 0, NULL);
    assert_list(wfre_graph_sources(graph, WFRE_TRAIN, 3), 2, (wfre_entity[]){0, 3});
    assert_list(wfre_graph_sources(graph, WFRE_TEST, 99), 0, NULL);
    assert_true(wfre_graph_has(graph, WFRE_TRAIN, 3, 2, 3));
    assert_true(wfre_graph_has(graph, WFRE_TEST, 6, 3, 5));
    assert_false(wfre_graph_has(graph, WFRE_VALID, 6, 3, 5));

    const wfre_adjacency *edges = wfre_graph_adjacency(graph, WFRE_TRAIN);
    assert_int_equal(edges->entity_begin[1] - edges->entity_begin[0], 2); /* ann: child, likes^-1 */
    assert_int_equal(wfre_edge_relation(edges, 0), 0);
    assert_int_equal(wfre_edge_relation(edges, 1), 3);
    assert_list(wfre_group_targets(edges, edges->edge_groups[1]), 1, (wfre_entity[]){4});
    wfre_graph_close(graph);
    wfre_graph_close(NULL);
}

static void test_empty(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    wfre_graph *graph;
    assert_ok(wfre_graph_builder_create(&builder, error));
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    assert_ok(wfre_graph_validate(graph, error));
    assert_int_equal(wfre_graph_entities(graph), 0);
    assert_int_equal(wfre_graph_find_entity(graph, "x", 1), WFRE_NONE);
    wfre_graph_close(graph);
}

static void test_bad_calls(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    wfre_entity entity;
    assert_ok(wfre_graph_builder_create(&builder, error));
    assert_int_equal(wfre_graph_builder_entity(builder, "", 0, &entity, NULL), WFRE_ERR_FORMAT);
    assert_ok(add(builder, WFRE_TRAIN, "a", "r", "b", error));
    assert_int_equal(wfre_graph_builder_triple(builder, WFRE_TRAIN, 2, 0, 0, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_graph_builder_triple(builder, WFRE_TRAIN, 0, 1, 0, NULL),
                     WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_graph_builder_label(builder, 2, "x", 1, NULL), WFRE_ERR_ARGUMENT);
    wfre_graph_builder_free(builder);
    wfre_graph_builder_free(NULL);
}

/* Random triples against a table of booleans, in sizes that need one and several radix passes. */
static void check_random(uint32_t entities, uint32_t pairs, uint32_t triples, uint64_t seed)
{
    wfre_rng rng = wfre_rng_keyed(seed, entities, triples);
    size_t cells = (size_t)entities * entities * pairs;
    unsigned char *first = wfre_alloc(cells, 1); /* the earliest split of each triple, 3: none */
    assert_non_null(first);
    memset(first, WFRE_SPLITS, cells);
    wfre_graph_builder *builder;
    assert_ok(wfre_graph_builder_create(&builder, error));
    char name[32];
    uint32_t id;
    for (uint32_t e = 0; e < entities; e++) {
        int length = snprintf(name, sizeof name, "e%u", e);
        assert_ok(wfre_graph_builder_entity(builder, name, (size_t)length, &id, error));
    }
    for (uint32_t p = 0; p < pairs; p++) {
        int length = snprintf(name, sizeof name, "r%u", p);
        assert_ok(wfre_graph_builder_relation(builder, name, (size_t)length, &id, error));
    }
    uint64_t expected[WFRE_SPLITS] = {0};
    for (uint32_t i = 0; i < triples; i++) {
        wfre_split split = (wfre_split)wfre_rng_below(&rng, WFRE_SPLITS);
        wfre_entity h = wfre_rng_below(&rng, entities), t = wfre_rng_below(&rng, entities);
        uint32_t p = wfre_rng_below(&rng, pairs);
        unsigned char *cell = &first[((size_t)p * entities + h) * entities + t];
        *cell = *cell < split ? *cell : (unsigned char)split;
        assert_ok(wfre_graph_builder_triple(builder, split, h, 2 * p, t, error));
    }
    wfre_graph *graph;
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    assert_ok(wfre_graph_validate(graph, error));
    /* All there that should be, and no more than that. */
    for (size_t cell = 0; cell < cells; cell++) {
        wfre_entity t = (wfre_entity)(cell % entities);
        wfre_entity h = (wfre_entity)(cell / entities % entities);
        wfre_relation r = 2 * (wfre_relation)(cell / entities / entities);
        for (int split = first[cell]; split < WFRE_SPLITS; split++) {
            expected[split]++;
            assert_true(wfre_graph_has(graph, (wfre_split)split, h, r, t));
            assert_true(wfre_graph_has(graph, (wfre_split)split, t, r + 1, h));
        }
    }
    for (int split = 0; split < WFRE_SPLITS; split++)
        assert_int_equal(wfre_graph_triples(graph, (wfre_split)split), expected[split]);
    wfre_graph_close(graph);
    wfre_free(first);
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++)
        check_random(1 + (uint32_t)seed % 12, 1 + (uint32_t)seed % 4, (uint32_t)seed, seed);
    check_random(5000, 1, 20000, 1);
    check_random(3, 5000, 20000, 2);
}

/* ---- files -------------------------------------------------------------------------------- */

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-graph-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    wfre_graph_builder *builder;
    assert_ok(wfre_graph_builder_create(&builder, error));
    assert_ok(fill_family(builder, false, error));
    assert_ok(wfre_graph_builder_write(builder, path, NULL, error));
    wfre_graph_builder_free(builder);
    wfre_graph *graph, *memory, *other;
    assert_ok(wfre_graph_open(path, &graph, error));
    assert_ok(wfre_graph_validate(graph, error));
    /* A split that adds nothing shares its predecessor's edges. */
    assert_ptr_equal(wfre_graph_adjacency(graph, WFRE_TRAIN)->targets,
                     wfre_graph_adjacency(graph, WFRE_VALID)->targets);
    /* One layout: the file holds what the memory held. */
    assert_ok(build_family(false, &memory, error));
    assert_int_equal(graph->header->length, memory->header->length);
    assert_memory_equal(graph->header, memory->header, (size_t)memory->header->length);
    assert_ok(build_family(true, &other, error));
    assert_true(wfre_graph_fingerprint(memory) != wfre_graph_fingerprint(other));
    wfre_graph_close(graph);
    wfre_graph_close(memory);
    wfre_graph_close(other);
    unlink(path);
}

/* Somebody writes into a mapped file while it is open: what was looked at stays what it was, the
 * rest is found damaged, and nothing is read outside. */
static void test_overwritten(void **state)
{
    (void)state;
    char path[] = "/tmp/wfre-graph-XXXXXX", *bytes;
    size_t length;
    static char page[1 << 14];
    if (madvise((void *)(((uintptr_t)page + 8191) & ~(uintptr_t)4095), 4096, 23) != 0)
        skip(); /* MADV_POPULATE_WRITE, since Linux 5.14 */
    int fd = mkstemp(path);
    wfre_graph_builder *builder;
    wfre_graph *looked, *unseen;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (int i = 0; i < 3000; i++) { /* many pages */
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        assert_ok(add(builder, WFRE_TRAIN, name, "r", "n0", error));
    }
    assert_ok(wfre_graph_builder_write(builder, path, NULL, error));
    wfre_graph_builder_free(builder);
    close(fd);
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    wfre_private_files(0);
    assert_int_equal(setenv("WFRE_CHECK", "use", 1), 0);
    assert_ok(wfre_graph_open(path, &looked, error));
    assert_ok(wfre_graph_open(path, &unseen, error));
    assert_int_equal(unsetenv("WFRE_CHECK"), 0);
    wfre_private_files((uint64_t)32 << 20);
    uint64_t sum = snapshot_use(looked);
    fd = open(path, O_WRONLY);
    for (size_t at = 0; at < length; at++)
        bytes[at] = (char)~bytes[at];
    assert_int_equal(pwrite(fd, bytes, length, 0), length);
    close(fd);
    assert_int_equal(snapshot_use(looked), sum);
    assert_ok(wfre_graph_sound(looked, error));
    (void)snapshot_use(unseen);
    assert_int_equal(wfre_graph_sound(unseen, NULL), WFRE_ERR_FORMAT);
    wfre_graph_close(looked);
    wfre_graph_close(unseen);
    wfre_free(bytes);
    unlink(path);
}

static void test_unwritable(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    assert_ok(wfre_graph_builder_create(&builder, error));
    wfre_error error;
    assert_int_equal(wfre_graph_builder_write(builder, "/nowhere/at/all.kg", NULL, &error),
                     WFRE_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nowhere/at/all.kg"));
    wfre_graph_builder_free(builder);
    wfre_graph *graph;
    assert_int_equal(wfre_graph_open("/nowhere/at/all.kg", &graph, &error), WFRE_ERR_NOT_FOUND);
}

/* ---- damage ------------------------------------------------------------------------------- */

typedef struct family_image {
    unsigned char *bytes; /* an exact-size copy, for the sanitizers */
    size_t length;
} family_image;

static family_image copy_image(void)
{
    wfre_graph *graph;
    assert_ok(build_family(true, &graph, error));
    family_image image = {wfre_alloc((size_t)graph->header->length, 1),
                          (size_t)graph->header->length};
    assert_non_null(image.bytes);
    memcpy(image.bytes, graph->header, image.length);
    wfre_graph_close(graph);
    return image;
}

static void test_truncated(void **state)
{
    (void)state;
    family_image image = copy_image();
    for (size_t length = 0; length < image.length; length++) {
        unsigned char *part = wfre_alloc(length, 1);
        assert_non_null(part);
        memcpy(part, image.bytes, length);
        wfre_graph *graph;
        wfre_error error = {0};
        assert_int_equal(wfre_graph_from_bytes(part, length, WFRE_TRUST_LATER, &graph, &error),
                         WFRE_ERR_FORMAT);
        assert_true(error.message[0] != '\0');
        wfre_free(part);
    }
    wfre_free(image.bytes);
}

/* Every bit flipped: refused when it is opened; and if its parts are looked at later, never read
 * astray, and refused in the end. */
static void test_flipped(void **state)
{
    (void)state;
    family_image image = copy_image();
    for (size_t bit = 0; bit < 8 * image.length; bit++) {
        image.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        wfre_graph *graph;
        assert_int_not_equal(
            wfre_graph_from_bytes(image.bytes, image.length, WFRE_TRUST_NOW, &graph, NULL),
            WFRE_OK);
        if (wfre_graph_from_bytes(image.bytes, image.length, WFRE_TRUST_LATER, &graph, NULL) ==
            WFRE_OK) {
            (void)snapshot_use(graph);
            assert_int_not_equal(wfre_graph_verify(graph, NULL), WFRE_OK);
            assert_int_not_equal(wfre_graph_sound(graph, NULL), WFRE_OK);
            wfre_graph_close(graph);
        }
        image.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    wfre_free(image.bytes);
}

/* Every bit flipped and the checksums made to fit: a graph that validates then is a true graph. */
static void test_forged(void **state)
{
    (void)state;
    family_image image = copy_image();
    unsigned char *intact = wfre_alloc(image.length, 1);
    assert_non_null(intact);
    memcpy(intact, image.bytes, image.length);
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * image.length; bit++) {
        memcpy(image.bytes, intact, image.length);
        image.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        snapshot_seal(image.bytes, image.length);
        wfre_graph *graph;
        if (wfre_graph_from_bytes(image.bytes, image.length, WFRE_TRUST_LATER, &graph, NULL) !=
            WFRE_OK)
            continue;
        (void)snapshot_use(graph);
        accepted += wfre_graph_validate(graph, NULL) == WFRE_OK;
        wfre_graph_close(graph);
    }
    /* Other texts and padding; the edges cannot change one by one without being noticed. */
    assert_true(accepted > 0 && accepted < 8 * image.length);
    wfre_free(intact);
    wfre_free(image.bytes);
}

static void expect_refusal(family_image image, wfre_status code, const char *words)
{
    wfre_graph *graph;
    wfre_error error;
    assert_int_equal(
        wfre_graph_from_bytes(image.bytes, image.length, WFRE_TRUST_LATER, &graph, &error), code);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
}

static void test_reasons(void **state)
{
    (void)state;
    family_image image = copy_image();
    wfre_image_header *header = (wfre_image_header *)(void *)image.bytes;
    expect_refusal((family_image){image.bytes, 0}, WFRE_ERR_FORMAT, "an empty file");
    expect_refusal((family_image){image.bytes, 100}, WFRE_ERR_FORMAT, "ends within its header");
    expect_refusal((family_image){image.bytes, image.length - 1}, WFRE_ERR_FORMAT, "bytes long");
    header->version = WFRE_IMAGE_VERSION + 1;
    expect_refusal(image, WFRE_ERR_UNSUPPORTED, "use a newer wfre");
    header->version = WFRE_IMAGE_VERSION;
    header->byte_order = 0x04030201;
    expect_refusal(image, WFRE_ERR_UNSUPPORTED, "byte order");
    header->byte_order = WFRE_IMAGE_BYTE_ORDER;
    header->entities++;
    expect_refusal(image, WFRE_ERR_FORMAT, "header checksum");
    snapshot_seal(image.bytes, image.length);
    expect_refusal(image, WFRE_ERR_FORMAT, "'entity names, offsets'");
    header->entities--;
    header->triples[0] = 99;
    snapshot_seal(image.bytes, image.length);
    expect_refusal(image, WFRE_ERR_FORMAT, "contradicts itself");
    image.bytes[1] = 'w';
    expect_refusal(image, WFRE_ERR_FORMAT, "some other kind of file");
    wfre_free(image.bytes);
}

static wfre_status attempt_build(void *context)
{
    (void)context;
    wfre_graph *graph;
    wfre_status status = build_family(true, &graph, NULL);
    if (status == WFRE_OK)
        wfre_graph_close(graph);
    return status;
}

static wfre_status attempt_write(void *path)
{
    wfre_graph_builder *builder = NULL;
    wfre_graph *graph = NULL;
    wfre_status status;
    TRY(wfre_graph_builder_create(&builder, NULL));
    TRY(fill_family(builder, true, NULL));
    TRY(wfre_graph_builder_write(builder, path, NULL, NULL));
    TRY(wfre_graph_open(path, &graph, NULL));
cleanup:
    wfre_graph_close(graph);
    wfre_graph_builder_free(builder);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sweep_allocations(attempt_build, NULL);
    char path[] = "/tmp/wfre-graph-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    sweep_allocations(attempt_write, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),    cmocka_unit_test(test_empty),
        cmocka_unit_test(test_bad_calls), cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_file),      cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_forged),    cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
