/* A checkpoint of the published PyTorch code as a model.
 *
 * The file is a zip archive with a pickle, NAME/data.pkl, and the numbers of each tensor's storage,
 * NAME/data/KEY. The pickle is a dict with the weights under "model_parameter" (or is those weights
 * itself):
 *
 *   entity_embedding              [n, d]
 *   projection_net.weights        [R, K], or [R, K, layers], of which the first layer counts
 *   projection_net.layer1.weight  [K d, d]; .bias [K d]
 *   projection_net.ln0.weight     [d], or ln1; .bias [d]
 *   gamma                         [1]
 *
 * All else is settings of the published configuration, which the file does not hold. */
#include <math.h>
#include <string.h>

#include "base/archive.h"
#include "base/bf16.h"
#include "base/memory.h"
#include "base/pickle.h"
#include "graph/graph.h"
#include "model/model.h"

typedef struct checkpoint {
    const char *path;
    wfre_archive *archive;
    wfre_pickle pickle;
    const wfre_pickle_body *weights; /* the dict of tensors */
    const char *folder;              /* of the members' names, with its slash */
    size_t folder_length;
} checkpoint;

/* ---- what the file holds ------------------------------------------------------------------ */

static wfre_status refuse(const checkpoint *c, const char *what, wfre_error *error)
{
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: %s", c->path, what);
}

static wfre_status check_member(const checkpoint *c, const wfre_archive_member *member,
                                wfre_error *error)
{
    if (wfre_archive_is_whole(member))
        return WFRE_OK;
    return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                     "%s: damaged: '%.*s' has another checksum; copy the file again, or write it "
                     "with checksums",
                     c->path, (int)member->name_length, member->name);
}

static bool is_text(wfre_pickle_value value, const char *text)
{
    return value.kind == WFRE_PICKLE_STR && value.body->count == strlen(text) &&
           memcmp(value.body->text, text, value.body->count) == 0;
}

/* The last value of the key, NULL if there is none. */
static const wfre_pickle_value *lookup(const wfre_pickle_body *dict, const char *key)
{
    for (size_t i = dict->count; i >= 2; i -= 2)
        if (is_text(dict->items[i - 2], key))
            return &dict->items[i - 1];
    return NULL;
}

static wfre_status open_checkpoint(const char *path, checkpoint *c, wfre_error *error)
{
    static const char name[] = "data.pkl";
    const size_t length = sizeof name - 1;
    const wfre_archive_member *found = NULL;
    *c = (checkpoint){.path = path};
    CHECK(wfre_archive_open(path, &c->archive, error));
    for (size_t i = 0; i < wfre_archive_count(c->archive) && !found; i++) {
        const wfre_archive_member *member = wfre_archive_member_at(c->archive, i);
        if (member->name_length > length && member->name[member->name_length - length - 1] == '/' &&
            memcmp(member->name + member->name_length - length, name, length) == 0)
            found = member;
    }
    if (!found)
        return refuse(c, "a zip archive, but not a PyTorch checkpoint (no data.pkl)", error);
    CHECK(check_member(c, found, error));
    c->folder = found->name;
    c->folder_length = found->name_length - length;
    wfre_status status =
        wfre_pickle_parse_checkpoint(&c->pickle, found->bytes, found->length, error);
    if (status != WFRE_OK)
        return wfre_fail_within(error, status, path);
    wfre_pickle_value root = c->pickle.root;
    const wfre_pickle_value *inner =
        root.kind == WFRE_PICKLE_DICT ? lookup(root.body, "model_parameter") : NULL;
    root = inner ? *inner : root;
    if (root.kind != WFRE_PICKLE_DICT || !lookup(root.body, "entity_embedding"))
        return refuse(c, "no checkpoint of the published code (no entity_embedding)", error);
    c->weights = root.body;
    return WFRE_OK;
}

static void close_checkpoint(checkpoint *c)
{
    wfre_pickle_free(&c->pickle);
    wfre_archive_close(c->archive);
}

/* ---- tensors ------------------------------------------------------------------------------ */

enum { MOST_RANK = 3 };

typedef struct view {
    const unsigned char *bytes; /* of the storage */
    wfre_pickle_element element;
    size_t width; /* bytes of an element */
    size_t offset, rank, count;
    size_t size[MOST_RANK], stride[MOST_RANK];
} view;

