/* BetaE tuples: the notation of the published query sets, which is Python's.
 *
 *   query = ( entity , path )                 projections and negations from an entity
 *         | ( query , path )                  ... from the answers of a query
 *         | ( query , query , ... )           intersection
 *         | ( query , query , ... , (-1,) )   union
 *   path  = ( step , step ... ) or (): each step a relation id, or -2 for a negation
 *
 * A path holds only numbers and a query never does, which tells them apart. Query types have 'e',
 * 'r', 'n' and ('u',) in the place of entity, relation, -2 and (-1,). */
#include <string.h>

#include "base/scope.h"
#include "query/notation.h"
#include "query/scan.h"

enum { UNION_MARK = -1, NEGATION_MARK = -2 };

typedef struct parser {
    wfre_cursor cursor;
    bool letters; /* some entity or relation is a letter: a query type */
} parser;

static wfre_status fail_here(parser *p, const char *message)
{
    return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, p->cursor.at, "%s", message);
}

/* A number, or a letter of a query type: *value is the id, WFRE_NONE for 'e' and 'r', or a mark. */
static wfre_status parse_number(parser *p, int64_t *value)
{
    static const struct {
        char letter;
        int64_t value;
    } LETTERS[] = {{'e', WFRE_NONE}, {'r', WFRE_NONE}, {'u', UNION_MARK}, {'n', NEGATION_MARK}};
    wfre_cursor *cursor = &p->cursor;
    char c = wfre_scan_peek(cursor);
    const char *rest = cursor->text + cursor->at;
    size_t left = cursor->length - cursor->at;
    if (c == '\'' || c == '"') {
        for (size_t i = 0; left >= 3 && rest[2] == c && i < sizeof LETTERS / sizeof *LETTERS; i++)
            if (rest[1] == LETTERS[i].letter) {
                *value = LETTERS[i].value;
                p->letters = true;
                cursor->at += 3;
                return WFRE_OK;
            }
        return fail_here(p, "expected one of 'e' 'r' 'n' 'u'");
    }
    bool negative = wfre_scan_accept(cursor, '-');
    size_t begin = cursor->at;
    uint64_t number = 0;
    while (cursor->at < cursor->length && cursor->text[cursor->at] >= '0' &&
           cursor->text[cursor->at] <= '9' && number < WFRE_NONE)
        number = number * 10 + (uint64_t)(cursor->text[cursor->at++] - '0');
    if (cursor->at == begin)
        return wfre_scan_expected(cursor, "a number or a bracket");
    if (number >= WFRE_NONE || (negative && number != 1 && number != 2))
        return fail_here(p, "a number out of range; ids are below 4294967295, and the marks are -1 "
                            "(union) and -2 (negation)");
    *value = negative ? -(int64_t)number : (int64_t)number;
    return WFRE_OK;
}

/* Whether the bracket at the cursor opens a path or union mark: only numbers inside. */
static bool at_path(parser *p)
{
    if (wfre_scan_peek(&p->cursor) != '(')
        return false;
    size_t left = p->cursor.length - p->cursor.at - 1;
    const char *inside = p->cursor.text + p->cursor.at + 1;
    for (size_t i = 0; i < left && inside[i] != '('; i++)
        if (inside[i] == ')')
            return true;
    return false;
}

/* A subquery and how many levels it has. */
typedef struct branch {
    const wfre_node *node;
    unsigned height;
} branch;

static wfre_status parse_query(parser *p, unsigned depth, branch *b);

/* Puts one more level on top, unless making it failed or there are too many. */
static wfre_status grow(parser *p, branch *b, const wfre_node *top)
{
    if (!top)
        return wfre_fail_memory(p->cursor.error, "reading a query");
    if (++b->height > WFRE_TREE_DEPTH)
        return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, p->cursor.at,
                         "the query is nested more than %d deep", WFRE_TREE_DEPTH);
    b->node = top;
    return WFRE_OK;
}

/* Reads "(step, step, ...)" and wraps the branch in its steps; or, for "(-1,)", sets *is_union. */
static wfre_status parse_path(parser *p, branch *b, bool *is_union)
{
    size_t steps = 0;
    *is_union = false;
    (void)wfre_scan_accept(&p->cursor, '(');
    for (; !wfre_scan_accept(&p->cursor, ')'); steps++) {
        int64_t value;
        CHECK(parse_number(p, &value));
        if (value == UNION_MARK)
            *is_union = true;
        else if (value == NEGATION_MARK)
            CHECK(grow(p, b, wfre_node_negate(p->cursor.arena, b->node)));
        else
            CHECK(grow(p, b, wfre_node_project(p->cursor.arena, (wfre_relation)value, b->node)));
        if (!wfre_scan_accept(&p->cursor, ',') && wfre_scan_peek(&p->cursor) != ')')
            return wfre_scan_expected(&p->cursor, "a comma or a closing bracket");
    }
    if (*is_union && steps != 1)
        return fail_here(p, "the union mark stands alone: (-1,)");
    return WFRE_OK;
}

