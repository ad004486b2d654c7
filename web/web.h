/* The page that wfre serve shows at /, compressed, as it is built into the program. Without node at
 * build time there is none, and the program says why. */
#ifndef WFRE_WEB_H
#define WFRE_WEB_H

#include <stddef.h>

typedef struct wfre_web_asset {
    const char *path; /* "/", "/assets/main-ABCD.js"; what has a hash in its name never changes */
    const char *type; /* Content-Type */
    const unsigned char *bytes; /* gzip */
    size_t size;
    const char *etag; /* with its quotes */
} wfre_web_asset;

extern const wfre_web_asset wfre_web_assets[]; /* ends with a path of NULL */
extern const size_t wfre_web_asset_count;      /* 0 without a page */
/* Why there is no page and what to do about it, as a sentence; NULL if there is one. */
extern const char *const wfre_web_missing;

#endif
