/* Training settings from the command line, for the commands that train. */
#ifndef WFRE_CLI_TRAIN_SETTINGS_H
#define WFRE_CLI_TRAIN_SETTINGS_H

#include "cli.h"

/* Of each type, to fit lifts and probabilities to, unless the user says another number. */
enum { CALIBRATION_QUERIES = 200 };

/* A preset, changed by --dim and the like, --set NAME=VALUE, --seed, --time, --steps, and the sizes
 * of --from, as far as the command has these options. */
wfre_status train_settings(const cli_call *call, const wfre_graph *graph,
                           wfre_train_settings *settings, wfre_error *error);

/* Applies those that the command line names, the length of the run included. */
wfre_status train_settings_named(const cli_call *call, wfre_train_settings *settings,
                                 wfre_error *error);

/* Those of the interrupted run of a model. Refuses others on the command line,
 * but for the length. */
wfre_status train_settings_resumed(const cli_call *call, const char *model,
                                   wfre_train_settings *settings, wfre_error *error);

#endif
