/* Rows of numbers by a key, kept while there is room: when it is full, all are forgotten. */
#ifndef WFRE_SRC_INFER_KEPT_ROWS_H
#define WFRE_SRC_INFER_KEPT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wfre_kept_rows wfre_kept_rows;

/* Rows of `width` numbers each, as many as `bytes` hold, at least one. NULL when out of memory. */
wfre_kept_rows *wfre_kept_rows_create(size_t width, size_t bytes);
void wfre_kept_rows_free(wfre_kept_rows *rows);

/* How many rows there is room for. */
size_t wfre_kept_rows_most(const wfre_kept_rows *rows);
void wfre_kept_rows_forget(wfre_kept_rows *rows);
/* NULL if there is none. */
const float *wfre_kept_rows_find(const wfre_kept_rows *rows, uint64_t key);
/* Room for the row of a key that has none; NULL if all is taken. */
float *wfre_kept_rows_add(wfre_kept_rows *rows, uint64_t key);

#endif
