/* Printing of numbers in the same way in every locale. */
#include <stdlib.h>

#include "cli.h"

void cli_print_list(FILE *stream, const char *format, va_list args)
{
    char brief[1024], *text = brief;
    va_list again;
    va_copy(again, args);
    int length = wfre_format_list(brief, sizeof brief, format, args);
    if (length >= (int)sizeof brief) {
        text = malloc((size_t)length + 1);
        if (text)
            (void)wfre_format_list(text, (size_t)length + 1, format, again);
        else
            text = brief; /* cut short rather than lost */
    }
    va_end(again);
    fputs(text, stream);
    if (text != brief)
        free(text);
}

void cli_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_print_list(stdout, format, args);
    va_end(args);
}
