/* FROM <file.ttl>: RDF files beside a query's own file, as the dataset of that query.
 *
 * The base of the query stands for its file, so an IRI below the base's folder stands for a file
 * below the file's folder. What FROM and FROM NAMED name so, and the graph does not have, is read
 * for this query alone. Nothing else is ever read: no other folder, however it is written, nothing
 * behind a link that leads out of it, nothing but regular files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ask.h"

/* What is read for a query: names of graphs and their files, in pairs. */
typedef struct documents {
    char **iris, **paths;
    size_t count;
    size_t known; /* how many graphs the snapshot has itself */
    double deadline;
} documents;

static wfre_status fail(wfre_error *error, wfre_status code, const char *message)
{
    *error = (wfre_error){.code = code, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "%s", message);
    return code;
}

static wfre_status no_memory(wfre_error *error)
{
    return fail(error, WFRE_ERR_MEMORY, "out of memory: reading what FROM names");
}

/* ---- from IRIs to files ------------------------------------------------------------------- */

char *ask_file_base(const char *file)
{
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
    char *whole = realpath(file, NULL);
    char *base = whole ? malloc(sizeof "file://" + 3 * strlen(whole)) : NULL;
    if (base) {
        char *end = base + sprintf(base, "file://");
        for (const char *c = whole; *c; c++)
            end += sprintf(end, strchr(PLAIN, *c) ? "%c" : "%%%02X", (unsigned char)*c);
    }
    free(whole);
    return base;
}

/* How much of a base is the folder, with its slash; 0 if it has none. */
static size_t folder_length(const char *base)
{
    const char *colon = strchr(base, ':');
    const char *path = colon ? colon + 1 : base;
    if (strncmp(path, "//", 2) == 0)
        path += 2 + strcspn(path + 2, "/?#");
    size_t length = strcspn(path, "?#");
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 0 ? (size_t)(path - base) + length : 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes what stands for a path below the folder. False if it has steps that lead elsewhere, or
 * what no path has. */
static bool decode(wfre_name rest, char *path)
{
    size_t length = 0, begin = 0;
    for (size_t i = 0; i < rest.length; i++) {
        char c = rest.bytes[i];
        if (c == '%') {
            int high = i + 2 < rest.length ? digit_of(rest.bytes[i + 1]) : -1;
            int low = high >= 0 ? digit_of(rest.bytes[i + 2]) : -1;
            if (low < 0 || 16 * high + low == '/')
                return false;
            c = (char)(16 * high + low);
            i += 2;
        } else if (c == '?' || c == '#') {
            return false;
        } else if (c == '/') {
            if (length == begin || path[begin] == '.')
                return false;
            begin = length + 1;
        }
        if (c == '\0')
            return false;
        path[length++] = c;
    }
    path[length] = '\0';
    return length > begin && path[begin] != '.';
}

/* The file that an IRI stands for, to be freed; NULL if it stands for none that may be read. */
static char *file_of(const ask_session *session, wfre_name iri)
{
    size_t folder = session->base ? folder_length(session->base) : 0;
    if (folder == 0 || iri.length <= folder || memcmp(iri.bytes, session->base, folder) != 0)
        return NULL;
    char *own = realpath(session->file, NULL), *found = NULL;
    char *slash = own ? strrchr(own, '/') : NULL;
    size_t length = slash ? (size_t)(slash - own) + 1 : 0;
    char *path = length > 0 ? malloc(length + iri.length + 1) : NULL;
    if (path) {
        memcpy(path, own, length);
        if (decode((wfre_name){iri.bytes + folder, iri.length - folder}, path + length))
            found = realpath(path, NULL);
    }
    struct stat about;
    if (found &&
        (strncmp(found, own, length) != 0 || stat(found, &about) != 0 || !S_ISREG(about.st_mode))) {
        free(found);
        found = NULL;
    }
    free(path);
    free(own);
    return found;
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool is_known(const wfre_graph *graph, const wfre_rdf_view *view, wfre_name iri)
{
    wfre_name name = wfre_graph_base(graph);
    uint64_t triples = 0;
    if (name.length == iri.length && memcmp(name.bytes, iri.bytes, iri.length) == 0)
        return true;
    for (size_t i = 0; wfre_rdf_view_named_graph(view, i, &name, &triples); i++)
        if (name.length == iri.length && memcmp(name.bytes, iri.bytes, iri.length) == 0)
            return true;
    return false;
}

static bool is_listed(const documents *d, wfre_name iri)
{
    for (size_t i = 0; i < d->count; i++)
        if (strlen(d->iris[i]) == iri.length && memcmp(d->iris[i], iri.bytes, iri.length) == 0)
            return true;
    return false;
}

/* One graph that the query asks for. */
static wfre_status add(const ask_session *session, const wfre_rdf_view *view, wfre_name iri,
                       documents *d, wfre_error *error)
{
    if (is_listed(d, iri))
        return WFRE_OK;
    char *path = is_known(session->graph, view, iri) ? NULL : file_of(session, iri);
    if (!path) {
        d->known++;
        return WFRE_OK;
    }
    d->paths[d->count] = path;
    d->iris[d->count] = strndup(iri.bytes, iri.length);
    return d->iris[d->count++] ? WFRE_OK : no_memory(error);
}

static bool is_late(void *context)
{
    const documents *d = context;
    return cli_interrupted() || (d->deadline > 0 && cli_clock() > d->deadline);
}

static wfre_status read_all(const documents *d, wfre_graph **graph, wfre_error *error)
{
    const wfre_import_options options = {.graphs = (const char *const *)d->iris,
                                         .allow_empty = true};
    const wfre_monitor monitor = {.interrupted = is_late, .context = (void *)(uintptr_t)d};
    wfre_status status = wfre_import_graph((const char *const *)d->paths, d->count, &options,
                                           &monitor, graph, NULL, error);
    if (status == WFRE_ERR_INTERRUPTED && !cli_interrupted())
        status = fail(error, WFRE_ERR_TIMEOUT, "out of time while reading what FROM names");
    return status;
}

wfre_status ask_documents(const ask_session *session, const wfre_rdf_view *view,
                          const wfre_sparql *query, wfre_graph **graph, wfre_error *error)
{
    size_t sources = wfre_sparql_sources(query);
    documents d = {.iris = calloc(sources + 1, sizeof *d.iris),
                   .paths = calloc(sources + 1, sizeof *d.paths)};
    bool named;
    wfre_status status = d.iris && d.paths ? WFRE_OK : no_memory(error);
    if (session->options.timeout > 0)
        d.deadline = cli_clock() + session->options.timeout;
    for (size_t i = 0; session->file && i < sources && status == WFRE_OK; i++)
        status = add(session, view, wfre_sparql_source(query, i, &named), &d, error);
    if (status == WFRE_OK && d.count > 0 && d.known > 0)
        status = fail(
            error, WFRE_ERR_UNSUPPORTED,
            "FROM names files beside the query and other graphs, too: name RDF files of its folder "
            "alone, or graphs of the snapshot alone");
    else if (status == WFRE_OK && d.count > 0)
        status = read_all(&d, graph, error);
    for (size_t i = 0; i < d.count; i++) {
        free(d.iris[i]);
        free(d.paths[i]);
    }
    free(d.iris);
    free(d.paths);
    return status;
}
