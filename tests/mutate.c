/* mutate interrupted COMMAND...: the command, as if Ctrl-C came at once.
 * mutate written COMMAND...: the command, as if Ctrl-C came when its first file is whole.
 * mutate PLAN COUNT [SEED]: mutated files through the commands that read them. The program's
 * commands run in a copy of this process each (fork without exec), which is many times as fast as
 * starting a program with sanitizers. mutate.sh writes the plan and the whole files; its fields are
 * separated by tabs:
 *
 *   file FROM TO           the format that follows: TO is a mutated FROM
 *   sealed FROM TO         likewise, with checksums that fit again (snapshots and models)
 *   copy FROM TO, remove P before the next run
 *   run CHECK WORD...      a command; words NAME=VALUE before it go to its environment, and the
 *                          file of a word <FILE to its standard input
 *
 * CHECK says what else than crashes and hangs counts:
 *
 *   any      nothing: the format has no checksums, and may have become another file that is right
 *   same     if it is taken, the output must be that of the whole file
 *   refused  a changed file must not be taken
 *   gzip     what gzip refuses must not be taken
 *   lines    the triples that are read are as many as the lines (TSV, N-Triples)
 *
 * The first round mutates nothing, and every command must take the whole file. One of 250 rounds,
 * the first mutated one among them, goes through the program itself (WFRE), which shows that the
 * copies do as it does. Fails if there is
 *
 *   a crash  a signal, or a sanitizer's report
 *   a hang   more than 5 seconds of computing, or 5 minutes of waiting
 *   silence  damage that CHECK counts. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "sealing.h"
#include "snapshot.h"

/* The program's, whose objects are linked. What is here runs before it. */
int main(int argc, char **argv);
bool cli_interrupted(void);

enum { MOST_STEPS = 400, MOST_WORDS = 40, MOST_CHANGES = 4, MOST_BYTES = 1 << 20 };
enum { COMPUTE_SECONDS = 5, WAIT_SECONDS = 300, ROUNDS_OF_A_WORKER = 100, ROUNDS_OF_COPIES = 250 };

typedef struct step {
    char *words[MOST_WORDS + 1];
    int count;
    char expected[32]; /* of a run, the file with what it printed of the whole file */
} step;

typedef struct counts {
    unsigned long runs, real, refused, crashes, hangs,
        silent; /* real: through the program itself */
} counts;

/* What a worker tells while it lives: how far it is, and what it counted. */
typedef struct progress {
    counts c;
    long round; /* -1 is the one without changes */
    int at;     /* the step at hand */
} progress;

static progress *shared;
static FILE *report; /* standard output, which commands have for themselves */
static step steps[MOST_STEPS];
static int step_count;
static uint64_t seed, state;  /* of all; of the round at hand */
static char *whole, *mutated; /* of the format at hand */
static size_t whole_size, mutated_size;

/* Whether the next file that gets its name brings Ctrl-C. */
static bool interrupts;

/* In place of the library's, for all of the program. */
int rename(const char *from, const char *to)
{
    int result = renameat(AT_FDCWD, from, AT_FDCWD, to);
    if (interrupts && result == 0) {
        interrupts = false;
        (void)raise(SIGINT);
    }
    return result;
}

static void die(const char *what, const char *of)
{
    fprintf(stderr, "mutate: %s %s\n", what, of);
    exit(1);
}

static uint64_t draw(uint64_t below)
{
    state += 0x9E3779B97F4A7C15u;
    return wfre_hash(&state, sizeof state, 0) % below;
}

/* ---- files -------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    bytes = malloc(MOST_BYTES);
    if (!bytes)
        die("no memory for", path);
    *size = fread(bytes, 1, MOST_BYTES - 1, file);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        die("cannot write", path);
}

static void copy_file(const char *from, const char *to)
{
    size_t size;
    char *bytes = read_file(from, &size);
    if (!bytes)
        die("cannot read", from);
    write_file(to, bytes, size);
    free(bytes);
}

/* ---- mutations ---------------------------------------------------------------------------- */

/* Puts the bytes of a stretch of the whole file at a place; over what is there, or before it. */
static void copy_stretch(size_t at, size_t length, bool insert)
{
    size_t from = draw(whole_size);
    length = length < whole_size - from ? length : whole_size - from;
    if (insert && mutated_size + length < MOST_BYTES) {
        memmove(mutated + at + length, mutated + at, mutated_size - at);
        mutated_size += length;
    }
    length = length < mutated_size - at ? length : mutated_size - at;
    memcpy(mutated + at, whole + from, length);
}

