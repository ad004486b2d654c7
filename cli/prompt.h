/* Between prompt.c and the completion of names at it. */
#ifndef WFRE_CLI_PROMPT_H
#define WFRE_CLI_PROMPT_H

#include "ask.h"

/* What ends a name that is not quoted. */
#define PROMPT_BREAKS " \t(),&|!:?\"'"

/* Says whose names complete what is typed from now on. */
void prompt_names_of(const ask_session *session);
/* What the editing library calls for the word [start, end) of its line, counted in characters. */
char **prompt_complete(const char *text, int start, int end);

#endif
