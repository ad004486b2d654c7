/* Completion of names at the prompt. The place decides what is offered: after the opening bracket
 * or the comma of an atom entities, first those that the relation has at that end; elsewhere
 * relations. Never more than a screenful. */
#include "prompt.h"

#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>

enum { OFFERED = 40, LOOKED_AT = 200 };

/* The library calls back without a context, so that it lies here. */
static wfre_engine *engine;
static const wfre_graph *graph;

/* What is typed of a name. */
typedef struct typing {
    const char *text; /* without the quote */
    size_t length;
    size_t before; /* its length before the word that the library replaces */
    char quote;    /* it begins with; 0 for none */
} typing;

void prompt_names_of(const ask_session *session)
{
    engine = session->engine;
    graph = session->graph;
}

/* ---- the place ---------------------------------------------------------------------------- */

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

/* The name that ends at `end`, quoted or not: its relation, or WFRE_NONE. */
static wfre_relation relation_before(int end)
{
    static const char INVERSE[] = "^-1";
    const char *line = rl_line_buffer;
    bool inverse = end >= 3 && memcmp(line + end - 3, INVERSE, 3) == 0;
    end -= inverse ? 3 : 0;
    int begin = end;
    if (end > 0 && strchr("\"'", line[end - 1])) {
        char quote = line[--end];
        for (begin = end; begin > 0 && line[begin - 1] != quote;)
            begin--;
    } else {
        while (begin > 0 && !strchr(PROMPT_BREAKS, line[begin - 1]))
            begin--;
    }
    if (begin == end)
        return WFRE_NONE;
    wfre_relation found = wfre_graph_find_relation(graph, line + begin, (size_t)(end - begin));
    return found == WFRE_NONE ? found : found ^ inverse;
}

/* Whether an entity stands at `at`; *having is what it has going out, if that is known. */
static bool is_entity_place(int at, wfre_relation *having)
{
    const char *line = rl_line_buffer;
    bool tail = at > 0 && line[at - 1] == ',';
    int open = at - 1;
    char quote = '\0';
    *having = WFRE_NONE;
    if (strncmp(line, "describe ", 9) == 0 || strncmp(line, "near ", 5) == 0)
        return true;
    while (tail && open > 0 && (line[open] != '(' || quote)) { /* over the first term */
        if (strchr("\"'", line[open]))
            quote = quote ? '\0' : line[open];
        open--;
    }
    bool atom = open > 0 && line[open] == '(' && !strchr(" \t(&|!:.", line[open - 1]);
    wfre_relation relation = atom ? relation_before(open) : WFRE_NONE;
    if (relation != WFRE_NONE)
        *having = tail ? relation ^ 1 : relation;
    return tail || atom;
}

/* ---- names -------------------------------------------------------------------------------- */

static bool starts_so(wfre_name name, const typing *t)
{
    return name.length >= t->length && memcmp(name.bytes, t->text, t->length) == 0;
}

/* What a person would type: the label, or the name if that is how it begins. */
static wfre_name name_of(const wfre_completion *item, const typing *t)
{
    wfre_name label = item->is_relation ? wfre_graph_relation_label(graph, item->id)
                                        : wfre_graph_entity_label(graph, item->id);
    wfre_name name = item->is_relation ? wfre_graph_relation_name(graph, item->id)
                                       : wfre_graph_entity_name(graph, item->id);
    return starts_so(label, t) || !starts_so(name, t) ? label : name;
}

/* The name as it stands in a question, in quotes if it needs them, from where the library replaces
 * on; to be freed. NULL if it would need escapes, and is left to be typed. */
static char *as_written(wfre_name name, const typing *t)
{
    bool quoted = t->quote;
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] == '"' || name.bytes[i] == '\\' || name.bytes[i] == t->quote)
            return NULL;
        quoted |= strchr(PROMPT_BREAKS, name.bytes[i]) != NULL;
    }
    if (name.length > 3 && memcmp(name.bytes + name.length - 3, "^-1", 3) == 0)
        quoted = true;
    if (name.length > 0 && name.bytes[0] == '#')
        quoted = true;
    if (name.length < t->before)
        return NULL;
    char quote[2] = {t->quote ? t->quote : '"', '\0'};
    char *text = malloc(name.length + 3);
    if (text)
        (void)snprintf(text, name.length + 3, "%s%.*s%s", quoted && !t->quote ? quote : "",
                       (int)(name.length - t->before), name.bytes + t->before, quoted ? quote : "");
    return text;
}

/* ---- what the library gets ---------------------------------------------------------------- */

/* What all have in front; at least what is typed, lest that be taken away. */
static char *common_start(char **names, const char *text)
{
    size_t length = strlen(names[1]);
    for (char **other = names + 2; *other; other++) {
        size_t same = 0;
        while (same < length && names[1][same] == (*other)[same])
            same++;
        length = same;
    }
    while (length > 0 && ((unsigned char)names[1][length] & 0xC0) == 0x80)
        length--; /* whole characters */
    bool longer =
        !names[2] || (length >= strlen(text) && strncmp(names[1], text, strlen(text)) == 0);
    return longer ? strndup(names[1], length) : strdup(text);
}

/* The best of the items that begin as typed; if there are none, all that have it within. */
static char **offer(const wfre_completion *items, size_t count, const char *text, const typing *t)
{
    char **names = calloc(OFFERED + 2, sizeof *names);
    size_t kept = 0;
    bool fitting = count > 0 && items[0].fits, exact = false;
    for (size_t i = 0; i < count; i++)
        exact = exact || (items[i].fits == fitting && starts_so(name_of(&items[i], t), t));
    for (size_t i = 0; names && i < count && kept < OFFERED; i++) {
        wfre_name name = name_of(&items[i], t);
        if (items[i].fits != fitting || (exact && !starts_so(name, t)))
            continue;
        char *written = as_written(name, t);
        bool again = !written;
        for (size_t k = 1; !again && k <= kept; k++)
            again = strcmp(names[k], written) == 0;
        if (again)
            free(written);
        else
            names[++kept] = written;
    }
    if (names && kept > 0 && (names[0] = common_start(names, text)))
        return names;
    for (size_t k = 1; names && k <= kept; k++)
        free(names[k]);
    free(names);
    return NULL;
}

char **prompt_complete(const char *text, int start, int end)
{
    wfre_completion items[LOOKED_AT];
    wfre_complete_options options;
    wfre_error error;
    size_t count = 0;
    typing t = {0};
    start = byte_of(start);
    end = byte_of(end);
    int from = start;
    for (int i = 0; i < start; i++) { /* a quote that is open makes one name of all words since */
        char c = rl_line_buffer[i];
        if (t.quote ? c == t.quote : c == '"' || c == '\'') {
            t.quote = t.quote ? '\0' : c;
            from = t.quote ? i + 1 : start;
        }
    }
    t.text = rl_line_buffer + from;
    t.length = (size_t)(end - from);
    t.before = (size_t)(start - from);
    while (from > 0 && strchr(" \t\"'", rl_line_buffer[from - 1]))
        from--;
    wfre_complete_options_default(&options);
    options.entities = is_entity_place(from, &options.having);
    options.relations = !options.entities;
    rl_attempted_completion_over = 1; /* no names of files */
    if (wfre_engine_complete(engine, t.text, t.length, &options, items, LOOKED_AT, &count,
                             &error) != WFRE_OK)
        return NULL;
    return offer(items, count, text, &t);
}
