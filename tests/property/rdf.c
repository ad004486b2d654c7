/* Terms, scans, columns and counts of random RDF graphs equal brute force over a plain list.
 *
 * WFRE_SEED picks another seed, WFRE_CASES another number of cases. A failure prints the case. */
#include "check.h"

#include "base/rng.h"
#include "graph/builder.h"
#include "graph/image.h"
#include "graph/rdf.h"

enum { VOCABULARY = 40, TRIPLES = 400 };

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

/* ---- a random graph ----------------------------------------------------------------------- */

typedef struct word {
    wfre_rdf_value value;
    char text[64];
    bool used;
    wfre_rdf_id id;
} word;

typedef struct statement {
    int at[3]; /* words */
    wfre_split split;
} statement;

typedef struct world {
    word words[VOCABULARY];
    statement statements[TRIPLES];
    size_t count;
    wfre_rdf_triple triples[TRIPLES]; /* of the split at hand, each once */
    size_t triple_count;
} world;

static wfre_name name_of(const char *text)
{
    return (wfre_name){text, strlen(text)};
}

/* Ten IRIs, ten names that are none (the last five of relations), four blank nodes, and literals.
 */
static void make_words(world *w, wfre_rng *rng)
{
    static const char *const types[] = {"", "http://t/a", "http://t/b",
                                        "http://www.w3.org/2001/XMLSchema#integer"};
    static const char *const tags[] = {"", "de", "en", "en-gb"};
    memset(w, 0, sizeof *w);
    for (int i = 0; i < VOCABULARY; i++) {
        word *x = &w->words[i];
        uint32_t random = wfre_rng_below(rng, 1000);
        if (i < 10) {
            (void)snprintf(x->text, sizeof x->text, "http://x/%u/%d", random % 3, i);
        } else if (i < 20) {
            (void)snprintf(x->text, sizeof x->text, "na %%\xC3\xA4me/%d", i);
        } else if (i < 24) {
            (void)snprintf(x->text, sizeof x->text, "b%d", i - 20);
            x->value.kind = WFRE_RDF_BLANK;
        } else {
            /* repeated texts of different classes, long common beginnings, an empty one */
            (void)snprintf(x->text, sizeof x->text, "%.*s%d", (int)(random % 9), "abcdefgh",
                           (i - 24) / 3);
            if (i == VOCABULARY - 1)
                x->text[0] = '\0';
            x->value.kind = WFRE_RDF_LITERAL;
            if (i % 3 == 1)
                x->value.datatype = name_of(types[random % 4]);
            if (i % 3 == 2)
                x->value.language = name_of(tags[random % 4]);
        }
        x->value.text = name_of(x->text);
    }
}

