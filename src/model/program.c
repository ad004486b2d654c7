/* From trees to levels of rows. Two passes: collect the nodes depth first with their level, then
 * sort them into row order and translate the links. */
#include "model/program.h"

#include <stdlib.h>
#include <string.h>

#include "query/normal.h"

/* A node on its way to becoming a row. */
typedef struct draft {
    uint64_t key; /* level, then kind, then relation: the order of rows */
    uint32_t index;
    uint32_t op;
    uint32_t id;
    uint32_t child_begin; /* into builder.links */
    uint32_t child_count;
    uint32_t level;
} draft;

typedef struct root {
    uint32_t draft;
    wfre_last_step last;
} root;

typedef struct builder {
    draft *drafts;
    size_t draft_count, draft_capacity;
    uint32_t *links; /* children as draft indexes */
    size_t link_count, link_capacity;
    root *roots;
    size_t root_count, root_capacity;
} builder;

/* Sort key of a row. Entities come first of all, projections before the other operators. */
static uint64_t row_key(uint32_t level, wfre_op op, uint32_t id)
{
    uint64_t kind = op == WFRE_OP_ENTITY ? 0 : op == WFRE_OP_PROJECT ? 1 : 2;
    return (uint64_t)level << 40 | kind << 36 | (op == WFRE_OP_PROJECT ? id : 0);
}

/* Adds the node and everything below it; *index is its draft. Depth is bounded by the parsers. */
static bool add_node(builder *b, const wfre_node *node, uint32_t *index)
{
    uint32_t level = 0;
    size_t begin = b->link_count;
    if (!WFRE_RESERVE(&b->links, &b->link_capacity, begin + node->child_count))
        return false;
    b->link_count += node->child_count;
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t child;
        if (!add_node(b, node->children[i], &child))
            return false;
        b->links[begin + i] = child;
        if (b->drafts[child].level >= level)
            level = b->drafts[child].level + 1;
    }
    if (!WFRE_RESERVE(&b->drafts, &b->draft_capacity, b->draft_count + 1))
        return false;
    *index = (uint32_t)b->draft_count;
    b->drafts[b->draft_count++] = (draft){
        .key = row_key(level, node->op, node->id),
        .index = *index,
        .op = (uint32_t)node->op,
        .id = node->id,
        .child_begin = (uint32_t)begin,
        .child_count = node->child_count,
        .level = level,
    };
    return true;
}

/* Whether a complement takes part in an intersection, however it is bracketed. */
static bool has_complement(const wfre_node *tree)
{
    for (uint32_t i = 0; i < tree->child_count; i++) {
        const wfre_node *child = tree->children[i];
        if (child->op == WFRE_OP_NEGATE ||
            (child->op == WFRE_OP_INTERSECT && has_complement(child)))
            return true;
    }
    return false;
}

wfre_last_step wfre_last_step_of(const wfre_node *tree)
{
    if (tree->op == WFRE_OP_PROJECT)
        return WFRE_LAST_PROJECTION;
    if (tree->op != WFRE_OP_INTERSECT)
        return WFRE_LAST_OTHER;
    return has_complement(tree) ? WFRE_LAST_NEGATION : WFRE_LAST_INTERSECTION;
}

static bool add_root(builder *b, const wfre_node *tree, wfre_last_step last)
{
    uint32_t index;
    if (!add_node(b, tree, &index) ||
        !WFRE_RESERVE(&b->roots, &b->root_capacity, b->root_count + 1))
        return false;
    b->roots[b->root_count++] = (root){index, last};
    return true;
}

