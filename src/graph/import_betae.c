/* BetaE folders: triples of ids, and pickles that name the ids.
 *
 * The ids are kept as they are, for published query files refer to them: entity e of the folder is
 * entity e of the graph, and directed relation r (even forward, r + 1 its inverse) is r. Each
 * triple stands there in both directions; a lone inverse is turned around. */
#include <string.h>

#include "base/pickle.h"
#include "graph/import.h"

static bool recognises(const char *path)
{
    char file[WFRE_PATH_SIZE];
    return wfre_is_folder(path) && wfre_import_find(path, "id2ent.pkl", file) &&
           wfre_import_find(path, "id2rel.pkl", file);
}

/* ---- names -------------------------------------------------------------------------------- */

/* The names by id of a pickled {id: name}; ids must be 0 .. n-1. They live in the pickle. */
static wfre_status names_by_id(wfre_pickle *pickle, const char *path, const wfre_name **names,
                               size_t *count, wfre_error *error)
{
    wfre_pickle_value root = pickle->root;
    if (root.kind != WFRE_PICKLE_DICT)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: holds %s; a dict from ids to names is needed", path,
                         wfre_pickle_kind_name(root.kind));
    size_t n = root.body->count / 2;
    wfre_name *by_id = wfre_arena_alloc(&pickle->arena, n, sizeof *by_id);
    if (!by_id)
        return wfre_fail_memory(error, "reading names");
    memset(by_id, 0, n * sizeof *by_id);
    for (size_t i = 0; i < n; i++) {
        wfre_pickle_value id = root.body->items[2 * i], name = root.body->items[2 * i + 1];
        if (id.kind != WFRE_PICKLE_INT || name.kind != WFRE_PICKLE_STR)
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s: entry %zu maps %s to %s; an int to a str is needed", path, i,
                             wfre_pickle_kind_name(id.kind), wfre_pickle_kind_name(name.kind));
        if (id.number < 0 || (uint64_t)id.number >= n || by_id[id.number].bytes)
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s: id %lld; the ids of %zu names must be 0 to %zu, each once", path,
                             (long long)id.number, n, n - 1);
        if (name.body->count == 0 || memchr(name.body->text, '\0', name.body->count))
            return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                             "%s: the name of id %lld is empty or has a NUL in it", path,
                             (long long)id.number);
        by_id[id.number] = (wfre_name){name.body->text, name.body->count};
    }
    *names = by_id;
    *count = n;
    return WFRE_OK;
}

/* How much of a name an error shows. */
static int shown(wfre_name name)
{
    return (int)(name.length < 200 ? name.length : 200);
}

static wfre_status name_twice(wfre_error *error, const char *path, wfre_name name)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: two ids have the name '%.*s'",
                     path, shown(name), name.bytes);
}

static wfre_status read_entities(wfre_import_job *job, const char *folder, wfre_error *error)
{
    char path[WFRE_PATH_SIZE];
    wfre_pickle pickle = {0};
    const wfre_name *names;
    size_t count;
    wfre_status status;
    (void)wfre_import_find(folder, "id2ent.pkl", path);
    TRY(wfre_pickle_load(&pickle, path, error));
    TRY(names_by_id(&pickle, path, &names, &count, error));
    for (size_t id = 0; id < count; id++) {
        wfre_entity entity;
        TRY(wfre_graph_builder_entity(job->builder, names[id].bytes, names[id].length, &entity,
                                      error));
        if (entity != id) {
            status = name_twice(error, path, names[id]);
            goto cleanup;
        }
    }
cleanup:
    wfre_pickle_free(&pickle);
    return status;
}

/* '+/people/person' and '-/people/person' are the two directions of '/people/person'. */
static wfre_name without_sign(wfre_name name)
{
    if (name.length > 1 && name.bytes[0] == '+')
        return (wfre_name){name.bytes + 1, name.length - 1};
    return name;
}

/* Where names have signs, the two of a pair must be the directions of one relation, forward first:
 * there are data sets that put all inverses behind all relations. */
static wfre_status check_signs(const char *path, const wfre_name *names, size_t id,
                               wfre_error *error)
{
    wfre_name forward = names[id], inverse = names[id + 1];
    if (forward.bytes[0] != '+' && inverse.bytes[0] != '+')
        return WFRE_OK;
    if (forward.bytes[0] == '+' && inverse.bytes[0] == '-' && forward.length == inverse.length &&
        memcmp(forward.bytes + 1, inverse.bytes + 1, forward.length - 1) == 0)
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: ids %zu and %zu are '%.*s' and '%.*s'; an even id must be +name and the "
                     "next one its inverse -name",
                     path, id, id + 1, shown(forward), forward.bytes, shown(inverse),
                     inverse.bytes);
}

