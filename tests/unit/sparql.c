/* src/sparql: numbers, dates, expressions, paths and patterns on a small graph; limits and errors.
 */
#include "check.h"

#include "sparql/decimal.h"
#include "sparql/digest.h"
#include "sparql/iri.h"
#include "sparql/moment.h"
#include "sparql/regex.h"
#include "sparql_view.h"
#include "wfre/sparql.h"

/* ---- running a query ---------------------------------------------------------------------- */

static const char PREFIXES[] = "PREFIX : <http://x/> PREFIX xsd: "
                               "<http://www.w3.org/2001/XMLSchema#> ";

typedef struct page {
    char text[4096];
    size_t length;
} page;

static wfre_status to_page(void *context, const char *bytes, size_t length, wfre_error *error)
{
    (void)error;
    page *p = context;
    if (p->length + length >= sizeof p->text)
        return WFRE_ERR_UNSUPPORTED;
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    p->text[p->length] = '\0';
    return WFRE_OK;
}

static wfre_status run(const char *text, const wfre_sparql_run_options *options,
                       wfre_sparql_format format, page *out, wfre_error *error)
{
    char whole[4096];
    wfre_sparql *query = NULL;
    const wfre_sparql_output output = {.write = to_page, .context = out};
    int length = snprintf(whole, sizeof whole, "%s%s", PREFIXES, text);
    out->length = 0;
    out->text[0] = '\0';
    wfre_status status = wfre_sparql_parse(whole, (size_t)length, NULL, &query, error);
    if (status == WFRE_OK)
        status = wfre_sparql_write(query, view, options, format, &output, NULL, error);
    wfre_sparql_free(query);
    return status;
}

/* The rows of a query as CSV without its head, rows joined by "|". */
static const char *rows(const char *text)
{
    static page out;
    static char joined[4096];
    wfre_error error = {0};
    if (run(text, NULL, WFRE_SPARQL_CSV, &out, &error) != WFRE_OK)
        fail_msg("%s: %s", text, error.message);
    char *from = strstr(out.text, "\r\n"), *to = joined;
    for (from = from ? from + 2 : out.text; *from; from++)
        if (from[0] == '\r' && from[1] == '\n') {
            if (from[2])
                *to++ = '|';
            from++;
        } else {
            *to++ = *from;
        }
    *to = '\0';
    return joined;
}

/* The value of an expression, as TSV writes it. */
static const char *value(const char *expression)
{
    static page out;
    char text[1024];
    wfre_error error = {0};
    (void)snprintf(text, sizeof text, "SELECT (%s AS ?v) {}", expression);
    if (run(text, NULL, WFRE_SPARQL_TSV, &out, &error) != WFRE_OK)
        fail_msg("%s: %s", expression, error.message);
    out.text[out.length - 1] = '\0';
    return strchr(out.text, '\n') + 1;
}

#define XSD_TYPE(name) "^^<http://www.w3.org/2001/XMLSchema#" name ">"

/* ---- the parts ---------------------------------------------------------------------------- */

