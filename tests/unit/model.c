/* src/model: programs, model files, settings by name. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "model/file.h"
#include "model/program.h"
#include "model/run.h"
#include "model/settings.h"
#include "model/weights.h"
#include "predict.h"
#include "sealing.h"
#include "toy.h"
#include "wfre/engine.h"

enum { ENTITIES = 5, RELATIONS = 4 };

static wfre_model *small_model(uint32_t bases, uint32_t members)
{
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 10;
    settings.bases = bases;
    settings.members = members;
    settings.layers = 2;
    settings.rho = 0.1;
    wfre_model *model;
    assert_ok(wfre_model_allocate(&settings, ENTITIES, RELATIONS, 0xABCDEF, &model, error));
    for (uint32_t t = 0; t < model->tensor_count; t++)
        for (size_t i = 0; i < model->tensors[t].count; i++)
            model->tensors[t].data[i] = (float)(i % 17) / 17.0f - 0.3f;
    return model;
}

/* A model whose file says that it belongs to a graph, but that has fewer rows than the graph has
 * entities or relations, would be read beyond its end. */
static void test_other_sizes(void **state)
{
    (void)state;
    enum { E = 40, R = 3 };
    wfre_graph *graph = toy_random_graph(5, E, R, 100);
    const uint32_t sizes[][2] = {{E, 2 * R}, {E - 1, 2 * R}, {E, 2 * R - 2}, {E + 1, 2 * R}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        wfre_model_settings settings;
        wfre_model *model;
        wfre_engine *engine = NULL;
        wfre_error why;
        wfre_model_settings_default(&settings);
        settings.dim = 10;
        assert_ok(wfre_model_allocate(&settings, sizes[i][0], sizes[i][1],
                                      wfre_graph_fingerprint(graph), &model, error));
        wfre_status status = wfre_model_check_graph(model, graph, &why);
        assert_int_equal(status, i == 0 ? WFRE_OK : WFRE_ERR_MISMATCH);
        status = wfre_engine_open(graph, model, NULL, NULL, NULL, &engine, &why);
        assert_int_equal(status, i == 0 ? WFRE_OK : WFRE_ERR_MISMATCH);
        wfre_engine_unref(engine);
        wfre_model_free(model);
    }
    wfre_graph_close(graph);
}

/* pin and 2u in one program: levels, groups and branches. */
static void test_program(void **state)
{
    (void)state;
    wfre_arena arena = {0};
    const wfre_node *near = wfre_node_project(&arena, 2, wfre_node_entity(&arena, 0));
    const wfre_node *far = wfre_node_project(&arena, 0, near);
    const wfre_node *pin = wfre_node_pair(
        &arena, WFRE_OP_INTERSECT, far,
        wfre_node_negate(&arena, wfre_node_project(&arena, 2, wfre_node_entity(&arena, 1))));
    const wfre_node *either = wfre_node_pair(
        &arena, WFRE_OP_UNION, near, wfre_node_project(&arena, 3, wfre_node_entity(&arena, 4)));
    const wfre_node *trees[] = {pin, either};
    wfre_program program = {0};
    for (int round = 0; round < 2; round++) { /* the second one reuses the memory */
        assert_ok(wfre_program_compile(&program, trees, 2, WFRE_UNION_DNF, error));
        assert_int_equal(program.query_count, 2);
        assert_int_equal(program.leaf_count, 4);
        assert_int_equal(program.projection_count, 5);
        assert_int_equal(program.relation_count, 3);
        assert_int_equal(program.root_count, 3);
        assert_int_equal(program.root_begin[1], 1);
        assert_int_equal(program.levels[0].group_end - program.levels[0].group_begin, 2);
        assert_int_equal(program.groups[0].end - program.groups[0].begin, 3);
    }
    assert_ok(wfre_program_compile(&program, trees, 2, WFRE_UNION_TCONORM, error));
    assert_int_equal(program.root_count, 2);
    wfre_program_free(&program);
    wfre_arena_free(&arena);
}