/* Adds a query in the wanted form: one root, or one for each branch of its normal form. */
static wfre_status add_query(builder *b, wfre_arena *arena, const wfre_node *tree,
                             wfre_union unions, wfre_error *error)
{
    wfre_form form = unions == WFRE_UNION_DNF        ? WFRE_FORM_DNF_MULTI
                     : unions == WFRE_UNION_DEMORGAN ? WFRE_FORM_DEMORGAN
                                                     : WFRE_FORM_ORIGINAL;
    wfre_last_step last = wfre_last_step_of(tree); /* before it is rewritten */
    wfre_status status = wfre_tree_normal(arena, tree, form, &tree, error);
    if (status != WFRE_OK)
        return status;
    bool branches = unions == WFRE_UNION_DNF && tree->op == WFRE_OP_UNION;
    for (uint32_t i = 0; i < (branches ? tree->child_count : 1); i++) {
        const wfre_node *branch = branches ? tree->children[i] : tree;
        if (!add_root(b, branch, branches ? wfre_last_step_of(branch) : last))
            return wfre_fail_memory(error, "compiling queries");
    }
    return WFRE_OK;
}

static int compare_drafts(const void *left, const void *right)
{
    const draft *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Collects the distinct relations of the sorted drafts, ascending. */
static void list_relations(wfre_program *program, const builder *b)
{
    size_t count = 0;
    for (size_t i = 0; i < b->draft_count; i++)
        if (b->drafts[i].op == WFRE_OP_PROJECT)
            program->relations[count++] = b->drafts[i].id;
    qsort(program->relations, count, sizeof *program->relations, compare_ids);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || program->relations[kept - 1] != program->relations[i])
            program->relations[kept++] = program->relations[i];
    program->relation_count = (uint32_t)kept;
}

static uint32_t relation_slot(const wfre_program *program, uint32_t relation)
{
    const uint32_t *found = bsearch(&relation, program->relations, program->relation_count,
                                    sizeof relation, compare_ids);
    return (uint32_t)(found - program->relations);
}

/* Cuts the sorted rows into levels and groups. */
static void cut_levels(wfre_program *program, const builder *b)
{
    const draft *drafts = b->drafts;
    uint32_t rows = program->row_count;
    uint32_t row = program->leaf_count;
    while (row < rows) {
        uint32_t level = drafts[row].level;
        wfre_program_level *l = &program->levels[program->level_count++];
        l->projection_offset = program->projection_count;
        l->project_begin = row;
        l->group_begin = program->group_count;
        while (row < rows && drafts[row].level == level && drafts[row].op == WFRE_OP_PROJECT) {
            wfre_program_group *group = &program->groups[program->group_count++];
            uint32_t relation = drafts[row].id;
            group->relation = relation_slot(program, relation);
            group->begin = row;
            while (row < rows && drafts[row].level == level && drafts[row].op == WFRE_OP_PROJECT &&
                   drafts[row].id == relation)
                row++;
            group->end = row;
        }
        l->project_end = row;
        l->group_end = program->group_count;
        program->projection_count += l->project_end - l->project_begin;
        l->combine_begin = row;
        while (row < rows && drafts[row].level == level)
            row++;
        l->combine_end = row;
    }
}

/* Orders the projections by relation; groups come level by level, so levels stay in order. */
static void list_uses(wfre_program *program)
{
    uint32_t *begin = program->use_begin;
    memset(begin, 0, (program->relation_count + 1) * sizeof *begin);
    for (uint32_t g = 0; g < program->group_count; g++)
        begin[program->groups[g].relation] += program->groups[g].end - program->groups[g].begin;
    uint32_t total = 0;
    for (uint32_t u = 0; u <= program->relation_count; u++) {
        uint32_t count = begin[u];
        begin[u] = total;
        total += count;
    }
    uint32_t projection = 0; /* begin[u] moves to the end of its uses, so to the next one's begin */
    for (uint32_t g = 0; g < program->group_count; g++)
        for (uint32_t row = program->groups[g].begin; row < program->groups[g].end; row++)
            program->uses[begin[program->groups[g].relation]++] = projection++;
    memmove(begin + 1, begin, program->relation_count * sizeof *begin);
    begin[0] = 0;
}

