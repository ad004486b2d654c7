/* Operator trees as text: one function a rule.
 *
 *   tree = ( e ) | ( e , entity ) | ( p , tree ) | ( p , relation , tree )
 *        | ( n , tree ) | ( i , tree , tree ... ) | ( u , tree , tree ... )
 *
 * I and U are read as i and u. Either every e and p has its name, or none has: a query type. */
#include "base/scope.h"
#include "query/notation.h"
#include "query/scan.h"

typedef struct parser {
    wfre_cursor cursor;
    size_t nameless; /* offset of the first e or p without a name, or WFRE_NO_OFFSET */
    bool named;      /* some e or p has a name */
} parser;

static wfre_status parse_node(parser *p, unsigned depth, const wfre_node **node);

static void note_nameless(parser *p, size_t offset)
{
    if (p->nameless == WFRE_NO_OFFSET)
        p->nameless = offset;
}

static wfre_status parse_entity(parser *p, size_t begin, uint32_t *id)
{
    if (!wfre_scan_accept(&p->cursor, ',')) {
        note_nameless(p, begin);
        return WFRE_OK;
    }
    wfre_symbol symbol;
    wfre_status status = wfre_scan_symbol(&p->cursor, false, &symbol);
    p->named = true;
    return status == WFRE_OK ? wfre_resolve_entity(&p->cursor, &symbol, id) : status;
}

static wfre_status parse_relation(parser *p, size_t begin, uint32_t *id)
{
    if (wfre_scan_peek(&p->cursor) == '(') {
        note_nameless(p, begin);
        return WFRE_OK;
    }
    wfre_symbol symbol;
    CHECK(wfre_scan_symbol(&p->cursor, true, &symbol));
    CHECK(wfre_resolve_relation(&p->cursor, &symbol, id));
    CHECK(wfre_scan_expect(&p->cursor, ',', "a comma and the argument of the projection"));
    p->named = true;
    return WFRE_OK;
}

/* The arguments of p, n, i and u, commas between them. */
static wfre_status parse_children(parser *p, unsigned depth, wfre_op op, uint32_t id,
                                  const wfre_node **node)
{
    wfre_status status = WFRE_OK;
    const wfre_node **children = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    do {
        if (!WFRE_RESERVE(&children, &capacity, (size_t)count + 1)) {
            status = wfre_fail_memory(p->cursor.error, "reading a query");
            goto cleanup;
        }
        TRY(wfre_check_stop(p->cursor.error));
        TRY(parse_node(p, depth + 1, &children[count]));
        count++;
    } while ((op == WFRE_OP_INTERSECT || op == WFRE_OP_UNION) && wfre_scan_accept(&p->cursor, ','));
    if (count == 1 && (op == WFRE_OP_INTERSECT || op == WFRE_OP_UNION)) {
        status = wfre_scan_expected(&p->cursor, "a comma and a second argument");
        goto cleanup;
    }
    *node = wfre_node_make(p->cursor.arena, op, id, children, count);
    if (!*node)
        status = wfre_fail_memory(p->cursor.error, "reading a query");
cleanup:
    wfre_free(children);
    return status;
}

static wfre_status parse_op(parser *p, wfre_op *op)
{
    switch (wfre_scan_peek(&p->cursor)) {
    case 'e':
        *op = WFRE_OP_ENTITY;
        break;
    case 'p':
        *op = WFRE_OP_PROJECT;
        break;
    case 'i':
    case 'I':
        *op = WFRE_OP_INTERSECT;
        break;
    case 'u':
    case 'U':
        *op = WFRE_OP_UNION;
        break;
    case 'n':
        *op = WFRE_OP_NEGATE;
        break;
    default:
        return wfre_scan_expected(&p->cursor, "one of the operators e p i u n");
    }
    p->cursor.at++;
    return WFRE_OK;
}

static wfre_status parse_node(parser *p, unsigned depth, const wfre_node **node)
{
    wfre_op op = WFRE_OP_ENTITY;
    uint32_t id = WFRE_NONE;
    if (depth > WFRE_TREE_DEPTH)
        return wfre_fail(p->cursor.error, WFRE_ERR_FORMAT, p->cursor.at,
                         "the query is nested more than %d deep", WFRE_TREE_DEPTH);
    CHECK(wfre_scan_expect(&p->cursor, '(', "an opening bracket"));
    size_t begin = p->cursor.at - 1;
    CHECK(parse_op(p, &op));
    if (op == WFRE_OP_ENTITY) {
        CHECK(parse_entity(p, begin, &id));
        *node = wfre_node_entity(p->cursor.arena, id);
        if (!*node)
            return wfre_fail_memory(p->cursor.error, "reading a query");
    } else {
        CHECK(wfre_scan_expect(&p->cursor, ',', "a comma"));
        if (op == WFRE_OP_PROJECT)
            CHECK(parse_relation(p, begin, &id));
        CHECK(parse_children(p, depth, op, id, node));
    }
    return wfre_scan_expect(&p->cursor, ')', "a closing bracket");
}

wfre_status wfre_tree_parse(wfre_arena *arena, const wfre_graph *graph, const char *text,
                            size_t length, const wfre_node **tree, wfre_error *error)
{
    parser p = {
        .cursor = {text, length, 0, ",()", graph, arena, error},
        .nameless = WFRE_NO_OFFSET,
    };
    const wfre_node *root;
    CHECK(parse_node(&p, 1, &root));
    (void)wfre_scan_peek(&p.cursor);
    if (p.cursor.at < length)
        return wfre_scan_expected(&p.cursor, "the end of the query");
    if (p.named && p.nameless != WFRE_NO_OFFSET)
        return wfre_fail(error, WFRE_ERR_FORMAT, p.nameless,
                         "give every e and p a name, or none (a query type)");
    *tree = root;
    return WFRE_OK;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void print_node(wfre_text *text, const wfre_graph *graph, const wfre_node *node, bool multi)
{
    char letter = wfre_op_letter(node->op);
    wfre_text_char(text, '(');
    wfre_text_char(text, multi && node->child_count > 2 ? (char)(letter - 'a' + 'A') : letter);
    if (node->id != WFRE_NONE) {
        wfre_text_char(text, ',');
        if (node->op == WFRE_OP_ENTITY)
            wfre_print_entity(text, graph, node->id);
        else
            wfre_print_relation(text, graph, node->id);
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        wfre_text_char(text, ',');
        print_node(text, graph, node->children[i], multi);
    }
    wfre_text_char(text, ')');
}

void wfre_tree_print(wfre_text *text, const wfre_graph *graph, const wfre_node *tree)
{
    print_node(text, graph, tree, false);
}

void wfre_tree_print_multi(wfre_text *text, const wfre_graph *graph, const wfre_node *tree)
{
    print_node(text, graph, tree, true);
}
