/* The bounded queue between the I/O thread and the workers. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

bool serve_queue_create(serve_queue *queue, size_t capacity, unsigned workers)
{
    memset(queue, 0, sizeof *queue);
    queue->ring = calloc(capacity, sizeof(serve_request *));
    queue->capacity = capacity;
    queue->workers = workers;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->more, NULL);
    return queue->ring != NULL;
}

void serve_queue_free(serve_queue *queue)
{
    if (queue->ring) {
        pthread_cond_destroy(&queue->more);
        pthread_mutex_destroy(&queue->lock);
    }
    free(queue->ring);
    queue->ring = NULL;
}

static bool is_question(const serve_request *request)
{
    return request->route->batch && !request->alone;
}

bool serve_queue_push(serve_queue *queue, serve_request *request)
{
    pthread_mutex_lock(&queue->lock);
    bool fits = !queue->closed && queue->count < queue->capacity;
    if (fits) {
        queue->ring[(queue->first + queue->count++) % queue->capacity] = request;
        queue->questions += is_question(request);
        pthread_cond_signal(&queue->more);
    }
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

/* Takes the request at `index`, counted from the first; the others keep their order. */
static serve_request *pull(serve_queue *queue, size_t index)
{
    size_t at = (queue->first + index) % queue->capacity;
    serve_request *request = queue->ring[at];
    for (size_t i = index; i > 0; i--) {
        size_t before = (at + queue->capacity - 1) % queue->capacity;
        queue->ring[at] = queue->ring[before];
        at = before;
    }
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    queue->questions -= is_question(request);
    return request;
}

size_t serve_queue_take(serve_queue *queue, serve_request **batch, size_t most)
{
    size_t taken = 0;
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->more, &queue->lock);
    if (queue->count > 0) {
        size_t share = (queue->questions + queue->workers - 1) / queue->workers;
        batch[taken++] = pull(queue, 0);
        for (size_t i = 0;
             is_question(batch[0]) && i < queue->count && taken < share && taken < most;) {
            if (is_question(queue->ring[(queue->first + i) % queue->capacity]))
                batch[taken++] = pull(queue, i);
            else
                i++;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

void serve_queue_close(serve_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->more);
    pthread_mutex_unlock(&queue->lock);
}

size_t serve_queue_length(serve_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    size_t count = queue->count;
    pthread_mutex_unlock(&queue->lock);
    return count;
}
