/* wfre serve: HTTP for a graph and a model. */
#include <signal.h>
#include <string.h>

#include "commands.h"
#ifdef WFRE_HAS_SERVE
#include "serve.h"

enum { MOST_REPEATED = 32 };

/* Says where it is, and three lines to try. */
static void say_ready(void *context, const char *address, const serve_options *how)
{
    const char *shown = how->token ? " -H \"Authorization: Bearer $(cat TOKEN)\"" : "";
    (void)context;
    printf("%s\n"
           "  curl%s %s/sparql --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 3'\n"
           "  a browser: %s/\n"
           "  python3 -c 'import json, urllib.request as u; "
           "print(json.load(u.urlopen(\"%s/api/info\")))'\n",
           address, shown, address, address, address);
    fflush(stdout);
}

static size_t list(const cli_call *call, const char *option, const char **values)
{
    size_t count = 0;
    while (count < MOST_REPEATED && (values[count] = cli_repeated(call, option, (int)count)))
        count++;
    return count;
}

static int read_log(const cli_call *call, serve_options *options)
{
    const char *log = cli_text(call, "log", "text");
    if (strcmp(log, "text") != 0 && strcmp(log, "json") != 0 && strcmp(log, "none") != 0)
        return cli_usage(call, "--log is text, json or none, not %s", log);
    options->log = strcmp(log, "json") == 0   ? SERVE_LOG_JSON
                   : strcmp(log, "none") == 0 ? SERVE_LOG_NONE
                                              : SERVE_LOG_TEXT;
    options->log_questions = cli_has(call, "log-questions");
    return EXIT_DONE;
}

static int read_options(const cli_call *call, serve_options *options)
{
    static const char *cors[MOST_REPEATED], *hosts[MOST_REPEATED];
    serve_options_default(options);
    options->graph = cli_argument(call, 0);
    options->model = cli_argument(call, 1);
    options->listen = cli_text(call, "listen", options->listen);
    options->token = cli_text(call, "token", NULL);
    options->everyone = cli_has(call, "public");
    options->cert = cli_text(call, "cert", NULL);
    options->key = cli_text(call, "key", NULL);
    options->web = cli_text(call, "web", NULL);
    options->cors = cors;
    options->cors_count = list(call, "cors", cors);
    options->hosts = hosts;
    options->host_count = list(call, "host", hosts);
    options->workers = (unsigned)cli_integer(call, "threads", 0);
    options->queue = (size_t)cli_integer(call, "queue", (long long)options->queue);
    options->batch = (size_t)cli_integer(call, "batch", (long long)options->batch);
    options->connections =
        (size_t)cli_integer(call, "connections", (long long)options->connections);
    options->connections_each = (size_t)cli_integer(call, "connections-each", 0);
    options->header = (size_t)cli_integer(call, "header", (long long)options->header);
    options->body = (size_t)cli_integer(call, "body", (long long)options->body);
    options->timeout = cli_duration(call, "timeout", options->timeout);
    options->receive = cli_duration(call, "receive", options->receive);
    options->memory = (size_t)cli_integer(call, "memory", 1024) << 20;
    options->rows = (uint64_t)cli_integer(call, "rows", (long long)options->rows);
    options->watch = !cli_has(call, "no-watch");
    if (!options->cert != !options->key)
        return cli_usage(call, "TLS needs both --cert and --key");
    return read_log(call, options);
}

static int run(const cli_call *call)
{
    serve_options options;
    wfre_error error;
    sigset_t signals;
    int code = read_options(call, &options);
    if (code != EXIT_DONE)
        return code;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* serve_run waits for them */
    return serve_run(&options, say_ready, NULL, &error) == WFRE_OK ? EXIT_DONE : cli_fail(&error);
}
#else
static int run(const cli_call *call)
{
    (void)call;
    return cli_fail(&(wfre_error){.code = WFRE_ERR_UNSUPPORTED,
                                  .message = "this program was built without libmicrohttpd, "
                                             "which serving needs"});
}
#endif

static const cli_option OPTIONS[] = {
    {"listen", 0, CLI_TEXT, "HOST:PORT",
     "where to listen (default 127.0.0.1:7800; port 0 takes a free one)", 0, 0},
    {"token", 0, CLI_TEXT, "FILE", "requests must show the token in this file", 0, 0},
    {"public", 0, CLI_FLAG, NULL, "listen beyond this machine without a token", 0, 0},
    {"cert", 0, CLI_TEXT, "FILE", "certificate (PEM) for TLS", 0, 0},
    {"key", 0, CLI_TEXT, "FILE", "its key (PEM)", 0, 0},
    {"cors", 0, CLI_REPEATED, "ORIGIN",
     "pages of this origin may read answers, such as https://example.org; * for all", 0, 0},
    {"host", 0, CLI_REPEATED, "NAME",
     "a name under which this machine may be asked without a token", 0, 0},
    {"timeout", 0, CLI_DURATION, "T", "longest time a request may take (default 10s)", 0, 0},
    {"receive", 0, CLI_DURATION, "T", "longest time to send a request in (default 30s)", 0, 0},
    {"rows", 0, CLI_INTEGER, "N", "most rows of a result (default 1000000)", 1, 1e15},
    {"memory", 0, CLI_INTEGER, "MB", "memory of a worker, and of a SPARQL query (default 1024)", 1,
     1048576},
    {"body", 0, CLI_INTEGER, "BYTES", "longest body of a request (default 1048576)", 1024, 1e9},
    {"header", 0, CLI_INTEGER, "BYTES", "longest address and header of a request (default 32768)",
     2048, 1e7},
    {"queue", 0, CLI_INTEGER, "N", "requests that may wait (default 1024)", 1, 1000000},
    {"batch", 0, CLI_INTEGER, "N", "questions that are answered together (default 32)", 1, 64},
    {"connections", 0, CLI_INTEGER, "N", "open connections (default 2048)", 1, 1000000},
    {"connections-each", 0, CLI_INTEGER, "N",
     "of one address (default 128, any number for this machine)", 1, 1000000},
    {"web", 0, CLI_TEXT, "DIR", "serve the page from this folder", 0, 0},
    {"log", 0, CLI_TEXT, "FORMAT", "a line a request: text (default), json or none", 0, 0},
    {"log-questions", 0, CLI_FLAG, NULL, "put what was asked into the log", 0, 0},
    {"no-watch", 0, CLI_FLAG, NULL, "load changed files on SIGHUP only", 0, 0},
    CLI_OPTION_THREADS,
};

const cli_command command_serve = {
    .name = "serve",
    .arguments = "G.kg [M.safetensors]",
    .summary = "answer questions over HTTP: a JSON API, SPARQL and a page",
    .details =
        "Prints its address when it is ready. /sparql is a SPARQL 1.1 endpoint, /api/openapi.json\n"
        "describes the JSON API, / is a page for people, /metrics is for Prometheus. A replaced\n"
        "file, or SIGHUP, loads graph and model anew without a failed request; SIGTERM finishes\n"
        "what runs and stops. docs/SERVER.md has the whole.\n"
        "\n"
        "Examples:\n"
        "  wfre serve g.kg m.safetensors\n"
        "  wfre serve g.kg --listen 0.0.0.0:7800 --token secret.txt --cert c.pem --key k.pem\n"
        "  wfre serve g.kg m.safetensors --cors https://yasgui.org --timeout 30s --log json\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 1,
    .maximum_arguments = 2,
    .run = run,
};
