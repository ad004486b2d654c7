/* Charts as SVG. The plotting area lies within margins that make room for the title, the legend and
 * the tick labels; text widths are estimated, since there is no font to measure. */
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLOURS = 8, FONT = 12, MAXIMUM_TICKS = 64 };

static const char STYLE[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1c2127;--soft:#5b6570;--line:#dde2e7;"
    "--c0:#0b6fb8;--c1:#c8500c;--c2:#2b8a4b;--c3:#8a4fbf;--c4:#a67605;--c5:#c2367e;--c6:#1f8496;"
    "--c7:#6d5a45}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ebee;--soft:#a0abb6;"
    "--line:#323a43;--c0:#5ab0f0;--c1:#f59e57;--c2:#63c784;--c3:#bf97f0;--c4:#e0b84d;--c5:#f07fb5;"
    "--c6:#6cc5d4;--c7:#c9b39a}}"
    "svg.chart{max-width:100%;height:auto;font:12px system-ui,sans-serif;fill:var(--ink)}"
    "svg.chart .title{font-size:14px;font-weight:600}"
    "svg.chart .soft{fill:var(--soft)}"
    "svg.chart .grid{stroke:var(--line);stroke-width:1}"
    "svg.chart .axis{stroke:var(--soft);stroke-width:1}"
    "svg.chart .s{fill:currentColor;stroke:none}"
    "svg.chart rect.s{fill-opacity:.8}svg.chart path.s{stroke:var(--paper);stroke-width:.25}"
    "svg.chart .l{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}"
    "svg.chart .dash{stroke-dasharray:5 4;stroke-width:1.5}"
    "svg.chart .w{stroke:currentColor;stroke-width:1.2}svg.chart .ink{stroke:var(--ink)}"
    "svg.chart .k0{color:var(--c0)}svg.chart .k1{color:var(--c1)}svg.chart .k2{color:var(--c2)}"
    "svg.chart .k3{color:var(--c3)}svg.chart .k4{color:var(--c4)}svg.chart .k5{color:var(--c5)}"
    "svg.chart .k6{color:var(--c6)}svg.chart .k7{color:var(--c7)}svg.chart .km{color:var(--soft)}";

void wfre_chart_style(wfre_text *text)
{
    wfre_text_add(text, STYLE);
}

/* ---- scales ------------------------------------------------------------------------------- */

typedef struct scale {
    double low, high;  /* of the data; logarithms if logarithmic */
    double begin, end; /* in pixels */
    bool logarithmic, whole;
} scale;

typedef struct plot {
    wfre_text *text;
    const wfre_chart *chart;
    scale x, y;
    double left, right, top, bottom; /* of the plotting area */
    double foot;                     /* where the last line of text stands */
    bool slanted;                    /* category names do not fit side by side */
    double shift;                    /* of the series being drawn */
} plot;

static bool usable(double value, bool logarithmic)
{
    return isfinite(value) && (!logarithmic || value > 0);
}

static double place(const scale *s, double value)
{
    double v = s->logarithmic ? log10(value) : value;
    return s->begin + (v - s->low) / (s->high - s->low) * (s->end - s->begin);
}

static void widen(scale *s, double value)
{
    if (!usable(value, s->logarithmic))
        return;
    double v = s->logarithmic ? log10(value) : value;
    s->low = fmin(s->low, v);
    s->high = fmax(s->high, v);
}

static double series_x(const wfre_series *series, size_t i)
{
    return series->x ? series->x[i] : (double)i;
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` steps fill the range. */
static double nice_step(double range, double wanted)
{
    double raw = range / wanted;
    double power = pow(10, floor(log10(raw)));
    double lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* The range of an axis from its data, unless it is fixed; never empty. */
static void settle(scale *s, const wfre_axis *axis, bool from_zero)
{
    if (axis->names) {
        s->low = -0.5;
        s->high = (double)axis->count - 0.5;
    } else if (axis->minimum < axis->maximum) {
        s->low = s->logarithmic ? log10(axis->minimum) : axis->minimum;
        s->high = s->logarithmic ? log10(axis->maximum) : axis->maximum;
    } else if (from_zero) {
        s->low = fmin(s->low, 0);
        s->high = fmax(s->high, 0);
    }
    if (!(s->low <= s->high)) { /* no data at all */
        s->low = 0;
        s->high = 1;
    }
    if (s->high - s->low < 1e-12 * fmax(1, fabs(s->high))) {
        s->low -= 0.5;
        s->high += 0.5;
    } else if (!axis->names && axis->minimum >= axis->maximum && !s->logarithmic && from_zero) {
        double step = nice_step(s->high - s->low, 5);
        s->low = floor(s->low / step + 1e-9) * step;
        s->high = ceil(s->high / step - 1e-9) * step;
    }
}

static void fit_scales(plot *p)
{
    const wfre_chart *chart = p->chart;
    p->x = (scale){INFINITY, -INFINITY, 0, 0, chart->x.logarithmic, chart->x.whole};
    p->y = (scale){INFINITY, -INFINITY, 0, 0, chart->y.logarithmic, chart->y.whole};
    for (size_t s = 0; s < chart->count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            const wfre_series *series = &chart->series[s];
            if (!usable(series->y[i], p->y.logarithmic) ||
                !usable(series_x(series, i), p->x.logarithmic))
                continue;
            widen(&p->x, series_x(series, i));
            widen(&p->y, series->y[i]);
            if (series->low && series->high) {
                widen(&p->y, series->low[i]);
                widen(&p->y, series->high[i]);
            }
        }
    settle(&p->x, &chart->x, false);
    settle(&p->y, &chart->y, !chart->y.logarithmic);
}

/* ---- ticks and labels --------------------------------------------------------------------- */

/* Positions of the ticks on the axis, in data units; returns how many. */
static size_t find_ticks(const scale *s, double wanted, double *ticks)
{
    size_t count = 0;
    if (!s->logarithmic) {
        double step = nice_step(s->high - s->low, wanted);
        step = s->whole && step < 1 ? 1 : step;
        for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + step * 1e-9; k++)
            if (count < MAXIMUM_TICKS)
                ticks[count++] = k * step;
        return count;
    }
    static const double LEADS[] = {1, 2, 5};
    size_t leads = s->high - s->low < 2 ? 3 : 1;
    for (double decade = floor(s->low); decade <= s->high; decade++)
        for (size_t i = 0; i < leads; i++) {
            double value = LEADS[i] * pow(10, decade);
            if (log10(value) >= s->low - 1e-9 && log10(value) <= s->high + 1e-9 &&
                count < MAXIMUM_TICKS)
                ticks[count++] = value;
        }
    return count;
}

static void format_number(double value, char *buffer, size_t size)
{
    double magnitude = fabs(value);
    if (magnitude >= 1e6)
        (void)wfre_format(buffer, size, "%.4gM", value / 1e6);
    else if (magnitude >= 1e4)
        (void)wfre_format(buffer, size, "%.4gk", value / 1e3);
    else
        (void)wfre_format(buffer, size, "%.4g", magnitude < 1e-12 ? 0 : value);
}

/* Estimated width of a text in the chart's font. */
static double text_width(const char *text)
{
    return 0.58 * FONT * (double)strlen(text);
}

static void put_text(plot *p, double x, double y, const char *class, const char *anchor,
                     const char *string)
{
    wfre_text_format(p->text, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y,
                     class, anchor);
    wfre_text_markup(p->text, string, strlen(string));
    wfre_text_add(p->text, "</text>");
}

static void draw_y_axis(plot *p)
{
    double ticks[MAXIMUM_TICKS];
    size_t count = find_ticks(&p->y, (p->bottom - p->top) / 45, ticks);
    for (size_t i = 0; i < count; i++) {
        double y = place(&p->y, ticks[i]);
        wfre_text_format(p->text,
                         "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                         p->left, p->right, y, y);
        char label[32];
        format_number(ticks[i], label, sizeof label);
        put_text(p, p->left - 6, y + 4, "soft", "end", label);
    }
    if (p->chart->y.label)
        put_text(p, 2, p->top - 8, "soft", "start", p->chart->y.label);
}

static void draw_categories(plot *p)
{
    double y = p->bottom + 16;
    for (size_t i = 0; i < p->chart->x.count; i++) {
        double x = place(&p->x, (double)i);
        const char *name = p->chart->x.names[i];
        if (p->slanted) {
            wfre_text_format(p->text,
                             "<text class=\"soft\" text-anchor=\"end\" transform=\"translate(%.1f "
                             "%.1f) rotate(-50)\">",
                             x + 4, y - 4);
            wfre_text_markup(p->text, name, strlen(name));
            wfre_text_add(p->text, "</text>");
        } else {
            put_text(p, x, y, "soft", "middle", name);
        }
    }
}

static void draw_x_axis(plot *p)
{
    wfre_text_format(p->text,
                     "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                     p->left, p->right, p->bottom, p->bottom);
    if (p->chart->x.names) {
        draw_categories(p);
    } else {
        double found[MAXIMUM_TICKS];
        const double *ticks = p->chart->x.ticks ? p->chart->x.ticks : found;
        size_t count = p->chart->x.ticks ? p->chart->x.count
                                         : find_ticks(&p->x, (p->right - p->left) / 80, found);
        for (size_t i = 0; i < count; i++) {
            char label[32];
            format_number(ticks[i], label, sizeof label);
            double x = place(&p->x, ticks[i]);
            wfre_text_format(p->text,
                             "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                             "y2=\"%.1f\"/>",
                             x, x, p->bottom, p->bottom + 4);
            put_text(p, x, p->bottom + 17, "soft", "middle", label);
        }
    }
    if (p->chart->x.label)
        put_text(p, (p->left + p->right) / 2, p->foot, "soft", "middle", p->chart->x.label);
}

/* ---- marks -------------------------------------------------------------------------------- */

/* The colour of a series: muted ones share one, the others take turns. */
static void colour_class(const wfre_chart *chart, size_t index, char *class, size_t size)
{
    size_t turn = 0;
    for (size_t s = 0; s < index; s++)
        turn += !chart->series[s].muted;
    if (chart->series[index].muted)
        (void)snprintf(class, size, "km");
    else
        (void)snprintf(class, size, "k%zu", turn % COLOURS);
}

/* Lines with whiskers are moved aside a little, so that the whiskers stand side by side. */
static double shift_of(const wfre_chart *chart, size_t index)
{
    const wfre_series *series = &chart->series[index];
    bool whiskers = series->mark == WFRE_MARK_LINE && series->low && series->high;
    return whiskers ? 5 * ((double)index - 0.5 * (double)(chart->count - 1)) : 0;
}

/* Shapes of radius about 1 around the origin. */
static const char *const SHAPES[] = {
    "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
    "M-.85-.85h1.7v1.7h-1.7z",
    "M0-1.15L1.1.85H-1.1z",
    "M0-1.25L1.25 0L0 1.25L-1.25 0z",
    "M0 1.15L1.1-.85H-1.1z",
    "M-.4-1.1h.8v.7h.7v.8h-.7v.7h-.8v-.7h-.7v-.8h.7z",
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

static void open_shape(plot *p, size_t kind, double x, double y, double radius)
{
    wfre_text_format(p->text,
                     "<path class=\"s\" transform=\"translate(%.1f %.1f)scale(%.3g)\" d=\"%s\">", x,
                     y, radius, SHAPES[kind % SHAPE_COUNT]);
}

/* What a mark says when pointed at: "series, category: value". */
static void put_hint(plot *p, const wfre_series *series, size_t i)
{
    const wfre_axis *axis = &p->chart->x;
    wfre_text_add(p->text, "<title>");
    if (series->name)
        wfre_text_markup(p->text, series->name, strlen(series->name));
    double x = series_x(series, i);
    if (axis->names && x >= 0 && x < (double)axis->count) {
        const char *name = axis->names[(size_t)x];
        wfre_text_add(p->text, series->name ? ", " : "");
        wfre_text_markup(p->text, name, strlen(name));
    } else if (!axis->names) {
        wfre_text_format(p->text, "%s%.6g", series->name ? ", " : "", x);
    }
    wfre_text_format(p->text, ": %.4g", series->y[i]);
    if (series->low && series->high)
        wfre_text_format(p->text, " (%.4g to %.4g)", series->low[i], series->high[i]);
    wfre_text_add(p->text, "</title>");
}

static bool drawable(const plot *p, const wfre_series *series, size_t i)
{
    return usable(series->y[i], p->y.logarithmic) && usable(series_x(series, i), p->x.logarithmic);
}

static void draw_whisker(plot *p, const wfre_series *series, size_t i, double x)
{
    if (!series->low || !series->high || !usable(series->low[i], p->y.logarithmic) ||
        !usable(series->high[i], p->y.logarithmic))
        return;
    double low = place(&p->y, series->low[i]), high = place(&p->y, series->high[i]);
    wfre_text_format(p->text, "<path class=\"w%s\" d=\"M%.1f %.1fV%.1fm-3 0h6M%.1f %.1fh6\"/>",
                     series->mark == WFRE_MARK_BAR ? " ink" : "", x, low, high, x - 3, low);
}

static void draw_line(plot *p, const wfre_series *series)
{
    wfre_text_format(p->text, "<path class=\"l%s\" d=\"", series->muted ? " dash" : "");
    bool pen_down = false;
    for (size_t i = 0; i < series->count; i++) {
        bool here = drawable(p, series, i);
        if (here)
            wfre_text_format(p->text, "%c%.1f %.1f", pen_down ? 'L' : 'M',
                             place(&p->x, series_x(series, i)) + p->shift,
                             place(&p->y, series->y[i]));
        pen_down = here;
    }
    wfre_text_add(p->text, "\">");
    if (series->name) {
        wfre_text_add(p->text, "<title>");
        wfre_text_markup(p->text, series->name, strlen(series->name));
        wfre_text_add(p->text, "</title>");
    }
    wfre_text_add(p->text, "</path>");
}

/* Points; on a line they mark the values as long as there are few. */
static void draw_points(plot *p, const wfre_series *series, size_t kind)
{
    bool line = series->mark == WFRE_MARK_LINE;
    if (line && (series->muted || series->count > 40))
        return;
    for (size_t i = 0; i < series->count; i++) {
        if (!drawable(p, series, i))
            continue;
        double x = place(&p->x, series_x(series, i)) + p->shift;
        draw_whisker(p, series, i, x);
        open_shape(p, line ? 0 : kind, x, place(&p->y, series->y[i]), line ? 2.6 : 3.6);
        put_hint(p, series, i);
        wfre_text_add(p->text, "</path>");
    }
}

/* The `turn`-th of `bars` bars that stand side by side at each place. */
static void draw_bars(plot *p, const wfre_series *series, size_t turn, size_t bars)
{
    size_t places = p->chart->x.names ? p->chart->x.count : series->count + 1;
    double slot = 0.78 * (p->right - p->left) / (double)places;
    double width = slot / (double)bars;
    double zero = place(&p->y, p->y.logarithmic ? pow(10, p->y.low) : fmax(0, p->y.low));
    for (size_t i = 0; i < series->count; i++) {
        if (!drawable(p, series, i))
            continue;
        double x = place(&p->x, series_x(series, i)) - slot / 2 + width * (double)turn;
        double y = place(&p->y, series->y[i]);
        wfre_text_format(p->text,
                         "<rect class=\"s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
                         x, fmin(y, zero), fmax(width - 1, 1), fabs(zero - y));
        put_hint(p, series, i);
        wfre_text_add(p->text, "</rect>");
        draw_whisker(p, series, i, x + width / 2);
    }
}

static void draw_series(plot *p)
{
    const wfre_chart *chart = p->chart;
    size_t bars = 0, turn = 0;
    for (size_t s = 0; s < chart->count; s++)
        bars += chart->series[s].mark == WFRE_MARK_BAR;
    for (size_t s = 0; s < chart->count; s++) {
        const wfre_series *series = &chart->series[s];
        char class[8];
        colour_class(chart, s, class, sizeof class);
        wfre_text_format(p->text, "<g class=\"%s\">", class);
        if (series->mark == WFRE_MARK_BAR)
            draw_bars(p, series, turn++, bars);
        p->shift = shift_of(chart, s);
        if (series->mark == WFRE_MARK_LINE)
            draw_line(p, series);
        if (series->mark != WFRE_MARK_BAR)
            draw_points(p, series, s);
        wfre_text_add(p->text, "</g>");
    }
}

/* ---- legend and layout -------------------------------------------------------------------- */

/* Walks the legend's entries in rows; draws them if `y` is not negative. Returns the rows. */
static int walk_legend(plot *p, double width, double y)
{
    int rows = 0;
    double x = width; /* forces the first row */
    for (size_t s = 0; s < p->chart->count; s++) {
        const wfre_series *series = &p->chart->series[s];
        if (!series->name)
            continue;
        double need = 18 + text_width(series->name) + 12;
        if (x + need > width && (x > 2 || rows == 0)) {
            x = 2;
            rows++;
        }
        if (y >= 0) {
            double line = y + 17 * (rows - 1);
            char class[8];
            colour_class(p->chart, s, class, sizeof class);
            wfre_text_format(p->text, "<g class=\"%s\">", class);
            if (series->mark == WFRE_MARK_LINE) {
                wfre_text_format(p->text, "<path class=\"l%s\" d=\"M%.1f %.1fh14\"/>",
                                 series->muted ? " dash" : "", x, line - 4);
            } else {
                open_shape(p, series->mark == WFRE_MARK_BAR ? 1 : s, x + 7, line - 4, 4.2);
                wfre_text_add(p->text, "</path>");
            }
            wfre_text_add(p->text, "</g>");
            put_text(p, x + 18, line, "", "start", series->name);
        }
        x += need;
    }
    return rows;
}

/* Leaves room for the widest label at the left, and for slanted names at the bottom. */
static void set_margins(plot *p, unsigned width, unsigned height, int legend_rows)
{
    double ticks[MAXIMUM_TICKS], widest = 0;
    size_t count = find_ticks(&p->y, height / 60.0, ticks);
    for (size_t i = 0; i < count; i++) {
        char label[32];
        format_number(ticks[i], label, sizeof label);
        widest = fmax(widest, text_width(label));
    }
    p->left = widest + 12;
    p->right = width - 10;
    p->top = (p->chart->title ? 24 : 4) + 17 * legend_rows + (p->chart->y.label ? 24 : 10);
    double longest = 0;
    for (size_t i = 0; p->chart->x.names && i < p->chart->x.count; i++)
        longest = fmax(longest, text_width(p->chart->x.names[i]));
    p->slanted = longest > 0.95 * (p->right - p->left) / (double)(p->chart->x.count + 1);
    p->bottom =
        height - (p->slanted ? 16 + fmin(longest * 0.8, 60) : 22) - (p->chart->x.label ? 20 : 0);
    bool shifted = false;
    for (size_t s = 0; s < p->chart->count; s++)
        shifted = shifted || shift_of(p->chart, s) != 0;
    p->x.begin = p->left + (shifted ? 12 : 0);
    p->x.end = p->right - (shifted ? 12 : 0);
    p->foot = height - 5;
    p->y.begin = p->bottom;
    p->y.end = p->top;
}

void wfre_chart_svg(wfre_text *text, const wfre_chart *chart, unsigned width, unsigned height,
                    bool alone)
{
    plot p = {.text = text, .chart = chart};
    fit_scales(&p);
    int rows = walk_legend(&p, width, -1);
    set_margins(&p, width, height, rows);
    wfre_text_format(text,
                     "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
                     "height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\"",
                     width, height, width, height);
    if (chart->title) {
        wfre_text_add(text, " aria-label=\"");
        wfre_text_markup(text, chart->title, strlen(chart->title));
        wfre_text_char(text, '"');
    }
    wfre_text_char(text, '>');
    if (alone)
        wfre_text_format(text,
                         "<style>%s</style><rect width=\"%u\" height=\"%u\" "
                         "style=\"fill:var(--paper)\"/>",
                         STYLE, width, height);
    if (chart->title)
        put_text(&p, 2, 16, "title", "start", chart->title);
    walk_legend(&p, width, chart->title ? 36 : 16);
    draw_y_axis(&p);
    draw_x_axis(&p);
    draw_series(&p);
    wfre_text_add(text, "</svg>\n");
}
