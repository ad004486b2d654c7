/* Charts as SVG: lines, bars and points over number or category axes, with whiskers and a legend.
 *
 * Colours come from CSS, for light and dark screens (prefers-color-scheme); a chart can be a file
 * of its own or stand inline in a page that has the style once. Series differ in shape as well as
 * in colour, and every mark says its value when pointed at. */
#ifndef WFRE_SRC_REPORT_CHART_H
#define WFRE_SRC_REPORT_CHART_H

#include "base/text.h"

typedef enum wfre_mark {
    WFRE_MARK_LINE,  /* joined in order; breaks at values that are not finite */
    WFRE_MARK_POINT, /* one shape a series */
    WFRE_MARK_BAR    /* from 0; series of bars stand side by side */
} wfre_mark;

typedef struct wfre_series {
    const char *name; /* for the legend; NULL leaves it out */
    wfre_mark mark;
    const double *x;          /* NULL: 0, 1, 2, ..., the categories */
    const double *y;          /* values that are not finite are left out */
    const double *low, *high; /* ends of whiskers, or NULL */
    size_t count;
    bool muted; /* for comparison: grey, and dashed if a line */
} wfre_series;

typedef struct wfre_axis {
    const char *label;
    bool logarithmic;         /* values that are not positive are left out */
    bool whole;               /* ticks at whole numbers only */
    double minimum, maximum;  /* both 0: what the data needs */
    const char *const *names; /* categories instead of numbers: NULL, or `count` of them */
    const double *ticks;      /* where to put ticks along x: NULL, or `count` places */
    size_t count;
} wfre_axis;

typedef struct wfre_chart {
    const char *title;
    wfre_axis x, y;
    const wfre_series *series;
    size_t count;
} wfre_chart;

/* Appends the chart as an <svg> element of this size in CSS pixels, which shrinks with its
 * container. Without a page around it (`alone`) it brings its style with it. */
void wfre_chart_svg(wfre_text *text, const wfre_chart *chart, unsigned width, unsigned height,
                    bool alone);
/* The style sheet of inline charts: also defines --paper, --ink, --soft and --line for the page. */
void wfre_chart_style(wfre_text *text);

#endif
