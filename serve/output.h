/* Between a request's output and the connection that sends it. */
#ifndef WFRE_SERVE_OUTPUT_H
#define WFRE_SERVE_OUTPUT_H

#include "request.h"

void serve_output_free(serve_request *request);
/* With the request's lock held: lets a suspended connection go on. */
void serve_resume(serve_request *request);
/* MHD_ContentReaderCallback; the context is the request. */
ssize_t serve_output_read(void *context, uint64_t position, char *to, size_t most);

#endif
