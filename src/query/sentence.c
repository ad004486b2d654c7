/* A query as an English sentence, for people who read no notation.
 *
 * The words come from the graph. How a relation's name reads decides how an edge is said:
 *
 *   has_part, hasPart         x has part y           y is part of x
 *   is_in, located_in, part_of, similar_to
 *                             x is similar to y
 *   knows, directed           x knows y              (a word in -s or -ed)
 *   hypernym, place_of_birth  x has hypernym y       y is hypernym of x
 *
 * The guess may be clumsy but says the same. A question for one variable begins with what is said
 * of it ("What has hypernym dog and ...?"); what is said of others follows behind "where". */
#include <string.h>

#include "query/notation.h"

typedef enum manner {
    VERB, /* x WORDS y */
    NOUN, /* x has WORDS y */
    STATE /* x is WORDS y */
} manner;

typedef struct speaker {
    wfre_text *text;
    const wfre_graph *graph;
    const wfre_query *query;
    const char *const *shown;
    bool *named;      /* variables that were mentioned already */
    wfre_text phrase; /* the relation that is being said */
    wfre_arena arena;
    unsigned depth;
} speaker;

/* ---- names -------------------------------------------------------------------------------- */

/* What a person would call an IRI or a path: what stands behind its last / or #. */
static wfre_name local_name(wfre_name name)
{
    bool iri = name.length > 0 && (name.bytes[0] == '/' || memchr(name.bytes, ':', name.length));
    size_t end = name.length;
    while (iri && end > 1 && (name.bytes[end - 1] == '/' || name.bytes[end - 1] == '#'))
        end--;
    size_t begin = end;
    while (iri && begin > 0 && name.bytes[begin - 1] != '/' && name.bytes[begin - 1] != '#')
        begin--;
    if (!iri || begin == 0 || begin == end)
        return name;
    return (wfre_name){name.bytes + begin, end - begin};
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* birthPlace, birth_place: birth place. */
static void add_words(wfre_text *text, wfre_name name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        bool hump = i > 0 && is_upper(c) && name.bytes[i - 1] >= 'a' && name.bytes[i - 1] <= 'z';
        if (hump)
            wfre_text_char(text, ' ');
        if (hump && (i + 1 == name.length || !is_upper(name.bytes[i + 1])))
            c = (char)(c - 'A' + 'a');
        if ((c == '_' || c == '-') && i > 0 && i + 1 < name.length)
            c = ' ';
        if (c != '_' || (i > 0 && i + 1 < name.length))
            wfre_text_char(text, c);
    }
}

static void say_term(speaker *s, wfre_term term)
{
    if (term.is_variable) {
        if (!s->named[term.id] && term.id >= s->query->asked)
            wfre_text_add(s->text, "some ");
        s->named[term.id] = true;
        wfre_text_add(s->text, s->shown[term.id]);
    } else if (s->graph && term.id < wfre_graph_entities(s->graph)) {
        wfre_name name = local_name(wfre_graph_entity_label(s->graph, term.id));
        wfre_text_visible(s->text, name.bytes, name.length);
    } else {
        wfre_text_format(s->text, "#%u", term.id);
    }
}

/* ---- edges -------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t length = strlen(text), end = strlen(with);
    return length > end && strcmp(text + length - end, with) == 0;
}

static bool ends_in_preposition(const char *words)
{
    static const char *const PREPOSITIONS[] = {" of", " in",   " to",  " by",   " at",
                                               " on", " with", " for", " from", " as"};
    for (size_t i = 0; i < sizeof PREPOSITIONS / sizeof PREPOSITIONS[0]; i++)
        if (ends(words, PREPOSITIONS[i]))
            return true;
    return false;
}

/* Puts the words of the relation into the phrase, without "has" or "is", and says how to use them.
 */
static manner choose_words(speaker *s, wfre_relation relation, const char **words)
{
    wfre_text_clear(&s->phrase);
    if (s->graph && relation < wfre_graph_relations(s->graph)) {
        wfre_text label = {0};
        wfre_name name = local_name(wfre_graph_relation_label(s->graph, relation));
        add_words(&label, name);
        wfre_text_visible(&s->phrase, label.data ? label.data : "", label.length);
        s->phrase.failed |= label.failed;
        wfre_text_free(&label);
    } else {
        wfre_text_format(&s->phrase, "#%u", relation);
    }
    *words = s->phrase.data ? s->phrase.data : "";
    bool has = begins(*words, "has "), is = begins(*words, "is ");
    *words += has ? 4 : is ? 3 : 0;
    if (has)
        return NOUN;
    if (is)
        return STATE;
    const char *blank = strchr(*words, ' ');
    size_t first = blank ? (size_t)(blank - *words) : strlen(*words);
    bool in_s = first > 2 && (*words)[first - 1] == 's' && (*words)[first - 2] != 's';
    bool in_ed = first > 3 && strncmp(*words + first - 2, "ed", 2) == 0;
    if (in_s || (in_ed && !blank))
        return VERB;
    return ends_in_preposition(*words) ? STATE : NOUN;
}

