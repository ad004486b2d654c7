/* What wfre info says of files other than graphs. */
#ifndef WFRE_CLI_INFO_H
#define WFRE_CLI_INFO_H

#include "cli.h"

int info_queryset(const cli_call *call, const char *path);
int info_model(const cli_call *call, const char *path);

#endif
