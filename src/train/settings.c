/* The recipes: every training setting by name, and the named presets. */
#include "train/settings.h"

#include <stdlib.h>
#include <string.h>

#include "model/settings.h"

static const char *const LOSSES[] = {"sigmoid", "softmax", NULL};
static const char *const CANDIDATES[] = {"own", "shared", "all", NULL};
static const char *const GUIDES[] = {"score", "local", "staged", "surrogate", "staged-surrogate",
                                     NULL};
static const char *const RHO_RULES[] = {"given", "spread", NULL};
static const char *const SCHEDULES[] = {"steps", "cosine", NULL};
static const char *const MASKS[] = {"relation", "row", NULL};
static const char *const INITIALS[] = {"own", "published", NULL};
static const char *const PRECISIONS[] = {"fp32", "bf16", NULL};

#define FIELD(member) offsetof(wfre_train_settings, member)
#define SHARE(index, type)                                                                         \
    {                                                                                              \
        "mix-" type, WFRE_SETTING_REAL, FIELD(mix) + (index) * sizeof(double), 0, 1e6, NULL,       \
            "share of " type " queries in training", WFRE_SETTING_PLAIN                            \
    }

const wfre_setting wfre_train_table[] = {
    {"loss", WFRE_SETTING_NAME, FIELD(loss), 0, 0, LOSSES, "sigmoid (the paper's) or softmax",
     WFRE_SETTING_PLAIN},
    {"candidates", WFRE_SETTING_NAME, FIELD(candidates), 0, 0, CANDIDATES,
     "entities to compare with: own, shared or all", WFRE_SETTING_PLAIN},
    {"guide", WFRE_SETTING_NAME, FIELD(guide), 0, 0, GUIDES,
     "distance in the loss: score, local, surrogate, staged or staged-surrogate (then score)",
     WFRE_SETTING_PLAIN},
    {"rho-rule", WFRE_SETTING_NAME, FIELD(rho_rule), 0, 0, RHO_RULES,
     "rho as given, or spread: as for the local form, scaled to the spread of the score's logits",
     WFRE_SETTING_LATER},
    {"batch", WFRE_SETTING_U32, FIELD(batch), 1, 1 << 20, NULL, "queries a step",
     WFRE_SETTING_PLAIN},
    {"deal", WFRE_SETTING_U32, FIELD(deal), 0, 64, NULL,
     "batches drawn together and dealt out so that each has few relations, which is faster",
     WFRE_SETTING_LATER},
    {"negatives", WFRE_SETTING_U32, FIELD(negatives), 0, 1 << 24, NULL,
     "candidates drawn for each query, or shared by the batch", WFRE_SETTING_PLAIN},
    {"positives", WFRE_SETTING_U32, FIELD(positives), 1, 1024, NULL, "answers drawn a query",
     WFRE_SETTING_PLAIN},
    {"repeats", WFRE_SETTING_BOOL, FIELD(repeats), 0, 0, NULL,
     "draw answers twice, and as own negatives, if it so happens (published): yes or no",
     WFRE_SETTING_LATER},
    {"every-answer", WFRE_SETTING_BOOL, FIELD(every_answer), 0, 0, NULL,
     "aim at all answers among shared candidates, not at the drawn alone: yes or no",
     WFRE_SETTING_PLAIN},
    {"answer-weight", WFRE_SETTING_REAL, FIELD(answer_weight), -2, 2, NULL,
     "x: a query with n answers weighs (n + 4)^x; -0.5 is the paper's", WFRE_SETTING_PLAIN},
    {"mass", WFRE_SETTING_REAL, FIELD(mass), 0, 100, NULL,
     "what a unit of mass costs that a question's last projection gives, with the local guide",
     WFRE_SETTING_PLAIN},
    {"relation-loss", WFRE_SETTING_REAL, FIELD(relation_loss), 0, 100, NULL,
     "weight of telling the relation of a fact from others; 0: it is not asked for",
     WFRE_SETTING_LATER},
    {"relation-facts", WFRE_SETTING_U32, FIELD(relation_facts), 1, 1 << 20, NULL,
     "facts a step whose relation is asked for", WFRE_SETTING_LATER},
    {"relation-rivals", WFRE_SETTING_U32, FIELD(relation_rivals), 1, 1 << 16, NULL,
     "other relations that each is compared with", WFRE_SETTING_LATER},
    {"factor-facts", WFRE_SETTING_U32, FIELD(factor_facts), 1, 1 << 20, NULL,
     "facts a step that factors learn from", WFRE_SETTING_LATER},
    {"factor-candidates", WFRE_SETTING_U32, FIELD(factor_candidates), 1, 1 << 24, NULL,
     "entities that these are compared with; all if there are fewer", WFRE_SETTING_LATER},
    {"factor-penalty", WFRE_SETTING_REAL, FIELD(factor_penalty), 0, 100, NULL,
     "what the cube of a factor's absolute value costs", WFRE_SETTING_LATER},
    {"factor-rate", WFRE_SETTING_REAL, FIELD(factor_rate), 0, 10, NULL, "learning rate of factors",
     WFRE_SETTING_LATER},
    {"teach", WFRE_SETTING_REAL, FIELD(teach), 0, 1000, NULL,
     "how much questions learn from what factors, edge by edge, say of answers that are not known",
     WFRE_SETTING_LATER},
    {"lift", WFRE_SETTING_BOOL, FIELD(lift), 0, 0, NULL,
     "fit the lifts on validation queries when all is learned: yes or no", WFRE_SETTING_LATER},
    {"edges", WFRE_SETTING_BOOL, FIELD(edges), 0, 0, NULL,
     "when all is learned, answer by edges unless validation queries lose by it: yes or no",
     WFRE_SETTING_LATER},
    {"hard", WFRE_SETTING_U32, FIELD(hard), 0, 1 << 20, NULL,
     "hard candidates a query in the second stage", WFRE_SETTING_PLAIN},
    {"exact", WFRE_SETTING_U32, FIELD(exact), 0, 1 << 16, NULL,
     "candidates a query that the guide surrogate leaves to the score, and as many of its answers",
     WFRE_SETTING_LATER},
    {"stage", WFRE_SETTING_REAL, FIELD(stage), 0, 1, NULL,
     "share of the run after which the second stage begins", WFRE_SETTING_PLAIN},
    SHARE(0, "1p"),
    SHARE(1, "2p"),
    SHARE(2, "3p"),
    SHARE(3, "2i"),
    SHARE(4, "3i"),
    SHARE(5, "2in"),
    SHARE(6, "3in"),
    SHARE(7, "inp"),
    SHARE(8, "pin"),
    SHARE(9, "pni"),
    {"mix-1p-end", WFRE_SETTING_REAL, FIELD(mix_1p_end), 0, 1e6, NULL,
     "mix-1p at the end of the run, to which it changes by and by; 0: it does not",
     WFRE_SETTING_LATER},
    {"turns", WFRE_SETTING_BOOL, FIELD(turns), 0, 0, NULL,
     "batches of paths, others, paths in turn (published), not all types in each: yes or no",
     WFRE_SETTING_LATER},
    {"forward-edges", WFRE_SETTING_REAL, FIELD(forward_edges), 0, 1, NULL,
     "share of 1p queries from any pair of entity and relation, not from an answer",
     WFRE_SETTING_LATER},
    {"forward-paths", WFRE_SETTING_REAL, FIELD(forward_paths), 0, 1, NULL,
     "the same of 2p and 3p queries", WFRE_SETTING_LATER},
    {"schedule", WFRE_SETTING_NAME, FIELD(schedule), 0, 0, SCHEDULES,
     "learning rate over the run: steps (the paper's) or cosine", WFRE_SETTING_PLAIN},
    {"warmup", WFRE_SETTING_REAL, FIELD(warmup), 0, 0.9, NULL, "share of the run to warm up",
     WFRE_SETTING_PLAIN},
    {"fresh", WFRE_SETTING_BOOL, FIELD(fresh), 0, 0, NULL,
     "begin AdamW anew when the rate of the schedule steps drops (published): yes or no",
     WFRE_SETTING_LATER},
    {"rate-entities", WFRE_SETTING_REAL, FIELD(rate_entities), 0, 10, NULL,
     "learning rate of the entities", WFRE_SETTING_PLAIN},
    {"rate-layers", WFRE_SETTING_REAL, FIELD(rate_layers), 0, 10, NULL,
     "learning rate of the projections", WFRE_SETTING_PLAIN},
    {"decay", WFRE_SETTING_REAL, FIELD(decay), 0, 10, NULL, "weight decay", WFRE_SETTING_PLAIN},
    {"clip", WFRE_SETTING_REAL, FIELD(clip), 0, 1e9, NULL,
     "largest gradient norm of the projections; 0: no limit", WFRE_SETTING_PLAIN},
    {"bounded", WFRE_SETTING_BOOL, FIELD(bounded), 0, 0, NULL,
     "put entities back into [0, 1] after each update: yes or no", WFRE_SETTING_PLAIN},
    {"drop-input", WFRE_SETTING_REAL, FIELD(drop_input), 0, 0.99, NULL,
     "dropout on the input of a projection", WFRE_SETTING_PLAIN},
    {"drop-basis", WFRE_SETTING_REAL, FIELD(drop_basis), 0, 0.99, NULL,
     "dropout on the outputs of the bases", WFRE_SETTING_PLAIN},
    {"drop-negation", WFRE_SETTING_REAL, FIELD(drop_negation), 0, 0.99, NULL,
     "elements set to 1/2 before a complement", WFRE_SETTING_PLAIN},
    {"mask", WFRE_SETTING_NAME, FIELD(mask), 0, 0, MASKS,
     "drop-basis draws for each relation of a batch (as fast as without), or row (published)",
     WFRE_SETTING_LATER},
    {"initial", WFRE_SETTING_NAME, FIELD(initial), 0, 0, INITIALS,
     "sizes of the weights at the start: own, or published (smaller bases)", WFRE_SETTING_LATER},
    {"precision", WFRE_SETTING_NAME, FIELD(precision), 0, 0, PRECISIONS,
     "of matrix products: fp32 or bf16", WFRE_SETTING_PLAIN},
    {"steps", WFRE_SETTING_U64, FIELD(steps), 0, 1e15, NULL,
     "length of the run in steps; 0: limited by time", WFRE_SETTING_PLAIN},
    {"seconds", WFRE_SETTING_REAL, FIELD(seconds), 0, 1e9, NULL,
     "length of the run in seconds, resumptions included", WFRE_SETTING_PLAIN},
    {"seed", WFRE_SETTING_U64, FIELD(seed), 0, 9e15, NULL, "of all random choices",
     WFRE_SETTING_PLAIN},
};
const size_t wfre_train_table_count = sizeof wfre_train_table / sizeof wfre_train_table[0];

