/* wfre: finds the command and hands it the rest of the line. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

const cli_command *const cli_commands[] = {
    &command_import,  &command_info,  &command_find,  &command_train,  &command_ask,
    &command_predict, &command_serve, &command_add,   &command_export, &command_sample,
    &command_queries, &command_eval,  &command_sweep, &command_types,  &command_convert,
    &command_score,   &command_bench, NULL,
};
enum { COMMAND_COUNT = sizeof cli_commands / sizeof cli_commands[0] - 1 };

static void print_overview(FILE *stream)
{
    fputs(
        "usage: wfre COMMAND [ARGUMENT...]\n\n"
        "Answers first-order questions over an incomplete knowledge graph: what it proves, then\n"
        "what a trained model predicts.\n\n"
        "First steps:\n"
        "  wfre import my.ttl -o my.kg --holdout 0.05   a snapshot of your triples\n"
        "  wfre ask my.kg                               ask what it proves; 'help' at the prompt\n"
        "  wfre train my.kg --time 10m                  learn, and write my.safetensors\n"
        "  wfre ask my.kg my.safetensors                ask again: predictions, too\n\n"
        "Commands:\n",
        stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\n'wfre COMMAND --help' explains each, 'wfre --version' says which this is.\n"
          "WFRE_PROGRESS=never silences progress, NO_COLOR colours; WFRE_ISA forces the kernels of "
          "an\n"
          "instruction set. Files of up to WFRE_PRIVATE bytes (default 33554432) are read into\n"
          "memory; larger ones are mapped, and must not be changed in place meanwhile.\n"
          "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.\n",
          stream);
}

/* The manual page, built from the same tables as --help. */
static void print_manual(FILE *stream)
{
    fprintf(stream,
            ".TH WFRE 1 \"\" \"wfre %s\" \"User Commands\"\n"
            ".SH NAME\nwfre \\- first\\-order questions over incomplete knowledge graphs\n"
            ".SH SYNOPSIS\n.B wfre\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n.SH COMMANDS\n",
            wfre_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        options_print_manual(cli_commands[i], stream);
    fputs(".SH ENVIRONMENT\n.TP\n.B WFRE_ISA\nForces the kernels for one instruction set: "
          "reference, avx2, avx512, avx512bf16 or amx.\n"
          ".TP\n.B WFRE_PROGRESS\nSet to never, long work says nothing on the way.\n"
          ".TP\n.B WFRE_PRIVATE\nSnapshots and models of up to this many bytes (default 33554432) "
          "are read into memory; larger ones are mapped, and must not be changed in place while "
          "they are open.\n"
          ".TP\n.B NO_COLOR\nIf set, answers have no colours.\n"
          ".SH FILES\n.TP\n.I ~/.wfre_history\nThe questions that were typed at the prompt.\n"
          ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 interrupted.\n",
          stream);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        printf("wfre %s\n", wfre_version());
        return EXIT_DONE;
    }
    if (strcmp(name, "--manual") == 0) {
        print_manual(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return options_run(cli_commands[i], argc - 2, argv + 2);
    fprintf(stderr, "wfre: unknown command %s\nTry 'wfre --help'.\n", cli_visible(name));
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    cli_handle_signals();
    cli_choose_private();
    int code = run(argc, argv);
    cli_progress_end();
    return cli_end_output(code);
}
