/* Lines for people: as they are in files and pipes, cut at the width of a terminal. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

int cli_width_of(FILE *stream)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!cli_is_terminal(stream))
        return 0;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    int width = columns ? atoi(columns) : 0;
    return width > 0 ? width : 80;
}

int cli_width(void)
{
    return cli_width_of(stdout);
}

int cli_height(void)
{
    struct winsize size;
    if (!cli_is_terminal(stdout) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_row;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Ranges of characters that take no column, or two; all others take one. */
typedef struct range {
    uint32_t first, last;
} range;

static const range NONE[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
    {0x200B, 0x200F}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};
static const range TWO[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

static bool is_within(uint32_t character, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

int cli_columns(const char *bytes, size_t length, size_t *step)
{
    unsigned char first = (unsigned char)bytes[0];
    uint32_t character = first < 0xC0 ? first : first < 0xE0 ? first & 0x1F : first & 0x0F;
    for (*step = 1; *step < length && ((unsigned char)bytes[*step] & 0xC0) == 0x80; ++*step)
        character = character << 6 | ((unsigned char)bytes[*step] & 0x3F);
    return is_within(character, NONE, sizeof NONE / sizeof NONE[0]) ? 0
           : is_within(character, TWO, sizeof TWO / sizeof TWO[0])  ? 2
                                                                    : 1;
}

size_t cli_fitting(const char *bytes, size_t length, int width)
{
    size_t at = 0, step;
    for (int column = 0; at < length; at += step) {
        if (bytes[at] == '\x1b') {
            const char *end = memchr(bytes + at, 'm', length - at);
            step = (end ? (size_t)(end - bytes) + 1 : length) - at;
            continue;
        }
        column += cli_columns(bytes + at, length - at, &step);
        if (column > width)
            break;
    }
    return at;
}

/* ---- a line ------------------------------------------------------------------------------- */

static char *text;
static size_t length;
static FILE *memory;

FILE *cli_line(void)
{
    if (cli_width() > 0)
        memory = open_memstream(&text, &length);
    return memory ? memory : stdout;
}

void cli_line_end(void)
{
    if (memory) {
        (void)fclose(memory);
        memory = NULL;
        int width = cli_width();
        bool cut = text && cli_fitting(text, length, width) < length,
             colour = text && memchr(text, '\x1b', length);
        size_t shown =
            text ? (cut ? cli_fitting(text, length, width > 1 ? width - 1 : 1) : length) : 0;
        if (text)
            fwrite(text, 1, shown, stdout);
        fputs(cut ? "\xE2\x80\xA6" : "", stdout);
        fputs(cut && colour ? "\x1b[0m" : "", stdout);
        free(text);
        text = NULL;
    }
    fputc('\n', stdout);
    cli_page();
}

/* ---- pages -------------------------------------------------------------------------------- */

static int page_height, page_line; /* 0: all at once */
static bool page_stopped;

void cli_page_begin(int height)
{
    page_height = height > 2 ? height - 1 : 0;
    page_line = 0;
    page_stopped = false;
}

bool cli_page_stopped(void)
{
    return page_stopped;
}

/* Waits for a key after a page: q stops, anything else goes on. */
void cli_page(void)
{
    if (page_height == 0 || page_stopped || ++page_line < page_height)
        return;
    page_line = 0;
    fputs("-- more: Enter goes on, q stops --", stdout);
    fflush(stdout);
    char answer[16];
    bool got = fgets(answer, sizeof answer, stdin) != NULL;
    page_stopped = !got || answer[0] == 'q' || answer[0] == 'Q';
}

/* ---- pieces of lines ---------------------------------------------------------------------- */

static bool use_colour(void)
{
    return cli_is_terminal(stdout) && !getenv("NO_COLOR");
}

const char *cli_colour(const char *escape)
{
    return use_colour() ? escape : "";
}

/* Shows at most `limit` characters, cut between words if possible. */
static void print_short(FILE *stream, wfre_name name, size_t limit)
{
    size_t end = 0, word = 0;
    for (size_t characters = 0; end < name.length; end++) {
        if (((unsigned char)name.bytes[end] & 0xC0) != 0x80 && characters++ == limit)
            break;
        if (name.bytes[end] == ' ')
            word = end;
    }
    bool cut = end < name.length;
    cli_print_name(stream, name.bytes, cut && word > 0 ? word : end);
    fputs(cut ? " ..." : "", stream);
}

void cli_print_description(FILE *stream, wfre_name description)
{
    enum { DESCRIPTION = 70 };
    if (description.length == 0)
        return;
    fprintf(stream, "%s  ", cli_colour("\x1b[2m"));
    print_short(stream, description, DESCRIPTION);
    fputs(cli_colour("\x1b[0m"), stream);
}

static void print_both(FILE *stream, wfre_name name, wfre_name label)
{
    cli_print_name(stream, label.bytes, label.length);
    if (label.length != name.length || memcmp(label.bytes, name.bytes, name.length) != 0) {
        fputs("  (", stream);
        cli_print_name(stream, name.bytes, name.length);
        fputs(")", stream);
    }
}

void cli_print_entity(FILE *stream, const wfre_graph *graph, wfre_entity entity)
{
    print_both(stream, wfre_graph_entity_name(graph, entity),
               wfre_graph_entity_label(graph, entity));
}

void cli_print_relation(FILE *stream, const wfre_graph *graph, wfre_relation relation)
{
    print_both(stream, wfre_graph_relation_name(graph, relation),
               wfre_graph_relation_label(graph, relation));
}
