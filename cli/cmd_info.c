/* wfre info: what a file holds; without a file, what this build and machine offer. */
#include "commands.h"

static int describe_machine(void)
{
    printf("wfre %s\n", wfre_version());
    printf("instruction sets:");
    for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AMX; isa++)
        if (wfre_isa_available((wfre_isa)isa))
            printf(" %s", wfre_isa_name((wfre_isa)isa));
    wfre_isa chosen;
    wfre_error error;
    if (wfre_isa_select(&chosen, &error) != WFRE_OK) {
        printf("\n");
        return cli_fail(&error);
    }
    printf("\nkernels in use:   %s\n", wfre_isa_name(chosen));
    return EXIT_DONE;
}

static int run(const cli_call *call)
{
    (void)call;
    return describe_machine();
}

const cli_command command_info = {
    .name = "info",
    .arguments = "[FILE]",
    .summary = "what a graph, query set or model holds; without a file: this build and machine",
    .minimum_arguments = 0,
    .maximum_arguments = 0,
    .run = run,
};
