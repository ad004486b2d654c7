/* Terms while a query runs: those of the graph, those that the query makes up, and their values. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "sparql/exec.h"

enum { FIRST_SLOTS = 64 };

/* ---- scratch ------------------------------------------------------------------------------ */

static void release_scratch(wfre_sq_exec *x, size_t bytes)
{
    wfre_sq_release(x, bytes);
    x->scratch_bytes -= bytes;
}

wfre_sq_mark wfre_sq_scratch_begin(wfre_sq_exec *x)
{
    if (x->evaluating++ == 0 && x->scratch.chunks) {
        wfre_arena_reset(&x->scratch);
        release_scratch(x, x->scratch_bytes);
    }
    return (wfre_sq_mark){x->scratch, x->scratch_bytes};
}

void wfre_sq_scratch_end(wfre_sq_exec *x, wfre_sq_mark mark)
{
    if (--x->evaluating == 0)
        return;
    wfre_arena_rewind(&x->scratch, mark.arena);
    release_scratch(x, x->scratch_bytes - mark.bytes);
}

char *wfre_sq_scratch_text(wfre_sq_exec *x, size_t bytes)
{
    if (wfre_sq_tick_text(x, bytes) != WFRE_SQ_GO ||
        wfre_sq_charge(x, bytes, "the texts of an expression") != WFRE_SQ_GO)
        return NULL;
    x->scratch_bytes += bytes;
    char *text = wfre_arena_alloc(&x->scratch, bytes, 1);
    if (!text)
        (void)wfre_sq_no_memory(x);
    return text;
}