wfre_status wfre_train_set(wfre_train_settings *settings, const char *name, const char *text,
                           wfre_error *error)
{
    GIVEN(settings);
    GIVEN(name);
    GIVEN(text);
    const wfre_setting *setting = wfre_setting_find(wfre_train_table, wfre_train_table_count, name);
    if (wfre_train_setting_traits(name) & WFRE_SETTING_SAYS_EDGES)
        settings->edges = false;
    return setting ? wfre_setting_parse(setting, settings, text, error)
                   : wfre_model_set(&settings->model, name, text, error);
}

unsigned wfre_train_setting_traits(const char *name)
{
    const wfre_setting *setting = wfre_setting_find(wfre_train_table, wfre_train_table_count, name);
    if (!setting)
        setting = wfre_setting_find(wfre_model_table, wfre_model_table_count, name);
    return setting ? setting->traits : WFRE_SETTING_PLAIN;
}

wfre_status wfre_train_take_sizes(wfre_train_settings *settings, const wfre_train_settings *preset,
                                  const wfre_model_settings *model, wfre_error *error)
{
    char list[256] = "";
    size_t used = 0;
    bool other = false;
    for (size_t i = 0; i < wfre_model_table_count; i++) {
        const wfre_setting *row = &wfre_model_table[i];
        if (!(row->traits & WFRE_SETTING_SIZE))
            continue;
        char value[64];
        wfre_setting_print(row, model, value, sizeof value);
        other = other || (!wfre_setting_same(row, &settings->model, &preset->model) &&
                          !wfre_setting_same(row, &settings->model, model));
        used += (size_t)wfre_format(list + used, sizeof list - used, "%s%s %s", used ? ", " : "",
                                    row->name, value);
    }
    if (other)
        return wfre_fail(error, WFRE_ERR_ARGUMENT, WFRE_NO_OFFSET,
                         "the model to start from has %s; leave out other sizes", list);
    wfre_model_copy_sizes(&settings->model, model);
    if (settings->model.factors == 0 && settings->teach == preset->teach)
        settings->teach = 0; /* an older model has none to teach with */
    return WFRE_OK;
}

