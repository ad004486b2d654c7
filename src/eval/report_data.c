/* Reports for machines: CSV with one line a type or group, and JSON. Numbers are between 0 and 1
 * and have six decimals. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "eval/report.h"

/* ---- CSV ---------------------------------------------------------------------------------- */

static void put_field(wfre_text *text, const char *field)
{
    if (!strpbrk(field, ",\"")) {
        wfre_text_add(text, field);
        return;
    }
    wfre_text_char(text, '"');
    for (; *field; field++) {
        if (*field == '"')
            wfre_text_char(text, '"');
        wfre_text_char(text, *field);
    }
    wfre_text_char(text, '"');
}

void wfre_report_csv_field(wfre_text *text, const char *field)
{
    /* A spreadsheet takes these for the start of a formula, and the quote for a sign of text. */
    static const char formulas[] = "=+-@\t\r";
    wfre_text shown = {0};
    if (*field && strchr(formulas, *field))
        wfre_text_char(&shown, '\'');
    wfre_text_visible(&shown, field, strlen(field));
    text->failed |= shown.failed;
    if (shown.length > 0 && !shown.failed)
        put_field(text, shown.data);
    wfre_text_free(&shown);
}

static void csv_row(wfre_text *text, const char *label, const char *kind,
                    const wfre_evaluation_row *row)
{
    wfre_report_csv_field(text, label);
    wfre_text_format(text, ",%s,", kind);
    wfre_report_csv_field(text, row->name);
    wfre_text_format(text, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n",
                     row->types, row->queries, row->answers, row->mean.mrr, row->mrr_low,
                     row->mrr_high, row->mean.hits1, row->mean.hits3, row->mean.hits10);
}

static void csv_published(wfre_text *text, const wfre_comparison *shown)
{
    for (size_t i = 0; i < wfre_published_count && shown->published; i++) {
        const wfre_published *row = &wfre_published_rows[i];
        if (strcmp(row->dataset, shown->published) != 0)
            continue;
        for (size_t c = 0; c < shown->column_count; c++) {
            double mrr = wfre_published_mrr(shown, row, &shown->columns[c]);
            if (!isfinite(mrr))
                continue;
            wfre_report_csv_field(text, row->method);
            wfre_text_add(text, ",published,");
            wfre_report_csv_field(text, shown->columns[c].name);
            wfre_text_format(text, ",,,,%.4f,,,,,\n", mrr);
        }
    }
}

