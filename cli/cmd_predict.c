/* wfre predict: the triples that relations seem to lack, all at once.
 *
 * Relations are done one after the other. What is done stands in OUT.part; OUT.progress says for
 * which relations, how long the file was behind each, and the hash of its bytes up to there. The
 * same command goes on behind the last of these that fits the file, and writes OUT when all are
 * done. Whoever holds a lock on OUT.progress is the only one that writes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

enum { DEFAULT_TOP = 10, LINE = 4096, ENTRY = 96, NOT_OPEN = -1 };

typedef struct job {
    wfre_graph *graph;
    wfre_model *model;
    wfre_session *session;
    wfre_way way;
    wfre_missing_options options;
    wfre_triples_format format;
    const char *output;    /* or NULL: standard output, or a device or pipe */
    char *part, *progress; /* names of files */
    int triples, journal;  /* open ones */
    wfre_relation *relations;
    size_t count, done; /* relations to do, and those done */
    uint64_t written;   /* triples */
    uint64_t hash;      /* of what they are as text */
    double start;
} job;

static int fail_file(const char *path)
{
    wfre_error error = {.code = WFRE_ERR_IO, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error.message, sizeof error.message, "%s: %s", cli_visible(path),
                   strerror(errno));
    return cli_fail(&error);
}

/* ---- where it was left -------------------------------------------------------------------- */

static const uint64_t NO_BYTES = 0xCBF29CE484222325u; /* FNV-1a */

static uint64_t hash_more(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return hash;
}

/* System calls made whole: those that a signal interrupted, or that did a part of what they were
 * asked, are made again. */
