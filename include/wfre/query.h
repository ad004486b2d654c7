/* Placeholder, filled by its part. */
#ifndef WFRE_QUERY_H
#define WFRE_QUERY_H

#include "wfre/base.h"

#endif
