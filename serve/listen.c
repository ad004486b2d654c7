/* The listening socket: who may reach it, and under which address. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

WFRE_PRINTF(3, 4)
static bool fail(wfre_error *error, wfre_status code, const char *format, ...)
{
    *error = (wfre_error){.code = code, .offset = WFRE_NO_OFFSET};
    va_list args;
    va_start(args, format);
    (void)wfre_format_list(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

/* Takes "HOST:PORT", "[::1]:PORT", "PORT" or "HOST" apart. */
static bool split(const char *listen, char host[256], char port[8])
{
    const char *colon = strrchr(listen, ':');
    const char *name = listen, *number = colon ? colon + 1 : "7800";
    size_t length = colon ? (size_t)(colon - listen) : strlen(listen);
    if (!colon && listen[strspn(listen, "0123456789")] == '\0') {
        name = "127.0.0.1";
        length = strlen(name);
        number = listen;
    } else if (listen[0] == '[') {
        const char *end = strchr(listen, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        number = end[1] ? end + 2 : "7800";
        name++;
        length = (size_t)(end - name);
    }
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > 5 || number[digits] || atoi(number) > 65535 || length >= 256)
        return false;
    memcpy(host, name, length);
    host[length] = '\0';
    (void)snprintf(port, 8, "%s", number);
    return length > 0;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static bool open_socket(const struct addrinfo *address, int *listener)
{
    enum { BACKLOG = 1024 };
    int on = 1;
    *listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*listener < 0)
        return false;
    (void)setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*listener, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(*listener, BACKLOG) == 0 &&
        fcntl(*listener, F_SETFL, fcntl(*listener, F_GETFL) | O_NONBLOCK) == 0)
        return true;
    int failure = errno;
    close(*listener);
    *listener = -1;
    errno = failure;
    return false;
}

/* The address to print, with the port that was taken. */
static void name_address(serve_server *server, const char *host)
{
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    (void)getsockname(server->listener, (struct sockaddr *)&bound, &length);
    unsigned port = bound.ss_family == AF_INET6
                        ? ntohs(((struct sockaddr_in6 *)(void *)&bound)->sin6_port)
                        : ntohs(((struct sockaddr_in *)(void *)&bound)->sin_port);
    bool six = strchr(host, ':') != NULL;
    (void)snprintf(server->address, sizeof server->address, "%s://%s%s%s:%u",
                   server->options->cert ? "https" : "http", six ? "[" : "", host, six ? "]" : "",
                   port);
}

bool serve_listen(serve_server *server, wfre_error *error)
{
    const serve_options *options = server->options;
    char host[256], port[8];
    if (!split(options->listen, host, port))
        return fail(error, WFRE_ERR_ARGUMENT,
                    "`listen` is HOST:PORT, such as 127.0.0.1:7800, not %s", options->listen);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    int code = getaddrinfo(host, port, &hints, &found);
    if (code != 0)
        return fail(error, WFRE_ERR_NOT_FOUND, "%s: %s", host, gai_strerror(code));
    bool loopback = is_loopback(found->ai_addr), good = true;
    if (!loopback && !options->token && !options->everyone)
        good = fail(error, WFRE_ERR_ARGUMENT,
                    "%s is seen by other machines: give `token` a file with the token that "
                    "requests must show, or say `public`",
                    options->listen);
    else if (!open_socket(found, &server->listener))
        good = fail(error, WFRE_ERR_IO, "%s: cannot listen: %s", options->listen, strerror(errno));
    else
        name_address(server, host);
    server->guard_host = loopback && !options->token;
    freeaddrinfo(found);
    return good;
}