static void check_same(const wfre_model *a, const wfre_model *b, float tolerance)
{
    assert_int_equal(a->entity_count, b->entity_count);
    assert_int_equal(a->relation_count, b->relation_count);
    assert_true(a->fingerprint == b->fingerprint);
    for (size_t i = 0; i < wfre_model_table_count; i++) {
        char left[64], right[64];
        wfre_setting_print(&wfre_model_table[i], &a->settings, left, sizeof left);
        wfre_setting_print(&wfre_model_table[i], &b->settings, right, sizeof right);
        assert_string_equal(left, right);
    }
    for (uint32_t t = 0; t < a->tensor_count; t++)
        for (size_t i = 0; i < a->tensors[t].count; i++)
            assert_true(a->tensors[t].data[i] - b->tensors[t].data[i] <= tolerance &&
                        b->tensors[t].data[i] - a->tensors[t].data[i] <= tolerance);
    assert_true((wfre_model_weights_hash(a) == wfre_model_weights_hash(b)) == (tolerance == 0));
}

static void test_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors");
    for (uint32_t bases = 0; bases <= 3; bases += 3) {
        wfre_model *model = small_model(bases, bases ? 2 : 1), *again;
        assert_ok(wfre_model_save(model, path, false, error));
        assert_ok(wfre_model_open(path, &again, error));
        check_same(model, again, 0);
        wfre_model_free(again);
        assert_ok(wfre_model_save(model, path, true, error));
        assert_ok(wfre_model_open(path, &again, error));
        check_same(model, again, 0.003f);
        wfre_model_free(again);
        wfre_model_free(model);
    }
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Every shorter file, and every file with one byte of its header changed,
 * is refused or harmless. */
static void test_damaged_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors"), *bytes;
    wfre_model *model = small_model(2, 1);
    size_t length;
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    wfre_model *again = NULL;
    for (size_t cut = 0; cut < length; cut += 397) {
        assert_ok(wfre_write_file(path, bytes, cut, error));
        assert_int_equal(wfre_model_open(path, &again, NULL), WFRE_ERR_FORMAT);
    }
    for (size_t at = 0; at < 1500; at += 13) {
        bytes[at] ^= 0x15;
        assert_ok(wfre_write_file(path, bytes, length, error));
        assert_int_not_equal(wfre_model_open(path, &again, NULL), WFRE_OK);
        if (model_seal(bytes, length)) {
            assert_ok(wfre_write_file(path, bytes, length, error));
            if (wfre_model_open(path, &again, NULL) == WFRE_OK)
                wfre_model_free(again);
        }
        bytes[at] ^= 0x15;
    }
    wfre_model_free(model);
    wfre_free(bytes);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Damage to both names of the checksums does not make a file one from before there were any. */
static void test_damaged_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors"), *bytes;
    wfre_model *model = small_model(2, 1), *again = NULL;
    wfre_error why = {0};
    size_t length;
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    char *key = strstr(bytes + 8, "\"checksum\""), *name = strstr(bytes + 8, "\"checksums\"");
    assert_true(key && name);
    key[3] = name[3] = 'i';
    assert_ok(wfre_write_file(path, bytes, length, error));
    assert_int_equal(wfre_model_open(path, &again, &why), WFRE_ERR_FORMAT);
    assert_non_null(strstr(why.message, "checksums are not where they belong"));
    wfre_model_free(model);
    wfre_free(bytes);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Any bit of a weight that is flipped is noticed by whoever reads it, and by whoever copies all. A
 * number that is not finite is refused by its tensor's name, whatever the checksums say. */
