/* Cursor, names and ids, for all notations. */
#include "query/scan.h"

#include <string.h>

#include "base/scope.h"
#include "graph/labels.h"
#include "wfre/query.h"

/* ---- characters --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char wfre_scan_peek(wfre_cursor *cursor)
{
    while (cursor->at < cursor->length && is_blank(cursor->text[cursor->at]))
        cursor->at++;
    return cursor->at < cursor->length ? cursor->text[cursor->at] : '\0';
}

bool wfre_scan_accept(wfre_cursor *cursor, char c)
{
    if (wfre_scan_peek(cursor) != c || cursor->at == cursor->length)
        return false;
    cursor->at++;
    return true;
}

wfre_status wfre_scan_expected(wfre_cursor *cursor, const char *what)
{
    (void)wfre_scan_peek(cursor);
    const char *end = cursor->at == cursor->length ? ", but the query ends here" : "";
    return wfre_fail(cursor->error, WFRE_ERR_FORMAT, cursor->at, "expected %s%s", what, end);
}

wfre_status wfre_scan_expect(wfre_cursor *cursor, char c, const char *what)
{
    return wfre_scan_accept(cursor, c) ? WFRE_OK : wfre_scan_expected(cursor, what);
}

typedef struct operator_text {
    const char *bytes;
    char ascii;
} operator_text;

/* The operator of the table that the text begins with: its length, 0 if there is none. */
static size_t find_operator(const operator_text *table, size_t count, const char *text,
                            size_t length, char *ascii)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(table[i].bytes);
        if (size <= length && memcmp(text, table[i].bytes, size) == 0) {
            *ascii = table[i].ascii;
            return size;
        }
    }
    return 0;
}

size_t wfre_scan_logic_symbol(const char *text, size_t length, char *ascii)
{
    static const operator_text SYMBOLS[] = {
        {"\xE2\x88\xA7", '&'}, /* logical and */
        {"\xE2\x88\xA8", '|'}, /* logical or */
        {"\xC2\xAC", '!'},     /* not sign */
        {"\xE2\x88\x83", 'E'}, /* there exists */
        {"\xE2\x88\x80", 'A'}, /* for all */
    };
    return find_operator(SYMBOLS, sizeof SYMBOLS / sizeof SYMBOLS[0], text, length, ascii);
}

size_t wfre_scan_keyword(const char *text, size_t length, char *ascii)
{
    static const operator_text KEYWORDS[] = {
        {"and", '&'}, {"or", '|'}, {"not", '!'}, {"exists", 'E'}, {"forall", 'A'},
        {"AND", '&'}, {"OR", '|'}, {"NOT", '!'}, {"EXISTS", 'E'}, {"FORALL", 'A'},
    };
    size_t size =
        find_operator(KEYWORDS, sizeof KEYWORDS / sizeof KEYWORDS[0], text, length, ascii);
    char ignored;
    bool ends = size == length || is_blank(text[size]) || strchr("(?!\"'", text[size]) ||
                wfre_scan_logic_symbol(text + size, length - size, &ignored) > 0;
    return ends ? size : 0;
}

bool wfre_scan_is_name_byte(const char *text, size_t length)
{
    char ascii;
    unsigned char c = (unsigned char)text[0];
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= 0x80 && wfre_scan_logic_symbol(text, length, &ascii) == 0);
}