size_t wfre_train_setting_count(void)
{
    return wfre_train_table_count + wfre_model_table_count;
}

wfre_setting_text wfre_train_setting(const wfre_train_settings *settings, size_t index)
{
    if (index < wfre_model_table_count)
        return wfre_model_setting(&settings->model, index);
    const wfre_setting *row = &wfre_train_table[index - wfre_model_table_count];
    wfre_setting_text text = {.name = row->name, .help = row->help};
    wfre_setting_print(row, settings, text.value, sizeof text.value);
    return text;
}

/* ---- presets ------------------------------------------------------------------------------ */

/* The sizes of the published files of training queries: as many of each type, but a tenth of those
 * with negation. Paths are 2/3 of all queries, since two of three batches are theirs. */
static void mix_paper(wfre_train_settings *s)
{
    static const double paths = 2.0 / 3, others = 1.0 / 3;
    for (int t = 0; t < WFRE_TRAIN_TYPES; t++)
        s->mix[t] = t < 3 ? paths / 3 : t < 5 ? 0.4 * others : 0.04 * others;
    s->turns = true;
}

typedef struct paper_row {
    const char *name;
    uint32_t dim, bases, iterations;
    double rho, rate;
    uint64_t steps;
} paper_row;

/* The published configurations; a step there is three batches. They agree with the paper's table
 * "Best hyperparameters on every dataset", but for the iterations on NELL: the table says 10.
 * WN18RR has no published configuration: the row is the table's. */