static void test_damaged_weights(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors"), *bytes;
    wfre_model *model = small_model(2, 1), *again = NULL;
    size_t length;
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    size_t header = (unsigned char)bytes[0] + 256 * (size_t)(unsigned char)bytes[1];
    size_t data = 8 + header + 8, entities = ENTITIES * 10 * sizeof(float);
    for (size_t at = 8 + header; at < length; at += 7) {
        wfre_error why = {0};
        bytes[at] ^= 0x10;
        assert_ok(wfre_write_file(path, bytes, length, error));
        wfre_status status = wfre_model_open(path, &again, &why);
        if (status == WFRE_OK) { /* the entities are not read by then */
            assert_true(at >= data && at < data + entities);
            assert_int_equal(wfre_model_validate(again, NULL), WFRE_ERR_FORMAT);
            assert_int_equal(wfre_model_save(again, path, false, &why), WFRE_ERR_FORMAT);
            wfre_model_free(again);
        }
        assert_non_null(strstr(why.message, "checksum"));
        bytes[at] ^= 0x10;
    }
    const float nan_value = NAN;
    for (size_t at = data; at < length; at += 40) {
        char *intact = wfre_copy_text(bytes, length);
        assert_non_null(intact);
        wfre_error why = {0};
        memcpy(bytes + at, &nan_value, sizeof nan_value);
        assert_true(model_seal(bytes, length));
        assert_ok(wfre_write_file(path, bytes, length, error));
        if (wfre_model_open(path, &again, &why) == WFRE_OK) {
            assert_int_equal(wfre_model_validate(again, &why), WFRE_ERR_NUMERIC);
            wfre_model_free(again);
        }
        assert_int_equal(why.code, WFRE_ERR_NUMERIC);
        assert_non_null(strstr(why.message, at < data + entities ? " of entities" : " of layer"));
        memcpy(bytes, intact, length);
        wfre_free(intact);
    }
    wfre_model_free(model);
    wfre_free(bytes);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* A file of eight bytes in two tensors is taken only if they share them out. */
static void test_tensors_tile(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        wfre_status status;
    } cases[] = {
        {"[0,4]", "[4,8]", WFRE_OK},
        {"[4,8]", "[0,4]", WFRE_OK},
        {"[0,4]", "[0,4]", WFRE_ERR_FORMAT},
        {"[4,8]", "[4,8]", WFRE_ERR_FORMAT},
    };
    char folder[] = "/tmp/wfre-model-XXXXXX", file[512];
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char form[] = "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":%s}";
        char a[80], b[80];
        (void)snprintf(a, sizeof a, form, cases[i].a);
        (void)snprintf(b, sizeof b, form, cases[i].b);
        memset(file, 0, sizeof file);
        size_t length = (size_t)snprintf(file + 8, sizeof file - 8,
                                         "{\"a\":%s,\"b\":%s,\"e\":{\"dtype\":\"F32\","
                                         "\"shape\":[0],\"data_offsets\":[4,4]}}",
                                         a, b);
        file[0] = (char)length; /* below 256 */
        assert_ok(wfre_write_file(path, file, 8 + length + 8, error));
        wfre_safetensors *tensors = NULL;
        assert_int_equal(wfre_safetensors_open(path, &tensors, NULL), cases[i].status);
        wfre_safetensors_close(cases[i].status == WFRE_OK ? tensors : NULL);
    }
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Numbers behind a header of odd length, as another program may write it, are still aligned. */
static void test_odd_header(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors"), *bytes;
    wfre_model *model = small_model(2, 1), *again;
    size_t length, last;
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    last = 8 + (size_t)(unsigned char)bytes[0] + 256 * (size_t)(unsigned char)bytes[1] - 1;
    assert_true(bytes[last] == ' ' && bytes[0] != 0); /* the last byte of the header is padding */
    memmove(bytes + last, bytes + last + 1, length - last - 1);
    bytes[0]--;
    assert_true(model_seal(bytes, length - 1));
    assert_ok(wfre_write_file(path, bytes, length - 1, error));
    assert_ok(wfre_model_open(path, &again, error));
    assert_true((uintptr_t)again->entities % sizeof(float) == 0);
    check_same(model, again, 0);
    wfre_model_free(again);
    wfre_model_free(model);
    wfre_free(bytes);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

static void test_settings(void **state)
{
    (void)state;
    wfre_model_settings settings;
    wfre_error why;
    wfre_model_settings_default(&settings);
    assert_ok(wfre_model_set(&settings, "dim", "320", error));
    assert_ok(wfre_model_set(&settings, "tnorm", "product", error));
    assert_int_equal(settings.dim, 320);
    assert_int_equal(settings.tnorm, WFRE_TNORM_PRODUCT);
    assert_int_equal(wfre_model_set(&settings, "tnorm", "none", &why), WFRE_ERR_ARGUMENT);
    assert_string_equal(why.message, "tnorm 'none': use one of godel, product, lukasiewicz");
    assert_int_equal(wfre_model_set(&settings, "dim", "-5", &why), WFRE_ERR_ARGUMENT);
    assert_int_equal(wfre_model_set(&settings, "frob", "1", &why), WFRE_ERR_NOT_FOUND);
    settings.dim = 321;
    assert_int_equal(wfre_model_settings_check(&settings, &why), WFRE_ERR_ARGUMENT);
}

/* A file from before there were members has one; a number that does not divide is refused. */
static void test_members_in_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/wfre-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = wfre_path_join(folder, "m.safetensors"), *bytes;
    wfre_model *model = small_model(2, 1), *again;
    size_t length;
    wfre_error why;
    assert_ok(wfre_model_save(model, path, false, error));
    assert_ok(wfre_read_all(path, 1 << 20, &bytes, &length, error));
    char *key = strstr(bytes + 8, "\"members\"");
    assert_non_null(key);
    key[1] = 'M';
    assert_true(model_seal(bytes, length));
    assert_ok(wfre_write_file(path, bytes, length, error));
    assert_ok(wfre_model_open(path, &again, error));
    check_same(model, again, 0);
    wfre_model_free(again);
    key[1] = 'm';
    char *value = strchr(key + 9, '1');
    assert_non_null(value);
    *value = '3';
    assert_true(model_seal(bytes, length));
    assert_ok(wfre_write_file(path, bytes, length, error));
    assert_int_equal(wfre_model_open(path, &again, &why), WFRE_ERR_FORMAT);
    assert_non_null(strstr(why.message, "m.safetensors: members 3"));
    wfre_model_free(model);
    wfre_free(bytes);
    unlink(path);
    rmdir(folder);
    wfre_free(path);
}

