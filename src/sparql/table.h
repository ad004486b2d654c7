/* Rows of terms in memory, with a hash index: tables, groups, DISTINCT. */
#ifndef WFRE_SRC_SPARQL_TABLE_H
#define WFRE_SRC_SPARQL_TABLE_H

#include "sparql/exec.h"

/* `width` terms a row, one row behind the other. The first `keys` of them are what the index finds
 * rows by. */
typedef struct wfre_sq_table {
    uint32_t width, keys;
    bool complete; /* for those who fill it once */
    wfre_rdf_id *rows;
    size_t count, capacity;
    uint32_t *slots; /* open addressing by the keys; row + 1 */
    size_t slot_mask;
    uint32_t *next; /* the next row of equal keys, or WFRE_NONE */
    size_t next_capacity;
    size_t charged;
    wfre_sq_slot *columns; /* which slots of a row they are */
} wfre_sq_table;

void wfre_sq_table_free(wfre_sq_exec *x, wfre_sq_table *table);
/* Appends a row without looking. `what` is what the memory is for. */
wfre_sq_flow wfre_sq_table_add(wfre_sq_exec *x, wfre_sq_table *table, const wfre_rdf_id *row,
                               const char *what);
/* The row with these keys, which is all of a row if keys == width; appended if it is new. */
wfre_sq_flow wfre_sq_table_find_or_add(wfre_sq_exec *x, wfre_sq_table *table,
                                       const wfre_rdf_id *row, size_t *index, bool *fresh,
                                       const char *what);
/* Makes the index of a table that was filled with _add. */
wfre_sq_flow wfre_sq_table_index(wfre_sq_exec *x, wfre_sq_table *table);
/* The first row with these keys, WFRE_NONE if there is none; go on with table->next. */
uint32_t wfre_sq_table_first(const wfre_sq_table *table, const wfre_rdf_id *keys);

#endif
