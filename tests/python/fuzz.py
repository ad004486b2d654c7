"""fuzz.py CALLS [SEED]: random calls of everything public, with good and bad arguments in any order.

Whatever is called with whatever, it returns or raises an Exception; the process never crashes. A
timer interrupts calls in the middle. fuzz.sh runs it under ASan.
"""
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
SKIP = {"__class__"}
PUBLIC = [n for n in wfre.__all__ if n != "torch_distance"]  # torch does not load under ASan


class Fuzzer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.things = []
        self.fresh()

    def fresh(self):
        """Something that works, so that good calls happen, too."""
        graph = wfre.import_triples(ring(), holdout=0.1)
        model = wfre.train(graph, steps=3, dim=20, batch=16, validate=0, calibrate=5)
        graph.save("g.kg")
        model.save("m.safetensors")
        answers = graph.ask("?x : knows(p1, ?x)", model, split="train")
        self.things = [graph, model, answers, answers.explain(), graph.sample(types="1p", count=2),
                       graph.query("?x : knows(?x, p1)"), wfre.Score(20), wfre.Scores(ROWS),
                       wfre.open("g.kg"), wfre.Model("m.safetensors"), graph.entities, graph.entity("p1"),
                       graph.relation("knows"), wfre.transport(ROWS[0], ROWS[1])]

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
        names = [n for n in dir(type(thing)) if n not in SKIP and (not n.startswith("__") or n in (
            "__len__", "__iter__", "__getitem__", "__contains__", "__repr__", "__str__", "__enter__", "__exit__", "__reduce__"))
            and not n.startswith("_") or n in ("_repr_html_", "_repr_svg_")]
        return getattr(thing, self.random.choice(names or ["__doc__"]))

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
        except Exception:  # all of these are fine; a crash is not
            pass
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
                sys.stderr.write(f"\n{i + 1:,} calls\n")
        os.chdir("/")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
