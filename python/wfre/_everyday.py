"""Everyday questions: rows of several variables, whether something holds, all about one entity, how
likely triples are, what is near, and names as they are typed."""
from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from . import _ask as asking
from . import _native as native
from . import _show, errors
from ._engine import CANCEL
from ._native import NULL, ffi, lib

if TYPE_CHECKING:
    from ._graph import Graph
    from ._model import Model
    from ._names import Entity, Relation

_VERDICTS = ("", "proven", "refuted", "predicted", "unknown")


class Verdict(NamedTuple):
    """Whether a sentence holds."""

    #: "proven", "refuted", "predicted" or "unknown".
    status: str
    #: 1 if it is proven, 0 if it is refuted, NaN if nothing can be said.
    probability: float


class Row(NamedTuple):
    """One row of answers: entities or relations, in the order of the question's variables."""

    values: Tuple[Union["Entity", "Relation"], ...]
    #: "proven" or "predicted".
    status: str
    probability: float
    #: How many there are, if the question counts; else None.
    number: Optional[int] = None


class Rows(_show.Table):
    """The answers to a question for any number of variables: a sequence of ``Row``, first those that
    the graph proves, then those that a model predicts."""

    _bars = ("probability",)
    #: The question as it was asked.
    question: str
    #: The names of its variables.
    variables: Tuple[str, ...]
    #: How many rows the graph proves; more than there are here if ``most`` cut them off.
    total: int
    #: How many more there are by the model, if the question counts all in one number; else NaN.
    expected: float
    #: Why nothing is predicted; None if something could be.
    unpredicted: Optional[str]

    def __init__(self, graph: "Graph", query: asking.Query, cdata: Any) -> None:
        self.question = query.text
        self.variables = tuple(query.variables[: cdata.width])
        self.total = cdata.total
        self.expected = cdata.expected
        self.unpredicted = None if cdata.unpredicted == NULL else native.text(cdata.unpredicted)
        parsed = query._use()
        makers: List[Any] = [
            graph._relation if lib.wfre_query_column_is_relation(parsed, i) else graph._entity
            for i in range(cdata.width)
        ]
        counts = cdata.counts
        self._list: List[Row] = []
        for i in range(cdata.known.count):
            ids = cdata.known.ids + i * cdata.width
            values = tuple(make(ids[j]) for j, make in enumerate(makers))
            count = None if counts == NULL else int(counts[i])
            self._list.append(Row(values, "proven", 1.0, count))
        for i in range(cdata.predicted_count):
            row = cdata.predicted[i]
            values = tuple(make(row.ids[j]) for j, make in enumerate(makers))
            self._list.append(Row(values, "predicted", row.probability))
        counted = counts != NULL
        self._columns = self.variables + (("count",) if counted else ()) + ("status", "probability")
        self._counted = counted

    def _rows(self) -> List[Row]:
        return self._list

    def _cells(self) -> List[Tuple[Any, ...]]:
        return [
            row.values + ((row.number,) if self._counted else ()) + (row.status, row.probability)
            for row in self._list
        ]

    @property
    def number(self) -> Optional[int]:
        """The number, of a question that asks for one number alone; else None."""
        alone = self._counted and not self.variables and self._list
        return self._list[0].number if alone else None


class PredictedTriple(NamedTuple):
    """A triple that the graph lacks and a model predicts."""

    head: "Entity"
    relation: "Relation"
    tail: "Entity"
    probability: float
    score: float


class PredictedTriples(_show.Table):
    """Triples that a graph lacks, likeliest first: a sequence of ``PredictedTriple``."""

    _columns = ("head", "relation", "tail", "probability", "score")
    _bars = ("probability",)

    def __init__(self, rows: List[PredictedTriple]) -> None:
        self._list = rows

    def _rows(self) -> Sequence[PredictedTriple]:
        return self._list


class ScoredTriple(NamedTuple):
    """How likely a triple is."""

    head: "Entity"
    relation: "Relation"
    tail: "Entity"
    #: "proven", "predicted", or "unknown" without a model.
    status: str
    probability: float
    score: float


class ScoredTriples(_show.Table):
    """How likely triples are: a sequence of ``ScoredTriple``, in the order in which they were
    given."""

    _columns = ScoredTriple._fields
    _bars = ("probability",)

    def __init__(self, rows: List[ScoredTriple]) -> None:
        self._list = rows

    def _rows(self) -> List[ScoredTriple]:
        return self._list


class Attribute(NamedTuple):
    """A literal that an entity has."""

    property: str
    label: str
    value: str
    datatype: str
    language: str


