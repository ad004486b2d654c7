"""Evaluation: query sets, ranks of hard answers, link prediction."""
from __future__ import annotations

import os
import tempfile
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Union,
)

from . import _native as native
from . import _show, errors
from . import _ask as asking
from ._native import NULL, StrPath, ffi, lib
from ._progress import monitored

if TYPE_CHECKING:
    from ._graph import Graph
    from ._model import Model
    from ._names import Entity


class QuerySetType(NamedTuple):
    """The queries of one type, and the numbers of their answers together."""

    name: str
    queries: int
    easy: int
    hard: int


class SampledQuery(NamedTuple):
    """A question of a query set, as an operator tree, with its answers."""

    question: str
    type: str
    #: Answers that the smaller graph proves.
    easy: List["Entity"]
    #: Answers that only the larger graph proves.
    hard: List["Entity"]


class QuerySet(native.FromFile):
    """Questions with their easy and hard answers, from a file (\\*.tsv) or from ``Graph.sample``: a
    sequence of ``SampledQuery``.

    >>> import wfre
    >>> ring = [(f"e{i}", "next", f"e{(i + 1) % 30}") for i in range(30)]
    >>> g = wfre.import_triples(ring, holdout=0.2)
    >>> q = g.sample(types="1p", count=2)
    >>> len(q), q.types[0].name
    (2, '1p')
    >>> g.ask(q[0].question, split="valid").proven == sorted(q[0].easy + q[0].hard)
    True
    """

    __slots__ = ("graph",)
    _what = "query set"
    #: The graph whose numbers it uses.
    graph: "Graph"

    def __init__(self, path: StrPath, graph: "Graph") -> None:
        native.given(graph, "graph")
        self.graph = graph
        self._open_again(os.path.abspath(native.path_text(path)))

    def _open_again(self, path: str) -> None:
        given, close = native.c_path(path), lib.wfre_queryset_close
        cgraph = self.graph._use()
        self._set(native.make("wfre_queryset", close, lib.wfre_queryset_open, given, cgraph))
        self.path = path

    def __reduce__(self) -> Any:
        return (QuerySet, (super().__reduce__()[1][0], self.graph))

    def __len__(self) -> int:
        return int(lib.wfre_queryset_queries(self._use()))

    def __getitem__(self, index: int) -> SampledQuery:
        cdata, at = self._use(), native.position(index, len(self), "query")
        row = lib.wfre_queryset_get_query(cdata, at)
        out = ffi.new("char **")
        native.call(lib.wfre_queryset_print, cdata, at, self.graph._use(), out)
        text = native.take_string(out[0])
        name = native.name(lib.wfre_queryset_get_type(cdata, row.type).name)
        lists = [
            [self.graph._entity(i) for i in ffi.unpack(part.ids, part.count)] if part.count else []
            for part in (row.easy, row.hard)
        ]
        return SampledQuery(text, name, lists[0], lists[1])

    def __iter__(self) -> Iterator[SampledQuery]:
        return (self[i] for i in range(len(self)))

    @property
    def types(self) -> List[QuerySetType]:
        """The types of its queries, in the order in which they first appear."""
        cdata = self._use()
        rows = (
            lib.wfre_queryset_get_type(cdata, i) for i in range(lib.wfre_queryset_type_count(cdata))
        )
        return [QuerySetType(native.name(r.name), r.queries, r.easy, r.hard) for r in rows]

    def __repr__(self) -> str:
        if self.closed:
            return "<QuerySet: closed>"
        return f"<QuerySet: {len(self):,} queries of {len(self.types)} types>"

    def _repr_html_(self) -> str:
        if self.closed:
            return f"<p>{_show.escape(repr(self)[1:-1])}</p>"
        return _show.table(QuerySetType._fields, self.types, (), repr(self)[1:-1])


def _joined(types: Union[str, Iterable[str], None]) -> Optional[str]:
    """Names of types as one text."""
    if types is None or isinstance(types, str):
        return types
    names: List[Any] = list(types) if isinstance(types, Iterable) else [types]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"types must be a str, or several, not {type(name).__name__}")
    return " ".join(names)


