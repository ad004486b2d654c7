/* The pickle machine: a stack, marks, a memo, and one handler for each opcode that data needs.
 *
 * Containers are built in place and may grow until they become part of another value; from then on
 * they are closed. Python writes only recursive values in any other way, and this one rule keeps
 * the result free of cycles, so depth and size are known as soon as a value is closed.
 *
 * The input is a stream of which a window is in memory. What is built may take a multiple of the
 * bytes of the file, as they lie on disk: gzip data that unpack to a thousand times as much end
 * there. */
#include "base/pickle.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"

/* Protocol 5 adds nothing that plain data needs. */
enum { LOWEST_PROTOCOL = 2, HIGHEST_PROTOCOL = 5 };
/* Values counted with shared parts in full: beyond this a file is made to burst its readers. */
static const uint64_t SIZE_LIMIT = (uint64_t)1 << 26;
/* The memory for values: so much, and so many bytes more for each byte of the file. */
static const uint64_t MEMORY_LIMIT = (uint64_t)1 << 28, MEMORY_A_BYTE = 256;
enum { WINDOW = 1 << 16, TEXT_LIMIT = 1 << 20, CLASS_LIMIT = 256 };

/* The body of a container while it may still grow; `shared` must stay first. */
typedef struct container {
    wfre_pickle_body shared;
    size_t capacity; /* of items */
    uint64_t size;   /* values in it, shared parts in full */
    uint32_t depth;
    bool closed;
    bool has_class; /* a tuple of arguments for REDUCE, good for nothing else */
} container;

typedef struct machine {
    wfre_reader *reader; /* NULL: all is in `window` */
    const unsigned char *window;
    size_t start, end;  /* of its unread bytes */
    unsigned char *own; /* the window, if there is a reader */
    size_t own_capacity;
    wfre_status input; /* of reading */
    size_t at;         /* bytes taken so far */
    size_t op;         /* where the current opcode is */
    bool stopped;      /* STOP was seen */
    uint64_t memory;   /* taken for values, about */
    bool checkpoint;   /* what a PyTorch checkpoint has is read, too */
    wfre_arena *arena;
    wfre_pickle_value *stack;
    size_t height;
    size_t stack_capacity;
    size_t *marks; /* stack heights */
    size_t mark_count;
    size_t mark_capacity;
    struct memo {
        bool set;
        wfre_pickle_value value;
    } * memo;
    size_t memo_count;
    size_t memo_capacity;
    wfre_error *error;
} machine;

/* ---- failing ------------------------------------------------------------------------------ */

typedef struct opcode {
    unsigned char byte;
    const char *name;
    wfre_status (*run)(machine *m); /* NULL: refused */
} opcode;

static wfre_status malformed(machine *m, const char *what)
{
    if (m->input != WFRE_OK) /* why there is no more to read */
        return m->input;
    return wfre_fail(m->error, WFRE_ERR_FORMAT, m->op, "damaged pickle: %s at byte %zu", what,
                     m->op);
}

static wfre_status refuse_class(machine *m, const char *module, size_t module_length,
                                const char *name, size_t name_length)
{
    return wfre_fail(m->error, WFRE_ERR_FORMAT, m->op,
                     "pickle refers to %.*s.%.*s at byte %zu; only dict, defaultdict, set, tuple, "
                     "list, int and str are read, nothing is executed",
                     (int)(module_length < 100 ? module_length : 100), module,
                     (int)(name_length < 100 ? name_length : 100), name, m->op);
}

static wfre_status out_of_memory(machine *m)
{
    return wfre_fail_memory(m->error, "reading a pickle");
}

/* ---- input and stack ---------------------------------------------------------------------- */

/* Reads more behind the unread bytes; false at the end. */
static bool refill(machine *m)
{
    size_t unread = m->end - m->start, got = 0;
    if (!m->reader || m->input != WFRE_OK)
        return false;
    if (m->start > 0)
        memmove(m->own, m->own + m->start, unread);
    m->start = 0;
    m->end = unread;
    if (wfre_reserve(&m->own, &m->own_capacity, unread + WINDOW, 1))
        m->input = wfre_reader_read(m->reader, m->own + unread, WINDOW, &got, m->error);
    else
        m->input = out_of_memory(m);
    m->window = m->own;
    m->end += got;
    return got > 0;
}

