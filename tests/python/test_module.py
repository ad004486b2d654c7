"""Every public name does what it says."""
import copy
import doctest
import gc
import json
import math
import pickle
import sys

import pytest

import wfre

try:
    import numpy
except ImportError:  # then what needs no arrays is tested
    numpy = None
arrays = pytest.mark.skipif(numpy is None, reason="no numpy")
QUESTION = "?x : knows(p3, ?y) & knows(?y, ?x)"


@arrays
def test_doctests():
    tests = doctest.testmod(wfre)
    assert tests.attempted > 50
    assert tests.failed == 0


def test_names_are_documented():
    """Every public name, and every public method and property, has a docstring."""
    for name in wfre.__all__ + ["open"]:
        thing = getattr(wfre, name)
        assert thing.__doc__, name
        assert thing.__module__ == "wfre", name
        if not isinstance(thing, type):
            continue
        for key, value in vars(thing).items():
            function = value.fget if isinstance(value, property) else value
            if key.startswith("_") or not callable(getattr(function, "__func__", function)):
                continue
            if hasattr(tuple, key) or "itemgetter" in repr(function) or "namedtuple" in repr(function):
                continue
            if type(function).__name__ in ("_tuplegetter", "member_descriptor"):
                continue
            doc = getattr(function, "__doc__", None)
            assert doc, f"{name}.{key}"


def test_names_are_all():
    public = {n for n in vars(wfre) if not n.startswith("_")} - set(sys.modules)
    modules = {n for n in public if type(getattr(wfre, n)).__name__ == "module"}
    assert public - modules == set(wfre.__all__) | {"open"}
    names = {}
    exec("from wfre import *", names)
    assert "Graph" in names and "open" not in names  # the builtin one stays
    assert modules == {"errors"}
    assert wfre.__version__ and wfre.__commit__


# ---- graphs ---------------------------------------------------------------------------------


def test_graph(graph):
    assert len(graph.entities) == 40 and len(graph.relations) == 2
    assert graph.entities[0] == "p0" and "p0" in graph.entities
    assert graph.entities[-1].id == 39 and len(graph.entities[2:5]) == 3
    assert graph.relations[0].id == 0 and graph.relations[:][1].id == 2
    assert "knows" in graph.relations and "nobody" not in graph.entities and 3 not in graph.entities
    assert graph.count() == 80 and graph.count("knows") == 40
    assert graph.count(split="train") < graph.count(split="valid") < graph.count(split="test")
    ann = graph.entity("Ann Lee")
    assert ann == "p1" and ann.label == "Ann Lee" and ann.description == ""
    assert graph.entity(ann) == ann and graph.entity(ann.id) == ann
    assert pickle.loads(pickle.dumps(ann)) == "p1"
    knows = graph.relation("knows")
    assert knows.inverse.inverse.id == knows.id and knows.label == "knows"
    assert knows.inverse.label == "knows^-1" and pickle.loads(pickle.dumps(knows)) == "knows"
    assert graph.targets("p3", "knows") == ["p4"] == graph.targets(graph.entity("p3"), knows)
    assert graph.targets("p4", knows.inverse) == ["p3"]
    assert len(graph.sources("knows")) == 40
    assert graph.has("p3", "knows", "p4") and not graph.has("p4", "knows", "p3")
    assert repr(graph).startswith("<Graph: 40 entities")
    assert "<table>" in graph._repr_html_()
    assert isinstance(graph.fingerprint, int) and graph.attributes == 0
    assert graph.degrees().mean == 4 and graph.degrees().unconnected == 0
    assert graph.hierarchy("knows").edges == 40
    graph.validate()


@arrays
def test_triples(graph):
    ids = graph.triple_ids()
    assert ids.shape == (80, 3) and ids.dtype == numpy.uint32
    names = list(graph.triples())
    assert len(names) == 80 == len(set(names))
    by_ids = {(graph.entities[h], graph.relation(int(r)), graph.entities[t]) for h, r, t in ids.tolist()}
    assert by_ids == set(names)
    assert graph.triple_ids("train").shape[0] == graph.count(split="train")


def test_frames(graph, model):
    pandas = pytest.importorskip("pandas")
    frame = graph.to_pandas()
    assert list(frame.columns) == ["head", "relation", "tail"] and len(frame) == 80
    again = wfre.import_triples(frame)
    assert again.count() == 80
    other = frame.rename(columns={"head": "Object", "relation": "predicate", "tail": "subject"})
    turned = wfre.import_triples(other)
    h, r, t = frame.iloc[0]
    assert turned.has(t, r, h) and not turned.has(h, r, t)
    plain = pandas.DataFrame([["a", "r", "b"]], columns=["x", "y", "z"])
    assert wfre.import_triples(plain).has("a", "r", "b")
    with pytest.raises(wfre.ArgumentError):
        wfre.import_triples(plain[["x", "y"]])
    with pytest.raises(TypeError):
        wfre.import_triples(pandas.DataFrame([["a", "r", None]]))
    answers = graph.ask(QUESTION, model).to_pandas()
    assert list(answers.columns) == ["entity", "label", "status", "probability", "score"]
    assert len(graph.predict(model, "knows", top=1).to_pandas()) > 0
    assert "mrr" in wfre.evaluate_links(graph, model).to_pandas()
    assert "loss" in model.history.to_pandas()
    assert list(graph.sparql("SELECT ?s { ?s r:knows ?o }").to_pandas().columns) == ["s"]