static bool same_name(wfre_name a, wfre_name b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static bool same_word(const word *a, const word *b)
{
    return a->value.kind == b->value.kind && same_name(a->value.text, b->value.text) &&
           same_name(a->value.datatype, b->value.datatype) &&
           same_name(a->value.language, b->value.language);
}

/* The first word that is the same. */
static int first_of(const world *w, int index)
{
    for (int i = 0; i < index; i++)
        if (same_word(&w->words[i], &w->words[index]))
            return i;
    return index;
}

static int pick(world *w, wfre_rng *rng, int first, int end)
{
    return first_of(w, first + (int)wfre_rng_below(rng, (uint32_t)(end - first)));
}

static void make_statements(world *w, wfre_rng *rng)
{
    uint32_t most = wfre_rng_below(rng, 4) == 0 ? 8 : TRIPLES;
    w->count = wfre_rng_below(rng, most);
    for (size_t i = 0; i < w->count; i++) {
        statement *x = &w->statements[i];
        x->split = (wfre_split)wfre_rng_below(rng, 3);
        if (wfre_rng_below(rng, 3) == 0) { /* an edge */
            x->at[WFRE_RDF_S] = pick(w, rng, 0, 15);
            x->at[WFRE_RDF_P] = wfre_rng_below(rng, 2) ? pick(w, rng, 0, 10) : pick(w, rng, 15, 20);
            x->at[WFRE_RDF_O] = pick(w, rng, 0, 15);
            continue;
        }
        x->at[WFRE_RDF_S] = wfre_rng_below(rng, 3) ? pick(w, rng, 0, 10) : pick(w, rng, 20, 24);
        x->at[WFRE_RDF_P] = pick(w, rng, 0, 10);
        x->at[WFRE_RDF_O] = pick(w, rng, 20, VOCABULARY);
        if (x->at[WFRE_RDF_S] >= 20 && wfre_rng_below(rng, 3) == 0)
            x->at[WFRE_RDF_O] = pick(w, rng, 0, 10);
    }
}

static void add_statement(wfre_graph_builder *builder, const world *w, const statement *x)
{
    const word *s = &w->words[x->at[0]], *p = &w->words[x->at[1]], *o = &w->words[x->at[2]];
    if (s->value.kind == WFRE_RDF_IRI && o->value.kind == WFRE_RDF_IRI) {
        wfre_entity head, tail;
        wfre_relation relation;
        assert_ok(wfre_graph_builder_entity(builder, s->text, strlen(s->text), &head, error));
        assert_ok(wfre_graph_builder_entity(builder, o->text, strlen(o->text), &tail, error));
        assert_ok(wfre_graph_builder_relation(builder, p->text, strlen(p->text), &relation, error));
        assert_ok(wfre_graph_builder_triple(builder, x->split, head, relation, tail, error));
        return;
    }
    uint32_t terms[3];
    for (int i = 0; i < 3; i++)
        assert_ok(wfre_attributes_term(&builder->attributes, &w->words[x->at[i]].value, &terms[i],
                                       error));
    assert_ok(wfre_attributes_add(&builder->attributes, terms[0], terms[1], terms[2], error));
}

static wfre_graph *build(world *w)
{
    wfre_graph_builder *builder;
    wfre_graph *graph;
    assert_ok(wfre_graph_builder_create(&builder, error));
    for (size_t i = 0; i < w->count; i++) {
        add_statement(builder, w, &w->statements[i]);
        for (int place = 0; place < 3; place++)
            w->words[w->statements[i].at[place]].used = true;
    }
    assert_ok(wfre_graph_builder_finish(builder, &graph, error));
    wfre_graph_builder_free(builder);
    assert_ok(wfre_graph_validate(graph, error));
    return graph;
}

/* ---- terms -------------------------------------------------------------------------------- */

/* The value that a word has as a term: names that are no IRIs are coded. */
static wfre_rdf_value expected_value(const world *w, int index, char coded[128])
{
    wfre_rdf_value value = w->words[index].value;
    if (index >= 10 && index < 20) {
        (void)snprintf(coded, 128, "urn:wfre:%c:na%%20%%25\xC3\xA4me%%2F%d", index < 15 ? 'e' : 'r',
                       index);
        value.text = name_of(coded);
    }
    if (value.kind == WFRE_RDF_LITERAL && value.language.length > 0)
        value.datatype = name_of("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString");
    else if (value.kind == WFRE_RDF_LITERAL && value.datatype.length == 0)
        value.datatype = name_of("http://www.w3.org/2001/XMLSchema#string");
    return value;
}

static void check_terms(world *w, const wfre_rdf *rdf)
{
    wfre_text scratch = {0};
    uint32_t next_blank = 0;
    for (int i = 0; i < VOCABULARY; i++) {
        word *x = &w->words[i];
        char coded[128];
        wfre_rdf_value wanted = expected_value(w, i, coded), got;
        if (first_of(w, i) != i || wanted.kind == WFRE_RDF_BLANK)
            continue;
        assert_ok(wfre_rdf_find(rdf, &wanted, &x->id, error));
        assert_int_equal(x->id != WFRE_NONE, x->used);
        if (!x->used)
            continue;
        assert_true(x->id < wfre_rdf_terms(rdf));
        assert_int_equal(wfre_rdf_kind_of(rdf, x->id), wanted.kind);
        assert_ok(wfre_rdf_get(rdf, x->id, &scratch, &got, error));
        assert_int_equal(got.kind, wanted.kind);
        assert_true(same_name(got.text, wanted.text));
        assert_true(same_name(got.datatype, wanted.datatype));
        assert_true(same_name(got.language, wanted.language));
        if (got.kind == WFRE_RDF_LITERAL) {
            wfre_rdf_id first, end;
            wfre_rdf_value class = wfre_rdf_class(rdf, wfre_rdf_class_of(rdf, x->id), &first, &end);
            assert_true(x->id >= first && x->id < end);
            assert_true(same_name(class.datatype, wanted.datatype));
        }
    }
    /* Blank nodes are numbered as they come. */
    for (size_t i = 0; i < w->count; i++)
        for (int place = 0; place < 3; place++) {
            word *x = &w->words[w->statements[i].at[place]];
            if (x->value.kind != WFRE_RDF_BLANK || x->id != WFRE_NONE)
                continue;
            char label[16];
            (void)snprintf(label, sizeof label, "b%u", next_blank++);
            wfre_rdf_value value = {.kind = WFRE_RDF_BLANK, .text = name_of(label)};
            assert_ok(wfre_rdf_find(rdf, &value, &x->id, error));
            assert_int_equal(wfre_rdf_kind_of(rdf, x->id), WFRE_RDF_BLANK);
        }
    wfre_text_free(&scratch);
}

/* ---- patterns ----------------------------------------------------------------------------- */

static void list_triples(world *w, wfre_split split)
{
    w->triple_count = 0;
    for (size_t i = 0; i < w->count; i++) {
        const statement *x = &w->statements[i];
        wfre_rdf_triple triple;
        bool edge = true, known = false;
        for (int place = 0; place < 3; place++) {
            triple.at[place] = w->words[x->at[place]].id;
            edge &= w->words[x->at[place]].value.kind == WFRE_RDF_IRI;
        }
        for (size_t j = 0; j < w->triple_count; j++)
            known |= memcmp(&w->triples[j], &triple, sizeof triple) == 0;
        if (!known && !(edge && x->split > split))
            w->triples[w->triple_count++] = triple;
    }
}

static bool matches(const wfre_rdf_triple *triple, const wfre_rdf_triple *pattern)
{
    for (int place = 0; place < 3; place++)
        if (pattern->at[place] != WFRE_NONE && pattern->at[place] != triple->at[place])
            return false;
    return true;
}

static const int PLACES[WFRE_RDF_ORDERS][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}};
static int sort_order;

