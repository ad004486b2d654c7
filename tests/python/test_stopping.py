"""Ctrl-C, threads, forks, memory."""
import gc
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

import wfre

try:
    import numpy
except ImportError:  # then what needs no arrays is tested
    numpy = None
arrays = pytest.mark.skipif(numpy is None, reason="no numpy")


# ---- Ctrl-C ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def heeded():
    """Shells start what is in the background with SIGINT ignored, which Python keeps."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(work, after=0.2, begun=None):
    """Seconds from a SIGINT to the KeyboardInterrupt that it makes of ``work``; None if that ended
    before. The signal is sent by another thread, some time behind the event ``begun``."""
    sent = []

    def send():
        if begun is not None:
            begun.wait()
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        try:
            thread.join()
            time.sleep(0)
        except KeyboardInterrupt:
            pass
    return None


@pytest.fixture(scope="module")
def clique():
    """A graph in which some questions take for ever."""
    names = [f"n{i}" for i in range(1000)]
    draw = random.Random(1)
    pairs = (draw.sample(names, 2) for _ in range(200000))
    return wfre.import_triples([(a, "r", b) for a, b in pairs])


HARD = "?x : " + " & ".join(
    f"r(?{a}, ?{b})" for i, a in enumerate("xabcdefghi") for b in "xabcdefghi"[i + 1 :]
)


def promptly(work, begun=None):
    """The best of some attempts: a busy machine may let any of them wait."""
    times = []
    for _ in range(20):
        took = interrupted(work, begun=begun)
        assert took is not None, "it ended before it could be interrupted"
        times.append(took)
        if took < 0.2:
            return
    raise AssertionError(f"KeyboardInterrupt came after {times} seconds")


def test_interrupt_ask(clique):
    promptly(lambda: clique.ask(HARD))
    assert clique.ask("?x : r(n1, ?x)").error is None  # the session goes on


def test_interrupt_sparql(clique):
    query = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }"
    promptly(lambda: clique.sparql(query))


def test_interrupt_train(graph, clique, tmp_path):
    """Within a step, too, which takes seconds on a dense graph; nothing is lost."""
    promptly(lambda: wfre.train(clique, time="60s"))
    path = tmp_path / "m.safetensors"
    begun, done, resumed = threading.Event(), [], []

    def note(step):
        done.append(step.step)
        begun.set()

    def end(step):
        resumed.append(step.step)
        raise RuntimeError("enough")

    settings = dict(steps=100000, dim=40, batch=32, validate=0)
    promptly(lambda: wfre.train(graph, path, callback=note, **settings), begun)
    assert (tmp_path / "m.checkpoint").exists()
    with pytest.raises(RuntimeError, match="enough"):
        wfre.train(graph, path, resume=True, callback=end, **settings)
    # It went on where it was; Ctrl-C may have come before the last step was noted.
    assert resumed[0] - done[-1] in (1, 2)


@arrays
def test_interrupted_steps_are_lost_whole(graph, tmp_path):
    """A run that is interrupted again and again ends with the bits of one that is not."""
    settings = dict(steps=60, dim=40, batch=256, validate=0, calibrate=0, seed=3)
    whole = wfre.train(graph, **settings).embeddings.copy()
    path, times = tmp_path / "m.safetensors", 0
    model = None
    while model is None:
        old = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05 * 1.2 ** min(times, 30))
            model = wfre.train(graph, path, resume=True, **settings)
        except KeyboardInterrupt:
            times += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
    assert times > 0 and (model.embeddings == whole).all()


@arrays
def test_interrupt_scores():
    X = numpy.random.default_rng(1).random((20000, 400), dtype=numpy.float32)
    scores = wfre.Scores(X)
    promptly(lambda: scores.distances(X[:1000]))
    promptly(lambda: scores.nearest(X[:1000], 3))
    slow = wfre.Score(400, iterations=500)
    promptly(lambda: slow.distance(X, X[::-1].copy()))


@arrays
def test_interrupt_a_pair():
    """Within one pair, on whichever thread that is, if it has very many iterations or numbers."""
    X = numpy.random.default_rng(1).random((33, 6400), dtype=numpy.float32)
    score = wfre.Score(6400, block=64, iterations=100000)
    promptly(lambda: score.distance(X[0], X[1]))
    promptly(lambda: score.gradient(X[0], X[1]))
    promptly(lambda: score.distance(X[:32], X[1:]))
    promptly(lambda: score.distance(numpy.vstack([X] * 2), X[0]))
    promptly(lambda: score.transport(X[0], X[1]))
    promptly(lambda: wfre.Scores(X, score=score).nearest(X, 3))
    exact = wfre.Score(6400, block=64, iterations=100000, epsilon=0.001)  # in double, by logarithms
    promptly(lambda: exact.distance(X[0], X[1]))
    promptly(lambda: exact.transport(X[0], X[1]))
    assert 0 <= wfre.distance(X[0], X[1]) == wfre.distance(X[0], X[1])
    wide = numpy.tile(X[0, :6000], (12, 200))  # rows of a million numbers
    promptly(lambda: wfre.distance(wide, wide[::-1], kind="hellinger"))


@arrays
def test_interrupt_solve():
    places, mass = numpy.linspace(0, 1, 1500), numpy.ones(1500)
    promptly(lambda: wfre.solve((mass, places), (mass, places), iterations=100000))
    few = (mass[:60], places[:60])
    promptly(lambda: wfre.solve(few, few, iterations=100000))
    again = [wfre.solve(few, few, iterations=20).dual for _ in range(2)]
    assert again[0] == again[1]


def test_interrupt_files(tmp_path):
    """Saving and checking, which a large graph or model makes long, leave nothing behind."""
    g = wfre.import_triples((f"e{i}", "r", f"e{i * 7 % 300000}") for i in range(300000))
    m = wfre.train(g, steps=1, dim=100, batch=8, validate=0, calibrate=0)
    for work in (
        lambda: g.save(tmp_path / "g.kg"),
        lambda: m.save(tmp_path / "m.safetensors"),
        lambda: m.save(tmp_path / "m.safetensors", bf16=True),
        g.validate,
        m.validate,
    ):
        stopped(work)
    assert os.listdir(tmp_path) == []
    g.save(tmp_path / "g.kg")
    g.validate()
    m.validate()


def stopped(work):
    """That what takes too little time to be interrupted by a signal looks whether to stop at all."""
    native, looks = wfre._native, []

    def interrupt(context):
        looks.append(True)
        raise KeyboardInterrupt

    look = native.ffi.callback("bool(void *)", interrupt, error=True, onerror=native._keep)
    cancel = native._cancels.free[-1] if native._cancels.free else native.new_cancel()
    if not native._cancels.free:
        native._cancels.all.append(cancel)
        native._cancels.free.append(cancel)
    native.lib.wfre_cancel_watch(cancel, look, native.NULL)
    try:
        time.sleep(0.02)  # it is asked ten milliseconds behind the last time
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        native.lib.wfre_cancel_watch(cancel, native._look, native.NULL)
    assert looks


def test_interrupt_evaluate(clique, tmp_path):
    model = wfre.train(clique, steps=1, dim=40, batch=8, validate=0, calibrate=0)
    lines = "".join(f"1p\t(p,#0,(e,#{i % 1000}))\t\t{(i * 7) % 1000}\n" for i in range(200000))
    path = tmp_path / "q.tsv"
    path.write_text(lines)
    opened = wfre.QuerySet(path, clique)
    promptly(lambda: wfre.evaluate(clique, model, opened, way="embedding exhaustive"))


@arrays
def test_interrupt_anywhere():
    """Whenever Ctrl-C comes, nothing of it is left for later calls."""
    X = numpy.random.default_rng(1).random((300, 100), dtype=numpy.float32)
    scores = wfre.Scores(X)
    expected = scores.distances(X[0]).tolist()
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for i in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + i * 5e-6)
                scores.distances(X[:20])
                scores.nearest(X[0], 3)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert wfre._native.lib.wfre_cancel_here(wfre._native.NULL) == wfre._native.NULL
    assert scores.distances(X[0]).tolist() == expected


@arrays
def test_interrupt_at_the_worst_moment(monkeypatch):
    """Right behind the call that puts the wish to stop in force."""
    native = wfre._native
    real = native.lib

    class Late:
        raised = False

        def __getattr__(self, name):
            return getattr(real, name)

        def wfre_cancel_here(self, cancel):
            before = real.wfre_cancel_here(cancel)
            if not Late.raised:
                Late.raised = True
                raise KeyboardInterrupt
            return before

    X = numpy.random.default_rng(1).random((30, 100), dtype=numpy.float32)
    scores = wfre.Scores(X)
    monkeypatch.setattr(native, "lib", Late())
    with pytest.raises(KeyboardInterrupt):
        scores.distances(X[0])
    assert real.wfre_cancel_here(native.NULL) == native.NULL


def test_timeout(clique):
    start = time.monotonic()
    with pytest.raises(wfre.Timeout):
        clique.ask(HARD, timeout="100ms")
    with pytest.raises(TimeoutError):
        clique.sparql("SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }", timeout=0.1)
    assert time.monotonic() - start < 30


def test_handlers_may_ask(clique):
    """A signal handler that asks while a question is under way gets a session of its own."""
    seen = []

    class Enough(Exception):
        pass

    def handler(number, frame):
        seen.append(clique.ask("?x : r(n1, ?x)").proven)
        raise Enough

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            clique.ask(HARD)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert seen == [clique.ask("?x : r(n1, ?x)").proven]


@arrays
def test_handlers_may_use_the_threads():
    """A signal handler may use the pool of threads that the work it came into is using."""
    X = numpy.random.default_rng(1).random((3000, 400), dtype=numpy.float32)
    scores, found = wfre.Scores(X), []

    class Enough(Exception):
        pass

    def handler(number, frame):
        found.append(scores.nearest(X[7], 1).ids.tolist())
        raise Enough

    old = signal.signal(signal.SIGALRM, handler)
    wfre.set_threads(2)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            while True:
                scores.nearest(X, 3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        wfre.set_threads(0)
    assert found == [[7]]


def test_callbacks_may_ask(graph):
    seen = []
    wfre.train(
        graph,
        steps=3,
        dim=20,
        batch=16,
        validate=0,
        calibrate=0,
        callback=lambda step: seen.append(graph.ask("?x : knows(p1, ?x)").proven),
    )
    assert seen == [["p2"]] * 3


# ---- threads --------------------------------------------------------------------------------


def test_eight_threads(graph, model):
    questions = [f"?x : knows(p{i}, ?y) & trusts(?y, ?x)" for i in range(40)]
    expected = [[p.score for p in graph.ask(q, model).predicted] for q in questions]
    wrong, done = [], []

    def work(number):
        for round_ in range(5):
            for i in range(number, number + 40):
                q = questions[i % 40]
                if [p.score for p in graph.ask(q, model).predicted] != expected[i % 40]:
                    wrong.append((number, q))
        done.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(8)) and wrong == []


def test_threads_close(files):
    """Closing in one thread what others use gives them an exception, never a crash."""
    for _ in range(10):
        g, m = wfre.open(files / "g.kg"), wfre.Model(files / "m.safetensors")
        ended = []

        def work():
            try:
                while True:
                    g.ask("?x : knows(p1, ?x)", m)
            except wfre.Closed:
                ended.append(True)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        m.close()
        g.close()
        for thread in threads:
            thread.join()
        assert ended == [True] * 4


def test_the_gil_is_free(clique):
    """Python runs while C works."""
    ticks = []

    def work():
        with pytest.raises(wfre.Timeout):
            clique.ask(HARD, timeout=0.5)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.005)
    assert len(ticks) > 10


# ---- forks ----------------------------------------------------------------------------------


def in_child(work):
    """What ``work`` returns in a forked child: its exit code."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.alarm(120)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_fork(files, graph, model):
    opened, trained = wfre.open(files / "g.kg"), wfre.Model(files / "m.safetensors")
    question = "?x : knows(p1, ?y) & knows(?y, ?x)"
    expected = [p.score for p in opened.ask(question, trained).predicted]
    answers = opened.ask(question, trained)

    def works():
        if [p.score for p in opened.ask(question, trained).predicted] != expected:
            return 1
        return 0 if numpy is None or wfre.distance([0.1] * 5, [0.2] * 5) > 0 else 2

    def refuses():
        try:
            graph.ask(question)
        except wfre.Unsupported:
            pass
        else:
            return 1
        try:
            opened.ask(question, model)
        except wfre.Unsupported:
            return 0
        return 2

    def collects():
        nonlocal answers, opened, trained
        answers = opened = trained = None
        gc.collect()
        return 0

    assert in_child(works) == 0
    assert in_child(refuses) == 0
    assert in_child(collects) == 0
    assert [p.score for p in opened.ask(question, trained).predicted] == expected