static void change(void)
{
    static const uint32_t numbers[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE};
    static const char marks[] = "<>\"'\\@^_:;,.()[]{}#\t\n\r -0129eE+\x1b\xef\xff";
    if (mutated_size == 0)
        return;
    size_t at = draw(mutated_size), length = 1 + draw(16), rest = mutated_size - at;
    length = length < rest ? length : rest;
    switch (draw(12)) {
    case 0:
    case 1:
        mutated[at] = (char)draw(256);
        break;
    case 2:
    case 3:
        mutated[at] = (char)(mutated[at] ^ 1 << draw(8));
        break;
    case 4:
        memset(mutated + at, 0, length);
        break;
    case 5:
        mutated_size = at;
        break;
    case 6:
        copy_stretch(at, length, false);
        break;
    case 7:
        copy_stretch(at, length, true);
        break;
    case 8: /* left out */
        memmove(mutated + at, mutated + at + length, rest - length);
        mutated_size -= length;
        break;
    case 9: /* a number */
        at = at / 4 * 4;
        if (mutated_size - at >= 4)
            memcpy(mutated + at, &numbers[draw(6)], 4);
        break;
    default: /* what syntax is made of */
        mutated[at] = marks[draw(sizeof marks)];
    }
}

/* The file of a round: the same whenever it is asked for. A quarter of the files has one change
 * alone, which is the hardest to see. */
static void mutate(int format, long round)
{
    const uint64_t key[] = {seed, (uint64_t)format, (uint64_t)round};
    state = wfre_hash(key, sizeof key, 0);
    memcpy(mutated, whole, whole_size);
    mutated_size = whole_size;
    for (uint64_t changes = round < 0 ? 0 : 1 + draw(MOST_CHANGES); changes > 0; changes--)
        change();
    if (round < 0 || steps[format].words[0][0] != 's')
        return;
    if (wfre_graph_recognises(mutated, mutated_size))
        snapshot_seal(mutated, mutated_size);
    else
        (void)model_seal(mutated, mutated_size);
}

/* ---- one run ------------------------------------------------------------------------------ */

static void redirect(const char *path, int flags, int to)
{
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, to) < 0 || close(file) != 0)
        die("cannot open", path);
}

