/* Questions from standard input: at a terminal a prompt with history, line editing and completion
 * of names, elsewhere one question a line. */
#include "prompt.h"

#include <editline/readline.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines -------------------------------------------------------------------------------- */

static bool is_question(const char *line)
{
    line += strspn(line, " \t");
    return *line && *line != '#';
}

/* The history's file, or NULL if there is no home to keep it in. */
static char *history_path(void)
{
    static const char NAME[] = "/.wfre_history";
    const char *home = getenv("HOME");
    char *path = home ? malloc(strlen(home) + sizeof NAME) : NULL;
    if (path) {
        strcpy(path, home);
        strcat(path, NAME);
    }
    return path;
}

/* The next line; Ctrl-C drops what is typed and begins a new one. NULL at the end. */
static char *read_line(void)
{
    const wfre_monitor *monitor = cli_monitor();
    char *line;
    while (!(line = readline("wfre> ")) && monitor->interrupted(monitor->context)) {
        cli_clear_interrupt();
        printf("\n");
    }
    return line;
}

static int ask_terminal(ask_session *session, int (*answer)(const ask_session *, const char *))
{
    enum { REMEMBERED = 1000 };
    char *path = history_path(), *line;
    /* Names are UTF-8; the library drops what the locale does not know. */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    prompt_names_of(session);
    session->prompt = session->page = true;
    rl_readline_name = "wfre";
    rl_completer_word_break_characters = (char *)(uintptr_t)PROMPT_BREAKS;
    rl_completion_append_character = '\0';
    rl_attempted_completion_function = prompt_complete;
    using_history();
    stifle_history(REMEMBERED);
    if (path)
        (void)read_history(path); /* there may be none yet */
    cli_note("A question a line, such as  ?x : relation(entity, ?x).\n"
             "Tab completes names, help says more, quit ends.");
    bool quit = false;
    while (!quit && (line = read_line())) {
        cli_clear_interrupt();
        if (is_question(line)) {
            add_history(line);
            if (ask_is_command(line))
                (void)ask_command(session, line, &quit);
            else
                (void)answer(session, line);
        }
        free(line);
    }
    if (path)
        (void)write_history(path);
    free(path);
    if (!quit)
        printf("\n");
    return EXIT_DONE;
}

/* What no question has, in words; NULL if the line has none of it. Else the line would be cut there
 * and another question answered. */
static const char *find_fault(const char *line, size_t length)
{
    if (memchr(line, '\0', length))
        return "a NUL byte; questions must be text";
    if (memchr(line, '\r', length))
        return "a carriage return within the line; end every question with a newline";
    return NULL;
}

/* Takes off the line's end (LF or CRLF); returns what is left of its length. */
static size_t strip_end(char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\n')
        length--;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return length;
}

/* The exit code is that of the first question that failed. */
static int ask_lines(ask_session *session, int (*answer)(const ask_session *, const char *))
{
    static const char MARK[] = "\xEF\xBB\xBF"; /* some editors put it in front of a file */
    char *line = NULL;
    size_t capacity = 0;
    ssize_t got;
    int code = EXIT_DONE;
    bool quit = false;
    session->echo = true;
    for (unsigned long number = 1; !quit && code != EXIT_INTERRUPTED && !ferror(stdout) &&
                                   (got = getline(&line, &capacity, stdin)) > 0;
         number++) {
        const char *fault = find_fault(line, strip_end(line, (size_t)got));
        const char *text = line;
        if (number == 1 && strncmp(line, MARK, strlen(MARK)) == 0)
            text += strlen(MARK);
        if (!fault && !is_question(text))
            continue;
        int own;
        if (fault) {
            wfre_error error = {.code = WFRE_ERR_FORMAT, .offset = WFRE_NO_OFFSET};
            (void)snprintf(error.message, sizeof error.message, "standard input:%lu: %s", number,
                           fault);
            own = ask_fail(session, text, &error);
        } else if (!session->json && ask_is_command(text)) {
            cli_echo(text);
            own = ask_command(session, text, &quit);
        } else {
            own = answer(session, text);
        }
        code = code == EXIT_DONE || own == EXIT_INTERRUPTED ? own : code;
        fflush(stdout);
    }
    const wfre_monitor *monitor = cli_monitor();
    if (code != EXIT_INTERRUPTED && monitor->interrupted(monitor->context)) {
        code = cli_fail(&(wfre_error){.code = WFRE_ERR_INTERRUPTED, .message = "interrupted"});
    } else if (ferror(stdin)) {
        cli_note("wfre: standard input: %s", strerror(errno));
        code = EXIT_FAILED;
    }
    free(line);
    return code;
}

int ask_questions(ask_session *session, int (*answer)(const ask_session *, const char *))
{
    return cli_is_terminal(stdin) && cli_is_terminal(stdout) ? ask_terminal(session, answer)
                                                             : ask_lines(session, answer);
}