def test_fork_with_a_query(files, graph):
    """A query of a graph from a file is read again in the child, answers stay as they are; a query
    of a graph in memory is refused."""
    opened, trained = wfre.open(files / "g.kg"), wfre.Model(files / "m.safetensors")
    query, kept = opened.query("(p,knows,(e,p3))", "tree"), graph.query("?x : knows(p3, ?x)")
    answers = opened.ask(query, trained, split="train")
    found = [str(e) for e in answers]

    def child():
        if opened.ask(query).proven != ["p4"] or query.tree != "(p,knows,(e,p3))":
            return 1
        if [str(e) for e in answers] != found or not str(answers.explain()):
            return 2
        if opened.rows(query)[0].values != ("p4",):
            return 3
        try:
            kept.tree
        except wfre.Unsupported:
            return 0
        return 4

    assert in_child(child) == 0
    assert opened.ask(query).proven == ["p4"] == graph.ask(kept).proven


def test_fork_while_a_lock_is_held(files):
    """A fork while another thread makes or counts threads leaves the child free to do so."""
    native = wfre._native
    opened = wfre.open(files / "g.kg")
    held, done = threading.Event(), threading.Event()

    def hold():
        with native._pool_lock, opened._lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()

    def child():
        wfre.set_threads(2)
        return 0 if opened.ask("?x : knows(p3, ?x)").proven == ["p4"] and native.pool() else 1

    try:
        assert in_child(child) == 0
    finally:
        done.set()
        thread.join()


