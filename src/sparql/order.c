/* The order of the steps of a basic pattern: always the one that adds least, by the graph's counts.
 *
 * A step that binds one slot meets all atoms in which only that slot is unbound: that makes the
 * join worst-case optimal where it matters (triangles, stars). The first step also takes the slot's
 * columns of atoms with more unbound slots, which it thereby thins out in advance. */
#include <string.h>

#include "base/memory.h"
#include "sparql/plan.h"

typedef struct orderer {
    wfre_sq_exec *x;
    wfre_sq_node *node;
    wfre_arena *arena;
    uint64_t *bound;
    bool *done;       /* by atom */
    double *counts;   /* triples that match its terms */
    double *subjects; /* different ones of its predicate */
    double *objects;
    bool *placed; /* by filter */
    uint64_t *seen;
    const wfre_sq_expression **ready; /* where the next filter goes that has found its step */
    bool first;
} orderer;

static bool is_free(const orderer *o, const wfre_sq_place *place)
{
    return place->slot != WFRE_NONE && !wfre_sq_slots_has(o->bound, place->slot);
}

/* The unbound slots of an atom, each once. */
static uint32_t free_slots(const orderer *o, const wfre_sq_atom *atom, wfre_sq_slot slots[3])
{
    uint32_t count = 0;
    for (int i = 0; i < WFRE_RDF_PLACES; i++) {
        bool known = !is_free(o, &atom->at[i]);
        for (uint32_t k = 0; k < count; k++)
            known |= slots[k] == atom->at[i].slot;
        if (!known)
            slots[count++] = atom->at[i].slot;
    }
    return count;
}

static bool touches(const orderer *o, const wfre_sq_atom *atom)
{
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        if (atom->at[i].slot != WFRE_NONE && wfre_sq_slots_has(o->bound, atom->at[i].slot))
            return true;
    return false;
}

/* How many rows the atom makes of one. */
static double fan(const orderer *o, uint32_t index)
{
    const wfre_sq_atom *atom = &o->node->atoms[index];
    bool subject = !is_free(o, &atom->at[WFRE_RDF_S]), object = !is_free(o, &atom->at[WFRE_RDF_O]);
    if (atom->path)
        return subject && object ? 2 : subject || object ? 1000 : 1e12;
    double rows = o->counts[index];
    if (subject && atom->at[WFRE_RDF_S].slot != WFRE_NONE)
        rows /= o->subjects[index];
    if (object && atom->at[WFRE_RDF_O].slot != WFRE_NONE)
        rows /= o->objects[index];
    if (atom->at[WFRE_RDF_P].slot != WFRE_NONE && !is_free(o, &atom->at[WFRE_RDF_P]))
        rows /= 8;
    return rows;
}