static void test_decimal(void **state)
{
    (void)state;
    static const char *const CASES[][4] = {
        {"1", "+", "2", "3"},
        {"0.1", "+", "0.2", "0.3"},
        {"-1.5", "+", "1.5", "0"},
        {"99999999999999999999999999", "+", "1", "100000000000000000000000000"},
        {"123456789012345678901234567890", "*", "987654321098765432109876543210",
         "121932631137021795226185032733622923332237463801111263526900"},
        {"1", "/", "3", "0.333333333333333333"},
        {"2", "/", "3", "0.666666666666666667"},
        {"-7", "/", "2", "-3.5"},
        {"1000000000000000000000", "/", "1000000000", "1000000000000"},
        {"5", "-", "7.25", "-2.25"},
        {"0.000000001", "*", "0.000000001", "0.000000000000000001"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        wfre_sq_decimal a, b, c;
        char text[WFRE_SQ_DECIMAL_TEXT];
        assert_true(wfre_sq_decimal_parse(CASES[i][0], strlen(CASES[i][0]), &a));
        assert_true(wfre_sq_decimal_parse(CASES[i][2], strlen(CASES[i][2]), &b));
        bool ok = CASES[i][1][0] == '+'   ? wfre_sq_decimal_add(&a, &b, &c)
                  : CASES[i][1][0] == '-' ? wfre_sq_decimal_subtract(&a, &b, &c)
                  : CASES[i][1][0] == '*' ? wfre_sq_decimal_multiply(&a, &b, &c)
                                          : wfre_sq_decimal_divide(&a, &b, &c);
        assert_true(ok);
        wfre_sq_decimal_print(&c, text);
        assert_string_equal(text, CASES[i][3]);
    }
}

/* Random numbers of 64 bits against the machine's own arithmetic. */
static void test_decimal_random(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        int64_t n[2];
        wfre_sq_decimal a, b, c;
        for (int k = 0; k < 2; k++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            n[k] = (int64_t)(seed >> (seed % 60)) % 2000000000 - (int64_t)(seed % 7 == 0);
        }
        wfre_sq_decimal_whole(n[0], &a);
        wfre_sq_decimal_whole(n[1], &b);
        int64_t got;
        assert_true(wfre_sq_decimal_add(&a, &b, &c) && wfre_sq_decimal_int(&c, &got));
        assert_int_equal(got, n[0] + n[1]);
        assert_true(wfre_sq_decimal_multiply(&a, &b, &c) && wfre_sq_decimal_int(&c, &got));
        assert_int_equal(got, n[0] * n[1]);
        assert_int_equal(wfre_sq_decimal_compare(&a, &b), (n[0] > n[1]) - (n[0] < n[1]));
        if (n[1] && wfre_sq_decimal_divide(&a, &b, &c)) {
            assert_true(wfre_sq_decimal_round(&c, WFRE_SQ_TOWARDS_ZERO, &c));
            assert_true(wfre_sq_decimal_int(&c, &got));
            assert_int_equal(got, n[0] / n[1]);
        }
    }
}

static void test_iri(void **state)
{
    (void)state;
    /* the examples of RFC 3986, section 5.4 */
    static const char *const CASES[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
    };
    wfre_arena arena = {0};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        static const char BASE[] = "http://a/b/c/d;p?q";
        wfre_name iri;
        assert_true(wfre_sq_iri_resolve(&arena, (wfre_name){BASE, sizeof BASE - 1},
                                        (wfre_name){CASES[i][0], strlen(CASES[i][0])}, &iri));
        assert_int_equal(iri.length, strlen(CASES[i][1]));
        assert_memory_equal(iri.bytes, CASES[i][1], iri.length);
    }
    wfre_arena_free(&arena);
}

static bool matches(const char *pattern, const char *flags, const char *text)
{
    wfre_sq_regex *regex = NULL;
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    bool stopped;
    assert_ok(wfre_sq_regex_compile((wfre_name){pattern, strlen(pattern)},
                                    (wfre_name){flags, strlen(flags)}, locale, &regex, error));
    bool found = wfre_sq_regex_search(regex, (wfre_name){text, strlen(text)}, &stopped);
    wfre_sq_regex_free(regex);
    freelocale(locale);
    return found;
}