/* Fills a tensor of the whole with those of its members, one after the other or side by side. */
static void join_tensor(wfre_tensor *whole, const wfre_tensor *first, const wfre_tensor *second,
                        size_t rows)
{
    size_t width = first->count / rows;
    for (size_t r = 0; r < rows; r++) {
        float *row = whole->data + r * 2 * width;
        memcpy(row, first->data + r * width, width * sizeof *row);
        memcpy(row + width, second->data + r * width, width * sizeof *row);
    }
}

/* A model of two members computes what its members compute. */
static void test_members(void **state)
{
    (void)state;
    wfre_arena arena = {0};
    const wfre_node *tree = wfre_node_pair(
        &arena, WFRE_OP_INTERSECT,
        wfre_node_project(&arena, 3, wfre_node_project(&arena, 1, wfre_node_entity(&arena, 2))),
        wfre_node_negate(&arena, wfre_node_project(&arena, 1, wfre_node_entity(&arena, 4))));
    for (uint32_t bases = 0; bases <= 3; bases += 3) {
        wfre_model *model[3] = {small_model(bases, 1), small_model(bases, 1)};
        for (uint32_t t = 0; t < model[1]->tensor_count; t++)
            for (size_t i = 0; i < model[1]->tensors[t].count; i++)
                model[1]->tensors[t].data[i] = (float)(i % 13) / 13.0f - 0.2f;
        wfre_model_settings settings = model[0]->settings;
        settings.dim = 20;
        settings.members = 2;
        assert_ok(wfre_model_allocate(&settings, ENTITIES, RELATIONS, 0, &model[2], error));
        for (uint32_t t = 0; t < model[2]->tensor_count; t++) {
            bool coefficients = t % WFRE_LAYER_TENSORS == 1;
            if (model[0]->tensors[t].count > 0)
                join_tensor(&model[2]->tensors[t], &model[0]->tensors[t], &model[1]->tensors[t],
                            t == 0         ? ENTITIES
                            : coefficients ? RELATIONS
                                           : 1);
        }
        float rows[3][20];
        for (int m = 0; m < 3; m++) {
            const wfre_way *way = &model[m]->settings.way;
            assert_int_equal(predict_embed(model[m], tree, way, rows[m]), WFRE_OK);
            wfre_model_free(model[m]);
        }
        assert_memory_equal(rows[2], rows[0], 10 * sizeof(float));
        assert_memory_equal(rows[2] + 10, rows[1], 10 * sizeof(float));
    }
    wfre_model_settings odd;
    wfre_model_settings_default(&odd);
    wfre_error why;
    odd.members = 3; /* of 400 bins */
    assert_int_equal(wfre_model_settings_check(&odd, &why), WFRE_ERR_ARGUMENT);
    odd.members = 16; /* 25 bins each, blocks of 2 */
    odd.score.block = 2;
    assert_int_equal(wfre_model_settings_check(&odd, &why), WFRE_ERR_ARGUMENT);
    wfre_arena_free(&arena);
}

