/* WordNet: a folder with data.noun, data.verb, data.adj, data.adv and their index files.
 *
 * A synset is an entity, named like dog.n.01: its first word, its part of speech (s for satellite
 * adjectives) and the number of this meaning among those of the word, as the index orders them. The
 * gloss is its description. Pointers are relations between synsets, also those that WordNet draws
 * between two words of them (antonym, derivationally_related_form, pertainym, participle_of).
 * Of a pointer and its mirror (hypernym and hyponym) one direction is kept; pointers that are
 * their own mirror (similar_to, verb_group, ...) are kept both ways, as WordNet has them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/import.h"

typedef struct part {
    const char *data;
    const char *index;
    char letter;
} part;

static const part PARTS[] = {
    {"data.noun", "index.noun", 'n'},
    {"data.verb", "index.verb", 'v'},
    {"data.adj", "index.adj", 'a'},
    {"data.adv", "index.adv", 'r'},
};
enum { PART_COUNT = sizeof PARTS / sizeof PARTS[0] };

/* NULL: the mirror of another one. */
static const struct pointer_name {
    const char *symbol;
    const char *relation;
} POINTERS[] = {
    {"@", "hypernym"},
    {"~", NULL},
    {"@i", "instance_hypernym"},
    {"~i", NULL},
    {"%m", "has_member"},
    {"#m", NULL},
    {"%p", "has_part"},
    {"#p", NULL},
    {"%s", "has_substance"},
    {"#s", NULL},
    {";c", "domain_topic"},
    {"-c", NULL},
    {";r", "domain_region"},
    {"-r", NULL},
    {";u", "domain_usage"},
    {"-u", NULL},
    {"*", "entails"},
    {">", "causes"},
    {"=", "attribute"},
    {"&", "similar_to"},
    {"^", "also_see"},
    {"$", "verb_group"},
    {"!", "antonym"},
    {"+", "derivationally_related_form"},
    {"<", "participle_of"},
};
enum { POINTER_COUNT = sizeof POINTERS / sizeof POINTERS[0] };

/* The backslash means two things. */
static const char *backslash_relation(char letter)
{
    return letter == 'r' ? "derived_from_adjective" : "pertainym";
}

typedef struct synset {
    const char *word; /* lower case; in the arena */
    uint32_t sense;   /* 1, 2, ...; 0 while the index has not been read */
    char letter;
    const char *gloss;
    size_t gloss_length;
} synset;

typedef struct pointer {
    uint32_t from; /* synset */
    wfre_relation relation;
    char key[10]; /* of the target: part of speech and offset, like n02084071 */
} pointer;

typedef struct dictionary {
    wfre_import_job *job;
    const char *folder;
    wfre_arena arena;
    wfre_strings keys; /* n02084071 -> synset */
    synset *synsets;
    size_t synset_capacity;
    pointer *pointers;
    size_t pointer_count;
    size_t pointer_capacity;
} dictionary;

static bool recognises(const char *path)
{
    char file[WFRE_PATH_SIZE];
    return wfre_is_folder(path) && wfre_import_find(path, PARTS[0].data, file) &&
           wfre_import_find(path, PARTS[0].index, file);
}

/* ---- words of a line ---------------------------------------------------------------------- */

typedef struct words {
    const char *at;
    const char *end;
} words;

/* The next word between blanks; empty at the end. */
static wfre_name next_word(words *line)
{
    while (line->at < line->end && *line->at == ' ')
        line->at++;
    const char *begin = line->at;
    while (line->at < line->end && *line->at != ' ')
        line->at++;
    return (wfre_name){begin, (size_t)(line->at - begin)};
}

/* The next word as a number of the base; false if it is none. */
static bool next_number(words *line, unsigned base, uint32_t *number)
{
    wfre_name word = next_word(line);
    uint32_t value = 0;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.bytes[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                                                : base;
        if (digit >= base || value > 100000000)
            return false;
        value = value * base + digit;
    }
    *number = value;
    return word.length > 0;
}