static const paper_row PAPER[] = {
    {"paper-wn18rr", 800, 70, 15, 120, 1e-3, 3 * 120000},
    {"paper-fb15k-237", 1600, 120, 10, 120, 5e-4, 3 * 240000},
    {"paper-nell", 1600, 70, 15, 180, 5e-4, 3 * 240000},
    {"paper-fb15k", 1600, 90, 10, 150, 5e-4, 3 * 360000},
};

static void fill_paper(const paper_row *row, wfre_train_settings *s)
{
    s->model.dim = row->dim;
    s->model.bases = row->bases;
    s->model.rho = row->rho;
    s->model.score.iterations = row->iterations;
    s->loss = WFRE_LOSS_SIGMOID;
    s->candidates = WFRE_CANDIDATES_OWN;
    s->guide = WFRE_GUIDE_SCORE;
    s->batch = 512;
    s->negatives = 64; /* every query is scored twice there, with an answer and 32 others each */
    s->positives = 2;
    s->repeats = true;
    s->schedule = WFRE_SCHEDULE_STEPS;
    s->fresh = true;
    s->rate_entities = row->rate;
    s->rate_layers = row->rate;
    s->decay = 0.01;
    s->drop_input = 0.05;
    s->drop_basis = 0.05;
    s->drop_negation = 0.1;
    s->model.complement = 1 - s->drop_negation;
    s->mask = WFRE_MASK_ROW;
    s->initial = WFRE_INITIAL_PUBLISHED;
    s->steps = row->steps;
    s->forward_edges = 1; /* the benchmark's training queries: 1p are all there are */
    mix_paper(s);
}

typedef struct own_row {
    const char *name;
    uint32_t most_entities; /* chosen for graphs up to this size */
    uint32_t members;       /* of 200 bins */
    uint32_t bases, batch;
    double seconds;
    bool edges; /* answers edge by edge are what counts */
} own_row;

static const own_row OWN[] = {
    {"small", 2000, 1, 12, 256, 60, true},
    {"base", UINT32_MAX, 1, 16, 512, 600, true},
    {"large", UINT32_MAX, 4, 16, 512, 3600, true},
    {"embedding", UINT32_MAX, 4, 16, 512, 3600, false},
};

/* Each choice that departs from the paper was measured on validation queries: docs/LABBOOK.md. */
static void fill_own(const own_row *row, wfre_train_settings *s)
{
    s->model.dim = 200 * row->members;
    s->model.members = row->members; /* four that learned apart predict better than one of them */
    s->model.bases = row->bases;
    s->model.rho = 14;         /* 20 learns paths sooner, 14 ends with better intersections */
    s->model.score.radius = 1; /* what the local guide learns is lost when transport then ranks */
    s->model.score.power = WFRE_POWER_EXACT;
    s->model.score.iterations = 10;
    s->loss = WFRE_LOSS_SOFTMAX;
    s->candidates = WFRE_CANDIDATES_SHARED;
    s->guide = WFRE_GUIDE_LOCAL;
    s->batch = row->batch;
    s->negatives = 1024;
    s->positives = 4; /* with one alone, queries with many answers learn slowly */
    s->every_answer = true;
    s->lift = true; /* what is learned from known answers has too little mass for missing ones */
    s->model.factors = 128; /* they know other facts than histograms do */
    s->edges = row->edges;  /* an embedding forgets what the graph knows of a question's parts */
    s->schedule = WFRE_SCHEDULE_COSINE;
    s->warmup = 0.02;
    s->rate_entities = 2e-2;
    s->rate_layers = 2e-3;
    s->bounded = true;
    s->drop_input = 0.1;
    s->drop_negation = 0.1;
    s->seconds = row->seconds;
    for (int t = 0; t < WFRE_TRAIN_TYPES; t++)
        s->mix[t] = 1;
    s->mix[0] = 4; /* single edges: all other types stand on them */
}