def sample(
    graph: "Graph",
    path: Optional[StrPath],
    split: str,
    types: Union[str, Iterable[str], None],
    count: int,
    cap: int,
    seed: int,
    protocol: str,
    edges: str,
) -> QuerySet:
    """See ``Graph.sample``."""
    options = ffi.new("wfre_benchmark_options *")
    options.split = native.split(split)
    options.protocol = native.choice(protocol, "protocol", ("strict", "betae"))
    options.edges = native.choice(edges, "edges", ("questions", "facts", "answers"))
    names = native.c_text(_joined(types), "types")
    options.types = names
    options.count = native.whole(count, "count")
    options.cap = native.whole(cap, "cap")
    options.seed = native.seed(seed)
    monitor = native.Monitor()
    with tempfile.TemporaryDirectory(prefix="wfre-") as folder:
        out = native.path_text(os.path.join(folder, "queries.tsv") if path is None else path)
        monitor.call(
            lib.wfre_benchmark_sample,
            graph._use(),
            options,
            native.c_path(out),
            native.pool(),
            monitor.struct,
            NULL,
            NULL,
        )
        made = QuerySet(out, graph)
    if path is None:
        made.path = None
    return made


class EvaluationRow(NamedTuple):
    """How well the hard answers of a type, or of a group of types, are ranked."""

    name: str
    queries: int
    answers: int
    mrr: float
    #: 95% interval of the MRR.
    mrr_low: float
    mrr_high: float
    hits1: float
    hits3: float
    hits10: float


def _row(row: Any) -> EvaluationRow:
    mean = row.mean
    return EvaluationRow(
        native.text(row.name),
        row.queries,
        row.answers,
        mean.mrr,
        row.mrr_low,
        row.mrr_high,
        mean.hits1,
        mean.hits3,
        mean.hits10,
    )


class Evaluation(_show.Table):
    """What ``wfre.evaluate`` found: a sequence of rows, one for each type of question. ``str()``
    gives the table of ``wfre eval``, with published results beside it for known data sets."""

    _columns = EvaluationRow._fields
    _bars = ("mrr",)
    #: How it was done: "exhaustive", "filtered", "edge by edge", ...
    method: str
    #: How long it took.
    seconds: float

    def __init__(self, cdata: Any) -> None:
        self._cdata = cdata
        self._list = [
            _row(lib.wfre_evaluation_type(cdata, i))
            for i in range(lib.wfre_evaluation_types(cdata))
        ]
        info = lib.wfre_evaluation_get_info(cdata)
        self.method = native.text(info.method)
        self.seconds = info.seconds

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle `list(it)`, `to_pandas()` or `to_json()`")

    def _rows(self) -> List[EvaluationRow]:
        return self._list

    @property
    def groups(self) -> Dict[str, EvaluationRow]:
        """Averages over groups of types: "A_P" (without negation), "A_p" (paths), "A_l" (others
        without negation), "A_N" (with negation), "all"."""
        rows = (lib.wfre_evaluation_group(self._cdata, i) for i in range(lib.WFRE_GROUPS))
        return {native.text(row.name): _row(row) for row in rows if row.types}

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank over all types."""
        return float(lib.wfre_evaluation_group(self._cdata, lib.WFRE_GROUP_ALL).mean.mrr)

    @property
    def strata(self) -> Dict[str, EvaluationRow]:
        """The same by how many edges an answer needs that the graph lacks; empty unless
        ``strata=True`` was given."""
        found = {}
        for i in range(lib.wfre_evaluation_strata(self._cdata)):
            row = _row(lib.wfre_evaluation_get_stratum(self._cdata, i).row)
            found[row.name] = row
        return found

    def _print(self, how: int) -> str:
        out = ffi.new("char **")
        options = ffi.new("wfre_report_options *")
        one = ffi.new("const wfre_evaluation *[]", [self._cdata])
        native.call(lib.wfre_report_print, one, 1, options, how, out)
        return native.take_string(out[0])

    def __str__(self) -> str:
        return self._print(lib.WFRE_REPORT_TABLE)

    def to_json(self) -> str:
        """All of it as JSON."""
        return self._print(lib.WFRE_REPORT_JSON)

    def report(self, folder: StrPath, title: Optional[str] = None) -> None:
        """Writes report.html, results.csv and results.json into a folder."""
        options = ffi.new("wfre_report_options *")
        name = native.c_text(title, "title")
        options.title = name
        one = ffi.new("const wfre_evaluation *[]", [self._cdata])
        native.call(lib.wfre_report_write, one, 1, options, native.c_path(folder, "a folder"))

    def __repr__(self) -> str:
        return f"<Evaluation: MRR {self.mrr:.3f} over {len(self)} types>"


class LinksRow(NamedTuple):
    """How well heads and tails of triples are ranked."""

    name: str
    triples: int
    mrr: float
    #: 95% interval of the MRR.
    mrr_low: float
    mrr_high: float
    hits1: float
    hits3: float
    hits10: float


class Links(_show.Table):
    """What ``wfre.evaluate_links`` found: rows for "all", "tails" and "heads", then one for each
    relation."""

    _columns = LinksRow._fields
    _bars = ("mrr",)
    method: str
    seconds: float

    def __init__(self, cdata: Any) -> None:
        self._cdata = cdata
        self._list = []
        for i in range(lib.wfre_links_count(cdata)):
            row = lib.wfre_links_at(cdata, i)
            mean = row.mean
            self._list.append(
                LinksRow(
                    native.text(row.name),
                    row.triples,
                    mean.mrr,
                    row.mrr_low,
                    row.mrr_high,
                    mean.hits1,
                    mean.hits3,
                    mean.hits10,
                )
            )
        info = lib.wfre_links_get_info(cdata)
        self.method = native.text(info.method)
        self.seconds = info.seconds

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle `list(it)` or `to_pandas()`")

    def _rows(self) -> List[LinksRow]:
        return self._list

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank over all triples, from both ends."""
        return self._list[0].mrr

    def __str__(self) -> str:
        out = ffi.new("char **")
        native.call(lib.wfre_links_print, self._cdata, lib.WFRE_REPORT_TABLE, out)
        return native.take_string(out[0])

    def __repr__(self) -> str:
        return f"<Links: MRR {self.mrr:.3f} over {self._list[0].triples:,} triples>"


