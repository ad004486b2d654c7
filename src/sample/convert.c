/* From pickled tuples to query sets.
 *
 * A tuple is printed as Python would and read again by the parser of that notation: so there is one
 * place that knows what tuples mean, and the text is the key under which answers are found. */
#include "sample/convert.h"

#include <string.h>

#include "query/notation.h"
#include "query/types.h"
#include "wfre/query.h"

typedef struct conversion {
    wfre_queryset *set;
    wfre_text key;
    wfre_text name;
    wfre_error *error;
} conversion;

/* Answers by the text of their query. */
typedef struct answers {
    const char *what; /* "easy" or "hard" */
    wfre_strings keys;
    const wfre_pickle_value **values; /* by key; the last one counts */
    wfre_entity *ids;                 /* of the query at hand */
    size_t capacity;
} answers;

static wfre_status expect(const wfre_pickle_value *value, wfre_pickle_kind kind, const char *what,
                          wfre_error *error)
{
    if (value->kind == kind)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: found %s, expected %s", what,
                     wfre_pickle_kind_name(value->kind), wfre_pickle_kind_name(kind));
}

/* Prints a tuple of tuples, ints and letters. False if there is anything else in it. */
static bool print_tuple(wfre_text *text, const wfre_pickle_value *value)
{
    switch (value->kind) {
    case WFRE_PICKLE_INT:
        wfre_text_format(text, "%lld", (long long)value->number);
        return true;
    case WFRE_PICKLE_STR:
        wfre_text_format(text, "'%.*s'", (int)(value->body->count == 1), value->body->text);
        return value->body->count == 1;
    case WFRE_PICKLE_TUPLE:
        wfre_text_char(text, '(');
        for (size_t i = 0; i < value->body->count; i++) {
            if (i > 0)
                wfre_text_char(text, ',');
            if (!print_tuple(text, &value->body->items[i]))
                return false;
        }
        wfre_text_add(text, value->body->count == 1 ? ",)" : ")");
        return true;
    default:
        return false;
    }
}

static wfre_status make_key(conversion *c, const wfre_pickle_value *tuple, const char *what)
{
    wfre_text_clear(&c->key);
    bool plain = tuple->kind == WFRE_PICKLE_TUPLE && print_tuple(&c->key, tuple);
    wfre_status status = wfre_text_status(&c->key, "reading published queries", c->error);
    if (status == WFRE_OK && !plain)
        status = wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%s: a query is not a tuple of ids such as (5, (12,))", what);
    return status;
}

/* ---- answers ------------------------------------------------------------------------------ */

static wfre_status index_answers(conversion *c, answers *a, const wfre_pickle_value *root)
{
    CHECK(expect(root, WFRE_PICKLE_DICT, a->what, c->error));
    size_t count = root->body->count / 2;
    a->values = wfre_alloc(count, sizeof *a->values);
    if (!a->values)
        return wfre_fail_memory(c->error, "reading published answers");
    for (size_t i = 0; i < count; i++) {
        uint32_t key;
        CHECK(make_key(c, &root->body->items[2 * i], a->what));
        CHECK(wfre_strings_intern(&a->keys, c->key.data, c->key.length, &key, c->error));
        a->values[key] = &root->body->items[2 * i + 1];
    }
    return WFRE_OK;
}

/* The answers to the query whose text is c->key. */
static wfre_status find_answers(conversion *c, answers *a, wfre_list *list)
{
    uint32_t key = wfre_strings_find(&a->keys, c->key.data, c->key.length);
    if (key == WFRE_NONE)
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s answers: none for query %.300s", a->what, c->key.data);
    wfre_pickle_value value = *a->values[key];
    wfre_pickle_kind kind = value.kind == WFRE_PICKLE_LIST ? value.kind : WFRE_PICKLE_SET;
    wfre_status status = expect(&value, kind, c->key.data, c->error);
    if (status != WFRE_OK)
        return status;
    if (!WFRE_RESERVE(&a->ids, &a->capacity, value.body->count))
        return wfre_fail_memory(c->error, "reading published answers");
    for (size_t i = 0; i < value.body->count; i++) {
        const wfre_pickle_value *id = &value.body->items[i];
        if (id->kind != WFRE_PICKLE_INT || id->number < 0 || id->number >= WFRE_NONE)
            return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s answers: one of query %.300s is not an entity id", a->what,
                             c->key.data);
        a->ids[i] = (wfre_entity)id->number;
    }
    *list = (wfre_list){a->ids, value.body->count};
    return WFRE_OK;
}