/* What graphs that are not small need beyond it; by runs on FB15k-237 (237 relations, 38 directed
 * edges an entity) and NELL (200, 3.4) beside WN18RR (11, 4.3). */
static void fit_to_graph(const wfre_graph *graph, wfre_train_settings *s)
{
    enum { MANY_RELATIONS = 100, MANY_EDGES = 16 };
    uint32_t entities = wfre_graph_entities(graph);
    double edges = 2 * (double)wfre_graph_triples(graph, WFRE_TRAIN);
    s->mass = 0.05; /* 0.1 does as much for paths, but costs intersections more */
    s->factor_candidates = 1024 * s->model.members; /* they take about as long as histograms then */
    if (wfre_graph_relations(graph) / 2 > MANY_RELATIONS) {
        s->model.bases = s->model.bases < 24 ? 24 : s->model.bases;
        s->forward_edges = 0.5; /* random answers have few edges, what is asked for often many */
        s->forward_paths = 0.5;
        s->mix[0] = 60; /* with so many, single edges learn last, and edges are all that counts */
    }
    if (edges > (double)MANY_EDGES * (double)entities) { /* large sets of answers */
        s->model.rho = 20;
        s->rate_layers = 6e-3;
        s->batch = s->batch < 1024 ? 1024 : s->batch;
        s->negatives = 2048;
        s->factor_candidates = 16384;
        s->positives = 1;          /* many more are among the candidates */
        s->mix[3] = s->mix[4] = 2; /* intersections of large sets learn last */
        if (wfre_graph_relations(graph) / 2 <= MANY_RELATIONS) { /* by runs on CoDEx-S */
            s->mix[0] = 60;
            s->forward_edges = 1;
            s->answer_weight = 0; /* all facts count alike, as when links are ranked */
            s->drop_input = 0.25;
        }
    }
}

/* What answers by embedding need: operators learn, too, once single edges are learned, and what is
 * likely beside what is known. */
static void learn_operators(wfre_train_settings *s)
{
    enum { FEWER = 4 };
    s->teach = 6;
    if (s->mix[0] <= FEWER)
        return;
    s->mix_1p_end = FEWER;
    for (int t = 1; t < 5; t++) /* 2p, 3p, 2i, 3i */
        s->mix[t] = 2;
}

wfre_status wfre_train_preset(const char *name, const wfre_graph *graph,
                              wfre_train_settings *settings, wfre_error *error)
{
    if (!name)
        GIVEN(graph); /* it decides */
    GIVEN(settings);
    wfre_train_settings made = {.answer_weight = -0.5,
                                .relation_facts = 256,
                                .relation_rivals = 8,
                                .factor_facts = 512,
                                .factor_candidates = 16384,
                                .factor_penalty = 0.02,
                                .factor_rate = 0.05,
                                .hard = 64,
                                .exact = 32,
                                .stage = 0.7,
                                .seed = 1,
                                .precision = WFRE_FP32};
    wfre_model_settings_default(&made.model);
    for (size_t i = 0; name && i < sizeof PAPER / sizeof PAPER[0]; i++)
        if (strcmp(PAPER[i].name, name) == 0) {
            fill_paper(&PAPER[i], &made);
            *settings = made;
            return WFRE_OK;
        }
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        if (name ? strcmp(OWN[i].name, name) == 0
                 : wfre_graph_entities(graph) <= OWN[i].most_entities) {
            fill_own(&OWN[i], &made);
            if (graph && wfre_graph_entities(graph) > OWN[0].most_entities)
                fit_to_graph(graph, &made);
            if (!OWN[i].edges)
                learn_operators(&made);
            *settings = made;
            return WFRE_OK;
        }
    return wfre_fail(error, WFRE_ERR_NOT_FOUND, WFRE_NO_OFFSET,
                     "unknown preset '%s': use small, base, large, embedding, paper-wn18rr, "
                     "paper-fb15k-237, paper-nell or paper-fb15k",
                     name);
}
