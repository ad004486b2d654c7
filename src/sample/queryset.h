/* Query sets (*.tsv): queries with their easy and hard answers, grouped by type.
 *
 *   type <TAB> operator tree with #ids <TAB> easy ids <TAB> hard ids
 *
 * Ids are separated by blanks; either list may be empty; lines that start with "# " are comments.
 * The type is a name to group by and is not compared with the tree. */
#ifndef WFRE_SRC_SAMPLE_QUERYSET_H
#define WFRE_SRC_SAMPLE_QUERYSET_H

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "query/tree.h"
#include "wfre/query.h"

typedef struct wfre_queryset_row {
    const wfre_node *tree; /* in the set's arena */
    uint32_t type;         /* index into `types` */
    size_t easy;           /* ids[easy .. hard) are the easy answers, ascending */
    size_t hard;           /* ids[hard .. end) the hard ones, ascending, none of them easy */
    size_t end;
} wfre_queryset_row;

/* Zero-initialise to create an empty set. */
struct wfre_queryset {
    const char *name; /* what messages call it, in the arena; NULL if it was not read */
    bool unusual;     /* its comment says that it was sampled otherwise than published sets were */
    uint32_t entities, relations; /* sizes of the graph that ids were compared with; 0: of none */
    wfre_arena arena;
    wfre_strings types; /* names in the order in which they first appear */
    wfre_queryset_row *rows;
    uint32_t count;
    size_t row_capacity;
    wfre_entity *ids; /* all answers, one row after another */
    size_t id_count;
    size_t id_capacity;
};

/* ids[begin .. end); there is no array as long as no query has an answer. */
static inline wfre_list wfre_queryset_slice(const wfre_queryset *set, size_t begin, size_t end)
{
    return (wfre_list){set->ids ? set->ids + begin : NULL, end - begin};
}

static inline wfre_list wfre_queryset_easy(const wfre_queryset *set, uint32_t row)
{
    return wfre_queryset_slice(set, set->rows[row].easy, set->rows[row].hard);
}

static inline wfre_list wfre_queryset_hard(const wfre_queryset *set, uint32_t row)
{
    return wfre_queryset_slice(set, set->rows[row].hard, set->rows[row].end);
}

/* WFRE_ERR_MISMATCH unless the set was read with a graph of these sizes, so that all ids are good.
 */
WFRE_NODISCARD wfre_status wfre_queryset_check_graph(const wfre_queryset *set,
                                                     const wfre_graph *graph, wfre_error *error);

/* Reads a file (plain or gzip, "-" for standard input). With a graph, all ids must be within its
 * sizes. Errors name the file and line. The set is to be freed in any case. */
WFRE_NODISCARD wfre_status wfre_queryset_read(const char *path, const wfre_graph *graph,
                                              wfre_queryset *set, wfre_error *error);
/* Adds a query; the tree must live as long as the set (in its arena, best), ids may stand in any
 * order. */
WFRE_NODISCARD wfre_status wfre_queryset_add(wfre_queryset *set, const char *type,
                                             const wfre_node *tree, wfre_list easy, wfre_list hard,
                                             wfre_error *error);
/* One line of such a file, without its end; comments and empty lines add nothing. Errors give the
 * byte of the line, if it is known. */
WFRE_NODISCARD wfre_status wfre_queryset_add_line(wfre_queryset *set, const wfre_graph *graph,
                                                  const char *line, size_t length,
                                                  wfre_error *error);
void wfre_queryset_clear(wfre_queryset *set);

/* Recomputes the answers of every query: easy ones on the graph of the split before, hard ones as
 * those that the split's graph adds. Counts the queries whose sets differ; *first is the first of
 * them. Fails with WFRE_ERR_MISMATCH, naming the query, if an id is not in the graph. */
WFRE_NODISCARD wfre_status wfre_queryset_verify(const wfre_queryset *set, const wfre_graph *graph,
                                                wfre_split split, wfre_pool *pool, uint32_t *differ,
                                                uint32_t *first, wfre_error *error);

/* ---- writing, one query at a time --------------------------------------------------------- */

/* Zero-initialise, open, put, then commit or discard, as with wfre_writer. */
typedef struct wfre_queryset_writer {
    wfre_writer out;
    wfre_text line;
} wfre_queryset_writer;

/* `comment` (or NULL) becomes the first lines of the file. */
WFRE_NODISCARD wfre_status wfre_queryset_writer_open(wfre_queryset_writer *writer, const char *path,
                                                     const char *comment, wfre_error *error);
/* `type` NULL names it by the tree, see wfre_type_name. */
WFRE_NODISCARD wfre_status wfre_queryset_writer_put(wfre_queryset_writer *writer, const char *type,
                                                    const wfre_node *tree, wfre_list easy,
                                                    wfre_list hard, wfre_error *error);
WFRE_NODISCARD wfre_status wfre_queryset_writer_commit(wfre_queryset_writer *writer,
                                                       wfre_error *error);
void wfre_queryset_writer_discard(wfre_queryset_writer *writer);

#endif