static int compare(const void *a, const void *b)
{
    const wfre_rdf_triple *left = a, *right = b;
    for (int i = 0; i < 3; i++) {
        int place = PLACES[sort_order][i];
        if (left->at[place] != right->at[place])
            return left->at[place] < right->at[place] ? -1 : 1;
    }
    return 0;
}

static void check_scan(const wfre_rdf *rdf, wfre_rng *rng, const wfre_rdf_triple *pattern,
                       wfre_rdf_triple *wanted, size_t count, wfre_rdf_scan *scan)
{
    wfre_rdf_triple got;
    for (int order = 0; order < WFRE_RDF_ORDERS; order++) {
        sort_order = order;
        qsort(wanted, count, sizeof *wanted, compare);
        assert_ok(wfre_rdf_scan_open(scan, rdf, pattern, (wfre_rdf_order)order, error));
        for (size_t i = 0; i < count; i++) {
            assert_true(wfre_rdf_scan_next(scan, &got));
            assert_int_equal(compare(&got, &wanted[i]), 0);
        }
        assert_false(wfre_rdf_scan_next(scan, &got));
        /* and with jumps, to triples that are there and to some that need not be */
        assert_ok(wfre_rdf_scan_open(scan, rdf, pattern, (wfre_rdf_order)order, error));
        for (size_t i = 0; i < count; i++) {
            if (wfre_rng_below(rng, 2)) {
                wfre_rdf_triple least;
                for (int place = 0; place < 3; place++)
                    least.at[place] = pattern->at[place] != WFRE_NONE
                                          ? pattern->at[place]
                                          : wfre_rng_below(rng, wfre_rdf_terms(rdf) + 1);
                if (wfre_rng_below(rng, 2))
                    least = wanted[i + wfre_rng_below(rng, (uint32_t)(count - i))];
                wfre_rdf_scan_seek(scan, &least);
                while (i < count && compare(&wanted[i], &least) < 0)
                    i++;
            }
            assert_int_equal(wfre_rdf_scan_next(scan, &got), i < count);
            if (i < count)
                assert_int_equal(compare(&got, &wanted[i]), 0);
        }
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void check_column(const wfre_rdf *rdf, wfre_rng *rng, const wfre_rdf_triple *pattern,
                         int place, const wfre_rdf_triple *wanted, size_t count,
                         wfre_rdf_column *column)
{
    wfre_rdf_id ids[TRIPLES], got;
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        ids[i] = wanted[i].at[place];
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[different++] = ids[i];
    assert_ok(wfre_rdf_column_open(column, rdf, pattern, (wfre_rdf_place)place, error));
    assert_true(wfre_rdf_column_most(column) >= different);
    wfre_rdf_id least = 0;
    for (size_t i = 0; i < different; i++) {
        assert_true(wfre_rdf_column_seek(column, least, &got));
        assert_int_equal(got, ids[i]);
        least = got + 1;
    }
    assert_false(wfre_rdf_column_seek(column, least, &got));
    assert_ok(wfre_rdf_column_open(column, rdf, pattern, (wfre_rdf_place)place, error));
    for (least = 0; least <= wfre_rdf_terms(rdf); least += 1 + wfre_rng_below(rng, 6)) {
        size_t at = 0;
        while (at < different && ids[at] < least)
            at++;
        assert_int_equal(wfre_rdf_column_seek(column, least, &got), at < different);
        if (at < different)
            assert_int_equal(got, ids[at]);
    }
}

static void check_pattern(const world *w, const wfre_rdf *rdf, wfre_rng *rng,
                          const wfre_rdf_triple *pattern, wfre_rdf_scan *scan,
                          wfre_rdf_column *column)
{
    wfre_rdf_triple wanted[TRIPLES];
    size_t count = 0;
    for (size_t i = 0; i < w->triple_count; i++)
        if (matches(&w->triples[i], pattern))
            wanted[count++] = w->triples[i];
    if (wfre_rdf_count(rdf, pattern) != count)
        fail_msg("pattern %d %d %d: %llu triples counted, %zu are there", (int)pattern->at[0],
                 (int)pattern->at[1], (int)pattern->at[2],
                 (unsigned long long)wfre_rdf_count(rdf, pattern), count);
    check_scan(rdf, rng, pattern, wanted, count, scan);
    for (int place = 0; place < 3; place++)
        if (pattern->at[place] == WFRE_NONE)
            check_column(rdf, rng, pattern, place, wanted, count, column);
    bool all =
        pattern->at[0] != WFRE_NONE && pattern->at[1] != WFRE_NONE && pattern->at[2] != WFRE_NONE;
    if (all)
        assert_int_equal(wfre_rdf_has(rdf, pattern), count > 0);
    if (pattern->at[0] == WFRE_NONE && pattern->at[1] != WFRE_NONE && pattern->at[2] == WFRE_NONE)
        assert_true(wfre_rdf_distinct(rdf, pattern->at[1], WFRE_RDF_S) <= 2 * count &&
                    (count == 0) == (wfre_rdf_distinct(rdf, pattern->at[1], WFRE_RDF_O) == 0));
}

static void check_case(uint64_t seed, uint64_t index)
{
    static world w;
    wfre_rng rng = wfre_rng_keyed(seed, index, 0);
    wfre_rdf_scan scan = {0};
    wfre_rdf_column column = {0};
    make_words(&w, &rng);
    make_statements(&w, &rng);
    wfre_graph *graph = build(&w);
    for (int split = 0; split < WFRE_SPLITS; split++) {
        wfre_rdf *rdf;
        for (int i = 0; i < VOCABULARY; i++)
            w.words[i].id = WFRE_NONE;
        assert_ok(wfre_rdf_open(graph, (wfre_split)split, &rdf, error));
        check_terms(&w, rdf);
        list_triples(&w, (wfre_split)split);
        assert_int_equal(wfre_rdf_triples(rdf), w.triple_count);
        for (int mask = 0; mask < 8; mask++)
            for (int trial = 0; trial < 4; trial++) {
                wfre_rdf_triple pattern = {{WFRE_NONE, WFRE_NONE, WFRE_NONE}};
                const wfre_rdf_triple *model =
                    w.triple_count ? &w.triples[wfre_rng_below(&rng, (uint32_t)w.triple_count)]
                                   : NULL;
                for (int place = 0; place < 3; place++)
                    if (mask >> place & 1)
                        pattern.at[place] = model && wfre_rng_below(&rng, 5)
                                                ? model->at[place]
                                                : wfre_rng_below(&rng, wfre_rdf_terms(rdf) + 2);
                check_pattern(&w, rdf, &rng, &pattern, &scan, &column);
            }
        wfre_rdf_close(rdf);
    }
    wfre_rdf_scan_free(&scan);
    wfre_rdf_column_free(&column);
    wfre_graph_close(graph);
}

static void patterns_match_brute_force(void **state)
{
    (void)state;
    uint64_t seed = setting("WFRE_SEED", 1), cases = setting("WFRE_CASES", 400);
    for (uint64_t i = 0; i < cases; i++) {
        if (getenv("WFRE_SEED"))
            printf("seed %llu case %llu\n", (unsigned long long)seed, (unsigned long long)i);
        check_case(seed, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
