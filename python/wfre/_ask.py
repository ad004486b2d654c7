"""Questions and their answers: proven, predicted, explained."""
from __future__ import annotations

import math
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

from . import _native as native
from . import _show, errors
from ._engine import CANCEL
from ._native import NULL, ffi, lib

if TYPE_CHECKING:
    import pandas

    from ._graph import Graph
    from ._model import Model
    from ._names import Entity, Relation

_NOTATIONS = ("auto", "logic", "tree", "betae")
_NONE = lib.WFRE_NONE


class Query(native.Handle):
    """A question that was read: ask it as often as you like, or look at its other forms.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
    >>> q = g.query("?x : knows(?x, ?y) & knows(?y, cy)")
    >>> q.type, q.variables
    ('2p', ['x'])
    >>> q.tree
    '(p,knows^-1,(p,knows^-1,(e,cy)))'
    >>> g.ask(q).proven
    ['ann']
    """

    __slots__ = ("text", "graph", "_notation")
    _what = "query"
    #: As it was written.
    text: str
    #: The graph whose names it uses.
    graph: "Graph"

    def __init__(self, graph: "Graph", text: str, notation: str = "auto") -> None:
        native.given(graph, "graph")
        raw = native.encode(text, "a question")
        self.text = text
        self.graph = graph
        self._notation = native.choice(notation, "notation", _NOTATIONS)
        self._set(_parse(graph._use(), raw, self._notation, ffi.new("wfre_error *")))

    def _reopen(self) -> None:
        """In a child after fork: read again, if its graph can be opened there."""
        raw, error = native.encode(self.text), ffi.new("wfre_error *")
        self._set(_parse(self.graph._use(), raw, self._notation, error))

    def __reduce__(self) -> Any:
        return (Query, (self.graph, self.text, _NOTATIONS[self._notation]))

    def _print(self, notation: str) -> str:
        out = ffi.new("char **")
        native.call(
            lib.wfre_query_print,
            self._use(),
            self.graph._use(),
            _NOTATIONS.index(notation),
            out,
        )
        return native.take_string(out[0])

    @property
    def logic(self) -> str:
        """In logic notation."""
        return self._print("logic")

    @property
    def tree(self) -> str:
        """As an operator tree; raises ``wfre.Unsupported`` if it is not one."""
        return self._print("tree")

    @property
    def betae(self) -> str:
        """As BetaE's tuples of numbers; raises ``wfre.Unsupported`` if it is no operator tree."""
        return self._print("betae")

    @property
    def type(self) -> str:
        """Its type, such as "2in", or its operator tree without names."""
        out = ffi.new("char **")
        native.call(lib.wfre_query_type, self._use(), out)
        return native.take_string(out[0])

    @property
    def not_a_tree(self) -> Optional[str]:
        """Why it is not an operator tree, and so cannot be predicted; None if it is one."""
        reason = lib.wfre_query_not_a_tree(self._use())
        return None if reason == NULL else native.text(reason)

    @property
    def variables(self) -> List[str]:
        """The variables that are asked for."""
        cdata = self._use()
        count = lib.wfre_query_width(cdata)
        return [native.text(lib.wfre_query_column_name(cdata, i)) for i in range(count)]

    def __repr__(self) -> str:
        return f"<Query {self.text!r}>"


def _parse(graph: Any, raw: bytes, notation: int, error: Any) -> Any:
    """A wfre_query; raises what is wrong with the text."""
    out = ffi.new("wfre_query **")
    status = lib.wfre_query_parse(graph, notation, ffi.from_buffer(raw), len(raw), out, error)
    if status != 0:
        if lib.wfre_sparql_recognises(ffi.from_buffer(raw), len(raw)):
            raise errors.FormatError("this is SPARQL; ask it by `Graph.sparql`", 0)
        raise native.failure(status, error, raw)
    return ffi.gc(out[0], lib.wfre_query_free)


