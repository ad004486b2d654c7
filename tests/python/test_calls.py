"""Wrong types and wrong orders of calls give exceptions, never a crash."""
import os
import pathlib
import subprocess
import sys

import pytest

import wfre

try:
    import numpy
except ImportError:  # then what needs no arrays is tested
    numpy = None
arrays = pytest.mark.skipif(numpy is None, reason="no numpy")
X = numpy and numpy.random.default_rng(1).random((6, 20), dtype=numpy.float32)


@arrays
def test_wrong_types(graph, model):
    for wrong in (None, 3, 1.5, b"?x : knows(?x, p1)", object(), {3: 4}):
        with pytest.raises((TypeError, wfre.Error)):
            graph.ask(wrong)
        with pytest.raises((TypeError, wfre.Error)):
            graph.sparql(wrong)
        with pytest.raises((TypeError, wfre.Error)):
            graph.ask("?x : knows(?x, p1)", wrong if wrong is not None else "model")
        with pytest.raises((TypeError, wfre.Error)):
            graph.relation(wrong if wrong != 3 else 99)
        with pytest.raises((TypeError, ValueError)):
            wfre.import_triples([wrong])
        with pytest.raises((TypeError, ValueError)):
            wfre.Scores(wrong)
        with pytest.raises(TypeError):
            wfre.train(wrong)
        with pytest.raises((TypeError, wfre.NotFound)):
            wfre.evaluate(graph, model, wrong)
    for text in ("x\0y", "\ud800", "?x : knows(?x, \0)"):
        with pytest.raises(Exception):
            graph.ask(text)
    with pytest.raises(ValueError):
        wfre.open("x\0y")
    with pytest.raises(wfre.ArgumentError):
        graph.ask("?x : knows(?x, p1)", split="tomorrow")
    with pytest.raises(wfre.ArgumentError):
        graph.ask("?x : knows(?x, p1)", model, way="magic")
    for bad in (-1, 2**70, "many"):
        with pytest.raises((TypeError, wfre.ArgumentError), match="^top must be"):
            graph.ask("?x : knows(?x, p1)", model, top=bad)
    for bad in (-1, "soon", float("nan"), float("inf")):
        with pytest.raises(ValueError):
            graph.ask("?x : knows(?x, p1)", timeout=bad)
    with pytest.raises(wfre.NotFound):
        graph.targets(40, "knows")
    with pytest.raises(wfre.NotFound):
        graph.targets(-1, 0)
    with pytest.raises(IndexError):
        graph.entities[40]
    with pytest.raises(wfre.NotFound):
        graph.entity(True)


@arrays
def test_wrong_numbers(graph, model):
    """A message names the argument; numbers that are none are not rounded to some."""
    calls = {
        "top": lambda v: graph.ask("?x : knows(?x, p1)", model, top=v),
        "derivations": lambda v: graph.ask("?x : knows(?x, p1)").explain("p0", derivations=v),
        "most": lambda v: graph.rows("?x : knows(?x, p1)", most=v),
        "missing": lambda v: graph.describe("p1", model, missing=v),
        "limit": lambda v: graph.find("p", limit=v),
        "count": lambda v: graph.sample(types="1p", count=v),
        "seed": lambda v: wfre.import_triples([("a", "r", "b")], seed=v),
        "steps": lambda v: wfre.train(graph, steps=v),
        "k": lambda v: wfre.Scores(X).nearest(X[0], v),
        "dimension": wfre.Score,
        "the number of threads": wfre.set_threads,
    }
    for name, call in calls.items():
        for wrong in (-1, 2**70):
            with pytest.raises(wfre.ArgumentError, match=f"^{name} must be between"):
                call(wrong)
        for wrong in ("3", 2.5, numpy.float32(3.7), None, [1]):
            if name == "steps" and wrong is None:
                continue
            with pytest.raises(TypeError, match=f"^{name} must be a whole number"):
                call(wrong)
    assert len(graph.ask("?x : knows(?x, p1)", model, top=numpy.int64(3)).predicted) == 3
    for wrong in (-0.1, 1.1, float("nan")):
        for name in ("min_probability", "missing_rate"):
            with pytest.raises(wfre.ArgumentError, match=f"^{name} must be between 0 and 1"):
                graph.ask("?x : knows(?x, p1)", model, **{name: wrong})
            with pytest.raises(wfre.ArgumentError, match=f"^{name} must be between 0 and 1"):
                graph.predict(model, "knows", **{name: wrong})
        with pytest.raises(wfre.ArgumentError, match="share to hold out"):
            wfre.import_triples([("a", "r", "b")], holdout=wrong)


