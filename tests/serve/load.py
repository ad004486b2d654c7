#!/usr/bin/python3
"""load.py G.kg M.safetensors Q.tsv SECONDS FOLDER: mixed questions over 64 connections, beside the
same sessions without HTTP; what batches gain; memory over 100,000 requests. FOLDER has the programs
`client` and `sessions` (see their sources). Not part of `make check`: `make load`, which takes three
times SECONDS. Rates and latencies need a machine without other work; CPU compares on any."""
import random

from common import *

graph, model, queries, seconds, programs = sys.argv[1:6]
seconds = float(seconds)
CONNECTIONS, REQUESTS = 64, 100000
LEAST_RATE, MOST_TAIL, MOST_GROWTH = 0.85, 3.0, 4 << 20


def questions(name, count, kind=None):
    """Some of the query set's, spread over all types or of one, in an order without a pattern."""
    path = os.path.join(folder(), name)
    kept = []
    with open(queries) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if not line.startswith("#") and len(fields) > 1 and kind in (None, fields[0]):
                kept.append(fields[1])
    kept = kept[::max(1, len(kept) // count)]
    random.Random(7).shuffle(kept)
    with open(path, "w") as file:
        file.writelines(q + "\n" for q in kept)
    return path


def run(program, *arguments):
    done = subprocess.run([os.path.join(programs, program), *map(str, arguments)],
                          capture_output=True, text=True, check=True)
    return [float(x) for x in done.stdout.split()]


def direct(path, batch, seconds):
    """Questions a second, and milliseconds of CPU for each, of the sessions alone."""
    return run("sessions", graph, model, path, os.cpu_count(), batch, max(1, round(seconds)))


def load(server, path, seconds, fields=""):
    before = server.cpu()
    answers, failed, took, median, p99, worst, own = run("client", server.port, path, CONNECTIONS,
                                                         seconds, fields)
    same(failed, 0, "failed requests")
    return {"rate": answers / took, "cpu": 1e3 * (server.cpu() - before) / answers, "median": median,
            "p99": p99, "worst": worst, "own": own, "count": answers}


def warm(server, path):
    """Makes everything that is derived."""
    with open(path) as file:
        for question in file:
            same(server.ask(question.strip(), forms=False).status, 200, question)


def serve(*options):
    return Server(graph, model, "--timeout", "60s", *options)


def beside_sessions():
    path = questions("mixed", 200)
    with serve() as server:
        warm(server, path)
        first = direct(path, 32, seconds / 2)
        here = load(server, path, seconds)
        second = direct(path, 32, seconds / 2)
        each = server.metric("wfre_questions_total") / server.metric("wfre_batches_total")
    rate, cost = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
    print(f"sessions alone, batches of 32: {rate:.1f} questions/s, {cost:.2f} ms of CPU each")
    print(f"server, {CONNECTIONS} connections: {here['rate']:.1f} questions/s, {here['cpu']:.2f} ms of CPU each, "
          f"{here['count']:.0f} answers, none failed, {each:.1f} a batch")
    print(f"server / sessions: {here['rate'] / rate:.2f} by rate, {cost / here['cpu']:.2f} by CPU (at least {LEAST_RATE})")
    print(f"latency: median {here['median']:.0f} ms, p99 {here['p99']:.0f} ms, {here['p99'] / here['median']:.2f} times "
          f"(at most {MOST_TAIL}), worst {here['worst']:.0f} ms; the client itself takes {here['own']:.3f} ms of CPU each",
          flush=True)
    check(cost / here["cpu"] >= LEAST_RATE, "what a question costs in the server")
    check(here["p99"] <= MOST_TAIL * here["median"], "the slowest one in a hundred")


def gain():
    """Single edges, and whole questions by embedding, one at a time and together."""
    for name, kind, fields in (("single edges", "1p", ""), ("by embedding", None, '"way":"embedding",')):
        path, results = questions(name.replace(" ", ""), 200, kind), []
        for batch in (1, 32):
            with serve("--batch", str(batch)) as server:
                load(server, path, seconds / 20, fields)
                results.append(load(server, path, seconds / 8, fields))
        one, many = results
        print(f"{name}: {one['cpu']:.2f} ms of CPU each alone, {many['cpu']:.2f} in batches of up to 32: "
              f"{one['cpu'] / many['cpu']:.2f} times by CPU, {many['rate'] / one['rate']:.2f} by rate", flush=True)


def memory():
    path = questions("known", 200)
    with serve() as server:
        made, sizes = 0, []
        while made < REQUESTS:
            made += load(server, path, seconds / 20, '"only":"known",')["count"]
            sizes.append(server.memory())
        print("memory, MB:", *(f"{size / (1 << 20):.1f}" for size in sizes[::max(1, len(sizes) // 10)]), f"over {made:.0f} requests")
        check(sizes[-1] < sizes[len(sizes) // 4] + MOST_GROWTH, "memory stays as it is")


beside_sessions()
gain()
memory()
finish()
