/* Regular expressions: compiled to a small program that is run on all alternatives at once, one
 * character at a time, so that no pattern takes exponential time.
 *
 * The pattern is parsed to a tree first. The program is written from the tree, counted repetition
 * by writing its body several times. */
#include "sparql/regex.h"

#include <string.h>
#include <wctype.h>

#include "base/memory.h"
#include "base/scope.h"
#include "sparql/lexer.h"

enum { PROGRAM = 1 << 16, GROUPS = 10, NESTING = 100, REPEATS = 1000 };
enum { LOOK = 1 << 14 }; /* steps between two looks at the clock */

typedef enum operation {
    CHARACTER, /* value */
    ANY,
    CLASS, /* value: index of the class */
    SPLIT, /* goes on at `first`, and with less right at `second` */
    JUMP,
    SAVE, /* value: which end of which group */
    LINE_BEGIN,
    LINE_END,
    MATCH
} operation;

typedef struct instruction {
    operation op;
    uint32_t value;
    uint32_t first, second;
} instruction;

/* A member of a class: a range, or a named set. */
typedef struct range {
    uint32_t low, high;
    char set;    /* 0, or d s w i c, or p: category */
    char letter; /* of the category: L N P Z S, or u l (upper, lower) */
    bool negated;
} range;

typedef struct class
{
    range *ranges;
    size_t count, capacity;
    bool negated;
    uint32_t subtracted; /* index of the class to take away, or WFRE_NONE */
} class;

typedef struct thread {
    uint32_t at;
    size_t ends[2 * GROUPS];
} thread;

/* What is left to enter: an instruction, or an end to set back to what it was. */
typedef struct pending {
    uint32_t at;
    uint32_t restore; /* WFRE_NONE for an instruction */
    size_t old;
} pending;

typedef struct threads {
    thread *list;
    size_t count;
} threads;

struct wfre_sq_regex {
    instruction *program;
    size_t count, capacity;
    class *classes;
    size_t class_count, class_capacity;
    uint32_t groups;
    bool ignore_case, dot_all, multi_line, extended;
    locale_t locale;
    threads now, next;
    uint32_t *marks; /* the step at which an instruction was entered last */
    uint32_t step;
    size_t work;    /* since the last look at the clock */
    bool stopped;   /* by the clock */
    pending *stack; /* of enter(): an instruction is entered once a step, and leaves one behind */
    /* while compiling */
    const char *text;
    size_t length, at;
    unsigned depth;
    wfre_error *error;
};

static wfre_status fail(wfre_sq_regex *r, const char *what)
{
    return wfre_fail(r->error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "regular expression: %s", what);
}

static wfre_status emit(wfre_sq_regex *r, operation op, uint32_t value, uint32_t *place)
{
    if (r->count >= PROGRAM)
        return fail(r, "it is too long, or repeats too often");
    if (!wfre_reserve(&r->program, &r->capacity, r->count + 1, sizeof *r->program))
        return wfre_fail_memory(r->error, "reading a regular expression");
    *place = (uint32_t)r->count;
    r->program[r->count++] = (instruction){.op = op, .value = value};
    return WFRE_OK;
}

/* ---- classes ------------------------------------------------------------------------------ */

static bool in_category(const wfre_sq_regex *r, char letter, wint_t c)
{
    bool digit = c >= '0' && c <= '9';
    switch (letter) {
    case 'u':
        return iswupper_l(c, r->locale);
    case 'l':
        return iswlower_l(c, r->locale);
    case 'L':
        return iswalpha_l(c, r->locale) && !digit;
    case 'N':
        return digit || (iswalnum_l(c, r->locale) && !iswalpha_l(c, r->locale));
    case 'P':
    case 'S':
        return iswpunct_l(c, r->locale);
    default:
        return iswspace_l(c, r->locale);
    }
}

