/* Messages and progress. Progress goes to standard error: a bar that redraws itself on a
 * terminal, a plain line every few seconds elsewhere. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static bool line_open;

bool cli_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) != 0;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_end(void)
{
    if (line_open)
        fputc('\n', stderr);
    line_open = false;
}

int cli_fail(const wfre_error *error)
{
    cli_progress_end();
    fprintf(stderr, "wfre: %s\n", error->message);
    return error->code == WFRE_ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

int cli_fail_at(const wfre_error *error, const char *text)
{
    int code = cli_fail(error);
    size_t length = strlen(text);
    if (error->offset > length || strchr(text, '\n'))
        return code;
    fprintf(stderr, "  %s\n  ", text);
    for (size_t i = 0; i < error->offset; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) /* one column a character */
            fputc(text[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
    return code;
}

void cli_note(const char *format, ...)
{
    cli_progress_end();
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- progress ----------------------------------------------------------------------------- */

static void draw_bar(const wfre_progress *progress)
{
    enum { WIDTH = 24 };
    const char *note = progress->note ? progress->note : "";
    if (progress->total == 0) {
        fprintf(stderr, "\r%s %s  %s\x1b[K", progress->task, cli_thousands(progress->done), note);
    } else {
        double share = (double)progress->done / (double)progress->total;
        int filled = (int)(share * WIDTH);
        filled = filled > WIDTH ? WIDTH : filled;
        char bar[WIDTH + 1];
        memset(bar, '.', WIDTH);
        memset(bar, '#', (size_t)filled);
        bar[WIDTH] = '\0';
        fprintf(stderr, "\r%s [%s] %3.0f%%  %s\x1b[K", progress->task, bar, 100 * share, note);
    }
    line_open = true;
}

static void report(void *context, const wfre_progress *progress)
{
    (void)context;
    static double last;
    const char *wanted = getenv("WFRE_PROGRESS");
    if (wanted && strcmp(wanted, "never") == 0)
        return;
    bool terminal = cli_is_terminal(stderr);
    bool finished = progress->total > 0 && progress->done >= progress->total;
    double now = cli_clock();
    if (now - last < (terminal ? 0.1 : 5.0) && !(finished && line_open))
        return;
    bool first = last == 0;
    last = now;
    if (terminal)
        draw_bar(progress);
    else if (!first)
        fprintf(stderr, "%s %s%s%s %s\n", progress->task, cli_thousands(progress->done),
                progress->total ? " of " : "",
                progress->total ? cli_thousands(progress->total) : "",
                progress->note ? progress->note : "");
}

static bool interrupted(void *context)
{
    (void)context;
    return cli_interrupted();
}

wfre_cancel *cli_cancel(void)
{
    static wfre_cancel *cancel;
    (void)cli_monitor(); /* notices Ctrl-C */
    if (!cancel && wfre_cancel_create(&cancel, NULL) == WFRE_OK)
        wfre_cancel_watch(cancel, interrupted, NULL);
    if (cancel)
        wfre_cancel_reset(cancel);
    return cancel;
}

const wfre_monitor *cli_monitor(void)
{
    static const wfre_monitor monitor = {report, interrupted, NULL};
    (void)cli_interrupted();
    return &monitor;
}

/* ---- printing ----------------------------------------------------------------------------- */

void cli_print_name(FILE *stream, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i],
                      next = i + 1 < length ? (unsigned char)bytes[i + 1] : 0;
        if (c < 0x20 || c == 0x7F)
            fprintf(stream, "\\x%02x", c);
        else if (c == 0xC2 && next >= 0x80 && next < 0xA0) /* U+0080 to U+009F */
            fprintf(stream, "\\x%02x", (unsigned char)bytes[++i]);
        else
            fputc(c, stream);
    }
}

void cli_print_json(FILE *stream, const char *bytes, size_t length)
{
    fputc('"', stream);
    for (size_t i = 0, step; i < length; i += step) {
        unsigned char c = (unsigned char)bytes[i];
        size_t valid = wfre_utf8_sequence(bytes + i, length - i);
        step = valid ? valid : 1;
        if (!valid)
            fputs("\xEF\xBF\xBD", stream);
        else if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < 0x20)
            fprintf(stream, "\\u%04x", c);
        else
            fwrite(bytes + i, 1, step, stream);
    }
    fputc('"', stream);
}

const char *cli_thousands(uint64_t number)
{
    static char buffers[8][32];
    static unsigned turn;
    char *buffer = buffers[turn++ % 8];
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    int used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}