static void free_answers(answers *a)
{
    wfre_strings_free(&a->keys);
    wfre_free(a->values);
    wfre_free(a->ids);
}

/* ---- queries ------------------------------------------------------------------------------ */

/* Parses the text in c->key; the message then shows it. */
static wfre_status parse_key(conversion *c, const wfre_node **tree)
{
    wfre_status status =
        wfre_betae_parse(&c->set->arena, c->key.data, c->key.length, tree, c->error);
    if (status == WFRE_OK || status == WFRE_ERR_MEMORY)
        return status;
    char place[320];
    (void)snprintf(place, sizeof place, "query %.300s", c->key.data);
    return wfre_fail_within(c->error, status, place);
}

/* Reads a type structure: its tree, and in c->name what it is called. */
static wfre_status read_structure(conversion *c, const wfre_pickle_value *structure,
                                  const wfre_node **type)
{
    CHECK(make_key(c, structure, "query types"));
    CHECK(parse_key(c, type));
    if (!wfre_tree_is_type(*type))
        return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "query types: %.300s has ids, but types are made of letters", c->key.data);
    wfre_text_clear(&c->name);
    return wfre_type_name(*type, &c->name, c->error);
}

/* All queries of one type. */
static wfre_status convert_type(conversion *c, const wfre_pickle_value *queries,
                                const wfre_node *type, answers *easy, answers *hard)
{
    wfre_pickle_kind kind = queries->kind == WFRE_PICKLE_LIST ? WFRE_PICKLE_LIST : WFRE_PICKLE_SET;
    CHECK(expect(queries, kind, "queries of a type", c->error));
    for (size_t i = 0; i < queries->body->count; i++) {
        const wfre_node *tree = NULL;
        wfre_list easy_ids = {NULL, 0};
        wfre_list hard_ids = {NULL, 0};
        CHECK(make_key(c, &queries->body->items[i], "queries"));
        CHECK(parse_key(c, &tree));
        if (!wfre_node_same_shape(tree, type) || wfre_tree_is_type(tree))
            return wfre_fail(c->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "query %.300s is not of the type %.100s it stands under", c->key.data,
                             c->name.data);
        CHECK(find_answers(c, easy, &easy_ids));
        CHECK(find_answers(c, hard, &hard_ids));
        CHECK(wfre_queryset_add(c->set, c->name.data, tree, easy_ids, hard_ids, c->error));
    }
    return WFRE_OK;
}

wfre_status wfre_convert_pickles(const wfre_pickle_value *queries, const wfre_pickle_value *easy,
                                 const wfre_pickle_value *hard, wfre_queryset *set,
                                 wfre_error *error)
{
    wfre_status status;
    conversion c = {.set = set, .error = error};
    answers easy_answers = {.what = "easy"};
    answers hard_answers = {.what = "hard"};
    TRY(expect(queries, WFRE_PICKLE_DICT, "queries", error));
    TRY(index_answers(&c, &easy_answers, easy));
    TRY(index_answers(&c, &hard_answers, hard));
    /* Rank by rank; the last rank is that of all types without a BetaE name. */
    for (int rank = 0; rank <= WFRE_BETAE_TYPES; rank++) {
        for (size_t i = 0; i < queries->body->count; i += 2) {
            const wfre_node *type = NULL;
            TRY(read_structure(&c, &queries->body->items[i], &type));
            int known = wfre_betae_type_index(c.name.data, c.name.length);
            if ((known < 0 ? WFRE_BETAE_TYPES : known) != rank)
                continue;
            TRY(convert_type(&c, &queries->body->items[i + 1], type, &easy_answers, &hard_answers));
        }
    }
    if (set->count == 0)
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "queries: there are none");
cleanup:
    free_answers(&easy_answers);
    free_answers(&hard_answers);
    wfre_text_free(&c.key);
    wfre_text_free(&c.name);
    return status;
}

/* ---- folders ------------------------------------------------------------------------------ */

static wfre_status load(const char *folder, const char *prefix, const char *ending,
                        wfre_pickle *pickle, wfre_error *error)
{
    wfre_text path = {0};
    wfre_text_format(&path, "%s/%s%s", folder, prefix, ending);
    wfre_status status = wfre_text_status(&path, "reading published queries", error);
    if (status == WFRE_OK)
        status = wfre_pickle_load(pickle, path.data, error);
    wfre_text_free(&path);
    return status;
}