static const wfre_archive_member *find_storage(const checkpoint *c, const wfre_pickle_body *key)
{
    static const char folder[] = "data/";
    const size_t length = sizeof folder - 1;
    for (size_t i = 0; i < wfre_archive_count(c->archive); i++) {
        const wfre_archive_member *m = wfre_archive_member_at(c->archive, i);
        if (m->name_length == c->folder_length + length + key->count &&
            memcmp(m->name, c->folder, c->folder_length) == 0 &&
            memcmp(m->name + c->folder_length, folder, length) == 0 &&
            memcmp(m->name + c->folder_length + length, key->text, key->count) == 0)
            return m;
    }
    return NULL;
}

/* Whether the view lies within `room` elements, and has no more of them, which bounds what is made
 * from it by the length of the file. */
static bool fits(const wfre_pickle_body *tensor, size_t room, view *v)
{
    const wfre_pickle_body *sizes = tensor->items[2].body, *strides = tensor->items[3].body;
    int64_t offset = tensor->items[1].number;
    if (sizes->count > MOST_RANK || offset < 0 || (uint64_t)offset > room)
        return false;
    v->offset = (size_t)offset;
    v->rank = sizes->count;
    v->count = 1;
    size_t last = v->offset;
    for (size_t i = 0; i < v->rank; i++) {
        int64_t size = sizes->items[i].number, stride = strides->items[i].number;
        if (size < 1 || stride < 0 || (uint64_t)size > room || (uint64_t)stride > room ||
            v->count > room / (size_t)size)
            return false;
        v->size[i] = (size_t)size;
        v->stride[i] = (size_t)stride;
        v->count *= v->size[i];
        if (v->stride[i] > 0 && v->size[i] - 1 > (room - last) / v->stride[i])
            return false;
        last += (v->size[i] - 1) * v->stride[i];
    }
    return last < room;
}

/* Finds a tensor and checks it against its storage; WFRE_ERR_NOT_FOUND if there is none. */
static wfre_status open_view(const checkpoint *c, const char *name, view *v, wfre_error *error)
{
    static const size_t widths[] = {[WFRE_PICKLE_F32] = 4,
                                    [WFRE_PICKLE_F64] = 8,
                                    [WFRE_PICKLE_F16] = 2,
                                    [WFRE_PICKLE_BF16] = 2,
                                    [WFRE_PICKLE_OTHER] = 0};
    const wfre_pickle_value *value = lookup(c->weights, name);
    if (!value)
        return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                         "%s: the tensor '%s' is missing; only the projections 'decomposition' and "
                         "'decomposition_real' can be converted",
                         c->path, name);
    if (value->kind != WFRE_PICKLE_TENSOR)
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET, "%s: '%s' is %s, not a tensor",
                         c->path, name, wfre_pickle_kind_name(value->kind));
    const wfre_pickle_body *storage = value->body->items[0].body;
    const wfre_archive_member *member = find_storage(c, storage->items[2].body);
    v->element = (wfre_pickle_element)storage->items[1].number;
    v->width = widths[v->element];
    if (!member || v->width == 0 || !fits(value->body, member->length / v->width, v))
        return wfre_fail(error, WFRE_ERR_FORMAT, WFRE_NO_OFFSET,
                         "%s: the numbers of the tensor '%s' are not there, or not as many",
                         c->path, name);
    v->bytes = member->bytes;
    return check_member(c, member, error);
}

static float float_from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : HUGE_VAL)
                                    : ldexp(fraction + 1024, exponent - 25);
    return (float)(bits >> 15 ? -value : value);
}

static float element_at(const view *v, size_t index)
{
    const unsigned char *from = v->bytes + index * v->width;
    float single;
    double wide;
    uint16_t half;
    switch (v->element) {
    case WFRE_PICKLE_F64:
        memcpy(&wide, from, sizeof wide);
        return (float)wide;
    case WFRE_PICKLE_F16:
        memcpy(&half, from, sizeof half);
        return float_from_half(half);
    case WFRE_PICKLE_BF16:
        memcpy(&half, from, sizeof half);
        return wfre_float_from_bf16(half);
    default:
        memcpy(&single, from, sizeof single);
        return single;
    }
}