static void test_regex(void **state)
{
    (void)state;
    assert_true(matches("^a.c$", "", "abc"));
    assert_false(matches("^a.c$", "", "abbc"));
    assert_true(matches("^a.c$", "",
                        "a\xC3\xBC"
                        "c"));
    assert_true(matches("(ab|cd)+$", "", "xabcdab"));
    assert_false(matches("^(ab|cd)+$", "", "abcda"));
    assert_true(matches("^a{2,3}$", "", "aaa"));
    assert_false(matches("^a{2,3}$", "", "aaaa"));
    assert_true(matches("STRASSE", "i", "strasse"));
    assert_true(matches("^[\\d-[3-5]]+$", "", "129"));
    assert_false(matches("^[\\d-[3-5]]+$", "", "1239"));
    assert_true(matches("^b$", "m", "a\nb\nc"));
    assert_true(matches("a b", "x", "ab"));
    assert_true(matches("a.b", "q", "xa.by"));
    assert_false(matches("a.b", "q", "xaxby"));
    assert_true(matches("^\\p{Lu}\\p{Ll}+$", "", "Z\xC3\xBCrich"));
    /* what takes exponential time by trying */
    assert_false(
        matches("^(a*)*(a|aa)*b$", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    static const char *const WRONG[] = {"(",  ")",     "[a",  "a{2", "a{3,2}",
                                        "*a", "[z-a]", "\\q", "a\\", "(?=a)"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        wfre_sq_regex *regex = NULL;
        assert_int_equal(wfre_sq_regex_compile((wfre_name){WRONG[i], strlen(WRONG[i])},
                                               (wfre_name){"", 0}, (locale_t)0, &regex, NULL),
                         WFRE_ERR_FORMAT);
    }
}

static void test_moments(void **state)
{
    (void)state;
    static const char *const WRONG[] = {
        "2021-02-29T00:00:00",       "2020-13-01T00:00:00", "2020-01-01T25:00:00", "2020-01-01",
        "2020-01-01T00:00:00+15:00", "20-01-01T00:00:00",   "02020-01-01T00:00:00"};
    wfre_sq_moment m;
    char text[64];
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_false(
            wfre_sq_moment_parse(WFRE_SQ_DATE_TIME, (wfre_name){WRONG[i], strlen(WRONG[i])}, &m));
    static const char LAST[] = "1999-12-31T24:00:00Z";
    assert_true(wfre_sq_moment_parse(WFRE_SQ_DATE_TIME, (wfre_name){LAST, sizeof LAST - 1}, &m));
    wfre_sq_moment_print(&m, text);
    assert_string_equal(text, "2000-01-01T00:00:00Z");
    /* there and back through the calendar */
    for (int64_t s = -200000000000; s < 200000000000; s += 12345678901) {
        wfre_sq_moment_from_seconds(s, 0, &m);
        assert_int_equal(wfre_sq_moment_seconds(&m), s);
    }
}

static void test_digests(void **state)
{
    (void)state;
    assert_string_equal(value("MD5(\"abc\")"), "\"900150983cd24fb0d6963f7d28e17f72\"");
    assert_string_equal(value("SHA1(\"abc\")"), "\"a9993e364706816aba3e25717850c26c9cd0d89d\"");
    assert_string_equal(value("SHA256(\"\")"),
                        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"");
    assert_string_equal(value("SUBSTR(SHA384(\"abc\"), 1, 16)"), "\"cb00753f45a35e8b\"");
    assert_string_equal(value("SUBSTR(SHA512(\"abc\"), 113)"), "\"2a9ac94fa54ca49f\"");
}

/* ---- expressions -------------------------------------------------------------------------- */

static void test_expressions(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"1 + 2 * 3", "\"7\"" XSD_TYPE("integer")},
        {"0.1 + 0.2", "\"0.3\"" XSD_TYPE("decimal")},
        {"7 / 2", "\"3.5\"" XSD_TYPE("decimal")},
        {"1 / 0", ""},
        {"1e0 / 0", "\"INF\"" XSD_TYPE("double")},
        {"9223372036854775807 + 1", "\"9223372036854775808\"" XSD_TYPE("integer")},
        {"\"3\"^^xsd:float + 1", "\"4.0E0\"" XSD_TYPE("float")},
        {"-2 - -3", "\"1\"" XSD_TYPE("integer")},
        {"1 = 1.0 && \"a\" < \"b\"", "\"true\"" XSD_TYPE("boolean")},
        {"?unbound || true", "\"true\"" XSD_TYPE("boolean")},
        {"?unbound || false", ""},
        {"?unbound && false", "\"false\"" XSD_TYPE("boolean")},
        {"!\"\"", "\"true\"" XSD_TYPE("boolean")},
        {"!!\"a\"@en", "\"true\"" XSD_TYPE("boolean")},
        {"!\"a\"^^xsd:byte", "\"true\"" XSD_TYPE("boolean")},
        {"!\"a\"^^xsd:date", ""},
        {"2 IN (1, ?unbound, 2)", "\"true\"" XSD_TYPE("boolean")},
        {"3 IN (1, ?unbound, 2)", ""},
        {"3 NOT IN (1, 2)", "\"true\"" XSD_TYPE("boolean")},
        {"IF(1 > 2, \"x\", \"y\")", "\"y\""},
        {"COALESCE(?unbound, 1/0, 5)", "\"5\"" XSD_TYPE("integer")},
        {"CONCAT(\"a\"@en, \"b\"@en)", "\"ab\"@en"},
        {"CONCAT(\"a\"@en, \"b\")", "\"ab\""},
        {"SUBSTR(\"\xC3\xA4\xC3\xB6\xC3\xBC\", 2, 1)", "\"\xC3\xB6\""},
        {"SUBSTR(\"12345\", 0, 3)", "\"12\""},
        {"STRLEN(\"\xC3\xA4\xC3\xB6\")", "\"2\"" XSD_TYPE("integer")},
        {"UCASE(\"stra\u00DF\u00E9\"@de)", "\"STRASS\u00C9\"@de"},
        {"UCASE(\"\uFB03\u0149\u01F0\u0587\")", "\"FFI\u02BCNJ\u030C\u0535\u0552\""},
        {"UCASE(\"\u0390\u1F50\u1FB7\")", "\"\u0399\u0308\u0301\u03A5\u0313\u0391\u0342\u0399\""},
        {"UCASE(\"\u1F80\u1F9F\u1FA4\u1FFC\")",
         "\"\u1F08\u0399\u1F2F\u0399\u1F6C\u0399\u03A9\u0399\""},
        {"LCASE(\"\u0130\u1E9E\u00C9\")", "\"i\u0307\u00DF\u00E9\""},
        {"LCASE(\"\u039F\u03A3 \u03A3 \u039F\u03A3. \u039F\u03A3'\u039F\")",
         "\"\u03BF\u03C2 \u03C3 \u03BF\u03C2. \u03BF\u03C3'\u03BF\""},
        {"STRBEFORE(\"abc\"@en, \"b\")", "\"a\"@en"},
        {"STRAFTER(\"abc\", \"z\")", "\"\""},
        {"REPLACE(\"abcab\", \"(a)(b)\", \"$2$1\")", "\"bacba\""},
        {"ENCODE_FOR_URI(\"a b/\xC3\xA4\")", "\"a%20b%2F%C3%A4\""},
        {"LANGMATCHES(\"en-GB\", \"EN\")", "\"true\"" XSD_TYPE("boolean")},
        {"YEAR(\"2020-02-29T12:00:00Z\"^^xsd:dateTime)", "\"2020\"" XSD_TYPE("integer")},
        {"SECONDS(\"2020-02-29T12:00:01.5Z\"^^xsd:dateTime)", "\"1.5\"" XSD_TYPE("decimal")},
        {"TIMEZONE(\"2020-02-29T12:00:00-08:00\"^^xsd:dateTime)",
         "\"-PT8H\"" XSD_TYPE("dayTimeDuration")},
        {"\"2020-01-01\"^^xsd:date < \"2020-01-02\"^^xsd:date", "\"true\"" XSD_TYPE("boolean")},
        {"\"2020-01-01\"^^xsd:date = \"2020-01-01Z\"^^xsd:date", ""},
        {"\"x\"^^:t = \"y\"^^:t", ""},
        {"\"x\"^^:t = \"x\"^^:t", "\"true\"" XSD_TYPE("boolean")},
        {"xsd:integer(\" 12 \")", "\"12\"" XSD_TYPE("integer")},
        {"xsd:integer(2.9)", "\"2\"" XSD_TYPE("integer")},
        {"xsd:decimal(1.5e2)", "\"150\"" XSD_TYPE("decimal")},
        {"xsd:string(1.50)", "\"1.5\""},
        {"xsd:boolean(\"maybe\")", ""},
        {"ROUND(-2.5)", "\"-2\"" XSD_TYPE("decimal")},
        {"CEIL(-2.5)", "\"-2\"" XSD_TYPE("decimal")},
        {"FLOOR(-2.5)", "\"-3\"" XSD_TYPE("decimal")},
        {"ABS(-3)", "\"3\"" XSD_TYPE("integer")},
        {"DATATYPE(\"a\"@en)", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"},
        {"STRDT(\"1\", xsd:integer) + 1", "\"2\"" XSD_TYPE("integer")},
        {"sameTerm(1, 1.0)", "\"false\"" XSD_TYPE("boolean")},
        {"isNumeric(\"1\")", "\"false\"" XSD_TYPE("boolean")},
        {"BNODE(\"a\") = BNODE(\"a\")", "\"true\"" XSD_TYPE("boolean")},
        {"BNODE() = BNODE()", "\"false\"" XSD_TYPE("boolean")},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *got = value(CASES[i][0]);
        if (strcmp(got, CASES[i][1]) != 0)
            fail_msg("%s is %s, not %s", CASES[i][0], got, CASES[i][1]);
    }
}

/* ---- patterns ----------------------------------------------------------------------------- */

static void test_patterns(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"SELECT ?x { ?x :p ?y . ?y :p ?z . ?z :p ?x } ORDER BY ?x",
         "http://x/a|http://x/b|http://x/c"},
        {"SELECT ?x ?n { ?x :age ?a OPTIONAL { ?x :name ?n FILTER (LANG(?n) = \"en\") } } "
         "ORDER BY ?x",
         "http://x/a,|http://x/b,Bob|http://x/c,|http://x/d,"},
        /* the filter of an inner group does not see ?a */
        {"SELECT ?x { ?x :age ?a { ?x :p ?y FILTER (?a > 0) } }", ""},
        {"SELECT ?x { ?x :age ?a OPTIONAL { ?x :p ?y FILTER (?a > 26) } FILTER (BOUND(?y)) }",
         "http://x/a|http://x/a"},
        {"SELECT ?x { ?x :age ?a MINUS { ?x :q ?y } } ORDER BY ?x", "http://x/c|http://x/d"},
        {"SELECT ?x { ?x :age ?a MINUS { ?z :q ?y } } ORDER BY ?x",
         "http://x/a|http://x/b|http://x/c|http://x/d"},
        {"SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?z :q ?y } }", ""},
        {"SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?x :p ?y FILTER (?a > 26) } } ORDER BY ?x",
         "http://x/b|http://x/c|http://x/d"},
        {"SELECT ?x ?y { VALUES (?x ?y) { (:a UNDEF) (UNDEF :c) } ?x :p ?y } ORDER BY ?x ?y",
         "http://x/a,http://x/b|http://x/a,http://x/c|http://x/a,http://x/c|http://x/b,http://x/c"},
        {"SELECT ?x ?n { { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } ?x :q ?z } "
         "ORDER BY ?x",
         "_:B|http://x/a,2|http://x/b,1"},
        {"SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", "10"},
        {"SELECT (SUM(?a) AS ?s) { ?x :age ?a FILTER isNumeric(?a) }", "57.5"},
        {"SELECT (SUM(?a) AS ?s) (COUNT(*) AS ?n) { ?x :age ?a }", ",4"},
        {"SELECT (GROUP_CONCAT(?n; SEPARATOR=\"/\") AS ?s) { SELECT ?n { :a :name ?n } ORDER BY ?n "
         "}",
         "Alice/Alicia"},
        {"SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 2 OFFSET 1", "http://x/b|http://x/c"},
        {"SELECT DISTINCT ?y { ?x :p|:q ?y . ?y :p ?z } ORDER BY ?y",
         "_:B|http://x/a|http://x/b|http://x/c"},
        {"SELECT ?b { :a :age ?a BIND (?a + 1 AS ?b) }", "31"},
        {"SELECT ?x { ?x ?p ?x }", "http://x/c"},
        {"SELECT ?p { :a ?p :b } ORDER BY ?p", "http://x/p|http://x/q"},
        {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", "5"},
        {"SELECT (COUNT(*) AS ?n) { GRAPH :g { ?s ?p ?o } }", "4"},
        {"SELECT (COUNT(*) AS ?n) { GRAPH :i { ?s ?p ?o } }", "0"},
        {"SELECT (COUNT(*) AS ?n) { ?x :q ?y GRAPH ?g { ?x :p :c } }", "2"},
        {"SELECT (COUNT(*) AS ?n) FROM :h FROM NAMED :g { ?s :p ?o GRAPH ?g { ?z :p ?o } }", "1"},
        {"SELECT (COUNT(*) AS ?n) FROM :g FROM :h { ?s ?p ?o }", "5"},
        {"SELECT (COUNT(*) AS ?n) FROM NAMED :g { ?s ?p ?o }", "0"},
        {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { :a :p+ ?o } }", "2"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char got[4096];
        (void)snprintf(got, sizeof got, "%s", rows(CASES[i][0]));
        if (strncmp(got, "_:", 2) == 0 && strchr(got, '|')) { /* any label will do */
            char *rest = strchr(got, '|');
            memmove(got + 3, rest, strlen(rest) + 1);
            memcpy(got, "_:B", 3);
        }
        if (strcmp(got, CASES[i][1]) != 0)
            fail_msg("%s gives %s, not %s", CASES[i][0], got, CASES[i][1]);
    }
}