static bool in_set(const wfre_sq_regex *r, const range *m, uint32_t c)
{
    bool is;
    switch (m->set) {
    case 'd':
        is = c >= '0' && c <= '9';
        break;
    case 's':
        is = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        break;
    case 'w':
        is = c == '_' || iswalnum_l((wint_t)c, r->locale) ||
             (c >= 0x80 && !iswpunct_l((wint_t)c, r->locale) && !iswspace_l((wint_t)c, r->locale));
        break;
    case 'i':
        is = c == '_' || c == ':' || (iswalpha_l((wint_t)c, r->locale) && !(c >= '0' && c <= '9'));
        break;
    case 'c':
        is = c == '_' || c == ':' || c == '-' || c == '.' || c == 0xB7 ||
             iswalnum_l((wint_t)c, r->locale);
        break;
    case 'p':
        is = in_category(r, m->letter, (wint_t)c);
        break;
    default:
        is = c >= m->low && c <= m->high;
    }
    return is != m->negated;
}

static bool in_class(const wfre_sq_regex *r, uint32_t index, uint32_t c)
{
    const class *k = &r->classes[index];
    bool found = false;
    for (size_t i = 0; i < k->count && !found; i++)
        found = in_set(r, &k->ranges[i], c);
    if (found == k->negated)
        return false;
    return k->subtracted == WFRE_NONE || !in_class(r, k->subtracted, c);
}

static bool class_matches(const wfre_sq_regex *r, uint32_t index, uint32_t c)
{
    if (!r->ignore_case)
        return in_class(r, index, c);
    return in_class(r, index, c) ||
           in_class(r, index, (uint32_t)towlower_l((wint_t)c, r->locale)) ||
           in_class(r, index, (uint32_t)towupper_l((wint_t)c, r->locale));
}

static wfre_status add_range(wfre_sq_regex *r, uint32_t index, range m)
{
    class *k = &r->classes[index];
    if (!wfre_reserve(&k->ranges, &k->capacity, k->count + 1, sizeof *k->ranges))
        return wfre_fail_memory(r->error, "reading a regular expression");
    k->ranges[k->count++] = m;
    return WFRE_OK;
}

static wfre_status new_class(wfre_sq_regex *r, uint32_t *index)
{
    if (!wfre_reserve(&r->classes, &r->class_capacity, r->class_count + 1, sizeof *r->classes))
        return wfre_fail_memory(r->error, "reading a regular expression");
    r->classes[r->class_count] = (class){.subtracted = WFRE_NONE};
    *index = (uint32_t)r->class_count++;
    return WFRE_OK;
}

static bool at(const wfre_sq_regex *r, char c)
{
    return r->at < r->length && r->text[r->at] == c;
}

static uint32_t take(wfre_sq_regex *r)
{
    size_t size;
    uint32_t c = wfre_sq_decode(r->text + r->at, r->length - r->at, &size);
    r->at += size;
    return c;
}

/* {Lu} behind \p */
static wfre_status parse_category(wfre_sq_regex *r, range *m)
{
    const char *close = memchr(r->text + r->at, '}', r->length - r->at);
    if (!at(r, '{') || !close)
        return fail(r, "\\p needs a category in braces, such as \\p{L}");
    const char *name = r->text + r->at + 1;
    size_t size = (size_t)(close - name);
    if (size == 0 || size > 2 || !strchr("LNPSZ", name[0]))
        return fail(r, "of the categories only L, N, P, S and Z are known here");
    m->letter = name[0];
    if (size == 2 && name[0] == 'L')
        m->letter = name[1] == 'u' ? 'u' : name[1] == 'l' ? 'l' : 'L';
    r->at += size + 2;
    return WFRE_OK;
}

/* Behind a backslash: a set, or one character in m->low. */
static wfre_status parse_escape(wfre_sq_regex *r, range *m)
{
    if (r->at == r->length)
        return fail(r, "a backslash at its end");
    uint32_t c = take(r);
    *m = (range){0};
    if (c < 0x80 && strchr("dDsSwWiIcCpP", (int)c) && c) {
        m->set = (char)(c | 0x20);
        m->negated = c < 'a';
        return m->set == 'p' ? parse_category(r, m) : WFRE_OK;
    }
    if (c >= '1' && c <= '9')
        return wfre_fail(r->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "regular expression: back-references such as \\1 are not supported");
    m->low = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    m->high = m->low;
    if (m->low == c && !(c < 0x80 && c && strchr("\\|.-^?*+{}()[]$ /\"'#&,:;<=>@_`~!%", (int)c)))
        return fail(r, "an unknown character behind a backslash");
    return WFRE_OK;
}