static wfre_status read_relations(wfre_import_job *job, const char *folder, wfre_error *error)
{
    char path[WFRE_PATH_SIZE];
    wfre_pickle pickle = {0};
    const wfre_name *names;
    size_t count;
    wfre_status status;
    (void)wfre_import_find(folder, "id2rel.pkl", path);
    TRY(wfre_pickle_load(&pickle, path, error));
    TRY(names_by_id(&pickle, path, &names, &count, error));
    if (count % 2 != 0) {
        status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                           "%s: %zu relations; each needs its inverse beside it", path, count);
        goto cleanup;
    }
    for (size_t id = 0; id < count; id += 2) {
        TRY(check_signs(path, names, id, error));
        wfre_name name = without_sign(names[id]);
        wfre_relation relation;
        TRY(wfre_graph_builder_relation(job->builder, name.bytes, name.length, &relation, error));
        if (relation != id) {
            status = name_twice(error, path, name);
            goto cleanup;
        }
        /* WordNet's are written _hypernym; people want to write hypernym. */
        if (name.length > 1 && name.bytes[0] == '_')
            TRY(wfre_graph_builder_relation_label(job->builder, relation, name.bytes + 1,
                                                  name.length - 1, error));
    }
cleanup:
    wfre_pickle_free(&pickle);
    return status;
}

/* ---- triples ------------------------------------------------------------------------------ */

static bool parse_id(wfre_name column, uint32_t *id)
{
    uint64_t number = 0;
    for (size_t i = 0; i < column.length; i++) {
        if (column.bytes[i] < '0' || column.bytes[i] > '9' || number > UINT32_MAX)
            return false;
        number = 10 * number + (uint64_t)(column.bytes[i] - '0');
    }
    *id = (uint32_t)number;
    return column.length > 0 && number < WFRE_NONE;
}

static wfre_status read_triples(wfre_import_job *job, const char *path, wfre_split split,
                                wfre_error *error)
{
    wfre_reader *reader = NULL;
    uint32_t last[3] = {WFRE_NONE, WFRE_NONE, WFRE_NONE};
    wfre_status status;
    TRY(wfre_reader_open(path, &reader, error));
    for (;;) {
        wfre_name column[3];
        uint32_t id[3];
        size_t found;
        TRY(wfre_import_columns(job, reader, 3, 3, column, &found, error));
        if (found == 0)
            break;
        for (int i = 0; i < 3; i++)
            if (!parse_id(column[i], &id[i])) {
                status = wfre_import_fail_line(error, reader, "column %d is not an id", i + 1);
                goto cleanup;
            }
        bool inverse = id[1] % 2 != 0;
        uint32_t head = id[inverse ? 2 : 0], relation = id[1] & ~1u, tail = id[inverse ? 0 : 2];
        bool mirror = inverse && head == last[0] && relation == last[1] && tail == last[2];
        if (!mirror) {
            status = wfre_graph_builder_triple(job->builder, split, head, relation, tail, error);
            if (status == WFRE_ERR_ARGUMENT)
                status = wfre_import_fail_line(error, reader, "an id that the pickles do not name");
            TRY(status);
        }
        last[0] = head, last[1] = relation, last[2] = tail;
    }
cleanup:
    wfre_reader_close(reader);
    return status;
}

static wfre_status read_betae(wfre_import_job *job, const char *folder, wfre_error *error)
{
    if (job->source > 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "%s: a BetaE folder keeps its ids, so it must be the first source",
                         folder);
    CHECK(read_entities(job, folder, error));
    CHECK(read_relations(job, folder, error));
    for (int split = 0; split < WFRE_SPLITS; split++) {
        char file[WFRE_PATH_SIZE];
        if (wfre_import_find_split(folder, (wfre_split)split, file))
            CHECK(read_triples(job, file, (wfre_split)split, error));
        else if (split == WFRE_TRAIN)
            return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                             "%s: no train.txt in this folder", folder);
    }
    return WFRE_OK;
}

const wfre_importer wfre_importer_betae = {
    .name = "betae",
    .about = "a folder with train, valid, test of ids and id2ent.pkl, id2rel.pkl; ids are kept",
    .recognises = recognises,
    .read = read_betae,
};