/* ---- reading names ------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that the escape at text[at] (behind the backslash) means; -1 if it is none. */
static int unescape(const wfre_cursor *cursor, size_t at, size_t *size)
{
    static const char LETTERS[] = "\\\"'ntr", VALUES[] = "\\\"'\n\t\r";
    *size = 1;
    char c = cursor->text[at];
    const char *letter = c ? strchr(LETTERS, c) : NULL;
    if (letter)
        return VALUES[letter - LETTERS];
    if (c != 'x' || cursor->length - at < 3)
        return -1;
    int high = hex_digit(cursor->text[at + 1]), low = hex_digit(cursor->text[at + 2]);
    *size = 3;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static wfre_status scan_quoted(wfre_cursor *cursor, wfre_symbol *symbol)
{
    char quote = cursor->text[cursor->at++];
    size_t end = cursor->at;
    while (end < cursor->length && cursor->text[end] != quote)
        end += cursor->text[end] == '\\' && end + 1 < cursor->length ? 2 : 1;
    if (end >= cursor->length)
        return wfre_fail(cursor->error, WFRE_ERR_FORMAT, symbol->offset,
                         "this quote is never closed");
    char *bytes = wfre_arena_alloc(cursor->arena, end - cursor->at + 1, 1);
    if (!bytes)
        return wfre_fail_memory(cursor->error, "reading a name");
    size_t length = 0;
    while (cursor->at < end) {
        char c = cursor->text[cursor->at++];
        if (c == '\\') {
            size_t size;
            int value = unescape(cursor, cursor->at, &size);
            if (value < 0 || cursor->at + size > end)
                return wfre_fail(cursor->error, WFRE_ERR_FORMAT, cursor->at - 1,
                                 "unknown escape; use \\\\ \\\" \\n \\t \\r or \\xHH");
            c = (char)value;
            cursor->at += size;
        }
        bytes[length++] = c;
    }
    cursor->at = end + 1;
    symbol->bytes = bytes;
    symbol->length = length;
    return WFRE_OK;
}

/* "label"@language: the name is all of it, its quotes being double ones and the rest as it was
 * written (wfre_graph_find_entity takes it so). */
static wfre_status scan_language(wfre_cursor *cursor, wfre_symbol *symbol)
{
    const char *rest = cursor->text + cursor->at + 1;
    size_t length = wfre_language_length(rest, cursor->length - cursor->at - 1);
    if (length == 0)
        return wfre_fail(cursor->error, WFRE_ERR_FORMAT, cursor->at + 1,
                         "expected a language, as in \"Munich\"@en");
    size_t whole = symbol->length + length + 3;
    char *bytes = wfre_arena_alloc(cursor->arena, whole, 1);
    if (!bytes)
        return wfre_fail_memory(cursor->error, "reading a name");
    bytes[0] = '"';
    memcpy(bytes + 1, symbol->bytes, symbol->length);
    memcpy(bytes + 1 + symbol->length, "\"@", 2);
    memcpy(bytes + 3 + symbol->length, rest, length);
    symbol->bytes = bytes;
    symbol->length = whole;
    cursor->at += 1 + length;
    return WFRE_OK;
}

/* The length of <...> without blanks; 0 if the text does not begin with one. */
static size_t bracketed_length(const char *text, size_t length)
{
    if (length == 0 || text[0] != '<')
        return 0;
    for (size_t i = 1; i < length && !is_blank(text[i]); i++)
        if (text[i] == '>')
            return i + 1;
    return 0;
}

static void scan_bare(wfre_cursor *cursor, wfre_symbol *symbol)
{
    bool logic = strchr(cursor->stops, '&') != NULL;
    char ascii;
    cursor->at += bracketed_length(cursor->text + cursor->at, cursor->length - cursor->at);
    while (cursor->at < cursor->length) {
        const char *next = cursor->text + cursor->at;
        if (is_blank(*next) || *next == '\0' || strchr(cursor->stops, *next) ||
            (logic && wfre_scan_logic_symbol(next, cursor->length - cursor->at, &ascii)))
            break;
        cursor->at++;
    }
    symbol->bytes = cursor->text + symbol->offset;
    symbol->length = cursor->at - symbol->offset;
}

/* Turns #12 into its number. */
static wfre_status read_id(wfre_cursor *cursor, wfre_symbol *symbol)
{
    uint64_t id = 0;
    for (size_t i = 1; i < symbol->length && id < WFRE_NONE; i++) {
        char c = symbol->bytes[i];
        id = c >= '0' && c <= '9' ? id * 10 + (uint64_t)(c - '0') : WFRE_NONE;
    }
    if (symbol->length < 2 || id >= WFRE_NONE)
        return wfre_fail(cursor->error, WFRE_ERR_FORMAT, symbol->offset,
                         "# must be followed by an id, such as #12; quote a name that starts so");
    symbol->id = (uint32_t)id;
    return WFRE_OK;
}

wfre_status wfre_scan_symbol(wfre_cursor *cursor, bool relation, wfre_symbol *symbol)
{
    static const char INVERSE[] = "^-1";
    enum { INVERSE_LENGTH = sizeof INVERSE - 1 };
    char first = wfre_scan_peek(cursor);
    *symbol = (wfre_symbol){.offset = cursor->at, .id = WFRE_NONE};
    if (first == '"' || first == '\'') {
        wfre_status status = scan_quoted(cursor, symbol);
        if (status == WFRE_OK && cursor->at < cursor->length && cursor->text[cursor->at] == '@')
            status = scan_language(cursor, symbol);
        if (status != WFRE_OK)
            return status;
        const char *rest = cursor->text + cursor->at;
        if (relation && cursor->length - cursor->at >= INVERSE_LENGTH &&
            memcmp(rest, INVERSE, INVERSE_LENGTH) == 0) {
            symbol->inverse = true;
            cursor->at += INVERSE_LENGTH;
        }
        return WFRE_OK;
    }
    scan_bare(cursor, symbol);
    if (symbol->length == 0)
        return wfre_scan_expected(cursor, relation ? "a relation" : "an entity");
    if (relation && symbol->length > INVERSE_LENGTH &&
        memcmp(symbol->bytes + symbol->length - INVERSE_LENGTH, INVERSE, INVERSE_LENGTH) == 0) {
        symbol->inverse = true;
        symbol->length -= INVERSE_LENGTH;
    }
    return first == '#' ? read_id(cursor, symbol) : WFRE_OK;
}

/* ---- looking them up ---------------------------------------------------------------------- */

/* What differs between entities and relations. */
typedef struct kind {
    const char *one;
    const char *several;
    const char *counted; /* behind their number: what else it counts */
    uint32_t (*count)(const wfre_graph *graph);
    uint32_t (*find)(const wfre_graph *graph, const char *text, size_t length);
    size_t (*nearest)(const wfre_graph *graph, const char *text, size_t length, uint32_t *ids,
                      size_t capacity);
    void (*print)(wfre_text *text, const wfre_graph *graph, uint32_t id);
    wfre_name (*name)(const wfre_graph *graph, uint32_t id);
    wfre_name (*label)(const wfre_graph *graph, uint32_t id);
    bool relations;
} kind;

static const kind ENTITY = {
    .one = "entity",
    .several = "entities",
    .counted = "",
    .count = wfre_graph_entities,
    .find = wfre_graph_find_entity,
    .nearest = wfre_nearest_entities,
    .print = wfre_print_entity,
    .name = wfre_graph_entity_name,
    .label = wfre_graph_entity_label,
};
static const kind RELATION = {
    .one = "relation",
    .several = "relations",
    .counted = " with inverses",
    .count = wfre_graph_relations,
    .find = wfre_graph_find_relation,
    .nearest = wfre_nearest_relations,
    .print = wfre_print_relation,
    .name = wfre_graph_relation_name,
    .label = wfre_graph_relation_label,
    .relations = true,
};

enum { NAMED = 5 }; /* in a message about an unknown name */

static bool has_label(const kind *k, const wfre_graph *graph, uint32_t id,
                      const wfre_symbol *symbol)
{
    wfre_name label = k->label(graph, id);
    return label.length == symbol->length && memcmp(label.bytes, symbol->bytes, label.length) == 0;
}

static void print_quoted(wfre_text *text, wfre_name name)
{
    wfre_text_char(text, '"');
    for (size_t i = 0; i < name.length;) {
        size_t size = wfre_utf8_sequence(name.bytes + i, name.length - i);
        unsigned char c = (unsigned char)name.bytes[i];
        if (c == '"' || c == '\\')
            wfre_text_format(text, "\\%c", c);
        else if (size == 0 || c < ' ' || c == 0x7F)
            wfre_text_format(text, "\\x%02X", c);
        else
            wfre_text_append(text, name.bytes + i, size);
        i += size ? size : 1;
    }
    wfre_text_char(text, '"');
}

/* A name in a message: its beginning, on one line. */
static void show_name(wfre_text *text, wfre_name name)
{
    enum { SHOWN = 200 };
    if (name.length > SHOWN) {
        name.length = SHOWN;
        while (name.length > 0 && ((unsigned char)name.bytes[name.length] & 0xC0) == 0x80)
            name.length--; /* no part of a character */
    }
    bool plain = wfre_utf8_valid(name.bytes, name.length);
    for (size_t i = 0; i < name.length; i++)
        plain = plain && (unsigned char)name.bytes[i] >= ' ' && name.bytes[i] != 0x7F;
    if (plain)
        wfre_text_append(text, name.bytes, name.length);
    else
        print_quoted(text, name);
}

/* Keeps those that the text is a label of, shown or in any language; false if none is: the label is
 * not the trouble. One that only one has would have been found. */
static bool keep_labelled(const wfre_cursor *cursor, const kind *k, const wfre_symbol *symbol,
                          uint32_t ids[NAMED], size_t *count)
{
    size_t kept = 0;
    uint32_t labelled[NAMED];
    for (size_t i = 0; i < *count; i++)
        if (has_label(k, cursor->graph, ids[i], symbol))
            ids[kept++] = ids[i];
    if (kept == 0) {
        wfre_name text = {symbol->bytes, symbol->length};
        kept = wfre_graph_labelled(cursor->graph, k->relations, text, labelled, NAMED);
        kept = kept > 1 ? kept : 0;
        memcpy(ids, labelled, kept * sizeof *ids);
    }
    *count = kept > 0 ? kept : *count;
    return kept > 0;
}

static void list_names(const wfre_cursor *cursor, const kind *k, const uint32_t *ids, size_t count,
                       bool with_labels, wfre_text *list)
{
    for (size_t i = 0; i < count; i++) {
        wfre_text_add(list, i == 0 ? "" : ", ");
        k->print(list, cursor->graph, ids[i]);
        wfre_name name = k->name(cursor->graph, ids[i]), label = k->label(cursor->graph, ids[i]);
        if (with_labels && name.bytes != label.bytes) {
            wfre_text_add(list, " (");
            show_name(list, label);
            wfre_text_char(list, ')');
        }
    }
}

/* Fails if what was taken for a relation is an attribute. */
static wfre_status refuse_attribute(wfre_cursor *cursor, const wfre_symbol *symbol)
{
    wfre_text iri = {0}, shown = {0};
    wfre_status status = WFRE_OK;
    wfre_name name = {symbol->bytes, symbol->length};
    if (wfre_graph_find_attribute(cursor->graph, name, &iri)) {
        show_name(&shown, name);
        status = wfre_text_status(&shown, "naming an attribute", cursor->error);
        if (status == WFRE_OK)
            status = wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset,
                               "%s is no relation between entities but an attribute: describe "
                               "shows its values, SPARQL asks for them: SELECT * { ?x <%s> ?v }",
                               shown.data, iri.data);
    }
    wfre_text_free(&iri);
    wfre_text_free(&shown);
    return status;
}

