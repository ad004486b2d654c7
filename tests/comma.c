/* Linked with the objects of the program, this makes one that lives in the locale of its
 * environment, as a host program of the library may. It refuses to run if WFRE_COMMA is set and
 * the decimal separator is not a comma after all, so that the test cannot pass for nothing. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void enter_locale(void)
{
    (void)setlocale(LC_ALL, "");
    if (getenv("WFRE_COMMA") && strcmp(localeconv()->decimal_point, ",") != 0) {
        fputs("this locale has no comma\n", stderr);
        exit(99);
    }
}
