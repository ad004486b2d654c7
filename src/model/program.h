/* A batch of queries as one program: every node of every tree gets a row of the activation matrix,
 * rows are ordered by level, and the projections of a level stand together grouped by relation.
 *
 *   level 0   entity rows
 *   level l   projection rows, grouped by relation; then rows of negations, intersections, unions
 *
 * A row's children lie on lower levels, so running the levels upwards computes everything, and
 * running them downwards carries gradients back. Any mix of query shapes is one program. */
#ifndef WFRE_SRC_MODEL_PROGRAM_H
#define WFRE_SRC_MODEL_PROGRAM_H

#include "query/tree.h"
#include "wfre/model.h"

/* Rows [begin, end) of one level that go through the same relation. */
typedef struct wfre_program_group {
    uint32_t relation; /* index into wfre_program.relations */
    uint32_t begin, end;
} wfre_program_group;

typedef struct wfre_program_level {
    uint32_t project_begin, project_end; /* rows */
    uint32_t combine_begin, combine_end; /* rows of negations, intersections and unions */
    uint32_t group_begin, group_end;     /* into wfre_program.groups */
    uint32_t projection_offset;          /* projections on lower levels */
} wfre_program_level;

typedef struct wfre_program {
    uint32_t row_count;
    uint32_t leaf_count; /* rows 0 .. leaf_count-1 are entities */
    uint32_t projection_count;
    uint8_t *op;           /* wfre_op of each row */
    uint32_t *id;          /* entity, or index into relations; 0 for the rest */
    uint32_t *child_begin; /* row_count + 1, into children */
    uint32_t *children;    /* rows */

    wfre_program_level *levels;
    uint32_t level_count;
    wfre_program_group *groups;
    uint32_t group_count;
    uint32_t *relations; /* the distinct directed relations in use, ascending */
    uint32_t relation_count;
    uint32_t *uses;      /* projections ordered by relation, then by level */
    uint32_t *use_begin; /* relation_count + 1, into uses */

    /* Query q is the union of the rows roots[root_begin[q] .. root_begin[q+1]); more than one only
     * when unions are answered in disjunctive normal form. */
    uint32_t query_count;
    uint32_t *root_begin;
    uint32_t *roots;
    uint8_t *last; /* wfre_last_step of each root */
    uint32_t root_count;

    wfre_arena arena; /* owns all of it */
} wfre_program;

/* The last step of a query, or of a branch of its disjunctive normal form. */
wfre_last_step wfre_last_step_of(const wfre_node *tree);

/* Compiles trees under the given treatment of unions. Reuses the memory of an earlier program in
 * *program (zero-initialise it the first time). A query whose answer is a complement of everything
 * embeddable is still fine: negation is an operator like the others. */
WFRE_NODISCARD wfre_status wfre_program_compile(wfre_program *program,
                                                const wfre_node *const *trees, size_t count,
                                                wfre_union unions, wfre_error *error);
void wfre_program_free(wfre_program *program);

#endif
