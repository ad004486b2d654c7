/* Formats that are recognised so that a message can say how to convert them. */
#include <string.h>
#include <sys/stat.h>

#include "graph/import.h"

enum { LOOK_AT = 4096 };

/* The first bytes of a file, as a text. */
static wfre_status read_start(const char *path, char start[LOOK_AT + 1], wfre_error *error)
{
    wfre_reader *reader = NULL;
    size_t length = 0, got = 1;
    wfre_status status;
    TRY(wfre_reader_open(path, &reader, error));
    while (got > 0 && length < LOOK_AT) {
        TRY(wfre_reader_read(reader, start + length, LOOK_AT - length, &got, error));
        length += got;
    }
    start[length] = '\0';
cleanup:
    wfre_reader_close(reader);
    return status;
}

wfre_status wfre_import_refuse_foreign(const char *path, wfre_error *error)
{
    static const char *const xml[] = {".rdf", ".owl", ".rdfs", ".rdfxml", NULL};
    static const char *const json[] = {".jsonld", ".json-ld", NULL};
    char start[LOOK_AT + 1];
    struct stat file;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) /* a pipe can be read only once */
        return WFRE_OK;
    CHECK(read_start(path, start, error));
    const char *text = start + wfre_byte_order_mark(start, strlen(start));
    text += strspn(text, " \t\r\n");
    bool markup = *text == '<' && (strncmp(text, "<?xml", 5) == 0 || strstr(text, "<rdf:RDF"));
    bool object = (*text == '{' || *text == '[') && strstr(text, "\"@");
    if (markup && (strstr(text, "rdf-syntax-ns#") || wfre_import_ends_in(path, xml)))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "%s: RDF/XML, which is not read; convert it: rapper -i rdfxml -o ntriples "
                         "FILE > FILE.nt (package raptor2-utils)",
                         path);
    if (object &&
        (strstr(text, "@context") || strstr(text, "\"@id\"") || wfre_import_ends_in(path, json)))
        return wfre_fail(error, WFRE_ERR_UNSUPPORTED, WFRE_NO_OFFSET,
                         "%s: JSON-LD, which is not read; convert it: rdfpipe -i json-ld -o nt "
                         "FILE > FILE.nt (Python's rdflib)",
                         path);
    return WFRE_OK;
}