/* Behind the opening bracket. */
static wfre_status parse_class(wfre_sq_regex *r, uint32_t *index)
{
    wfre_status status;
    TRY(new_class(r, index));
    if (++r->depth > NESTING)
        return fail(r, "it is nested too deep");
    if (at(r, '^')) {
        r->classes[*index].negated = true;
        r->at++;
    }
    bool first = true;
    while (r->at < r->length && (first || !at(r, ']'))) {
        range m = {0};
        if (at(r, '-') && r->at + 1 < r->length && r->text[r->at + 1] == '[' && !first) {
            uint32_t inner;
            r->at += 2;
            TRY(parse_class(r, &inner));
            r->classes[*index].subtracted = inner;
            if (!at(r, ']'))
                return fail(r, "a subtraction stands at the end of a class");
            break;
        }
        first = false;
        m.low = m.high = take(r);
        if (m.low == '\\')
            TRY(parse_escape(r, &m));
        else if (m.low == '[')
            return fail(r, "a bracket within a class needs a backslash");
        bool through = at(r, '-') && r->at + 1 < r->length && r->text[r->at + 1] != ']' &&
                       r->text[r->at + 1] != '[';
        if (through && !m.set) {
            range end = {0};
            r->at++;
            end.low = take(r);
            if (end.low == '\\')
                TRY(parse_escape(r, &end));
            m.high = end.low;
            if (end.set || m.high < m.low)
                return fail(r, "a range in a class runs backwards");
        }
        TRY(add_range(r, *index, m));
    }
    if (!at(r, ']'))
        return fail(r, "a class without its closing bracket");
    r->at++;
    r->depth--;
cleanup:
    return status;
}

/* ---- compiling ---------------------------------------------------------------------------- */

static wfre_status parse_alternatives(wfre_sq_regex *r);

static wfre_status parse_group(wfre_sq_regex *r)
{
    wfre_status status = WFRE_OK;
    uint32_t group = WFRE_NONE, place;
    if (++r->depth > NESTING)
        return fail(r, "it is nested too deep");
    if (at(r, '?')) {
        if (r->at + 1 >= r->length || r->text[r->at + 1] != ':')
            return fail(r, "of the groups with a question mark only (?: is known");
        r->at += 2;
    } else if (r->groups + 1 < GROUPS) {
        group = ++r->groups;
    }
    if (group != WFRE_NONE)
        TRY(emit(r, SAVE, 2 * group, &place));
    TRY(parse_alternatives(r));
    if (group != WFRE_NONE)
        TRY(emit(r, SAVE, 2 * group + 1, &place));
    if (!at(r, ')'))
        return fail(r, "a group without its closing bracket");
    r->at++;
    r->depth--;
cleanup:
    return status;
}

static wfre_status parse_atom(wfre_sq_regex *r)
{
    wfre_status status;
    uint32_t place, index;
    uint32_t c = take(r);
    switch (c) {
    case '(':
        return parse_group(r);
    case '[':
        TRY(parse_class(r, &index));
        return emit(r, CLASS, index, &place);
    case '.':
        return emit(r, ANY, 0, &place);
    case '^':
        return emit(r, LINE_BEGIN, 0, &place);
    case '$':
        return emit(r, LINE_END, 0, &place);
    case '\\': {
        range m;
        TRY(parse_escape(r, &m));
        if (!m.set)
            return emit(r, CHARACTER, m.low, &place);
        TRY(new_class(r, &index));
        TRY(add_range(r, index, m));
        return emit(r, CLASS, index, &place);
    }
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(r, "a repetition of nothing");
    default:
        return emit(r, CHARACTER, c, &place);
    }
cleanup:
    return status;
}