void wfre_report_csv(const wfre_comparison *shown, wfre_text *text)
{
    wfre_text_add(text, "label,kind,name,types,queries,answers,mrr,mrr_low,mrr_high,hits1,hits3,"
                        "hits10\n");
    for (size_t i = 0; i < shown->count; i++) {
        const wfre_evaluation *e = shown->evaluations[i];
        for (size_t t = 0; t < e->type_count; t++)
            csv_row(text, e->info.label, "type", &e->types[t].row);
        for (int g = 0; g < WFRE_GROUPS; g++)
            if (e->groups[g].types)
                csv_row(text, e->info.label, "group", &e->groups[g]);
        for (size_t s = 0; s < e->stratum_count; s++)
            csv_row(text, e->info.label, "stratum", &e->strata[s].row);
    }
    csv_published(text, shown);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_text(wfre_text *text, const char *string)
{
    wfre_text_json(text, string, strlen(string));
}

static void json_row(wfre_text *text, const wfre_evaluation_row *row)
{
    wfre_text_add(text, "{\"name\": ");
    json_text(text, row->name);
    wfre_text_format(text,
                     ", \"types\": %" PRIu32 ", \"queries\": %" PRIu64 ", \"answers\": %" PRIu64
                     ", \"mrr\": %.6f, \"mrr_low\": %.6f, \"mrr_high\": %.6f, \"hits1\": %.6f, "
                     "\"hits3\": %.6f, \"hits10\": %.6f",
                     row->types, row->queries, row->answers, row->mean.mrr, row->mrr_low,
                     row->mrr_high, row->mean.hits1, row->mean.hits3, row->mean.hits10);
}

static void json_strata(wfre_text *text, const wfre_evaluation *e)
{
    wfre_text_add(text, ",\n     \"strata\": [");
    for (size_t s = 0; s < e->stratum_count; s++) {
        const wfre_evaluation_stratum *stratum = &e->strata[s];
        wfre_text_add(text, s ? ",\n       " : "\n       ");
        json_row(text, &stratum->row);
        wfre_text_add(text, ", \"type\": ");
        json_text(text, stratum->type);
        wfre_text_format(text, ", \"missing\": %" PRIu32 ", \"whole\": %s}", stratum->missing,
                         stratum->whole ? "true" : "false");
    }
    wfre_text_char(text, ']');
}

static void json_types(wfre_text *text, const wfre_evaluation *e)
{
    wfre_text_add(text, "     \"types\": [");
    for (size_t t = 0; t < e->type_count; t++) {
        const wfre_type_result *type = &e->types[t];
        wfre_text_add(text, t ? ",\n       " : "\n       ");
        json_row(text, &type->row);
        wfre_text_format(text, ", \"anchors\": %" PRIu32 ", \"depth\": %" PRIu32 ", \"ranks\": [",
                         type->anchors, type->depth);
        for (int c = 0; c < WFRE_RANK_CLASSES; c++)
            wfre_text_format(text, "%s%" PRIu64, c ? ", " : "", type->ranks[c]);
        wfre_text_add(text, "]}");
    }
    wfre_text_add(text, "],\n     \"groups\": [");
    bool first = true;
    for (int g = 0; g < WFRE_GROUPS; g++) {
        if (e->groups[g].types == 0)
            continue;
        wfre_text_add(text, first ? "\n       " : ",\n       ");
        first = false;
        json_row(text, &e->groups[g]);
        wfre_text_char(text, '}');
    }
    wfre_text_char(text, ']');
    if (e->stratum_count)
        json_strata(text, e);
    wfre_text_char(text, '}');
}

static void json_calibration(wfre_text *text, const char *key, const wfre_reliability *reliability)
{
    wfre_text_format(text,
                     "     \"%s\": {\"queries\": %" PRIu64 ", \"fitted\": %" PRIu64
                     ", \"error\": %.6f, \"low\": %.6f, \"high\": %.6f, \"expected\": %.3f, "
                     "\"found\": %" PRIu64 ", \"bins\": [",
                     key, reliability->queries, reliability->fitted, reliability->error,
                     reliability->low, reliability->high, reliability->expected,
                     reliability->found);
    for (int b = 0; b < WFRE_RELIABILITY_BINS; b++) {
        const wfre_reliability_bin *bin = &reliability->bins[b];
        wfre_text_format(text,
                         "%s{\"count\": %" PRIu64 ", \"predicted\": %.6f, \"observed\": %.6f}",
                         b ? ", " : "", bin->count, bin->predicted, bin->observed);
    }
    wfre_text_add(text, "]},\n");
}

static void json_evaluation(wfre_text *text, const wfre_evaluation *e)
{
    wfre_text_add(text, "    {\"label\": ");
    json_text(text, e->info.label);
    wfre_text_add(text, ", \"method\": ");
    json_text(text, e->info.method);
    wfre_text_format(text,
                     ", \"unranked\": %" PRIu64 ", \"pairs\": %" PRIu64 ", \"exact\": %" PRIu64
                     ", \"seconds\": %.3f,\n",
                     e->info.unranked, e->info.pairs, e->info.exact, e->info.seconds);
    if (e->reliability.queries)
        json_calibration(text, "calibration", &e->reliability);
    if (e->missing.queries)
        json_calibration(text, "missing_calibration", &e->missing);
    json_types(text, e);
}

static void json_moments(wfre_text *text, const wfre_comparison *shown)
{
    wfre_text_add(text, ",\n  \"repeats\": [");
    for (size_t c = 0; c < shown->column_count; c++) {
        double mean, deviation;
        wfre_report_moments(shown, &shown->columns[c], &mean, &deviation);
        wfre_text_add(text, c ? ",\n    {\"name\": " : "\n    {\"name\": ");
        json_text(text, shown->columns[c].name);
        wfre_text_format(text, ", \"mean\": %.6f, \"standard_deviation\": %.6f}", mean, deviation);
    }
    wfre_text_char(text, ']');
}

static void json_published(wfre_text *text, const wfre_comparison *shown)
{
    bool first = true;
    wfre_text_add(text, ",\n  \"published\": [");
    for (size_t i = 0; i < wfre_published_count && shown->published; i++) {
        const wfre_published *row = &wfre_published_rows[i];
        if (strcmp(row->dataset, shown->published) != 0)
            continue;
        wfre_text_add(text, first ? "\n    {\"method\": " : ",\n    {\"method\": ");
        json_text(text, row->method);
        for (size_t c = 0; c < shown->column_count; c++) {
            double mrr = wfre_published_mrr(shown, row, &shown->columns[c]);
            if (!isfinite(mrr))
                continue;
            wfre_text_add(text, ", ");
            json_text(text, shown->columns[c].name);
            wfre_text_format(text, ": %.4f", mrr);
        }
        wfre_text_char(text, '}');
        first = false;
    }
    wfre_text_add(text, "]");
}

void wfre_report_json(const wfre_comparison *shown, wfre_text *text)
{
    wfre_text_add(text, "{\n  \"wfre\": ");
    json_text(text, wfre_version());
    wfre_text_add(text, ",\n  \"dataset\": ");
    if (shown->dataset)
        json_text(text, shown->dataset);
    else
        wfre_text_add(text, "null");
    wfre_text_add(text, ",\n  \"rank_classes\": [");
    for (int c = 0; c < WFRE_RANK_CLASSES - 1; c++)
        wfre_text_format(text, "%s%.0f", c ? ", " : "", wfre_rank_edges[c]);
    wfre_text_add(text, "],\n  \"evaluations\": [\n");
    for (size_t i = 0; i < shown->count; i++) {
        wfre_text_add(text, i ? ",\n" : "");
        json_evaluation(text, shown->evaluations[i]);
    }
    wfre_text_add(text, "]");
    if (shown->options.repeats && shown->count > 1)
        json_moments(text, shown);
    json_published(text, shown);
    wfre_text_add(text, "\n}\n");
}
