/* The commands. A new one is a line here and a row in main.c, which has the order of `--help`. */
#ifndef WFRE_CLI_COMMANDS_H
#define WFRE_CLI_COMMANDS_H

#include "cli.h"

/* All of them in the order of `--help`, NULL at the end. */
extern const cli_command *const cli_commands[];

extern const cli_command command_add;
extern const cli_command command_ask;
extern const cli_command command_bench;
extern const cli_command command_convert;
extern const cli_command command_eval;
extern const cli_command command_export;
extern const cli_command command_find;
extern const cli_command command_import;
extern const cli_command command_info;
extern const cli_command command_predict;
extern const cli_command command_queries;
extern const cli_command command_sample;
extern const cli_command command_score;
extern const cli_command command_serve;
extern const cli_command command_sweep;
extern const cli_command command_train;
extern const cli_command command_types;

#endif