static wfre_status fail_unknown(wfre_cursor *cursor, const kind *k, const wfre_symbol *symbol)
{
    uint32_t ids[NAMED];
    wfre_name near = {symbol->bytes, symbol->length}, language;
    if (k->relations)
        CHECK(refuse_attribute(cursor, symbol));
    (void)wfre_label_parts(near, &near, &language);
    size_t found = k->nearest(cursor->graph, near.bytes, near.length, ids, NAMED);
    bool ambiguous = keep_labelled(cursor, k, symbol, ids, &found);
    CHECK(wfre_check_stop(cursor->error)); /* which ends the search for names */
    wfre_text list = {0}, shown = {0};
    list_names(cursor, k, ids, found, !ambiguous, &list);
    show_name(&shown, (wfre_name){symbol->bytes, symbol->length});
    wfre_status status;
    if (list.failed || shown.failed)
        status = wfre_fail_memory(cursor->error, "looking for similar names");
    else if (ambiguous)
        status = wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset,
                           "several %s are labelled %s; use a name: %s", k->several, shown.data,
                           list.data);
    else
        status =
            wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset, "no %s is called %s%s%s",
                      k->one, shown.data, found ? "; the nearest: " : "", found ? list.data : "");
    for (size_t i = 0; i < found; i++) {
        wfre_name name = k->name(cursor->graph, ids[i]);
        wfre_error_near(cursor->error, name.bytes, name.length);
    }
    wfre_text_free(&shown);
    wfre_text_free(&list);
    return status;
}

