/* Questions about this graph that have answers, for people who see it for the first time. */
#ifndef WFRE_SERVE_EXAMPLES_H
#define WFRE_SERVE_EXAMPLES_H

#include "world.h"

/* [{"text","sentence","answers","predicted"}...]: questions of several shapes, drawn from the
 * graph, the same ones each time; made when first asked for. Lives as long as the world. */
const char *serve_examples(serve_world *world);

#endif