static int lock_whole(int fd)
{
    int failed;
    do
        failed = flock(fd, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    return failed;
}

static bool cut_whole(int fd, long long length)
{
    int failed;
    do
        failed = ftruncate(fd, (off_t)length);
    while (failed && errno == EINTR);
    return !failed && lseek(fd, (off_t)length, SEEK_SET) == (off_t)length;
}

static bool write_whole(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Fewer bytes than were asked for: the file has no more. -1: it cannot be read. */
static ssize_t read_whole(int fd, char *bytes, size_t length)
{
    size_t used = 0;
    while (used < length) {
        ssize_t got = read(fd, bytes + used, length - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* Opens a file beside the output, which is nothing but a file of ours: nobody waits for a pipe, and
 * no link leads elsewhere. */
static int open_beside(const char *path)
{
    struct stat info;
    int fd;
    do
        fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        errno = EEXIST;
        return NOT_OPEN;
    }
    return fd;
}

/* What must be the same for a run to go on; one line. */
static void describe(const job *j, const cli_call *call, char *line, size_t size)
{
    (void)wfre_format(line, size,
                      "wfre predict, graph %016llx, model %016llx, split %d, top %zu, "
                      "min-probability %g, missing-rate %g, way %016llx, format %s, %s\n",
                      (unsigned long long)wfre_graph_fingerprint(j->graph),
                      (unsigned long long)wfre_model_weights_hash(j->model), (int)j->options.split,
                      j->options.top, j->options.min_probability, j->options.missing_rate,
                      (unsigned long long)wfre_way_hash(&j->way),
                      wfre_triples_format_name(j->format),
                      cli_text(call, "relation", "all relations"));
}

/* Puts `length` bytes more of the triples into the hash, from where they were read up to on. False
 * if there are not so many, or (errno is not 0) if they cannot be read. */
static bool hash_triples(const job *j, long long length, uint64_t *hash)
{
    char bytes[LINE];
    errno = 0;
    while (length > 0) {
        size_t wanted = length < LINE ? (size_t)length : LINE;
        if (read_whole(j->triples, bytes, wanted) != (ssize_t)wanted)
            return false;
        *hash = hash_more(*hash, bytes, wanted);
        length -= (long long)wanted;
    }
    return true;
}

/* Takes the lines of the journal from `at` on for what an earlier run did: the relations done, the
 * triples, and how long the file was. From the first line on that was not finished or does not fit
 * the file, it is done again. */
static int read_lines(job *j, const char *text, const char *line)
{
    long long length = 0;
    for (char *at; j->done < j->count && strchr(line, '\n'); line = at + 1) {
        unsigned long long relation = strtoull(line, &at, 10), triples = strtoull(at, &at, 10);
        long long end = strtoll(at, &at, 10);
        uint64_t hash = j->hash, noted = strtoull(at, &at, 16);
        if (relation != j->relations[j->done] || end < length || *at != '\n')
            break;
        if (!hash_triples(j, end - length, &hash)) {
            if (errno)
                return fail_file(j->part);
            break;
        }
        if (hash != noted)
            break;
        j->done++;
        j->written = triples;
        j->hash = hash;
        length = end;
    }
    if (!cut_whole(j->journal, line - text))
        return fail_file(j->progress);
    return cut_whole(j->triples, length) ? EXIT_DONE : fail_file(j->part);
}

static int refuse(const char *path, const char *why)
{
    wfre_error error = {.code = WFRE_ERR_MISMATCH, .offset = WFRE_NO_OFFSET};
    (void)snprintf(error.message, sizeof error.message, "%s: %s", cli_visible(path), why);
    return cli_fail(&error);
}

/* Opens the journal and locks it. One that was removed before it could be locked was of a run that
 * ended just then, and whoever comes next makes another. */
static int open_journal(job *j)
{
    struct stat mine, there;
    for (;;) {
        j->journal = open_beside(j->progress);
        if (j->journal < 0)
            return fail_file(j->progress);
        if (lock_whole(j->journal) != 0 && errno == EWOULDBLOCK)
            return refuse(j->output, "another run is writing it at this moment");
        if (fstat(j->journal, &mine) == 0 && stat(j->progress, &there) == 0 &&
            mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
            return EXIT_DONE;
        close(j->journal);
    }
}

/* Compares the first line of the journal with what it should be, and reads the rest. */
static int read_journal(job *j, const char *expected, char *text, size_t room)
{
    ssize_t length = read_whole(j->journal, text, room);
    if (length < 0)
        return fail_file(j->progress);
    text[length] = '\0';
    size_t first = strcspn(text, "\n");
    bool whole = text[first] == '\n';
    if (strncmp(text, expected, first + whole) != 0)
        return refuse(j->progress,
                      "it is of another run (graph, model or options differ); remove it, "
                      "or take another -o");
    j->triples = open_beside(j->part);
    if (j->triples < 0)
        return fail_file(j->part);
    if (whole)
        return read_lines(j, text, text + first + 1);
    /* Nothing was kept yet, not even the line that says of what. */
    if (!cut_whole(j->journal, 0) || !write_whole(j->journal, expected, strlen(expected)))
        return fail_file(j->progress);
    return cut_whole(j->triples, 0) ? EXIT_DONE : fail_file(j->part);
}

/* Opens both files, at the place where an earlier run stopped. */
static int open_files(job *j, const cli_call *call)
{
    char expected[LINE];
    describe(j, call, expected, sizeof expected);
    int code = open_journal(j);
    if (code != EXIT_DONE)
        return code;
    size_t room = LINE + j->count * ENTRY; /* whatever its length, no more of it is of ours */
    char *text = malloc(room + 1);
    code = text ? read_journal(j, expected, text, room)
                : cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    free(text);
    if (code == EXIT_DONE && j->done > 0)
        cli_note("%zu of %zu relations were done before; going on", j->done, j->count);
    return code;
}

/* Writes the triples of a relation, and then notes that it is done. */
static int keep(job *j, wfre_relation relation, const char *text, size_t length, size_t count)
{
    char line[ENTRY];
    if (!j->output) {
        (void)fwrite(text, 1, length, stdout);
        j->written += count;
        return fflush(stdout) != 0 || ferror(stdout) ? EXIT_FAILED /* cli_end_output says why */
                                                     : EXIT_DONE;
    }
    if (!write_whole(j->triples, text, length))
        return fail_file(j->part);
    j->hash = hash_more(j->hash, text, length);
    j->written += count;
    int used = snprintf(line, sizeof line, "%u %llu %lld %016llx\n", relation,
                        (unsigned long long)j->written, (long long)lseek(j->triples, 0, SEEK_CUR),
                        (unsigned long long)j->hash);
    return write_whole(j->journal, line, (size_t)used) ? EXIT_DONE : fail_file(j->progress);
}

/* Writes the output as every output is written: whole or not at all, and through a link. */
static int finish(job *j)
{
    wfre_error error;
    off_t length = lseek(j->triples, 0, SEEK_CUR);
    const void *bytes = "";
    if (length > 0)
        bytes = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, j->triples, 0);
    if (length < 0 || bytes == MAP_FAILED)
        return fail_file(j->part);
    wfre_status status = wfre_write_file(j->output, bytes, (size_t)length, &error);
    if (length > 0)
        munmap((void *)(uintptr_t)bytes, (size_t)length);
    if (status != WFRE_OK)
        return cli_fail(&error);
    (void)unlink(j->part);
    (void)unlink(j->progress); /* and with it the lock */
    return EXIT_DONE;
}

/* ---- predicting --------------------------------------------------------------------------- */

static int interrupted(const job *j)
{
    cli_progress_end();
    if (j->output)
        cli_note("wfre: interrupted; %zu of %zu relations are done and kept, and the same command "
                 "goes on with the rest",
                 j->done, j->count);
    else
        cli_note("wfre: interrupted after %zu of %zu relations", j->done, j->count);
    return EXIT_INTERRUPTED;
}

static int predict_one(job *j, wfre_relation relation)
{
    wfre_error error;
    wfre_missing_triple *triples = NULL;
    size_t count = 0, length = 0;
    char *text = NULL;
    wfre_status status = wfre_session_missing(j->session, relation, &j->options, cli_cancel(),
                                              &triples, &count, &error);
    if (status == WFRE_OK)
        status =
            wfre_missing_triples_print(j->graph, triples, count, j->format, &text, &length, &error);
    int code = status == WFRE_OK                ? keep(j, relation, text, length, count)
               : status == WFRE_ERR_INTERRUPTED ? interrupted(j)
                                                : cli_fail(&error);
    wfre_string_free(text);
    wfre_missing_triples_free(triples);
    return code;
}

/* Questions that the first `count` relations take: one for each entity at either end. */
static uint64_t questions_of(const job *j, size_t count)
{
    uint64_t questions = 0;
    for (size_t i = 0; i < count; i++)
        for (wfre_relation inverse = 0; inverse < 2; inverse++)
            questions +=
                wfre_graph_sources(j->graph, j->options.split, j->relations[i] + inverse).count;
    return questions;
}

static void report(const job *j)
{
    const wfre_monitor *monitor = cli_monitor();
    char note[96];
    (void)snprintf(note, sizeof note, "%zu of %zu relations, %s triples", j->done, j->count,
                   cli_thousands(j->written));
    wfre_progress progress = {.task = "predicting",
                              .done = questions_of(j, j->done),
                              .total = questions_of(j, j->count),
                              .note = note,
                              .share = true};
    monitor->report(monitor->context, &progress);
}

static int predict_all(job *j)
{
    int code = EXIT_DONE;
    report(j);
    while (code == EXIT_DONE && j->done < j->count) {
        bool stop = cli_interrupted(); /* a small relation never looks */
        code = stop ? interrupted(j) : predict_one(j, j->relations[j->done]);
        j->done += code == EXIT_DONE;
        if (code != EXIT_INTERRUPTED)
            report(j);
    }
    if (code != EXIT_DONE && j->output && j->done == 0) { /* nothing to go on from */
        (void)unlink(j->part);
        (void)unlink(j->progress);
    }
    return code;
}

/* ---- the call ----------------------------------------------------------------------------- */

static int read_format(const cli_call *call, const char *output, wfre_triples_format *format)
{
    const char *name = cli_text(call, "format", NULL), *dot = output ? strrchr(output, '.') : NULL;
    *format = WFRE_TRIPLES_TSV;
    for (int f = 0; f < WFRE_TRIPLES_FORMATS; f++) {
        const char *own = wfre_triples_format_name((wfre_triples_format)f);
        if (strcmp(name ? name : dot ? dot + 1 : "tsv", own) == 0) {
            *format = (wfre_triples_format)f;
            return EXIT_DONE;
        }
    }
    return name ? cli_usage(call, "--format is tsv, nt or jsonl, not %s", name) : EXIT_DONE;
}

/* The relations to do: one, or all. */
static int choose_relations(const cli_call *call, job *j)
{
    const char *name = cli_text(call, "relation", NULL);
    uint32_t all = wfre_graph_relations(j->graph) / 2;
    j->relations = malloc((all + 1) * sizeof *j->relations);
    if (!j->relations)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    for (uint32_t r = 0; !name && r < all; r++)
        if (wfre_graph_relation_triples(j->graph, j->options.split, 2 * r) > 0)
            j->relations[j->count++] = 2 * r;
    if (!name)
        return EXIT_DONE;
    wfre_relation found = wfre_graph_find_relation(j->graph, name, strlen(name));
    if (found != WFRE_NONE) {
        j->relations[j->count++] = found;
        return EXIT_DONE;
    }
    wfre_relation near[3];
    wfre_error error = {.code = WFRE_ERR_NOT_FOUND, .offset = WFRE_NO_OFFSET};
    size_t count = wfre_nearest_relations(j->graph, name, strlen(name), near, 3);
    int used = snprintf(error.message, sizeof error.message, "no relation is called %.200s%s", name,
                        count > 0 ? "; the nearest:" : "");
    for (size_t i = 0; i < count && used > 0 && (size_t)used < sizeof error.message; i++) {
        wfre_name own = wfre_graph_relation_label(j->graph, near[i]);
        used += snprintf(error.message + used, sizeof error.message - (size_t)used, "%s %.*s",
                         i > 0 ? "," : "", (int)(own.length < 200 ? own.length : 200), own.bytes);
    }
    return cli_fail(&error);
}

static char *with_ending(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char *text = malloc(size);
    if (text)
        (void)snprintf(text, size, "%s%s", path, ending);
    return text;
}

/* Whether an output is standard output by another name, such as /dev/stdout. */
static bool is_standard(const char *output)
{
    struct stat there, standard;
    return strcmp(output, "-") == 0 ||
           (stat(output, &there) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
            there.st_dev == standard.st_dev && there.st_ino == standard.st_ino);
}

/* A device or pipe takes triples as they come, in the place of standard output; of these nothing is
 * kept. */
static int open_stream(job *j)
{
    int fd = open(j->output, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        return fail_file(j->output);
    close(fd);
    j->output = NULL;
    return EXIT_DONE;
}

/* The names of the files beside the output; neither may be an input. */
static int name_files(const cli_call *call, job *j)
{
    int code = EXIT_DONE;
    j->part = with_ending(j->output, ".part");
    j->progress = with_ending(j->output, ".progress");
    if (!j->part || !j->progress)
        return cli_fail(&(wfre_error){.code = WFRE_ERR_MEMORY, .message = "out of memory"});
    const char *const outputs[] = {j->output, j->part, j->progress};
    for (int i = 0; i < 6 && code == EXIT_DONE; i++)
        code = cli_keep_apart(call, outputs[i / 2], cli_argument(call, i % 2));
    return code;
}

static int read_options(const cli_call *call, job *j)
{
    wfre_missing_options_default(&j->options);
    j->output = cli_text(call, "out", NULL);
    j->options.top = (size_t)cli_integer(call, "top", DEFAULT_TOP);
    j->options.min_probability = cli_number(call, "min-probability", 0);
    j->options.missing_rate = cli_number(call, "missing", 0);
    if (cli_has(call, "all") == cli_has(call, "relation"))
        return cli_usage(call, "say what to predict: --relation R, or --all");
    int code = read_format(call, j->output, &j->format);
    if (j->output && is_standard(j->output))
        j->output = NULL;
    if (code == EXIT_DONE && j->output)
        code = name_files(call, j);
    return code == EXIT_DONE ? cli_split(call, WFRE_TEST, &j->options.split) : code;
}

static int prepare(const cli_call *call, job *j, wfre_pool *pool)
{
    wfre_error error;
    wfre_engine *engine = NULL;
    int code = choose_relations(call, j);
    if (code != EXIT_DONE)
        return code;
    wfre_status status = cli_load_model(cli_argument(call, 1), &j->model, &error);
    if (status == WFRE_OK)
        status = wfre_engine_open(j->graph, j->model, NULL, pool, cli_cancel(), &engine, &error);
    if (status == WFRE_OK)
        status =
            wfre_session_create(engine, &(wfre_session_options){.pool = pool}, &j->session, &error);
    if (status != WFRE_OK) {
        wfre_engine_unref(engine);
        return cli_fail(&error);
    }
    j->way = wfre_engine_way(engine);
    wfre_engine_unref(engine);
    j->options.way = &j->way;
    code = cli_by(call, &j->way);
    if (code == EXIT_DONE)
        code = cli_need_probabilities(j->model, j->options.min_probability);
    if (code != EXIT_DONE)
        return code;
    struct stat info;
    if (j->output && stat(j->output, &info) == 0 && !S_ISREG(info.st_mode))
        code = open_stream(j);
    return code == EXIT_DONE && j->output ? open_files(j, call) : code;
}

static void clean(job *j)
{
    if (j->triples >= 0)
        close(j->triples);
    if (j->journal >= 0)
        close(j->journal);
    free(j->part);
    free(j->progress);
    free(j->relations);
    wfre_session_free(j->session);
    wfre_model_free(j->model);
    wfre_graph_close(j->graph);
}

static int run(const cli_call *call)
{
    job j = {.start = cli_clock(), .hash = NO_BYTES, .triples = NOT_OPEN, .journal = NOT_OPEN};
    wfre_pool *pool = NULL;
    wfre_error error;
    int code = read_options(call, &j);
    if (code == EXIT_DONE)
        code = cli_open_graph(cli_argument(call, 0), &j.graph);
    if (code == EXIT_DONE &&
        wfre_pool_create((unsigned)cli_integer(call, "threads", 0), &pool, &error) != WFRE_OK)
        code = cli_fail(&error);
    if (code == EXIT_DONE)
        code = prepare(call, &j, pool);
    if (code == EXIT_DONE)
        code = predict_all(&j);
    if (code == EXIT_DONE && j.output)
        code = finish(&j);
    if (code == EXIT_DONE)
        cli_note("%s triples of %zu relation%s%s%s in %.1f s", cli_thousands(j.written), j.count,
                 j.count == 1 ? "" : "s", j.output ? " written to " : "",
                 j.output ? cli_visible(j.output) : "", cli_clock() - j.start);
    clean(&j);
    wfre_pool_free(pool);
    return code;
}

static const cli_option OPTIONS[] = {
    {"relation", 0, CLI_TEXT, "R", "predict triples of this relation", 0, 0},
    {"all", 0, CLI_FLAG, NULL, "predict triples of all relations", 0, 0},
    {"out", 'o', CLI_TEXT, "FILE", "the file to write; - is standard output (default)", 0, 0},
    {"format", 0, CLI_TEXT, "F", "tsv, nt or jsonl (default: what FILE ends in, else tsv)", 0, 0},
    {"top", 0, CLI_INTEGER, "K",
     "at most K triples for each entity that has the relation, from either end (default 10)", 1,
     1000000},
    {"min-probability", 0, CLI_NUMBER, "P", "leave out triples less likely than this", 0, 1},
    {"missing", 0, CLI_NUMBER, "RATE",
     "share of what is true that the graph lacks, if you know (default: as much as was held out)",
     0, 0.99},
    {"split", 0, CLI_TEXT, "S",
     "the graph that knows: train, valid (train and valid) or test (all; the default)", 0, 0},
    CLI_OPTION_BY,
    CLI_OPTION_THREADS,
};

const cli_command command_predict = {
    .name = "predict",
    .arguments = "G.kg M.safetensors --relation R|--all [-o FILE]",
    .summary = "write the triples that a graph seems to lack, with their probabilities",
    .details =
        "Every entity that has a relation, at either end, is asked for more; a triple that both\n"
        "ends name is written once, with the higher probability. Within a relation the likeliest\n"
        "come first. TSV has a fourth column with the probability, JSON lines have it as a\n"
        "member, N-Triples as a comment behind the triple.\n"
        "\n"
        "Relations are done one after the other. After Ctrl-C, or a crash, the same command goes\n"
        "on with the relations that are left: until then FILE.part has the triples so far, and\n"
        "FILE.progress says which relations are done.\n"
        "\n"
        "Examples:\n"
        "  wfre predict g.kg m.safetensors --relation producer --min-probability 0.5\n"
        "  wfre predict g.kg m.safetensors --all --top 10 -o new.nt\n",
    CLI_OPTIONS(OPTIONS),
    .minimum_arguments = 2,
    .maximum_arguments = 2,
    .run = run,
};