class Description:
    """All that is known of an entity, and what seems to be missing.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("cy", "knows", "ann")])
    >>> d = g.describe("ann")
    >>> d.relations
    {'knows': ['bob'], 'knows^-1': ['cy']}
    """

    __slots__ = ("entity", "relations", "attributes", "missing", "unpredicted")
    entity: "Entity"
    #: The entities that each relation leads to; an inverse one (``^-1``) to those that have it.
    relations: Dict["Relation", List["Entity"]]
    attributes: List[Attribute]
    #: Its likeliest missing edges.
    missing: List[PredictedTriple]
    #: Why none are predicted; None if they could be.
    unpredicted: Optional[str]

    def __init__(self, graph: "Graph", cdata: Any) -> None:
        self.entity = graph._entity(cdata.entity)
        self.relations = {}
        for i in range(cdata.relation_count):
            row = cdata.relations[i]
            targets = ffi.unpack(row.targets.ids, row.targets.count) if row.targets.count else []
            self.relations[graph._relation(row.relation)] = [graph._entity(t) for t in targets]
        self.attributes = []
        for i in range(cdata.attribute_count):
            a = cdata.attributes[i]
            self.attributes.append(
                Attribute(*(native.name(getattr(a, field)) for field in Attribute._fields))
            )
        self.missing = [_predicted(graph, cdata.missing[i]) for i in range(cdata.missing_count)]
        self.unpredicted = None if cdata.unpredicted == NULL else native.text(cdata.unpredicted)

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle its `relations`, `attributes` and `missing`")

    def _cells(self) -> List[Tuple[Any, ...]]:
        rows: List[Tuple[Any, ...]] = []
        for relation, targets in self.relations.items():
            shown = ", ".join(t.label for t in targets[:8])
            rest = f" and {len(targets) - 8:,} more" if len(targets) > 8 else ""
            rows.append((relation.label, shown + rest, 1.0))
        for a in self.attributes:
            rows.append((a.label or a.property, a.value, 1.0))
        for t in self.missing:
            inverse = t.tail.id == self.entity.id and t.head.id != self.entity.id
            relation = t.relation.inverse if inverse else t.relation
            rows.append((relation.label, (t.head if inverse else t.tail).label, t.probability))
        return rows

    def __str__(self) -> str:
        head = self.entity.label
        if self.entity.description:
            head += ": " + self.entity.description
        head = _show.printable(head)
        return head + "\n" + _show.aligned(("relation", "to", "probability"), self._cells())

    def __repr__(self) -> str:
        return _show.printable(f"<Description of {self.entity}>")

    def _repr_html_(self) -> str:
        caption = f"{self.entity.label}  {self.entity.description}".strip()
        columns = ("relation", "to", "probability")
        return _show.table(columns, self._cells(), ("probability",), caption)


# ---- calls ----------------------------------------------------------------------------------


def reply(
    graph: "Graph",
    question: Union[str, asking.Query],
    model: Optional["Model"],
    top: int,
    most: int,
    min_probability: float,
    split: str,
    timeout: Union[str, float, None],
) -> Tuple[asking.Query, Any]:
    """A wfre_reply, and the query it belongs to."""
    query = question if isinstance(question, asking.Query) else graph.query(question)
    if query.graph is not graph:
        raise errors.Mismatch("this query was made for another graph")
    engine = graph._engine(model)
    asked = ffi.new("wfre_question *")
    asked.query = query._use()
    lib.wfre_ask_options_default(ffi.addressof(asked, "options"))
    asked.options.split = native.split(split)
    asked.options.top = native.whole(top, "top", native.SIZE)
    asked.options.predicted = model is not None
    asked.options.min_probability = native.share(min_probability, "min_probability")
    asked.options.timeout = native.seconds(timeout)
    out = ffi.new("wfre_reply **")
    engine.call(lib.wfre_session_reply, asked, native.whole(most, "most", native.SIZE), CANCEL, out)
    return query, ffi.gc(out[0], lib.wfre_reply_free)


def verdict(cdata: Any) -> Verdict:
    """Of a wfre_reply."""
    if cdata.verdict == lib.WFRE_VERDICT_NONE:
        raise errors.ArgumentError("this question asks for variables; ask it by `Graph.rows`")
    return Verdict(_VERDICTS[cdata.verdict], cdata.probability)


