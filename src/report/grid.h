/* A table of short texts, printed in aligned columns or as HTML. The first column is to the left,
 * the others to the right. */
#ifndef WFRE_SRC_REPORT_GRID_H
#define WFRE_SRC_REPORT_GRID_H

#include "base/text.h"

/* Zero-initialise, set `columns`, then add cells row by row; the first row is the heading. A failed
 * allocation is remembered in `cells`, as in wfre_text. */
typedef struct wfre_grid {
    size_t columns;
    wfre_text cells; /* each with a NUL after it */
    size_t count;    /* of cells */
    wfre_text flags; /* one byte a row */
} wfre_grid;

WFRE_PRINTF(2, 3) void wfre_grid_cell(wfre_grid *grid, const char *format, ...);
/* The value times 100 with `decimals`; "-" if it is not finite. */
void wfre_grid_percent(wfre_grid *grid, double value, int decimals);
/* "1,234,567". */
void wfre_grid_whole(wfre_grid *grid, uint64_t value);
/* Between two rows: draws a line there; makes the row that comes next stand out. */
void wfre_grid_rule(wfre_grid *grid);
void wfre_grid_mark(wfre_grid *grid);
void wfre_grid_free(wfre_grid *grid);

/* Appends the table as lines of text, and as a <table>. */
void wfre_grid_print(wfre_text *text, const wfre_grid *grid);
void wfre_grid_html(wfre_text *text, const wfre_grid *grid);

#endif
