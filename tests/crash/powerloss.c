/* powerloss BEFORE RECORD OUT: makes every state in which a loss of power may leave a folder.
 *
 * BEFORE is the folder as it was, RECORD what the shim saw a program do there. Of each moment in
 * between, a disk may have
 *
 *   - of the bytes written since a file's last fsync: all, none, the first half (the last write of
 *     it torn), all but the first write, or zeros in their place;
 *   - of the files created, renamed and removed since the folder's last fsync: the first n, for
 *     every n; what was synced before, always.
 *
 * States that differ in temporaries alone are taken once. Makes OUT/000001, ... and, of the moment
 * after the program ended, OUT/000009.end, ...; prints how many states there were and how many
 * folders. Only names without a slash count. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 4096, MOST_CHANGES = 1 << 16, MOST_OPEN = 1024, MOST_STATES = 1 << 16 };
enum { FOLDER = -2, NOTHING = -1 };

typedef enum variant { KEPT, LOST, TORN, FIRST_LOST, ZEROS, VARIANTS } variant;

/* One call that changed bytes: a write, or a truncation if `bytes` is NULL. */
typedef struct change {
    int file;
    long offset, length; /* offset -1: at the end */
    const char *bytes;
    long moment;
} change;

/* One call that changed names: `from` gets the name `to`; NULL `to` removes `from`; NULL `from`
 * gives a new file its name. */
typedef struct naming {
    const char *from, *to;
    int file;
    long moment;
} naming;

typedef struct contents {
    char *bytes;
    size_t length;
} contents;

typedef struct entry {
    const char *name;
    int file;
} entry;

static contents originals[MOST_FILES]; /* of files; those of new ones are empty */
static int file_count;
static change changes[MOST_CHANGES];
static size_t change_count;
static naming namings[MOST_CHANGES];
static size_t naming_count;
static entry before[MOST_FILES];
static size_t before_count;
/* The fsyncs: of which file (or the folder), and when. */
static struct {
    int file;
    long moment;
} syncs[MOST_CHANGES];
static size_t sync_count;

static void die(const char *what)
{
    fprintf(stderr, "powerloss: %s\n", what);
    exit(1);
}

static contents read_whole(const char *path)
{
    FILE *stream = fopen(path, "rb");
    contents c = {NULL, 0};
    if (!stream || fseek(stream, 0, SEEK_END) != 0)
        die(path);
    c.length = (size_t)ftell(stream);
    c.bytes = malloc(c.length + 1);
    rewind(stream);
    if (!c.bytes || fread(c.bytes, 1, c.length, stream) != c.length)
        die(path);
    c.bytes[c.length] = '\0';
    fclose(stream);
    return c;
}

static void read_folder(const char *path)
{
    DIR *entries = opendir(path);
    if (!entries)
        die(path);
    for (struct dirent *found; (found = readdir(entries));) {
        char name[4096];
        struct stat info;
        (void)snprintf(name, sizeof name, "%s/%s", path, found->d_name);
        if (stat(name, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        originals[file_count] = read_whole(name);
        before[before_count++] = (entry){strdup(found->d_name), file_count++};
    }
    closedir(entries);
}

/* ---- names -------------------------------------------------------------------------------- */

/* The folder after its first `count` changes of names. */
static size_t names_after(size_t count, entry *names)
{
    size_t used = before_count;
    memcpy(names, before, before_count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const naming *n = &namings[i];
        for (size_t k = 0; k < used; k++) /* what had the name, or loses it, goes */
            if ((n->to && strcmp(names[k].name, n->to) == 0) ||
                (n->from && strcmp(names[k].name, n->from) == 0))
                names[k--] = names[--used];
        if (n->to)
            names[used++] = (entry){n->to, n->file};
    }
    return used;
}

static int file_named(const char *name)
{
    static entry names[MOST_FILES];
    size_t count = names_after(naming_count, names);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].file;
    return NOTHING;
}

static void name_file(const char *from, const char *to, int file, long moment)
{
    namings[naming_count++] = (naming){from, to, file, moment};
}

/* ---- the record --------------------------------------------------------------------------- */

static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        die("the record ends within a line");
    *end = '\0';
    *at = end + 1;
    return line;
}

static int open_files[MOST_OPEN]; /* by descriptor */