/* {n}, {n,} or {n,m}; most == WFRE_NONE: any number. */
static wfre_status parse_counts(wfre_sq_regex *r, uint32_t *least, uint32_t *most)
{
    uint32_t numbers[2] = {0, WFRE_NONE};
    size_t which = 0, digits = 0;
    for (r->at++; r->at < r->length && !at(r, '}'); r->at++) {
        char c = r->text[r->at];
        if (c == ',' && which == 0 && digits) {
            which = 1;
        } else if (c >= '0' && c <= '9') {
            digits++;
            numbers[which] =
                (numbers[which] == WFRE_NONE ? 0 : numbers[which] * 10) + (uint32_t)(c - '0');
            if (numbers[which] > REPEATS)
                return fail(r, "a repetition of more than 1000 times");
        } else {
            return fail(r, "a repetition in braces is {n}, {n,} or {n,m}");
        }
    }
    if (!at(r, '}') || digits == 0)
        return fail(r, "a repetition in braces is {n}, {n,} or {n,m}");
    r->at++;
    *least = numbers[0];
    *most = which ? numbers[1] : numbers[0];
    return *most < *least ? fail(r, "a repetition whose numbers run backwards") : WFRE_OK;
}

/* Appends a copy of the piece [begin, end) of the program; its jumps stay within it. */
static wfre_status copy_piece(wfre_sq_regex *r, const instruction *piece, uint32_t begin,
                              uint32_t size)
{
    uint32_t shift = (uint32_t)r->count - begin, place = 0;
    for (uint32_t i = 0; i < size; i++) {
        instruction copy = piece[i];
        if (copy.op == SPLIT || copy.op == JUMP) {
            copy.first += shift;
            copy.second += shift;
        }
        wfre_status status = emit(r, copy.op, copy.value, &place);
        if (status != WFRE_OK)
            return status;
        r->program[place] = copy;
    }
    return WFRE_OK;
}

static void set_split(wfre_sq_regex *r, uint32_t place, uint32_t body, uint32_t behind, bool lazy)
{
    r->program[place].first = lazy ? behind : body;
    r->program[place].second = lazy ? body : behind;
}

/* Replaces the piece of the program that begins at `begin` by its repetition. */
static wfre_status repeat(wfre_sq_regex *r, uint32_t begin, uint32_t least, uint32_t most,
                          bool lazy)
{
    wfre_status status = WFRE_OK;
    uint32_t size = (uint32_t)r->count - begin, place = 0;
    instruction *piece = wfre_alloc((size_t)size + 1, sizeof *piece);
    if (!piece)
        return wfre_fail_memory(r->error, "reading a regular expression");
    if (size)
        memcpy(piece, r->program + begin, size * sizeof *piece);
    r->count = begin;
    for (uint32_t i = 0; i < least; i++)
        TRY(copy_piece(r, piece, begin, size));
    if (most == WFRE_NONE) {
        uint32_t split;
        TRY(emit(r, SPLIT, 0, &split));
        TRY(copy_piece(r, piece, begin, size));
        TRY(emit(r, JUMP, 0, &place));
        r->program[place].first = split;
        set_split(r, split, split + 1, (uint32_t)r->count, lazy);
    } else {
        uint32_t first = (uint32_t)r->count;
        for (uint32_t i = least; i < most; i++) {
            TRY(emit(r, SPLIT, 0, &place));
            TRY(copy_piece(r, piece, begin, size));
        }
        for (uint32_t i = 0; i < most - least; i++) {
            uint32_t split = first + i * (size + 1);
            set_split(r, split, split + 1, (uint32_t)r->count, lazy);
        }
    }
cleanup:
    wfre_free(piece);
    return status;
}

static wfre_status parse_sequence(wfre_sq_regex *r)
{
    wfre_status status = WFRE_OK;
    while (r->at < r->length && !at(r, '|') && !at(r, ')')) {
        if (r->extended && strchr(" \t\n\r", r->text[r->at])) {
            r->at++;
            continue;
        }
        uint32_t begin = (uint32_t)r->count;
        TRY(parse_atom(r));
        while (at(r, '*') || at(r, '+') || at(r, '?') || at(r, '{')) {
            uint32_t least = at(r, '+'), most = at(r, '?') ? 1 : WFRE_NONE;
            if (at(r, '{'))
                TRY(parse_counts(r, &least, &most));
            else
                r->at++;
            bool lazy = at(r, '?');
            r->at += lazy;
            TRY(repeat(r, begin, least, most, lazy));
        }
    }
cleanup:
    return status;
}

