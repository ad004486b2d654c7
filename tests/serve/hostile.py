#!/usr/bin/python3
"""Requests that nobody should send: malformed, endless, slow, abandoned, too many. Healthy clients
keep being answered, and the server neither crashes nor leaks."""
import random
import select
import threading

from common import *

COUNT = 10000 if LONG else 600
SLOW = 200 if LONG else 40
MANY = 1000 if LONG else 300


def healthy(server, what):
    a = server.ask("?x : r1(e0, ?x)", top=2)
    same(a.status, 200, "a healthy question " + what)


# ---- malformed ----------------------------------------------------------------------------------

SEEDS = [
    b"GET /api/info HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/complete?text=e%31&kind=entity HTTP/1.1\r\nHost: localhost\r\nAccept: */*;q=0.5\r\n\r\n",
    b"GET /sparql?query=SELECT%20*%20%7B%3Fs%20%3Fp%20%3Fo%7D HTTP/1.1\r\nHost: localhost\r\n"
    b"Accept: text/csv;q=0.1, application/sparql-results+xml\r\nAccept-Encoding: gzip\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"
    b'{"question":"?x : r1(e0, ?x)", "top": 3}',
    b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n10\r\nquery=ASK%20%7B%7D\r\n0\r\n\r\n",
    b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
    b"Expect: 100-continue\r\nContent-Length: 6\r\n\r\nASK {}",
    b"OPTIONS /sparql HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\r\n\r\n",
]
BODIES = [
    b'{"question":"?x : r1(e0, ?x) & !r2(?x, e3)","top":3,"known":5,"only":"both"}',
    b'{"drawing":{"nodes":[{"id":"x","kind":"variable","name":"x","asked":true},{"id":"e","kind":'
    b'"entity","entity":5}],"edges":[{"from":"x","to":"e","relation":0}],"groups":[]}}',
    b'{"triples":[["e0","r1","e1"],[0,1,2]]}',
    b'{"question":"SELECT ?x { ?x r:r1 e:e1 } LIMIT 3"}',
]
QUERIES = [
    b"SELECT ?x (COUNT(?y) AS ?n) { ?x r:r1|^r:r2 ?y FILTER(STR(?x) != 'a') } GROUP BY ?x",
    b"PREFIX w: <urn:wfre:ns#> SELECT * { SERVICE w:predict { [] w:answer ?x . { e:e0 r:r1 ?x } } }",
    b"CONSTRUCT { ?x r:r9 ?y } { ?x r:r1/r:r2* ?y MINUS { ?x r:r3 ?y } }",
]
PATHS = ["/api/ask", "/api/explain", "/api/convert", "/api/score"]


def mutate(random, text):
    text = bytearray(text)
    for _ in range(random.choice([1, 1, 2, 3, 8])):
        at, kind = random.randrange(len(text) + 1), random.randrange(6)
        if kind == 0:
            text[at:at] = bytes([random.randrange(256)])
        elif kind == 1 and text:
            del text[at:at + random.choice([1, 1, 2, 9])]
        elif kind == 2 and at < len(text):
            text[at] ^= 1 << random.randrange(8)
        elif kind == 3:
            piece = text[at:at + random.randrange(1, 20)]
            text[at:at] = piece * random.choice([1, 2, 50])
        elif kind == 4:
            text[at:at] = random.choice([b"\0", b"\r\n", b"%", b"\xff", b"[" * 3000, b"{" * 50, b"9" * 30,
                                         b"-1", b"1e999", b"(" * 500, b"\"", b"\\u0000", b": ", b","])
        elif text:
            del text[at:]
    return bytes(text)


def exchange(server, data):
    """Sends it all, reads what comes at once, and leaves."""
    c = server.socket(0.1)
    try:
        c.sendall(data)
        if len(data) % 2:
            c.shutdown(socket.SHUT_WR)
        c.recv(65536)
    except OSError:
        pass
    finally:
        c.close()


