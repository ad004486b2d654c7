/* SPARQL under limits: whatever a query is made for, time and memory end it soon, with a message.
 */
#include "check.h"

#include <time.h>

#include "sparql_view.h"

enum { NODES = 20000 };

static const double LIMIT = 0.05;
/* Seconds of CPU beyond the limit, reading the query included; a sanitizer makes all slower. */
static const double GRACE = 0.5;

static wfre_name name_of(int number, char text[16])
{
    return (wfre_name){text, (size_t)snprintf(text, 16, "n%d", number)};
}

static int set_up(void **state)
{
    static char texts[NODES + 1][16];
    static wfre_named_triple triples[2 * NODES + 1];
    const size_t counts[WFRE_SPLITS] = {2 * NODES + 1, 0, 0};
    for (int i = 0; i < NODES; i++)
        (void)name_of(i, texts[i]);
    for (int i = 0; i < NODES; i++) {
        wfre_name from = {texts[i], strlen(texts[i])};
        int to = (i * 7 + 1) % NODES, near = i / 2;
        triples[2 * i] = (wfre_named_triple){from, {"p", 1}, {texts[to], strlen(texts[to])}};
        triples[2 * i + 1] =
            (wfre_named_triple){from, {"q", 1}, {texts[near], strlen(texts[near])}};
    }
    triples[2 * NODES] = (wfre_named_triple){{"n0", 2}, {"l", 1}, {"n0", 2}};
    assert_ok(wfre_import_triples(triples, counts, NULL, NULL, &graph, NULL, error));
    return set_up_view(state);
}

static wfre_status nowhere(void *context, const char *bytes, size_t length, wfre_error *error)
{
    (void)context, (void)bytes, (void)length, (void)error;
    return WFRE_OK;
}

/* ---- queries ------------------------------------------------------------------------------ */

/* A query with its repetitions written out: "~N TEXT~" is the text N times, # in it its number. */
static char *write_out(const char *text)
{
    size_t length = 0, room = 1 << 22;
    char *query = malloc(room);
    assert_non_null(query);
    while (*text) {
        if (*text != '~') {
            query[length++] = *text++;
            continue;
        }
        char *body;
        long count = strtol(text + 1, &body, 10);
        const char *end = strchr(body, '~');
        for (long k = 0; k < count; k++)
            for (const char *c = body + 1; c < end; c++) {
                assert_true(length + 32 < room);
                if (*c == '#')
                    length += (size_t)snprintf(query + length, 16, "%ld", k);
                else
                    query[length++] = *c;
            }
        text = end + 1;
    }
    query[length] = '\0';
    return query;
}

/* Runs a query and returns what came of it; *seconds of CPU. */
static wfre_status attempt(const char *text, const wfre_sparql_limits *limits, double *seconds,
                           wfre_error *problem)
{
    static const char PREFIXES[] = "PREFIX r: <urn:wfre:r:> PREFIX e: <urn:wfre:e:> ";
    const wfre_sparql_run_options options = {.limits = *limits};
    const wfre_sparql_output output = {.write = nowhere};
    wfre_sparql *query = NULL;
    char *body = write_out(text), *whole = malloc(sizeof PREFIXES + strlen(body));
    assert_non_null(whole);
    (void)strcpy(whole, PREFIXES);
    (void)strcat(whole, body);
    clock_t begin = clock();
    wfre_status status = wfre_sparql_parse(whole, strlen(whole), NULL, &query, problem);
    if (status == WFRE_OK) {
        wfre_sparql_form form = wfre_sparql_get_form(query);
        status = wfre_sparql_write(query, view, &options,
                                   form == WFRE_SPARQL_CONSTRUCT || form == WFRE_SPARQL_DESCRIBE
                                       ? WFRE_SPARQL_NT
                                       : WFRE_SPARQL_JSON,
                                   &output, NULL, problem);
    }
    *seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    wfre_sparql_free(query);
    free(whole);
    free(body);
    return status;
}