static wfre_sq_flow count_atoms(orderer *o)
{
    const wfre_rdf *rdf = o->x->rdf;
    double terms = (double)wfre_rdf_terms(rdf);
    for (uint32_t i = 0; i < o->node->atom_count; i++) {
        const wfre_sq_atom *atom = &o->node->atoms[i];
        wfre_rdf_triple triple;
        for (int k = 0; k < WFRE_RDF_PLACES; k++)
            triple.at[k] = atom->at[k].term;
        o->subjects[i] = o->objects[i] = terms > 1 ? terms : 1;
        o->counts[i] = atom->path ? 1e6 : (double)wfre_rdf_count(rdf, &triple);
        wfre_rdf_id predicate = triple.at[WFRE_RDF_P];
        if (atom->path || predicate == WFRE_NONE)
            continue;
        double subjects = (double)wfre_rdf_distinct(rdf, predicate, WFRE_RDF_S);
        double objects = (double)wfre_rdf_distinct(rdf, predicate, WFRE_RDF_O);
        o->subjects[i] = subjects > 1 ? subjects : 1;
        o->objects[i] = objects > 1 ? objects : 1;
        if (wfre_sq_tick(o->x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

static uint32_t next_atom(const orderer *o)
{
    uint32_t best = WFRE_NONE;
    double least = 0;
    bool joined = false;
    for (uint32_t i = 0; i < o->node->atom_count; i++) {
        const wfre_sq_atom *atom = &o->node->atoms[i];
        wfre_sq_slot slots[3];
        if (o->done[i])
            continue;
        /* an atom without slots is a test, as cheap as one that touches what is bound */
        bool touch = touches(o, atom) || free_slots(o, atom, slots) == 0;
        double rows = fan(o, i);
        if (best == WFRE_NONE || (touch && !joined) || (touch == joined && rows < least)) {
            best = i;
            least = rows;
            joined = touch;
        }
    }
    return best;
}

/* ---- steps -------------------------------------------------------------------------------- */

static wfre_rdf_place place_of_slot(const wfre_sq_atom *atom, wfre_sq_slot slot)
{
    int i = 0;
    while (atom->at[i].slot != slot)
        i++;
    return (wfre_rdf_place)i;
}

static bool has_slot(const wfre_sq_atom *atom, wfre_sq_slot slot)
{
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        if (atom->at[i].slot == slot)
            return true;
    return false;
}

/* The slot to begin with, if an atom with two of them comes first: one that others have, too. */
static wfre_sq_slot shared_slot(const orderer *o, const wfre_sq_atom *atom,
                                const wfre_sq_slot *slots, uint32_t count)
{
    wfre_sq_slot best = WFRE_NONE;
    uint32_t most = 1;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t users = 0;
        if (place_of_slot(atom, slots[s]) == WFRE_RDF_P)
            continue;
        for (uint32_t i = 0; i < o->node->atom_count; i++) {
            const wfre_sq_atom *other = &o->node->atoms[i];
            users += !other->path && !other->twice && has_slot(other, slots[s]) &&
                     other->at[WFRE_RDF_P].slot == WFRE_NONE;
        }
        if (users > most) {
            most = users;
            best = slots[s];
        }
    }
    return best;
}

/* Whether the step that binds a slot meets the atom; *only: nothing else is unbound in it. */
static bool meets(const orderer *o, uint32_t index, wfre_sq_slot slot, bool *only)
{
    const wfre_sq_atom *atom = &o->node->atoms[index];
    wfre_sq_slot slots[3];
    if (o->done[index] || atom->path || atom->twice || !has_slot(atom, slot))
        return false;
    *only = free_slots(o, atom, slots) == 1;
    return *only || (o->first && atom->at[WFRE_RDF_P].slot == WFRE_NONE);
}

/* Meets the columns of a slot. Atoms in which nothing else is unbound are done thereby. */
static wfre_sq_flow meet(orderer *o, wfre_sq_slot slot, wfre_sq_step *step)
{
    uint32_t count = 0;
    bool only;
    for (uint32_t i = 0; i < o->node->atom_count; i++)
        count += meets(o, i, slot, &only);
    step->kind = WFRE_SQ_MEET;
    step->slot = slot;
    step->column_atoms = wfre_arena_alloc(o->arena, count, sizeof *step->column_atoms);
    step->column_places = wfre_arena_alloc(o->arena, count, sizeof *step->column_places);
    step->columns = wfre_arena_alloc(o->arena, count, sizeof *step->columns);
    if (!step->column_atoms || !step->column_places || !step->columns)
        return wfre_sq_no_memory(o->x);
    memset(step->columns, 0, count * sizeof *step->columns);
    for (uint32_t i = 0; i < o->node->atom_count; i++) {
        const wfre_sq_atom *atom = &o->node->atoms[i];
        if (!meets(o, i, slot, &only))
            continue;
        step->column_atoms[step->column_count] = atom;
        step->column_places[step->column_count++] = place_of_slot(atom, slot);
        o->done[i] = only;
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow make_step(orderer *o, uint32_t index, wfre_sq_step *step)
{
    const wfre_sq_atom *atom = &o->node->atoms[index];
    wfre_sq_slot slots[3], shared = WFRE_NONE;
    uint32_t count = free_slots(o, atom, slots);
    memset(step, 0, sizeof *step);
    step->atom = atom;
    if (atom->path) {
        step->kind = WFRE_SQ_WALK;
        o->done[index] = true;
    } else if (count == 0) {
        step->kind = WFRE_SQ_CHECK;
        o->done[index] = true;
    } else if (count == 1 && !atom->twice) {
        return meet(o, slots[0], step);
    } else if (o->first && !atom->twice &&
               (shared = shared_slot(o, atom, slots, count)) != WFRE_NONE) {
        return meet(o, shared, step);
    } else {
        step->kind = WFRE_SQ_SCAN;
        o->done[index] = true;
    }
    return WFRE_SQ_GO;
}

static void bind_step(orderer *o, const wfre_sq_step *step)
{
    if (step->kind == WFRE_SQ_MEET) {
        wfre_sq_slots_add(o->bound, step->slot);
        return;
    }
    for (int i = 0; i < WFRE_RDF_PLACES; i++)
        if (step->atom->at[i].slot != WFRE_NONE)
            wfre_sq_slots_add(o->bound, step->atom->at[i].slot);
}

/* Puts the filters behind the step that have now all that the pattern binds for them: the last of
 * o->ready, which has room for all. */
static wfre_sq_flow place_filters(orderer *o, wfre_sq_step *step)
{
    size_t words = o->x->plan->words;
    step->filters = o->ready;
    for (uint32_t i = 0; i < o->node->filter_count; i++) {
        if (o->placed[i])
            continue;
        memset(o->seen, 0, words * sizeof *o->seen);
        wfre_sq_expression_slots(o->node->filters[i], o->seen);
        bool ready = true;
        for (size_t w = 0; w < words; w++)
            ready &= (o->seen[w] & o->node->possible[w] & ~o->bound[w]) == 0;
        if (wfre_sq_tick(o->x) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        if (!ready)
            continue;
        *o->ready++ = o->node->filters[i];
        step->filter_count++;
        o->placed[i] = true;
    }
    return WFRE_SQ_GO;
}

static wfre_sq_flow allocate(orderer *o, const uint64_t *bound)
{
    size_t atoms = o->node->atom_count, words = o->x->plan->words;
    o->bound = wfre_arena_alloc(o->arena, words, sizeof *o->bound);
    o->done = wfre_arena_alloc(o->arena, atoms, sizeof *o->done);
    o->counts = wfre_arena_alloc(o->arena, atoms, sizeof *o->counts);
    o->subjects = wfre_arena_alloc(o->arena, atoms, sizeof *o->subjects);
    o->objects = wfre_arena_alloc(o->arena, atoms, sizeof *o->objects);
    o->seen = wfre_arena_alloc(o->arena, words, sizeof *o->seen);
    o->ready = wfre_arena_alloc(o->arena, (size_t)o->node->filter_count + 1, sizeof *o->ready);
    o->placed = wfre_arena_alloc(o->arena, (size_t)o->node->filter_count + 1, sizeof *o->placed);
    /* at most a step for each atom and each slot */
    o->node->steps = wfre_arena_alloc(o->arena, 4 * atoms, sizeof *o->node->steps);
    if (!o->bound || !o->done || !o->counts || !o->subjects || !o->objects || !o->placed ||
        !o->seen || !o->ready || !o->node->steps)
        return wfre_sq_no_memory(o->x);
    memcpy(o->bound, bound, words * sizeof *bound);
    memset(o->done, 0, atoms * sizeof *o->done);
    memset(o->placed, 0, (o->node->filter_count + 1) * sizeof *o->placed);
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_plan_steps(wfre_sq_exec *x, wfre_sq_node *node, const uint64_t *bound)
{
    orderer o = {.x = x, .node = node, .arena = &x->plan->arena, .first = true};
    node->estimate = 1;
    if (allocate(&o, bound) != WFRE_SQ_GO || count_atoms(&o) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    for (size_t w = 0; w < x->plan->words; w++)
        o.first &= bound[w] == 0;
    for (uint32_t i; (i = next_atom(&o)) != WFRE_NONE; o.first = false) {
        wfre_sq_step *step = &node->steps[node->step_count];
        double rows = fan(&o, i);
        if (wfre_sq_check_time(x) != WFRE_SQ_GO || make_step(&o, i, step) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
        node->step_count++;
        bind_step(&o, step);
        node->estimate *= rows;
        step->estimate = node->estimate;
        if (place_filters(&o, step) != WFRE_SQ_GO)
            return WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}
