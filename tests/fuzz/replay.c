/* Feeds every file of the folders named on the command line to the fuzz target, so that what a
 * fuzzer once found stays found. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    static uint8_t bytes[1 << 22];
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* An exact-size copy, so that a sanitizer sees reads past its end. */
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy)
        return 1;
    for (size_t i = 0; i < length; i++)
        copy[i] = bytes[i];
    (void)LLVMFuzzerTestOneInput(copy, length);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] == '.')
                continue;
            if (replay_file(path) != 0)
                return 1;
            files++;
        }
        closedir(folder);
    }
    printf("%d files replayed\n", files);
    return files > 0 ? 0 : 1;
}