def malformed(server):
    rng = random.Random(7)
    status, before = {}, 0
    for i in range(COUNT):
        if i == COUNT // 4:
            before = server.memory()
        kind = i % 3
        if kind == 0:
            exchange(server, mutate(rng, rng.choice(SEEDS)))
            continue
        body = mutate(rng, rng.choice(BODIES if kind == 1 else QUERIES))
        path = rng.choice(PATHS) if kind == 1 else rng.choice(["/sparql", "/sparql/predicted"])
        type_ = "application/json" if kind == 1 else "application/sparql-query"
        a = server.post(path, body, type=type_)
        status[a.status] = status.get(a.status, 0) + 1
        if a.status >= 400 and not check("error" in a.json, f"an error says what it is: {a.body}"):
            break
        if not check(a.status in (200, 400, 406, 413, 415, 422, 504), f"{a.status} for {body!r}"):
            break
        if not server.alive():
            check(False, f"the server died of {body!r}")
            break
    check(status.get(400, 0) > COUNT / 10, f"most are refused: {status}")
    healthy(server, "after malformed ones")
    after = server.memory()
    # A sanitizer keeps what was freed for a while.
    sanitized = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
    check(sanitized or after < before + (32 << 20), f"memory: {before >> 20} MB, then {after >> 20} MB")
    print("malformed:", COUNT, status, f"memory {before >> 20} MB, then {after >> 20} MB", flush=True)


# ---- slow and abandoned ---------------------------------------------------------------------------

