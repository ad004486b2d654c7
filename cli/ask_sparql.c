/* wfre ask with SPARQL: questions that are queries, in a file or not, checked or answered. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"

enum { QUERY_LIMIT = 1 << 24, PIPE_MS = 2000 /* how long a pipe may stay without a writer */ };

/* The message, and the line at fault with a caret: queries have many lines. */
static int fail_at(const wfre_error *error, const char *text)
{
    if (error->offset > strlen(text))
        return cli_fail(error);
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < error->offset; i++)
        if (text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    size_t length = strcspn(text + begin, "\r\n"), column = 1;
    for (size_t i = begin; i < error->offset; i++)
        column += ((unsigned char)text[i] & 0xC0) != 0x80;
    wfre_error placed = {.code = error->code, .offset = error->offset - begin};
    (void)snprintf(placed.message, sizeof placed.message, "line %zu, column %zu: %.900s", line,
                   column, error->message);
    char *copy = malloc(length + 1);
    if (!copy)
        return cli_fail(&placed);
    memcpy(copy, text + begin, length);
    copy[length] = '\0';
    int code = cli_fail_at(&placed, copy);
    free(copy);
    return code;
}

/* Opens a file. A named pipe's writer is waited for, but not for ever: poll tells that there was
 * something to read, and reading tells a slow writer from none. What that read is in `first`. */
static FILE *open_file(const char *path, char *first, size_t *length)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && poll(&look, 1, PIPE_MS) <= 0) {
        ssize_t got = read(fd, first, 1);
        *length = got > 0;
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            close(fd);
            errno = got == 0 ? EPIPE : errno;
            return NULL;
        }
    }
    (void)fcntl(fd, F_SETFL, 0); /* from here on reading waits */
    FILE *file = fdopen(fd, "rb");
    if (!file)
        close(fd);
    return file;
}

char *ask_read_file(const char *path, wfre_error *error)
{
    size_t length = 0, capacity = 4096;
    char *text = malloc(capacity + 1);
    FILE *file = NULL;
    if (text)
        file = strcmp(path, "-") == 0 ? stdin : open_file(path, text, &length);
    bool unwritten = !file && errno == EPIPE;
    while (text && file && length < QUERY_LIMIT) {
        length += fread(text + length, 1, capacity - length, file);
        if (length < capacity)
            break;
        char *grown = realloc(text, 2 * capacity + 1);
        if (!grown)
            free(text);
        text = grown;
        capacity *= 2;
    }
    bool bad = !text || !file || ferror(file) || length >= QUERY_LIMIT;
    *error = (wfre_error){.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "%s: cannot read it: %s", path,
                   length >= QUERY_LIMIT ? "it has more than 16 MB"
                   : unwritten ? "a named pipe that nobody writes to; start its writer first"
                               : strerror(errno));
    if (file && file != stdin)
        (void)fclose(file);
    if (bad) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    if (strlen(text) < length) { /* a NUL is no text; the parser says so at its place */
        for (size_t i = 0; i < length; i++)
            if (text[i] == '\0')
                text[i] = '\1';
    }
    return text;
}

int ask_check(const char *text, const char *base)
{
    wfre_sparql *query = NULL;
    wfre_error error;
    const wfre_sparql_options options = {.base = base};
    if (wfre_sparql_parse(text, strlen(text), &options, &query, &error) != WFRE_OK)
        return fail_at(&error, text);
    wfre_sparql_free(query);
    return EXIT_DONE;
}

static wfre_status write_out(void *context, const char *bytes, size_t length, wfre_error *error)
{
    if (fwrite(bytes, 1, length, context) == length)
        return WFRE_OK;
    *error = (wfre_error){.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "standard output: cannot write: %s",
                   strerror(errno));
    return error->code;
}

/* What was asked for, or what suits people or programs. */
static bool choose_format(const ask_session *session, wfre_sparql_form form,
                          wfre_sparql_format *format, wfre_error *error)
{
    bool graph = form == WFRE_SPARQL_CONSTRUCT || form == WFRE_SPARQL_DESCRIBE;
    bool terminal = cli_is_terminal(stdout);
    if (!session->results)
        *format = session->json && !graph ? WFRE_SPARQL_JSON
                  : graph                 ? (terminal ? WFRE_SPARQL_TTL : WFRE_SPARQL_NT)
                  : terminal              ? WFRE_SPARQL_TABLE
                                          : WFRE_SPARQL_TSV;
    else if (!wfre_sparql_format_from_name(session->results, format) ||
             !wfre_sparql_format_fits(*format, form)) {
        *error = (wfre_error){.code = WFRE_ERR_ARGUMENT, .offset = WFRE_NO_OFFSET};
        (void)snprintf(
            error->message, sizeof error->message, "--format is %s for this query, not %s",
            graph ? "nt, ttl or table" : "json, xml, csv, tsv or table", session->results);
        return false;
    }
    return true;
}