def test_imports(tmp_path):
    path = tmp_path / "g.nt"
    path.write_text('<urn:a> <urn:r> <urn:b> .\n<urn:a> <urn:n> "Ann"@en .\n')
    g = wfre.import_file(path)
    assert g.attributes == 1 and g.count() == 1
    assert wfre.import_file(path, literals="entities").count() == 2
    assert wfre.import_file(str(path), literals="drop").attributes == 0
    kept = wfre.import_file(path, save=tmp_path / "g.kg")
    assert kept.path == str(tmp_path / "g.kg") and kept.count() == 1
    assert g.export(tmp_path / "again.nt") == 2
    assert wfre.import_file(tmp_path / "again.nt").fingerprint == g.fingerprint
    turtle = tmp_path / "g.ttl"
    turtle.write_text("@prefix ex: <urn:ex:> . ex:a ex:r ex:b .")
    assert wfre.import_file(turtle, format="ttl").prefixes["ex"] == "urn:ex:"
    comma = tmp_path / "g.csv"
    comma.write_text("tail,relation,head\nb,r,a\n")
    assert wfre.import_file(comma).has("a", "r", "b")
    splits = wfre.import_triples([("a", "r", "b")], valid=[("b", "r", "a")], test=[("a", "s", "a")])
    assert [splits.count(split=s) for s in ("train", "valid", "test", "all")] == [1, 2, 3, 3]
    labels = tmp_path / "labels.tsv"
    labels.write_text("a\tAnn\tA person\n")
    named = wfre.import_triples([("a", "r", "b")], labels=labels)
    assert named.entity("Ann").description == "A person"
    assert wfre.import_triples((t for t in [("ü", "r", "\u2028x")])).entity("ü").id == 0


def test_no_triples(tmp_path):
    """Refused unless that is wanted, which the message names as Python does."""
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    for use, given in ((wfre.import_triples, []), (wfre.import_file, empty)):
        with pytest.raises(ValueError, match="`allow_empty` takes"):
            use(given)
        g = use(given, allow_empty=True)
        assert len(g.entities) == g.count() == 0 and list(g.triples()) == []
        assert g.find("x") == [] and not g.sparql("ASK { ?s ?p ?o }")
        with pytest.raises(wfre.NotFound):
            g.entity("ann")
    saved = wfre.import_file(empty, allow_empty=True, save=tmp_path / "g.kg")
    assert saved.count() == 0 and "<table>" in saved._repr_html_()


def test_saving(graph, files):
    again = wfre.open(files / "g.kg")
    assert again.fingerprint == graph.fingerprint and again.path == str(files / "g.kg")
    loaded = pickle.loads(pickle.dumps(again))
    assert loaded.fingerprint == graph.fingerprint
    with pytest.raises(TypeError):
        pickle.dumps(graph)
    with wfre.Graph(str(files / "g.kg")) as third:
        assert third.count() == 80
    assert third.closed and repr(third) == "<Graph: closed>"
    third.close()


# ---- asking ---------------------------------------------------------------------------------


def test_ask(graph, model):
    proven = graph.ask(QUESTION)
    assert proven.proven == ["p5"] and proven.predicted == [] and proven.error is None
    both = graph.ask(QUESTION, model, top=4, split="train")
    assert len(both.predicted) == 4 and len(both) == len(both.proven) + 4
    assert "p5" in both
    best = both.predicted[0]
    assert 0 <= best.probability <= 1 and best.score >= both.predicted[1].score
    assert best.entity in graph.entities and repr(best).startswith("<p")
    assert graph.ask(QUESTION, model, min_probability=1).predicted == []
    assert graph.ask(QUESTION, model, predicted=False).predicted == []
    assert graph.ask(QUESTION, model, proven=False).proven == []
    assert list(both)[0] in (both.proven + [best.entity])
    if numpy is not None:
        assert both.proven_ids.tolist() == [e.id for e in both.proven]
    assert "<table>" in both._repr_html_() and "predicted" in str(both)
    assert json.loads(both.to_json())["predicted"]
    rates = [graph.ask(QUESTION, model, missing_rate=r).predicted[0].probability for r in (0.01, 0.5)]
    assert rates[0] <= rates[1]
    for way in ("embedding", "edges", "edges exhaustive"):
        assert len(graph.ask(QUESTION, model, way=way).predicted) == 10
    assert "2 proven" in repr(graph.ask("?x : knows(?x, ?y) & ?x = p1 | ?x = p2 & knows(?x, ?y)"))


def test_answers_are_a_sequence(graph, model):
    answers = graph.ask("?x : knows(p1, ?x) | knows(p7, ?x) | trusts(p3, ?x)", model, top=4)
    every = answers.proven + [p.entity for p in answers.predicted]
    assert len(answers.proven) == 3 and len(answers.predicted) == 4 and list(answers) == every
    assert [answers[i] for i in range(len(answers))] == every and answers[-1] == every[-1]
    assert answers[len(answers.proven)].id == answers.predicted[0].entity.id
    assert answers[:3] == every[:3] and answers[-6::2] == every[-6::2] and answers[99:] == []
    assert answers.index(every[2]) == 2 and answers.count(every[0]) == 1
    assert list(reversed(answers)) == every[::-1]
    for wrong in (len(answers), -len(answers) - 1):
        with pytest.raises(IndexError):
            answers[wrong]
    with pytest.raises(TypeError):
        answers["p1"]
    with pytest.raises(wfre.FormatError):
        graph.ask(["?x : ("])[0][0]


def test_ways(graph, model):
    for way in ("edges embedding", "embedding edges exhaustive", "magic", "edges-embedding"):
        with pytest.raises(wfre.ArgumentError, match="^way"):
            graph.ask(QUESTION, model, way=way)
    assert graph.ask(QUESTION, model, way="exhaustive-edges").predicted