/* "n" and "02084071" together; false if they are not of that form. */
static bool make_key(char letter, wfre_name offset, char key[10])
{
    if (offset.length != 8)
        return false;
    key[0] = letter == 's' ? 'a' : letter;
    memcpy(key + 1, offset.bytes, 8);
    key[9] = '\0';
    return true;
}

static wfre_status bad_line(wfre_error *error, const wfre_reader *reader, const char *what)
{
    return wfre_import_fail_line(error, reader, "%s; is this a WordNet dictionary file?", what);
}

/* ---- data files: synsets and pointers ----------------------------------------------------- */

/* Lower case, without an adjective's syntactic marker such as "(p)". */
static const char *first_word(dictionary *d, wfre_name word)
{
    if (word.length > 3 && word.bytes[word.length - 1] == ')') {
        const char *bracket = memchr(word.bytes, '(', word.length);
        if (bracket && bracket > word.bytes)
            word.length = (size_t)(bracket - word.bytes);
    }
    char *text = wfre_arena_text(&d->arena, word.bytes, word.length);
    for (char *c = text; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return text;
}

/* The relation of a pointer symbol, WFRE_NONE for a mirror; false if the symbol is unknown. */
static wfre_status find_relation(dictionary *d, wfre_name symbol, char letter,
                                 wfre_relation *relation, bool *known, wfre_error *error)
{
    const char *name = NULL;
    *known = symbol.length == 1 && symbol.bytes[0] == '\\';
    if (*known)
        name = backslash_relation(letter);
    for (int i = 0; i < POINTER_COUNT && !*known; i++)
        if (strlen(POINTERS[i].symbol) == symbol.length &&
            memcmp(POINTERS[i].symbol, symbol.bytes, symbol.length) == 0) {
            name = POINTERS[i].relation;
            *known = true;
        }
    *relation = WFRE_NONE;
    if (!name)
        return WFRE_OK;
    return wfre_graph_builder_relation(d->job->builder, name, strlen(name), relation, error);
}

static wfre_status read_pointer(dictionary *d, const wfre_reader *reader, words *line,
                                uint32_t from, wfre_error *error)
{
    wfre_name symbol = next_word(line), offset = next_word(line), letter = next_word(line);
    wfre_name ends = next_word(line); /* which words it joins; the synsets are enough for us */
    pointer made = {.from = from};
    bool known;
    wfre_status status =
        find_relation(d, symbol, d->synsets[from].letter, &made.relation, &known, error);
    if (status != WFRE_OK)
        return status;
    if (!known || ends.length != 4 || letter.length != 1 ||
        !make_key(letter.bytes[0], offset, made.key))
        return bad_line(error, reader, "a pointer that is not one");
    if (made.relation == WFRE_NONE)
        return WFRE_OK;
    if (!WFRE_RESERVE(&d->pointers, &d->pointer_capacity, d->pointer_count + 1))
        return wfre_fail_memory(error, "reading WordNet");
    d->pointers[d->pointer_count++] = made;
    return WFRE_OK;
}

static wfre_status add_synset(dictionary *d, const wfre_reader *reader, wfre_name offset,
                              char letter, wfre_name word, uint32_t *index, wfre_error *error)
{
    char key[10];
    uint32_t count = d->keys.count;
    if (!make_key(letter, offset, key))
        return bad_line(error, reader, "a synset without its offset");
    wfre_status status = wfre_strings_intern(&d->keys, key, 9, index, error);
    if (status != WFRE_OK)
        return status;
    if (*index < count)
        return bad_line(error, reader, "an offset seen before");
    synset made = {.word = first_word(d, word), .letter = letter};
    if (!made.word || !WFRE_RESERVE(&d->synsets, &d->synset_capacity, (size_t)count + 1))
        return wfre_fail_memory(error, "reading WordNet");
    d->synsets[*index] = made;
    return WFRE_OK;
}

/* offset file-number type word-count {word id} pointer-count {pointer} [frames] | gloss */
static wfre_status read_synset(dictionary *d, const wfre_reader *reader, const char *bytes,
                               size_t length, char letter, wfre_error *error)
{
    const char *bar = memchr(bytes, '|', length);
    words line = {bytes, bar ? bar : bytes + length};
    wfre_name offset = next_word(&line);
    (void)next_word(&line);
    wfre_name type = next_word(&line);
    uint32_t word_count, pointer_count, index = 0;
    if (type.length != 1 || !next_number(&line, 16, &word_count) || word_count == 0 ||
        (type.bytes[0] != letter && !(letter == 'a' && type.bytes[0] == 's')))
        return bad_line(error, reader, "no synset");
    wfre_name word = next_word(&line);
    for (uint32_t i = 0; i < 2 * word_count - 1; i++)
        if (next_word(&line).length == 0)
            return bad_line(error, reader, "fewer words than it says");
    if (!next_number(&line, 10, &pointer_count))
        return bad_line(error, reader, "no number of pointers");
    CHECK(add_synset(d, reader, offset, type.bytes[0], word, &index, error));
    for (uint32_t i = 0; i < pointer_count; i++)
        CHECK(read_pointer(d, reader, &line, index, error));
    if (bar) {
        const char *begin = bar + 1, *end = bytes + length;
        while (begin < end && *begin == ' ')
            begin++;
        while (begin < end && end[-1] == ' ')
            end--;
        d->synsets[index].gloss_length = (size_t)(end - begin);
        d->synsets[index].gloss = wfre_arena_text(&d->arena, begin, (size_t)(end - begin));
        if (!d->synsets[index].gloss)
            return wfre_fail_memory(error, "reading WordNet");
    }
    return WFRE_OK;
}

/* ---- index files: which meaning of its word a synset is ----------------------------------- */

/* word type synset-count pointer-count {symbol} sense-count tagged-count {offset} */
static wfre_status read_senses(dictionary *d, const wfre_reader *reader, const char *bytes,
                               size_t length, char letter, wfre_error *error)
{
    words line = {bytes, bytes + length};
    wfre_name word = next_word(&line), type = next_word(&line);
    uint32_t synset_count, pointer_count, number;
    if (type.length != 1 || type.bytes[0] != letter || !next_number(&line, 10, &synset_count) ||
        !next_number(&line, 10, &pointer_count))
        return bad_line(error, reader, "no word entry");
    for (uint32_t i = 0; i < pointer_count; i++)
        if (next_word(&line).length == 0)
            return bad_line(error, reader, "fewer pointers than it says");
    if (!next_number(&line, 10, &number) || !next_number(&line, 10, &number))
        return bad_line(error, reader, "no number of senses");
    for (uint32_t sense = 1; sense <= synset_count; sense++) {
        char key[10];
        if (!make_key(letter, next_word(&line), key))
            return bad_line(error, reader, "fewer synsets than it says");
        uint32_t index = wfre_strings_find(&d->keys, key, 9);
        if (index == WFRE_NONE)
            return bad_line(error, reader, "a synset that the data file lacks");
        const char *own = d->synsets[index].word;
        if (strlen(own) == word.length && memcmp(own, word.bytes, word.length) == 0)
            d->synsets[index].sense = sense;
    }
    return WFRE_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

typedef wfre_status (*line_reader)(dictionary *d, const wfre_reader *reader, const char *bytes,
                                   size_t length, char letter, wfre_error *error);

static wfre_status read_lines(dictionary *d, const char *folder, const char *name, char letter,
                              line_reader read, wfre_error *error)
{
    char path[WFRE_PATH_SIZE];
    wfre_reader *reader = NULL;
    const char *line;
    size_t length;
    wfre_status status;
    (void)wfre_import_find(folder, name, path);
    TRY(wfre_reader_open(path, &reader, error));
    for (;;) {
        TRY(wfre_import_line(d->job, reader, &line, &length, error));
        if (!line)
            break;
        if (line[0] != ' ') /* the licence is indented */
            TRY(read(d, reader, line, length, letter, error));
    }
cleanup:
    wfre_reader_close(reader);
    return status;
}

/* Names are compared among this dictionary's own: an earlier source may well know a synset. */
static wfre_status add_entities(dictionary *d, wfre_entity *ids, wfre_error *error)
{
    wfre_graph_builder *builder = d->job->builder;
    wfre_strings names = {0};
    wfre_text name = {0};
    wfre_status status = WFRE_OK;
    for (uint32_t i = 0; i < d->keys.count; i++) {
        const synset *s = &d->synsets[i];
        uint32_t place;
        wfre_text_clear(&name);
        wfre_text_format(&name, "%s.%c.%02u", s->word, s->letter, s->sense);
        TRY(wfre_text_status(&name, "naming synsets", error));
        TRY(wfre_strings_intern(&names, name.data, name.length, &place, error));
        if (s->sense == 0 || place < i) {
            status = wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                               "%s: the index files do not tell the meanings of '%.100s' apart; "
                               "are they of the same WordNet as the data files?",
                               d->folder, s->word);
            goto cleanup;
        }
        TRY(wfre_graph_builder_entity(builder, name.data, name.length, &ids[i], error));
        if (s->gloss_length)
            TRY(wfre_graph_builder_describe(builder, ids[i], s->gloss, s->gloss_length, error));
    }
cleanup:
    wfre_strings_free(&names);
    wfre_text_free(&name);
    return status;
}

/* Names the file and the synset of a pointer that leads nowhere. */
static wfre_status fail_pointer(const dictionary *d, const pointer *p, wfre_error *error)
{
    char path[WFRE_PATH_SIZE];
    size_t length;
    const char *from = wfre_strings_get(&d->keys, p->from, &length);
    const part *own = PARTS;
    while (own->letter != from[0])
        own++;
    (void)wfre_import_find(d->folder, own->data, path);
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: synset %.*s points to %s, which no data file has; are all four there?",
                     path, (int)length - 1, from + 1, p->key);
}