def opened(graph: "Graph", queries: Union[StrPath, QuerySet]) -> QuerySet:
    """A query set of this graph, opened if it is given as a path."""
    if isinstance(queries, QuerySet):
        if queries.graph is not graph:
            raise errors.Mismatch("this query set was opened with another graph")
        return queries
    return QuerySet(queries, graph)


def evaluate(
    graph: "Graph",
    model: "Model",
    queries: Union[StrPath, QuerySet],
    *,
    way: Optional[str] = None,
    strata: bool = False,
    split: str = "valid",
    known: str = "train",
    bootstrap: int = 1000,
    seed: int = 1,
    label: Optional[str] = None,
    progress: bool = False,
) -> Evaluation:
    """Ranks the hard answers of a query set among all entities that are not answers, by the field's
    protocol.

    >>> import wfre
    >>> ring = [(f"e{i}", "next", f"e{(i + 1) % 30}") for i in range(30)]
    >>> g = wfre.import_triples(ring, holdout=0.2)
    >>> m = wfre.train(g, steps=5, dim=20, batch=32, validate=0, calibrate=0)
    >>> found = wfre.evaluate(g, m, g.sample(types="1p", count=3))
    >>> [row.name for row in found], 0 <= found.mrr <= 1
    (['1p'], True)
    """
    native.given(graph, "graph")
    native.given(model, "model")
    set_ = opened(graph, queries)
    engine = graph._engine(model)
    options = ffi.new("wfre_eval_options *")
    lib.wfre_eval_options_default(options)
    name = native.c_text(label, "label")
    options.label = name
    options.bootstrap = native.whole(bootstrap, "bootstrap")
    options.seed = native.seed(seed)
    options.strata = bool(strata)
    options.split = native.split(split)
    options.known = native.split(known)
    cway = asking.fill_way(engine.cdata, way)
    options.way = cway
    out = ffi.new("wfre_evaluation **")
    with monitored(progress) as monitor:
        monitor.call(
            lib.wfre_evaluate_model_with,
            graph._use(),
            model._use(),
            set_._use(),
            options,
            native.pool(),
            monitor.struct,
            out,
        )
    return Evaluation(ffi.gc(out[0], lib.wfre_evaluation_free))


def evaluate_links(
    graph: "Graph",
    model: "Model",
    *,
    split: str = "valid",
    known: str = "train",
    way: Optional[str] = None,
    progress: bool = False,
) -> Links:
    """Link prediction as the field measures it: for every triple that a split adds, the filtered
    rank of its tail and of its head."""
    native.given(graph, "graph")
    native.given(model, "model")
    engine = graph._engine(model)
    options = ffi.new("wfre_links_options *")
    lib.wfre_links_options_default(options)
    options.split = native.split(split)
    options.known = native.split(known)
    cway = asking.fill_way(engine.cdata, way)
    options.way = cway
    out = ffi.new("wfre_links **")
    with monitored(progress) as monitor:
        monitor.call(
            lib.wfre_evaluate_links,
            graph._use(),
            model._use(),
            options,
            native.pool(),
            monitor.struct,
            out,
        )
    return Links(ffi.gc(out[0], lib.wfre_links_free))