static wfre_status parse_alternatives(wfre_sq_regex *r)
{
    wfre_status status;
    uint32_t begin = (uint32_t)r->count;
    TRY(parse_sequence(r));
    while (at(r, '|')) {
        /* a split goes in front of what was read, a jump behind it */
        uint32_t size = (uint32_t)r->count - begin, place = 0, jump;
        instruction *piece = wfre_alloc((size_t)size + 1, sizeof *piece);
        if (!piece)
            return wfre_fail_memory(r->error, "reading a regular expression");
        if (size)
            memcpy(piece, r->program + begin, size * sizeof *piece);
        r->count = begin;
        status = emit(r, SPLIT, 0, &place);
        if (status == WFRE_OK)
            status = copy_piece(r, piece, begin, size);
        wfre_free(piece);
        TRY(status);
        TRY(emit(r, JUMP, 0, &jump));
        set_split(r, place, place + 1, (uint32_t)r->count, false);
        r->at++;
        TRY(parse_sequence(r));
        /* the jump may not end at the next alternative's split: an empty one stands between */
        r->program[jump].first = (uint32_t)r->count;
    }
cleanup:
    return status;
}

static wfre_status read_flags(wfre_sq_regex *r, wfre_name flags, bool *literal)
{
    for (size_t i = 0; i < flags.length; i++)
        switch (flags.bytes[i]) {
        case 'i':
            r->ignore_case = true;
            break;
        case 's':
            r->dot_all = true;
            break;
        case 'm':
            r->multi_line = true;
            break;
        case 'x':
            r->extended = true;
            break;
        case 'q':
            *literal = true;
            break;
        default:
            return fail(r, "the flags are i, s, m, x and q");
        }
    return WFRE_OK;
}

static wfre_status compile(wfre_sq_regex *r, bool literal)
{
    wfre_status status = WFRE_OK;
    uint32_t place;
    TRY(emit(r, SAVE, 0, &place));
    if (literal)
        while (r->at < r->length)
            TRY(emit(r, CHARACTER, take(r), &place));
    else
        TRY(parse_alternatives(r));
    if (r->at < r->length)
        return fail(r, "a closing bracket without an opening one");
    TRY(emit(r, SAVE, 1, &place));
    TRY(emit(r, MATCH, 0, &place));
    r->now.list = wfre_alloc(r->count, sizeof *r->now.list);
    r->next.list = wfre_alloc(r->count, sizeof *r->next.list);
    r->marks = wfre_alloc_zero(r->count, sizeof *r->marks);
    r->stack = wfre_alloc(r->count + 1, sizeof *r->stack);
    if (!r->now.list || !r->next.list || !r->marks || !r->stack)
        status = wfre_fail_memory(r->error, "reading a regular expression");
cleanup:
    return status;
}

wfre_status wfre_sq_regex_compile(wfre_name pattern, wfre_name flags, locale_t locale,
                                  wfre_sq_regex **regex, wfre_error *error)
{
    wfre_status status;
    wfre_sq_regex *r = wfre_alloc_zero(1, sizeof *r);
    bool literal = false;
    if (!r)
        return wfre_fail_memory(error, "reading a regular expression");
    r->text = pattern.bytes;
    r->length = pattern.length;
    r->locale = locale;
    r->error = error;
    TRY(read_flags(r, flags, &literal));
    TRY(compile(r, literal));
    r->error = NULL;
    r->text = NULL;
    *regex = r;
    r = NULL;
cleanup:
    wfre_sq_regex_free(r);
    return status;
}

void wfre_sq_regex_free(wfre_sq_regex *regex)
{
    if (!regex)
        return;
    for (size_t i = 0; i < regex->class_count; i++)
        wfre_free(regex->classes[i].ranges);
    wfre_free(regex->classes);
    wfre_free(regex->program);
    wfre_free(regex->now.list);
    wfre_free(regex->next.list);
    wfre_free(regex->marks);
    wfre_free(regex->stack);
    wfre_free(regex);
}