def test_ask_many(graph, model):
    questions = [f"?x : knows(p{i}, ?x)" for i in range(20)] + ["?x : nows(p1, ?x)", "?x : ("]
    answers = graph.ask(questions, model, top=3)
    assert [a.proven for a in answers[:20]] == [[f"p{i + 1}"] for i in range(20)]
    for i in range(3):
        one = graph.ask(questions[i], model, top=3)
        assert [p.entity for p in one.predicted] == [p.entity for p in answers[i].predicted]
        assert [p.score for p in one.predicted] == [p.score for p in answers[i].predicted]
    assert isinstance(answers[20].error, wfre.NotFound) and answers[20].error.suggestions == ["knows"]
    assert isinstance(answers[21].error, wfre.FormatError)
    with pytest.raises(wfre.NotFound):
        answers[20].proven
    assert "no relation" in str(answers[20]) and "no relation" in repr(answers[20])
    assert "no relation" in answers[20]._repr_html_()
    assert graph.ask([], model) == []
    assert [a.proven for a in graph.ask(("?x : knows(p1, ?x)",))] == [["p2"]]


def test_query(graph, model):
    query = graph.query(QUESTION)
    assert query.type == "2p" and query.variables == ["x"] and query.not_a_tree is None
    assert query.tree == "(p,knows,(p,knows,(e,p3)))"
    assert graph.query(query.betae, "betae").tree == query.tree
    assert graph.query(query.logic).tree == query.tree
    assert graph.ask(query).proven == ["p5"] == graph.ask([query, query])[1].proven
    assert "knows" in repr(query) and query.graph is graph
    loop = graph.query("?x : knows(?x, ?y) & trusts(?y, ?z) & knows(?z, ?x)")
    assert loop.not_a_tree
    assert graph.ask(loop, model).unpredicted
    with pytest.raises(wfre.Unsupported):
        loop.tree
    with pytest.raises(wfre.Mismatch):
        wfre.import_triples([("a", "knows", "b")]).ask(query)


def test_explain(graph, model):
    explanation = graph.ask(QUESTION, model, split="train").explain()
    assert len(explanation) > 0 and isinstance(explanation.calibrated, bool)
    first = explanation[0]
    assert first.variables["x"] == first.entity and len(first.edges) == 2
    edge = first.edges[0]
    assert edge.relation in ("knows", "knows^-1") and 0 <= edge.probability <= 1
    assert edge.known in (True, False) and not edge.negated
    assert "likeliest" in str(explanation) and "Explanation" in repr(explanation)
    assert explanation._repr_svg_().startswith("<svg") or "<svg" in explanation.to_svg()
    assert json.loads(explanation.to_json())
    assert "knows" in repr(edge) and "edges" in repr(first)
    negated = graph.ask("?x : knows(p3, ?x) & !trusts(p1, ?x)", model, split="train").explain()
    assert any(e.negated for a in negated for e in a.edges)
    with pytest.raises(wfre.Error):
        graph.ask(QUESTION).explain()


def test_errors(graph):
    with pytest.raises(wfre.NotFound) as caught:
        graph.ask("?x : knöws(p1, ?x)")
    assert caught.value.offset == 5 and caught.value.suggestions == ["knows"]
    with pytest.raises(wfre.NotFound) as caught:
        graph.ask('?x : knows("ü", ?x) & nows(p1, ?x)')
    assert caught.value.offset in (11, 22)
    with pytest.raises(wfre.FormatError) as caught:
        graph.ask("SELECT ?x { ?x ?y ?z }")
    assert "sparql" in str(caught.value)
    for error in (wfre.Timeout("late"), wfre.InputOutputError("disk"), wfre.NotFound("x")):
        assert str(error) in ("late", "disk", "x") and error.status and error.message
    with pytest.raises(LookupError):
        graph.entity("nobody")
    with pytest.raises(wfre.NotFound, match="the nearest: knows") as caught:
        graph.relation("knowz^-1")
    assert caught.value.suggestions == ["knows^-1"]
    with pytest.raises(wfre.NotFound, match="unknown query type 4x") as caught:
        graph.sample(types="4x")
    assert "wfre types" not in str(caught.value)
    with pytest.raises(wfre.FormatError, match="`import_file`"):
        wfre.open(__file__)
    with pytest.raises(wfre.NotFound):
        wfre.open("/nowhere/g.kg")
    kinds = [k for k in vars(wfre).values() if isinstance(k, type) and issubclass(k, wfre.Error)]
    assert len(kinds) == 12


# ---- SPARQL, prediction, triples ------------------------------------------------------------


def test_sparql(graph, model):
    result = graph.sparql("SELECT ?x ?n { ?x r:knows e:p5 BIND(1 + 2.5 AS ?n) }")
    assert result.form == "SELECT" and result.variables == ("x", "n") and len(result) == 1
    assert result.rows == [("urn:wfre:e:p4", 3.5)] and result[0][1] == 3.5
    assert result.terms[0][1].type == "literal" and result.terms[0][0].python.endswith("p4")
    assert "<table>" in result._repr_html_() and "p4" in str(result) and bool(result)
    assert graph.sparql("SELECT (COUNT(*) AS ?n) { ?x ?p ?y }").rows == [(80,)]
    assert graph.sparql("ASK { e:p1 r:knows e:p2 }").truth is True
    assert not graph.sparql("ASK { e:p2 r:knows e:p1 }")
    built = graph.sparql("CONSTRUCT { ?y r:known ?x } WHERE { ?x r:knows ?y } LIMIT 2")
    assert built.text.count("\n") == 2 and built.form == "CONSTRUCT" and "<pre>" in built._repr_html_()
    predicted = graph.sparql(
        "PREFIX wfre: <urn:wfre:ns#> SELECT ?x ?p { SERVICE wfre:predict { "
        "[] wfre:answer ?x ; wfre:probability ?p ; wfre:top 3 . { e:p3 r:knows ?x } } }",
        model,
    )
    assert len(predicted) == 4
    with pytest.raises(wfre.FormatError) as caught:
        graph.sparql("SELECT ?x { ?x ")
    assert caught.value.offset is not None
    assert wfre.Term("literal", "x").python == "x"
    assert isinstance(result, wfre.SparqlResult)
    assert graph.sparql("SELECT ?x { OPTIONAL { ?x r:none ?y } }").rows == [(None,)]