/* The next `count` bytes until more are taken, or NULL if there are not so many. */
static const unsigned char *take(machine *m, uint64_t count)
{
    while (count > m->end - m->start)
        if (!refill(m))
            return NULL;
    const unsigned char *bytes = m->window + m->start;
    m->start += (size_t)count;
    m->at += (size_t)count;
    return bytes;
}

/* Whether so many bytes more may be taken for values. */
static bool may_take(machine *m, uint64_t bytes)
{
    uint64_t raw = m->reader ? wfre_reader_raw_bytes(m->reader) : m->end;
    m->memory += bytes;
    return m->memory <= MEMORY_LIMIT + MEMORY_A_BYTE * raw;
}

static wfre_status too_much(machine *m)
{
    return malformed(m, "more values than a file of this size may hold");
}

/* A little-endian number of up to 8 bytes. */
static bool take_number(machine *m, unsigned width, uint64_t *number)
{
    const unsigned char *bytes = take(m, width);
    *number = 0;
    for (unsigned i = 0; bytes && i < width; i++)
        *number |= (uint64_t)bytes[i] << 8 * i;
    return bytes != NULL;
}

static wfre_status push(machine *m, wfre_pickle_value value)
{
    if (m->height == m->stack_capacity && !may_take(m, (m->height + 1) * sizeof *m->stack))
        return too_much(m);
    if (!wfre_reserve(&m->stack, &m->stack_capacity, m->height + 1, sizeof *m->stack))
        return out_of_memory(m);
    m->stack[m->height++] = value;
    return WFRE_OK;
}

/* Whether `count` values lie above the last mark. */
static bool has(const machine *m, size_t count)
{
    size_t floor = m->mark_count ? m->marks[m->mark_count - 1] : 0;
    return m->height - floor >= count;
}

static wfre_status push_int(machine *m, int64_t number)
{
    return push(m, (wfre_pickle_value){.kind = WFRE_PICKLE_INT, .number = number});
}

/* ---- containers --------------------------------------------------------------------------- */

static container *container_of(wfre_pickle_value value)
{
    return (container *)(uintptr_t)value.body;
}

static bool is_container(wfre_pickle_value value)
{
    return value.kind >= WFRE_PICKLE_TUPLE && value.kind <= WFRE_PICKLE_TENSOR;
}

static wfre_status push_container(machine *m, wfre_pickle_kind kind)
{
    if (!may_take(m, sizeof(container)))
        return too_much(m);
    container *made = wfre_arena_alloc(m->arena, 1, sizeof *made);
    if (!made)
        return out_of_memory(m);
    *made = (container){.size = 1};
    return push(m, (wfre_pickle_value){.kind = kind, .body = &made->shared});
}

/* Closes a value that becomes part of another and adds it to the other's depth and size. */
static wfre_status close_value(machine *m, container *into, wfre_pickle_value *value)
{
    uint64_t size = 1;
    into->has_class |= value->kind == WFRE_PICKLE_CLASS;
    if (is_container(*value)) {
        container *inner = container_of(*value);
        if (inner->has_class)
            return malformed(m, "a class used as a value");
        inner->closed = true;
        value->depth = inner->depth + 1;
        size = inner->size;
    }
    if (into->closed)
        return malformed(m, "a container that holds itself");
    into->size += size;
    into->depth = value->depth > into->depth ? value->depth : into->depth;
    if (into->depth > WFRE_PICKLE_DEPTH || into->size > SIZE_LIMIT)
        return malformed(m, "values nested too deeply or too often");
    return WFRE_OK;
}

/* Moves the top `count` values of the stack behind the container's items. */
static wfre_status extend(machine *m, container *into, size_t count)
{
    size_t have = into->shared.count, need = have + count;
    if (need > into->capacity) {
        size_t capacity = into->capacity && need < 2 * into->capacity ? 2 * into->capacity : need;
        if (!may_take(m, capacity * sizeof(wfre_pickle_value)))
            return too_much(m);
        wfre_pickle_value *items = wfre_arena_alloc(m->arena, capacity, sizeof *items);
        if (!items)
            return out_of_memory(m);
        if (have)
            memcpy(items, into->shared.items, have * sizeof *items);
        into->shared.items = items;
        into->capacity = capacity;
    }
    wfre_pickle_value *items = (wfre_pickle_value *)(uintptr_t)into->shared.items;
    m->height -= count;
    for (size_t i = 0; i < count; i++) {
        items[have + i] = m->stack[m->height + i];
        wfre_status status = close_value(m, into, &items[have + i]);
        if (status != WFRE_OK)
            return status;
    }
    into->shared.count = need;
    return WFRE_OK;
}