def score(
    graph: "Graph",
    triples: Iterable[Sequence[Union[str, int]]],
    model: Optional["Model"],
    split: str,
    way: Optional[str],
) -> ScoredTriples:
    """See ``Graph.score``."""
    from ._import import rows_of

    engine = graph._engine(model)
    ids: List[Tuple[int, int, int]] = []
    for triple in rows_of(triples):
        if isinstance(triple, (str, bytes)):
            raise TypeError(f"a triple is a head, a relation and a tail, not {triple!r}")
        try:
            head, relation, tail = triple
        except (TypeError, ValueError):
            raise errors.ArgumentError(
                f"triple {len(ids)} must be a head, a relation and a tail, not {triple!r}", len(ids)
            ) from None
        ids.append(
            (graph._entity_id(head), graph._relation_id(relation), graph._entity_id(tail))
        )
    given = ffi.new("wfre_given_triple[]", ids)
    scores = ffi.new("wfre_scored_triple[]", len(ids))
    options = ffi.new("wfre_ask_options *")
    lib.wfre_ask_options_default(options)
    options.split = native.split(split)
    cway = asking.fill_way(engine.cdata, way)
    options.way = cway
    if ids:
        engine.call(lib.wfre_session_score, given, len(ids), options, CANCEL, scores)
    return ScoredTriples(
        [
            ScoredTriple(
                graph._entity(h),
                graph._relation(r),
                graph._entity(t),
                _VERDICTS[s.verdict],
                s.probability,
                s.score,
            )
            for (h, r, t), s in zip(ids, scores)
        ]
    )


def describe(
    graph: "Graph",
    entity: Union[str, int],
    model: Optional["Model"],
    missing: int,
    min_probability: float,
    split: str,
    missing_rate: float,
) -> Description:
    """See ``Graph.describe``."""
    engine = graph._engine(model)
    options = ffi.new("wfre_describe_options *")
    lib.wfre_describe_options_default(options)
    options.split = native.split(split)
    options.missing = native.whole(missing, "missing", native.SIZE) if model is not None else 0
    options.missing_rate = native.share(missing_rate, "missing_rate")
    options.min_probability = native.share(min_probability, "min_probability")
    out = ffi.new("wfre_description **")
    engine.call(lib.wfre_session_describe, graph._entity_id(entity), options, CANCEL, out)
    return Description(graph, ffi.gc(out[0], lib.wfre_description_free))


def predict(
    graph: "Graph",
    model: "Model",
    relation: Union[str, int, None],
    top: int,
    min_probability: float,
    split: str,
    way: Optional[str],
    missing_rate: float,
) -> PredictedTriples:
    """See ``Graph.predict``."""
    engine = graph._engine(model)
    options = ffi.new("wfre_missing_options *")
    lib.wfre_missing_options_default(options)
    options.missing_rate = native.share(missing_rate, "missing_rate")
    options.split = native.split(split)
    options.top = native.whole(top, "top", native.SIZE)
    options.min_probability = native.share(min_probability, "min_probability")
    cway = asking.fill_way(engine.cdata, way)
    options.way = cway
    wanted = (
        [2 * i for i in range(len(graph.relations))]
        if relation is None
        else [graph._relation_id(relation) & ~1]
    )
    rows: List[PredictedTriple] = []
    for number in wanted:
        out, count = ffi.new("wfre_missing_triple **"), ffi.new("size_t *")
        engine.call(lib.wfre_session_missing, number, options, CANCEL, out, count)
        found = ffi.gc(out[0], lib.wfre_missing_triples_free)
        rows += (_predicted(graph, found[i]) for i in range(count[0]))
    if len(wanted) > 1:
        rows.sort(key=lambda t: (-t.probability, -t.score))
    return PredictedTriples(rows)


def _predicted(graph: "Graph", cdata: Any) -> PredictedTriple:
    return PredictedTriple(
        graph._entity(cdata.head),
        graph._relation(cdata.relation),
        graph._entity(cdata.tail),
        cdata.probability,
        cdata.score,
    )


def near(
    graph: "Graph", entity: Union[str, int], model: "Model", top: int
) -> List[asking.Prediction]:
    """See ``Graph.near``."""
    engine = graph._engine(model)
    top = min(native.whole(top, "top", native.SIZE), len(graph.entities))
    found = ffi.new("wfre_prediction[]", max(top, 1))
    count = ffi.new("size_t *")
    engine.call(
        lib.wfre_session_nearest, graph._entity_id(entity), CANCEL, found, top, count
    )
    return [asking._prediction(graph, found[i]) for i in range(count[0])]


def find(
    graph: "Graph", text: str, limit: int, kind: str
) -> "List[Union[Entity, Relation]]":
    """See ``Graph.find``."""
    engine = graph._engine(None)
    chosen = native.choice(kind, "kind", ("any", "entity", "relation"))
    options = ffi.new("wfre_complete_options *")
    lib.wfre_complete_options_default(options)
    options.entities, options.relations = chosen != 2, chosen != 1
    limit = min(native.whole(limit, "limit", native.SIZE), 100000)
    items = ffi.new("wfre_completion[]", max(limit, 1))
    count = ffi.new("size_t *")
    raw = native.encode(text)
    native.call(
        lib.wfre_engine_complete,
        engine.cdata,
        ffi.from_buffer(raw),
        len(raw),
        options,
        items,
        limit,
        count,
    )
    return [
        graph._relation(items[i].id) if items[i].is_relation else graph._entity(items[i].id)
        for i in range(count[0])
    ]