/* Where other implementations differ from the recommendation, or from each other. */
static void test_paths(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"SELECT ?y { :a :p+ ?y } ORDER BY ?y", "http://x/a|http://x/b|http://x/c"},
        {"SELECT ?y { :d :p* ?y }", "http://x/d"},
        {"SELECT ?y { :nowhere :p* ?y }", "http://x/nowhere"},
        {"SELECT ?y { VALUES ?y { :nowhere } ?y :p* ?y }", ""},
        {"SELECT ?y { ?y :p? \"none\" }", "none"},
        {"SELECT ?x { ?x ((:r)?)* 5 }", "5"},
        {"SELECT ?y { :a :p/:p ?y } ORDER BY ?y", "http://x/a|http://x/c"},
        {"SELECT ?y { :b ^:p ?y }", "http://x/a"},
        /* alternatives and negated sets keep duplicates */
        {"SELECT ?y { :a :p|:p ?y } ORDER BY ?y", "http://x/b|http://x/b|http://x/c|http://x/c"},
        {"SELECT ?y { :a (:q|:p*) ?y } ORDER BY ?y", "http://x/a|http://x/b|http://x/b|http://x/c"},
        {"SELECT ?y { :c !(:p|^:p|:age|:size|:knows) ?y }", "http://x/c|http://x/c"},
        {"SELECT ?y { :a !(:p|:name|:age) ?y }", "http://x/b"},
        {"SELECT (COUNT(*) AS ?n) { ?x :p* ?y FILTER (isIRI(?x) && isIRI(?y)) }", "10"},
        {"SELECT (COUNT(*) AS ?n) { ?x :p+ ?y FILTER (isIRI(?x)) }", "9"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *got = rows(CASES[i][0]);
        if (strcmp(got, CASES[i][1]) != 0)
            fail_msg("%s gives %s, not %s", CASES[i][0], got, CASES[i][1]);
    }
}