/* Removes the last mark; *count is how many values lie above it. */
static bool take_mark(machine *m, size_t *count)
{
    if (m->mark_count == 0)
        return false;
    *count = m->height - m->marks[--m->mark_count];
    return true;
}

/* The top `count` values become part of the container below them. */
static wfre_status add_items(machine *m, wfre_pickle_kind kind, size_t count)
{
    if (!has(m, count + 1) || m->stack[m->height - count - 1].kind != kind)
        return malformed(m, "items for a container that is not there");
    if (kind == WFRE_PICKLE_DICT && count % 2 != 0)
        return malformed(m, "a key without a value");
    return extend(m, container_of(m->stack[m->height - count - 1]), count);
}

static wfre_status add_marked(machine *m, wfre_pickle_kind kind)
{
    size_t count;
    if (!take_mark(m, &count))
        return malformed(m, "no mark");
    return add_items(m, kind, count);
}

static wfre_status make_tuple(machine *m, size_t count)
{
    if (!has(m, count))
        return malformed(m, "a tuple without its items");
    wfre_status status = push_container(m, WFRE_PICKLE_TUPLE);
    if (status != WFRE_OK)
        return status;
    wfre_pickle_value tuple = m->stack[--m->height];
    status = extend(m, container_of(tuple), count);
    return status == WFRE_OK ? push(m, tuple) : status;
}

/* ---- opcodes: numbers and texts ----------------------------------------------------------- */

static wfre_status push_unsigned(machine *m, unsigned width)
{
    uint64_t number;
    return take_number(m, width, &number) ? push_int(m, (int64_t)number) : malformed(m, "the end");
}

static wfre_status run_binint(machine *m)
{
    uint64_t number;
    return take_number(m, 4, &number) ? push_int(m, (int32_t)(uint32_t)number)
                                      : malformed(m, "the end");
}

static wfre_status run_binint1(machine *m)
{
    return push_unsigned(m, 1);
}

static wfre_status run_binint2(machine *m)
{
    return push_unsigned(m, 2);
}

/* Two's complement of as many bytes as it takes. */
static wfre_status run_long1(machine *m)
{
    uint64_t width, number = 0;
    if (!take_number(m, 1, &width))
        return malformed(m, "the end");
    if (width > 8)
        return malformed(m, "an int of more than 64 bits");
    if (!take_number(m, (unsigned)width, &number))
        return malformed(m, "the end");
    if (width > 0 && width < 8 && number >> (8 * width - 1))
        number |= UINT64_MAX << 8 * width;
    return push_int(m, (int64_t)number);
}

static wfre_status push_text(machine *m, unsigned width)
{
    uint64_t length;
    if (!take_number(m, width, &length))
        return malformed(m, "the end");
    if (length > TEXT_LIMIT)
        return malformed(m, "a str of more than 1 MiB");
    const char *text = (const char *)take(m, length);
    if (!text)
        return malformed(m, "a str that is cut off");
    if (!wfre_utf8_valid(text, (size_t)length))
        return malformed(m, "a str that is not UTF-8");
    if (!may_take(m, sizeof(wfre_pickle_body) + length))
        return too_much(m);
    wfre_pickle_body *body = wfre_arena_alloc(m->arena, 1, sizeof *body);
    char *copy = wfre_arena_text(m->arena, text, (size_t)length);
    if (!body || !copy)
        return out_of_memory(m);
    *body = (wfre_pickle_body){.count = (size_t)length, .text = copy};
    return push(m, (wfre_pickle_value){.kind = WFRE_PICKLE_STR, .body = body});
}

static wfre_status run_short_text(machine *m)
{
    return push_text(m, 1);
}

static wfre_status run_text(machine *m)
{
    return push_text(m, 4);
}

static wfre_status run_long_text(machine *m)
{
    return push_text(m, 8);
}

/* ---- opcodes: containers ------------------------------------------------------------------ */