def test_sparql_triples(graph, tmp_path):
    """A CONSTRUCT or DESCRIBE is a sequence of triples; their terms are those of a SELECT."""
    built = graph.sparql("CONSTRUCT { ?y r:known ?x } WHERE { ?x r:knows ?y } LIMIT 2")
    assert len(built) == 2 == len(list(built)) and built and "2 triples" in repr(built)
    first = built[0]
    assert isinstance(first, wfre.SparqlTriple) and first.predicate == wfre.Term("uri", "urn:wfre:r:known")
    assert first.subject.python.startswith("urn:wfre:e:p") and built[-1] == list(built)[1]
    assert built.rows[0] == tuple(t.python for t in first) and built.terms == list(built)
    none = graph.sparql("CONSTRUCT { ?x r:none ?y } WHERE { ?x r:none ?y }")
    assert len(none) == 0 and list(none) == [] and not none
    described = graph.sparql("DESCRIBE e:p1")
    assert len(described) == 2 and {t.predicate.value for t in described} == {"urn:wfre:r:knows", "urn:wfre:r:trusts"}
    assert len(graph.sparql("ASK {}")) == 0
    odd = ['a "b" \\\\ \n\r\t\x08\x0c\x7f\x01', "ü\u2028\U0001f600 <x> . _:y", "", "@en ^^<z>", "\\u0041 \\"]
    path = tmp_path / "odd.nt"
    escaped = [o.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") for o in odd]
    lines = [f'<urn:s{i}> <urn:p> "{e}"{k} .' for i, e in enumerate(escaped) for k in ("", "@en-GB", "^^<urn:t>")]
    lines += ["<urn:s0> <urn:p> _:b1 .", "_:b1 <urn:q> 'x' .".replace("'", '"'), "<urn:\\u00fc> <urn:r> <urn:o> ."]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    g = wfre.import_file(path)
    every = g.sparql("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")
    selected = g.sparql("SELECT ?s ?p ?o { ?s ?p ?o }")
    assert len(every) == len(selected) == len(lines)

    def alike(rows):  # blank nodes have names of their own in every result
        return sorted([tuple(t if t.type != "bnode" else "_" for t in row) for row in rows], key=repr)

    assert alike(every) == alike(selected.terms)
    assert {t.object.value for t in every if t.object.datatype == "urn:t"} == set(odd)
    if numpy is not None:
        pytest.importorskip("pandas")
        frame = every.to_pandas()
        assert list(frame.columns) == ["subject", "predicate", "object"] and len(frame) == len(lines)


def test_predict(graph, model):
    triples = graph.predict(model, "knows", top=2)
    assert len(triples) > 0 and triples[0].relation == "knows"
    assert not graph.has(triples[0].head, triples[0].relation, triples[0].tail)
    assert triples[0].probability >= triples[-1].probability
    assert {t.relation for t in graph.predict(model, top=1)} == {"knows", "trusts"}
    assert "<table>" in triples._repr_html_() and "PredictedTriples" in repr(triples)
    assert all(t.probability >= 0.02 for t in graph.predict(model, min_probability=0.02))


@arrays
def test_add(graph, model):
    larger, knowing = graph.add(model, [("new", "knows", "p3"), ("p1", "trusts", "new")])
    assert len(larger.entities) == 41 and knowing.embeddings.shape == (41, 40)
    assert larger.ask("?x : knows(new, ?x)", knowing, top=5).proven == ["p3"]
    with pytest.raises(wfre.NotFound):
        graph.add(model, [("new", "unheard of", "p3")])


# ---- models and evaluation ------------------------------------------------------------------


@arrays
def test_train(graph, tmp_path):
    seen = []
    path = tmp_path / "m.safetensors"
    model = wfre.train(graph, path, steps=30, dim=20, batch=32, callback=seen.append, seed=3, calibrate=20)
    assert [s.step for s in seen] == list(range(1, 31)) and seen[-1].mrr is not None
    assert model.path == str(path) and seen[0].mrr is None and seen[-1].progress == 1
    again = wfre.train(graph, steps=30, dim=20, batch=32, seed=3, calibrate=20)
    assert (again.embeddings == model.embeddings).all() and again.path is None
    more = wfre.train(graph, start=path, steps=5, dim=20, batch=32, calibrate=0)
    assert more.embeddings.shape == (40, 20)
    brief = wfre.train(graph, time=0.5, preset="small", dim=20, batch=16, validate=0, calibrate=0)
    assert brief.reliability is None and brief.measured is None and brief.history[-1]
    assert "<svg" in model.history._repr_html_() and "<svg" in model._repr_html_()
    assert model.history.to_svg() and "loss" in str(model.history)
    with pytest.raises(wfre.NotFound, match="the nearest: drop_input") as wrong:
        wfre.train(graph, drop_inputs=0.1)
    assert wrong.value.suggestions[0] == "drop_input"
    with pytest.raises(wfre.ArgumentError, match="not both"):
        wfre.train(graph, steps=1, time="1s")
    with pytest.raises(TypeError, match="callback"):
        wfre.train(graph, steps=1, callback=3)
    settings = wfre.train_settings(graph, "small", drop_input=0.25)
    assert settings["drop-input"] == "0.25"
    with pytest.raises(wfre.Error):
        wfre.train(graph, steps=1, unheard_of=3)


@arrays
def test_resume(graph, tmp_path):
    path = tmp_path / "m.safetensors"

    def stop(step):
        if step.step == 10:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        wfre.train(graph, path, steps=20, dim=20, batch=32, callback=stop, calibrate=20)
    assert not path.exists()
    for wrong in (dict(dim=40), dict(seed=2), dict(tnorm="lukasiewicz")):
        with pytest.raises(wfre.ArgumentError, match="in the interrupted run, not"):
            wfre.train(graph, path, resume=True, **wrong)
    checkpoint = tmp_path / "m.checkpoint"
    good = checkpoint.read_bytes()
    checkpoint.write_bytes(good[:100])
    with pytest.raises(wfre.Error):  # instead of starting anew over it
        wfre.train(graph, path, resume=True)
    assert checkpoint.read_bytes() == good[:100]
    checkpoint.write_bytes(good)
    with pytest.raises(wfre.ArgumentError, match="with a path"):
        wfre.train(graph, resume=True)
    resumed = wfre.train(graph, path, resume=True, calibrate=20)
    whole = wfre.train(graph, steps=20, dim=20, batch=32, calibrate=20)
    assert (resumed.embeddings == whole.embeddings).all()


def test_progress(graph, capsys):
    wfre.train(graph, steps=5, dim=20, batch=16, progress=True, validate=0, calibrate=0)
    assert "training [" in capsys.readouterr().err


@arrays
def test_model(graph, model, files, tmp_path):
    again = wfre.Model(files / "m.safetensors")
    assert (again.embeddings == model.embeddings).all()
    assert not again.embeddings.flags.writeable and again.fingerprint == graph.fingerprint
    with pytest.raises(ValueError):
        again.embeddings[0, 0] = 1
    assert again.settings["dim"] == "40" and again.parameters > 1000 and not again.unfinished
    measured = again.measured
    assert measured is not None and measured["split"] == "valid" and measured["types"]
    assert measured["links"]["mrr_low"] <= measured["links"]["mrr"] <= measured["links"]["mrr_high"]
    reliability = again.reliability
    assert len(reliability) == 10 and reliability.queries > 0 and 0 <= reliability.error <= 1
    assert reliability[0].low == 0 and "<table>" in reliability._repr_html_()
    again.validate()
    again.save(tmp_path / "small.safetensors", bf16=True)
    assert wfre.Model(tmp_path / "small.safetensors").embeddings.shape == (40, 40)
    assert pickle.loads(pickle.dumps(again)).parameters == again.parameters
    assert "40 dimensions" in repr(again) and "<p>" in again._repr_html_()
    rows = again.embeddings
    before = rows[3].copy()
    again.close()
    del again
    gc.collect()
    assert (rows[3] == before).all()


def test_evaluate(graph, model, tmp_path):
    queries = graph.sample(tmp_path / "q.tsv", types="1p 2p 3p", count=5)
    assert len(queries) > 5 and {t.name for t in queries.types} == {"1p", "2p", "3p"}
    assert len(list(queries)) == len(queries) and queries[-1].type in ("1p", "2p", "3p")
    assert queries[0].hard and "<table>" in queries._repr_html_()
    with pytest.raises(IndexError):
        queries[len(queries)]
    found = wfre.evaluate(graph, model, queries, strata=True)
    assert {row.name for row in found} == {"1p", "2p", "3p"}
    assert found.groups["all"].mrr == found.mrr and found.strata
    assert found[0].mrr_low <= found[0].mrr <= found[0].mrr_high
    assert "MRR" in str(found) and json.loads(found.to_json()) and found.method and found.seconds >= 0
    assert "MRR" in repr(found)
    found.report(tmp_path / "report", "A title")
    assert "A title" in (tmp_path / "report" / "report.html").read_text()
    again = wfre.evaluate(graph, model, tmp_path / "q.tsv", way="embedding exhaustive")
    assert again.method == "exhaustive"
    calibrated = model.calibrate(graph, queries)
    assert calibrated.reliability is not None
    with wfre.QuerySet(tmp_path / "q.tsv", graph) as opened:
        assert len(opened) == len(queries) and opened.path
    assert "closed" in repr(opened)
    with pytest.raises(wfre.Mismatch):
        wfre.evaluate(wfre.import_triples([("a", "r", "b")]), model, queries)


def test_types_of_questions(graph):
    one = graph.sample(types="1p 2p", count=3)
    for types in (["1p", "2p"], ("1p", "2p"), (t for t in ("1p", "2p"))):
        assert [q.question for q in graph.sample(types=types, count=3)] == [q.question for q in one]
    for wrong in (3, [3], b"1p", [b"1p"], object()):
        with pytest.raises(TypeError, match="^types must be a str"):
            graph.sample(types=wrong)
    with pytest.raises(wfre.Error):
        graph.sample(types=[])


@arrays
def test_start_and_queries(graph, model, tmp_path):
    """A run begins with a model and validates on a query set, given as files or as objects."""
    queries = graph.sample(tmp_path / "q.tsv", types="1p 2p", count=4)
    model.save(tmp_path / "m.safetensors")
    settings = dict(steps=5, batch=32, calibrate=0)
    objects = wfre.train(graph, start=model, queries=queries, **settings)
    files = wfre.train(graph, start=tmp_path / "m.safetensors", queries=tmp_path / "q.tsv", **settings)
    assert (objects.embeddings == files.embeddings).all()
    assert objects.embeddings.shape == (40, 40)  # the sizes of the model that it began with
    assert objects.settings["dim"] == model.settings["dim"]
    with pytest.raises(wfre.ArgumentError):
        wfre.train(graph, start=model, dim=80, **settings)
    for wrong in (3, graph, [model]):
        with pytest.raises(TypeError, match="start must be a path or a wfre.Model"):
            wfre.train(graph, start=wrong, **settings)
    for wrong in (3, model, [queries]):
        with pytest.raises(TypeError, match="queries must be a path or a wfre.QuerySet"):
            wfre.train(graph, queries=wrong, **settings)
    other = wfre.import_triples([("a", "r", "b"), ("b", "r", "a")])
    with pytest.raises(wfre.Mismatch):
        wfre.train(other, start=model, **settings)
    with pytest.raises(wfre.Mismatch):
        wfre.train(other, queries=queries, **settings)

    def close(step):
        gone.close()
        asked.close()

    gone, asked = wfre.Model(tmp_path / "m.safetensors"), wfre.QuerySet(tmp_path / "q.tsv", graph)
    wfre.train(graph, start=gone, queries=asked, callback=close, **settings)
    with pytest.raises(wfre.Closed):
        wfre.train(graph, start=gone, **settings)


def test_links(graph, model):
    links = wfre.evaluate_links(graph, model, split="test", known="valid")
    assert [row.name for row in links][:3] == ["all", "tails", "heads"]
    assert links.mrr == links[0].mrr and "MRR" in str(links) and "Links" in repr(links)
    assert links.method and links.seconds >= 0


# ---- scores ---------------------------------------------------------------------------------


def rows(count=50, width=20, seed=1):
    return numpy.random.default_rng(seed).random((count, width), dtype=numpy.float32)


@arrays
def test_distance():
    X = rows()
    score = wfre.Score(20)
    pairs = score.distance(X[:10], X[10:20])
    singles = [score.distance(X[i], X[10 + i]) for i in range(10)]
    assert pairs.tolist() == singles
    assert score.distance(X, X[0])[3] == score.distance(X[3], X[0])
    assert score.distance(X[0], X)[3] == score.distance(X[0], X[3])
    assert wfre.distance(X[0], X[1]) == score.distance(X[0], X[1])
    assert wfre.distance(X[0].tolist(), X[10].astype("float64")) == singles[0]
    wide = numpy.zeros((50, 27), numpy.float32)
    wide[:, :20] = X
    assert score.distance(wide[:10, :20], wide[10:20, :20]).tolist() == singles
    assert score.distance(X[:20:2], X[1:21:2])[1] == score.distance(X[2], X[3])
    turned = numpy.asfortranarray(X)
    assert score.distance(turned[:10], turned[10:20]).tolist() == singles
    assert score.distance(X[:0], X[0]).shape == (0,)
    assert "wfr" in repr(score) and score.kernel and score.dimension == 20
    for kind in ("local", "hellinger", "kl", "l1", "l2", "inner", "wasserstein"):
        assert math.isfinite(wfre.distance(X[0], X[1], kind=kind))
    assert wfre.Score(20, preset="paper").settings["radius"] == 3
    assert wfre.distance(X[0], X[1], iterations=3) != wfre.distance(X[0], X[1])


@arrays
def test_unaligned_rows():
    """Rows that lie at odd addresses, as records on disk do, are copied; so are those of other byte
    orders."""
    X = rows(12)
    odd = numpy.frombuffer(b"x" + X.tobytes(), "u1")[1:].view("f4").reshape(12, 20)
    packed = numpy.zeros(12, [("flag", "u1"), ("row", "f4", 20)])
    packed["row"] = X
    score, scores = wfre.Score(20), wfre.Scores(X)
    for moved in (odd, packed["row"], X.astype(">f4"), X.astype("f2").astype("f4")):
        exact = moved if moved.dtype == X.dtype and not moved.flags.aligned else moved.astype("f4")
        assert score.distance(moved[0], moved[1]) == score.distance(exact[0].copy(), exact[1].copy())
        assert (score.gradient(moved[:5], moved[5:10])[1] == score.gradient(exact[:5], exact[5:10])[1]).all()
        assert len(wfre.Scores(moved)) == 12
        assert scores.nearest(moved[3], 1).ids.tolist() == [3]
        assert wfre.transport(moved[0], moved[1]).plan.shape == (4, 5, 5)
    assert not odd.flags.aligned and not packed["row"].flags.aligned
    out = numpy.frombuffer(bytearray(12 * 4 + 1), "u1")[1:].view("f4")
    with pytest.raises(wfre.ArgumentError, match="aligned"):
        scores.distances(X[0], out=out)
    mass = numpy.frombuffer(b"x" + numpy.array([1.0, 0.5]).tobytes(), "u1")[1:].view("f8")
    assert wfre.solve((mass, [0.0, 1.0]), (mass, [0.0, 1.0])).dual == pytest.approx(
        wfre.solve(([1.0, 0.5], [0.0, 1.0]), ([1.0, 0.5], [0.0, 1.0])).dual
    )


@arrays
def test_gradient():
    X = rows(4)
    score = wfre.Score(20, iterations=200, preset="exact")
    d, du, dv = score.gradient(X[0], X[1])
    assert d == pytest.approx(score.distance(X[0], X[1])) and du.shape == dv.shape == (20,)
    step = 1e-2
    for i in (0, 7, 19):
        up, down = X[0].copy(), X[0].copy()
        up[i], down[i] = min(up[i] + step, 1), max(down[i] - step, 0)
        slope = (score.distance(up, X[1]) - score.distance(down, X[1])) / float(up[i] - down[i])
        assert slope == pytest.approx(du[i], abs=5e-3)
    many = wfre.gradient(X[:3], X[3])
    assert many[1].shape == many[2].shape == (3, 20)
    assert (many[1][0] == wfre.gradient(X[0], X[3])[1]).all()


@arrays
def test_scores():
    X = rows(200)
    scores = wfre.Scores(X)
    assert len(scores) == 200 and scores.nbytes > X.nbytes // 2 and "200 rows" in repr(scores)
    all_ = scores.distances(X[:3])
    assert all_.shape == (3, 200)
    assert all_[1].tolist() == scores.score.distance(X, X[1]).tolist()
    one = scores.distances(X[5])
    assert one.shape == (200,)
    out = numpy.empty(200, numpy.float32)
    assert scores.distances(X[5], out=out) is out and (out == one).all()
    near = scores.nearest(X[:3], 5)
    assert near.ids.shape == (3, 5) and near.ids[:, 0].tolist() == [0, 1, 2]
    order = numpy.argsort(all_[1], kind="stable")[:5]
    assert near.ids[1].tolist() == order.tolist()
    assert near.distances[1].tolist() == all_[1][order].tolist()
    some = scores.nearest(X[5], 2, among=[7, 5, 9])
    assert some.ids[0] == 5 and set(some.ids.tolist()) < {5, 7, 9}
    assert scores.distances(X[5], among=[7, 5])[1] == one[5]
    assert scores.nearest(X[5], 1000).ids.shape == (200,)
    assert scores.nearest(X[5], 0).ids.shape == (0,)
    given = wfre.Scores(X, score=wfre.Score(20, kind="l1"))
    assert given.distances(X[0])[0] == 0


@arrays
def test_transport():
    X = rows(2)
    plan = wfre.transport(X[0], X[1])
    assert plan.plan.shape == (4, 5, 5) and (plan.plan >= 0).all()
    assert plan.distance == wfre.distance(X[0], X[1])
    assert plan._repr_svg_().startswith("<svg") and "4 blocks" in repr(plan)
    assert "2 of 4 blocks" in plan.to_svg(2)
    assert (plan.left == X[0]).all() and (plan.right == X[1]).all()
    near, far = (wfre.solve(([1.0], [0.0]), ([1.0], [at])) for at in (0.5, 2.5))
    assert near.dual < far.dual and near.plan[0, 0] > far.plan[0, 0]
    with pytest.raises(wfre.ArgumentError):
        wfre.solve(([1.0], [0.0]), ([1.0], [9.0]))


@arrays
def test_torch():
    torch = pytest.importorskip("torch")
    X = torch.from_numpy(rows(6))
    left, right = X[:3].clone().requires_grad_(), X[3].clone().requires_grad_()
    score = wfre.Score(20)
    distances = wfre.torch_distance(left, right, score)
    assert distances.tolist() == score.distance(X[:3].numpy(), X[3].numpy()).tolist()
    distances.sum().backward()
    _, du, dv = score.gradient(X[:3].numpy(), X[3].numpy())
    assert torch.allclose(left.grad, torch.from_numpy(du))
    assert torch.allclose(right.grad, torch.from_numpy(dv.sum(0)))
    grid = wfre.torch_distance(X[:2, None], X[None, :3])
    assert grid.shape == (2, 3) and not grid.requires_grad
    again = X[:3].clone().requires_grad_()
    loss = (wfre.torch_distance(again, X[3], score) ** 2).sum()
    slope, = torch.autograd.grad(loss, again, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):  # not a wrong second derivative
        slope.sum().backward()
    parameters = torch.zeros(20, requires_grad=True)
    target, losses = X[0], []
    optimizer = torch.optim.Adam([parameters], 0.3)
    for _ in range(40):
        optimizer.zero_grad()
        loss = wfre.torch_distance(torch.sigmoid(parameters), target)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] and losses[-1] <= wfre.distance(target, target) + 0.005