class Prediction:
    """An answer that the model predicts."""

    __slots__ = ("entity", "probability", "missing_probability", "score")
    #: Who is predicted; a str with an id, a label and a description.
    entity: "Entity"
    #: That it is an answer; NaN if the model has no probabilities for this question.
    probability: float
    #: The same if it is known that an answer is missing here.
    missing_probability: float
    #: What the model orders by; higher is better.
    score: float

    def __init__(
        self, entity: "Entity", probability: float, missing_probability: float, score: float
    ) -> None:
        self.entity = entity
        self.probability = probability
        self.missing_probability = missing_probability
        self.score = score

    def __repr__(self) -> str:
        return _show.printable(f"<{self.entity} {self.probability:.3f}>")


class Answers(Sequence["Entity"]):
    """The answers to one question: those that the graph proves, then those that a model predicts,
    best first; a sequence of all of them.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("cy", "knows", "bob")])
    >>> a = g.ask("?x : knows(?x, bob)")
    >>> a.proven
    ['ann', 'cy']
    >>> len(a), "ann" in a, a[-1]
    (2, True, 'cy')
    """

    __slots__ = (
        "question",
        "error",
        "_graph",
        "_model",
        "_cdata",
        "_owner",
        "_question",
        "_proven",
        "_predicted",
    )
    #: The question as it was asked.
    question: str
    #: Why there are no answers, where one of many questions failed; else None.
    error: Optional[errors.Error]

    def __init__(
        self,
        graph: "Graph",
        model: Optional["Model"],
        question: str,
        error: Optional[errors.Error],
        cdata: Any = None,
        owner: Any = None,
        asked: Any = None,
    ) -> None:
        self.question = question
        self.error = error
        self._graph = graph
        self._model = model
        self._cdata = cdata
        self._owner = owner
        self._question = asked
        self._proven: Optional[List[Entity]] = None
        self._predicted: Optional[List[Prediction]] = None

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle `list(it)`, `to_pandas()` or `to_json()`")

    def _there(self) -> Any:
        if self.error is not None:
            raise self.error
        return self._cdata

    @property
    def proven(self) -> List["Entity"]:
        """The answers that the graph proves, in the order of their numbers."""
        if self._proven is None:
            known = self._there().known
            entity = self._graph._entity
            ids = ffi.unpack(known.ids, known.count) if known.count else []
            self._proven = [entity(i) for i in ids]
        return self._proven

    @property
    def predicted(self) -> List[Prediction]:
        """The answers that the model predicts, best first."""
        if self._predicted is None:
            cdata = self._there()
            self._predicted = [
                _prediction(self._graph, cdata.predicted[i]) for i in range(cdata.predicted_count)
            ]
        return self._predicted

    @property
    def proven_ids(self) -> Any:
        """The numbers of the proven answers, as a numpy array."""
        import numpy

        known = self._there().known
        if known.count == 0:
            return numpy.empty(0, numpy.uint32)
        size = known.count * ffi.sizeof("wfre_entity")
        return numpy.frombuffer(bytes(ffi.buffer(known.ids, size)), numpy.uint32)

    @property
    def unpredicted(self) -> Optional[str]:
        """Why the model cannot predict answers to this question; None if it can."""
        reason = self._there().unpredicted
        return None if reason == NULL else native.text(reason)

    def explain(
        self,
        *entities: Union[str, int],
        derivations: int = 1,
        evidence: int = 3,
    ) -> "Explanation":
        """Why the first predicted answers are predicted; or why the given ones are known or
        predicted. ``derivations`` of a known answer are shown, and ``evidence``, known facts, for
        each predicted edge."""
        return Explanation(self, entities, derivations, evidence)

    def __len__(self) -> int:
        cdata = self._there()
        return int(cdata.known.count + cdata.predicted_count)

    @overload
    def __getitem__(self, index: int) -> "Entity": ...
    @overload
    def __getitem__(self, index: slice) -> List["Entity"]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union["Entity", List["Entity"]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at, proven = native.position(index, len(self), "answer"), self.proven
        return proven[at] if at < len(proven) else self.predicted[at - len(proven)].entity

    def __iter__(self) -> Iterator["Entity"]:
        yield from self.proven
        for prediction in self.predicted:
            yield prediction.entity

    def __contains__(self, entity: object) -> bool:
        return any(e == entity for e in self)

    def _cells(self) -> List[Tuple[Any, ...]]:
        rows: List[Tuple[Any, ...]] = []
        for e in self.proven:
            rows.append((str(e), e.label, "proven", 1.0, math.nan))
        for p in self.predicted:
            rows.append((str(p.entity), p.entity.label, "predicted", p.probability, p.score))
        return rows

    def to_pandas(self) -> "pandas.DataFrame":
        """A frame with the columns entity, label, status, probability and score."""
        columns = ("entity", "label", "status", "probability", "score")
        cells = self._cells()
        return _show.frame({c: [row[i] for row in cells] for i, c in enumerate(columns)})

    def to_json(self) -> str:
        """One JSON object, as the program writes it."""
        options = ffi.new("wfre_answers_json *")
        raw = native.encode(self.question)
        buffer = ffi.from_buffer(raw)
        options.text = buffer
        options.text_length = len(raw)
        options.seconds = -1
        options.top = lib.WFRE_NO_OFFSET
        cdata = self._there()
        out = ffi.new("char **")
        native.call(
            lib.wfre_answers_print_json,
            self._graph._use(),
            ffi.addressof(self._question),
            ffi.addressof(cdata),
            options,
            out,
        )
        return native.take_string(out[0])

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<Answers to {self.question!r}: {self.error}>"
        cdata = self._cdata
        return (
            f"<Answers to {self.question!r}: {cdata.known.count} proven, "
            f"{cdata.predicted_count} predicted>"
        )

    def __str__(self) -> str:
        if self.error is not None:
            return str(self.error)
        rows = [(r[2], r[3], r[1]) for r in self._cells()]
        return _show.aligned(("status", "probability", "entity"), rows)

    def _repr_html_(self) -> str:
        if self.error is not None:
            return f"<p>{_show.escape(self.error)}</p>"
        shown = 20
        rows: List[Tuple[Any, ...]] = []
        for e in self.proven[:shown]:
            rows.append(("proven", 1.0, e.label, e.description[:80]))
        for p in self.predicted:
            described = p.entity.description[:80]
            rows.append(("predicted", p.probability, p.entity.label, described))
        caption = self.question
        more = self._cdata.known.count - shown
        if more > 0:
            caption += f"  ({more:,} more are proven)"
        if self.unpredicted:
            caption += f"  (nothing is predicted: {self.unpredicted})"
        return _show.table(
            ("status", "probability", "entity", ""), rows, ("probability",), caption
        )


def _prediction(graph: "Graph", cdata: Any) -> Prediction:
    return Prediction(
        graph._entity(cdata.entity), cdata.probability, cdata.missing_probability, cdata.score
    )


# ---- asking ---------------------------------------------------------------------------------


def fill_way(engine: Any, way: Optional[str]) -> Any:
    """A wfre_way for "embedding", "edges" or either with "exhaustive"; NULL for the model's own."""
    if way is None:
        return NULL
    if not isinstance(way, str):
        raise TypeError(f"a way must be a str, not {type(way).__name__}")
    filled = ffi.new("wfre_way *", lib.wfre_engine_way(engine))
    chosen = ""
    for word in way.replace("-", " ").split():
        if word == "exhaustive":
            filled.exhaustive = True
            continue
        filled.by = native.choice(word, "way", ("embedding", "edges"))
        if chosen not in ("", word):
            raise errors.ArgumentError(f"way {way!r}: use either of embedding and edges, not both")
        chosen = word
    return filled


def ask(
    graph: "Graph",
    questions: Sequence[Union[str, Query]],
    model: Optional["Model"],
    top: int,
    min_probability: float,
    split: str,
    proven: bool,
    predicted: bool,
    timeout: Union[str, float, None],
    way: Optional[str],
    missing_rate: float,
) -> List[Answers]:
    """Asks them together; each has its own answers or its own error."""
    cgraph = graph._use()
    engine = graph._engine(model)
    asked = ffi.new("wfre_question[]", max(len(questions), 1))
    options = asked[0].options
    lib.wfre_ask_options_default(ffi.addressof(asked[0], "options"))
    options.split = native.split(split)
    options.known = bool(proven)
    options.predicted = bool(predicted)
    options.top = native.whole(top, "top", native.SIZE)
    if min_probability != 0:
        options.min_probability = native.share(min_probability, "min_probability")
    if timeout is not None:
        options.timeout = native.seconds(timeout)
    if missing_rate != 0:
        options.missing_rate = native.share(missing_rate, "missing_rate")
    cway = NULL
    if way is not None:
        options.way = cway = fill_way(engine.cdata, way)
    queries: List[Any] = []
    texts: List[str] = []
    failed: Dict[int, errors.Error] = {}
    for question in questions:
        try:
            query, text = _read(graph, cgraph, question)
        except errors.Error as wrong:
            failed[len(texts)] = wrong
            texts.append(question.text if isinstance(question, Query) else question)
            continue
        one = asked[len(queries)]
        one.query = query
        if queries:
            one.options = options
        queries.append(query)
        texts.append(text)
    if not queries:
        return [Answers(graph, model, text, failed[i]) for i, text in enumerate(texts)]
    out = ffi.new("wfre_answers **")
    engine.call(lib.wfre_session_ask, asked, len(queries), CANCEL, out)
    cdata = ffi.gc(out[0], lib.wfre_answers_free)
    owner = (cdata, asked, queries, cway)
    results = []
    at = 0
    for i, text in enumerate(texts):
        if failed and i in failed:
            results.append(Answers(graph, model, text, failed[i]))
            continue
        found = cdata[at]
        wrong_ = None if found.status == 0 else _failure(found, asked[at].query)
        results.append(Answers(graph, model, text, wrong_, found, owner, asked[at]))
        at += 1
    return results


def _read(graph: "Graph", cgraph: Any, question: Union[str, Query]) -> Tuple[Any, str]:
    """A wfre_query and its text."""
    if isinstance(question, Query):
        if question.graph is not graph:
            raise errors.Mismatch("this query was made for another graph")
        return question._use(), question.text
    if isinstance(question, str):
        error = ffi.new("wfre_error *")
        return _parse(cgraph, native.encode(question), 0, error), question
    raise TypeError(f"a question must be a str or a Query, not {type(question).__name__}")


def _failure(answers: Any, query: Any) -> errors.Error:
    """The exception of a question that failed by itself."""
    message = native.text(answers.message)
    if answers.status == lib.WFRE_ERR_ARGUMENT and lib.wfre_query_width(query) != 1:
        message += "; `Graph.rows` answers any number of variables, `Graph.holds` sentences"
    return native._CLASSES.get(answers.status, errors.Error)(message)


# ---- explanations ---------------------------------------------------------------------------


class Evidence:
    """A known fact that speaks for a predicted edge."""

    __slots__ = ("kind", "head", "relation", "tail", "cases", "hits", "weight", "example")
    #: "head" or "tail": others of which the same is known have the edge, too; "joined": others that
    #: are joined so are.
    kind: str
    head: "Entity"
    relation: "Relation"
    tail: "Entity"
    #: Others of which the same is known, and how many of them have the edge.
    cases: int
    hits: int
    #: How much it speaks for the edge: logarithm of how much likelier it makes it.
    weight: float
    #: One of the hits, or None.
    example: Optional["Entity"]

    def __init__(self, graph: "Graph", cdata: Any) -> None:
        self.kind = ("head", "tail", "joined")[cdata.kind]
        self.head = graph._entity(cdata.head)
        self.relation = graph._relation(cdata.relation)
        self.tail = graph._entity(cdata.tail)
        self.cases, self.hits, self.weight = cdata.cases, cdata.hits, cdata.weight
        self.example = None if cdata.example == _NONE else graph._entity(cdata.example)

    def __repr__(self) -> str:
        edge = f"{self.relation}({self.head}, {self.tail})"
        return _show.printable(f"<{edge}: {self.hits} of {self.cases}>")


class ExplainedEdge:
    """One edge of an explanation."""

    __slots__ = ("head", "relation", "tail", "known", "negated", "probability", "evidence")
    head: "Entity"
    relation: "Relation"
    tail: "Entity"
    #: Whether the graph has it.
    known: bool
    #: Whether it stands under a negation.
    negated: bool
    #: That it is true.
    probability: float
    #: Known facts that speak for it, strongest first.
    evidence: List[Evidence]

    def __init__(self, graph: "Graph", cdata: Any) -> None:
        self.head = graph._entity(cdata.head)
        self.relation = graph._relation(cdata.relation)
        self.tail = graph._entity(cdata.tail)
        self.known = bool(cdata.known)
        self.negated = (cdata.negation != _NONE) != bool(cdata.negated)
        self.probability = cdata.probability
        self.evidence = [Evidence(graph, cdata.evidence[i]) for i in range(cdata.evidence_count)]

    def __repr__(self) -> str:
        how = "known" if self.known else f"{self.probability:.3f}"
        sign = "!" if self.negated else ""
        return _show.printable(f"<{sign}{self.relation}({self.head}, {self.tail}) {how}>")


class ExplainedAnswer:
    """Why one answer is known or predicted."""

    __slots__ = ("entity", "known", "probability", "score", "variables", "edges")
    entity: "Entity"
    #: Whether the graph proves it.
    known: bool
    probability: float
    score: float
    #: The likeliest entities for the question's variables.
    variables: Dict[str, "Entity"]
    #: The edges that join them.
    edges: List[ExplainedEdge]

    def __init__(self, graph: "Graph", names: Sequence[str], cdata: Any) -> None:
        prediction = cdata.prediction
        self.entity = graph._entity(prediction.entity)
        self.known = bool(cdata.known)
        self.probability = prediction.probability
        self.score = prediction.score
        self.variables = {
            n: graph._entity(cdata.entities[i])
            for i, n in enumerate(names)
            if cdata.entities[i] != _NONE
        }
        self.edges = [ExplainedEdge(graph, cdata.edges[i]) for i in range(cdata.edge_count)]

    def __repr__(self) -> str:
        text = f"<{self.entity} {self.probability:.3f} by {len(self.edges)} edges>"
        return _show.printable(text)


class Explanation(Sequence[ExplainedAnswer]):
    """Why answers are predicted: a sequence of ``ExplainedAnswer``, best first. ``str()`` gives the
    text of ``wfre ask --explain``; a notebook shows the drawing."""

    __slots__ = ("calibrated", "rule", "_graph", "_cdata", "_answers")
    #: Whether probabilities are probabilities; else they only order.
    calibrated: bool
    #: How the probabilities of edges combine to the answer's: a sentence.
    rule: str

    def __init__(
        self,
        answers: Answers,
        entities: Sequence[Union[str, int]] = (),
        derivations: int = 1,
        evidence: int = 3,
    ) -> None:
        answers._there()
        graph = answers._graph
        engine = graph._engine(answers._model)
        options = ffi.new("wfre_explain_options *")
        lib.wfre_explain_options_default(options)
        options.derivations = native.whole(derivations, "derivations")
        options.evidence = native.whole(evidence, "evidence")
        wanted = ffi.new("wfre_entity[]", [graph._entity_id(e) for e in entities])
        if entities:
            options.entities, options.entity_count = wanted, len(entities)
        out = ffi.new("wfre_explanation **")
        engine.call(
            lib.wfre_session_explain_some,
            ffi.addressof(answers._question),
            ffi.addressof(answers._cdata),
            options,
            CANCEL,
            out,
        )
        self._graph = graph
        self._cdata = ffi.gc(out[0], lib.wfre_explanation_free)
        self.calibrated = bool(self._cdata.calibrated)
        self.rule = native.text(self._cdata.rule)
        names = [native.text(self._cdata.variables[i]) for i in range(self._cdata.variable_count)]
        self._answers = [
            ExplainedAnswer(graph, names, self._cdata.answers[i])
            for i in range(self._cdata.answer_count)
        ]

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle `list(it)`, `to_json()` or `to_svg()`")

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, index: Any) -> Any:
        return self._answers[index]

    def _print(self, how: int) -> str:
        out = ffi.new("char **")
        native.call(lib.wfre_explanation_print, self._graph._use(), self._cdata, how, out)
        return native.take_string(out[0])

    def __str__(self) -> str:
        return self._print(lib.WFRE_EXPLAIN_TEXT)

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} answers>"

    def to_svg(self) -> str:
        """The question's operator tree with the sets of entities at each operator, as a drawing."""
        return self._print(lib.WFRE_EXPLAIN_SVG)

    def to_json(self) -> str:
        """All of it as one JSON object."""
        return self._print(lib.WFRE_EXPLAIN_JSON)

    def _repr_svg_(self) -> str:
        return self.to_svg()
