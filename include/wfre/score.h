/* Placeholder, filled by its part. */
#ifndef WFRE_SCORE_H
#define WFRE_SCORE_H

#include "wfre/base.h"

#endif
