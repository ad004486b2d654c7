/* The values that expressions compute with: a term, and what its text means. */
#ifndef WFRE_SRC_SPARQL_VALUE_H
#define WFRE_SRC_SPARQL_VALUE_H

#include "sparql/decimal.h"
#include "sparql/moment.h"
#include "wfre/graph.h"

#define WFRE_SQ_XSD "http://www.w3.org/2001/XMLSchema#"
#define WFRE_SQ_LANG_STRING "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

typedef enum wfre_sq_type {
    WFRE_SQ_T_IRI,
    WFRE_SQ_T_BLANK,
    WFRE_SQ_T_STRING,  /* xsd:string, which is the same as without a datatype */
    WFRE_SQ_T_TAGGED,  /* a string with a language */
    WFRE_SQ_T_BOOLEAN, /* truth */
    WFRE_SQ_T_INTEGER, /* decimal; xsd:integer and what is derived from it */
    WFRE_SQ_T_DECIMAL, /* decimal */
    WFRE_SQ_T_FLOAT,   /* real */
    WFRE_SQ_T_DOUBLE,  /* real */
    WFRE_SQ_T_MOMENT,
    WFRE_SQ_T_DURATION,
    WFRE_SQ_T_OTHER /* of another datatype, or not a valid text of its datatype */
} wfre_sq_type;

typedef struct wfre_sq_value {
    wfre_sq_type type;
    wfre_name text;     /* IRI, label or lexical form; bytes NULL if it was computed: print it */
    wfre_name datatype; /* of literals; empty for plain strings, and if the type says it all */
    wfre_name language;
    union {
        bool truth;
        double real;
        wfre_sq_decimal decimal;
        wfre_sq_moment moment;
        wfre_sq_duration duration;
    };
} wfre_sq_value;

/* Texts that are as long as their computed form may be. */
enum { WFRE_SQ_VALUE_TEXT = 192 };

static inline wfre_name wfre_sq_name(const char *text, size_t length)
{
    return (wfre_name){text, length};
}
bool wfre_sq_same_name(wfre_name a, wfre_name b);
bool wfre_sq_name_is(wfre_name name, const char *text);

/* Which type a datatype is of; OTHER if it is none of those above. */
wfre_sq_type wfre_sq_type_of(wfre_name datatype, wfre_sq_moment_kind *kind);
/* Makes a literal's meaning from its text; one that is not valid becomes OTHER. */
void wfre_sq_value_read(wfre_name text, wfre_name datatype, wfre_name language,
                        wfre_sq_value *value);
/* The same if the type of the datatype is known. */
void wfre_sq_value_read_as(wfre_sq_type type, wfre_sq_moment_kind kind, wfre_name text,
                           wfre_name datatype, wfre_name language, wfre_sq_value *value);
/* The datatype of a literal's value, never empty. */
wfre_name wfre_sq_value_datatype(const wfre_sq_value *value);
/* The text of a computed value, into `text`; its length. */
size_t wfre_sq_value_print(const wfre_sq_value *value, char text[WFRE_SQ_VALUE_TEXT]);

static inline bool wfre_sq_is_numeric(const wfre_sq_value *v)
{
    return v->type >= WFRE_SQ_T_INTEGER && v->type <= WFRE_SQ_T_DOUBLE;
}
static inline bool wfre_sq_is_stringy(const wfre_sq_value *v)
{
    return v->type == WFRE_SQ_T_STRING || v->type == WFRE_SQ_T_TAGGED;
}
double wfre_sq_value_real(const wfre_sq_value *value);

wfre_sq_value wfre_sq_truth(bool truth);
wfre_sq_value wfre_sq_whole(int64_t number);
wfre_sq_value wfre_sq_string(wfre_name text);

/* The effective boolean value: 1, 0, or -1 if there is none. */
int wfre_sq_value_truth(const wfre_sq_value *value);

/* a OP b for op one of + - * /; false if that is a type error. */
bool wfre_sq_arithmetic(char op, const wfre_sq_value *a, const wfre_sq_value *b,
                        wfre_sq_value *result);

/* Equality by the operator =: 1, 0, or -1 for an error. */
int wfre_sq_value_equal(const wfre_sq_value *a, const wfre_sq_value *b);
/* Whether they are the same term. */
bool wfre_sq_value_same(const wfre_sq_value *a, const wfre_sq_value *b);
/* Order by < and >: -1, 0, 1; 2 for an error; 3 if one of them is no number. */
int wfre_sq_value_compare(const wfre_sq_value *a, const wfre_sq_value *b);
/* The order of ORDER BY, which is total: blank nodes, IRIs, literals; NULL comes first. */
int wfre_sq_value_order(const wfre_sq_value *a, const wfre_sq_value *b);

/* Numbers without the locale. */
bool wfre_sq_read_double(wfre_name text, double *value);
size_t wfre_sq_print_double(double value, bool single, char text[WFRE_SQ_VALUE_TEXT]);

#endif
