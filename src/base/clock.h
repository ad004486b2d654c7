/* Monotonic time in seconds, for budgets and progress; never for results. */
#ifndef WFRE_SRC_BASE_CLOCK_H
#define WFRE_SRC_BASE_CLOCK_H

double wfre_clock(void);

#endif
