/* The sizes of all public structs, by their names; the rows come from the headers themselves. */
#include <string.h>

#include "wfre.h"

static const struct {
    const char *name;
    size_t size;
} SIZES[] = {
#include "struct_sizes.inc"
};

size_t wfre_struct_size(const char *name)
{
    for (size_t i = 0; name && i < sizeof SIZES / sizeof SIZES[0]; i++)
        if (strcmp(SIZES[i].name, name) == 0)
            return SIZES[i].size;
    return 0;
}
