/* The file: magic, key, number of queries and of standings; what they cost; one byte a query, 1 if
 * it is ranked; the standings; a checksum of everything before. Read only by the program that wrote
 * it, so numbers are in the machine's own form. */
#include "eval/partial.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/family.h"

typedef struct header {
    char magic[8];
    uint64_t key, queries, standings;
} header;

typedef struct cost {
    uint64_t pairs, exact;
    double seconds;
} cost;

static const char MAGIC[8] = "wfre-ev";

static header header_of(const wfre_evaluation *e, uint64_t key)
{
    header h = {.key = key, .queries = e->query_count, .standings = e->standing_count};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    return h;
}

uint64_t wfre_partial_key(const wfre_partial_of *of)
{
    const wfre_model_settings *model = &of->model->settings;
    const wfre_score_settings *score = &model->score;
    char settings[512];
    int length = wfre_format(
        settings, sizeof settings,
        "%u %s %d %.17g %d %u %u %.17g %.17g %.17g %.17g %d %.17g %llx %llx", of->version,
        wfre_family_of(model)->name, (int)model->tnorm, model->complement, (int)score->kind,
        score->block, score->iterations, score->radius, score->epsilon, score->power, score->floor,
        (int)of->known, model->rho, (unsigned long long)wfre_graph_fingerprint(of->graph),
        (unsigned long long)wfre_way_hash(of->way));
    uint64_t key = wfre_hash(settings, (size_t)length, wfre_model_weights_hash(of->model));
    for (uint32_t q = 0; q < of->set->count; q++) {
        const wfre_queryset_row *row = &of->set->rows[q];
        key = wfre_mix64(key ^ wfre_node_hash(row->tree));
        key = wfre_mix64(key ^ row->hard); /* where the easy answers end */
        key = wfre_mix64(key ^ row->end);
    }
    return wfre_hash(of->set->ids, of->set->id_count * sizeof *of->set->ids, key);
}

wfre_status wfre_partial_write(const wfre_evaluation *evaluation, uint64_t key, const char *path,
                               wfre_error *error)
{
    wfre_status status = WFRE_OK;
    wfre_text bytes = {0};
    header h = header_of(evaluation, key);
    const wfre_evaluation_info *info = &evaluation->info;
    cost spent = {info->pairs, info->exact, info->seconds};
    wfre_text_append(&bytes, (const char *)&h, sizeof h);
    wfre_text_append(&bytes, (const char *)&spent, sizeof spent);
    for (size_t q = 0; q < evaluation->query_count; q++)
        wfre_text_char(&bytes, (char)evaluation->queries[q].ranked);
    wfre_text_append(&bytes, (const char *)evaluation->standings,
                     evaluation->standing_count * sizeof *evaluation->standings);
    TRY(wfre_text_status(&bytes, "saving unfinished work", error));
    uint64_t check = wfre_hash(bytes.data, bytes.length, 0);
    wfre_text_append(&bytes, (const char *)&check, sizeof check);
    TRY(wfre_text_status(&bytes, "saving unfinished work", error));
    TRY(wfre_write_file(path, bytes.data, bytes.length, error));
cleanup:
    wfre_text_free(&bytes);
    return status;
}

static bool checksum_fits(const char *bytes, size_t length)
{
    uint64_t check;
    memcpy(&check, bytes + length - sizeof check, sizeof check);
    return check == wfre_hash(bytes, length - sizeof check, 0);
}

/* `at` is what comes after the header. */
static void take_over(wfre_evaluation *e, const char *at)
{
    cost spent;
    memcpy(&spent, at, sizeof spent);
    at += sizeof spent;
    e->info.pairs = spent.pairs;
    e->info.exact = spent.exact;
    e->info.seconds = spent.seconds;
    for (size_t q = 0; q < e->query_count; q++)
        e->queries[q].ranked = at[q] == 1;
    memcpy(e->standings, at + e->query_count, e->standing_count * sizeof *e->standings);
}

wfre_status wfre_partial_read(wfre_evaluation *evaluation, uint64_t key, const char *path,
                              wfre_error *error)
{
    wfre_status status = WFRE_OK;
    char *bytes = NULL;
    size_t length;
    header expected = header_of(evaluation, key);
    size_t standings = evaluation->standing_count * sizeof *evaluation->standings;
    size_t whole =
        sizeof expected + sizeof(cost) + evaluation->query_count + standings + sizeof(uint64_t);
    if (!wfre_file_exists(path))
        return WFRE_OK;
    status = wfre_read_all(path, whole, &bytes, &length, error);
    if (status == WFRE_ERR_MEMORY)
        return status;
    if (status == WFRE_OK && length == whole && memcmp(bytes, &expected, sizeof expected) == 0 &&
        checksum_fits(bytes, length))
        take_over(evaluation, bytes + sizeof expected);
    wfre_free(bytes);
    return WFRE_OK;
}