static wfre_status run_mark(machine *m)
{
    if (m->mark_count == m->mark_capacity && !may_take(m, (m->mark_count + 1) * sizeof *m->marks))
        return too_much(m);
    if (!wfre_reserve(&m->marks, &m->mark_capacity, m->mark_count + 1, sizeof *m->marks))
        return out_of_memory(m);
    m->marks[m->mark_count++] = m->height;
    return WFRE_OK;
}

static wfre_status run_empty_tuple(machine *m)
{
    return make_tuple(m, 0);
}

static wfre_status run_tuple1(machine *m)
{
    return make_tuple(m, 1);
}

static wfre_status run_tuple2(machine *m)
{
    return make_tuple(m, 2);
}

static wfre_status run_tuple3(machine *m)
{
    return make_tuple(m, 3);
}

static wfre_status run_tuple(machine *m)
{
    size_t count;
    return take_mark(m, &count) ? make_tuple(m, count) : malformed(m, "no mark");
}

static wfre_status run_empty_list(machine *m)
{
    return push_container(m, WFRE_PICKLE_LIST);
}

static wfre_status run_empty_set(machine *m)
{
    return push_container(m, WFRE_PICKLE_SET);
}

static wfre_status run_empty_dict(machine *m)
{
    return push_container(m, WFRE_PICKLE_DICT);
}

static wfre_status run_append(machine *m)
{
    return add_items(m, WFRE_PICKLE_LIST, 1);
}

static wfre_status run_appends(machine *m)
{
    return add_marked(m, WFRE_PICKLE_LIST);
}

static wfre_status run_additems(machine *m)
{
    return add_marked(m, WFRE_PICKLE_SET);
}

static wfre_status run_setitem(machine *m)
{
    return add_items(m, WFRE_PICKLE_DICT, 2);
}

static wfre_status run_setitems(machine *m)
{
    return add_marked(m, WFRE_PICKLE_DICT);
}

/* ---- opcodes: memo ------------------------------------------------------------------------ */

static wfre_status remember(machine *m, uint64_t index)
{
    if (!has(m, 1))
        return malformed(m, "nothing to remember");
    /* Python numbers them one by one, so an index beyond what was read is no Python's. */
    if (index > m->at)
        return malformed(m, "a memo index out of range");
    if (index >= m->memo_capacity && !may_take(m, (index + 1) * sizeof *m->memo))
        return too_much(m);
    if (!wfre_reserve(&m->memo, &m->memo_capacity, (size_t)index + 1, sizeof *m->memo))
        return out_of_memory(m);
    while (m->memo_count <= index)
        m->memo[m->memo_count++].set = false;
    m->memo[index] = (struct memo){true, m->stack[m->height - 1]};
    return WFRE_OK;
}

static wfre_status run_memoize(machine *m)
{
    return remember(m, m->memo_count);
}

static wfre_status run_binput(machine *m)
{
    uint64_t index;
    return take_number(m, 1, &index) ? remember(m, index) : malformed(m, "the end");
}

static wfre_status run_long_binput(machine *m)
{
    uint64_t index;
    return take_number(m, 4, &index) ? remember(m, index) : malformed(m, "the end");
}

static wfre_status recall(machine *m, unsigned width)
{
    uint64_t index;
    if (!take_number(m, width, &index))
        return malformed(m, "the end");
    if (index >= m->memo_count || !m->memo[index].set)
        return malformed(m, "a memo index that was never set");
    return push(m, m->memo[index].value);
}

static wfre_status run_binget(machine *m)
{
    return recall(m, 1);
}

static wfre_status run_long_binget(machine *m)
{
    return recall(m, 4);
}

/* ---- opcodes: the few classes that data needs --------------------------------------------- */

typedef struct known_class {
    const char *module;
    const char *name;
    wfre_pickle_kind makes;
    bool is_default;             /* called with the class of its missing values */
    wfre_pickle_element element; /* checkpoints: of a class of storages */
    bool checkpoint;             /* unknown elsewhere */
} known_class;

#define STORAGE(name, element)                                                                     \
    {                                                                                              \
        "torch", name, WFRE_PICKLE_STORAGE, false, element, true                                   \
    }

