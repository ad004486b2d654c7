/* Numbers as text, the same in every locale. A host program may have chosen a locale in which the
 * decimal separator is a comma; files, logs and reports must not change with it. Whatever prints or
 * reads a number with a fraction goes through here (tests/numbers.sh looks), most of it by way of
 * wfre_text_format and wfre_fail. The C library does the work, with the calling thread in the C
 * locale meanwhile. */
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "wfre/base.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* 0 if the C library has none to give: then the thread stays as it is */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Returns the locale to go back to. */
static locale_t enter_plain(void)
{
    (void)pthread_once(&once, make_plain);
    return uselocale(plain);
}

int wfre_format_list(char *text, size_t size, const char *format, va_list args)
{
    locale_t before = enter_plain();
    int length = vsnprintf(text, size, format, args);
    (void)uselocale(before);
    return length;
}

int wfre_format(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = wfre_format_list(text, size, format, args);
    va_end(args);
    return length;
}

double wfre_parse_real(const char *text, char **end)
{
    locale_t before = enter_plain();
    double value = strtod(text, end);
    (void)uselocale(before);
    return value;
}