static wfre_status add_triples(dictionary *d, const wfre_entity *ids, wfre_error *error)
{
    for (size_t i = 0; i < d->pointer_count; i++) {
        const pointer *p = &d->pointers[i];
        uint32_t to = wfre_strings_find(&d->keys, p->key, 9);
        if (to == WFRE_NONE)
            return fail_pointer(d, p, error);
        CHECK(wfre_graph_builder_triple(d->job->builder, d->job->split, ids[p->from], p->relation,
                                        ids[to], error));
    }
    return WFRE_OK;
}

static wfre_status read_wordnet(wfre_import_job *job, const char *folder, wfre_error *error)
{
    dictionary d = {.job = job, .folder = folder};
    wfre_entity *ids = NULL;
    wfre_status status;
    for (int i = 0; i < PART_COUNT; i++)
        TRY(read_lines(&d, folder, PARTS[i].data, PARTS[i].letter, read_synset, error));
    for (int i = 0; i < PART_COUNT; i++)
        TRY(read_lines(&d, folder, PARTS[i].index, PARTS[i].letter, read_senses, error));
    ids = wfre_alloc(d.keys.count, sizeof *ids);
    if (!ids) {
        status = wfre_fail_memory(error, "reading WordNet");
        goto cleanup;
    }
    TRY(add_entities(&d, ids, error));
    TRY(add_triples(&d, ids, error));
cleanup:
    wfre_free(ids);
    wfre_free(d.synsets);
    wfre_free(d.pointers);
    wfre_strings_free(&d.keys);
    wfre_arena_free(&d.arena);
    return status;
}

const wfre_importer wfre_importer_wordnet = {
    .name = "wordnet",
    .about = "a WordNet dictionary folder (data.noun, index.noun, ...)",
    .recognises = recognises,
    .read = read_wordnet,
};
