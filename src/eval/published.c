/* The numbers, one line a method. */
#include "eval/published.h"

#include <string.h>

#include "sample/queryset.h"

static const struct {
    const char *name;
    uint32_t entities, relations;
} DATASETS[] = {
    {"FB15k", 14951, 2690},
    {"FB15k-237", 14505, 474},
    {"NELL", 63361, 400},
    {"WN18RR", 40559, 22},
};
enum { DATASET_COUNT = sizeof DATASETS / sizeof DATASETS[0] };

/* clang-format off */
#define A_P_N(p, n) {[WFRE_GROUP_POSITIVE] = (p), [WFRE_GROUP_NEGATIVE] = (n)}
#define A_P_L_N(p, l, n) {[WFRE_GROUP_PATHS] = (p), [WFRE_GROUP_OTHERS] = (l), [WFRE_GROUP_NEGATIVE] = (n)}

const wfre_published wfre_published_rows[] = {
    /*                                     1p     2p     3p     2i     3i     ip     pi    2in    3in    inp    pin    pni     2u     up */
    {"FB15k",     "BetaE",             { 65.1,  25.7,  24.7,  55.8,  66.5,  28.1,  43.9,  14.3,  14.7,  11.5,   6.5,  12.4,  40.1,  25.2}, A_P_N(41.6, 11.8)},
    {"FB15k",     "ConE",              { 75.3,  33.8,  29.2,  64.4,  73.7,  35.7,  50.9,  17.9,  18.7,  12.5,   9.8,  15.1,  55.7,  31.4}, A_P_N(49.8, 14.8)},
    {"FB15k",     "MLPMIX",            { 69.7,  27.7,  23.9,  58.7,  69.9,  30.8,  46.7,  17.2,  17.8,  13.5,   9.1,  15.2,  38.2,  24.8}, A_P_N(43.4, 14.8)},
    {"FB15k",     "Q2P",               { 82.6,  30.8,  25.5,  65.1,  74.7,  34.9,  49.5,  21.9,  20.8,  12.5,   8.9,  17.1,  32.1,  26.2}, A_P_N(46.8, 16.4)},
    {"FB15k",     "GammaE",            { 76.5,  36.9,  31.4,  65.4,  75.1,  39.7,  53.9,  20.1,  20.5,  13.5,  11.8,  17.1,  53.5,  30.9}, A_P_N(51.3, 16.6)},
    {"FB15k",     "GammaE, own union", { 76.5,  36.9,  31.4,  65.4,  75.1,  39.7,  53.9,  20.1,  20.5,  13.5,  11.8,  17.1,  57.1,  34.5}, A_P_N(52.3, 16.6)},
    {"FB15k",     "WFRE",              { 81.1,  37.7,  30.5,  68.5,  78.0,  41.8,  56.3,  26.1,  26.5,  15.6,  13.7,  19.4,  48.0,  33.1}, A_P_N(52.8, 20.2)},

    {"FB15k-237", "BetaE",             { 39.0,  10.9,  10.0,  28.8,  42.5,  12.6,  22.4,   5.1,   7.9,   7.4,   3.6,   3.4,  12.4,   9.7}, A_P_N(20.9, 5.4)},
    {"FB15k-237", "ConE",              { 41.8,  12.8,  11.0,  32.6,  47.3,  14.0,  25.5,   5.4,   8.6,   7.8,   4.0,   3.6,  14.5,  10.8}, A_P_N(23.4, 5.9)},
    {"FB15k-237", "MLPMIX",            { 42.4,  11.5,   9.9,  33.5,  46.8,  14.0,  25.4,   6.6,  10.7,   8.1,   4.7,   4.4,  14.0,   9.2}, A_P_N(22.9, 6.9)},
    {"FB15k-237", "Q2P",               { 39.1,  11.4,  10.1,  32.3,  47.7,  14.3,  24.0,   4.4,   9.7,   7.5,   4.6,   3.8,   8.7,   9.1}, A_P_N(21.9, 6.0)},
    {"FB15k-237", "GammaE",            { 43.2,  13.2,  11.0,  33.5,  47.9,  15.9,  27.2,   6.7,   9.4,   8.6,   4.8,   4.4,  13.9,  10.3}, A_P_N(24.0, 6.8)},
    {"FB15k-237", "GammaE, own union", { 43.2,  13.2,  11.0,  33.5,  47.9,  15.9,  27.2,   6.7,   9.4,   8.6,   4.8,   4.4,  15.4,  11.3}, A_P_N(24.3, 6.8)},
    {"FB15k-237", "WFRE",              { 44.1,  13.4,  11.1,  35.1,  50.1,  17.2,  27.4,   6.9,  11.2,   8.5,   5.0,   4.3,  13.9,  10.9}, A_P_N(24.8, 7.2)},

    {"NELL",      "BetaE",             { 53.0,  13.0,  11.5,  37.6,  47.5,  14.3,  24.1,   5.1,   7.8,  10.0,   3.1,   3.5,  12.2,   8.5}, A_P_N(24.6, 5.9)},
    {"NELL",      "ConE",              { 53.1,  16.1,  13.9,  40.0,  50.8,  17.5,  26.3,   5.7,   8.1,  10.8,   3.5,   3.9,  15.3,  11.3}, A_P_N(27.2, 6.4)},
    {"NELL",      "MLPMIX",            { 55.4,  16.5,  13.9,  39.5,  51.0,  18.3,  25.7,   5.1,   8.0,  10.0,   3.1,   3.5,  14.7,  11.2}, A_P_N(27.4, 5.9)},
    {"NELL",      "Q2P",               { 56.5,  15.2,  12.5,  35.8,  48.7,  16.1,  22.6,   5.1,   7.4,  10.2,   3.3,   3.4,  11.1,  10.4}, A_P_N(25.5, 6.0)},
    {"NELL",      "GammaE",            { 55.1,  17.3,  14.2,  41.9,  51.1,  18.3,  26.9,   6.3,   8.7,  11.4,   4.0,   4.5,  15.1,  11.2}, A_P_N(27.9, 7.0)},
    {"NELL",      "GammaE, own union", { 55.1,  17.3,  14.2,  41.9,  51.1,  18.3,  26.9,   6.3,   8.7,  11.4,   4.0,   4.5,  16.5,  12.5}, A_P_N(28.2, 7.0)},
    {"NELL",      "FuzzQE",            { 58.1,  19.3,  15.7,  39.8,  50.3,  21.8,  28.1,   8.3,  10.2,  11.5,   4.6,   5.4,  17.3,  13.7}, A_P_N(29.3, 8.0)},
    {"NELL",      "FuzzQE, rerun",     { 55.5,  16.8,  14.4,  37.3,  46.9,  19.1,  24.0,   7.3,   9.1,  11.1,   4.1,   4.9,  15.0,  11.7}, A_P_N(26.7, 7.3)},
    {"NELL",      "WFRE",              { 58.6,  18.6,  16.0,  41.2,  52.7,  20.7,  28.4,   6.9,   8.8,  12.5,   4.1,   4.4,  16.1,  13.2}, A_P_N(29.5, 7.3)},

    {"WN18RR",    "BetaE",             {44.13,  9.85,  3.86, 57.19, 76.26, 17.97, 32.59, 12.77, 59.98,  5.07,  4.04,  7.48,  7.57,  5.39}, A_P_L_N(19.28, 32.83, 17.87)},
    {"WN18RR",    "LinE",              {45.12, 12.35,  6.70, 47.11, 67.13, 14.73, 24.87, 12.50, 60.81,  7.34,  5.20,  7.74,  8.49,  6.93}, A_P_L_N(21.39, 28.21, 18.72)},
    {"WN18RR",    "WFRE",              {52.78, 21.00, 15.18, 68.23, 88.15, 26.50, 40.97, 18.99, 69.07, 14.29, 11.06, 11.01, 15.14, 15.81}, A_P_L_N(29.65, 42.46, 24.88)},
};
/* clang-format on */
const size_t wfre_published_count = sizeof wfre_published_rows / sizeof wfre_published_rows[0];