@arrays
def test_pickles(graph, model, files, tmp_path):
    """What is plain goes through pickle and copy; what C keeps says what to pickle instead."""
    opened = wfre.open(files / "g.kg")
    X = rows(4)
    score = wfre.Score(20, kind="wfr", block=10, iterations=7, preset="exact")
    again = pickle.loads(pickle.dumps(score))
    assert again.settings == score.settings and again.distance(X[0], X[1]) == score.distance(X[0], X[1])
    assert copy.deepcopy(score).settings == score.settings
    query = pickle.loads(pickle.dumps(opened.query("(p,knows,(e,p3))", "tree")))
    assert query.graph.ask(query).proven == ["p4"]
    assert pickle.loads(pickle.dumps(opened.entities))[3] == "p3"
    assert pickle.loads(pickle.dumps(opened.relations))[0] == "knows"
    answers = graph.ask(QUESTION, model, split="train")
    kept = [wfre.Scores(X), wfre.evaluate(graph, model, graph.sample(types="1p", count=2)),
            wfre.evaluate_links(graph, model), answers, answers.explain(), graph.describe("p1", model)]
    for thing in kept:
        with pytest.raises(TypeError, match=f"^an? {type(thing).__name__} cannot be pickled; pickle"):
            pickle.dumps(thing)
        if hasattr(thing, "__iter__"):
            assert len(pickle.loads(pickle.dumps(list(thing)))) == len(thing)
    plain = [graph.rows("?x, ?y : knows(?x, ?y)", model), graph.predict(model, "knows"), graph.describe("p1", model).relations,
             graph.sparql("SELECT * { ?s ?p ?o }"), graph.holds("knows(p1, p2)"), graph.degrees(), model.history,
             model.reliability, wfre.transport(X[0], X[1]), answers.predicted[0], answers.explain()[0]]
    for thing in plain:
        assert str(pickle.loads(pickle.dumps(thing)))
    for graph_only in (graph, graph.query(QUESTION), graph.entities):
        with pytest.raises(TypeError, match="in memory cannot be pickled"):
            pickle.dumps(graph_only)


