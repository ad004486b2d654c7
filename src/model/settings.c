/* The settings of a model: their names and ranges, their defaults, and which go together. */
#include "model/settings.h"

#include <math.h>

#include "base/hash.h"
#include "model/family.h"

static const char *const TNORMS[] = {"godel", "product", "lukasiewicz", NULL};
static const char *const UNIONS[] = {"dnf", "demorgan", "tconorm", NULL};
static const char *const ANSWERINGS[] = {"embedding", "edges", NULL};
static const char *const SCORES[] = {"wfr", "local", "hellinger",   "kl", "l1",
                                     "l2",  "inner", "wasserstein", NULL};

#define FIELD(member) offsetof(wfre_model_settings, member)

const wfre_setting wfre_model_table[] = {
    {"dim", WFRE_SETTING_U32, FIELD(dim), 1, 65536, NULL, "length of a histogram",
     WFRE_SETTING_SIZE},
    {"bases", WFRE_SETTING_U32, FIELD(bases), 0, 65536, NULL,
     "matrices that relations are mixed from; 0: a free one for each relation", WFRE_SETTING_SIZE},
    {"layers", WFRE_SETTING_U32, FIELD(layers), 1, WFRE_MAXIMUM_LAYERS, NULL,
     "layers of a projection", WFRE_SETTING_SIZE},
    {"members", WFRE_SETTING_U32, FIELD(members), 1, 65536, NULL,
     "equal parts of a histogram, each projected (and, with the local guide, learned) by itself",
     WFRE_SETTING_SIZE | WFRE_SETTING_LATER},
    {"factors", WFRE_SETTING_U32, FIELD(factors), 0, 4096, NULL,
     "complex numbers of an entity beside its histogram (ComplEx), for single edges; 0: none",
     WFRE_SETTING_SIZE | WFRE_SETTING_LATER},
    {"tnorm", WFRE_SETTING_NAME, FIELD(tnorm), 0, 0, TNORMS,
     "intersection: godel, product or lukasiewicz", WFRE_SETTING_PLAIN},
    {"union", WFRE_SETTING_NAME, FIELD(way.unions), 0, 0, UNIONS, "union: dnf, demorgan or tconorm",
     WFRE_SETTING_OF_EMBEDDING},
    {"complement", WFRE_SETTING_REAL, FIELD(complement), 1e-3, 1, NULL,
     "f: a complement is 1/2 - f (m - 1/2); 1 is 1 - m, the published code has 1 - drop-negation",
     WFRE_SETTING_LATER},
    {"score", WFRE_SETTING_NAME, FIELD(score.kind), 0, 0, SCORES,
     "wfr, local, hellinger, kl, l1, l2, inner or wasserstein", WFRE_SETTING_OF_SCORE},
    {"block", WFRE_SETTING_U32, FIELD(score.block), 1, 4096, NULL,
     "bins in a block; at most 64 with the score wfr", WFRE_SETTING_PLAIN},
    {"radius", WFRE_SETTING_REAL, FIELD(score.radius), 1e-6, 1e6, NULL,
     "how far mass moves, in bins", WFRE_SETTING_OF_SCORE},
    {"power", WFRE_SETTING_REAL, FIELD(score.power), -1, 1e4, NULL,
     "of the iteration's kernel; -1 means 2/epsilon", WFRE_SETTING_OF_SCORE},
    {"epsilon", WFRE_SETTING_REAL, FIELD(score.epsilon), 1e-3, 1e3, NULL, "entropic regularisation",
     WFRE_SETTING_PLAIN},
    {"iterations", WFRE_SETTING_U32, FIELD(score.iterations), 1, WFRE_ITERATION_LIMIT, NULL,
     "of the score; part of the model", WFRE_SETTING_OF_SCORE},
    {"floor", WFRE_SETTING_REAL, FIELD(score.floor), 1e-12, 1, NULL,
     "added to every element before scoring", WFRE_SETTING_PLAIN},
    {"gamma", WFRE_SETTING_REAL, FIELD(gamma), -1e6, 1e6, NULL, "margin", WFRE_SETTING_PLAIN},
    {"rho", WFRE_SETTING_REAL, FIELD(rho), 1e-9, 1e9, NULL, "scale of the distance",
     WFRE_SETTING_PLAIN},
    {"lift-projection", WFRE_SETTING_REAL, FIELD(way.lift[WFRE_LAST_PROJECTION]), 1e-3, 1e3, NULL,
     "what is asked is multiplied by this, if a projection is its last step",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_LIFT},
    {"lift-intersection", WFRE_SETTING_REAL, FIELD(way.lift[WFRE_LAST_INTERSECTION]), 1e-3, 1e3,
     NULL, "the same for intersections", WFRE_SETTING_LATER | WFRE_SETTING_OF_LIFT},
    {"lift-negation", WFRE_SETTING_REAL, FIELD(way.lift[WFRE_LAST_NEGATION]), 1e-3, 1e3, NULL,
     "the same for intersections with a complement", WFRE_SETTING_LATER | WFRE_SETTING_OF_LIFT},
    {"answering", WFRE_SETTING_NAME, FIELD(way.by), 0, 0, ANSWERINGS,
     "of questions: embedding (as a whole) or edges (one by one, known ones certain)",
     WFRE_SETTING_LATER | WFRE_SETTING_SAYS_EDGES},
    {"edge-sharpness", WFRE_SETTING_REAL, FIELD(way.edge_sharpness), 1e-3, 1e3, NULL,
     "factor of the logits of edges", WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
    {"edge-room", WFRE_SETTING_REAL, FIELD(way.edge_room), 0, 100, NULL,
     "how much it counts that an entity seems to lack an edge",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
    {"edge-joined", WFRE_SETTING_REAL, FIELD(way.edge_joined), -100, 100, NULL,
     "what the logit of an edge gains if another relation joins its ends",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
    {"edge-kinds", WFRE_SETTING_REAL, FIELD(way.edge_kinds), 0, 100, NULL,
     "how much it counts that an entity is of another kind than those at this end of the relation",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
    {"edge-alike", WFRE_SETTING_REAL, FIELD(way.edge_alike), 0, 100, NULL,
     "how much it counts that entities which share facts with the ends have such an edge",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
    {"edge-factors", WFRE_SETTING_REAL, FIELD(way.edge_factors), 0, 100, NULL,
     "how much the factors of an edge count beside its distance",
     WFRE_SETTING_LATER | WFRE_SETTING_OF_EDGES},
};
const size_t wfre_model_table_count = sizeof wfre_model_table / sizeof wfre_model_table[0];

wfre_status wfre_model_set(wfre_model_settings *settings, const char *name, const char *text,
                           wfre_error *error)
{
    GIVEN(settings);
    GIVEN(name);
    GIVEN(text);
    const wfre_setting *setting = wfre_setting_find(wfre_model_table, wfre_model_table_count, name);
    if (!setting)
        return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET, "no setting is called '%s'",
                         name);
    return wfre_setting_parse(setting, settings, text, error);
}

size_t wfre_model_setting_count(void)
{
    return wfre_model_table_count;
}

wfre_setting_text wfre_model_setting(const wfre_model_settings *settings, size_t index)
{
    const wfre_setting *row = &wfre_model_table[index];
    wfre_setting_text text = {.name = row->name, .help = row->help};
    wfre_setting_print(row, settings, text.value, sizeof text.value);
    return text;
}

bool wfre_model_same_sizes(const wfre_model_settings *a, const wfre_model_settings *b)
{
    bool same = wfre_family_of(a) == wfre_family_of(b);
    for (size_t i = 0; i < wfre_model_table_count; i++)
        if (wfre_model_table[i].traits & WFRE_SETTING_SIZE)
            same = same && wfre_setting_same(&wfre_model_table[i], a, b);
    return same;
}

void wfre_model_copy_sizes(wfre_model_settings *to, const wfre_model_settings *from)
{
    to->family = from->family;
    for (size_t i = 0; i < wfre_model_table_count; i++)
        if (wfre_model_table[i].traits & WFRE_SETTING_SIZE)
            wfre_setting_copy(&wfre_model_table[i], to, from);
}

void wfre_model_settings_default(wfre_model_settings *settings)
{
    *settings = (wfre_model_settings){
        .dim = 400,
        .bases = 30,
        .layers = 1,
        .members = 1,
        .tnorm = WFRE_TNORM_GODEL,
        .complement = 1,
        .gamma = 37.5,
        .rho = 120,
        .way = {.by = WFRE_BY_EMBEDDING,
                .unions = WFRE_UNION_DNF,
                .lift = {1, 1, 1},
                .edge_sharpness = 0.7,
                .edge_room = 0.4,
                .edge_joined = 0,
                .edge_kinds = 0,
                .edge_alike = 0,
                .edge_factors = 0},
    };
    wfre_score_defaults(settings->dim, &settings->score);
}

uint64_t wfre_way_hash(const wfre_way *way)
{
    uint64_t parts[] = {way->by, way->unions, way->exhaustive};
    double numbers[] = {way->lift[0],      way->lift[1],     way->lift[2],    way->edge_sharpness,
                        way->edge_room,    way->edge_joined, way->edge_kinds, way->edge_alike,
                        way->edge_factors, way->missing_rate};
    _Static_assert(WFRE_LIFTS == 3, "all lifts are hashed");
    return wfre_hash(numbers, sizeof numbers, wfre_hash(parts, sizeof parts, 0));
}

wfre_status wfre_model_settings_check(const wfre_model_settings *settings, wfre_error *error)
{
    const wfre_family *family = wfre_family_of(settings);
    uint32_t block = settings->score.block;
    if (settings->dim == 0 || settings->dim > 65536 || block == 0 || settings->dim % block != 0)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "dim %u: must be a multiple of the block size %u, at most 65536",
                         settings->dim, block);
    CHECK(family->check(settings, error));
    if (!(settings->rho > 0) || !isfinite(settings->rho) || !isfinite(settings->gamma))
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "rho must be positive and gamma finite");
    for (int i = 0; i < WFRE_LIFTS; i++)
        if (!(settings->way.lift[i] > 0) || !isfinite(settings->way.lift[i]))
            return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET, "lifts must be positive");
    if (!(settings->way.edge_sharpness > 0) || !isfinite(settings->way.edge_sharpness) ||
        !(settings->way.edge_room >= 0) || !isfinite(settings->way.edge_room) ||
        !isfinite(settings->way.edge_joined) || !(settings->way.edge_kinds >= 0) ||
        !isfinite(settings->way.edge_kinds) || !(settings->way.edge_alike >= 0) ||
        !isfinite(settings->way.edge_alike) || !(settings->way.edge_factors >= 0) ||
        !isfinite(settings->way.edge_factors))
        return wfre_fail(
            error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
            "edge-sharpness must be positive, edge-room, edge-kinds, edge-alike and edge-factors "
            "not negative, edge-joined finite");
    wfre_score *score = NULL;
    wfre_status status = family->distance(settings, &score, error);
    wfre_score_free(score);
    return status;
}