/* ---- running ------------------------------------------------------------------------------ */

typedef struct subject {
    const char *text;
    size_t length;
} subject;

static bool holds(const wfre_sq_regex *r, operation op, const subject *s, size_t here)
{
    if (op == LINE_BEGIN)
        return here == 0 || (r->multi_line && s->text[here - 1] == '\n');
    return here == s->length || (r->multi_line && s->text[here] == '\n');
}

/* Enters an instruction at a place of the text: follows jumps to those that read a character. The
 * program has no cycle that reads nothing but through marked instructions, so it ends. */
static void enter(wfre_sq_regex *r, threads *list, const thread *from, const subject *s,
                  size_t here)
{
    pending *stack = r->stack;
    size_t depth = 0;
    thread t = *from;
    stack[depth++].at = from->at;
    stack[0].restore = WFRE_NONE;
    while (depth > 0) {
        depth--;
        if (stack[depth].restore != WFRE_NONE) {
            t.ends[stack[depth].restore] = stack[depth].old;
            continue;
        }
        uint32_t place = stack[depth].at;
        while (r->marks[place] != r->step) {
            r->marks[place] = r->step;
            r->work++;
            const instruction *i = &r->program[place];
            if (i->op == JUMP) {
                place = i->first;
            } else if (i->op == SPLIT) {
                stack[depth].at = i->second;
                stack[depth++].restore = WFRE_NONE;
                place = i->first;
            } else if (i->op == SAVE) {
                stack[depth].restore = i->value;
                stack[depth++].old = t.ends[i->value];
                t.ends[i->value] = here;
                place++;
            } else if (i->op == LINE_BEGIN || i->op == LINE_END) {
                if (!holds(r, i->op, s, here))
                    break;
                place++;
            } else {
                t.at = place;
                list->list[list->count++] = t;
                break;
            }
        }
    }
}

static bool accepts(const wfre_sq_regex *r, const instruction *i, uint32_t c)
{
    if (i->op == ANY)
        return r->dot_all || (c != '\n' && c != '\r');
    if (i->op == CLASS)
        return class_matches(r, i->value, c);
    if (i->value == c)
        return true;
    return r->ignore_case &&
           (towlower_l((wint_t)c, r->locale) == towlower_l((wint_t)i->value, r->locale) ||
            towupper_l((wint_t)c, r->locale) == towupper_l((wint_t)i->value, r->locale));
}

/* Counts work; false if it is time to stop. */
static bool go_on(wfre_sq_regex *r, size_t work)
{
    r->work += work;
    if (r->work >= LOOK) {
        r->work = 0;
        r->stopped = wfre_stopped();
    }
    return !r->stopped;
}

/* How many steps it takes to try an instruction on a character. */
static size_t effort(const wfre_sq_regex *r, const instruction *i)
{
    return i->op == CLASS ? 1 + r->classes[i->value].count / 8 : 1;
}

/* The first match at or behind `from`, leftmost and by the rules of greed; its groups. */
static bool find(wfre_sq_regex *r, const subject *s, size_t from, bool any, size_t *ends)
{
    thread start = {0};
    bool found = false;
    r->now.count = 0;
    for (int i = 0; i < 2 * GROUPS; i++)
        start.ends[i] = SIZE_MAX;
    for (size_t here = from;;) {
        if (++r->step == 0) { /* marks of old steps would look new */
            memset(r->marks, 0, r->count * sizeof *r->marks);
            r->step = 1;
        }
        r->next.count = 0;
        size_t size = 1;
        uint32_t c = here < s->length ? wfre_sq_decode(s->text + here, s->length - here, &size) : 0;
        /* threads that run, in their order, then a fresh one if none has matched */
        threads live = {r->next.list, 0};
        for (size_t i = 0; i < r->now.count; i++)
            enter(r, &live, &r->now.list[i], s, here);
        if (!found)
            enter(r, &live, &start, s, here);
        threads after = {r->now.list, 0};
        if (!go_on(r, r->now.count + 1))
            return false;
        for (size_t i = 0; i < live.count; i++) {
            const instruction *in = &r->program[live.list[i].at];
            if (!go_on(r, effort(r, in)))
                return false;
            if (in->op == MATCH) {
                found = true;
                memcpy(ends, live.list[i].ends, sizeof live.list[i].ends);
                if (any)
                    return true;
                break;
            }
            if (here < s->length && accepts(r, in, c)) {
                after.list[after.count] = live.list[i];
                after.list[after.count++].at++;
            }
        }
        r->now.count = after.count;
        if (here >= s->length || (found && r->now.count == 0))
            return found;
        here += size;
    }
}

