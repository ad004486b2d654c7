/* What the HTML pages have in common: head and style, charts in two sizes, tables, foot. */
#ifndef WFRE_SRC_REPORT_PAGE_H
#define WFRE_SRC_REPORT_PAGE_H

#include "report/chart.h"
#include "report/grid.h"

/* Everything up to and with the heading; then the parts; then the end. */
void wfre_page_begin(wfre_text *text, const char *title);
/* `spread` says what the intervals are, in a sentence. */
void wfre_page_end(wfre_text *text, const char *spread);

void wfre_page_escaped(wfre_text *text, const char *string);
/* The chart for wide screens and for narrow ones, of which the page shows one. */
void wfre_page_chart(wfre_text *text, const wfre_chart *chart);
/* The same between wfre_page_pair(text, true) and wfre_page_pair(text, false), where two charts
 * stand side by side on a wide screen. */
void wfre_page_half_chart(wfre_text *text, const wfre_chart *chart);
void wfre_page_pair(wfre_text *text, bool begin);
/* The table, which is freed. */
void wfre_page_grid(wfre_text *text, wfre_grid *grid);

#endif