/* What is in scope behind groups (sections 18.2.4.3 and 18.2.4.4), and in EXISTS. */
static void test_groups(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"SELECT (1 AS ?y) { ?x :p ?y FILTER isIRI(?x) } GROUP BY ?x", "1|1|1"},
        {"SELECT ?x (COUNT(?y) AS ?y) { ?x :p ?y FILTER isIRI(?x) } GROUP BY ?x ORDER BY DESC(?y) "
         "?x",
         "http://x/a,2|http://x/b,1|http://x/c,1"},
        {"SELECT (SUM(?a) AS ?a) (MAX(?a) AS ?m) (?a + 1 AS ?n) { ?x :age ?a FILTER isNumeric(?a) "
         "}",
         "57.5,30,58.5"},
        {"SELECT ?x { { SELECT (MAX(?a) AS ?a) { ?z :age ?a FILTER isNumeric(?a) } } ?x :age ?a }",
         "http://x/a"},
        /* a sub-SELECT within EXISTS does not change the row, and fits it */
        {"SELECT ?x ?a { ?x :age ?a FILTER EXISTS { SELECT (MAX(?a) AS ?a) { ?z :age ?a } } "
         "FILTER (?a < 26) } ORDER BY ?x",
         "http://x/b,25|http://x/c,2.5"},
        {"SELECT ?x ?a { ?x :age ?a FILTER EXISTS { SELECT (20 + 5 AS ?a) { ?x :p ?y } } }",
         "http://x/b,25"},
        /* EXISTS behind groups sees their keys, not what the pattern bound */
        {"SELECT ?x { ?x :age ?a } GROUP BY ?x HAVING EXISTS { ?x :age ?a FILTER (?a > 20) } ORDER "
         "BY ?x",
         "http://x/a|http://x/b"},
        {"SELECT ?x (EXISTS { ?x :q ?y } AS ?e) { ?x :age ?y } GROUP BY ?x ORDER BY EXISTS { ?x :r "
         "?y } ?x",
         "http://x/a,true|http://x/b,true|http://x/c,false|http://x/d,false"},
        /* VALUES is joined to the groups, before columns and orders */
        {"SELECT ?x ?v (COUNT(?y) + ?v AS ?n) { ?x :p ?y FILTER isIRI(?x) } GROUP BY ?x ORDER BY "
         "DESC(?v) DESC(?x) LIMIT 4 VALUES (?x ?v) { (:a 1) (:a 2) (:b 3) (UNDEF 4) }",
         "http://x/c,4,5|http://x/b,4,5|http://x/a,4,6|http://x/b,3,4"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *got = rows(CASES[i][0]);
        if (strcmp(got, CASES[i][1]) != 0)
            fail_msg("%s gives %s, not %s", CASES[i][0], got, CASES[i][1]);
    }
}