static const known_class CLASSES[] = {
    {"collections", "defaultdict", WFRE_PICKLE_DICT, true, 0, false},
    {"builtins", "set", WFRE_PICKLE_SET, false, 0, false},
    {"builtins", "list", WFRE_PICKLE_LIST, false, 0, false},
    {"builtins", "dict", WFRE_PICKLE_DICT, false, 0, false},
    {"builtins", "int", WFRE_PICKLE_INT, false, 0, false},
    /* the same in Python 2's words, which protocol 2 uses */
    {"__builtin__", "set", WFRE_PICKLE_SET, false, 0, false},
    {"__builtin__", "list", WFRE_PICKLE_LIST, false, 0, false},
    {"__builtin__", "dict", WFRE_PICKLE_DICT, false, 0, false},
    {"__builtin__", "int", WFRE_PICKLE_INT, false, 0, false},
    {"collections", "OrderedDict", WFRE_PICKLE_DICT, true, 0, true},
    {"torch._utils", "_rebuild_tensor_v2", WFRE_PICKLE_TENSOR, false, 0, true},
    {"torch._utils", "_rebuild_parameter", WFRE_PICKLE_NONE, false, 0, true}, /* its tensor */
    STORAGE("FloatStorage", WFRE_PICKLE_F32),
    STORAGE("DoubleStorage", WFRE_PICKLE_F64),
    STORAGE("HalfStorage", WFRE_PICKLE_F16),
    STORAGE("BFloat16Storage", WFRE_PICKLE_BF16),
    STORAGE("LongStorage", WFRE_PICKLE_OTHER),
    STORAGE("IntStorage", WFRE_PICKLE_OTHER),
    STORAGE("BoolStorage", WFRE_PICKLE_OTHER),
    STORAGE("ByteStorage", WFRE_PICKLE_OTHER),
};
enum { CLASS_COUNT = sizeof CLASSES / sizeof CLASSES[0] };

static wfre_status push_class(machine *m, const char *module, size_t module_length,
                              const char *name, size_t name_length)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        if ((m->checkpoint || !CLASSES[i].checkpoint) &&
            strlen(CLASSES[i].module) == module_length && strlen(CLASSES[i].name) == name_length &&
            memcmp(CLASSES[i].module, module, module_length) == 0 &&
            memcmp(CLASSES[i].name, name, name_length) == 0)
            return push(m, (wfre_pickle_value){.kind = WFRE_PICKLE_CLASS, .number = i});
    return refuse_class(m, module, module_length, name, name_length);
}

/* A line of the old text opcodes, without its end; false if there is none, or it is too long for
 * the name of a class. */
static bool take_line(machine *m, char line[CLASS_LIMIT], size_t *length)
{
    for (*length = 0; *length < CLASS_LIMIT; ++*length) {
        const unsigned char *byte = take(m, 1);
        if (!byte || *byte == '\n')
            return byte != NULL;
        line[*length] = (char)*byte;
    }
    return false;
}

static wfre_status run_global(machine *m)
{
    char module[CLASS_LIMIT], name[CLASS_LIMIT];
    size_t module_length, name_length;
    if (!take_line(m, module, &module_length) || !take_line(m, name, &name_length))
        return malformed(m, "no name of a class");
    return push_class(m, module, module_length, name, name_length);
}

static wfre_status run_stack_global(machine *m)
{
    if (!has(m, 2) || m->stack[m->height - 1].kind != WFRE_PICKLE_STR ||
        m->stack[m->height - 2].kind != WFRE_PICKLE_STR)
        return malformed(m, "a class without its name");
    const wfre_pickle_body *module = m->stack[m->height - 2].body;
    const wfre_pickle_body *name = m->stack[m->height - 1].body;
    m->height -= 2;
    return push_class(m, module->text, module->count, name->text, name->count);
}

/* Whether a tuple holds `count` whole numbers. */
static bool all_ints(wfre_pickle_value value, size_t count)
{
    bool ints = value.kind == WFRE_PICKLE_TUPLE && value.body->count == count;
    for (size_t i = 0; ints && i < count; i++)
        ints = value.body->items[i].kind == WFRE_PICKLE_INT;
    return ints;
}

