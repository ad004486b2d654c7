/* Finding and reading terms in the sorted dictionary, and writing it. */
#include "graph/dictionary.h"

#include <string.h>

#include "base/scope.h"

enum { LOOK_BLOCKS = 64 }; /* of terms, between looks whether to stop */

/* ---- classes ------------------------------------------------------------------------------ */

wfre_name wfre_dictionary_key(const wfre_dictionary *dictionary, uint32_t class)
{
    uint32_t begin = class > 0 ? dictionary->classes[class - 1].key_end : 0;
    return (wfre_name){dictionary->keys + begin, dictionary->classes[class].key_end - begin};
}

uint32_t wfre_dictionary_class(const wfre_dictionary *dictionary, uint32_t rank)
{
    uint32_t low = 0, high = dictionary->class_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (dictionary->classes[middle].first <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t shorter = a_length < b_length ? a_length : b_length;
    int order = shorter ? memcmp(a, b, shorter) : 0;
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

uint32_t wfre_dictionary_find_class(const wfre_dictionary *dictionary, char kind, const char *text,
                                    size_t length)
{
    uint32_t low = 1, high = dictionary->class_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        wfre_name key = wfre_dictionary_key(dictionary, middle);
        int order = key.bytes[0] != kind
                        ? (unsigned char)key.bytes[0] - (unsigned char)kind
                        : compare_texts(key.bytes + 1, key.length - 1, text, length);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return WFRE_NONE;
}

void wfre_dictionary_range(const wfre_dictionary *dictionary, uint32_t class, uint32_t *first,
                           uint32_t *end)
{
    uint32_t next = class + 1 < dictionary->class_count ? dictionary->classes[class + 1].first
                                                        : dictionary->count;
    *first = dictionary->classes[class].first;
    *end = next < dictionary->count ? next : dictionary->count;
}

/* ---- terms -------------------------------------------------------------------------------- */

/* One entry of a block: what it shares with the one before, and the rest of it. */
typedef struct entry {
    uint64_t shared;
    const char *rest;
    uint64_t rest_length;
} entry;

static bool get_length(const wfre_dictionary *dictionary, uint64_t *byte, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (*byte >= dictionary->length)
            return false;
        unsigned char here = dictionary->bytes[(*byte)++];
        *value |= (uint64_t)(here & 0x7F) << shift;
        if (here < 0x80)
            return true;
    }
    return false;
}

/* Reads the entry at *byte, which moves behind it; false if the bytes are damaged. */
static bool get_entry(const wfre_dictionary *dictionary, uint64_t *byte, bool first, entry *found)
{
    found->shared = 0;
    if (!first && !get_length(dictionary, byte, &found->shared))
        return false;
    if (!get_length(dictionary, byte, &found->rest_length) ||
        found->rest_length > dictionary->length - *byte)
        return false;
    found->rest = (const char *)dictionary->bytes + *byte;
    *byte += found->rest_length;
    return true;
}

/* The number of a rank's block, and the rank that the block starts with; false if the tables are
 * damaged. */
static bool locate(const wfre_dictionary *dictionary, uint32_t rank, uint32_t *block,
                   uint32_t *start)
{
    const wfre_term_class *class = &dictionary->classes[wfre_dictionary_class(dictionary, rank)];
    if (rank < class->first)
        return false;
    uint32_t within = (rank - class->first) / WFRE_DICTIONARY_BLOCK;
    *block = class->block + within;
    *start = class->first + within * WFRE_DICTIONARY_BLOCK;
    return *block < dictionary->block_count;
}

void wfre_dictionary_get(const wfre_dictionary *dictionary, uint32_t rank, wfre_text *scratch)
{
    uint32_t block, start;
    if (rank >= dictionary->count || !locate(dictionary, rank, &block, &start))
        return;
    uint64_t byte = dictionary->blocks[block];
    size_t begin = scratch->length;
    for (uint32_t at = start; at <= rank && !scratch->failed; at++) {
        entry here;
        if (!get_entry(dictionary, &byte, at == start, &here) ||
            here.shared > scratch->length - begin)
            return;
        scratch->length = begin + (size_t)here.shared;
        wfre_text_append(scratch, here.rest, (size_t)here.rest_length);
    }
}

/* The last of these blocks whose first term is not behind the text, or the first one. */
static uint32_t find_block(const wfre_dictionary *dictionary, uint32_t low, uint32_t high,
                           const char *text, size_t length)
{
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t byte = dictionary->blocks[middle];
        entry head;
        if (get_entry(dictionary, &byte, true, &head) &&
            compare_texts(head.rest, (size_t)head.rest_length, text, length) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t common_prefix(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t shorter = a_length < b_length ? a_length : b_length, at = 0;
    while (at < shorter && a[at] == b[at])
        at++;
    return at;
}

/* Walks through the block without writing its terms out. The term at hand is before the text and
 * shares `matched` bytes with it. One that shares more than these with the term before it is before
 * the text, too; one that shares fewer is behind it; only one that shares as many is compared. */
uint32_t wfre_dictionary_find(const wfre_dictionary *dictionary, uint32_t class, const char *text,
                              size_t length)
{
    uint32_t first, end, block, rank;
    wfre_dictionary_range(dictionary, class, &first, &end);
    if (first >= end || !locate(dictionary, end - 1, &block, &rank) ||
        block < dictionary->classes[class].block)
        return WFRE_NONE;
    block = find_block(dictionary, dictionary->classes[class].block, block + 1, text, length);
    rank = first + (block - dictionary->classes[class].block) * WFRE_DICTIONARY_BLOCK;
    uint64_t byte = dictionary->blocks[block], matched = 0;
    for (uint32_t i = 0; i < WFRE_DICTIONARY_BLOCK && rank + i < end; i++) {
        entry here;
        if (!get_entry(dictionary, &byte, i == 0, &here) || here.shared < matched)
            return WFRE_NONE;
        if (here.shared > matched)
            continue;
        size_t more = common_prefix(here.rest, (size_t)here.rest_length, text + matched,
                                    length - (size_t)matched);
        matched += more;
        if (matched == length || (more < here.rest_length &&
                                  (unsigned char)here.rest[more] > (unsigned char)text[matched]))
            return matched == length && more == here.rest_length ? rank + i : WFRE_NONE;
    }
    return WFRE_NONE;
}

void wfre_dictionary_walk(const wfre_dictionary *dictionary, uint32_t class, char *buffer,
                          size_t most, wfre_dictionary_visit *visit, void *context)
{
    uint32_t first, end;
    uint64_t byte = 0, length = 0;
    wfre_dictionary_range(dictionary, class, &first, &end);
    for (uint32_t rank = first; rank < end; rank++) {
        uint32_t within = (rank - first) / WFRE_DICTIONARY_BLOCK;
        bool starts = (rank - first) % WFRE_DICTIONARY_BLOCK == 0;
        entry here;
        if (starts && within % LOOK_BLOCKS == 0 && wfre_stopped())
            return;
        if (starts)
            byte = dictionary->blocks[dictionary->classes[class].block + within];
        if (!get_entry(dictionary, &byte, starts, &here) || here.shared > length)
            return;
        if (here.shared < most) {
            uint64_t room = most - here.shared;
            uint64_t taken = here.rest_length < room ? here.rest_length : room;
            memcpy(buffer + here.shared, here.rest, (size_t)taken);
        }
        length = here.shared + here.rest_length;
        visit(context, rank, (wfre_name){buffer, length < most ? (size_t)length : most},
              (size_t)length);
    }
}

/* ---- checking ----------------------------------------------------------------------------- */

const char *wfre_dictionary_check_classes(const wfre_dictionary *d)
{
    uint32_t block = 0;
    if (d->class_count == 0)
        return d->count == 0 && d->block_count == 0 && d->key_length == 0 ? "" : "has no classes";
    if (d->classes[0].key_end != 0)
        return "has no class of IRIs";
    for (uint32_t class = 0; class < d->class_count; class ++) {
        uint32_t next = class + 1 < d->class_count ? d->classes[class + 1].first : d->count;
        uint32_t first = d->classes[class].first;
        if (first > next || next > d->count || (class == 0 && first != 0))
            return "has classes out of order";
        if (d->classes[class].block != block)
            return "has a class with the wrong blocks";
        uint32_t key_begin = class > 0 ? d->classes[class - 1].key_end : 0;
        if (d->classes[class].key_end < key_begin || d->classes[class].key_end > d->key_length)
            return "has keys in the wrong place";
        block += (next - first + WFRE_DICTIONARY_BLOCK - 1) / WFRE_DICTIONARY_BLOCK;
        wfre_name key = wfre_dictionary_key(d, class);
        if (class == 0)
            continue;
        wfre_name before = wfre_dictionary_key(d, class - 1);
        if (compare_texts(before.bytes, before.length, key.bytes, key.length) >= 0)
            return "has keys out of order";
        bool plain = key.length == 1 && key.bytes[0] == 's';
        if (!wfre_utf8_valid(key.bytes, key.length) ||
            (!plain && (key.length < 2 || (key.bytes[0] != '@' && key.bytes[0] != '^'))))
            return "has a key that is none";
    }
    if (d->classes[d->class_count - 1].key_end != d->key_length)
        return "has keys of no class";
    return block == d->block_count ? "" : "has the wrong number of blocks";
}

/* Writes each term out behind the one before and compares the two. */
static const char *check_class(const wfre_dictionary *d, uint32_t class, uint64_t *byte,
                               wfre_text *before, wfre_text *text)
{
    uint32_t first, end;
    wfre_dictionary_range(d, class, &first, &end);
    for (uint32_t rank = first; rank < end; rank++) {
        bool starts = (rank - first) % WFRE_DICTIONARY_BLOCK == 0;
        entry here;
        if (starts &&
            d->blocks[d->classes[class].block + (rank - first) / WFRE_DICTIONARY_BLOCK] != *byte)
            return "has a block in the wrong place";
        if (!get_entry(d, byte, starts, &here) || here.shared > before->length)
            return "ends within a term";
        wfre_text_clear(text);
        wfre_text_append(text, before->data, (size_t)here.shared);
        wfre_text_append(text, here.rest, (size_t)here.rest_length);
        if (text->failed)
            return NULL;
        if (!wfre_utf8_valid(text->data, text->length))
            return "has a term that is not UTF-8";
        if (rank > first &&
            compare_texts(before->data, before->length, text->data, text->length) >= 0)
            return "has terms out of order";
        wfre_text swap = *before;
        *before = *text;
        *text = swap;
    }
    return "";
}

const char *wfre_dictionary_check(const wfre_dictionary *dictionary)
{
    wfre_text before = {0}, text = {0};
    uint64_t byte = 0;
    const char *reason = wfre_dictionary_check_classes(dictionary);
    for (uint32_t class = 0; class < dictionary->class_count && reason && !*reason; class ++)
        reason = check_class(dictionary, class, &byte, &before, &text);
    if (reason && !*reason && byte != dictionary->length)
        reason = "has bytes that belong to no term";
    wfre_text_free(&before);
    wfre_text_free(&text);
    return reason;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_length(wfre_text *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        wfre_text_char(bytes, (char)(unsigned char)(value | 0x80));
    wfre_text_char(bytes, (char)value);
}

void wfre_dictionary_put(wfre_text *bytes, wfre_name before, wfre_name text)
{
    size_t shared = 0;
    if (before.bytes) {
        shared = common_prefix(before.bytes, before.length, text.bytes, text.length);
        put_length(bytes, shared);
    }
    put_length(bytes, text.length - shared);
    wfre_text_append(bytes, text.bytes + shared, text.length - shared);
}

/* The eight bytes of an item's text from `depth` on, as a number that sorts like them; short texts
 * are filled up with zeros. */
static uint64_t load_key(const wfre_strings *strings, uint32_t id, size_t depth)
{
    size_t length;
    const unsigned char *text = (const unsigned char *)wfre_strings_get(strings, id, &length);
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++)
        key = key << 8 | (depth + i < length ? text[depth + i] : 0);
    return key;
}

static void swap_items(wfre_sort_item *a, wfre_sort_item *b)
{
    wfre_sort_item held = *a;
    *a = *b;
    *b = held;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    if (a > b) {
        uint64_t held = a;
        a = b;
        b = held;
    }
    return c < a ? a : c > b ? b : c;
}

static size_t text_length(const wfre_strings *strings, uint32_t id)
{
    size_t length;
    (void)wfre_strings_get(strings, id, &length);
    return length;
}

/* Texts that are equal up to `depth`, and on to their ends in the next eight bytes: those differ
 * only in how many of the zeros are theirs, so the shorter ones come first. Texts that go on are
 * moved to the end; returns how many have ended. */
static size_t part_ended(wfre_sort_item *items, size_t count, const wfre_strings *strings,
                         size_t depth)
{
    size_t ended = 0;
    for (size_t i = 0; i < count; i++)
        if (text_length(strings, items[i].id) <= depth + 8)
            swap_items(&items[i], &items[ended++]);
    for (size_t i = 1; i < ended; i++) /* at most nine different ones */
        for (size_t j = i;
             j > 0 && text_length(strings, items[j - 1].id) > text_length(strings, items[j].id);
             j--)
            swap_items(&items[j - 1], &items[j]);
    return ended;
}

/* Multikey quicksort, eight bytes at a time. The largest of the three parts is done by the loop, so
 * that the calls nest at most as deep as the logarithm of the count. */
static void sort_from(wfre_sort_item *items, size_t count, const wfre_strings *strings,
                      size_t depth, bool loaded)
{
    while (count > 1) {
        for (size_t i = 0; i < count && !loaded; i++)
            items[i].key = load_key(strings, items[i].id, depth);
        loaded = true;
        uint64_t pivot = median(items[0].key, items[count / 2].key, items[count - 1].key);
        size_t less = 0, at = 0, more = count;
        while (at < more)
            if (items[at].key < pivot)
                swap_items(&items[less++], &items[at++]);
            else if (items[at].key > pivot)
                swap_items(&items[at], &items[--more]);
            else
                at++;
        size_t ended = part_ended(items + less, more - less, strings, depth);
        struct part {
            wfre_sort_item *items;
            size_t count, depth;
            bool loaded;
        } parts[3] = {{items, less, depth, true},
                      {items + less + ended, more - less - ended, depth + 8, false},
                      {items + more, count - more, depth, true}};
        int largest = 0;
        for (int i = 1; i < 3; i++)
            if (parts[i].count > parts[largest].count)
                largest = i;
        for (int i = 0; i < 3; i++)
            if (i != largest)
                sort_from(parts[i].items, parts[i].count, strings, parts[i].depth, parts[i].loaded);
        items = parts[largest].items;
        count = parts[largest].count;
        depth = parts[largest].depth;
        loaded = parts[largest].loaded;
    }
}

void wfre_sort_texts(wfre_sort_item *items, size_t count, const wfre_strings *strings, size_t skip)
{
    sort_from(items, count, strings, skip, false);
}