const char *wfre_known_dataset(uint32_t entities, uint32_t relations)
{
    for (size_t i = 0; i < DATASET_COUNT; i++)
        if (DATASETS[i].entities == entities && DATASETS[i].relations == relations)
            return DATASETS[i].name;
    return NULL;
}

bool wfre_published_kind(const char *dataset, const wfre_queryset *set)
{
    enum { MOST_HARD = 100 };
    bool capped = strcmp(dataset, "WN18RR") != 0;
    for (uint32_t q = 0; capped && q < set->count; q++)
        if (wfre_queryset_hard(set, q).count > MOST_HARD)
            return false;
    return !set->unusual;
}

/* ---- link prediction ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t entities, relations;
} LINK_DATASETS[] = {
    {"FB15k-237", 14541, 474}, {"FB15k-237", 14505, 474}, {"WN18RR", 40943, 22},
    {"WN18RR", 40559, 22},     {"CoDEx-S", 2034, 84},     {"CoDEx-M", 17050, 102},
    {"CoDEx-L", 77951, 138},   {"UMLS", 135, 92},         {"Kinship", 104, 50},
};

/* clang-format off */
const wfre_published_link wfre_published_links[] = {
    /* LibKGE's repository, section "Results": the runs of Ruffinelli et al., ICLR 2020. */
    {"FB15k-237", "TransE, LibKGE",   0.313, 0.221, 0.497, 1},
    {"FB15k-237", "DistMult, LibKGE", 0.343, 0.250, 0.531, 1},
    {"FB15k-237", "ComplEx, LibKGE",  0.348, 0.253, 0.536, 1},
    {"FB15k-237", "RESCAL, LibKGE",   0.356, 0.263, 0.541, 1},
    {"FB15k-237", "ConvE, LibKGE",    0.339, 0.248, 0.521, 1},
    {"WN18RR",    "TransE, LibKGE",   0.228, 0.053, 0.520, 1},
    {"WN18RR",    "DistMult, LibKGE", 0.452, 0.413, 0.530, 1},
    {"WN18RR",    "ComplEx, LibKGE",  0.475, 0.438, 0.547, 1},
    {"WN18RR",    "RESCAL, LibKGE",   0.467, 0.439, 0.517, 1},
    {"WN18RR",    "ConvE, LibKGE",    0.442, 0.411, 0.504, 1},
    /* ComplEx with the N3 penalty, Lacroix et al., ICML 2018: their repository (kbc), rank 2000, to
     * two digits. */
    {"FB15k-237", "ComplEx-N3",       0.37,  0.27,  0.56,  0},
    {"WN18RR",    "ComplEx-N3",       0.49,  0.44,  0.58,  0},
    /* ConvE, Dettmers et al., AAAI 2018: their repository, "Predictive performance", to two digits. */
    {"UMLS",      "ConvE",            0.94,  0.92,  0.99,  0},
    {"Kinship",   "ConvE",            0.83,  0.73,  0.98,  0},
    /* CoDEx, Safavi and Koutra, EMNLP 2020: their repository, "Link prediction results". */
    {"CoDEx-S",   "RESCAL",           0.404, 0.293, 0.623, 1},
    {"CoDEx-S",   "TransE",           0.354, 0.219, 0.634, 1},
    {"CoDEx-S",   "ComplEx",          0.465, 0.372, 0.646, 1},
    {"CoDEx-S",   "ConvE",            0.444, 0.343, 0.635, 1},
    {"CoDEx-M",   "RESCAL",           0.317, 0.244, 0.456, 1},
    {"CoDEx-M",   "TransE",           0.303, 0.223, 0.454, 1},
    {"CoDEx-M",   "ComplEx",          0.337, 0.262, 0.476, 1},
    {"CoDEx-M",   "ConvE",            0.318, 0.239, 0.464, 1},
    {"CoDEx-L",   "RESCAL",           0.304, 0.242, 0.419, 1},
    {"CoDEx-L",   "TransE",           0.187, 0.116, 0.317, 1},
    {"CoDEx-L",   "ComplEx",          0.294, 0.237, 0.400, 1},
    {"CoDEx-L",   "ConvE",            0.303, 0.240, 0.420, 1},
    /* ComplEx-N3 with relation prediction, Chen et al., AKBC 2021, as the paper's benchmark list
     * (arXiv 2110.02834) has it. */
    {"CoDEx-S",   "ComplEx-N3-RP",    0.473, 0.375, 0.663, 1},
    {"CoDEx-M",   "ComplEx-N3-RP",    0.352, 0.277, 0.490, 1},
    {"CoDEx-L",   "ComplEx-N3-RP",    0.345, 0.277, 0.473, 1},
};
/* clang-format on */
const size_t wfre_published_links_count =
    sizeof wfre_published_links / sizeof wfre_published_links[0];

const char *wfre_known_links_dataset(uint32_t entities, uint32_t relations)
{
    for (size_t i = 0; i < sizeof LINK_DATASETS / sizeof LINK_DATASETS[0]; i++)
        if (LINK_DATASETS[i].entities == entities && LINK_DATASETS[i].relations == relations)
            return LINK_DATASETS[i].name;
    return NULL;
}