# ---- everyday questions ---------------------------------------------------------------------


def test_rows(graph, model):
    rows = graph.rows("?x, ?y : knows(?x, ?y) & trusts(?x, p5)", model, top=3)
    assert rows.variables == ("x", "y") and rows.total == 1
    assert rows[0].values == ("p3", "p4") and rows[0].status == "proven"
    assert len(rows) == 4 and rows[1].status == "predicted" and 0 <= rows[1].probability <= 1
    assert "<table>" in rows._repr_html_() and "proven" in str(rows) and "rows" in repr(rows)
    relations = graph.rows("?r : ?r(p3, p4)")
    assert [row.values for row in relations] == [("knows",)] and relations.question
    assert len(graph.rows("?x, ?y : knows(?x, ?y)", most=5)) == 5
    assert relations.number is None and relations.expected != relations.expected
    with pytest.raises(wfre.NotFound):
        graph.rows("?x, ?y : nows(?x, ?y)")


def test_holds(graph, model):
    assert graph.holds("knows(p1, p2)").status == "proven"
    assert graph.holds("knows(p1, p2)", model).probability == 1
    verdict = graph.holds("knows(p1, p9)", model)
    assert verdict.status == "predicted" and 0 <= verdict.probability <= 1
    assert graph.holds("knows(p1, p9)").status == "unknown"
    with pytest.raises(wfre.ArgumentError):
        graph.holds("?x : knows(?x, p1)")