static void test_time(void **state)
{
    (void)state;
    static const char *const QUERIES[] = {
        /* products, and what keeps their rows */
        "SELECT (COUNT(*) AS ?n) { ?a r:p ?b . ?c r:p ?d . ?e r:p ?f }",
        "SELECT ?a ?c { ?a r:p ?b . ?c r:p ?d } ORDER BY ?d ?b",
        "SELECT ?a ?c { ?a r:p ?b . ?c r:p ?d } ORDER BY ?d ?b LIMIT 3000000",
        "SELECT DISTINCT ?a ?c { ?a r:p ?b . ?c r:p ?d }",
        "SELECT ?a ?c (COUNT(*) AS ?n) { ?a r:p ?b . ?c r:p ?d } GROUP BY ?a ?c",
        "SELECT (COUNT(DISTINCT *) AS ?n) { ?a r:p ?b . ?c r:p ?d }",
        "SELECT (SUM(STRLEN(STR(?a))) AS ?n) { ?a r:p ?b . ?c r:p ?d }",
        "SELECT * { ?a r:p ?b { SELECT ?c { ?c r:p ?d } ORDER BY ?d LIMIT 9999 } { SELECT ?e { ?e "
        "r:p ?f } ORDER BY ?f LIMIT 9999 } }",
        "SELECT (COUNT(*) AS ?n) { VALUES ?a { ~2000 # ~ } VALUES ?b { ~2000 # ~ } VALUES ?c { "
        "~2000 # ~ } }",
        /* negation */
        "SELECT (COUNT(*) AS ?n) { ?a r:p ?b FILTER NOT EXISTS { ?c r:p ?d . ?e r:p ?f FILTER (?d "
        "= ?f && ?d = 1) } }",
        "SELECT (COUNT(*) AS ?n) { ?a r:p ?b . ?c r:p ?d MINUS { ?a r:p ?e . ?f r:p ?d } }",
        "SELECT (COUNT(*) AS ?n) { VALUES (~1500 ?v#~) { (~1500 UNDEF ~) } ?a r:p ?b MINUS { "
        "VALUES (~1500 ?v#~) { (~1500 1 ~) (~1500 2 ~) } } }",
        "SELECT (COUNT(*) AS ?n) { ?a r:p ?b FILTER (STR(?a) IN (~30000 \"z#\", ~1)) }",
        /* paths */
        "SELECT (COUNT(*) AS ?n) { ?a r:p* ?b }",
        "SELECT (COUNT(*) AS ?n) { ?a ((r:p*)*/(^r:p*)*)* ?b }",
        "SELECT (COUNT(*) AS ?n) { ?a !(~9999 r:x#|~r:y) ?b . ?b !(r:z) ?c . ?d !(r:z) ?e }",
        "SELECT (COUNT(*) AS ?n) { ?a (~30000 r:l|~r:l)* ?b . ?c r:p* ?d }",
        /* long texts */
        "SELECT ?a { ?a r:p ?b FILTER REGEX(\"~200000 a~\", \"(a?){900}a{900}b\") }",
        "SELECT ?a { ?a r:p ?b FILTER REGEX(STR(?a), CONCAT(\"(a|b|c){1,900}\", STR(?b))) }",
        "SELECT ?a { ?a r:p ?b FILTER REGEX(\"~200000 a~\", \"^([~20000 bcdefg~]|.)*$\") }",
        "SELECT (STRLEN(REPLACE(\"~200000 a~\", \"a\", \"~200000 b~\")) AS ?n) {}",
        "SELECT (STRLEN(REPLACE(\"~200000 a~\", \"a+\", \"~99999 $0~\")) AS ?n) {}",
        "SELECT ?a { ?a r:p ?b FILTER (MD5(CONCAT(\"~200000 a~\", STR(?a))) = \"x\") }",
        "SELECT ?a { ?a r:p ?b FILTER (SHA512(CONCAT(\"~200000 a~\", STR(?a))) = \"x\") }",
        "SELECT ?a { ?a r:p ?b FILTER (UCASE(CONCAT(\"~200000 a~\", STR(?a))) = \"x\") }",
        "SELECT ?a { ?a r:p ?b FILTER (ENCODE_FOR_URI(CONCAT(\"~200000 a~\", STR(?a))) = \"x\") }",
        "SELECT ?a { ?a r:p ?b . ?c r:p ?d FILTER (STRLEN(\"~200000 a~\") = 3) }",
        "SELECT ?a { ?a r:p ?b . ?c r:p ?d FILTER (SUBSTR(\"~200000 a~\", 190000) = \"b\") }",
        "SELECT ?a { ?a r:p ?b FILTER CONTAINS(\"~200000 a~\", \"~100000 a~b\") }",
        "SELECT ?a { ?a r:p ?b FILTER (CONCAT(\"~200000 a~\", STR(?a)) < \"~200000 a~b\") }",
        "SELECT ?a { ?a r:p ?b } ORDER BY CONCAT(\"~9000 a~\", STR(?b))",
        "SELECT (CONCAT(\"~200000 a~\", STR(?a)) AS ?t) ?b { ?a r:p ?b }",
        "SELECT (GROUP_CONCAT(?a; separator=\"~200000 a~\") AS ?t) { ?a r:p ?b }",
        /* graphs */
        "CONSTRUCT { ~9000 ?a r:x# ?b .~ } WHERE { ?a r:p ?b }",
        "CONSTRUCT { ~3000 [] r:x ?a .~ } WHERE { ?a r:p ?b . ?c r:p ?d }",
        "DESCRIBE * { ?a r:p ?b . ?c r:p ?d }",
        /* much to plan */
        "ASK { ~20000 e:n0 r:l e:n0 .~ ?a r:p ?b . ?c r:p ?d . ?e r:p ?f FILTER (?a = 1) }",
        "SELECT * { ~9000 { ?a r:p ?b . ?c r:p ?d } UNION ~ { ?a r:q ?b } }",
        "SELECT * { ?a r:p ?b . ?c r:p ?d ~9000 FILTER (?a != ?c) ~ }",
    };
    const wfre_sparql_limits limits = {.timeout = LIMIT};
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++) {
        double seconds;
        wfre_error problem = {0};
        wfre_status status = attempt(QUERIES[i], &limits, &seconds, &problem);
        if (status != WFRE_ERR_TIMEOUT && status != WFRE_ERR_MEMORY)
            fail_msg("%s: %d, %s", QUERIES[i], (int)status, problem.message);
        if (seconds > LIMIT + GRACE)
            fail_msg("%s: %.3f s", QUERIES[i], seconds);
    }
}