/* ---- errors and limits -------------------------------------------------------------------- */

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;    /* behind the prefixes */
        const char *said; /* in the message, if it matters */
    } CASES[] = {
        {"SELECT", 6, NULL},
        {"SELECT ?x { ?x :p }", 18, NULL},
        {"SELECT ?x { ?x :p :y ", 21, NULL},
        {"SELECT ?x { ?x nope:p :y }", 15, NULL},
        {"SELECT ?x { BIND (1 AS ?x) BIND (2 AS ?x) }", 38, NULL},
        {"SELECT (1 AS ?x) { ?x :p ?y }", 13, "used in the pattern already"},
        {"SELECT (1 AS ?x) { } GROUP BY ?x", 13, "in GROUP BY already"},
        {"SELECT (1 AS ?x) { } GROUP BY (2 AS ?x)", 13, "in GROUP BY already"},
        {"SELECT (1 AS ?x) { ?y :p ?z } GROUP BY ?y VALUES ?x { 1 }", 13, "a variable of VALUES"},
        {"SELECT ?x { _:a :p ?x { _:a :q ?x } }", 24, NULL},
        {"SELECT ?x { VALUES (?x ?y) { (1) } }", 29, NULL},
        {"SELECT * { ?x :p \"open }", 17, NULL},
        {"SELECT * { FILTER (COUNT(?x) > 1) }", 19, NULL},
        {"SELECT * { ?x :p <rel> }", 17, NULL},
        {"SELECT * { ?x :p ?y } LIMIT ?x", 28, NULL},
        {"SELECT * { ?x :p \"\\u00e4\\q\" }", 24, NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        page out;
        wfre_error error = {0};
        assert_int_equal(run(CASES[i].text, NULL, WFRE_SPARQL_CSV, &out, &error), WFRE_ERR_FORMAT);
        if (error.offset != CASES[i].offset + sizeof PREFIXES - 1 ||
            (CASES[i].said && !strstr(error.message, CASES[i].said)))
            fail_msg("%s: %s at %zu", CASES[i].text, error.message,
                     error.offset - (sizeof PREFIXES - 1));
    }
    char deep[3000] = "SELECT * ";
    memset(deep + 9, '{', 1000);
    wfre_sparql *query = NULL;
    assert_int_equal(wfre_sparql_parse(deep, strlen(deep), NULL, &query, NULL), WFRE_ERR_FORMAT);
}

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