def test_score(graph, model):
    given = [("p1", "knows", "p2"), ("p1", "knows", "p9"), (3, "trusts^-1", 1)]
    scores = graph.score(given, model)
    assert [t.status for t in scores] == ["proven", "predicted", "proven"]
    assert scores[0].probability == 1 and 0 <= scores[1].probability <= 1
    assert scores[2].head == "p3" and "<table>" in scores._repr_html_()
    assert len(graph.score([], model)) == 0
    for wrong in (["abc"], [("p1", "knows")], 3, [("p1", "knows", "nobody")], [(1, 2, 3.5)]):
        with pytest.raises((TypeError, ValueError, LookupError)):
            graph.score(wrong, model)


def test_describe(graph, model, tmp_path):
    plain = graph.describe("p3")
    assert plain.relations["knows"] == ["p4"] and plain.missing == []
    full = graph.describe("p3", model, missing=4)
    assert len(full.missing) == 4 and full.unpredicted is None and full.entity == "p3"
    assert "p4" in str(full) and "<table>" in full._repr_html_() and "p3" in repr(full)
    path = tmp_path / "g.ttl"
    path.write_text('<urn:a> <urn:r> <urn:b> ; <urn:age> 42 .')
    attribute = wfre.import_file(path).describe("<urn:a>").attributes[0]
    assert attribute.value == "42" and attribute.datatype.endswith("integer")