/* A tensor is the arguments that would rebuild it, and a parameter the tensor it is made from. */
static wfre_status push_tensor(machine *m, const known_class *called, wfre_pickle_value arguments)
{
    const wfre_pickle_value *items = arguments.body->items;
    size_t count = arguments.body->count;
    if (called->makes == WFRE_PICKLE_NONE && count > 0 && items[0].kind == WFRE_PICKLE_TENSOR)
        return push(m, items[0]);
    if (called->makes != WFRE_PICKLE_TENSOR || count < 4 || items[0].kind != WFRE_PICKLE_STORAGE ||
        items[1].kind != WFRE_PICKLE_INT || items[2].kind != WFRE_PICKLE_TUPLE ||
        !all_ints(items[2], items[2].body->count) || !all_ints(items[3], items[2].body->count))
        return malformed(m, "a tensor without its storage and shape");
    arguments.kind = WFRE_PICKLE_TENSOR;
    return push(m, arguments);
}

/* The name of a storage: ("storage", class, key, device, count). */
static wfre_status run_persid(machine *m)
{
    if (!has(m, 1) || m->stack[m->height - 1].kind != WFRE_PICKLE_TUPLE)
        return malformed(m, "a storage that is not described");
    wfre_pickle_value *value = &m->stack[m->height - 1];
    container *tuple = container_of(*value);
    wfre_pickle_value *items = (wfre_pickle_value *)(uintptr_t)tuple->shared.items;
    if (tuple->closed || tuple->shared.count < 5 || items[0].kind != WFRE_PICKLE_STR ||
        items[1].kind != WFRE_PICKLE_CLASS || !CLASSES[items[1].number].element ||
        items[2].kind != WFRE_PICKLE_STR || items[4].kind != WFRE_PICKLE_INT)
        return malformed(m, "a storage that is not described");
    for (size_t i = 2; i < tuple->shared.count; i++)
        if (items[i].kind == WFRE_PICKLE_CLASS)
            return malformed(m, "a class used as a value");
    items[1] = (wfre_pickle_value){.kind = WFRE_PICKLE_INT,
                                   .number = (int64_t)CLASSES[items[1].number].element};
    tuple->has_class = false;
    tuple->closed = true;
    value->kind = WFRE_PICKLE_STORAGE;
    return WFRE_OK;
}

/* What an object is told about itself beside its items: notes of PyTorch's own. */
static wfre_status run_build(machine *m)
{
    if (!has(m, 2) || m->stack[m->height - 2].kind != WFRE_PICKLE_DICT)
        return malformed(m, "a state for something else than a dict");
    m->height--;
    return WFRE_OK;
}

static wfre_status run_none(machine *m)
{
    return push(m, (wfre_pickle_value){.kind = WFRE_PICKLE_NONE});
}

static wfre_status run_true(machine *m)
{
    return push_int(m, 1);
}

static wfre_status run_false(machine *m)
{
    return push_int(m, 0);
}

/* Eight bytes, the highest first. */
static wfre_status run_float(machine *m)
{
    const unsigned char *bytes = take(m, 8);
    uint64_t bits = 0;
    wfre_pickle_value value = {.kind = WFRE_PICKLE_FLOAT};
    if (!bytes)
        return malformed(m, "the end");
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    memcpy(&value.real, &bits, sizeof bits);
    return push(m, value);
}

/* defaultdict(class) and set(list), the two calls that data needs; both make a plain value. */
static wfre_status run_reduce(machine *m)
{
    if (!has(m, 2) || m->stack[m->height - 2].kind != WFRE_PICKLE_CLASS ||
        m->stack[m->height - 1].kind != WFRE_PICKLE_TUPLE)
        return malformed(m, "a call of something else than a class");
    const known_class *called = &CLASSES[m->stack[m->height - 2].number];
    wfre_pickle_value tuple = m->stack[m->height - 1];
    const wfre_pickle_body *arguments = tuple.body;
    m->height -= 2;
    if (called->checkpoint && !called->is_default) {
        if (container_of(tuple)->has_class)
            return malformed(m, "a class used as a value");
        return push_tensor(m, called, tuple);
    }
    if (called->is_default)
        return push_container(m, WFRE_PICKLE_DICT);
    if (called->makes != WFRE_PICKLE_SET || arguments->count != 1 ||
        arguments->items[0].kind != WFRE_PICKLE_LIST)
        return malformed(m, "a call that data does not need");
    wfre_pickle_value set = arguments->items[0];
    set.kind = WFRE_PICKLE_SET;
    set.depth = 0;
    return push(m, set);
}