bool wfre_sq_regex_search(wfre_sq_regex *regex, wfre_name text, bool *stopped)
{
    size_t ends[2 * GROUPS];
    const subject s = {text.bytes ? text.bytes : "", text.length};
    regex->stopped = false;
    bool found = find(regex, &s, 0, true, ends);
    *stopped = regex->stopped;
    return found;
}

/* Where replacing puts what it has. */
typedef struct writer {
    wfre_sq_regex *r;
    wfre_text *out;
    size_t most;
    wfre_sq_regex_end end;
} writer;

static bool put(writer *w, const char *bytes, size_t length)
{
    if (length > w->most || w->out->length > w->most - length)
        w->end = WFRE_SQ_REGEX_LARGE;
    else if (!go_on(w->r, 1 + length / 64))
        w->end = WFRE_SQ_REGEX_STOPPED;
    else
        wfre_text_append(w->out, bytes, length);
    return w->end == WFRE_SQ_REGEX_DONE && !w->out->failed;
}

/* One replacement; false if it is malformed, or cannot be put. */
static bool put_replacement(writer *w, const subject *s, const size_t *ends, wfre_name replacement)
{
    for (size_t i = 0; i < replacement.length; i++) {
        char c = replacement.bytes[i];
        char next = i + 1 < replacement.length ? replacement.bytes[i + 1] : '\0';
        size_t group = (size_t)(next - '0');
        if ((c == '\\' && next != '\\' && next != '$') ||
            (c == '$' && (next < '0' || next > '9'))) {
            w->end = WFRE_SQ_REGEX_WRONG;
            return false;
        }
        if (c == '$') {
            if (group <= w->r->groups && ends[2 * group] != SIZE_MAX &&
                ends[2 * group + 1] != SIZE_MAX &&
                !put(w, s->text + ends[2 * group], ends[2 * group + 1] - ends[2 * group]))
                return false;
        } else if (!put(w, c == '\\' ? &next : &c, 1)) {
            return false;
        }
        i += c == '\\' || c == '$';
    }
    return true;
}

wfre_sq_regex_end wfre_sq_regex_replace(wfre_sq_regex *regex, wfre_name text, wfre_name replacement,
                                        size_t most, wfre_text *out)
{
    size_t ends[2 * GROUPS], here = 0;
    const subject empty = {"", 0}, s = {text.bytes ? text.bytes : "", text.length};
    writer w = {regex, out, most, WFRE_SQ_REGEX_DONE};
    regex->stopped = false;
    if (find(regex, &empty, 0, true, ends))
        return WFRE_SQ_REGEX_WRONG;
    while (find(regex, &s, here, false, ends)) {
        if (!put(&w, s.text + here, ends[0] - here) || !put_replacement(&w, &s, ends, replacement))
            return w.end;
        if (ends[1] == ends[0]) { /* as with a bare $: go on behind the next character */
            size_t size = 0;
            if (ends[1] == s.length) {
                here = s.length;
                break;
            }
            (void)wfre_sq_decode(s.text + ends[1], s.length - ends[1], &size);
            if (!put(&w, s.text + ends[1], size))
                return w.end;
            ends[1] += size;
        }
        here = ends[1];
        if (here == s.length)
            break;
    }
    if (regex->stopped)
        return WFRE_SQ_REGEX_STOPPED;
    (void)put(&w, s.text + here, s.length - here);
    return w.end;
}
