/* Signals.
 *
 * - INT, TERM, HUP: long work stops at the next good place, keeps what it can, and says so; a
 *   second one does not wait. HUP stays ignored where nohup made it so.
 * - PIPE: whoever read the output is gone. That ends output, not work: a training goes on and
 *   writes its model. At its end the program dies of PIPE, as programs do.
 * - XFSZ: a file size limit. The write fails, with a message, as on a full disk.
 * - BUS: a mapped file was cut short, or its disk failed. One line, then exit 1. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupt_seen;
static volatile sig_atomic_t on_terminal; /* standard error is one, which may show a bar */

static void on_interrupt(int number)
{
    (void)number;
    if (interrupt_seen)
        _exit(EXIT_INTERRUPTED); /* the second Ctrl-C does not wait */
    interrupt_seen = 1;
}

/* Nothing can be trusted any more: only calls that a handler may make. */
static void on_lost_file(int number)
{
    static const char MESSAGE[] =
        "\nwfre: an open file was cut short or cannot be read any more, so that work cannot go on; "
        "replace snapshots and models under their name (mv), never change them in place\n";
    (void)number;
    ssize_t written =
        write(STDERR_FILENO, MESSAGE + !on_terminal, sizeof MESSAGE - 1 - !on_terminal);
    (void)written;
    _exit(EXIT_FAILED);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void cli_handle_signals(void)
{
    on_terminal = isatty(STDERR_FILENO) != 0;
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);
    handle(SIGBUS, on_lost_file);
}

bool cli_interrupted(void)
{
    static bool ready;
    if (!ready) {
        struct sigaction before;
        handle(SIGINT, on_interrupt);
        handle(SIGTERM, on_interrupt);
        if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            handle(SIGHUP, on_interrupt);
        ready = true;
    }
    return interrupt_seen != 0;
}

void cli_clear_interrupt(void)
{
    interrupt_seen = 0;
}

/* Whether standard output is a pipe that nobody reads. */
static bool is_output_closed(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && output.revents & POLLERR;
}

/* Whether a write fails so; else what failed earlier left another code behind. */
static bool tells_why(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO;
}

int cli_end_output(int code)
{
    bool flushed = fflush(stdout) == 0;
    int failure = errno;
    if (flushed && !ferror(stdout))
        return code;
    if (is_output_closed()) { /* no news to whoever closed it */
        handle(SIGPIPE, SIG_DFL);
        if (code == EXIT_DONE)
            raise(SIGPIPE);
        return code;
    }
    fprintf(stderr, "wfre: cannot write to standard output: %s\n",
            flushed && !tells_why(failure) ? "a part of it is lost" : strerror(failure));
    return code == EXIT_DONE ? EXIT_FAILED : code;
}