static void test_memory(void **state)
{
    (void)state;
    static const char *const QUERIES[] = {
        "SELECT ?a ?c { ?a r:p ?b . ?c r:p ?d } ORDER BY ?d ?b",
        "SELECT DISTINCT ?a ?c { ?a r:p ?b . ?c r:p ?d }",
        "SELECT ?a ?c (COUNT(*) AS ?n) { ?a r:p ?b . ?c r:p ?d } GROUP BY ?a ?c",
        "SELECT (COUNT(DISTINCT *) AS ?n) { ?a r:p ?b . ?c r:p ?d }",
        "SELECT (GROUP_CONCAT(?a; separator=\"~200000 a~\") AS ?t) { ?a r:p ?b }",
        "SELECT (STRLEN(REPLACE(\"~200000 a~\", \"a\", \"~200000 b~\")) AS ?n) {}",
        "SELECT (STRLEN(REPLACE(\"~200000 a~\", \"a+\", \"~99999 $0~\")) AS ?n) {}",
        "SELECT (STRLEN(CONCAT(~2000 ?t, ~\"\")) AS ?n) { BIND (\"~20000 a~\" AS ?t) }",
        "SELECT (STRLEN(?t) AS ?n) { ?a r:p ?b BIND (CONCAT(\"~20000 a~\", STR(?a)) AS ?t) }",
        "CONSTRUCT { [] r:x ?a } WHERE { ?a r:p ?b . ?c r:p ?d }",
    };
    const wfre_sparql_limits limits = {.memory = 16 << 20, .timeout = 300};
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++) {
        double seconds;
        wfre_error problem = {0};
        wfre_status status = attempt(QUERIES[i], &limits, &seconds, &problem);
        if (status != WFRE_ERR_MEMORY || !strstr(problem.message, "more than 16 MB"))
            fail_msg("%s: %d, %s", QUERIES[i], (int)status, problem.message);
    }
}

/* EXISTS does not keep what its expressions made. */
static void test_exists(void **state)
{
    (void)state;
    static const char QUERY[] =
        "ASK { FILTER NOT EXISTS { ?a r:p ?b FILTER (CONCAT(\"~9000 a~\", STR(?a)) = \"x\") } }";
    const wfre_sparql_limits limits = {.memory = 16 << 20};
    double seconds;
    assert_ok(attempt(QUERY, &limits, &seconds, error));
}

/* What would take the stack is refused. */
static void test_depth(void **state)
{
    (void)state;
    static const char *const QUERIES[] = {
        "ASK { ?a (~30000 r:l/~r:l)+ ?b }",
        "ASK { ?a (~9000 (r:l/r:l)/~r:l)+ ?b }",
        "ASK { ?a (~500 r:l/~r:l)+ ?b . ?b (~600 r:l/~r:l)+ ?c }",
        "ASK { ?a ~9000 (~r:l~9000 )*~ ?b }",
        "ASK { ~9000 { ~?a r:l ?b~9000 }~ }",
        "ASK { FILTER (~9000 (~1~9000 )~) }",
        "ASK { FILTER (~9000 !~true) }",
        "ASK { ~9000 OPTIONAL { ?a r:l ?b } ~ }",
    };
    const wfre_sparql_limits limits = {0};
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++) {
        double seconds;
        wfre_error problem = {0};
        wfre_status status = attempt(QUERIES[i], &limits, &seconds, &problem);
        if (status != WFRE_ERR_FORMAT && status != WFRE_ERR_UNSUPPORTED)
            fail_msg("%s: %d, %s", QUERIES[i], (int)status, problem.message);
    }
    double seconds;
    assert_ok(attempt("ASK { ?a (~1000 r:l/~r:l)+ ?b }", &limits, &seconds, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_exists),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down_view);
}
