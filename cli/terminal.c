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
    const char *message = cli_message(error);
    fputs("wfre: ", stderr);
    cli_print_name(stderr, message, strlen(message));
    fputc('\n', stderr);
    return error->code == WFRE_ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

/* How much of a question is shown again, and how much of that stands before the fault. */
enum { ECHO_BYTES = 240, ECHO_BEFORE = 160 };

void cli_echo(const char *text)
{
    size_t length = strlen(text), shown = length;
    if (length > ECHO_BYTES)
        for (shown = ECHO_BYTES; ((unsigned char)text[shown] & 0xC0) == 0x80 && shown > 1;)
            shown--;
    fputs("> ", stdout);
    cli_print_name(stdout, text, shown);
    fputs(shown < length ? " ...\n" : "\n", stdout);
    (void)fflush(stdout);
}

int cli_fail_at(const wfre_error *error, const char *text)
{
    int code = cli_fail(error);
    size_t length = strlen(text);
    if (error->offset > length || strchr(text, '\n'))
        return code;
    size_t begin = error->offset > ECHO_BEFORE ? error->offset - ECHO_BEFORE : 0;
    while (begin > 0 && ((unsigned char)text[begin] & 0xC0) == 0x80)
        begin--;
    char piece[WFRE_PIECE];
    int column = fprintf(stderr, "  %s", begin > 0 ? "... " : "");
    size_t i = begin, end = begin + ECHO_BYTES < length ? begin + ECHO_BYTES : length;
    for (int width = column; i < end;) {
        size_t step = wfre_visible(text + i, length - i, piece);
        fputs(piece, stderr);
        width +=
            piece[0] == text[i] ? cli_columns(text + i, length - i, &step) : (int)strlen(piece);
        i += step;
        column = i <= error->offset ? width : column;
    }
    fprintf(stderr, "%s\n%*s^\n", i < length ? " ..." : "", column, "");
    return code;
}

void cli_note(const char *format, ...)
{
    cli_progress_end();
    va_list args;
    va_start(args, format);
    cli_say(format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- progress ----------------------------------------------------------------------------- */

/* A line that the next one is written over, so it must not be longer than the terminal is wide. */
static void draw_bar(const wfre_progress *progress)
{
    enum { WIDTH = 24 };
    char text[512];
    const char *note = progress->note ? progress->note : "";
    if (progress->total == 0) {
        (void)snprintf(text, sizeof text, "%s %s  %s", progress->task,
                       cli_thousands(progress->done), note);
    } else {
        double share = (double)progress->done / (double)progress->total;
        int filled = (int)(share * WIDTH);
        filled = filled > WIDTH ? WIDTH : filled;
        char bar[WIDTH + 1];
        memset(bar, '.', WIDTH);
        memset(bar, '#', (size_t)filled);
        bar[WIDTH] = '\0';
        (void)snprintf(text, sizeof text, "%s [%s] %3.0f%%  %s", progress->task, bar, 100 * share,
                       note);
    }
    int width = cli_width_of(stderr), shown = (int)strlen(text);
    if (width > 1)
        shown = (int)cli_fitting(text, (size_t)shown, width - 1);
    fprintf(stderr, "\r%.*s\x1b[K", shown, text);
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
    else if (!first && progress->share)
        fprintf(stderr, "%s %.0f%%  %s\n", progress->task,
                100 * (double)progress->done / (double)progress->total,
                progress->note ? progress->note : "");
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
    char piece[WFRE_PIECE];
    for (size_t i = 0; i < length;) {
        i += wfre_visible(bytes + i, length - i, piece);
        fputs(piece, stream);
    }
}

const char *cli_visible(const char *text)
{
    static char buffers[4][1024];
    static unsigned turn;
    char *buffer = buffers[turn++ % 4], piece[WFRE_PIECE];
    size_t length = strlen(text), used = 0;
    for (size_t i = 0; i < length && used + WFRE_PIECE < sizeof buffers[0];) {
        i += wfre_visible(text + i, length - i, piece);
        memcpy(buffer + used, piece, strlen(piece));
        used += strlen(piece);
    }
    buffer[used] = '\0';
    return buffer;
}

void cli_say(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = wfre_format_list(NULL, 0, format, args);
    char *message = length < 0 ? NULL : malloc((size_t)length + 1);
    if (message) {
        (void)wfre_format_list(message, (size_t)length + 1, format, again);
        cli_print_name(stderr, message, (size_t)length);
    }
    va_end(again);
    free(message);
}

void cli_print_json(FILE *stream, const char *bytes, size_t length)
{
    char piece[WFRE_PIECE];
    fputc('"', stream);
    for (size_t i = 0; i < length;) {
        const char *at = bytes + i;
        bool valid = wfre_utf8_sequence(at, length - i) > 0;
        i += wfre_visible(at, length - i, piece);
        if (!valid)
            fputs("\xEF\xBF\xBD", stream);
        else if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (piece[0] == *at || piece[1] == 'u') /* JSON has that escape, too */
            fputs(piece, stream);
        else
            fprintf(stream, "\\u00%s", piece + 2);
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
