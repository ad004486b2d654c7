"""fuzz.py CALLS [SEED]: calls of everything public, with good and bad arguments in any order.

Whatever is called with whatever, it returns or raises an Exception; the process never crashes. First
each function, class, method and property is called with good arguments, where it is known what is
good for a parameter of its name, and with each of them in turn left out, None or of a wrong type:
before and after what it belongs to is closed. Then come random calls; a timer interrupts them in the
middle. fuzz.sh runs it under ASan.

A crash is told by faulthandler with the line of the call; $WFRE_FUZZ_LOG names a file that gets every
call before it is made.
"""
import collections
import gc
import inspect
import os
import random
import signal
import sys
import tempfile

import numpy

import wfre

try:
    import pandas  # noqa: F401  # an import that the timer interrupts leaves other people's modules broken
except ImportError:
    pass


class Late(Exception):
    """Raised by the timer, wherever the call is."""


def ring():
    return [(f"p{i}", "knows" if s == 1 else "trusts", f"p{(i + s) % 30}") for i in range(30) for s in (1, 2)]


TEXTS = [
    "", "p1", "knows", "knows^-1", "x\0y", "\ud800", "ü" * 300, "?x : knows(?x, p1)", "?x : knows(p1, ?y) & !trusts(?y, ?x)",
    "?x : (", "SELECT ?x { ?x r:knows ?y }", "ASK {}", "(p,#0,(e,#1))", "train", "all", "edges", "embedding exhaustive",
    "wfr", "l2", "paper", "betae", "1p 2p", "g.kg", "m.safetensors", "q.tsv", "nt", "ttl", "10ms", "none/such",
    "?x, ?y : knows(?x, ?y)", "knows(p1, p2)", "?r(p1, ?x)", "CONSTRUCT { ?x ?p ?y } WHERE { ?x ?p ?y }", "strict",
]
NUMBERS = [0, 1, -1, 2, 3, 7, 10, 20, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -(2**63), 10**30, 0.0, 0.5, -0.5, 1.5,
           float("nan"), float("inf"), 1e300, True, False]
ROWS = numpy.random.default_rng(1).random((12, 20), dtype=numpy.float32)
ARRAYS = [
    ROWS, ROWS[0], ROWS[:, :10], ROWS[::2], ROWS[::-1], ROWS.T, ROWS.astype("float64"), ROWS[:0], ROWS[0, :0], ROWS[0, ::2],
    ROWS * 2, ROWS - 1, ROWS * numpy.nan, numpy.array(0.5), numpy.zeros((2, 3, 20), "f4"), numpy.array(["a"]),
    numpy.array([0, 5, 11]), numpy.array([0, 99]), numpy.array([-1]), numpy.array([None, 1]), numpy.broadcast_to(ROWS[0], (5, 20)),
    numpy.asfortranarray(ROWS), numpy.empty(12, "f4"), numpy.empty((12, 12), "f4"), [0.1] * 20, [[0.1] * 20] * 2, [0.1, "x"],
    memoryview(ROWS), range(20), b"0123456789",
]
OTHERS = [None, (), [], {}, object(), print, int, b"bytes", lambda *a: None, [("a", "r", "b")], [("a", "r")], [("a", 1, "b")],
          ["?x : knows(?x, p1)", "?x : ("], ["?x : knows(?x, p1)", 3], [("a", "r", "b", "c")], ["abc"], {"p1": "Ann"}, iter([("a", "r", "b")])]
PUBLIC = ["open"] + [n for n in wfre.__all__ if n != "torch_distance"]  # torch does not load under ASan


WRONG = [None, 3, -1, 2.5, float("nan"), True, "", "nobody", b"bytes", object(), [], [None], (1, 2), {}, {None: None},
         int, print, ROWS, 2**64, [[]], lambda *a: None]
SPECIAL = ("__len__", "__iter__", "__getitem__", "__contains__", "__repr__", "__str__", "__enter__", "__exit__", "__reduce__",
           "__bool__", "_repr_html_", "_repr_svg_")


def public(kind):
    """Names of what can be called or read of a thing of some kind."""
    known = dir(str) if issubclass(kind, str) else ()  # methods of str are Python's own
    return [n for n in dir(kind) if (not n.startswith("_") and n not in known) or n in SPECIAL]


