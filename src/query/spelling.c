/* The names nearest to a misspelt one.
 *
 * Distance is the number of single-byte edits (insert, delete, replace, swap two neighbours), with
 * letter case and the difference of blank, '_' and '-' ignored: to the whole name or, for one edit
 * more, to the best beginning of it ("dog" is near "dog.n.01") or, for two more, to the best part
 * of it ("film" is near "/film/director/film"). Labels count in all languages. Myers' bit-parallel
 * algorithm handles one byte of a name in a dozen instructions, so a million names take well under
 * a second. */
#include <string.h>

#include "graph/labels.h"
#include "wfre/query.h"

enum {
    PATTERN = 64,   /* bits in a word: longer texts are compared by their first 64 bytes */
    NAME_LIMIT = 96 /* bytes of a name that are looked at */
};

typedef struct pattern {
    uint64_t positions[256]; /* bit i: the byte stands at position i */
    size_t length;
} pattern;

static unsigned char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (unsigned char)(c - 'A' + 'a');
    return c == ' ' || c == '-' ? '_' : (unsigned char)c;
}

static void prepare(pattern *p, const char *text, size_t length)
{
    memset(p, 0, sizeof *p);
    p->length = length < PATTERN ? length : PATTERN;
    for (size_t i = 0; i < p->length; i++)
        p->positions[fold(text[i])] |= (uint64_t)1 << i;
}

/* Runs the pattern over the name (Myers 1999, with swaps after Hyyro 2003): *whole is the distance
 * to all of it, *best the least distance to any text[0 .. j), or to any text[i .. j) with
 * `anywhere`. */
static void measure(const pattern *p, wfre_name name, bool anywhere, size_t *whole, size_t *best)
{
    size_t length = name.length < NAME_LIMIT ? name.length : NAME_LIMIT;
    uint64_t up = ~(uint64_t)0, down = 0, last = (uint64_t)1 << (p->length - 1);
    *whole = *best = p->length;
    uint64_t last_match = 0, last_diagonal = 0;
    for (size_t j = 0; j < length; j++) {
        uint64_t match = p->positions[fold(name.bytes[j])];
        uint64_t swapped = (~last_diagonal & match) << 1 & last_match;
        uint64_t diagonal = swapped | (((match & up) + up) ^ up) | match | down;
        uint64_t plus = down | ~(diagonal | up), minus = up & diagonal;
        *whole += (plus & last) != 0;
        *whole -= (minus & last) != 0;
        *best = *whole < *best ? *whole : *best;
        plus = plus << 1 | !anywhere; /* leaving out the start of the name costs, or not */
        minus <<= 1;
        up = minus | ~(diagonal | plus);
        down = plus & diagonal;
        last_match = match;
        last_diagonal = diagonal;
    }
}

/* SIZE_MAX if the name is not near. A part must be hit nearly exactly, and be long enough to mean
 * something. */
static size_t distance(const pattern *p, wfre_name name)
{
    size_t whole, beginning, part, ignored, result = SIZE_MAX, m = p->length;
    measure(p, name, false, &whole, &beginning);
    measure(p, name, true, &ignored, &part);
    if (m >= 3 && part <= m / 4)
        result = part + 2;
    if (m >= 2 && beginning <= m / 4 && beginning + 1 < result)
        result = beginning + 1;
    return whole <= (m + 2) / 3 && whole < result ? whole : result;
}

/* ---- the best few ------------------------------------------------------------------------- */

typedef struct candidate {
    size_t distance;
    size_t length; /* among equals the shortest name is best, then the lowest id */
    uint32_t id;
} candidate;

typedef wfre_name (*name_function)(const wfre_graph *graph, uint32_t id);

static bool better(const candidate *a, const candidate *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->length != b->length ? a->length < b->length : a->id < b->id;
}

typedef struct ranking {
    pattern pattern;
    candidate best[WFRE_NEAREST];
    size_t found, capacity;
    const wfre_labels *labels;
} ranking;

static bool is_wanted(const ranking *r, const candidate *next)
{
    return next->distance != SIZE_MAX &&
           (r->found < r->capacity || better(next, &r->best[r->found - 1]));
}

/* Takes a candidate in, or the better of two ways in which an id is near. */
static void offer(ranking *r, const candidate *next)
{
    if (!is_wanted(r, next))
        return;
    size_t at = 0;
    while (at < r->found && r->best[at].id != next->id)
        at++;
    if (at < r->found && !better(next, &r->best[at]))
        return;
    if (at == r->found)
        at = r->found < r->capacity ? r->found++ : r->found - 1;
    for (; at > 0 && better(next, &r->best[at - 1]); at--)
        r->best[at] = r->best[at - 1];
    r->best[at] = *next;
}

/* A label in some language. */
static void offer_label(void *context, uint32_t rank, wfre_name begin, size_t length)
{
    ranking *r = context;
    uint32_t items[WFRE_NEAREST];
    wfre_labelled having = {items, 0, WFRE_NEAREST};
    candidate next = {distance(&r->pattern, begin), length, 0};
    if (!is_wanted(r, &next))
        return;
    wfre_labels_subjects(r->labels, rank, &having);
    for (size_t i = 0; i < having.count; i++) {
        next.id = r->labels->of_relations ? 2 * items[i] : items[i];
        offer(r, &next);
    }
}

static size_t nearest(const wfre_graph *graph, const name_function *functions, bool relations,
                      const char *text, size_t length, uint32_t *ids, size_t capacity)
{
    ranking r = {.capacity = capacity < WFRE_NEAREST ? capacity : WFRE_NEAREST};
    wfre_labels labels;
    char buffer[NAME_LIMIT];
    if (length == 0 || capacity == 0)
        return 0;
    prepare(&r.pattern, text, length);
    uint32_t count = relations ? wfre_graph_relations(graph) : wfre_graph_entities(graph);
    for (uint32_t id = 0; id < count; id += relations ? 2 : 1) {
        candidate next = {SIZE_MAX, 0, id};
        const char *seen = NULL; /* the label of an entity without one is its name */
        for (int i = 0; i < 2; i++) {
            wfre_name name = functions[i](graph, id);
            size_t d = name.bytes != seen ? distance(&r.pattern, name) : SIZE_MAX;
            if (d < next.distance)
                next = (candidate){d, name.length, id};
            seen = name.bytes;
        }
        offer(&r, &next);
    }
    r.labels = &labels;
    if (wfre_labels_open(&labels, graph, relations))
        wfre_labels_walk(&labels, (wfre_name){NULL, 0}, buffer, sizeof buffer, offer_label, &r);
    for (size_t i = 0; i < r.found; i++)
        ids[i] = r.best[i].id;
    return r.found;
}

size_t wfre_nearest_entities(const wfre_graph *graph, const char *text, size_t length,
                             wfre_entity *entities, size_t capacity)
{
    static const name_function FUNCTIONS[] = {wfre_graph_entity_name, wfre_graph_entity_label};
    return nearest(graph, FUNCTIONS, false, text, length, entities, capacity);
}

size_t wfre_nearest_relations(const wfre_graph *graph, const char *text, size_t length,
                              wfre_relation *relations, size_t capacity)
{
    static const name_function FUNCTIONS[] = {wfre_graph_relation_name, wfre_graph_relation_label};
    return nearest(graph, FUNCTIONS, true, text, length, relations, capacity);
}