/* All elements in the order of their indexes; of a third index only the first. */
static void copy_view(const view *v, float *out)
{
    size_t rows = v->size[0], columns = v->rank > 1 ? v->size[1] : 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            *out++ =
                element_at(v, v->offset + i * v->stride[0] + (v->rank > 1 ? j * v->stride[1] : 0));
}

/* ---- the model ---------------------------------------------------------------------------- */

enum { ENTITIES, COEFFICIENTS, BASES, BIASES, GAIN, SHIFT, TENSORS };

static wfre_status open_views(const checkpoint *c, view views[TENSORS], wfre_error *error)
{
    const bool real = lookup(c->weights, "projection_net.ln1.weight") != NULL;
    const char *const names[TENSORS] = {
        "entity_embedding",
        "projection_net.weights",
        "projection_net.layer1.weight",
        "projection_net.layer1.bias",
        real ? "projection_net.ln1.weight" : "projection_net.ln0.weight",
        real ? "projection_net.ln1.bias" : "projection_net.ln0.bias",
    };
    for (int t = 0; t < TENSORS; t++)
        CHECK(open_view(c, names[t], &views[t], error));
    size_t d = views[ENTITIES].rank == 2 ? views[ENTITIES].size[1] : 0;
    size_t bases = views[COEFFICIENTS].rank >= 2 ? views[COEFFICIENTS].size[1] : 0;
    bool agree = d > 0 && d <= 65536 && bases > 0 && bases <= 65536 && views[BASES].rank == 2 &&
                 views[BASES].size[0] == bases * d && views[BASES].size[1] == d &&
                 views[BIASES].rank == 1 && views[BIASES].count == bases * d &&
                 views[GAIN].rank == 1 && views[GAIN].count == d && views[SHIFT].rank == 1 &&
                 views[SHIFT].count == d && views[ENTITIES].size[0] < WFRE_NONE &&
                 views[COEFFICIENTS].size[0] < WFRE_NONE;
    if (!agree)
        return refuse(c, "the tensors do not have the shapes of one model", error);
    return WFRE_OK;
}

static wfre_status make_model(const checkpoint *c, const wfre_graph *graph,
                              const wfre_model_settings *settings, wfre_model **result,
                              wfre_error *error)
{
    view views[TENSORS], gamma;
    wfre_model_settings made = *settings;
    wfre_model *model = NULL;
    wfre_status status;
    TRY(open_views(c, views, error));
    uint32_t entities = (uint32_t)views[ENTITIES].size[0];
    uint32_t relations = (uint32_t)views[COEFFICIENTS].size[0];
    if (entities != wfre_graph_entities(graph) || relations != wfre_graph_relations(graph)) {
        status = wfre_fail(error, WFRE_ERR_MISMATCH, WFRE_NO_OFFSET,
                           "%s: trained on a graph of %u entities and %u relations in both "
                           "directions; this one has %u and %u",
                           c->path, entities, relations, wfre_graph_entities(graph),
                           wfre_graph_relations(graph));
        goto cleanup;
    }
    made.dim = (uint32_t)views[ENTITIES].size[1];
    made.bases = (uint32_t)views[COEFFICIENTS].size[1];
    made.layers = made.members = 1;
    if (lookup(c->weights, "gamma")) { /* a checkpoint may leave it to its preset */
        TRY(open_view(c, "gamma", &gamma, error));
        if (gamma.count != 1) {
            status = refuse(c, "gamma is not one number", error);
            goto cleanup;
        }
        made.gamma = (double)element_at(&gamma, gamma.offset);
    }
    TRY(wfre_model_allocate(&made, entities, relations, wfre_graph_fingerprint(graph), &model,
                            error));
    for (int t = 0; t < TENSORS; t++)
        copy_view(&views[t], model->tensors[t].data);
    status = wfre_model_validate(model, error);
    if (status != WFRE_OK) {
        (void)wfre_fail_within(error, status, c->path);
        goto cleanup;
    }
    *result = model;
    model = NULL;
cleanup:
    wfre_model_free(model);
    return status;
}

wfre_status wfre_model_convert(const char *path, const wfre_graph *graph,
                               const wfre_model_settings *settings, wfre_model **model,
                               wfre_error *error)
{
    checkpoint c;
    wfre_status status = open_checkpoint(path, &c, error);
    if (status == WFRE_OK)
        status = make_model(&c, graph, settings, model, error);
    close_checkpoint(&c);
    return status;
}
