/* What the HTML pages have in common: head and style, charts in two sizes, tables, foot. */
#ifndef WFRE_SRC_EVAL_PAGE_H
#define WFRE_SRC_EVAL_PAGE_H

#include "base/chart.h"
#include "eval/grid.h"

/* Everything up to and with the heading; then the parts; then the end. */
void wfre_page_begin(wfre_text *text, const char *title);
void wfre_page_end(wfre_text *text);

void wfre_page_escaped(wfre_text *text, const char *string);
/* The chart for wide screens and for narrow ones, of which the page shows one. */
void wfre_page_chart(wfre_text *text, const wfre_chart *chart);
/* The table, which is freed. */
void wfre_page_grid(wfre_text *text, wfre_grid *grid);

#endif