static bool allocate(wfre_program *program, const builder *b)
{
    wfre_arena *arena = &program->arena;
    size_t rows = b->draft_count;
    program->op = wfre_arena_alloc(arena, rows, sizeof *program->op);
    program->id = wfre_arena_alloc(arena, rows, sizeof *program->id);
    program->child_begin = wfre_arena_alloc(arena, rows + 1, sizeof *program->child_begin);
    program->children = wfre_arena_alloc(arena, b->link_count, sizeof *program->children);
    program->levels = wfre_arena_alloc(arena, rows, sizeof *program->levels);
    program->groups = wfre_arena_alloc(arena, rows, sizeof *program->groups);
    program->relations = wfre_arena_alloc(arena, rows, sizeof *program->relations);
    program->uses = wfre_arena_alloc(arena, rows, sizeof *program->uses);
    program->use_begin = wfre_arena_alloc(arena, rows + 1, sizeof *program->use_begin);
    program->roots = wfre_arena_alloc(arena, b->root_count, sizeof *program->roots);
    program->last = wfre_arena_alloc(arena, b->root_count, sizeof *program->last);
    return program->op && program->id && program->child_begin && program->children &&
           program->levels && program->groups && program->relations && program->uses &&
           program->use_begin && program->roots && program->last;
}

/* Sorts the drafts and fills the program's arrays from them. */
static bool place_rows(wfre_program *program, builder *b)
{
    uint32_t *row_of = wfre_arena_alloc(&program->arena, b->draft_count, sizeof *row_of);
    if (!row_of || !allocate(program, b))
        return false;
    qsort(b->drafts, b->draft_count, sizeof *b->drafts, compare_drafts);
    program->row_count = (uint32_t)b->draft_count;
    for (uint32_t row = 0; row < program->row_count; row++) {
        row_of[b->drafts[row].index] = row;
        program->leaf_count += b->drafts[row].op == WFRE_OP_ENTITY;
    }
    list_relations(program, b);
    uint32_t used = 0;
    for (uint32_t row = 0; row < program->row_count; row++) {
        const draft *d = &b->drafts[row];
        program->op[row] = (uint8_t)d->op;
        program->id[row] = d->op == WFRE_OP_ENTITY    ? d->id
                           : d->op == WFRE_OP_PROJECT ? relation_slot(program, d->id)
                                                      : 0;
        program->child_begin[row] = used;
        for (uint32_t i = 0; i < d->child_count; i++)
            program->children[used++] = row_of[b->links[d->child_begin + i]];
    }
    program->child_begin[program->row_count] = used;
    for (size_t i = 0; i < b->root_count; i++) {
        program->roots[i] = row_of[b->roots[i].draft];
        program->last[i] = (uint8_t)b->roots[i].last;
    }
    program->root_count = (uint32_t)b->root_count;
    cut_levels(program, b);
    list_uses(program);
    return true;
}

wfre_status wfre_program_compile(wfre_program *program, const wfre_node *const *trees, size_t count,
                                 wfre_union unions, wfre_error *error)
{
    wfre_arena arena = program->arena;
    wfre_arena_reset(&arena);
    *program = (wfre_program){.arena = arena};
    builder b = {0};
    wfre_arena forms = {0};
    wfre_status status = WFRE_OK;
    program->root_begin = wfre_arena_alloc(&program->arena, count + 1, sizeof(uint32_t));
    if (!program->root_begin) {
        status = wfre_fail_memory(error, "compiling queries");
        goto cleanup;
    }
    for (size_t q = 0; q < count; q++) {
        program->root_begin[q] = (uint32_t)b.root_count;
        TRY(add_query(&b, &forms, trees[q], unions, error));
    }
    program->root_begin[count] = (uint32_t)b.root_count;
    program->query_count = (uint32_t)count;
    if (!place_rows(program, &b))
        status = wfre_fail_memory(error, "compiling queries");
cleanup:
    wfre_arena_free(&forms);
    wfre_free(b.drafts);
    wfre_free(b.links);
    wfre_free(b.roots);
    return status;
}

void wfre_program_free(wfre_program *program)
{
    wfre_arena_free(&program->arena);
    *program = (wfre_program){0};
}
