/* Questions about this graph that have answers, for people who see it for the first time. */
#ifndef WFRE_SERVE_EXAMPLES_H
#define WFRE_SERVE_EXAMPLES_H

#include "buffer.h"
#include "world.h"

/* [{"text","sentence","answers","predicted"}...]: questions of several shapes, drawn from the
 * graph, the same ones each time. */
void serve_put_examples(serve_buffer *buffer, const serve_world *world);

#endif