def test_multiprocessing(files):
    """A pool of processes, started either way, gets files and gives names."""
    code = """
import multiprocessing, sys, wfre
g = wfre.open(sys.argv[1])
def work(i):
    return g.ask(f"?x : knows(p{i}, ?x)").proven
if __name__ == "__main__":
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            assert pool.map(work, range(8)) == [[f"p{i + 1}"] for i in range(8)], how
"""
    path = files / "work.py"
    path.write_text(code)
    subprocess.run([sys.executable, str(path), str(files / "g.kg")], check=True, timeout=240)


# ---- memory ---------------------------------------------------------------------------------


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_no_leak(graph):
    """100,000 questions, and everything else that is made and let go of again and again."""
    questions = [f"?x : knows(p{i % 40}, ?x) & !trusts(p{i % 7}, ?x)" for i in range(100)]

    def some(rounds):
        for i in range(rounds):
            for answers in graph.ask(questions):
                answers.proven
            for j in range(10):
                graph.ask(questions[j]).proven
            with pytest.raises(wfre.NotFound):
                graph.ask("?x : nows(?x, p1)")
            graph.query(questions[0]).tree
            if i % 20 == 0:
                graph.sparql("SELECT ?x { ?x r:knows e:p1 }")
                wfre.import_triples([("a", "r", "b")]).ask("?x : r(?x, b)")

    some(100)
    before = resident()
    some(910)  # over 100,000 questions
    grown = resident() - before
    assert grown < 4 << 20, f"{grown} bytes more after 100,000 questions"


