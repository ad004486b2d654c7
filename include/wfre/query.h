/* Queries: parse and print them, bring them to normal form, list their types. */
#ifndef WFRE_QUERY_H
#define WFRE_QUERY_H

#include "wfre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed question: a first-order formula with one free variable and, if it is one, its operator
 * tree. */
typedef struct wfre_query wfre_query;

#ifdef __cplusplus
}
#endif

#endif