/* left RELATION right, with the right end first if that can be said and is wanted, and without the
 * first end if it was said already. */
static void say_atom(speaker *s, const wfre_formula *atom, bool denied, bool turned, bool bare)
{
    const char *words;
    manner how = choose_words(s, atom->relation, &words);
    turned = turned && how == NOUN;
    if (denied && how == VERB) /* never when bare */
        wfre_text_add(s->text, "it is not so that ");
    if (!bare) {
        say_term(s, turned ? atom->right : atom->left);
        wfre_text_char(s->text, ' ');
    }
    if (turned || how == STATE)
        wfre_text_add(s->text, denied ? "is not " : "is ");
    else if (how == NOUN)
        wfre_text_add(s->text, denied ? "does not have " : "has ");
    wfre_text_add(s->text, words);
    wfre_text_add(s->text, turned ? " of " : " ");
    say_term(s, turned ? atom->left : atom->right);
}

static void say_leaf(speaker *s, const wfre_formula *leaf, bool denied)
{
    if (leaf->kind == WFRE_ATOM) {
        say_atom(s, leaf, denied, false, false);
        return;
    }
    if (denied && leaf->kind == WFRE_LINK)
        wfre_text_add(s->text, "it is not so that ");
    say_term(s, leaf->left);
    if (leaf->kind == WFRE_EQUAL) {
        wfre_text_add(s->text, denied ? " is not " : " is ");
    } else {
        wfre_text_add(s->text, " has the relation ");
        say_term(s, (wfre_term){true, leaf->variable});
        wfre_text_add(s->text, " to ");
    }
    say_term(s, leaf->right);
}

/* ---- formulas ----------------------------------------------------------------------------- */

static void say(speaker *s, const wfre_formula *formula);

/* "a, b and c", each by say. */
static void say_joined(speaker *s, const wfre_formula *const *parts, uint32_t count,
                       const char *word)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            wfre_text_add(s->text, i + 1 == count ? word : ", ");
        say(s, parts[i]);
    }
}

static void say_not(speaker *s, const wfre_formula *denied)
{
    if (denied->kind == WFRE_EXISTS) {
        const char *before = "there is no ";
        for (; denied->kind == WFRE_EXISTS; denied = denied->children[0]) {
            wfre_text_format(s->text, "%s%s", before, s->shown[denied->variable]);
            s->named[denied->variable] = true;
            before = " and ";
        }
        wfre_text_add(s->text, " such that ");
        say(s, denied);
    } else if (denied->child_count == 0) {
        say_leaf(s, denied, true);
    } else {
        wfre_text_add(s->text, "it is not so that ");
        say(s, denied);
    }
}

static void say(speaker *s, const wfre_formula *formula)
{
    while (formula->kind == WFRE_EXISTS)
        formula = formula->children[0];
    bool inner = s->depth > 0;
    s->depth++;
    switch (formula->kind) {
    case WFRE_AND:
        if (inner)
            wfre_text_add(s->text, "both ");
        say_joined(s, formula->children, formula->child_count, " and ");
        break;
    case WFRE_OR:
        wfre_text_add(s->text, "either ");
        say_joined(s, formula->children, formula->child_count, " or ");
        break;
    case WFRE_NOT:
        say_not(s, formula->children[0]);
        break;
    default:
        say_leaf(s, formula, false);
    }
    s->depth--;
}

/* ---- questions for one variable ----------------------------------------------------------- */

/* The edge that a part says of the asked variable; NULL if it says something else. */
static const wfre_formula *said_of_it(speaker *s, const wfre_formula *part, bool *denied,
                                      bool *turned)
{
    const char *words;
    *denied = part->kind == WFRE_NOT;
    if (*denied)
        part = part->children[0];
    if (part->kind != WFRE_ATOM)
        return NULL;
    bool left = part->left.is_variable && part->left.id == 0;
    bool right = part->right.is_variable && part->right.id == 0;
    if (left == right)
        return NULL;
    manner how = choose_words(s, part->relation, &words);
    *turned = right;
    return (left || how == NOUN) && !(*denied && how == VERB) ? part : NULL;
}