/* The gradients of bases and coefficients, as plain sums, with so many relations that the way back
 * takes each member's output rows in two bands. */
static void test_many_relations(void **state)
{
    (void)state;
    enum { MANY = 500, DIM = 100, WIDTH = 50, BASES = 2 };
    wfre_arena arena = {0};
    wfre_linalg *linalg;
    wfre_model *model;
    wfre_program program = {0};
    wfre_weights weights = {0};
    wfre_tensor tensors[WFRE_MAXIMUM_TENSORS];
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = DIM;
    settings.members = 2;
    settings.bases = BASES;
    assert_ok(wfre_linalg_create(NULL, WFRE_ISA_REFERENCE, &linalg, error));
    assert_ok(wfre_model_allocate(&settings, ENTITIES, MANY, 0, &model, error));
    for (uint32_t t = 0; t < model->tensor_count; t++)
        for (size_t i = 0; i < model->tensors[t].count; i++)
            model->tensors[t].data[i] = (float)(i % 23) / 23.0f - 0.4f;
    const wfre_node *trees[MANY];
    for (uint32_t r = 0; r < MANY; r++)
        trees[r] = wfre_node_project(&arena, r, wfre_node_entity(&arena, r % ENTITIES));
    assert_ok(wfre_program_compile(&program, trees, MANY, WFRE_UNION_DNF, error));
    float *slope = wfre_alloc(MANY * DIM, sizeof *slope),
          *input = wfre_alloc(MANY * DIM, sizeof *input);
    for (size_t i = 0; i < (size_t)MANY * DIM; i++) {
        slope[i] = (float)(i % 29) / 29.0f - 0.5f;
        input[i] = (float)(i % 31) / 31.0f - 0.5f;
    }
    wfre_weights_job job = {model, 0, &program, NULL, linalg, NULL, WFRE_FP32};
    assert_ok(wfre_parameters_allocate(model, tensors, error));
    wfre_layer own = wfre_layer_at(model->tensors + 1, 0), out = wfre_layer_at(tensors, 0);
    assert_ok(wfre_weights_build(&weights, &job, error));
    assert_ok(wfre_weights_backward(&weights, &job, slope, input, &out, error));
    for (uint32_t n = 0; n < 60; n++) { /* single elements, all over */
        uint32_t member = n % 2, base = n / 2 % BASES, row = n * 7 % WIDTH, column = n * 11 % WIDTH;
        uint32_t matrix = member * BASES + base, relation = n * 37 % MANY;
        double of_base = 0, of_coefficient = 0;
        for (uint32_t u = 0; u < program.relation_count; u++)
            for (uint32_t i = program.use_begin[u]; i < program.use_begin[u + 1]; i++) {
                const float *s = slope + program.uses[i] * DIM + member * WIDTH;
                const float *x = input + program.uses[i] * DIM + member * WIDTH;
                size_t c = program.relations[u] * 2 * BASES + matrix;
                of_base += (double)own.coefficients[c] * (double)s[row] * (double)x[column];
                for (size_t a = 0; a < WIDTH && program.relations[u] == relation; a++) {
                    of_coefficient += (double)s[a] * (double)own.biases[matrix * WIDTH + a];
                    for (size_t b = 0; b < WIDTH; b++)
                        of_coefficient +=
                            (double)s[a] * (double)x[b] *
                            (double)own.bases[(matrix * WIDTH + a) * (size_t)WIDTH + b];
                }
            }
        size_t at = (matrix * WIDTH + row) * (size_t)WIDTH + column;
        assert_true(fabs(of_base - (double)out.bases[at]) < 1e-3);
        at = relation * 2 * BASES + matrix;
        assert_true(fabs(of_coefficient - (double)out.coefficients[at]) < 1e-3);
    }
    wfre_free(slope);
    wfre_free(input);
    wfre_parameters_free(tensors);
    wfre_weights_free(&weights);
    wfre_program_free(&program);
    wfre_model_free(model);
    wfre_linalg_free(linalg);
    wfre_arena_free(&arena);
}

