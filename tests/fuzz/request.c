/* What the server reads of a request besides what its HTTP library does: addresses and forms, lists
 * of media types and tags, tokens, and the JSON that it writes. The first byte chooses. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../../serve/buffer.h"
#include "../../serve/form.h"
#include "small_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* A copy with a NUL behind it, as headers have. */
static char *as_text(const uint8_t *bytes, size_t length)
{
    char *text = malloc(length + 1);
    must(text != NULL);
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

static void read_form(const uint8_t *bytes, size_t length)
{
    serve_form form;
    if (serve_form_read((const char *)bytes, length, &form) != NULL) {
        must(form.text == NULL && form.count == 0);
        return;
    }
    must(form.count <= SERVE_MOST_PAIRS);
    for (size_t i = 0; i < form.count; i++) {
        must(strlen(form.pairs[i].name) + strlen(form.pairs[i].value) <= length);
        must(serve_form_get(&form, form.pairs[i].name) != NULL);
        must(serve_form_times(&form, form.pairs[i].name) >= 1);
    }
    serve_form_free(&form);
}

static void read_headers(const char *text)
{
    static const char *const TYPES[] = {"application/json", "text/csv", "text/turtle"};
    int chosen = serve_negotiate(text, TYPES, 3);
    must(chosen >= -1 && chosen < 3);
    (void)serve_takes_gzip(text);
    (void)serve_is_type(text, "application/json");
    (void)serve_has_tag(text, "\"tag\"");
    char *decoded = malloc(strlen(text) + 1);
    must(decoded != NULL);
    size_t got = serve_base64(text, strlen(text), decoded);
    must(got == SIZE_MAX || got <= strlen(text));
    must(!serve_same_secret(text, strlen(text), "secret", 6) || strcmp(text, "secret") == 0);
    free(decoded);
}

/* Whatever is written is JSON, and ASCII where a page could take it for markup. */
static void write_json(const uint8_t *bytes, size_t length)
{
    serve_buffer buffer = {0};
    serve_put(&buffer, "[");
    serve_put_string(&buffer, (const char *)bytes, length);
    serve_put(&buffer, "]");
    must(!buffer.failed && !memchr(buffer.bytes, '<', buffer.length));
    json_t *read = json_loadb(buffer.bytes, buffer.length, JSON_ALLOW_NUL, NULL);
    must(json_array_size(read) == 1);
    json_decref(read);
    serve_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    char *text = as_text(bytes + 1, length - 1);
    if (bytes[0] % 4 == 0) {
        read_form(bytes + 1, length - 1);
    } else if (bytes[0] % 4 == 1) {
        read_headers(text);
    } else if (bytes[0] % 4 == 2) {
        write_json(bytes + 1, length - 1);
    } else {
        size_t decoded = serve_decode(text, length - 1, length % 2);
        must(decoded == SIZE_MAX || decoded <= length - 1);
    }
    free(text);
    return 0;
}
