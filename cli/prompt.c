/* Questions from standard input: at a terminal a prompt with history, line editing and completion
 * of names, elsewhere one question a line. */
#include <editline/readline.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

static const char BREAKS[] = " \t(),&|!:?\"'"; /* what ends a name that is not quoted */

/* ---- completion: the library calls back without a context, so that it lies here ----------- */

static const wfre_graph *names_of;
static bool complete_entities; /* else relations */
static const char *typed;      /* what is typed of the name, without the quote */
static size_t typed_length;
static size_t typed_before; /* its length before the word that the library replaces */
static char typed_quote;    /* the quote it begins with; 0 for none */

/* What a person would type: the label, or the name if that is how it begins. */
static bool find_name(uint32_t index, wfre_name *name)
{
    wfre_name names[2];
    if (complete_entities) {
        names[0] = wfre_graph_entity_label(names_of, index);
        names[1] = wfre_graph_entity_name(names_of, index);
    } else {
        names[0] = wfre_graph_relation_label(names_of, 2 * index);
        names[1] = wfre_graph_relation_name(names_of, 2 * index);
    }
    for (int k = 0; k < 2; k++)
        if (names[k].length >= typed_length && memcmp(names[k].bytes, typed, typed_length) == 0) {
            *name = names[k];
            return true;
        }
    return false;
}

/* The name as it stands in a question, in quotes if it needs them, from where the library replaces
 * on. The caller of readline frees it. */
static char *as_written(wfre_name name)
{
    bool quoted = typed_quote;
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] == '"' || name.bytes[i] == '\\' || name.bytes[i] == typed_quote)
            return NULL; /* would need escapes; left to be typed */
        quoted |= strchr(BREAKS, name.bytes[i]) != NULL;
    }
    if (name.length > 3 && memcmp(name.bytes + name.length - 3, "^-1", 3) == 0)
        quoted = true;
    if (name.length > 0 && name.bytes[0] == '#')
        quoted = true;
    char quote[2] = {typed_quote ? typed_quote : '"', '\0'};
    char *text = malloc(name.length + 3);
    if (text)
        (void)snprintf(text, name.length + 3, "%s%.*s%s", quoted && !typed_quote ? quote : "",
                       (int)(name.length - typed_before), name.bytes + typed_before,
                       quoted ? quote : "");
    return text;
}

/* The next name that begins with what is typed; NULL beyond the last. */
static char *next_name(const char *text, int again)
{
    (void)text;
    static uint32_t next;
    uint32_t count =
        complete_entities ? wfre_graph_entities(names_of) : wfre_graph_relations(names_of) / 2;
    for (next = again ? next : 0; next < count;) {
        wfre_name name;
        char *written = find_name(next++, &name) ? as_written(name) : NULL;
        if (written)
            return written;
    }
    return NULL;
}

/* Where the character of this number begins in the line, which is UTF-8. */
static int byte_of(int character)
{
    int at = 0;
    for (; rl_line_buffer[at] && character > 0; character--)
        do
            at++;
        while (((unsigned char)rl_line_buffer[at] & 0xC0) == 0x80);
    return at;
}

/* Whether the bracket or comma before `at` is within an atom rather than grouping. */
static bool within_atom(int at)
{
    if (at > 0 && rl_line_buffer[at - 1] == ',')
        return true;
    return at > 1 && rl_line_buffer[at - 1] == '(' && !strchr(" \t(&|!:.", rl_line_buffer[at - 2]);
}

/* After the opening bracket or the comma of an atom stands an entity, elsewhere a relation. A
 * quote that is open makes one name of all words since. The library counts characters. */
static char **complete(const char *text, int start, int end)
{
    start = byte_of(start);
    end = byte_of(end);
    int from = start;
    typed_quote = '\0';
    for (int i = 0; i < start; i++) {
        char c = rl_line_buffer[i];
        if (typed_quote ? c == typed_quote : c == '"' || c == '\'') {
            typed_quote = typed_quote ? '\0' : c;
            from = typed_quote ? i + 1 : start;
        }
    }
    typed = rl_line_buffer + from;
    typed_length = (size_t)(end - from);
    typed_before = (size_t)(start - from);
    while (from > 0 && strchr(" \t\"'", rl_line_buffer[from - 1]))
        from--;
    complete_entities = within_atom(from);
    rl_attempted_completion_over = 1; /* no names of files */
    return rl_completion_matches(text, next_name);
}

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

static int ask_terminal(const ask_session *session,
                        int (*answer)(const ask_session *, const char *))
{
    enum { REMEMBERED = 1000 };
    char *path = history_path(), *line;
    /* Names are UTF-8; the library drops what the locale does not know. */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    names_of = session->graph;
    rl_readline_name = "wfre";
    rl_completer_word_break_characters = (char *)(uintptr_t)BREAKS;
    rl_completion_append_character = '\0';
    rl_attempted_completion_function = complete;
    using_history();
    stifle_history(REMEMBERED);
    if (path)
        (void)read_history(path); /* there may be none yet */
    cli_note("A question a line, such as  ?x : relation(entity, ?x).  Tab completes names, Ctrl-D "
             "ends.");
    while ((line = read_line())) {
        cli_clear_interrupt();
        if (is_question(line)) {
            add_history(line);
            (void)answer(session, line);
        }
        free(line);
    }
    if (path)
        (void)write_history(path);
    free(path);
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
static int ask_lines(const ask_session *session, int (*answer)(const ask_session *, const char *))
{
    static const char MARK[] = "\xEF\xBB\xBF"; /* some editors put it in front of a file */
    char *line = NULL;
    size_t capacity = 0;
    ssize_t got;
    int code = EXIT_DONE;
    for (unsigned long number = 1; code != EXIT_INTERRUPTED && !ferror(stdout) &&
                                   (got = getline(&line, &capacity, stdin)) > 0;
         number++) {
        const char *fault = find_fault(line, strip_end(line, (size_t)got));
        const char *text = line;
        if (number == 1 && strncmp(line, MARK, strlen(MARK)) == 0)
            text += strlen(MARK);
        if (!fault && !is_question(text))
            continue;
        int own = EXIT_FAILED;
        if (fault)
            cli_note("wfre: standard input:%lu: %s", number, fault);
        else
            own = answer(session, text);
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

int ask_questions(const ask_session *session, int (*answer)(const ask_session *, const char *))
{
    return cli_is_terminal(stdin) && cli_is_terminal(stdout) ? ask_terminal(session, answer)
                                                             : ask_lines(session, answer);
}
