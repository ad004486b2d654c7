/* GET / and /assets/NAME: the page, from what is built in or from a folder.
 *
 * No address names a file: a name has letters, digits, dots, minus and underscore only, and of a
 * folder only plain files are opened, never through links. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "routes.h"
#include "server.h"
#include "web.h"

static const char *type_of(const char *name)
{
    static const char *const TYPES[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".json", "application/json"},
                                           {".map", "application/json"},
                                           {".woff2", "font/woff2"},
                                           {".txt", "text/plain; charset=utf-8"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof TYPES / sizeof TYPES[0]; i++)
        if (strcmp(dot, TYPES[i][0]) == 0)
            return TYPES[i][1];
    return "application/octet-stream";
}

static bool is_plain(const char *name)
{
    return *name && *name != '.' &&
           name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* A file of the folder given by `web`, or of a folder in that. */
static bool send_file(serve_request *request, const char *folder, const char *inner,
                      const char *name)
{
    enum { MOST = 64 << 20 };
    serve_buffer buffer = {0};
    struct stat file;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0 && inner) {
        int outer = directory;
        directory = openat(outer, inner, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(outer);
    }
    int descriptor = directory < 0
                         ? -1
                         : openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool good = descriptor >= 0 && fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
                file.st_size <= MOST;
    if (directory >= 0)
        close(directory);
    char piece[16384];
    for (ssize_t got = 1; good && got > 0;) {
        got = read(descriptor, piece, sizeof piece);
        if (got > 0)
            serve_put_bytes(&buffer, piece, (size_t)got);
    }
    if (descriptor >= 0)
        close(descriptor);
    if (!good)
        return false;
    serve_answer(request, MHD_HTTP_OK, type_of(name), &buffer);
    return true;
}

/* Undoes the compression, for the few clients that do not take it. */
static bool inflate_into(serve_buffer *buffer, const wfre_web_asset *asset)
{
    enum { GZIP = 16 };
    char piece[16384];
    int code = Z_OK;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)asset->bytes, .avail_in = (uInt)asset->size};
    if (inflateInit2(&stream, 15 + GZIP) != Z_OK)
        return false;
    while (code == Z_OK) {
        stream.next_out = (Bytef *)piece;
        stream.avail_out = sizeof piece;
        code = inflate(&stream, Z_NO_FLUSH);
        serve_put_bytes(buffer, piece, sizeof piece - stream.avail_out);
    }
    (void)inflateEnd(&stream);
    return code == Z_STREAM_END;
}

static void send_asset(serve_request *request, const wfre_web_asset *asset)
{
    serve_buffer buffer = {0};
    (void)snprintf(request->tag, sizeof request->tag, "%s", asset->etag);
    if (serve_has_tag(serve_header(request, "If-None-Match"), request->tag)) {
        request->status = MHD_HTTP_NOT_MODIFIED;
        request->fixed = "";
        serve_end(request);
    } else if (serve_takes_gzip(serve_header(request, "Accept-Encoding"))) {
        request->status = MHD_HTTP_OK;
        request->type = asset->type;
        request->precompressed = true;
        request->fixed = (const char *)asset->bytes;
        request->fixed_length = asset->size;
        serve_end(request);
    } else if (inflate_into(&buffer, asset)) {
        serve_answer(request, MHD_HTTP_OK, asset->type, &buffer);
    } else {
        serve_buffer_free(&buffer);
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
    }
}

static const wfre_web_asset *find_asset(const char *path)
{
    for (size_t i = 0; i < wfre_web_asset_count; i++)
        if (strcmp(wfre_web_assets[i].path, path) == 0)
            return &wfre_web_assets[i];
    return NULL;
}

/* What stands at / if no page was built in. */
static void say_none(serve_request *request)
{
    serve_buffer buffer = {0};
    serve_put(&buffer, "<!doctype html><title>wfre</title><p>");
    for (const char *c = wfre_web_missing ? wfre_web_missing : ""; *c; c++)
        serve_put_format(&buffer, strchr("<>&\"", *c) ? "&#%d;" : "%c", *c);
    serve_put(&buffer, "<p>All else works: <a href=\"/api/openapi.json\">the API</a>, "
                       "<a href=\"/sparql\">SPARQL</a>.\n");
    serve_answer(request, MHD_HTTP_OK, "text/html; charset=utf-8", &buffer);
}

void serve_page(serve_request *request, serve_worker *worker)
{
    const char *web = request->server->options->web;
    const wfre_web_asset *asset = web ? NULL : find_asset(request->path);
    bool start = strcmp(request->path, "/") == 0;
    const char *name = start ? "index.html" : request->path + strlen("/assets/");
    (void)worker;
    request->page = true;
    if (asset)
        send_asset(request, asset);
    else if (!web && start)
        say_none(request);
    else if (!web || !is_plain(name) || !send_file(request, web, start ? NULL : "assets", name))
        serve_refuse(request, MHD_HTTP_NOT_FOUND, "not_found", "there is nothing at this address");
}