def test_wrong_things(graph, model):
    """What is no graph, no model, no name or no triple is told by its type."""
    for wrong in (None, "x", model):
        for use in (
            wfre.train,
            wfre.train_settings,
            lambda g: wfre.evaluate(g, model, "q.tsv"),
            lambda g: wfre.evaluate_links(g, model),
            lambda g: model.calibrate(g, "q.tsv"),
            lambda g: wfre.QuerySet("q.tsv", g),
            lambda g: wfre.Query(g, "?x : knows(?x, p1)"),
        ):
            with pytest.raises(TypeError, match="a graph must be a wfre.Graph, not"):
                use(wrong)
    for wrong in (None, "x", graph):
        for use in (
            lambda m: wfre.evaluate(graph, m, "q.tsv"),
            lambda m: wfre.evaluate_links(graph, m),
            lambda m: graph.add(m, [("new", "knows", "p1")]),
        ):
            with pytest.raises(TypeError, match="a model must be a wfre.Model, not"):
                use(wrong)
    with pytest.raises(TypeError, match="entities are given by name or number, not by list"):
        graph.ask("?x : knows(?x, p1)").explain(["p0"])
    with pytest.raises(TypeError, match="relations are given by name or number, not by float"):
        graph.relation(1.0)
    with pytest.raises(wfre.ArgumentError, match="triple 1 must be a head, a relation and a tail"):
        graph.score([("p1", "knows", "p2"), ("p1", "knows")])
    for wrong in ({"a": 5}, {5: "a"}):
        with pytest.raises(TypeError, match="labels must be str"):
            wfre.import_triples([("a", "r", "b")], labels=wrong)