/* ---- opcodes: the frame ------------------------------------------------------------------- */

static wfre_status run_proto(machine *m)
{
    uint64_t protocol;
    if (!take_number(m, 1, &protocol))
        return malformed(m, "the end");
    if (protocol < LOWEST_PROTOCOL || protocol > HIGHEST_PROTOCOL)
        return malformed(m, "an unknown protocol");
    return WFRE_OK;
}

static wfre_status run_frame(machine *m)
{
    return take(m, 8) ? WFRE_OK : malformed(m, "the end");
}

static wfre_status run_stop(machine *m)
{
    if (m->height != 1 || m->mark_count != 0)
        return malformed(m, "no single value");
    if (m->stack[0].kind == WFRE_PICKLE_CLASS ||
        (is_container(m->stack[0]) && container_of(m->stack[0])->has_class))
        return malformed(m, "a class used as a value");
    if (take(m, 1))
        return malformed(m, "more bytes behind the end");
    if (m->input != WFRE_OK)
        return m->input;
    if (is_container(m->stack[0]))
        m->stack[0].depth = container_of(m->stack[0])->depth + 1;
    m->stopped = true;
    return WFRE_OK;
}

static const opcode OPCODES[] = {
    {0x80, "PROTO", run_proto},
    {0x95, "FRAME", run_frame},
    {'.', "STOP", run_stop},
    {'(', "MARK", run_mark},
    {'J', "BININT", run_binint},
    {'K', "BININT1", run_binint1},
    {'M', "BININT2", run_binint2},
    {0x8A, "LONG1", run_long1},
    {0x8C, "SHORT_BINUNICODE", run_short_text},
    {'X', "BINUNICODE", run_text},
    {0x8D, "BINUNICODE8", run_long_text},
    {'U', "SHORT_BINSTRING", run_short_text}, /* a str of Python 2 */
    {'T', "BINSTRING", run_text},
    {')', "EMPTY_TUPLE", run_empty_tuple},
    {0x85, "TUPLE1", run_tuple1},
    {0x86, "TUPLE2", run_tuple2},
    {0x87, "TUPLE3", run_tuple3},
    {'t', "TUPLE", run_tuple},
    {']', "EMPTY_LIST", run_empty_list},
    {'a', "APPEND", run_append},
    {'e', "APPENDS", run_appends},
    {0x8F, "EMPTY_SET", run_empty_set},
    {0x90, "ADDITEMS", run_additems},
    {'}', "EMPTY_DICT", run_empty_dict},
    {'s', "SETITEM", run_setitem},
    {'u', "SETITEMS", run_setitems},
    {0x94, "MEMOIZE", run_memoize},
    {'q', "BINPUT", run_binput},
    {'r', "LONG_BINPUT", run_long_binput},
    {'h', "BINGET", run_binget},
    {'j', "LONG_BINGET", run_long_binget},
    {'c', "GLOBAL", run_global},
    {0x93, "STACK_GLOBAL", run_stack_global},
    {'R', "REDUCE", run_reduce},
    /* CHECKPOINT_ONLY */
    {'G', "BINFLOAT", run_float},
    {'N', "NONE", run_none},
    {'Q', "BINPERSID", run_persid},
    {'b', "BUILD", run_build},
    {0x88, "NEWTRUE", run_true},
    {0x89, "NEWFALSE", run_false},
    /* known to Python, needed by no data of ours */
    {'0', "POP", NULL},
    {'1', "POP_MARK", NULL},
    {'2', "DUP", NULL},
    {'B', "BINBYTES", NULL},
    {'C', "SHORT_BINBYTES", NULL},
    {'F', "FLOAT", NULL},
    {'I', "INT", NULL},
    {'L', "LONG", NULL},
    {'P', "PERSID", NULL},
    {'S', "STRING", NULL},
    {'V', "UNICODE", NULL},
    {'d', "DICT", NULL},
    {'g', "GET", NULL},
    {'i', "INST", NULL},
    {'l', "LIST", NULL},
    {'o', "OBJ", NULL},
    {'p', "PUT", NULL},
    {0x81, "NEWOBJ", NULL},
    {0x82, "EXT1", NULL},
    {0x83, "EXT2", NULL},
    {0x84, "EXT4", NULL},
    {0x8B, "LONG4", NULL},
    {0x8E, "BINBYTES8", NULL},
    {0x91, "FROZENSET", NULL},
    {0x92, "NEWOBJ_EX", NULL},
    {0x96, "BYTEARRAY8", NULL},
    {0x97, "NEXT_BUFFER", NULL},
    {0x98, "READONLY_BUFFER", NULL},
};
static const unsigned char CHECKPOINT_ONLY[] = {'G', 'N', 'Q', 'b', 0x88, 0x89};
enum { OPCODE_COUNT = sizeof OPCODES / sizeof OPCODES[0] };