static wfre_status resolve(wfre_cursor *cursor, const kind *k, const wfre_symbol *symbol,
                           uint32_t *id)
{
    uint32_t found = symbol->id;
    if (!cursor->graph && found == WFRE_NONE)
        return wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset,
                         "names need a graph; without one give the %s as an id, such as #12",
                         k->one);
    if (found == WFRE_NONE)
        found = k->find(cursor->graph, symbol->bytes, symbol->length);
    if (found == WFRE_NONE)
        return fail_unknown(cursor, k, symbol);
    uint32_t count = cursor->graph ? k->count(cursor->graph) : WFRE_NONE;
    if (found >= count)
        return wfre_fail(cursor->error, WFRE_ERR_NOT_FOUND, symbol->offset,
                         "the graph has %u %s%s; ids go from #0 to #%u", count, k->several,
                         k->counted, count - 1);
    *id = found;
    return WFRE_OK;
}

wfre_status wfre_resolve_entity(wfre_cursor *cursor, const wfre_symbol *symbol, wfre_entity *entity)
{
    return resolve(cursor, &ENTITY, symbol, entity);
}

wfre_status wfre_resolve_relation(wfre_cursor *cursor, const wfre_symbol *symbol,
                                  wfre_relation *relation)
{
    wfre_status status = resolve(cursor, &RELATION, symbol, relation);
    if (status == WFRE_OK && symbol->inverse)
        *relation ^= 1;
    return status;
}