class Sweep:
    """Every call with each of its arguments wrong in every way."""

    def __init__(self, log):
        self.log = log
        self.counts = collections.Counter()

    def good(self, owner, name, kept):
        """An argument that is fine for a parameter; raises KeyError if none is known."""
        values = {
            "graph": kept["graph"], "model": kept["model"], "queries": kept["queries"], "score": kept["score"],
            "question": "?x : knows(p1, ?x)", "sentence": "knows(p1, p2)", "query": "SELECT * { ?s ?p ?o }",
            "text": "?x : knows(?x, p1)", "entity": "p1", "relation": "knows", "head": "p1", "tail": "p2", "name": "p1",
            "triples": [("p1", "knows", "p5")], "path": "out", "paths": "in.tsv", "folder": "report", "left": ROWS[0],
            "right": ROWS[1], "rows": ROWS, "dimension": 20, "k": 2, "count": 1, "index": 0, "types": "1p", "split": "all",
            "callback": print, "entities": "p1", "value": "p1", "message": "x", "key": 0, "kind": "any", "steps": 1,
        }
        if name == "queries" and isinstance(owner, wfre.Scores):
            return ROWS[:2]
        if name == "rows" and owner is wfre.Scores:
            return ROWS
        if name in ("name", "value") and isinstance(owner, wfre.Graph):
            return "p1"
        return values[name]

    def call(self, what, target, given, named):
        self.counts["calls"] += 1
        if self.log:
            self.log.write(f"{what} {given!r:.300} {named!r:.300}\n")
            self.log.flush()
        signal.setitimer(signal.ITIMER_REAL, 2)  # wrong is told at once, and what works is small
        try:
            made = target(*given, **named)
            str(made)
            if hasattr(made, "__next__"):
                list(made)
        except Exception as error:
            self.counts[type(error).__name__] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def sweep(self, what, owner, target, kept):
        """One function or method."""
        if not callable(target):
            return
        self.call(what, target, [], {})
        try:
            parameters = [p for p in inspect.signature(target).parameters.values()]
        except (TypeError, ValueError):
            for wrong in WRONG:
                self.call(what, target, [wrong], {})
            return
        fine = {}
        for p in parameters:
            if p.kind is p.VAR_KEYWORD or (p.default is not p.empty and p.name != "model"):
                continue
            try:
                fine[p.name] = self.good(owner, p.name, kept)
            except KeyError:
                fine[p.name] = None
        quick = {"train": {"steps": 1, "dim": 20, "batch": 8, "validate": 0, "calibrate": 0}, "sample": {"types": "1p", "count": 1}}
        base = {n: v for n, v in quick.get(what.split(".")[-1], {}).items()}
        for p in [None] + parameters:
            for wrong in WRONG if p is not None else [None]:
                for with_model in (True, False) if "model" in fine else (True,):
                    values = dict(fine, **base)
                    if not with_model:
                        values["model"] = None
                    if p is not None and p.kind is p.VAR_KEYWORD:
                        values["dim"] = wrong
                    elif p is not None:
                        values[p.name] = wrong
                    given, named = [], {}
                    for q in parameters:
                        if q.kind is q.VAR_POSITIONAL and q.name in values:
                            given.append(values.pop(q.name))
                        elif q.kind is q.POSITIONAL_ONLY and q.name in values:
                            given.append(values.pop(q.name))
                    named = {n: v for n, v in values.items()}
                    self.call(what, target, given, named)

    def run(self, things):
        """``things`` makes what there is of every kind, by name."""
        kept = things()
        for name in PUBLIC:
            self.sweep(name, getattr(wfre, name), getattr(wfre, name), kept)
        for closed in (False, True):
            kept = things()
            kinds = {}
            for thing in kept.values():
                kinds.setdefault(type(thing), thing)
            for kind, thing in kinds.items():
                for name in public(kind):
                    if closed:
                        kept["graph"].close()
                        kept["model"].close()
                    if name == "close":
                        continue
                    try:
                        target = getattr(thing, name)
                    except Exception as error:
                        self.counts[type(error).__name__] += 1
                        continue
                    self.sweep(f"{kind.__name__}.{name}", thing, target, kept)


def things():
    """One of every kind."""
    graph = wfre.import_triples(ring(), holdout=0.1)
    model = wfre.train(graph, steps=3, dim=20, batch=16, validate=0, calibrate=5)
    graph.save("g.kg")
    model.save("m.safetensors")
    with open("in.tsv", "w") as file:
        file.write("a\tr\tb\n")
    answers = graph.ask("?x : knows(p1, ?x)", model, split="train")
    queries = graph.sample("q.tsv", types="1p", count=2)
    explanation = answers.explain()
    bare = graph.ask("?x : knows(p1, ?x)")
    broken = graph.ask(["?x : ("])[0]
    kept = {
        "graph": graph, "model": model, "answers": answers, "bare": bare, "broken": broken, "explanation": explanation,
        "queries": queries, "query": graph.query("?x : knows(?x, p1)"), "score": wfre.Score(20), "scores": wfre.Scores(ROWS),
        "entities": graph.entities, "entity": graph.entity("p1"), "relation": graph.relation("knows"),
        "plan": wfre.transport(ROWS[0], ROWS[1]), "rows": graph.rows("?x, ?y : knows(?x, ?y)", model),
        "scored": graph.score([("p1", "knows", "p5")], model), "described": graph.describe("p1", model),
        "predicted": graph.predict(model, "knows"), "selected": graph.sparql("SELECT * { ?s ?p ?o }"),
        "built": graph.sparql("CONSTRUCT WHERE { ?s ?p ?o }"), "truth": graph.sparql("ASK {}"),
        "evaluation": wfre.evaluate(graph, model, queries), "links": wfre.evaluate_links(graph, model),
        "history": model.history, "reliability": model.reliability, "degrees": graph.degrees(),
        "sampled": queries[0], "error": broken.error, "explained": explanation[0] if len(explanation) else None,
    }
    if explanation and explanation[0].edges:
        kept["edge"] = explanation[0].edges[0]
    if answers.predicted:
        kept["prediction"] = answers.predicted[0]
    return {n: t for n, t in kept.items() if t is not None}