/* Starts the program itself. Dies as it did, if it died. */
static int start_program(char **argv)
{
    const struct itimerval compute = {.it_value = {COMPUTE_SECONDS, 0}};
    const char *program = getenv("WFRE");
    int status = 0;
    if (!program)
        die("no name of the program in", "WFRE");
    pid_t child = fork();
    if (child == 0) { /* the time limits stay with it */
        (void)setitimer(ITIMER_PROF, &compute, NULL);
        (void)alarm(WAIT_SECONDS);
        (void)execv(program, argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("cannot start", program);
    if (WIFSIGNALED(status)) {
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

/* Calls main, and does not wait for ever. */
static int call_program(int argc, char **argv)
{
    const struct itimerval compute = {.it_value = {COMPUTE_SECONDS, 0}}, none = {0};
    rewind(stdin);
    (void)setitimer(ITIMER_PROF, &compute, NULL);
    (void)alarm(WAIT_SECONDS);
    int code = main(argc, argv);
    (void)setitimer(ITIMER_PROF, &none, NULL);
    (void)alarm(0);
    (void)fflush(stdout);
    return code;
}

/* Runs the program with its words, environment and streams. */
static int run_words(char **words, bool real)
{
    const char *input = "/dev/null";
    int argc = 1;
    char *argv[MOST_WORDS + 2] = {(char *)(uintptr_t) "wfre"};
    (void)unsetenv("WFRE_CHECK");
    for (; strchr(*words, '=') && (*words)[0] == 'W'; words++) {
        char *value = strchr(*words, '=');
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - *words), *words);
        (void)setenv(name, value + 1, 1);
    }
    for (; *words; words++)
        if ((*words)[0] == '<')
            input = *words + 1;
        else
            argv[argc++] = *words;
    redirect("err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    redirect("out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(input, O_RDONLY, STDIN_FILENO);
    return real ? start_program(argv) : call_program(argc, argv);
}

/* What the run printed, without the times it took. The caller frees it. */
static char *output(void)
{
    size_t size, kept = 0;
    char *text = read_file("out", &size);
    if (!text)
        die("cannot read", "out");
    for (size_t i = 0; i < size; i++) {
        if (strncmp(text + i, " in ", 4) == 0) {
            size_t digits = strspn(text + i + 4, "0123456789.");
            const char *unit = text + i + 4 + digits;
            if (digits > 0 && (strncmp(unit, " ms", 3) == 0 || strncmp(unit, " s", 2) == 0)) {
                i += 4 + digits;
                continue;
            }
        }
        text[kept++] = text[i];
    }
    text[kept] = '\0';
    return text;
}

/* ---- what counts -------------------------------------------------------------------------- */

/* A number of the JSON that import prints. */
static unsigned long number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* The lines that say something: neither empty nor a comment of N-Triples. */
static unsigned long lines_of(bool comments)
{
    unsigned long lines = 0;
    bool blank = true;
    for (size_t i = 0; i <= mutated_size; i++) {
        char c = i < mutated_size ? mutated[i] : '\n';
        if (c == '\n' || (comments && c == '\r'))
            lines += !blank, blank = true;
        else if (blank && comments && c == '#')
            while (i + 1 < mutated_size && mutated[i + 1] != '\n' && mutated[i + 1] != '\r')
                i++;
        else if (c != '\r' && !(comments && (c == ' ' || c == '\t')))
            blank = false;
    }
    return lines;
}

static bool says_all_lines(const char *text, const char *path)
{
    unsigned long said = number_of(text, "\"train\":") + number_of(text, "\"duplicates\":") +
                         number_of(text, "\"attributes\":");
    return said == lines_of(strstr(path, ".nt") != NULL);
}

static bool gzip_takes(const char *path)
{
    char command[256];
    size_t size = mutated_size;
    if (size < 2 || (unsigned char)mutated[0] != 0x1f || (unsigned char)mutated[1] != 0x8b)
        return true; /* it is read as text then */
    (void)snprintf(command, sizeof command, "gzip -tq <%s 2>/dev/null", path);
    return system(command) == 0; /* NOLINT: the names are ours */
}

/* Whether damage went unnoticed in a run that ended well. */
static bool is_silent(const step *run, const char *path, const char *text)
{
    const char *check = run->words[1];
    if (strcmp(check, "same") == 0) {
        size_t size = 0;
        char *expected = read_file(run->expected, &size);
        bool differs = !expected || strcmp(text, expected) != 0;
        free(expected);
        return differs;
    }
    if (strcmp(check, "refused") == 0)
        return mutated_size != whole_size || memcmp(mutated, whole, whole_size) != 0;
    if (strcmp(check, "gzip") == 0)
        return !gzip_takes(path);
    if (strcmp(check, "lines") == 0)
        return !says_all_lines(text, path);
    return false;
}

static void tell(const char *what, const step *run, const char *path, const counts *c)
{
    char name[300];
    const char *keep = getenv("KEEP");
    size_t size = 0;
    fprintf(report, "%s:", what);
    for (int i = 2; i < run->count; i++)
        fprintf(report, " %s", run->words[i]);
    char *said = read_file("err", &size);
    fprintf(report, "\n%.600s\n", said ? said : "");
    (void)fflush(report);
    free(said);
    if (!keep)
        return;
    (void)snprintf(name, sizeof name, "%s/%s-%lu-%s", keep, what, c->runs, path);
    for (char *slash = name + strlen(keep) + 1; *slash; slash++)
        *slash = *slash == '/' ? '-' : *slash;
    write_file(name, mutated, mutated_size);
}

/* Counts a run that came back. */
static void judge(step *run, const char *path, int code, bool first, counts *c)
{
    size_t size = 0;
    char *said = read_file("err", &size), *text = output();
    c->runs++;
    if (said && (strstr(said, "Sanitizer") || strstr(said, "runtime error")))
        c->crashes++, tell("crash", run, path, c);
    else if (first && code != 0)
        c->crashes++, tell("the whole file is refused", run, path, c);
    else if (code != 0)
        c->refused++;
    else if (first)
        write_file(run->expected, text, strlen(text));
    else if (is_silent(run, path, text))
        c->silent++, tell("silent", run, path, c);
    free(said);
    free(text);
}

/* Counts a run that ended its worker, unless the worker was done. */
static void judge_end(int status, const char *path, progress *p)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    p->c.runs++;
    if (signal == SIGPROF || signal == SIGALRM || signal == SIGKILL)
        p->c.hangs++, tell("hang", &steps[p->at], path, &p->c);
    else
        p->c.crashes++, tell("crash", &steps[p->at], path, &p->c);
}

/* ---- the plan ----------------------------------------------------------------------------- */

static void read_plan(const char *path)
{
    static char line[1 << 14];
    FILE *file = fopen(path, "r");
    if (!file)
        die("cannot read", path);
    while (step_count < MOST_STEPS && fgets(line, sizeof line, file)) {
        step *s = &steps[step_count];
        line[strcspn(line, "\n")] = '\0';
        for (char *word = strtok(line, "\t"); word && s->count < MOST_WORDS;
             word = strtok(NULL, "\t"))
            s->words[s->count++] = strdup(word);
        (void)snprintf(s->expected, sizeof s->expected, "expected-%d", step_count);
        step_count += s->count > 1;
    }
    (void)fclose(file);
}

static bool is_format(const step *s)
{
    return strcmp(s->words[0], "file") == 0 || strcmp(s->words[0], "sealed") == 0;
}

static void take_step(int format, step *s, long round)
{
    const char *path = steps[format].words[2];
    if (strcmp(s->words[0], "copy") == 0) {
        copy_file(s->words[1], s->words[2]);
    } else if (strcmp(s->words[0], "remove") == 0) {
        (void)remove(s->words[1]);
    } else {
        bool real = round >= 0 && round % ROUNDS_OF_COPIES == 0;
        write_file(path, mutated, mutated_size);
        shared->c.real += real;
        judge(s, path, run_words(s->words + 2, real), round < 0, &shared->c);
    }
}

/* A worker: goes on from where the last one was, for some rounds or until it breaks. */
static void work(int format, int end, long rounds)
{
    long until = shared->round + ROUNDS_OF_A_WORKER;
    until = until < rounds ? until : rounds;
    for (; shared->round < until; shared->round++) {
        mutate(format, shared->round);
        for (; shared->at < end; shared->at++)
            take_step(format, &steps[shared->at], shared->round);
        shared->at = format + 1;
    }
    _exit(0);
}

/* All rounds of the steps of a format. */
static void take_rounds(int format, int end, long rounds)
{
    *shared = (progress){.round = -1, .at = format + 1};
    while (shared->round < rounds) {
        int status;
        pid_t child = fork();
        if (child < 0)
            die("cannot start a worker for", steps[format].words[1]);
        if (child == 0)
            work(format, end, rounds);
        if (waitpid(child, &status, 0) != child)
            die("lost the worker for", steps[format].words[1]);
        if (status != 0) {
            mutate(format, shared->round);
            judge_end(status, steps[format].words[2], shared);
            shared->at++;
        }
    }
}

/* The seconds that all runs computed. */
static double computed(void)
{
    struct rusage used;
    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* All rounds of the format that begins at a step. Returns where the next one begins. */
static int take_format(int format, long rounds, counts *all)
{
    int end = format + 1;
    double before = computed();
    while (end < step_count && !is_format(&steps[end]))
        end++;
    whole = read_file(steps[format].words[1], &whole_size);
    if (!whole)
        die("cannot read", steps[format].words[1]);
    mutated = malloc(MOST_BYTES);
    if (!mutated)
        die("no memory for", steps[format].words[1]);
    take_rounds(format, end, rounds);
    counts c = shared->c;
    copy_file(steps[format].words[1], steps[format].words[2]);
    fprintf(report,
            "%-6s %-28s %8lu runs %8lu refused %3lu crashes %3lu hangs %3lu silent %7.1f s\n",
            steps[format].words[0], steps[format].words[1], c.runs, c.refused, c.crashes, c.hangs,
            c.silent, computed() - before);
    (void)fflush(report);
    all->runs += c.runs;
    all->real += c.real;
    all->refused += c.refused;
    all->crashes += c.crashes;
    all->hangs += c.hangs;
    all->silent += c.silent;
    free(whole);
    free(mutated);
    return end;
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
    counts all = {0};
    int formats = 0;
    interrupts = argc > 2 && strcmp(argv[1], "written") == 0;
    if (argc > 2 && (interrupts || strcmp(argv[1], "interrupted") == 0)) {
        (void)cli_interrupted(); /* from now on it is noticed */
        if (!interrupts)
            (void)raise(SIGINT);
        exit(main(argc - 1, argv + 1));
    }
    if (argc < 3)
        die("usage:", "mutate PLAN COUNT [SEED]");
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    read_plan(argv[1]);
    report = fdopen(dup(STDOUT_FILENO), "w");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!report || shared == MAP_FAILED)
        die("cannot start", "");
    for (int at = 0; at < step_count; formats++)
        at = take_format(at, strtol(argv[2], NULL, 10), &all);
    fprintf(report,
            "%d formats, %s files each, %lu runs, %lu of them of the program itself: %lu refused, "
            "%lu crashes, %lu hangs, %lu silent\n",
            formats, argv[2], all.runs, all.real, all.refused, all.crashes, all.hangs, all.silent);
    (void)fclose(report);
    exit(all.crashes + all.hangs + all.silent > 0);
}