/* ---- writing names ------------------------------------------------------------------------ */

/* Whether it reads as a keyword, perhaps with something behind it, such as "not?". */
static bool is_keyword(wfre_name name)
{
    char ignored;
    return wfre_scan_keyword(name.bytes, name.length, &ignored) > 0;
}

/* Whether every notation reads the name as it stands. */
static bool is_plain(wfre_name name)
{
    static const char INVERSE[] = "^-1";
    size_t tail = sizeof INVERSE - 1;
    if (name.length == 0 || name.bytes[0] == '#' || name.bytes[0] == '?' || is_keyword(name) ||
        !wfre_utf8_valid(name.bytes, name.length))
        return false;
    if (name.length >= tail && memcmp(name.bytes + name.length - tail, INVERSE, tail) == 0)
        return false;
    char ascii;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        if ((unsigned char)c <= ' ' || c == 0x7F || strchr(",()&|!\"'\\", c) ||
            wfre_scan_logic_symbol(name.bytes + i, name.length - i, &ascii))
            return false;
    }
    return true;
}

static void print_name(wfre_text *text, wfre_name name, uint32_t id)
{
    if (name.length == 0)
        wfre_text_format(text, "#%u", id);
    else if (is_plain(name))
        wfre_text_append(text, name.bytes, name.length);
    else
        print_quoted(text, name);
}

void wfre_print_entity(wfre_text *text, const wfre_graph *graph, wfre_entity entity)
{
    bool known = graph && entity < wfre_graph_entities(graph);
    print_name(text, known ? wfre_graph_entity_name(graph, entity) : (wfre_name){NULL, 0}, entity);
}

void wfre_print_relation(wfre_text *text, const wfre_graph *graph, wfre_relation relation)
{
    bool known = graph && relation < wfre_graph_relations(graph);
    wfre_name name = known ? wfre_graph_relation_name(graph, relation) : (wfre_name){NULL, 0};
    print_name(text, name, relation);
    if (name.length > 0 && relation & 1)
        wfre_text_add(text, "^-1");
}