def test_near_and_find(graph, model):
    near = graph.near("p3", model, top=5)
    assert len(near) == 5 and near[0].score >= near[-1].score
    assert "p3" not in [p.entity for p in near]
    assert graph.find("p1", limit=3)[0] == "p1" and len(graph.find("p1", limit=3)) == 3
    assert graph.find("kno") == ["knows"] == graph.find("", kind="relation")[:1]
    assert graph.find("lee") == ["p1"]


def test_evidence(graph, model):
    answers = graph.ask(QUESTION, model, split="train")
    explanation = answers.explain(evidence=2)
    assert isinstance(explanation.rule, str)
    for answer in explanation:
        for edge in answer.edges:
            assert len(edge.evidence) <= 2 and (edge.evidence == [] or not edge.known)
            for fact in edge.evidence:
                assert graph.has(fact.head, fact.relation, fact.tail)
                assert fact.hits <= fact.cases and fact.kind in ("head", "tail", "joined")
                assert fact.example is None or fact.example in graph.entities
                assert fact.relation in repr(fact)
    known = graph.ask(QUESTION, model).explain("p5")
    if explanation.rule:  # the library explains what it is asked to
        assert known[0].known and known[0].entity == "p5" and all(e.known for e in known[0].edges)
    assert answers.predicted[0].missing_probability >= 0


def test_closed_things_are_shown():
    """A notebook that ends with something closed shows that, not a traceback."""
    ring = [(f"e{i}", "next", f"e{(i + 1) % 30}") for i in range(30)]
    g = wfre.import_triples(ring, holdout=0.2)
    q = g.sample(types="1p", count=2)
    for thing in (q, g):
        thing.close()
        assert "closed" in thing._repr_html_() and "closed" in repr(thing)


def test_frames_hold_plain_text(graph):
    """A frame that is kept does not keep the graph."""
    pytest.importorskip("pandas")
    frame = graph.rows("?x, ?y : knows(?x, ?y)").to_pandas()
    assert {type(v) for v in frame["x"]} == {type(v) for v in frame["y"]} == {str}
    scored = graph.score([("p1", "knows", "p2")]).to_pandas()
    assert type(scored["head"][0]) is type(scored["relation"][0]) is str


def test_hostile_names():
    """What is shown to people has no control characters, and can be written as UTF-8."""
    bad = "\x1b]0;gone\x07\u202e<b>"
    g = wfre.import_triples([(bad, "r", "b"), ("b", "r", bad)], labels={"b": "\x1b[31mred"})
    m = wfre.train(g, steps=1, dim=20, batch=8, validate=0, calibrate=0)
    shown = [
        g.ask("?x : r(?x, b)", m),
        g.ask("?x : r(?x, b)", m).explain(),
        g.rows("?x, ?y : r(?x, ?y)", m),
        g.score([(bad, "r", "b")], m),
        g.predict(m, "r"),
        g.describe(bad, m),
        g.sparql("SELECT * { ?s ?p ?o }"),
        g,
        m,
    ]
    for thing in shown:
        texts = [str(thing), repr(thing)]
        texts += [getattr(thing, how)() for how in ("_repr_html_", "_repr_svg_") if hasattr(thing, how)]
        for text in texts:
            assert "\x1b" not in text and "\x07" not in text, (thing, text)
            assert "<b>" not in text or text in texts[:2]
            text.encode()