/* ---- running ------------------------------------------------------------------------------ */

static wfre_status run_machine(machine *m)
{
    const opcode *table[256] = {NULL};
    for (int i = 0; i < OPCODE_COUNT; i++)
        table[OPCODES[i].byte] = &OPCODES[i];
    while (m->end - m->start < 2 && refill(m)) {
    }
    if (m->input != WFRE_OK)
        return m->input;
    if (m->end - m->start < 2 || m->window[m->start] != 0x80)
        return wfre_fail(m->error, WFRE_ERR_FORMAT, 0,
                         "not a pickle of protocol 2 or later; save it with pickle.dump again");
    while (!m->stopped) {
        m->op = m->at;
        const unsigned char *byte = take(m, 1);
        if (!byte)
            return malformed(m, "the end");
        const opcode *found = table[*byte];
        if (!found)
            return wfre_fail(m->error, WFRE_ERR_FORMAT, m->op,
                             "damaged pickle: no opcode 0x%02x, at byte %zu", *byte, m->op);
        if (!found->run ||
            (!m->checkpoint && memchr(CHECKPOINT_ONLY, *byte, sizeof CHECKPOINT_ONLY)))
            return wfre_fail(m->error, WFRE_ERR_FORMAT, m->op,
                             "pickle has opcode %s at byte %zu; only dict, defaultdict, set, "
                             "tuple, list, int and str are read, nothing is executed",
                             found->name, m->op);
        wfre_status status = found->run(m);
        if (status != WFRE_OK)
            return status;
    }
    return WFRE_OK;
}

/* Runs the machine on its input and hands over what it made. */
static wfre_status finish(machine *m, wfre_pickle *pickle)
{
    m->arena = &pickle->arena;
    wfre_status status = run_machine(m);
    if (status == WFRE_OK)
        pickle->root = m->stack[0];
    else
        wfre_pickle_free(pickle);
    wfre_free(m->stack);
    wfre_free(m->marks);
    wfre_free(m->memo);
    wfre_free(m->own);
    return status;
}

static wfre_status parse(wfre_pickle *pickle, const void *bytes, size_t length, bool checkpoint,
                         wfre_error *error)
{
    *pickle = (wfre_pickle){0};
    machine m = {.window = bytes, .end = length, .checkpoint = checkpoint, .error = error};
    return finish(&m, pickle);
}

wfre_status wfre_pickle_parse(wfre_pickle *pickle, const void *bytes, size_t length,
                              wfre_error *error)
{
    return parse(pickle, bytes, length, false, error);
}

wfre_status wfre_pickle_parse_checkpoint(wfre_pickle *pickle, const void *bytes, size_t length,
                                         wfre_error *error)
{
    return parse(pickle, bytes, length, true, error);
}

wfre_status wfre_pickle_load(wfre_pickle *pickle, const char *path, wfre_error *error)
{
    *pickle = (wfre_pickle){0};
    machine m = {.error = error};
    wfre_status status;
    TRY(wfre_reader_open(path, &m.reader, error));
    status = finish(&m, pickle);
    if (status != WFRE_OK && m.input == WFRE_OK) /* a reader names the file itself */
        (void)wfre_fail_within(error, status, path);
cleanup:
    wfre_reader_close(m.reader);
    return status;
}

void wfre_pickle_free(wfre_pickle *pickle)
{
    wfre_arena_free(&pickle->arena);
    *pickle = (wfre_pickle){0};
}

const char *wfre_pickle_kind_name(wfre_pickle_kind kind)
{
    static const char *const names[] = {"an int",  "a str",  "a tuple",   "a list",
                                        "a set",   "a dict", "a storage", "a tensor",
                                        "a class", "None",   "a float"};
    return names[kind];
}
