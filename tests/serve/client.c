/* client PORT QUESTIONS CONNECTIONS SECONDS: asks a server on this machine over so many
 * connections, each with one question at a time, for so long, and takes hardly any CPU for it.
 * QUESTIONS has one a line. Prints: answers, failures, seconds, milliseconds of the median, of 99
 * in a hundred and of the slowest, and milliseconds of its own CPU for each. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_QUESTIONS = 4096, MOST_CONNECTIONS = 1024, MOST_BYTES = 1 << 20, ANSWERS = 1 << 22 };

typedef struct connection {
    int socket;
    double begun;
    size_t length; /* of what came of the answer */
    char *bytes;
} connection;

static char *requests[MOST_QUESTIONS];
static size_t request_count, next_request, failures, answer_count;
static float *took; /* [ANSWERS], seconds */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int read_questions(const char *path, const char *fields)
{
    char line[4096], body[4400];
    FILE *file = fopen(path, "r");
    while (file && request_count < MOST_QUESTIONS && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        int length = snprintf(body, sizeof body, "{%.200s\"forms\":false,\"question\":\"%s\"}",
                              fields, line);
        char *request = malloc((size_t)length + 200);
        if (!request)
            return 0;
        sprintf(request,
                "POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: %d\r\n\r\n%s",
                length, body);
        requests[request_count++] = request;
    }
    if (file)
        fclose(file);
    return request_count > 0;
}

static int ask(connection *c)
{
    const char *request = requests[next_request++ % request_count];
    size_t length = strlen(request);
    c->length = 0;
    c->begun = now();
    return write(c->socket, request, length) == (ssize_t)length;
}

static int open_connection(connection *c, int port, int events)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->bytes = malloc(MOST_BYTES + 1);
    c->socket = socket(AF_INET, SOCK_STREAM, 0);
    return c->bytes && connect(c->socket, (struct sockaddr *)&address, sizeof address) == 0 &&
           epoll_ctl(events, EPOLL_CTL_ADD, c->socket, &event) == 0 && ask(c);
}

/* Whether the answer is all there. */
static int is_whole(connection *c)
{
    c->bytes[c->length] = '\0';
    const char *end = strstr(c->bytes, "\r\n\r\n"), *size = strstr(c->bytes, "Content-Length: ");
    return end && size && size < end &&
           c->length >= (size_t)(end + 4 - c->bytes) + strtoul(size + 16, NULL, 10);
}

/* Reads what there is; asks the next question if that was all. False if the connection is lost. */
static int go_on(connection *c)
{
    ssize_t got = read(c->socket, c->bytes + c->length, MOST_BYTES - c->length);
    if (got <= 0)
        return 0;
    c->length += (size_t)got;
    if (!is_whole(c))
        return 1;
    failures += strncmp(c->bytes, "HTTP/1.1 200 ", 13) != 0;
    if (answer_count < ANSWERS)
        took[answer_count++] = (float)(now() - c->begun);
    return ask(c);
}

static int compare(const void *a, const void *b)
{
    const float *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void report(double seconds)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    qsort(took, answer_count, sizeof *took, compare);
    printf("%zu %zu %.3f %.3f %.3f %.3f %.4f\n", answer_count, failures, seconds,
           1e3 * took[answer_count / 2], 1e3 * took[(size_t)(0.99 * (double)answer_count)],
           1e3 * took[answer_count - 1], 1e3 * cpu / (double)answer_count);
}

int main(int argc, char **argv)
{
    static connection connections[MOST_CONNECTIONS];
    struct epoll_event ready[64];
    int events = epoll_create1(0);
    took = malloc(ANSWERS * sizeof *took);
    if (argc != 6 || events < 0 || !took || !read_questions(argv[2], argv[5]))
        return 1;
    size_t count = (size_t)atoi(argv[3]), lost = 0;
    double start = now(), end = start + atof(argv[4]);
    for (size_t i = 0; i < count && i < MOST_CONNECTIONS; i++)
        if (!open_connection(&connections[i], atoi(argv[1]), events))
            return 1;
    while (now() < end && lost < count) {
        int found = epoll_wait(events, ready, 64, 100);
        for (int i = 0; i < found; i++) {
            connection *c = ready[i].data.ptr;
            if (go_on(c))
                continue;
            failures++;
            lost++;
            close(c->socket);
        }
    }
    if (answer_count == 0)
        return 1;
    report(now() - start);
    return 0;
}
