/* A request's answer on its way from the worker to the connection: blocks of bytes, compressed by
 * the worker if the client takes that.
 *
 * A worker hardly ever waits for a client: what a client has not read yet is kept, up to a limit
 * for each answer and one for all. Beyond it the worker waits, but no longer than STALLED without a
 * byte being read, so that slow readers cannot take the workers from the others. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "output.h"
#include "server.h"

enum {
    BLOCK = 32 << 10,
    START = 64 << 10,      /* what may be there before the first byte is sent */
    MOST_HELD = 16 << 20,  /* of one answer */
    MOST_ALL = 256 << 20,  /* of all */
    SMALLEST_PACKED = 1024 /* shorter answers are not worth compressing */
};
static const double STALLED = 1; /* seconds */

struct serve_block {
    struct serve_block *next;
    size_t length;
    char bytes[BLOCK];
};

void serve_output_free(serve_request *request)
{
    while (request->first) {
        serve_block *next = request->first->next;
        free(request->first);
        request->first = next;
    }
    atomic_fetch_sub(&request->server->held, request->held);
    request->held = 0;
    if (request->deflate) {
        (void)deflateEnd(request->deflate);
        free(request->deflate);
        request->deflate = NULL;
    }
}

/* With the lock held: lets the connection go on. */
void serve_resume(serve_request *request)
{
    if (!request->suspended)
        return;
    request->suspended = false;
    MHD_resume_connection(request->connection);
}

/* With the lock held. */
static bool append(serve_request *request, const char *bytes, size_t length)
{
    while (length > 0) {
        if (!request->last || request->last->length == BLOCK) {
            serve_block *block = malloc(sizeof *block);
            if (!block)
                return false;
            block->next = NULL;
            block->length = 0;
            if (request->last)
                request->last->next = block;
            else
                request->first = block;
            request->last = block;
        }
        size_t room = BLOCK - request->last->length, part = length < room ? length : room;
        memcpy(request->last->bytes + request->last->length, bytes, part);
        request->last->length += part;
        request->held += part;
        atomic_fetch_add(&request->server->held, part);
        bytes += part;
        length -= part;
    }
    return true;
}

/* With the lock held: waits until the reader has caught up. False if it is too slow, or gone. */
static bool wait_for_reader(serve_request *request)
{
    while (!request->gone && !request->broken &&
           (request->held > MOST_HELD || atomic_load(&request->server->held) > MOST_ALL)) {
        uint64_t before = request->sent;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)STALLED;
        int late = pthread_cond_timedwait(&request->taken, &request->lock, &until);
        if ((late == ETIMEDOUT && request->sent == before) || serve_clock() > request->deadline) {
            request->note = "slow reader";
            request->broken = true;
        }
    }
    return !request->gone && !request->broken;
}

static bool put(serve_request *request, const char *bytes, size_t length)
{
    pthread_mutex_lock(&request->lock);
    bool good = !request->gone && !request->broken && append(request, bytes, length);
    if (good && !request->started && request->held >= START)
        request->started = true;
    if (request->started)
        serve_resume(request);
    if (good && request->started)
        good = wait_for_reader(request);
    pthread_mutex_unlock(&request->lock);
    return good;
}

/* Through zlib; Z_FINISH ends the stream. */
static bool squeeze(serve_request *request, const char *bytes, size_t length, int flush)
{
    z_stream *stream = request->deflate;
    char out[8192];
    int code = Z_OK;
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    do {
        stream->next_out = (Bytef *)out;
        stream->avail_out = sizeof out;
        code = deflate(stream, flush);
        size_t made = sizeof out - stream->avail_out;
        if (code == Z_STREAM_ERROR || (made > 0 && !put(request, out, made)))
            return false;
    } while (stream->avail_in > 0 || stream->avail_out == 0 ||
             (flush == Z_FINISH && code != Z_STREAM_END));
    return true;
}

bool serve_write(serve_request *request, const char *bytes, size_t length)
{
    request->wrote += length;
    if (!request->compress)
        return put(request, bytes, length);
    for (size_t at = 0; at < length;) { /* zlib counts in 32 bits */
        size_t part = length - at < (1u << 30) ? length - at : 1u << 30;
        if (!squeeze(request, bytes + at, part, Z_NO_FLUSH))
            return false;
        at += part;
    }
    return true;
}

/* Compresses what comes from here on, if the client takes that and there is enough memory. */
static void begin_compression(serve_request *request)
{
    enum { GZIP = 16 };
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream || deflateInit2(stream, 4, Z_DEFLATED, 15 + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return;
    }
    request->deflate = stream;
    request->compress = true;
}

void serve_begin(serve_request *request, unsigned status, const char *type)
{
    request->status = status;
    request->type = type;
    if (!request->compress && serve_takes_gzip(serve_header(request, "Accept-Encoding")))
        begin_compression(request);
}

static void finish(serve_request *request, bool broken)
{
    pthread_mutex_lock(&request->lock);
    request->ended = true;
    request->broken = request->broken || broken;
    serve_resume(request);
    pthread_mutex_unlock(&request->lock);
}

void serve_end(serve_request *request)
{
    bool good = !request->compress || squeeze(request, "", 0, Z_FINISH);
    finish(request, !good);
}

void serve_end_broken(serve_request *request, const wfre_error *error)
{
    pthread_mutex_lock(&request->lock);
    bool started = request->started;
    if (!started) { /* nobody has seen what was written */
        serve_output_free(request);
        request->last = NULL;
        request->compress = false;
    }
    pthread_mutex_unlock(&request->lock);
    if (started)
        finish(request, true);
    else
        serve_fail(request, error);
}

void serve_answer(serve_request *request, unsigned status, const char *type, serve_buffer *buffer)
{
    if (buffer->failed) {
        serve_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "memory", "out of memory");
    } else if (buffer->length >= SMALLEST_PACKED) {
        serve_begin(request, status, type);
        (void)serve_write(request, buffer->bytes, buffer->length);
        serve_end(request);
    } else {
        request->status = status;
        request->type = type;
        (void)serve_write(request, buffer->bytes, buffer->length);
        serve_end(request);
    }
    serve_buffer_free(buffer);
}

ssize_t serve_output_read(void *context, uint64_t position, char *to, size_t most)
{
    serve_request *request = context;
    (void)position;
    ssize_t result = 0;
    pthread_mutex_lock(&request->lock);
    while (request->first && most > 0) {
        serve_block *block = request->first;
        size_t part = block->length - request->offset;
        part = part < most ? part : most;
        memcpy(to + result, block->bytes + request->offset, part);
        request->offset += part;
        most -= part;
        result += (ssize_t)part;
        if (request->offset < block->length ||
            (block == request->last && !request->ended && block->length < BLOCK))
            break;
        request->first = block->next;
        if (!request->first)
            request->last = NULL;
        request->offset = 0;
        free(block);
    }
    request->held -= (size_t)result;
    atomic_fetch_sub(&request->server->held, (size_t)result);
    request->sent += (uint64_t)result;
    if (result > 0) {
        pthread_cond_signal(&request->taken);
    } else if (request->broken) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (request->ended) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        request->suspended = true;
        MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&request->lock);
    return result;
}

bool serve_is_gone(serve_request *request)
{
    pthread_mutex_lock(&request->lock);
    bool gone = request->gone;
    if (!gone) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct pollfd socket = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
        gone = poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR));
    }
    pthread_mutex_unlock(&request->lock);
    return gone;
}
