/* What a sketch of all entities (search/sketch.h) consists of, and how a model's file keeps it. */
#ifndef WFRE_SRC_MODEL_SKETCH_TABLES_H
#define WFRE_SRC_MODEL_SKETCH_TABLES_H

#include "model/safetensors.h"
#include "wfre/score.h"

typedef struct wfre_sketch_shape {
    size_t entities;
    size_t dim, block, blocks;
    size_t sums;   /* of a block that features are made of: of where its mass goes, and of all */
    size_t raw;    /* features of a block before the map */
    size_t rank;   /* and behind it */
    size_t width;  /* rank * blocks: features of a row */
    size_t stride; /* bytes of a row */
} wfre_sketch_shape;

wfre_sketch_shape wfre_sketch_shape_for(const wfre_score_settings *settings, size_t entities);

typedef struct wfre_sketch_tables {
    wfre_sketch_shape shape;
    float *entity_map; /* [raw, rank] */
    float *query_map;  /* [raw, rank] */
    float *means;      /* [rank]: what the entities' features have been reduced by */
    float *steps;      /* [entities]: what a unit of their bytes stands for */
    int8_t *features;  /* [entities, stride] */
    bool mapped;       /* they lie in a file, and are only read */
} wfre_sketch_tables;

/* NULL if there is no memory. */
wfre_sketch_tables *wfre_sketch_tables_allocate(const wfre_sketch_shape *shape);
void wfre_sketch_tables_free(wfre_sketch_tables *tables);

enum { WFRE_SKETCH_TENSORS = 5 };

/* As they stand in a file. */
void wfre_sketch_tables_store(const wfre_sketch_tables *tables,
                              wfre_stored_tensor tensors[WFRE_SKETCH_TENSORS]);

/* Those that lie in the file; *tables is NULL if it has none of this shape. */
WFRE_NODISCARD wfre_status wfre_sketch_tables_find(const wfre_safetensors *file,
                                                   const wfre_sketch_shape *shape,
                                                   wfre_sketch_tables **tables, wfre_error *error);

#endif
