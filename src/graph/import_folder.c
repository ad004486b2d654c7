/* A folder of RDF files: all that have an ending of one of the syntaxes, in the order of their
 * names. Files called train, valid and test are these splits, as on the command line. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/import.h"

static const wfre_importer *const READERS[] = {&wfre_importer_nt, &wfre_importer_ttl,
                                               &wfre_importer_nq, &wfre_importer_trig};
enum { READER_COUNT = sizeof READERS / sizeof READERS[0] };

static const wfre_importer *reader_of(const char *path)
{
    for (int i = 0; i < READER_COUNT; i++)
        if (READERS[i]->recognises(path))
            return READERS[i];
    return NULL;
}

typedef struct listing {
    char **paths;
    size_t count, capacity;
} listing;

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_listing(listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        wfre_free(l->paths[i]);
    wfre_free(l->paths);
}

/* The RDF files of a folder, sorted; those of folders within it are left alone. */
static wfre_status list_files(const char *folder, listing *l, wfre_error *error)
{
    DIR *directory = opendir(folder);
    wfre_status status = WFRE_OK;
    if (!directory)
        return wfre_fail_errno(error, folder, "read the folder");
    for (const struct dirent *entry; status == WFRE_OK && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = wfre_path_join(folder, entry->d_name);
        if (path && !reader_of(path)) {
            wfre_free(path);
        } else if (path && WFRE_RESERVE(&l->paths, &l->capacity, l->count + 1)) {
            l->paths[l->count++] = path;
        } else {
            wfre_free(path);
            status = wfre_fail_memory(error, "reading a folder");
        }
    }
    (void)closedir(directory);
    if (status == WFRE_OK && l->count > 0)
        qsort(l->paths, l->count, sizeof *l->paths, compare_paths);
    return status;
}

static bool recognises(const char *path)
{
    DIR *directory = wfre_is_folder(path) ? opendir(path) : NULL;
    char file[WFRE_PATH_SIZE];
    bool found = false;
    if (!directory)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(directory)) != NULL;)
        found = entry->d_name[0] != '.' && wfre_import_find(path, entry->d_name, file) &&
                reader_of(file);
    (void)closedir(directory);
    return found;
}

static wfre_status read_folder(wfre_import_job *job, const char *path, wfre_error *error)
{
    listing l = {0};
    wfre_status status;
    TRY(list_files(path, &l, error));
    if (l.count == 0) {
        status = wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                           "%s: no file ending in .nt, .ttl, .nq or .trig in this folder", path);
        goto cleanup;
    }
    job->sources += (uint32_t)l.count; /* so that blank nodes are told apart */
    for (size_t i = 0; i < l.count; i++) {
        job->split = wfre_import_split_of(l.paths[i]);
        TRY(reader_of(l.paths[i])->read(job, l.paths[i], error));
    }
cleanup:
    free_listing(&l);
    return status;
}

const wfre_importer wfre_importer_rdf_folder = {
    .name = "rdf",
    .about = "a folder of such files",
    .recognises = recognises,
    .read = read_folder,
};
