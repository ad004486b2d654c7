/* Between main.c and the option tables. */
#ifndef WFRE_CLI_OPTIONS_H
#define WFRE_CLI_OPTIONS_H

#include "cli.h"

/* Parses argv (without program and command name) by the command's table and runs it. */
int options_run(const cli_command *command, int argc, char **argv);
void options_print_help(const cli_command *command, FILE *stream);
/* One section of the manual page, in roff. */
void options_print_manual(const cli_command *command, FILE *stream);

/* Says whose options messages may name (message.c). */
void options_running(const cli_command *command);

#endif