static wfre_status read_folder(const char *folder, const char *prefix, wfre_queryset *set,
                               wfre_error *error)
{
    wfre_pickle queries = {0};
    wfre_pickle easy = {0};
    wfre_pickle hard = {0};
    wfre_status status;
    TRY(load(folder, prefix, "-queries.pkl", &queries, error));
    TRY(load(folder, prefix, "-easy-answers.pkl", &easy, error));
    TRY(load(folder, prefix, "-hard-answers.pkl", &hard, error));
    status = wfre_convert_pickles(&queries.root, &easy.root, &hard.root, set, error);
    if (status != WFRE_OK && status != WFRE_ERR_MEMORY) {
        char place[512];
        (void)snprintf(place, sizeof place, "%.300s/%.100s-*.pkl", folder, prefix);
        status = wfre_fail_within(error, status, place);
    }
cleanup:
    wfre_pickle_free(&queries);
    wfre_pickle_free(&easy);
    wfre_pickle_free(&hard);
    return status;
}

static wfre_status verify(const char *folder, wfre_split split, const wfre_queryset *set,
                          wfre_pool *pool, const wfre_monitor *monitor, wfre_conversion *report,
                          wfre_error *error)
{
    wfre_status status;
    wfre_graph *graph = NULL;
    wfre_text example = {0};
    wfre_import_options options = {.format = "betae"};
    uint32_t differ;
    uint32_t first;
    TRY(wfre_import_graph(&folder, 1, &options, monitor, &graph, NULL, error));
    status = wfre_queryset_verify(set, graph, split, pool, &differ, &first, error);
    if (status == WFRE_ERR_MISMATCH)
        status = wfre_fail_within(error, status, folder);
    if (status != WFRE_OK)
        goto cleanup;
    report->differ = differ;
    if (differ > 0) {
        wfre_betae_print(&example, set->rows[first].tree);
        TRY(wfre_text_status(&example, "verifying queries", error));
        (void)snprintf(report->example, sizeof report->example, "%s", example.data);
    }
cleanup:
    wfre_text_free(&example);
    wfre_graph_close(graph);
    return status;
}

static wfre_status write_set(const wfre_queryset *set, const char *output, const char *comment,
                             wfre_error *error)
{
    wfre_status status;
    wfre_queryset_writer writer = {0};
    wfre_text name = {0};
    TRY(wfre_queryset_writer_open(&writer, output, comment, error));
    for (uint32_t i = 0; i < set->count; i++) {
        size_t length;
        const char *type = wfre_strings_get(&set->types, set->rows[i].type, &length);
        wfre_text_clear(&name);
        wfre_text_append(&name, type, length);
        TRY(wfre_text_status(&name, "writing a query set", error));
        TRY(wfre_queryset_writer_put(&writer, name.data, set->rows[i].tree,
                                     wfre_queryset_easy(set, i), wfre_queryset_hard(set, i),
                                     error));
    }
    TRY(wfre_queryset_writer_commit(&writer, error));
cleanup:
    wfre_queryset_writer_discard(&writer);
    wfre_text_free(&name);
    return status;
}

wfre_status wfre_queries_convert(const char *folder, const wfre_convert_options *options,
                                 const char *output, wfre_pool *pool, const wfre_monitor *monitor,
                                 wfre_conversion *report, wfre_error *error)
{
    GIVEN(folder);
    GIVEN(options);
    static const char *const SPLITS[] = {"train", "valid", "test"};
    wfre_status status;
    wfre_queryset set = {0};
    wfre_conversion counted = {0};
    const char *prefix = options->prefix ? options->prefix : SPLITS[options->split];
    char comment[256];
    TRY(read_folder(folder, prefix, &set, error));
    counted.queries = set.count;
    counted.types = set.types.count;
    if (options->verify)
        TRY(verify(folder, options->split, &set, pool, monitor, &counted, error));
    (void)snprintf(comment, sizeof comment, "published queries %.100s of split %s", prefix,
                   SPLITS[options->split]);
    if (output && counted.differ == 0)
        TRY(write_set(&set, output, comment, error));
    if (report)
        *report = counted;
cleanup:
    wfre_queryset_clear(&set);
    return status;
}