/* A name in the folder, without the "./" before it. */
static const char *plain(const char *path)
{
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

static void take_open(const char *line, long moment)
{
    int fd, creates, truncates, at;
    if (sscanf(line, "open %d %d %d %n", &fd, &creates, &truncates, &at) != 3 || fd >= MOST_OPEN)
        die("a strange open");
    const char *path = plain(line + at);
    open_files[fd] = NOTHING;
    if (strcmp(path, ".") == 0 || path[0] == '\0')
        open_files[fd] = FOLDER;
    if (strchr(path, '/') || open_files[fd] == FOLDER)
        return;
    open_files[fd] = file_named(path);
    if (open_files[fd] == NOTHING && creates) {
        open_files[fd] = file_count++;
        name_file(NULL, path, open_files[fd], moment);
    } else if (truncates) {
        changes[change_count++] = (change){open_files[fd], 0, 0, NULL, moment};
    }
}

/* Returns the number of moments. */
static long read_record(char *at)
{
    long moment = 0;
    while (*at) {
        char *line = next_line(&at);
        int fd;
        long offset, length;
        moment++;
        if (strncmp(line, "open ", 5) == 0) {
            take_open(line, moment);
        } else if (sscanf(line, "write %d %ld %ld", &fd, &offset, &length) == 3) {
            if (open_files[fd] >= 0)
                changes[change_count++] = (change){open_files[fd], offset, length, at, moment};
            at += length;
        } else if (sscanf(line, "truncate %d %ld", &fd, &length) == 2) {
            if (open_files[fd] >= 0)
                changes[change_count++] = (change){open_files[fd], length, 0, NULL, moment};
        } else if (sscanf(line, "fsync %d", &fd) == 1) {
            syncs[sync_count].file = open_files[fd];
            syncs[sync_count++].moment = moment;
        } else if (strncmp(line, "rename ", 7) == 0) {
            const char *from = plain(line + 7), *to = plain(next_line(&at));
            name_file(from, to, file_named(from), moment);
        } else if (strncmp(line, "unlink ", 7) == 0) {
            name_file(plain(line + 7), NULL, NOTHING, moment);
        } else {
            die(line);
        }
    }
    return moment;
}

/* When a file, or the folder, was last synced up to a moment. */
static long synced(int file, long moment)
{
    long last = 0;
    for (size_t i = 0; i < sync_count && syncs[i].moment <= moment; i++)
        if (syncs[i].file == file)
            last = syncs[i].moment;
    return last;
}

/* ---- states ------------------------------------------------------------------------------- */

static void apply(contents *c, const change *what, long length, bool zeros)
{
    if (!what->bytes) {
        c->length = (size_t)what->offset < c->length ? (size_t)what->offset : c->length;
        return;
    }
    size_t from = what->offset < 0 ? c->length : (size_t)what->offset, end = from + (size_t)length;
    if (end > c->length) {
        c->bytes = realloc(c->bytes, end + 1);
        if (!c->bytes)
            die("out of memory");
        memset(c->bytes + c->length, 0, end - c->length);
        c->length = end;
    }
    if (zeros)
        memset(c->bytes + from, 0, (size_t)length);
    else
        memcpy(c->bytes + from, what->bytes, (size_t)length);
}

/* What a file holds if the power goes at this moment, in one of the ways. */
static contents contents_at(int file, long moment, variant way)
{
    long safe = synced(file, moment);
    size_t open_changes = 0, seen = 0;
    contents c = {malloc(originals[file].length + 1), originals[file].length};
    if (originals[file].length)
        memcpy(c.bytes, originals[file].bytes, c.length);
    for (size_t i = 0; i < change_count && changes[i].moment <= moment; i++)
        open_changes += changes[i].file == file && changes[i].moment > safe;
    for (size_t i = 0; i < change_count && changes[i].moment <= moment; i++) {
        const change *what = &changes[i];
        if (what->file != file)
            continue;
        bool open = what->moment > safe;
        seen += open;
        size_t half = (open_changes + 1) / 2;
        if (!open || way == KEPT || (way == TORN && seen < half) || (way == FIRST_LOST && seen > 1))
            apply(&c, what, what->length, false);
        else if (way == ZEROS)
            apply(&c, what, what->length, true);
        else if (way == TORN && seen == half)
            apply(&c, what, what->length / 2, false);
    }
    return c;
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static void write_state(const char *folder, const entry *names, const contents *files, size_t count)
{
    char path[4096];
    if (mkdir(folder, 0777) != 0)
        die(folder);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i].name);
        FILE *stream = fopen(path, "wb");
        if (!stream || fwrite(files[i].bytes, 1, files[i].length, stream) != files[i].length ||
            fclose(stream) != 0)
            die(path);
    }
}

/* Makes the state unless it was made before; true if it is a new one. */
static bool make_state(const char *out, long moment, size_t named, variant way, bool ended)
{
    static uint64_t known[MOST_STATES];
    static size_t known_count;
    static entry names[MOST_FILES];
    static contents files[MOST_FILES];
    size_t count = names_after(named, names);
    uint64_t hash = 14695981039346656037u + ended;
    bool new_one = true;
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        files[i] = contents_at(names[i].file, moment, way);
        if (strstr(names[i].name, ".tmp-") || strstr(names[i].name, ".lock"))
            continue;
        hash = mix(mix(hash, names[i].name, strlen(names[i].name) + 1), files[i].bytes,
                   files[i].length);
    }
    for (size_t i = 0; i < known_count && new_one; i++)
        new_one = known[i] != hash;
    if (new_one && known_count < MOST_STATES) {
        char folder[4000];
        known[known_count++] = hash;
        (void)snprintf(folder, sizeof folder, "%s/%06zu%s", out, known_count, ended ? ".end" : "");
        write_state(folder, names, files, count);
    }
    for (size_t i = 0; i < count; i++)
        free(files[i].bytes);
    return new_one;
}

int main(int count, char **words)
{
    if (count != 4)
        die("usage: powerloss BEFORE RECORD OUT");
    read_folder(words[1]);
    for (int i = 0; i < MOST_OPEN; i++)
        open_files[i] = NOTHING;
    long moments = read_record(read_whole(words[2]).bytes), states = 0, made = 0;
    for (long moment = 0; moment <= moments; moment++) {
        long safe = synced(FOLDER, moment);
        size_t first = 0, last = 0;
        for (size_t i = 0; i < naming_count && namings[i].moment <= moment; i++) {
            last++;
            first += namings[i].moment <= safe;
        }
        for (size_t named = first; named <= last; named++)
            for (variant way = KEPT; way < VARIANTS; way++, states++)
                made += make_state(words[3], moment, named, way, moment == moments);
    }
    printf("%ld %ld\n", states, made);
    return 0;
}