/* Everything from allocation to a backward pass, with each allocation failing once. */
static wfre_status run_once(void *context)
{
    wfre_linalg *linalg = context;
    wfre_status status;
    wfre_arena arena = {0};
    wfre_model *model = NULL;
    wfre_run *run = NULL;
    wfre_program program = {0};
    wfre_tensor tensors[WFRE_MAXIMUM_TENSORS] = {0};
    wfre_model_settings settings;
    wfre_model_settings_default(&settings);
    settings.dim = 10;
    settings.bases = 2;
    const wfre_node *tree =
        wfre_node_negate(&arena, wfre_node_project(&arena, 1, wfre_node_entity(&arena, 0)));
    if (!tree) {
        status = WFRE_ERR_MEMORY;
        goto cleanup;
    }
    TRY(wfre_model_allocate(&settings, ENTITIES, RELATIONS, 0, &model, NULL));
    TRY(wfre_parameters_allocate(model, tensors, NULL));
    TRY(wfre_program_compile(&program, &tree, 1, WFRE_UNION_DNF, NULL));
    TRY(wfre_run_create(model, NULL, linalg, WFRE_FP32, &run, NULL));
    TRY(wfre_run_forward(run, &program, NULL, NULL));
    TRY(wfre_run_backward(run, tensors, NULL));
cleanup:
    wfre_run_free(run);
    wfre_program_free(&program);
    wfre_parameters_free(tensors);
    wfre_model_free(model);
    wfre_arena_free(&arena);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    wfre_linalg *linalg;
    assert_ok(wfre_linalg_create(NULL, WFRE_ISA_REFERENCE, &linalg, error));
    sweep_allocations(run_once, linalg);
    wfre_linalg_free(linalg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_sizes),    cmocka_unit_test(test_program),
        cmocka_unit_test(test_file),           cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_damaged_names),  cmocka_unit_test(test_damaged_weights),
        cmocka_unit_test(test_settings),       cmocka_unit_test(test_memory),
        cmocka_unit_test(test_odd_header),     cmocka_unit_test(test_tensors_tile),
        cmocka_unit_test(test_members),        cmocka_unit_test(test_members_in_file),
        cmocka_unit_test(test_many_relations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