static void test_limits(void **state)
{
    (void)state;
    static const char HUGE_ONE[] = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n "
                                   "?o . ?q ?r ?s . ?t ?u ?v } ORDER BY ?a";
    page out;
    wfre_error problem;
    wfre_sparql_run_options options = {.limits = {.memory = 1 << 20}};
    assert_int_equal(run(HUGE_ONE, &options, WFRE_SPARQL_CSV, &out, &problem), WFRE_ERR_MEMORY);
    options = (wfre_sparql_run_options){.limits = {.timeout = 0.05}};
    assert_int_equal(run("SELECT (COUNT(*) AS ?z) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . "
                         "?m ?n ?o . ?q ?r ?s . ?t ?u ?v }",
                         &options, WFRE_SPARQL_CSV, &out, &problem),
                     WFRE_ERR_TIMEOUT);
    options = (wfre_sparql_run_options){.limits = {.rows = 3}};
    assert_int_equal(run("SELECT * { ?a ?b ?c }", &options, WFRE_SPARQL_CSV, &out, &problem),
                     WFRE_ERR_UNSUPPORTED);
    wfre_cancel *cancel = NULL;
    assert_ok(wfre_cancel_create(&cancel, error));
    wfre_cancel_watch(cancel, stop_now, NULL);
    options = (wfre_sparql_run_options){.cancel = cancel};
    assert_int_equal(run("SELECT (COUNT(*) AS ?z) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
                         &options, WFRE_SPARQL_CSV, &out, &problem),
                     WFRE_ERR_INTERRUPTED);
    wfre_cancel_free(cancel);
}

