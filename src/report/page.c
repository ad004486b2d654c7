/* The frame of a page. Every chart is drawn twice, wide and narrow, and the style sheet shows the
 * one that fits the screen: a chart that merely shrinks has letters too small to read. */
#include "report/page.h"

#include <string.h>

#include "wfre/base.h"

static const char PAGE_STYLE[] =
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "main{max-width:69rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}"
    "p{margin:.4rem 0;max-width:44rem}.soft{color:var(--soft)}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;"
    "margin:1.2rem 0}.card{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem}"
    ".card b{display:block;font-size:1.5rem;line-height:1.3;font-variant-numeric:tabular-nums}"
    ".card span{color:var(--soft);font-size:.85rem}"
    ".scroll{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.18rem .45rem;text-align:right;white-space:nowrap;font-weight:400}"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}"
    "tr:first-child th{font-weight:600}tr.rule>*{border-top:1px solid var(--line)}"
    "tr.mark>*{font-weight:600}"
    ".pair{display:flex;flex-wrap:wrap;gap:1.2rem 1.2rem;margin:1.2rem 0}"
    ".narrow{display:none}@media(max-width:860px){.wide{display:none}.narrow{display:block}}";

void wfre_page_escaped(wfre_text *text, const char *string)
{
    wfre_text_markup(text, string, strlen(string));
}

void wfre_page_begin(wfre_text *text, const char *title)
{
    wfre_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                        "<title>");
    wfre_page_escaped(text, title);
    wfre_text_add(text, "</title><style>");
    wfre_chart_style(text);
    wfre_text_add(text, PAGE_STYLE);
    wfre_text_add(text, "</style></head><body><main>\n<h1>");
    wfre_page_escaped(text, title);
    wfre_text_add(text, "</h1>\n");
}

void wfre_page_end(wfre_text *text, const char *spread)
{
    wfre_text_format(text,
                     "<h2>How it was measured</h2>\n<p class=\"soft\">Every hard answer of a query "
                     "is ranked against all entities that are not answers; ties count half. "
                     "Metrics are averaged over a query's hard answers, then over the queries of "
                     "a type, then over the types of a group. %s wfre %s.</p>\n"
                     "</main></body></html>\n",
                     spread, wfre_version());
}

static void put_chart(wfre_text *text, const wfre_chart *chart, unsigned width)
{
    wfre_text_add(text, "<div class=\"wide\">");
    wfre_chart_svg(text, chart, width, 340, false);
    wfre_text_add(text, "</div><div class=\"narrow\">");
    wfre_chart_svg(text, chart, 364, 300, false);
    wfre_text_add(text, "</div>\n");
}

void wfre_page_chart(wfre_text *text, const wfre_chart *chart)
{
    put_chart(text, chart, 1080);
}

void wfre_page_half_chart(wfre_text *text, const wfre_chart *chart)
{
    put_chart(text, chart, 530);
}

void wfre_page_pair(wfre_text *text, bool begin)
{
    wfre_text_add(text, begin ? "<div class=\"pair\">\n" : "</div>\n");
}

void wfre_page_grid(wfre_text *text, wfre_grid *grid)
{
    wfre_grid_html(text, grid);
    wfre_grid_free(grid);
}