/* Behind "(": an entity and its path. */
static wfre_status parse_anchor(parser *p, branch *b)
{
    int64_t value;
    bool is_union;
    CHECK(parse_number(p, &value));
    if (value < 0)
        return fail_here(p, "an entity cannot be negative");
    b->height = 0;
    CHECK(grow(p, b, wfre_node_entity(p->cursor.arena, (wfre_entity)value)));
    if (!wfre_scan_accept(&p->cursor, ',') || !at_path(p))
        return wfre_scan_expected(&p->cursor, "a comma and the path of relations, such as (12,)");
    CHECK(parse_path(p, b, &is_union));
    if (is_union)
        return fail_here(p, "a union needs two or more queries");
    return WFRE_OK;
}

/* Behind "(": one query and its path, or several queries and perhaps the union mark. */
static wfre_status parse_branches(parser *p, unsigned depth, branch *b)
{
    wfre_status status = WFRE_OK;
    const wfre_node **nodes = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    bool is_union = false, has_path = false;
    *b = (branch){NULL, 0};
    do {
        if (count > 0 && at_path(p)) {
            b->node = nodes[0];
            TRY(parse_path(p, b, &is_union));
            has_path = !is_union;
            break;
        }
        branch next = {NULL, 0};
        TRY(wfre_check_stop(p->cursor.error));
        TRY(parse_query(p, depth + 1, &next));
        if (!WFRE_RESERVE(&nodes, &capacity, (size_t)count + 1)) {
            status = wfre_fail_memory(p->cursor.error, "reading a query");
            goto cleanup;
        }
        nodes[count++] = next.node;
        b->height = next.height > b->height ? next.height : b->height;
    } while (wfre_scan_accept(&p->cursor, ','));
    if (has_path ? count != 1 : count < 2) {
        status = fail_here(p, "brackets hold one query and a path, or two or more queries");
        goto cleanup;
    }
    if (!has_path) {
        wfre_op op = is_union ? WFRE_OP_UNION : WFRE_OP_INTERSECT;
        TRY(grow(p, b, wfre_node_make(p->cursor.arena, op, WFRE_NONE, nodes, count)));
    }
cleanup:
    wfre_free(nodes);
    return status;
}

static wfre_status parse_query(parser *p, unsigned depth, branch *b)
{
    if (depth > WFRE_TREE_DEPTH)
        return fail_here(p, "too many brackets");
    if (!wfre_scan_accept(&p->cursor, '('))
        return wfre_scan_expected(&p->cursor, "an opening bracket");
    if (wfre_scan_peek(&p->cursor) == '(')
        CHECK(parse_branches(p, depth, b));
    else
        CHECK(parse_anchor(p, b));
    (void)wfre_scan_accept(&p->cursor, ',');
    if (!wfre_scan_accept(&p->cursor, ')'))
        return wfre_scan_expected(&p->cursor, "a closing bracket");
    return WFRE_OK;
}

wfre_status wfre_betae_parse(wfre_arena *arena, const char *text, size_t length,
                             const wfre_node **tree, wfre_error *error)
{
    parser p = {.cursor = {text, length, 0, ",()", NULL, arena, error}};
    branch root = {NULL, 0};
    CHECK(parse_query(&p, 1, &root));
    (void)wfre_scan_peek(&p.cursor);
    if (p.cursor.at < length)
        return wfre_scan_expected(&p.cursor, "the end of the query");
    if (p.letters && !wfre_tree_is_type(root.node))
        return wfre_fail(error, WFRE_ERR_FORMAT, 0,
                         "letters and numbers are mixed; give all ids, or none (a query type)");
    *tree = root.node;
    return WFRE_OK;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void print_id(wfre_text *text, uint32_t id, char letter)
{
    if (id == WFRE_NONE)
        wfre_text_format(text, "'%c'", letter);
    else
        wfre_text_format(text, "%u", id);
}

/* The steps from `base` up to `node`, innermost first; returns how many. */
static unsigned print_steps(wfre_text *text, const wfre_node *node, const wfre_node *base,
                            bool is_type)
{
    if (node == base)
        return 0;
    unsigned before = print_steps(text, node->children[0], base, is_type);
    if (before > 0)
        wfre_text_char(text, ',');
    if (node->op == WFRE_OP_PROJECT)
        print_id(text, node->id, 'r');
    else
        wfre_text_add(text, is_type ? "'n'" : "-2");
    return before + 1;
}

static void print_query(wfre_text *text, const wfre_node *node, bool is_type)
{
    const wfre_node *base = node;
    while (base->op == WFRE_OP_PROJECT || base->op == WFRE_OP_NEGATE)
        base = base->children[0];
    bool anchor = base->op == WFRE_OP_ENTITY, path = anchor || base != node;
    if (path)
        wfre_text_char(text, '(');
    if (anchor) {
        print_id(text, base->id, 'e');
    } else {
        wfre_text_char(text, '(');
        for (uint32_t i = 0; i < base->child_count; i++) {
            if (i > 0)
                wfre_text_char(text, ',');
            print_query(text, base->children[i], is_type);
        }
        if (base->op == WFRE_OP_UNION)
            wfre_text_add(text, is_type ? ",('u',)" : ",(-1,)");
        wfre_text_char(text, ')');
    }
    if (path) {
        wfre_text_add(text, ",(");
        /* Python writes a tuple of one with a comma. */
        wfre_text_add(text, print_steps(text, node, base, is_type) == 1 ? ",))" : "))");
    }
}

void wfre_betae_print(wfre_text *text, const wfre_node *tree)
{
    print_query(text, tree, wfre_tree_is_type(tree));
}