static wfre_status attempt(void *context)
{
    page out;
    wfre_error error;
    return run(context, NULL, WFRE_SPARQL_TTL, &out, &error);
}

static wfre_status attempt_table(void *context)
{
    page out;
    wfre_error error;
    return run(context, NULL, WFRE_SPARQL_TABLE, &out, &error);
}

static void test_memory(void **state)
{
    (void)state;
    char graphs[] =
        "CONSTRUCT { ?x :made [ :of ?z ] } { ?x :p/:p* ?y OPTIONAL { ?x :name ?n FILTER "
        "REGEX(?n, \"^A(l|b)+\") } { SELECT ?y (COUNT(DISTINCT ?o) AS ?c) { ?y ?q ?o } "
        "GROUP BY ?y HAVING (COUNT(*) > 1) ORDER BY ?c LIMIT 5 } MINUS { ?y :r ?r } BIND "
        "(CONCAT(STR(?c), \"\\u00e4\") AS ?z) }";
    char table[] =
        "SELECT DISTINCT ?x (UCASE(STR(?v)) AS ?u) { VALUES ?v { 1 \"a\" UNDEF } ?x ?p ?v "
        "FILTER NOT EXISTS { ?x :q ?v } } ORDER BY ?x DESC(?v)";
    sweep_allocations(attempt, graphs);
    char named[] =
        "SELECT * FROM :h FROM :h FROM NAMED :g { ?s :p ?o OPTIONAL { GRAPH ?g { :a ?p ?z "
        "MINUS { ?z :q ?o } } } }";
    sweep_allocations(attempt_table, table);
    sweep_allocations(attempt_table, named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal),     cmocka_unit_test(test_decimal_random),
        cmocka_unit_test(test_iri),         cmocka_unit_test(test_regex),
        cmocka_unit_test(test_moments),     cmocka_unit_test(test_digests),
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_paths),       cmocka_unit_test(test_groups),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_limits),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up_view, tear_down_view);
}
