/* Tables. Cells are kept one after another, with a NUL after each. */
#include "report/grid.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void wfre_grid_cell(wfre_grid *grid, const char *format, ...)
{
    char cell[256];
    va_list args;
    va_start(args, format);
    (void)wfre_format_list(cell, sizeof cell, format, args);
    va_end(args);
    wfre_text_visible(&grid->cells, cell, strlen(cell));
    wfre_text_char(&grid->cells, '\0');
    grid->count++;
}

void wfre_grid_percent(wfre_grid *grid, double value, int decimals)
{
    if (isfinite(value))
        wfre_grid_cell(grid, "%.*f", decimals, 100 * value);
    else
        wfre_grid_cell(grid, "-");
}

void wfre_grid_whole(wfre_grid *grid, uint64_t value)
{
    wfre_text_whole(&grid->cells, value);
    wfre_text_char(&grid->cells, '\0');
    grid->count++;
}

enum { RULE = 1, MARK = 2 };

/* Adds a flag to the row that the next cell belongs to. */
static void flag_row(wfre_grid *grid, char flag)
{
    size_t row = grid->count / grid->columns;
    while (grid->flags.length <= row && !grid->flags.failed)
        wfre_text_char(&grid->flags, '\0');
    if (!grid->flags.failed)
        grid->flags.data[row] |= flag;
}

static bool has_flag(const wfre_grid *grid, size_t row, char flag)
{
    return row < grid->flags.length && (grid->flags.data[row] & flag);
}

void wfre_grid_rule(wfre_grid *grid)
{
    flag_row(grid, RULE);
}

void wfre_grid_mark(wfre_grid *grid)
{
    flag_row(grid, MARK);
}

void wfre_grid_free(wfre_grid *grid)
{
    wfre_text_free(&grid->cells);
    wfre_text_free(&grid->flags);
    *grid = (wfre_grid){0};
}

/* Characters, not bytes. */
static size_t width_of(const char *cell)
{
    size_t width = 0;
    for (; *cell; cell++)
        width += (*cell & 0xC0) != 0x80;
    return width;
}

static void repeat(wfre_text *text, char c, size_t times)
{
    while (times-- > 0)
        wfre_text_char(text, c);
}

/* Passes a failed allocation on to the text. */
static bool failed(wfre_text *text, const wfre_grid *grid)
{
    text->failed = text->failed || grid->cells.failed || grid->flags.failed;
    return text->failed;
}

enum { MAXIMUM_COLUMNS = 64, GAP = 2 };

/* The widest cell of each column; returns the width of a row. */
static size_t measure(const wfre_grid *grid, size_t *widths)
{
    const char *cell = grid->cells.data;
    for (size_t i = 0; i < grid->count; i++, cell += strlen(cell) + 1) {
        size_t width = width_of(cell), column = i % grid->columns;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    size_t total = (grid->columns - 1) * GAP;
    for (size_t c = 0; c < grid->columns; c++)
        total += widths[c];
    return total;
}

void wfre_grid_print(wfre_text *text, const wfre_grid *grid)
{
    size_t widths[MAXIMUM_COLUMNS] = {0};
    assert(grid->columns <= MAXIMUM_COLUMNS);
    if (failed(text, grid))
        return;
    size_t total = measure(grid, widths);
    const char *cell = grid->cells.data;
    for (size_t i = 0; i < grid->count; i++, cell += strlen(cell) + 1) {
        size_t column = i % grid->columns, blank = widths[column] - width_of(cell);
        if (column == 0 && has_flag(grid, i / grid->columns, RULE)) {
            repeat(text, '-', total);
            wfre_text_char(text, '\n');
        }
        repeat(text, ' ', column == 0 ? 0 : blank + GAP);
        wfre_text_add(text, cell);
        if (column + 1 == grid->columns)
            wfre_text_char(text, '\n');
        else
            repeat(text, ' ', column == 0 ? blank : 0);
    }
}

void wfre_grid_html(wfre_text *text, const wfre_grid *grid)
{
    if (failed(text, grid))
        return;
    wfre_text_add(text, "<div class=\"scroll\"><table>\n");
    const char *cell = grid->cells.data;
    for (size_t i = 0; i < grid->count; i++, cell += strlen(cell) + 1) {
        size_t row = i / grid->columns, column = i % grid->columns;
        const char *tag = row == 0 || column == 0 ? "th" : "td";
        if (column == 0)
            wfre_text_format(text, "<tr class=\"%s%s\">", has_flag(grid, row, RULE) ? "rule " : "",
                             has_flag(grid, row, MARK) ? "mark" : "");
        wfre_text_format(text, "<%s>", tag);
        wfre_text_markup(text, cell, strlen(cell));
        wfre_text_format(text, "</%s>", tag);
        if (column + 1 == grid->columns)
            wfre_text_add(text, "</tr>\n");
    }
    wfre_text_add(text, "</table></div>\n");
}