def slow(graph, model):
    """Clients that send, and others that read, a byte a second."""
    with Server(graph, model, "--receive", "4", "--timeout", "60s") as server:
        rows = urllib.parse.quote("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 60000")
        readers, writers = [], []
        for i in range(SLOW // 2):
            c = server.socket()
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.sendall(f"GET /sparql?query={rows}&format=tsv HTTP/1.1\r\nHost: localhost\r\n\r\n"
                      .encode() if i % 10 == 0 else
                      b"GET /api/info HTTP/1.1\r\nHost: localhost\r\n\r\n")
            readers.append(c)
            c = server.socket()
            c.sendall(b"GET /api/in")
            writers.append(c)
        worst, begin = 0.0, time.monotonic()
        while time.monotonic() - begin < (20 if LONG else 7):
            for c in writers:
                try:
                    c.send(b"a")
                except OSError:
                    pass
            for c in readers:
                if select.select([c], [], [], 0)[0]:
                    c.recv(1)
            start = time.monotonic()
            healthy(server, "among slow ones")
            worst = max(worst, time.monotonic() - start)
            time.sleep(0.5)
        cut = 0
        for c in writers:
            c.settimeout(2)
            try:
                cut += c.recv(10) == b""
            except ConnectionError:
                cut += 1
            except OSError:
                pass
        same(cut, len(writers), "slow writers are cut off")
        print(f"slow: {SLOW} clients, a healthy one waited at most {worst:.2f} s")
        for c in readers + writers:
            c.close()
        check(wait_for(lambda: server.metric("wfre_connections") <= 2), "all connections are gone")


ENDLESS = "SELECT (COUNT(*) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }"


def busy(server):
    return server.metric("wfre_workers_busy")


def endless(graph, model):
    with Server(graph, model, "--timeout", "1.5s", "--threads", "2") as server:
        start = time.monotonic()
        a = server.sparql(ENDLESS)
        took = time.monotonic() - start
        same((a.status, a.json["error"]["code"]), (504, "timeout"), "a query without end")
        check(took < 4, f"it ends at its limit: {took:.2f} s")
        check(wait_for(lambda: busy(server) == 0, 1), "the worker is free")
        a = server.ask("?x : exists ?a ?b ?c ?d ?e . r1(?x, ?a) & r2(?b, ?c) & r3(?d, ?e) & r1(?a, ?c)",
                       timeout=0.0001)
        check(a.status in (200, 504), "a question in no time")
        healthy(server, "after one without end")


def mixed(graph, model):
    """Hard questions among easy ones, asked at the same time: the easy ones are answered."""
    hard = "SELECT (COUNT(*) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
    with Server(graph, model, "--timeout", "4s", "--threads", "2", "--batch", "64") as server:
        counts, lock = {}, threading.Lock()

        def one(question, kind):
            status = server.ask(question, top=2).status
            with lock:
                counts[(kind, status)] = counts.get((kind, status), 0) + 1
        threads = [threading.Thread(target=one, args=(hard, "hard") if i == 20 else
                                    (f"?x : r1(e{i % 24}, ?x)", "easy")) for i in range(60)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        same(counts, {("easy", 200): 59, ("hard", 504): 1}, "a hard question among easy ones")


HARD = "count ?a, ?b, ?c, ?d, ?e : r1(?a, ?b) & r2(?c, ?d) & r3(?d, ?e) & r1(?e, ?a)"


def leave(server, clients, reset):
    """Closes them; how long the server went on by the clock, and how much CPU it took for that."""
    start, used = time.monotonic(), server.cpu()
    for c in clients:
        if reset:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
    check(wait_for(lambda: busy(server) == 0, 5), "it stops")
    return time.monotonic() - start, server.cpu() - used


def vanish(graph, model):
    """Work stops when its client is gone: within 100 ms, counted in CPU of the server, since on a busy
    machine a clock counts the others, too."""
    with Server(graph, model, "--timeout", "60s", "--threads", "1", log="json") as server:
        times = []
        for i in range(20 if LONG else 6):
            c = server.socket()
            c.sendall(f"GET /sparql?query={urllib.parse.quote(ENDLESS)} HTTP/1.1\r\n"
                      "Host: localhost\r\n\r\n".encode())
            check(wait_for(lambda: busy(server) == 1, 5), "it works")
            # Others that wait behind it, and leave with it, are never begun.
            waiting = [server.socket() for _ in range(5)]
            for w in waiting:
                body = json.dumps({"question": HARD}).encode()
                w.sendall(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                          % (len(body), body))
            check(wait_for(lambda: server.metric("wfre_queue_length") == 5, 5), "others wait")
            times.append(leave(server, waiting + [c], i % 2))
        print("vanished clients: work stopped after", " ".join(f"{1e3 * t:.0f}" for t, _ in times), "ms,",
              " ".join(f"{1e3 * u:.0f}" for _, u in times), "of CPU")
        sanitized = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
        check(max(u for _, u in times) < (1 if sanitized else 0.1), "work of vanished clients stops")
        healthy(server, "after vanished ones")


def crowd(graph, model):
    with Server(graph, model, "--connections", "1200") as server:
        held = [server.socket() for _ in range(MANY)]
        for c in held:
            c.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        good = sum(c.recv(12) == b"HTTP/1.1 200" for c in held)
        same(good, MANY, "answers to many connections at once")
        healthy(server, "in a crowd")
        for c in held:
            c.close()


def full(graph, model):
    with Server(graph, model, "--queue", "4", "--threads", "1", "--timeout", "2s") as server:
        counts, lock = {}, threading.Lock()

        def one():
            a = server.sparql(ENDLESS)
            with lock:
                counts[a.status] = counts.get(a.status, 0) + 1
                if a.status == 503:
                    check(a.headers["Retry-After"] == "1", "when to come back")
        threads = [threading.Thread(target=one) for _ in range(20)]
        for t in threads:
            t.start()
        time.sleep(0.5)
        same(server.get("/healthz").status, 200, "health while the queue is full")
        for t in threads:
            t.join()
        check(counts.get(503, 0) >= 15 and counts.get(504, 0) >= 1 and
              set(counts) <= {503, 504}, f"a full queue: {counts}")
        healthy(server, "after a full queue")


graph, model = ring()
with Server(graph, model, "--timeout", "3s") as server:
    malformed(server)
slow(graph, model)
endless(graph, model)
mixed(graph, model)
vanish(graph, model)
crowd(graph, model)
full(graph, model)
finish()