wfre_name wfre_sq_keep(wfre_sq_exec *x, const char *bytes, size_t length)
{
    char *copy = wfre_sq_scratch_text(x, length + 1);
    if (copy) {
        if (length)
            memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return (wfre_name){copy, length};
}

/* ---- made-up terms ------------------------------------------------------------------------ */

void wfre_sq_terms_free(wfre_sq_terms *terms)
{
    wfre_arena_free(&terms->arena);
    wfre_free(terms->values);
    wfre_free(terms->slots);
    *terms = (wfre_sq_terms){0};
}

static uint64_t hash_value(const wfre_rdf_value *v)
{
    uint64_t hash = wfre_hash(v->text.bytes, v->text.length, (uint64_t)v->kind);
    hash = wfre_hash(v->datatype.bytes, v->datatype.length, hash);
    return wfre_hash(v->language.bytes, v->language.length, hash);
}

static bool same_value(const wfre_rdf_value *a, const wfre_rdf_value *b)
{
    return a->kind == b->kind && wfre_sq_same_name(a->text, b->text) &&
           wfre_sq_same_name(a->datatype, b->datatype) &&
           wfre_sq_same_name(a->language, b->language);
}

static wfre_sq_flow grow_slots(wfre_sq_exec *x, wfre_sq_terms *terms)
{
    wfre_sq_flow flow = WFRE_SQ_GO;
    size_t size = terms->slot_mask ? (terms->slot_mask + 1) * 2 : FIRST_SLOTS;
    uint32_t *slots = wfre_alloc_zero(size, sizeof *slots);
    if (!slots)
        return wfre_sq_no_memory(x);
    for (size_t i = 0; i < terms->count && flow == WFRE_SQ_GO; i++) {
        flow = wfre_sq_tick_text(x, 16 + terms->values[i].text.length);
        size_t at = hash_value(&terms->values[i]) & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = (uint32_t)i + 1;
    }
    wfre_free(terms->slots);
    terms->slots = slots;
    terms->slot_mask = size - 1;
    return flow;
}

static bool copy_name(wfre_arena *arena, wfre_name name, wfre_name *copy)
{
    *copy = (wfre_name){name.length ? wfre_arena_text(arena, name.bytes, name.length) : NULL,
                        name.length};
    return name.length == 0 || copy->bytes;
}

/* Datatypes come in few kinds: the last one is likely to be the same. */
static bool copy_value(wfre_sq_terms *terms, const wfre_rdf_value *value, wfre_rdf_value *copy)
{
    *copy = *value;
    if (terms->count &&
        wfre_sq_same_name(terms->values[terms->count - 1].datatype, value->datatype))
        copy->datatype = terms->values[terms->count - 1].datatype;
    else if (!copy_name(&terms->arena, value->datatype, &copy->datatype))
        return false;
    return copy_name(&terms->arena, value->text, &copy->text) &&
           copy_name(&terms->arena, value->language, &copy->language);
}

static wfre_sq_flow make_up(wfre_sq_exec *x, const wfre_rdf_value *value, wfre_rdf_id *id)
{
    wfre_sq_terms *terms = &x->terms;
    if (2 * (terms->count + 1) > terms->slot_mask && grow_slots(x, terms) != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    size_t at = hash_value(value) & terms->slot_mask;
    for (; terms->slots[at]; at = (at + 1) & terms->slot_mask)
        if (same_value(&terms->values[terms->slots[at] - 1], value)) {
            *id = x->own + terms->slots[at] - 1;
            return WFRE_SQ_GO;
        }
    if (terms->count >= (size_t)(WFRE_NONE - 1 - x->own)) {
        x->status = wfre_fail(x->error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                              "the query makes up too many terms");
        return WFRE_SQ_FAIL;
    }
    if (wfre_sq_charge(x, sizeof *value + 16 + value->text.length + value->language.length,
                       "terms that the query makes up") != WFRE_SQ_GO)
        return WFRE_SQ_FAIL;
    if (!wfre_reserve(&terms->values, &terms->capacity, terms->count + 1, sizeof *terms->values) ||
        !copy_value(terms, value, &terms->values[terms->count]))
        return wfre_sq_no_memory(x);
    terms->slots[at] = (uint32_t)++terms->count;
    *id = x->own + (uint32_t)terms->count - 1;
    return WFRE_SQ_GO;
}

/* Languages are compared, and kept by the graph, in lower case. */
static bool lower_language(wfre_sq_exec *x, wfre_name *language)
{
    char *copy = wfre_arena_text(&x->scratch, language->bytes, language->length);
    if (!copy)
        return false;
    for (size_t i = 0; i < language->length; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] - 'A' + 'a');
    language->bytes = copy;
    return true;
}

wfre_sq_flow wfre_sq_intern(wfre_sq_exec *x, const wfre_rdf_value *value, wfre_rdf_id *id)
{
    wfre_rdf_value plain = *value;
    if (plain.kind == WFRE_RDF_LITERAL && plain.datatype.length == 0) {
        const char *type = plain.language.length ? WFRE_SQ_LANG_STRING : WFRE_SQ_XSD "string";
        plain.datatype = wfre_sq_name(type, strlen(type));
    }
    if (plain.language.length && !lower_language(x, &plain.language))
        return wfre_sq_no_memory(x);
    if (plain.kind != WFRE_RDF_BLANK) {
        wfre_status status = wfre_rdf_find(x->rdf, &plain, id, x->error);
        if (status != WFRE_OK)
            return wfre_sq_fail(x, status);
        if (*id != WFRE_NONE)
            return WFRE_SQ_GO;
    }
    return make_up(x, &plain, id);
}

wfre_sq_flow wfre_sq_new_blank(wfre_sq_exec *x, wfre_rdf_id *id)
{
    char label[32];
    /* the graph's labels have no such beginning */
    int length = snprintf(label, sizeof label, "wfre-q%" PRIu64, x->blanks++);
    wfre_rdf_value value = {.kind = WFRE_RDF_BLANK, .text = {label, (size_t)length}};
    return make_up(x, &value, id);
}

/* ---- values ------------------------------------------------------------------------------- */

wfre_sq_flow wfre_sq_term_get(wfre_sq_exec *x, wfre_rdf_id id, wfre_rdf_value *value)
{
    if (id >= x->own) {
        *value = x->terms.values[id - x->own];
        return WFRE_SQ_GO;
    }
    wfre_status status = wfre_rdf_get(x->rdf, id, &x->text, value, x->error);
    if (status != WFRE_OK)
        return wfre_sq_fail(x, status);
    const char *made = x->text.data;
    if (made && value->text.bytes >= made && value->text.bytes < made + x->text.capacity) {
        value->text = wfre_sq_keep(x, value->text.bytes, value->text.length);
        return value->text.bytes ? WFRE_SQ_GO : WFRE_SQ_FAIL;
    }
    return WFRE_SQ_GO;
}

wfre_rdf_kind wfre_sq_term_kind_of(const wfre_sq_exec *x, wfre_rdf_id id)
{
    return id >= x->own ? x->terms.values[id - x->own].kind : wfre_rdf_kind_of(x->rdf, id);
}

wfre_sq_flow wfre_sq_value_of(wfre_sq_exec *x, wfre_rdf_id id, wfre_sq_value *value)
{
    wfre_rdf_value term;
    wfre_sq_flow flow = wfre_sq_term_get(x, id, &term);
    if (flow == WFRE_SQ_GO)
        flow = wfre_sq_tick_text(x, term.text.length);
    if (flow != WFRE_SQ_GO)
        return flow;
    uint32_t class = id < x->own ? wfre_rdf_class_of(x->rdf, id) : WFRE_NONE;
    if (term.kind != WFRE_RDF_LITERAL)
        *value = (wfre_sq_value){
            .type = term.kind == WFRE_RDF_IRI ? WFRE_SQ_T_IRI : WFRE_SQ_T_BLANK, .text = term.text};
    else if (class != WFRE_NONE)
        wfre_sq_value_read_as(x->classes[class].type, x->classes[class].kind, term.text,
                              term.datatype, term.language, value);
    else
        wfre_sq_value_read(term.text, term.datatype, term.language, value);
    return WFRE_SQ_GO;
}

wfre_sq_flow wfre_sq_term_of(wfre_sq_exec *x, const wfre_sq_value *value, wfre_rdf_id *id)
{
    char text[WFRE_SQ_VALUE_TEXT];
    wfre_rdf_value term = {.kind = value->type == WFRE_SQ_T_IRI     ? WFRE_RDF_IRI
                                   : value->type == WFRE_SQ_T_BLANK ? WFRE_RDF_BLANK
                                                                    : WFRE_RDF_LITERAL,
                           .text = value->text};
    if (!term.text.bytes)
        term.text = wfre_sq_name(text, wfre_sq_value_print(value, text));
    if (term.kind == WFRE_RDF_LITERAL) {
        term.datatype = wfre_sq_value_datatype(value);
        term.language = value->language;
    }
    if (term.kind == WFRE_RDF_BLANK) {
        wfre_status status = wfre_rdf_find(x->rdf, &term, id, x->error);
        if (status != WFRE_OK)
            return wfre_sq_fail(x, status);
        if (*id != WFRE_NONE)
            return WFRE_SQ_GO;
    }
    return wfre_sq_intern(x, &term, id);
}
