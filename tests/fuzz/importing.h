/* For fuzz targets of importers: a folder in memory for their files, and what each importer owes.
 * An accepted input makes a graph that validates; a refused one gets a message of one line. */
#ifndef WFRE_TESTS_FUZZ_IMPORTING_H
#define WFRE_TESTS_FUZZ_IMPORTING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/import.h"

enum { FUZZ_FILES = 8 };
static char fuzz_folder[64];
static char fuzz_paths[FUZZ_FILES][128];
static int fuzz_path_count;

static inline void fuzz_remove(void)
{
    for (int i = 0; i < fuzz_path_count; i++)
        (void)unlink(fuzz_paths[i]);
    (void)rmdir(fuzz_folder);
}

/* The folder, made at the first call and removed when the program ends. */
static inline const char *fuzz_make_folder(void)
{
    if (fuzz_folder[0] == '\0') {
        (void)snprintf(fuzz_folder, sizeof fuzz_folder, "%s/wfre-fuzz-%ld",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
        if (mkdir(fuzz_folder, 0700) != 0 || atexit(fuzz_remove) != 0)
            abort();
    }
    return fuzz_folder;
}

/* Writes bytes as a file of the folder; returns its path. */
static inline const char *fuzz_write(const char *name, const void *bytes, size_t length)
{
    char path[128];
    int i = 0;
    (void)snprintf(path, sizeof path, "%s/%s", fuzz_make_folder(), name);
    while (i < fuzz_path_count && strcmp(fuzz_paths[i], path) != 0)
        i++;
    if (i == FUZZ_FILES)
        abort();
    if (i == fuzz_path_count)
        memcpy(fuzz_paths[fuzz_path_count++], path, sizeof path);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        abort();
    return fuzz_paths[i];
}

/* Writes the parts of the input, separated by "%%" and a newline, as files of these names. */
static inline void fuzz_write_parts(const uint8_t *bytes, size_t length, const char *const *names,
                                    size_t count)
{
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        size_t end = begin;
        while (end < length && (length - end < 3 || memcmp(bytes + end, "%%\n", 3) != 0))
            end++;
        (void)fuzz_write(names[i], bytes + begin, end - begin);
        begin = end < length ? end + 3 : length;
    }
}

static inline void fuzz_import(const wfre_importer *importer, const char *path,
                               const wfre_import_options *options)
{
    wfre_import_report report = {0};
    wfre_import_job job = {.options = options, .report = &report};
    wfre_graph *graph = NULL;
    wfre_error error = {0};
    wfre_status status = wfre_graph_builder_create(&job.builder, &error);
    if (status == WFRE_OK)
        status = importer->read(&job, path, &error);
    if (status == WFRE_OK)
        status = wfre_import_rdf_labels(&job, &error);
    if (status == WFRE_OK && options->labels)
        status = wfre_import_labels(&job, &error);
    bool accepted = status == WFRE_OK;
    if (accepted)
        status = wfre_graph_builder_finish(job.builder, &graph, &error);
    if (accepted && status == WFRE_OK)
        status = wfre_graph_validate(graph, &error);
    if ((accepted && status != WFRE_OK) ||
        (!accepted && (error.message[0] == '\0' || strchr(error.message, '\n')))) {
        fprintf(stderr, "accepted %d: '%s'\n", accepted, error.message);
        abort();
    }
    wfre_graph_close(graph);
    wfre_import_job_free(&job);
}

#endif