/* "What A and B, where C and D?"; false if nothing is said of the variable itself. */
static bool say_what(speaker *s, const wfre_formula *const *parts, uint32_t count)
{
    bool denied, turned;
    uint32_t of_it = 0, rest = 0;
    const wfre_formula **others = wfre_arena_alloc(&s->arena, count, sizeof *others);
    const wfre_formula **its = wfre_arena_alloc(&s->arena, count, sizeof *its);
    if (!others || !its) {
        s->text->failed = true;
        return true;
    }
    for (int pass = 0; pass < 2; pass++) /* what is so before what is not */
        for (uint32_t i = 0; i < count; i++)
            if (said_of_it(s, parts[i], &denied, &turned) && denied == (pass == 1))
                its[of_it++] = parts[i];
    for (uint32_t i = 0; i < count; i++)
        if (!said_of_it(s, parts[i], &denied, &turned))
            others[rest++] = parts[i];
    if (of_it == 0)
        return false;
    for (uint32_t i = 0; i < rest; i++)
        if (wfre_formula_has(others[i], 0))
            return false; /* it would have no name there */
    wfre_text_add(s->text, "What ");
    for (uint32_t i = 0; i < of_it; i++) {
        if (i > 0)
            wfre_text_add(s->text, i + 1 == of_it ? " and " : ", ");
        const wfre_formula *atom = said_of_it(s, its[i], &denied, &turned);
        say_atom(s, atom, denied, turned, true);
    }
    if (rest > 0)
        wfre_text_add(s->text, ", where ");
    say_joined(s, others, rest, " and ");
    return true;
}

/* "y and x" of the variables [first, end). */
static void say_variables(speaker *s, uint32_t first, uint32_t end)
{
    for (uint32_t v = first; v < end; v++)
        wfre_text_format(s->text, "%s%s",
                         v == first     ? ""
                         : v + 1 == end ? " and "
                                        : ", ",
                         s->shown[v]);
}

/* "Count the x such that ...", for every y if it is counted by groups. */
static void say_count(speaker *s, const wfre_formula *formula)
{
    uint32_t asked = s->query->asked, groups = asked - s->query->counted;
    wfre_text_add(s->text, groups > 0 ? "For every " : "Count the ");
    say_variables(s, 0, groups);
    wfre_text_add(s->text, groups > 0 ? " count the " : "");
    say_variables(s, groups, asked);
    wfre_text_add(s->text, " such that ");
    say(s, formula);
    wfre_text_char(s->text, '.');
}

static void say_question(speaker *s)
{
    const wfre_formula *formula = s->query->formula;
    while (formula->kind == WFRE_EXISTS)
        formula = formula->children[0];
    bool many = formula->kind == WFRE_AND;
    if (s->query->counted > 0) {
        say_count(s, formula);
        return;
    }
    if (s->query->asked == 1 && !wfre_query_column_is_relation(s->query, 0) &&
        say_what(s, many ? formula->children : &formula, many ? formula->child_count : 1)) {
        wfre_text_char(s->text, '?');
        return;
    }
    wfre_text_add(s->text, s->query->asked == 0   ? "Is it so that "
                           : s->query->asked == 1 ? "Find every "
                                                  : "Find all ");
    say_variables(s, 0, s->query->asked);
    if (s->query->asked > 0)
        wfre_text_add(s->text, " such that ");
    say(s, formula);
    wfre_text_char(s->text, s->query->asked == 0 ? '?' : '.');
}

wfre_status wfre_query_sentence(const wfre_query *query, const wfre_graph *graph, char **text,
                                wfre_error *error)
{
    GIVEN(query);
    GIVEN(text);
    if (!query->formula)
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET, "%s", query->no_formula);
    wfre_text said = {0};
    speaker s = {.text = &said, .graph = graph, .query = query};
    s.shown = wfre_query_names(query, &s.arena);
    s.named = wfre_arena_alloc(&s.arena, query->variable_count + 1u, sizeof *s.named);
    if (s.shown && s.named) {
        memset(s.named, 0, (query->variable_count + 1u) * sizeof *s.named);
        say_question(&s);
    } else {
        said.failed = true;
    }
    said.failed |= s.phrase.failed;
    wfre_text_free(&s.phrase);
    wfre_arena_free(&s.arena);
    wfre_status status = wfre_text_status(&said, "saying a query", error);
    if (status == WFRE_OK)
        *text = said.data;
    else
        wfre_text_free(&said);
    return status;
}