@arrays
def test_no_leak_of_predictions(graph, model):
    X = numpy.random.default_rng(1).random((50, 20), dtype=numpy.float32)

    def some(rounds):
        for i in range(rounds):
            answers = graph.ask(f"?x : knows(p{i % 40}, ?x)", model, split="train")
            answers.explain()
            scores = wfre.Scores(X)
            scores.nearest(X[:3], 4)
            wfre.transport(X[0], X[1])
            model.embeddings[0]

    some(200)
    before = resident()
    some(1500)
    grown = resident() - before
    assert grown < 8 << 20, f"{grown} bytes more"


def test_any_order_of_collection(files):
    """Whatever is let go of first, what is left works."""
    import itertools

    for order in itertools.permutations(range(4)):
        g, m = wfre.open(files / "g.kg"), wfre.Model(files / "m.safetensors")
        a = g.ask("?x : knows(p1, ?x)", m)
        e = a.explain()
        things = [g, m, a, e]
        del g, m, a, e
        for i in order:
            things[i] = None
            gc.collect()
            for thing in things:
                if isinstance(thing, wfre.Explanation):
                    str(thing)
                elif isinstance(thing, wfre.Answers):
                    assert len(list(thing)) == 11
    cycle = {}
    for name in ("g", "m"):
        cycle[name] = cycle
    cycle["graph"] = wfre.open(files / "g.kg")
    cycle["answers"] = cycle["graph"].ask("?x : knows(p1, ?x)")
    cycle["query"] = cycle["graph"].query("?x : knows(p1, ?x)")
    del cycle
    gc.collect()
