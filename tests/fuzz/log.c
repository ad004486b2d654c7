/* Training logs, which grow while they are read: lines that are none are passed over. */
#include "importing.h"
#include "report/curve.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wfre_curve curve = {0};
    wfre_error error = {0};
    if (wfre_curve_read(&curve, fuzz_write("m.log.jsonl", bytes, length), &error) == WFRE_OK) {
        for (size_t i = 1; i < curve.loss.count; i++)
            if (!(curve.loss.step[i - 1] <= curve.loss.step[i]))
                abort();
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    wfre_curve_free(&curve);
    return 0;
}
