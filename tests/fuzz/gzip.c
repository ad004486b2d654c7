/* gzip framing: what the reader returns is what unpacking member by member gives, and it accepts
 * just what consists of whole members with nothing but zeros behind them. */
#include <zlib.h>

#include "base/file.h"
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { MOST = 1 << 20 };
static unsigned char expected[MOST], found[MOST];

/* The independent way: all in memory. Returns whether it is whole; sets *size to -1 if too large.
 */
static bool unpack(const uint8_t *bytes, size_t length, size_t *size)
{
    size_t at = 0;
    *size = 0;
    if (length < 2 || bytes[0] != 0x1F || bytes[1] != 0x8B) {
        *size = length <= MOST ? length : SIZE_MAX;
        memcpy(expected, bytes, length <= MOST ? length : 0);
        return true;
    }
    while (length - at >= 2 && bytes[at] == 0x1F && bytes[at + 1] == 0x8B) {
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)(bytes + at),
                      .avail_in = (unsigned)(length - at),
                      .next_out = expected + *size,
                      .avail_out = (unsigned)(MOST - *size)};
        if (inflateInit2(&z, 15 + 16) != Z_OK)
            abort();
        int code = inflate(&z, Z_FINISH);
        bool full = z.avail_out == 0;
        at = length - z.avail_in;
        *size = MOST - z.avail_out;
        (void)inflateEnd(&z);
        if (full)
            *size = SIZE_MAX;
        if (full || code != Z_STREAM_END)
            return false;
    }
    while (at < length && bytes[at] == 0)
        at++;
    return at == length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_reader *reader = NULL;
    wfre_error error = {0};
    size_t size, got = 1, total = 0;
    bool whole = unpack(bytes, length, &size);
    if (size == SIZE_MAX)
        return 0;
    if (wfre_reader_open(fuzz_write("x.gz", bytes, length), &reader, NULL) != WFRE_OK)
        abort();
    wfre_status status = WFRE_OK;
    while (status == WFRE_OK && got > 0 && total < MOST) {
        size_t room = MOST - total < 777 ? MOST - total : 777;
        got = 0;
        status = wfre_reader_read(reader, found + total, room, &got, &error);
        total += got;
    }
    if ((status == WFRE_OK) != whole || (whole && total != size) ||
        (total <= size && memcmp(found, expected, total) != 0))
        abort();
    wfre_reader_close(reader);
    return 0;
}
