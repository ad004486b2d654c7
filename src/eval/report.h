/* What the reports have in common: which columns a comparison has, and its tables.
 *
 * A comparison has one row for each evaluation and each published method, and one column for each
 * type and group. With many types only the groups are columns, and the types are averaged by the
 * number of their anchors and their depth instead. */
#ifndef WFRE_SRC_EVAL_REPORT_H
#define WFRE_SRC_EVAL_REPORT_H

#include "eval/evaluation.h"
#include "eval/published.h"
#include "report/grid.h"

enum { WFRE_COMPARED_TYPES = 20, WFRE_COMPARED_COLUMNS = WFRE_COMPARED_TYPES + WFRE_GROUPS };

/* With the name of the data set. */
#define WFRE_OTHER_KIND                                                                            \
    "published results on %s are about queries of another kind, so they are not shown here"

typedef struct wfre_report_column {
    const char *name;
    int type;  /* index in wfre_betae_types, -1 if the column is something else */
    int group; /* wfre_group, -1 if it is a type */
} wfre_report_column;

typedef struct wfre_comparison {
    const wfre_evaluation *const *evaluations;
    size_t count; /* at least 1 */
    wfre_report_options options;
    const char *dataset;   /* that the graph is, or NULL */
    const char *published; /* the same if results on it are to stand beside ours: the queries are of
                            * the same kind */
    wfre_report_column columns[WFRE_COMPARED_COLUMNS];
    size_t column_count;
    bool many_types;     /* too many for columns of their own */
    unsigned comparable; /* bits of the groups whose published averages are over the same types */
} wfre_comparison;

/* Borrows the evaluations. */
void wfre_report_begin(wfre_comparison *shown, const wfre_evaluation *const *evaluations,
                       size_t count, const wfre_report_options *options);

/* The row of an evaluation that a column shows, NULL if it has none. */
const wfre_evaluation_row *wfre_report_row(const wfre_evaluation *evaluation,
                                           const wfre_report_column *column);
/* The MRR that a published method has in a column, between 0 and 1; NAN if it has none, or one over
 * other types. */
double wfre_published_mrr(const wfre_comparison *shown, const wfre_published *published,
                          const wfre_report_column *column);
/* Mean and standard deviation (of a sample; 0 for one) of the MRRs in a column. */
void wfre_report_moments(const wfre_comparison *shown, const wfre_report_column *column,
                         double *mean, double *deviation);

/* Mean MRR of the types with so many anchors and such depth (0: any); NAN if there are none. */
double wfre_report_shape(const wfre_evaluation *evaluation, uint32_t anchors, uint32_t depth);
enum { WFRE_SHAPES = 6 }; /* anchors and depths that have a row or column of their own */

/* The tables; each is to be freed. */
void wfre_report_comparison(const wfre_comparison *shown, wfre_grid *grid);
void wfre_report_details(const wfre_evaluation *evaluation, wfre_grid *grid);
void wfre_report_shapes(const wfre_evaluation *evaluation, wfre_grid *grid);
void wfre_report_strata(const wfre_evaluation *evaluation, wfre_grid *grid);
/* "90 queries in 1.2 s, filtered: 1,234 of 5,678 pairs scored exactly (21.7%)" */
void wfre_report_method(const wfre_evaluation *evaluation, wfre_text *text);

/* Mean MRR against depth, one line for each number of anchors, as a chart of its own. */
void wfre_report_shapes_svg(const wfre_evaluation *evaluation, wfre_text *text);

/* A field of CSV, quoted where commas or quotes ask for it. */
void wfre_report_csv_field(wfre_text *text, const char *field);

/* Everything in each format. */
void wfre_report_table(const wfre_comparison *shown, wfre_text *text);
void wfre_report_csv(const wfre_comparison *shown, wfre_text *text);
void wfre_report_json(const wfre_comparison *shown, wfre_text *text);
WFRE_NODISCARD wfre_status wfre_report_page(const wfre_comparison *shown, wfre_text *text,
                                            wfre_error *error);

/* Hands the text over as a string (wfre_string_free), or writes it to folder/name; either empties
 * it. */
WFRE_NODISCARD wfre_status wfre_report_string(wfre_text *text, char **string, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_report_part(wfre_text *text, const char *folder, const char *name,
                                            wfre_error *error);

#endif
