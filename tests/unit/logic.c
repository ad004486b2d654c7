/* src/query: the logic notation, names in all notations, and which formulas are operator trees. */
#include "check.h"

#include "graph/graph.h"
#include "query/clause.h"
#include "query/notation.h"

/* ---- a graph whose names are awkward ------------------------------------------------------ */

static const char *const ENTITIES[] = {
    "Oscar",        "USA",      "New York", "O'Brien \"Bob\"", "Z\xC3\xBCrich", "#5",
    "?x",           "and",      "a,b",      "back\\s",         "tab\there",     "x^-1",
    "bad\xFF-byte", "dog.n.01", "Q90",      "Q167646",
};
static const char *const RELATIONS[] = {"award", "directed", "citizen", "born in", "r^-1", "not"};
enum {
    ENTITY_COUNT = sizeof ENTITIES / sizeof ENTITIES[0],
    RELATION_COUNT = sizeof RELATIONS / sizeof RELATIONS[0]
};

static wfre_graph *graph;

static int set_up(void **state)
{
    (void)state;
    wfre_graph_builder *builder;
    uint32_t id, relation;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (uint32_t i = 0; i < RELATION_COUNT; i++) {
        assert_ok(wfre_graph_builder_relation(builder, RELATIONS[i], strlen(RELATIONS[i]),
                                              &relation, error));
        assert_int_equal(relation, 2 * i);
    }
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        assert_ok(wfre_graph_builder_entity(builder, ENTITIES[i], strlen(ENTITIES[i]), &id, error));
        assert_int_equal(id, i);
        assert_ok(wfre_graph_builder_triple(builder, WFRE_TRAIN, id, 0, 0, error));
    }
    assert_ok(wfre_graph_builder_label(builder, 14, "Paris", 5, error));
    assert_ok(wfre_graph_builder_label(builder, 15, "Paris", 5, error));
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wfre_graph_close(graph);
    return 0;
}

/* ---- parsing and printing ----------------------------------------------------------------- */

static wfre_query *parse(const char *text)
{
    wfre_query *query = NULL;
    assert_ok(wfre_query_parse(graph, WFRE_NOTATION_AUTO, text, strlen(text), &query, error));
    return query;
}

static void expect_print(const char *text, wfre_notation notation, const char *expected)
{
    wfre_query *query = parse(text), *again;
    char *printed;
    assert_ok(wfre_query_print(query, graph, notation, &printed, error));
    assert_string_equal(printed, expected);
    again = parse(printed);
    if (notation == WFRE_NOTATION_LOGIC) {
        bool same;
        assert_ok(wfre_query_same_formula(query, again, &same, error));
        assert_true(same);
    } else {
        assert_true(wfre_node_equal(query->tree, again->tree));
    }
    wfre_string_free(printed);
    wfre_query_free(query);
    wfre_query_free(again);
}

