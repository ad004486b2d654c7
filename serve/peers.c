/* Connections: how many there are, and who is too slow.
 *
 * libmicrohttpd times out who says nothing at all; who sends a byte a second it waits for. So each
 * connection has a phase, with the seconds that it may take, and a sweep cuts off the others. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server.h"

enum { OTHERS_EACH = 128 };
static const double QUIET = 0.2; /* seconds */

static void write_address(const struct sockaddr *address, serve_peer *peer)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        (void)inet_ntop(AF_INET, &four->sin_addr, peer->address, sizeof peer->address);
        peer->loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)address;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, peer->address, sizeof peer->address);
        peer->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
}

serve_peer *serve_peer_add(serve_server *server, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const union MHD_ConnectionInfo *file =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const serve_options *options = server->options;
    serve_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->socket = file ? file->connect_fd : -1;
    peer->phase = SERVE_RECEIVING;
    peer->since = serve_clock();
    peer->allowed = options->receive;
    if (address && address->client_addr)
        write_address(address->client_addr, peer);
    size_t each = options->connections_each, same = 0;
    if (each == 0 && !peer->loopback)
        each = OTHERS_EACH;
    pthread_mutex_lock(&server->peers.lock);
    for (serve_peer *p = server->peers.first; each > 0 && p; p = p->next)
        same += strcmp(p->address, peer->address) == 0;
    if (server->peers.count >= options->connections)
        peer->excess = MHD_HTTP_SERVICE_UNAVAILABLE;
    else if (each > 0 && same >= each)
        peer->excess = MHD_HTTP_TOO_MANY_REQUESTS;
    peer->next = server->peers.first;
    if (peer->next)
        peer->next->previous = peer;
    server->peers.first = peer;
    server->peers.count++;
    pthread_mutex_unlock(&server->peers.lock);
    return peer;
}

void serve_peer_remove(serve_server *server, serve_peer *peer)
{
    if (!peer)
        return;
    pthread_mutex_lock(&server->peers.lock);
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        server->peers.first = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    server->peers.count--;
    pthread_mutex_unlock(&server->peers.lock);
    free(peer);
}

void serve_peer_phase(serve_server *server, serve_peer *peer, serve_phase phase, double allowed)
{
    if (!peer)
        return;
    pthread_mutex_lock(&server->peers.lock);
    peer->phase = phase;
    peer->since = serve_clock();
    peer->allowed = allowed;
    pthread_mutex_unlock(&server->peers.lock);
}

/* Whether a connection between two requests was closed by its client, which epoll tells only once
 * and libmicrohttpd may not have seen. */
static bool is_deserted(const serve_peer *peer, double now)
{
    struct pollfd socket = {.fd = peer->socket, .events = POLLRDHUP};
    return peer->phase == SERVE_IDLE && now - peer->since > QUIET && poll(&socket, 1, 0) > 0 &&
           (socket.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

void serve_peers_sweep(serve_server *server)
{
    double now = serve_clock();
    uint64_t cut = 0;
    pthread_mutex_lock(&server->peers.lock);
    for (serve_peer *p = server->peers.first; p; p = p->next) {
        bool late = p->allowed > 0 && now - p->since > p->allowed;
        if (!late && !is_deserted(p, now))
            continue;
        /* The socket is closed by its owner, who removes the peer before. */
        (void)shutdown(p->socket, SHUT_RDWR);
        p->allowed = 0;
        cut += late;
    }
    pthread_mutex_unlock(&server->peers.lock);
    if (cut > 0)
        serve_metrics_add(server->metrics, "wfre_cut_off_total", cut);
}