/* Runs a query on the graph, or on the files that its FROM names instead, and writes to `file`;
 * time counts from `start`. */
static wfre_status run_query(const ask_session *session, const wfre_sparql *query, double start,
                             wfre_sparql_format format, FILE *file, uint64_t *rows,
                             wfre_error *error)
{
    wfre_rdf_view *view = NULL, *read = NULL;
    wfre_graph *documents = NULL;
    double limit = session->options.timeout;
    const wfre_sparql_output output = {.write = write_out, .context = file};
    wfre_sparql_run_options run = {.limits = {.memory = session->memory},
                                   .session = session->model ? session->session : NULL};
    wfre_status status = wfre_rdf_view_open(session->graph, session->options.split, &view, error);
    if (status == WFRE_OK)
        status = ask_documents(session, view, query, &documents, error);
    if (status == WFRE_OK && documents) {
        run.session = NULL; /* a model knows the snapshot alone */
        status = wfre_rdf_view_open(documents, WFRE_TEST, &read, error);
    }
    if (limit > 0) /* what is left of it */
        run.limits.timeout = fmax(limit - (cli_clock() - start), 1e-9);
    run.cancel = cli_cancel();
    if (status == WFRE_OK)
        status = wfre_sparql_write(query, read ? read : view, &run, format, &output, rows, error);
    wfre_rdf_view_close(read);
    wfre_graph_close(documents);
    wfre_rdf_view_close(view);
    return status;
}

/* One of many questions gives one object on one line, as those in other notations do: the results,
 * or a graph as a string, behind the question. */
static void print_object(const char *text, const char *results, size_t length, bool graph)
{
    ask_begin_object(text);
    if (graph) {
        printf(",\"graph\":");
        cli_print_json(stdout, results, length);
        putchar('}');
    } else {
        putchar(',');
        for (size_t i = 1; i < length; i++) /* behind its brace; strings have no newline */
            if (results[i] != '\n')
                putchar(results[i]);
    }
    putchar('\n');
}

static wfre_status run_as_object(const ask_session *session, const char *text,
                                 const wfre_sparql *query, double start, wfre_sparql_format format,
                                 uint64_t *rows, wfre_error *error)
{
    char *results = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&results, &length);
    if (!file) {
        *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error->message, sizeof error->message, "out of memory");
        return error->code;
    }
    wfre_status status = run_query(session, query, start, format, file, rows, error);
    if (fclose(file) != 0 && status == WFRE_OK) {
        *error = (wfre_error){.code = WFRE_ERR_MEMORY, .offset = WFRE_NO_OFFSET};
        (void)snprintf(error->message, sizeof error->message, "out of memory");
        status = error->code;
    }
    if (status == WFRE_OK)
        print_object(text, results, length, format != WFRE_SPARQL_JSON);
    free(results);
    return status;
}

int ask_sparql(const ask_session *session, const char *text)
{
    wfre_sparql *query = NULL;
    wfre_error error;
    wfre_sparql_format format;
    double start = cli_clock();
    const wfre_sparql_options options = {.base = session->base,
                                         .graph = session->graph,
                                         .timeout = session->options.timeout,
                                         .cancel = cli_cancel()};
    if (wfre_sparql_parse(text, strlen(text), &options, &query, &error) != WFRE_OK) {
        ask_error_json(session, text, &error);
        return fail_at(&error, text);
    }
    uint64_t rows = 0;
    int code = EXIT_DONE;
    if (!choose_format(session, wfre_sparql_get_form(query), &format, &error))
        code = cli_fail(&error);
    else if ((session->echo && session->json
                  ? run_as_object(session, text, query, start, format, &rows, &error)
                  : run_query(session, query, start, format, stdout, &rows, &error)) != WFRE_OK)
        code = fail_at(&error, text);
    if (code == EXIT_DONE && fflush(stdout) != 0 && write_out(stdout, "", 1, &error) != WFRE_OK)
        code = cli_fail(&error);
    if (code != EXIT_DONE)
        ask_error_json(session, text, &error);
    if (code == EXIT_DONE && format == WFRE_SPARQL_TABLE &&
        wfre_sparql_get_form(query) != WFRE_SPARQL_ASK)
        cli_note("%s result%s in %.3f s", cli_thousands(rows), rows == 1 ? "" : "s",
                 cli_clock() - start);
    wfre_sparql_free(query);
    return code;
}