@arrays
def test_wrong_arrays():
    score, scores = wfre.Score(20), wfre.Scores(X)
    for wrong in (X * 2, X - 1, X * numpy.nan):
        with pytest.raises(wfre.NumericError):
            score.distance(wrong, X)
        with pytest.raises(wfre.NumericError):
            scores.nearest(wrong, 1)
    for wrong in (X[:, :10], numpy.zeros((2, 2, 20)), 0.5, numpy.zeros(0)):
        with pytest.raises(ValueError):
            score.distance(wrong, X[0])
    with pytest.raises(ValueError):
        score.distance(X, X[:3])
    with pytest.raises(TypeError):
        score.distance(numpy.array(["a"] * 20), X[0])
    for among in ([6], [-1], [[0]], [0.5], ["x"]):
        with pytest.raises((TypeError, LookupError, ValueError)):
            scores.nearest(X[0], 1, among=among)
    for out in (numpy.empty(5, "f4"), numpy.empty(6), numpy.empty((6, 2), "f4")[:, 0], [0] * 6):
        with pytest.raises(ValueError):
            scores.distances(X[0], out=out)
    frozen = numpy.empty(6, "f4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        scores.distances(X[0], out=frozen)
    with pytest.raises(ValueError):
        scores.nearest(X[0], -1)
    with pytest.raises(ValueError):
        wfre.Score(21)
    with pytest.raises(ValueError):
        wfre.Score(20, kind="magic")
    for wrong in (dict(block=0), dict(iterations=0), dict(radius=-1), dict(epsilon=0), dict(floor=2)):
        with pytest.raises(ValueError):
            wfre.Score(20, **wrong)
    with pytest.raises(ValueError):
        wfre.transport(X, X)
    with pytest.raises(wfre.Unsupported):
        wfre.transport(X[0], X[1], kind="l2")
    with pytest.raises(TypeError):
        wfre.Scores(X, score=score, kind="l2")
    with pytest.raises(ValueError):
        wfre.solve(([1.0], [0.0, 1.0]), ([1.0], [0.0]))


@arrays
def test_wrong_order(files):
    g, m = wfre.open(files / "g.kg"), wfre.Model(files / "m.safetensors")
    q = g.query("?x : knows(?x, p1)")
    a = g.ask(q, m)
    entity = g.entity("p1")
    g.close()
    for use in (
        lambda: g.ask("?x : knows(?x, p1)"),
        lambda: g.entities,
        lambda: g.sparql("ASK {}"),
        lambda: g.save("x.kg"),
        lambda: g.predict(m, "knows"),
        lambda: entity.label,
        lambda: a.proven,
        lambda: a.explain(),
        lambda: wfre.evaluate_links(g, m),
        lambda: wfre.train(g, steps=1),
        lambda: g.__enter__(),
    ):
        with pytest.raises(wfre.Closed):
            use()
    g = wfre.open(files / "g.kg")
    m.close()
    for use in (lambda: m.embeddings, lambda: g.ask("?x : knows(?x, p1)", m), lambda: m.settings):
        with pytest.raises(wfre.Closed):
            use()
    for kind in (wfre.Graph, wfre.Model, wfre.QuerySet, wfre.Query):
        with pytest.raises((wfre.Closed, AttributeError)):
            str(kind.__new__(kind)._use())
    other = wfre.import_triples([("a", "knows", "b"), ("b", "knows", "c")])
    with pytest.raises(wfre.Mismatch):
        other.ask("?x : knows(?x, b)", wfre.Model(files / "m.safetensors"))


def test_bad_files(tmp_path):
    bad = tmp_path / "bad"
    bad.write_bytes(b"\x93wfre nothing" * 100)
    with pytest.raises(wfre.Error):
        wfre.open(bad)
    with pytest.raises(wfre.Error):
        wfre.Model(bad)
    with pytest.raises(wfre.Error):
        wfre.QuerySet(bad, wfre.import_triples([("a", "r", "b")]))
    with pytest.raises(wfre.NotFound):
        wfre.import_triples([("a", "r", "b")]).save(tmp_path / "no" / "such" / "g.kg")
    with pytest.raises(OSError):
        wfre.import_triples([("a", "r", "b")]).save("/dev/full/g.kg")
    with pytest.raises(wfre.Error):
        wfre.import_file(tmp_path / "missing.ttl")


def test_no_paths(graph, model, tmp_path):
    """What is no path is refused at once, whatever was to be done with it."""
    queries = graph.sample(tmp_path / "q.tsv", types="1p", count=2)
    found = wfre.evaluate(graph, model, queries)
    for wrong in (None, 3, ["x"], object()):
        for use in (
            wfre.open,
            wfre.Model,
            wfre.import_file,
            graph.save,
            graph.export,
            model.save,
            found.report,
            lambda path: wfre.QuerySet(path, graph),
        ):
            with pytest.raises(TypeError, match="must be a str or an os.PathLike"):
                use(wrong)
    with pytest.raises(TypeError, match="import_triples"):
        wfre.import_file([("a", "r", "b")])
    raw = os.fsencode(tmp_path / "raw.safetensors")
    trained = wfre.train(graph, raw, steps=1, dim=20, batch=8, validate=0, calibrate=0)
    assert trained.path == os.fsdecode(raw)


def test_import_is_checked(tmp_path):
    """A library of another version, or none, is refused when the module is imported."""
    code = "import wfre"
    for library in ("/nowhere/libwfre.so", "libc.so.6"):
        found = subprocess.run(
            [sys.executable, "-c", code],
            env=dict(os.environ, WFRE_LIBRARY=library),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert found.returncode == 1 and "ImportError" in found.stderr


@arrays
def test_random_calls():
    fuzz = pathlib.Path(__file__).with_name("fuzz.py")
    found = subprocess.run([sys.executable, "-X", "faulthandler", str(fuzz), "800", "7"],
                           stderr=subprocess.PIPE, text=True)
    assert found.returncode == 0, found.stderr[-3000:]
