/* chart TITLE LABEL: a chart of what stands on standard input, as SVG on standard output.
 *
 * A line of input is 'series <TAB> place <TAB> value <TAB> low <TAB> high'; the lines of a series
 * stand together, in the order in which they are joined, and all series have the places of the
 * first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wfre/base.h"
#include "report/chart.h"

enum { MOST_SERIES = 16, MOST_POINTS = 64, MOST_TEXT = 64, MOST_LINE = 512, COLUMNS = 5 };

typedef struct numbers {
    char names[MOST_SERIES][MOST_TEXT];
    double y[MOST_SERIES][MOST_POINTS], low[MOST_SERIES][MOST_POINTS],
        high[MOST_SERIES][MOST_POINTS];
    size_t series;
    char places[MOST_POINTS][MOST_TEXT];
    size_t count;
} numbers;

/* The number of a name in a list, which gets it if it is new; the list's limit if there is no room.
 */
static size_t place_of(char (*list)[MOST_TEXT], size_t *count, size_t limit, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i], name) == 0)
            return i;
    if (*count == limit || strlen(name) >= MOST_TEXT)
        return limit;
    (void)snprintf(list[*count], MOST_TEXT, "%s", name);
    return (*count)++;
}

static bool read_line(numbers *n, char *line)
{
    char *columns[COLUMNS];
    double values[3];
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        if (!columns[i])
            return false;
    }
    for (int i = 0; i < 3; i++) {
        char *end;
        values[i] = wfre_parse_real(columns[2 + i], &end);
        if (end == columns[2 + i] || *end)
            return false;
    }
    size_t s = place_of(n->names, &n->series, MOST_SERIES, columns[0]);
    size_t p = place_of(n->places, &n->count, MOST_POINTS, columns[1]);
    if (s == MOST_SERIES || p == MOST_POINTS)
        return false;
    n->y[s][p] = values[0];
    n->low[s][p] = values[1];
    n->high[s][p] = values[2];
    return true;
}

static bool draw(const numbers *n, const char *title, const char *label)
{
    const char *places[MOST_POINTS];
    wfre_series series[MOST_SERIES];
    wfre_text text = {0};
    wfre_error error;
    for (size_t p = 0; p < n->count; p++)
        places[p] = n->places[p];
    for (size_t s = 0; s < n->series; s++)
        series[s] = (wfre_series){.name = n->names[s],
                                  .mark = WFRE_MARK_LINE,
                                  .y = n->y[s],
                                  .low = n->low[s],
                                  .high = n->high[s],
                                  .count = n->count};
    wfre_chart chart = {.title = title,
                        .x = {.label = label, .names = places, .count = n->count},
                        .series = series,
                        .count = n->series};
    wfre_chart_svg(&text, &chart, 520, 340, true);
    bool made = wfre_text_status(&text, "drawing a chart", &error) == WFRE_OK &&
                fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0;
    wfre_text_free(&text);
    return made;
}

int main(int argc, char **argv)
{
    static numbers n;
    char line[MOST_LINE];
    size_t read = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: chart TITLE LABEL <LINES >FILE.svg\n");
        return 2;
    }
    for (size_t s = 0; s < MOST_SERIES; s++)
        for (size_t p = 0; p < MOST_POINTS; p++)
            n.y[s][p] = n.low[s][p] = n.high[s][p] = NAN;
    while (fgets(line, sizeof line, stdin)) {
        read++;
        if (!read_line(&n, line)) {
            fprintf(stderr, "chart: line %zu: expected series, place, value, low and high\n", read);
            return 1;
        }
    }
    return n.count > 0 && draw(&n, argv[1], argv[2]) ? 0 : 1;
}