class Fuzzer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.things = []
        self.counts = collections.Counter()
        self.fresh()

    def fresh(self):
        """Something that works, so that good calls happen, too."""
        self.things = list(things().values()) + [wfre.open("g.kg"), wfre.Model("m.safetensors")]

    def value(self, depth=0):
        pick = self.random.random()
        if pick < 0.35:
            return self.random.choice(self.things)
        if pick < 0.6:
            return self.random.choice(TEXTS)
        if pick < 0.75:
            return self.random.choice(NUMBERS)
        if pick < 0.87:
            return self.random.choice(ARRAYS)
        if pick < 0.95 or depth > 1:
            return self.random.choice(OTHERS)
        return [self.value(depth + 1) for _ in range(self.random.randrange(3))]

    def target(self):
        """A public function, class, method or property."""
        if self.random.random() < 0.35:
            return getattr(wfre, self.random.choice(PUBLIC))
        thing = self.random.choice(self.things)
        return getattr(thing, self.random.choice(public(type(thing)) or ["__doc__"]))

    def good(self, name):
        """An argument that a parameter of this name may well take."""
        likely = {
            "graph": wfre.Graph, "model": wfre.Model, "queries": wfre.QuerySet, "score": wfre.Score,
        }.get(name)
        fitting = [t for t in self.things if likely and isinstance(t, likely)]
        if fitting:
            return self.random.choice(fitting)
        if name in ("left", "right", "rows", "queries"):
            return self.random.choice(ARRAYS[:4])
        if name in ("steps", "count", "dim", "batch", "k", "top", "iterations"):
            return self.random.choice([1, 2, 5, 20])
        return None

    def call(self):
        target = self.target()
        if not callable(target):
            return target
        try:
            parameters = list(inspect.signature(target).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        given, named = [], {}
        for p in parameters:
            value = self.good(p.name) if self.random.random() < 0.6 else None
            if value is None:
                value = self.value()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                if p.default is p.empty or self.random.random() < 0.3:
                    given.append(value)
                else:
                    break
            elif p.kind == p.KEYWORD_ONLY and self.random.random() < 0.25:
                named[p.name] = value
            elif p.kind == p.VAR_KEYWORD and self.random.random() < 0.2:
                named[self.random.choice(["dim", "batch", "kind", "block", "seed", "nothing"])] = value
        if not parameters:
            given = [self.value() for _ in range(self.random.randrange(3))]
        return target(*given, **named)

    def step(self):
        signal.setitimer(signal.ITIMER_REAL, self.random.choice([0.01, 0.05, 0.3]))
        try:
            made = self.call()
            str(made)
            if type(made).__module__.startswith("wfre") and not isinstance(made, type):
                self.things.append(made)
            self.counts["returned"] += 1
        except Exception as error:  # all of these are fine; a crash is not
            self.counts[type(error).__name__] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def main(calls, seed):
    def late(number, frame):
        raise Late

    signal.signal(signal.SIGALRM, late)
    sys.setrecursionlimit(500)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr = open(os.devnull, "w")  # of bars of progress; faulthandler and ASan have their own
        log = os.environ.get("WFRE_FUZZ_LOG")
        sweep = Sweep(open(log, "w") if log else None)
        sweep.run(things)
        sys.__stderr__.write(f"\nswept: {told(sweep.counts)}\n")
        fuzzer = Fuzzer(seed)
        for i in range(calls):
            try:
                fuzzer.step()
            except Late:
                pass
            if i % 200 == 199:
                try:
                    fuzzer.fresh()
                except Late:
                    pass
                gc.collect()
            if i % 10000 == 9999:
                sys.__stderr__.write(f"\n{i + 1:,} calls\n")
        sys.__stderr__.write(f"\nrandom: {told(fuzzer.counts)}\n")
        os.chdir("/")


def told(counts):
    """What calls came to, most first."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