static void test_printing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *printed; /* NULL: the same */
    } CASES[] = {
        {"?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)", NULL},
        {"?f: award(?d,Oscar) and directed ( ?d , ?f ) AND not citizen(?d,USA)",
         "?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)"},
        {"?f:award(?d,Oscar)\xE2\x88\xA7"
         "directed(?d,?f)&&\xC2\xAC"
         "citizen(?d,USA)",
         "?f : award(?d, Oscar) & directed(?d, ?f) & !citizen(?d, USA)"},
        {"?f : \xE2\x88\x83?d. award(?d, Oscar) \xE2\x88\xA8 directed(?d, ?f)",
         "?f : award(?d, Oscar) | directed(?d, ?f)"},
        {"?x : (award(?x, #0) & (award(?x, #1) & award(?x, #2))) | award(?x, USA)",
         "?x : award(?x, Oscar) & (award(?x, USA) & award(?x, \"New York\")) | award(?x, USA)"},
        {"?x : forall ?y. !award(?x, ?y) or citizen(?y, USA)",
         "?x : !(exists ?y. !(!award(?x, ?y) | citizen(?y, USA)))"},
        {"?x : award(?x, ?y) & !(exists ?y, ?z. award(?y, ?z) & award(?z, ?x))",
         "?x : award(?x, ?y) & !(exists ?y_2, ?z. award(?y_2, ?z) & award(?z, ?x))"},
        {"?x : exists ?y ?z. award(?z, ?x) & award(?y, ?x)",
         "?x : exists ?z. award(?z, ?x) & award(?y, ?x)"},
        {"?x : exists ?x : award(?x, Oscar)", "?x : award(?x_2, Oscar)"},
        {"?x : award^-1(Oscar, ?x) & #1(USA, ?x) & \"born in\"^-1(USA, ?x)",
         "?x : award(?x, Oscar) & award(?x, USA) & \"born in\"(?x, USA)"},
        {"?x : \"not\"(?x, \"and\") & 'r^-1'(?x, 'O\\'Brien \"Bob\"')",
         "?x : \"not\"(?x, \"and\") & \"r^-1\"(?x, \"O'Brien \\\"Bob\\\"\")"},
        {"?x : award(?x, Z\xC3\xBCrich) | award(?x, dog.n.01)", NULL},
        /* Equality, with a blank or without where a variable or ! stands between. */
        {"?x : ?x=USA | ?x!=?y | USA != ?x | Oscar = ?x",
         "?x : ?x = USA | ?x != ?y | USA != ?x | Oscar = ?x"},
        {"?x : !?x = USA & !!(?x = Oscar)", "?x : ?x != USA & !?x != Oscar"},
        /* None, one or several variables asked for; without a colon, all that nothing binds. */
        {"award(Oscar, USA)", NULL},
        {": award(Oscar, ?y)", NULL},
        {"exists ?y. award(Oscar, ?y)", ": award(Oscar, ?y)"},
        {": (award(Oscar, USA) | award(USA, USA)) & award(USA, Oscar)", NULL},
        {"!award(Oscar, USA)", NULL},
        {"?y, ?x : award(?x, ?y)", NULL},
        {"award(?x, ?y) & (exists ?y. award(?y, ?x))",
         "?x, ?y : award(?x, ?y) & (exists ?y_2. award(?y_2, ?x))"},
        {"(exists ?y. award(?y, Oscar)) & award(?x, Oscar)",
         "?x : (exists ?y. award(?y, Oscar)) & award(?x, Oscar)"},
        {"?x = USA", "?x : ?x = USA"},
        /* Variables for relations. */
        {"?r(Oscar, USA)", "?r : ?r(Oscar, USA)"},
        {"?r, ?y : ?r(Oscar, ?y) & !(exists ?s. ?s(?y, USA))", NULL},
        {"?x : ?r(?x, USA)", NULL},
        {"?x : award(?x, \"#5\") & award(?x, \"?x\") & award(?x, \"a,b\") & award(?x, "
         "\"back\\\\s\")"
         " & award(?x, \"tab\\x09here\") & award(?x, \"x^-1\") & award(?x, \"bad\\xFF-byte\")",
         NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        expect_print(CASES[i].text, WFRE_NOTATION_LOGIC,
                     CASES[i].printed ? CASES[i].printed : CASES[i].text);
}

static void test_names_in_trees(void **state)
{
    (void)state;
    for (uint32_t e = 0; e < ENTITY_COUNT; e++)
        for (uint32_t r = 0; r < 2 * RELATION_COUNT; r++) {
            wfre_arena arena = {0};
            wfre_text text = {0};
            const wfre_node *again,
                *tree = wfre_node_project(&arena, r, wfre_node_entity(&arena, e));
            wfre_tree_print(&text, graph, tree);
            assert_ok(wfre_tree_parse(&arena, graph, text.data, text.length, &again, error));
            assert_true(wfre_node_equal(tree, again));
            wfre_text_free(&text);
            wfre_arena_free(&arena);
        }
    expect_print("(p,#7,(e,#2))", WFRE_NOTATION_TREE, "(p,\"born in\"^-1,(e,\"New York\"))");
    expect_print("(p,#7,(e,#2))", WFRE_NOTATION_BETAE, "(2,(7,))");
    expect_print("((2,(7,)),(3,(5,-2)))", WFRE_NOTATION_LOGIC,
                 "?x : \"born in\"(?x, \"New York\") & !citizen(?x, \"O'Brien \\\"Bob\\\"\")");
}

/* ---- errors ------------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        const char *message;
    } CASES[] = {
        {"", 0, "expected the variable asked for"},
        {"? : award(?x, Oscar)", 2, "the name of the variable"},
        {"?x award(?x, Oscar)", 3, "a colon"},
        {"?x, award(?x, Oscar)", 4, "the variable asked for"},
        {"?x, ?x : award(?x, Oscar)", 4, "asked for twice"},
        {"?x : ?x", 7, "= or !="},
        {"?x : ?x = ", 10, "expected an entity"},
        {"?x : ?x = Oscr", 10, "the nearest: Oscar"},
        {"?x : ?x(Oscar, USA) & ?x = USA", 22, "?x cannot stand for an entity and for a relation"},
        {"?x : award^-1 = ?x", 14, "an opening bracket"},
        {"?x : ", 5, "expected a relation, but the query ends here"},
        {"?x : award", 10, "an opening bracket"},
        {"?x : award(?x)", 13, "second term"},
        {"?x : award(?x, Oscar, USA)", 20, "two terms"},
        {"?x : award(?x, Oscar) award(?x, USA)", 22, "& or | or the end"},
        {"?x : (award(?x, Oscar)", 22, "closing bracket"},
        {"?x : award(?x, Oscar) &", 23, "expected a relation"},
        {"?x : exists y. award(?x, ?y)", 12, "a variable, such as ?y"},
        {"?x : award(?x, Oscr)", 15, "no entity is called Oscr; the nearest: Oscar"},
        {"?x : award(?x, Osacr)", 15, "no entity is called Osacr; the nearest: Oscar"},
        {"?x : awards(?x, Oscar)", 5, "no relation is called awards; the nearest: award"},
        {"?x : award(?x, dog)", 15, "the nearest: dog.n.01"},
        {"?x : award(?x, \"new_yorq\")", 15, "the nearest: \"New York\""},
        {"?x : award(?x, Paris)", 15,
         "several entities are labelled Paris; use a name: Q90, Q167646"},
        {"?x : award(?x, zzzzzz)", 15, "no entity is called zzzzzz"},
        {"?x : award(?x, 'zzz\nzzz')", 15, "no entity is called \"zzz\\x0Azzz\""},
        {"?x : award(?x, #16)", 15, "the graph has 16 entities; ids go from #0 to #15"},
        {"?x : #12(?x, Oscar)", 5, "the graph has 12 relations with inverses"},
        {"(p,#12,(e,#1))", 3, "the graph has 12 relations with inverses"},
        {"(1,(12,))", WFRE_NO_OFFSET, "relation #12 is not in the graph"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_query *query;
        wfre_error error;
        wfre_status status = wfre_query_parse(graph, WFRE_NOTATION_AUTO, CASES[i].text,
                                              strlen(CASES[i].text), &query, &error);
        if (status == WFRE_OK)
            fail_msg("%s is accepted", CASES[i].text);
        if (error.offset != CASES[i].offset || !strstr(error.message, CASES[i].message))
            fail_msg("%s: at %zu: %s", CASES[i].text, error.offset, error.message);
    }
}

/* Repeats `before`, a number, `behind` very often. */
static void expect_refused(const char *before, const char *behind, const char *message)
{
    wfre_text text = {0};
    wfre_text_add(&text, "?x : ");
    for (int i = 0; i < 100000; i++) {
        wfre_text_add(&text, before);
        if (behind)
            wfre_text_format(&text, "%d%s", i, behind);
    }
    wfre_query *query;
    wfre_error error;
    assert_int_equal(
        wfre_query_parse(graph, WFRE_NOTATION_AUTO, text.data, text.length, &query, &error),
        WFRE_ERR_FORMAT);
    assert_non_null(strstr(error.message, message));
    wfre_text_free(&text);
}

static void test_limits(void **state)
{
    (void)state;
    expect_refused("(", NULL, "deep");
    expect_refused("!", NULL, "deep");
    expect_refused("exists ?y. ", NULL, "deep");
    expect_refused("forall ?y", " (", "deep");
    expect_refused("award(?y", ", ?x) & ", "variables");
}

/* ---- operator trees ----------------------------------------------------------------------- */

static void test_trees(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *tree; /* or why there is none */
    } CASES[] = {
        {"?x : #0(?x, #1)", "(p,#1,(e,#1))"},
        {"?x : #0(#1, ?x)", "(p,#0,(e,#1))"},
        {"?f : #0(?d, #0) & #2(?d, ?f) & !#4(?d, #1)",
         "(p,#2,(i,(p,#1,(e,#0)),(n,(p,#5,(e,#1)))))"},
        /* Negation of what hangs on x, and of an atom whose variable is bound outside. */
        {"?x : !(exists ?y. #0(?x, ?y) & #2(?y, #3))", "(n,(p,#1,(p,#3,(e,#3))))"},
        {"?x : !(#0(?x, ?y) & #2(?y, #3))", "a negated atom joins ?x and ?y"},
        {"?x : #4(?x, #0) & !#0(?x, ?y) & #2(?y, #3)", "a negated atom joins ?x and ?y"},
        {"?x : forall ?y. !#0(?x, ?y) | !#2(?y, #3)", "(n,(p,#1,(p,#3,(e,#3))))"},
        /* Shapes are kept. */
        {"?x : (#0(?x, #1) & #0(?x, #2)) & #0(?x, #3)",
         "(i,(i,(p,#1,(e,#1)),(p,#1,(e,#2))),(p,#1,(e,#3)))"},
        {"?x : !!#0(?x, #1)", "(n,(n,(p,#1,(e,#1))))"},
        {"?x : #0(?y, ?x) & (#2(?y, #1) | #2(?y, #2))", "(p,#0,(u,(p,#3,(e,#1)),(p,#3,(e,#2))))"},
        /* A quantifier over a disjunction, and conditions on x inside it. */
        {"?x : #0(?y, ?x) & #2(?y, #1) | #2(?y, ?x) & #4(?y, #2)",
         "(u,(p,#0,(p,#3,(e,#1))),(p,#2,(p,#5,(e,#2))))"},
        {"?x : exists ?y. #4(?x, #7) & #0(?y, ?x) & #2(?y, #1)",
         "(i,(p,#5,(e,#7)),(p,#0,(p,#3,(e,#1))))"},
        {"?x : exists ?y. !(#4(?x, #7) | !(#0(?y, ?x) & #2(?y, #1)))",
         "(i,(n,(p,#5,(e,#7))),(p,#0,(p,#3,(e,#1))))"},
        {"?x : exists ?y. #0(?x, #1)", "(p,#1,(e,#1))"},
        /* What is not a tree. */
        {"?x : #0(?x, ?y) & #2(?x, ?y)", "two atoms join ?x and ?y"},
        {"?x : #0(?x, ?y) & #0(?y, ?z) & #0(?z, ?x)", "?z and ?x lie on a cycle"},
        {"?x : #0(?x, ?x)", "an atom joins ?x with itself"},
        {"?x : #0(?x, ?y)", "nothing ties ?y to an entity"},
        {"?x : #0(?x, #1) & #0(?y, #2)", "?y is not joined to ?x"},
        {"?x : #0(#1, #2)", "an atom without a variable is not a set of entities"},
        {"?x : #0(?x, #1) & #0(?x, ?y) & #0(#1, #2)", "a part of it depends on no variable"},
        {"?x : #0(?y, #1)", "?y is not joined to ?x"},
        {"?x : exists ?x. #0(?x, #1)", "?x_2 is not joined to ?x"},
        {"?x : #0(?y, ?x) & ?y = #1", "(p,#0,(e,#1))"},
        {"?x : #0(?y, ?x) & ?y != #1", "(p,#0,(n,(e,#1)))"},
        {"?x : #0(?y, ?x) & ?y = ?x", "an equality joins ?y and ?x"},
        {"?x : #0(?x, #1) & ?x = ?x", "an atom joins ?x with itself"},
        {"#0(#1, #2)", "it asks for no variable"},
        {"#0(?x, ?y)", "it asks for 2 variables"},
        {"?x : ?r(?x, #2)", "?r stands for a relation"},
        {"?x : #0(?x, #1) & (exists ?y. #0(?y, #1))", "?y is not joined to ?x"},
        {"?x : #0(?x, ?y) & #2(?y, #1) & !(exists ?z. #0(?x, ?z) & #2(?z, ?y))",
         "a negated part has more than one variable free"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_query *query = parse(CASES[i].text);
        wfre_text text = {0};
        if (query->tree)
            wfre_tree_print(&text, NULL, query->tree);
        else
            wfre_text_add(&text, wfre_query_not_a_tree(query));
        if (CASES[i].tree[0] == '(' ? strcmp(text.data, CASES[i].tree) != 0
                                    : !strstr(text.data, CASES[i].tree))
            fail_msg("%s: %s", CASES[i].text, text.data);
        char *ignored = NULL;
        wfre_status status = wfre_query_type(query, &ignored, NULL);
        assert_int_equal(status, query->tree ? WFRE_OK : WFRE_ERR_UNSUPPORTED);
        wfre_string_free(ignored);
        wfre_text_free(&text);
        wfre_query_free(query);
    }
}

/* (a1 | b1) & (a2 | b2) & ... over two variables has 2^40 clauses. */
static void test_blow_up(void **state)
{
    (void)state;
    wfre_text text = {0};
    wfre_text_add(&text, "?x : #0(?x, ?y)");
    for (int i = 0; i < 40; i++)
        wfre_text_add(&text, " & (#0(?x, #1) | #2(?y, #2))");
    wfre_query *query = parse(text.data);
    assert_null(query->tree);
    assert_non_null(strstr(wfre_query_not_a_tree(query), WFRE_CLAUSES_TOO_LARGE));
    wfre_query_free(query);
    wfre_text_free(&text);
}

/* Each (p,#0,(p,..)) needs a variable; logic has 1,023 besides the one asked for. */
static void test_many_variables(void **state)
{
    (void)state;
    for (int count = 1023; count <= 1024; count++) {
        wfre_text text = {0};
        char *logic = NULL;
        wfre_error why;
        wfre_text_add(&text, "(u");
        for (int i = 0; i < count; i++)
            wfre_text_add(&text, ",(p,#0,(p,#1,(e,#2)))");
        wfre_text_char(&text, ')');
        wfre_query *query = parse(text.data);
        wfre_status status = wfre_query_print(query, NULL, WFRE_NOTATION_LOGIC, &logic, &why);
        if (count == 1023) {
            assert_int_equal(status, WFRE_OK);
            wfre_query_free(parse(logic));
        } else {
            assert_int_equal(status, WFRE_ERR_UNSUPPORTED);
            assert_non_null(strstr(why.message, "variables"));
        }
        wfre_string_free(logic);
        wfre_query_free(query);
        wfre_text_free(&text);
    }
}

/* A query type has no names; an entity that no projection starts from is an equality. */
static void test_without_formula(void **state)
{
    (void)state;
    wfre_query *query = parse("(p,(e))");
    char *text;
    assert_null(query->formula);
    assert_int_equal(wfre_query_print(query, graph, WFRE_NOTATION_LOGIC, &text, NULL),
                     WFRE_ERR_UNSUPPORTED);
    wfre_query_free(query);
    expect_print("(e,#1)", WFRE_NOTATION_LOGIC, "?x : ?x = USA");
    expect_print("?x : ?x = #1", WFRE_NOTATION_TREE, "(e,USA)");
    expect_print("(p,#0,(u,(e,#1),(n,(e,#0))))", WFRE_NOTATION_LOGIC,
                 "?x : award(?y1, ?x) & (?y1 = USA | ?y1 != Oscar)");
}

static void test_nearest(void **state)
{
    (void)state;
    wfre_entity ids[WFRE_NEAREST];
    assert_int_equal(wfre_nearest_entities(graph, "oscar", 5, ids, 1), 1);
    assert_int_equal(ids[0], 0);
    assert_int_equal(wfre_nearest_entities(graph, "york", 4, ids, 8), 1);
    assert_int_equal(ids[0], 2);
    assert_int_equal(wfre_nearest_entities(graph, "oscar", 5, ids, 0), 0);
    assert_int_equal(wfre_nearest_entities(graph, "", 0, ids, 8), 0);
    assert_int_equal(wfre_nearest_relations(graph, "born", 4, ids, 8), 1);
    assert_int_equal(ids[0], 6);
    /* Longer than a machine word has bits. */
    char longer[300];
    memset(longer, 'x', sizeof longer);
    assert_int_equal(wfre_nearest_entities(graph, longer, sizeof longer, ids, 8), 0);
}

/* ---- building ----------------------------------------------------------------------------- */

static wfre_query_builder *new_builder(void)
{
    wfre_query_builder *builder;
    assert_ok(wfre_query_builder_create(graph, &builder, error));
    return builder;
}

/* A part and a variable used twice, quantifiers that hide one another, and what nothing binds. */
static void test_building(void **state)
{
    (void)state;
    wfre_query_builder *b = new_builder();
    wfre_term x = wfre_build_variable(b, "x"), y = wfre_build_variable(b, NULL);
    const wfre_formula *won = wfre_build_atom(b, 0, x, wfre_term_entity(0));
    const wfre_formula *parts[] = {won, wfre_build_exists(b, x, won),
                                   wfre_build_not(b, wfre_build_equal(b, y, x)),
                                   wfre_build_atom(b, 3, x, y)};
    wfre_query *query, *other;
    char *text;
    assert_ok(wfre_build_query(b, &x, 1, wfre_build_and(b, parts, 4), &query, error));
    assert_ok(wfre_build_query(b, NULL, 0, wfre_build_or(b, parts, 1), &other, error));
    wfre_query_builder_free(b);
    assert_ok(wfre_query_print(query, graph, WFRE_NOTATION_LOGIC, &text, error));
    assert_string_equal(text, "?x : award(?x, Oscar) & (exists ?x_2. award(?x_2, Oscar)) & "
                              "?v2 != ?x & directed(?v2, ?x)");
    wfre_string_free(text);
    assert_ok(wfre_query_print(other, graph, WFRE_NOTATION_LOGIC, &text, error));
    assert_string_equal(text, ": award(?x, Oscar)");
    wfre_string_free(text);
    wfre_query_free(query);
    wfre_query_free(other);
    wfre_query_builder_free(NULL);
}

typedef const wfre_formula *(*misuse)(wfre_query_builder *b, wfre_term x);

static const wfre_formula *unknown_entity(wfre_query_builder *b, wfre_term x)
{
    return wfre_build_atom(b, 0, x, wfre_term_entity(ENTITY_COUNT));
}

static const wfre_formula *unknown_relation(wfre_query_builder *b, wfre_term x)
{
    return wfre_build_atom(b, 2 * RELATION_COUNT, x, x);
}

static const wfre_formula *foreign_variable(wfre_query_builder *b, wfre_term x)
{
    x.id++;
    return wfre_build_equal(b, x, x);
}

static const wfre_formula *missing_part(wfre_query_builder *b, wfre_term x)
{
    (void)x;
    return wfre_build_not(b, NULL);
}

static const wfre_formula *no_parts(wfre_query_builder *b, wfre_term x)
{
    (void)x;
    return wfre_build_and(b, NULL, 0);
}

static const wfre_formula *bound_entity(wfre_query_builder *b, wfre_term x)
{
    return wfre_build_exists(b, wfre_term_entity(1), wfre_build_equal(b, x, x));
}

static const wfre_formula *two_kinds(wfre_query_builder *b, wfre_term x)
{
    return wfre_build_link(b, x, x, wfre_term_entity(1));
}

static const wfre_formula *bad_name(wfre_query_builder *b, wfre_term x)
{
    (void)x;
    wfre_term y = wfre_build_variable(b, "a b");
    return wfre_build_equal(b, y, y);
}

static const wfre_formula *too_deep(wfre_query_builder *b, wfre_term x)
{
    const wfre_formula *formula = wfre_build_equal(b, x, x);
    for (int i = 0; i < 100000; i++)
        formula = wfre_build_not(b, formula);
    return formula;
}

static const wfre_formula *too_many(wfre_query_builder *b, wfre_term x)
{
    const wfre_formula *formula = wfre_build_equal(b, x, x);
    for (int i = 0; i < 100; i++)
        formula = wfre_build_and(b, (const wfre_formula *[]){formula, formula}, 2);
    return formula;
}

static const wfre_formula *too_many_variables(wfre_query_builder *b, wfre_term x)
{
    const wfre_formula *formula = wfre_build_exists(b, x, wfre_build_equal(b, x, x));
    for (int i = 0; i < 11; i++)
        formula = wfre_build_and(b, (const wfre_formula *[]){formula, formula}, 2);
    return formula;
}

static void test_misuse(void **state)
{
    static const struct {
        misuse build;
        const char *message;
    } CASES[] = {
        {unknown_entity, "entity #16 is not in the graph"},
        {unknown_relation, "relation #12 is not in the graph"},
        {foreign_variable, "no variable with number 1"},
        {missing_part, "a part of the query is missing"},
        {no_parts, "from 1 to"},
        {bound_entity, "stands where a variable belongs"},
        {two_kinds, "cannot stand for an entity and for a relation"},
        {bad_name, "letters, digits and _"},
        {too_deep, "deep"},
        {too_many, "parts, written out"},
        {too_many_variables, "more than 1024 variables"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        wfre_query_builder *b = new_builder();
        wfre_term x = wfre_build_variable(b, "x");
        const wfre_formula *formula = CASES[i].build(b, x);
        for (int again = 0; again < 2; again++) {
            wfre_query *query = NULL;
            wfre_error why;
            assert_int_equal(wfre_build_query(b, &x, 1, formula, &query, &why), WFRE_ERR_ARGUMENT);
            assert_null(query);
            if (!strstr(why.message, CASES[i].message))
                fail_msg("%s instead of %s", why.message, CASES[i].message);
        }
        wfre_query_builder_free(b);
    }
    wfre_query_builder *b = new_builder();
    wfre_term x = wfre_build_variable(b, "x");
    wfre_query *query;
    assert_int_equal(
        wfre_build_query(b, (wfre_term[]){x, x}, 2, wfre_build_equal(b, x, x), &query, NULL),
        WFRE_ERR_ARGUMENT);
    wfre_query_builder_free(b);
}

static wfre_status build(void *context)
{
    (void)context;
    wfre_status status;
    wfre_query_builder *b = NULL;
    wfre_query *query = NULL;
    TRY(wfre_query_builder_create(graph, &b, NULL));
    wfre_term x = wfre_build_variable(b, "x"), r = wfre_build_variable(b, NULL);
    const wfre_formula *either[] = {wfre_build_link(b, r, x, wfre_term_entity(1)),
                                    wfre_build_exists(b, x, wfre_build_atom(b, 2, x, x)),
                                    wfre_build_not(b, wfre_build_equal(b, x, x))};
    TRY(wfre_build_query(b, &x, 1, wfre_build_or(b, either, 3), &query, NULL));
cleanup:
    wfre_query_free(query);
    wfre_query_builder_free(b);
    return status;
}

static wfre_status parse_and_print(void *context)
{
    const char *text = context;
    wfre_query *query = NULL;
    char *printed = NULL;
    wfre_status status;
    TRY(wfre_query_parse(graph, WFRE_NOTATION_AUTO, text, strlen(text), &query, NULL));
    TRY(wfre_query_print(query, graph, WFRE_NOTATION_LOGIC, &printed, NULL));
cleanup:
    wfre_string_free(printed);
    wfre_query_free(query);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    sweep_allocations(parse_and_print,
                      "?x : award(?y, ?x) & (citizen(?y, \"USA\") | citizen(?x, USA) | directed(?y,"
                      " ?z)) & citizen(?z, USA) & exists ?y. directed(?y, ?x) & award(?y, Oscar)");
    sweep_allocations(parse_and_print, "?r(?x, Oscar) & ?x != USA & (exists ?y. ?y = ?x)");
    sweep_allocations(build, NULL);
    sweep_allocations(parse_and_print,
                      "(u,(p,#2,(i,(p,#0,(e,#1)),(n,(p,#1,(e,#2))))),(p,#0,(e,#1)))");
}

/* Long questions are read within a time limit, and until somebody wants to stop. */
static void test_time_limits(void **state)
{
    (void)state;
    enum { ATOMS = 300000 };
    static const char *const PARTS[][3] = {
        {"?x : ", "#0(#1, ?x)", " | "}, {"(u,", "(p,#0,(e,#1))", ","}, {"(", "(1,(0,))", ","}};
    static const char *const ENDS[] = {"", ")", ",(-1,))"};
    wfre_cancel *cancel;
    wfre_query *query;
    assert_ok(wfre_cancel_create(&cancel, error));
    for (int notation = 0; notation < 3; notation++) {
        wfre_text text = {0};
        wfre_text_add(&text, PARTS[notation][0]);
        for (int i = 0; i < ATOMS; i++) {
            wfre_text_add(&text, i ? PARTS[notation][2] : "");
            wfre_text_add(&text, PARTS[notation][1]);
        }
        wfre_text_add(&text, ENDS[notation]);
        wfre_notation kind = (wfre_notation)(WFRE_NOTATION_LOGIC + notation);
        assert_int_equal(
            wfre_query_parse_within(NULL, kind, text.data, text.length, 1e-4, NULL, &query, NULL),
            WFRE_ERR_TIMEOUT);
        wfre_cancel_now(cancel);
        assert_int_equal(
            wfre_query_parse_within(NULL, kind, text.data, text.length, 0, cancel, &query, NULL),
            WFRE_ERR_INTERRUPTED);
        wfre_cancel_reset(cancel);
        assert_ok(wfre_query_parse_within(NULL, kind, text.data, text.length, 600, cancel, &query,
                                          error));
        wfre_query_free(query);
        wfre_text_free(&text);
    }
    wfre_cancel_free(cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_limits),    cmocka_unit_test(test_printing),
        cmocka_unit_test(test_names_in_trees), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_trees),
        cmocka_unit_test(test_blow_up),        cmocka_unit_test(test_without_formula),
        cmocka_unit_test(test_many_variables), cmocka_unit_test(test_building),
        cmocka_unit_test(test_misuse),         cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
