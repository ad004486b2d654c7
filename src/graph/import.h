/* Importers: one file per format, declared here, with a row in import.c's table. Each fills the
 * builder and counts what it leaves out. */
#ifndef WFRE_SRC_GRAPH_IMPORT_H
#define WFRE_SRC_GRAPH_IMPORT_H

#include "base/file.h"
#include "graph/builder.h"

/* One import under way. */
typedef struct wfre_import_job {
    wfre_graph_builder *builder;
    const wfre_import_options *options;
    const wfre_monitor *monitor;
    wfre_import_report *report;
    wfre_split split; /* of the source at hand, if it has none of its own */
    uint32_t source;  /* its number */
    uint32_t sources; /* how many there are */
    uint32_t files;   /* RDF files read so far */
    uint64_t lines;   /* read so far, for progress */
    bool rdf;         /* some source was RDF */
} wfre_import_job;

/* Before the sources are read, and when all are: into the file `output`, or if that is NULL into
 * memory. The job, whose options, monitor and report are the caller's, is freed in any case. */
WFRE_NODISCARD wfre_status wfre_import_begin(wfre_import_job *job, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_import_end(wfre_import_job *job, const char *output,
                                           wfre_graph **graph, wfre_error *error);
void wfre_import_job_free(wfre_import_job *job);

typedef struct wfre_importer {
    const char *name;
    const char *about;
    bool (*recognises)(const char *path);
    wfre_status (*read)(wfre_import_job *job, const char *path, wfre_error *error);
} wfre_importer;

extern const wfre_importer wfre_importer_csv;
extern const wfre_importer wfre_importer_tsv;
extern const wfre_importer wfre_importer_nt;
extern const wfre_importer wfre_importer_ttl;
extern const wfre_importer wfre_importer_nq;
extern const wfre_importer wfre_importer_trig;
extern const wfre_importer wfre_importer_rdf_folder;
extern const wfre_importer wfre_importer_wordnet;
extern const wfre_importer wfre_importer_betae;

/* ---- what the importers share ------------------------------------------------------------- */

/* Counts one line or statement; now and then reports progress and looks for an interrupt. */
WFRE_NODISCARD wfre_status wfre_import_tick(wfre_import_job *job, wfre_error *error);

/* The next line that is not empty, valid until the next call; *line is NULL at the end. A NUL or
 * bytes that are not UTF-8 fail with FILE:LINE. */
WFRE_NODISCARD wfre_status wfre_import_line(wfre_import_job *job, wfre_reader *reader,
                                            const char **line, size_t *length, wfre_error *error);

/* The same, cut at its tabs into `least` to `most` columns, none of them empty; *found is their
 * number, 0 at the end. */
WFRE_NODISCARD wfre_status wfre_import_columns(wfre_import_job *job, wfre_reader *reader,
                                               size_t least, size_t most, wfre_name *columns,
                                               size_t *found, wfre_error *error);

/* Fails with "FILE:LINE: message" for the line last read. */
WFRE_PRINTF(3, 4)
wfre_status wfre_import_fail_line(wfre_error *error, const wfre_reader *reader, const char *format,
                                  ...);

/* "folder/name" into `path`; whether that is a file. */
enum { WFRE_PATH_SIZE = 4096 };
bool wfre_import_find(const char *folder, const char *name, char path[WFRE_PATH_SIZE]);
/* The same for the file of a split: train, valid (or dev) or test, with .txt or .tsv or neither,
 * and perhaps .gz. */
bool wfre_import_find_split(const char *folder, wfre_split split, char path[WFRE_PATH_SIZE]);
/* The split that a file's own name says, train if it says none. */
wfre_split wfre_import_split_of(const char *path);
/* Fails if a file is RDF in a syntax that is not read, and names what converts it. */
WFRE_NODISCARD wfre_status wfre_import_refuse_foreign(const char *path, wfre_error *error);
/* Whether a path ends in one of these (a NULL-ended list), .gz aside. */
bool wfre_import_ends_in(const char *path, const char *const *endings);

/* Labels and descriptions of RDF sources, from their attributes; call it when all are read. */
WFRE_NODISCARD wfre_status wfre_import_rdf_labels(wfre_import_job *job, wfre_error *error);
/* Whether an IRI gives labels or descriptions. */
bool wfre_import_is_label(const wfre_import_options *options, wfre_name iri);

/* Reads the label file of the options. */
WFRE_NODISCARD wfre_status wfre_import_labels(wfre_import_job *job, wfre_error *error);
/* Moves a share of the training triples to valid and test; see wfre_import_options. */
WFRE_NODISCARD wfre_status wfre_graph_builder_holdout(wfre_graph_builder *builder, double share,
                                                      uint64_t seed, wfre_error *error);

#endif
