/* Explanations as a drawing: the operator tree, root on the left, with the sets in its boxes. A box
 * stands in the middle of those below it; the leaves stand one under the other. */
#include <math.h>

#include "answer/explain.h"

enum {
    BOX_WIDTH = 250,
    BOX_HEIGHT = 74,
    GAP_X = 40,
    GAP_Y = 14,
    MARGIN = 12,
    LINE = 15,
    SHOWN = 3
};

/* How many characters of text fit into a box. */
enum { FITTING = 38 };

typedef struct drawing {
    const wfre_graph *graph;
    const wfre_explanation *explanation;
    wfre_text *text;
    wfre_text line;                /* what is about to be written */
    double top[WFRE_EXPLAIN_SETS]; /* of each box */
    double below;                  /* where the next leaf goes */
} drawing;

static bool is_leaf(const wfre_explanation *e, uint32_t s)
{
    return s + 1 == e->set_count || e->sets[s + 1].parent != s;
}

/* Sets the place of a box after those below it. */
static void place(drawing *d, uint32_t s)
{
    const wfre_explanation *e = d->explanation;
    if (is_leaf(e, s)) {
        d->top[s] = d->below;
        d->below += BOX_HEIGHT + GAP_Y;
        return;
    }
    double first = -1, last = 0;
    for (uint32_t c = s + 1; c < e->set_count; c++) {
        if (e->sets[c].parent != s)
            continue;
        place(d, c);
        first = first < 0 ? d->top[c] : first;
        last = d->top[c];
    }
    d->top[s] = (first + last) / 2;
}

static double left_of(const drawing *d, uint32_t s)
{
    return MARGIN + (double)d->explanation->sets[s].depth * (BOX_WIDTH + GAP_X);
}

/* Writes the line, cut to what fits, and forgets it. */
static void write_line(drawing *d, double x, double y, const char *class)
{
    size_t length = 0, characters = 0;
    for (; length < d->line.length; length++)
        if (((unsigned char)d->line.data[length] & 0xC0) != 0x80 && characters++ == FITTING)
            break;
    wfre_text_format(d->text, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\">", x, y, class);
    wfre_text_markup(d->text, d->line.data ? d->line.data : "", length);
    wfre_text_add(d->text, length < d->line.length ? "\xE2\x80\xA6</text>\n" : "</text>\n");
    d->text->failed |= d->line.failed;
    wfre_text_clear(&d->line);
}

static void draw_box(drawing *d, uint32_t s)
{
    const wfre_explanation *e = d->explanation;
    const wfre_explained_set *set = &e->sets[s];
    double x = left_of(d, s), y = d->top[s];
    if (set->parent != WFRE_NONE)
        wfre_text_format(d->text, "<path d=\"M%.0f %.0fh%d V%.0fH%.0f\"/>\n",
                         left_of(d, set->parent) + BOX_WIDTH, d->top[set->parent] + BOX_HEIGHT / 2,
                         GAP_X / 2, y + BOX_HEIGHT / 2, x);
    wfre_text_format(d->text, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
                     x, y, BOX_WIDTH, BOX_HEIGHT);
    wfre_text_add(&d->line, set->label);
    write_line(d, x + 8, y + LINE + 1, "name");
    if (set->variable == WFRE_NONE)
        return;
    wfre_text_format(&d->line, "%zu known", set->known.count);
    write_line(d, x + 8, y + 2 * LINE, "known");
    for (size_t i = 0; i < set->predicted_count && i < SHOWN - 1; i++) {
        wfre_name label = wfre_graph_entity_label(d->graph, set->predicted[i].entity);
        if (isfinite(set->predicted[i].probability))
            wfre_text_format(&d->line, "%.2f  ", set->predicted[i].probability);
        wfre_text_append(&d->line, label.bytes, label.length);
        write_line(d, x + 8, y + (3 + (double)i) * LINE, "predicted");
    }
}

void wfre_explanation_svg(const wfre_graph *graph, const wfre_explanation *e, wfre_text *text)
{
    static const char STYLE[] =
        "<style>text{font:12px sans-serif;fill:#222}.name{font-weight:bold}.known{fill:#1a7f37}"
        ".predicted{fill:#9a6700}rect{fill:#fff;stroke:#888}path{fill:none;stroke:#888}"
        "@media(prefers-color-scheme:dark){text{fill:#e8ebee}.known{fill:#63c784}"
        ".predicted{fill:#e0b84d}rect{fill:#14181d}}</style>\n";
    drawing d = {.graph = graph, .explanation = e, .text = text, .below = MARGIN};
    uint32_t deepest = 0;
    for (uint32_t s = 0; s < e->set_count; s++)
        deepest = e->sets[s].depth > deepest ? e->sets[s].depth : deepest;
    place(&d, 0);
    double width = 2 * MARGIN + (deepest + 1.0) * (BOX_WIDTH + GAP_X) - GAP_X;
    wfre_text_format(text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                     "viewBox=\"0 0 %.0f %.0f\">\n%s",
                     width, d.below, width, d.below, STYLE);
    for (uint32_t s = 0; s < e->set_count; s++)
        draw_box(&d, s);
    wfre_text_add(text, "</svg>\n");
    wfre_text_free(&d.line);
}
