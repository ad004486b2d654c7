"""Graphs: made of triples, opened from files, looked up, asked."""
from __future__ import annotations

import itertools
import operator
import os
import threading
import weakref
from array import array
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

from . import _native as native
from . import _show, errors
from . import _ask as asking
from ._engine import CANCEL, Engine
from ._native import NULL, StrPath, ffi, lib

if TYPE_CHECKING:
    import numpy
    import pandas

    from ._evaluate import QuerySet
    from ._everyday import Description, Rows, ScoredTriples, Verdict
    from ._model import Model
    from ._sparql import SparqlResult

Triple = Tuple[str, str, str]
_NONE = lib.WFRE_NONE
_LITERALS = ("attributes", "entities", "drop")


class Entity(str):
    """An entity of a graph: its name, as a str, with a number, a label and a description.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob")], labels={"ann": "Ann Lee"})
    >>> e = g.entity("Ann Lee")
    >>> e, e.id, e.label
    ('ann', 0, 'Ann Lee')
    """

    __slots__ = ("id", "_graph")
    #: Its number in the graph, from 0 on.
    id: int
    _graph: "Graph"

    @property
    def label(self) -> str:
        """What to show: the label, or the name if there is none."""
        return native.name(lib.wfre_graph_entity_label(self._graph._use(), self.id))

    @property
    def description(self) -> str:
        """A sentence about it, or ""."""
        return native.name(lib.wfre_graph_entity_description(self._graph._use(), self.id))

    def __reduce__(self) -> Any:
        return (str, (str(self),))


class Relation(str):
    """A relation of a graph: its name, as a str, with a number. Of an inverse the str ends in
    ``^-1``, as in questions.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob")])
    >>> r = g.relation("knows")
    >>> r, r.id, r.inverse, r.inverse.id
    ('knows', 0, 'knows^-1', 1)
    """

    __slots__ = ("id", "_graph")
    #: Its number: 2r is a relation, 2r + 1 its inverse.
    id: int
    _graph: "Graph"

    @property
    def label(self) -> str:
        """What to show: the label, or the name if there is none."""
        label = native.name(lib.wfre_graph_relation_label(self._graph._use(), self.id))
        return label + "^-1" if self.id & 1 else label

    @property
    def inverse(self) -> "Relation":
        """The same from the other end."""
        return self._graph._relation(self.id ^ 1)

    def __reduce__(self) -> Any:
        return (str, (str(self),))


class _Entities(Sequence[Entity]):
    """All entities by their numbers."""

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph

    def __len__(self) -> int:
        return int(lib.wfre_graph_entities(self._graph._use()))

    @overload
    def __getitem__(self, index: int) -> Entity: ...
    @overload
    def __getitem__(self, index: slice) -> List[Entity]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Entity, List[Entity]]:
        count = len(self)
        if isinstance(index, slice):
            return [self._graph._entity(i) for i in range(*index.indices(count))]
        at = operator.index(index)
        if not -count <= at < count:
            raise IndexError(f"entity {at} of {count}")
        return self._graph._entity(at % count)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._graph._find_entity(name) != _NONE

    def __repr__(self) -> str:
        return f"<{len(self):,} entities>"


class _Relations(Sequence[Relation]):
    """All relations, without their inverses."""

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph

    def __len__(self) -> int:
        return int(lib.wfre_graph_relations(self._graph._use())) // 2

    @overload
    def __getitem__(self, index: int) -> Relation: ...
    @overload
    def __getitem__(self, index: slice) -> List[Relation]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Relation, List[Relation]]:
        count = len(self)
        if isinstance(index, slice):
            return [self._graph._relation(2 * i) for i in range(*index.indices(count))]
        at = operator.index(index)
        if not -count <= at < count:
            raise IndexError(f"relation {at} of {count}")
        return self._graph._relation(2 * (at % count))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._graph._find_relation(name) != _NONE

    def __repr__(self) -> str:
        return f"<{len(self):,} relations>"


class Degrees(NamedTuple):
    """In how many triples the entities of a graph are."""

    unconnected: int
    mean: float
    median: int
    upper_tenth: int
    upper_hundredth: int
    maximum: int
    hub: Optional[Entity]


class Hierarchy(NamedTuple):
    """How much a relation orders its entities like a hierarchy."""

    entities: int
    edges: int
    krackhardt: float
    one_way: float
    curvature: float
    triangles: int


class PredictedTriple(NamedTuple):
    """A triple that the graph lacks and a model predicts."""

    head: Entity
    relation: Relation
    tail: Entity
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


class Graph(native.Handle):
    """A knowledge graph. ``wfre.open``, ``wfre.import_triples`` and ``wfre.import_file`` make one.

    A graph may be used by many threads at once, and is a context manager. Where a ``split`` can be
    named, "train" means the triples of the train split, "valid" those of train and valid, "test"
    (and "all") means all.

    >>> import wfre
    >>> with wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")]) as g:
    ...     g
    <Graph: 3 entities, 1 relations, 2 triples>
    >>> g.entities
    Traceback (most recent call last):
    wfre.Closed: this graph is closed
    """

    __slots__ = ("path", "_engines", "_lock")
    _what = "graph"
    #: The file that it was opened from; None if it is in memory only.
    path: Optional[str]

    def __init__(self, path: StrPath) -> None:
        given = native.c_path(path)
        cdata = native.make("wfre_graph", lib.wfre_graph_close, lib.wfre_graph_open, given)
        self._start(cdata, os.path.abspath(os.fsdecode(path)))

    def _start(self, cdata: Any, path: Optional[str]) -> None:
        self._set(cdata)
        self.path = path
        self._engines: "weakref.WeakKeyDictionary[Any, Engine]" = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    @classmethod
    def _of(cls, cdata: Any, path: Optional[str] = None) -> "Graph":
        graph = cls.__new__(cls)
        graph._start(cdata, path)
        return graph

    def _reopen(self) -> None:
        """In a child after fork."""
        if self.path is None:
            raise errors.Unsupported(
                "this graph is in the memory of the process that was forked; save it, and open "
                "the file in this one"
            )
        old = lib.wfre_graph_fingerprint(self._cdata)
        cdata = native.make(
            "wfre_graph", lib.wfre_graph_close, lib.wfre_graph_open, native.c_path(self.path)
        )
        if lib.wfre_graph_fingerprint(cdata) != old:
            raise errors.Mismatch(f"{self.path} is another graph than before the fork")
        self._start(cdata, self.path)

    def __reduce__(self) -> Any:
        self._use()
        if self.path is None:
            raise TypeError("a graph in memory cannot be pickled; save it, and open the file")
        return (Graph, (self.path,))

    def __enter__(self) -> "Graph":
        self._use()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of it; using it afterwards raises ``wfre.Closed``. Closing twice is fine."""
        self._cdata = None
        if hasattr(self, "_engines"):
            self._engines = weakref.WeakKeyDictionary()

    # ---- names ------------------------------------------------------------------------------

    def _entity(self, number: int) -> Entity:
        entity = Entity(native.name(lib.wfre_graph_entity_name(self._use(), number)))
        entity.id = number
        entity._graph = self
        return entity

    def _relation(self, number: int) -> Relation:
        name = native.name(lib.wfre_graph_relation_name(self._use(), number))
        relation = Relation(name + "^-1" if number & 1 else name)
        relation.id = number
        relation._graph = self
        return relation

    def _find_entity(self, name: str) -> int:
        raw = native.encode(name, "an entity's name")
        return int(lib.wfre_graph_find_entity(self._use(), ffi.from_buffer(raw), len(raw)))

    def _find_relation(self, name: str) -> int:
        raw = native.encode(name, "a relation's name")
        cdata = self._use()
        number = int(lib.wfre_graph_find_relation(cdata, ffi.from_buffer(raw), len(raw)))
        if number == _NONE and raw.endswith(b"^-1"):
            number = int(lib.wfre_graph_find_relation(cdata, ffi.from_buffer(raw), len(raw) - 3))
            return number if number == _NONE else number ^ 1
        return number

    def _nearest(self, function: Any, name: str) -> List[int]:
        raw = native.encode(name)
        ids = ffi.new("uint32_t[]", lib.WFRE_NEAREST)
        count = function(self._use(), ffi.from_buffer(raw), len(raw), ids, lib.WFRE_NEAREST)
        return list(ffi.unpack(ids, count)) if count else []

    def _entity_id(self, entity: Union[str, int]) -> int:
        if isinstance(entity, Entity) and getattr(entity, "_graph", None) is self:
            return entity.id
        if not isinstance(entity, str):
            number = operator.index(entity)
            if isinstance(entity, bool) or not 0 <= number < lib.wfre_graph_entities(self._use()):
                raise errors.NotFound(f"no entity has the number {entity}")
            return number
        number = self._find_entity(entity)
        if number == _NONE:
            near = self._nearest(lib.wfre_nearest_entities, entity)
            names = tuple(str(self._entity(i)) for i in near)
            raise errors.NotFound(_unknown("entity", entity, names), None, names)
        return number

    def _relation_id(self, relation: Union[str, int]) -> int:
        if isinstance(relation, Relation) and getattr(relation, "_graph", None) is self:
            return relation.id
        if not isinstance(relation, str):
            number = operator.index(relation)
            most = lib.wfre_graph_relations(self._use())
            if isinstance(relation, bool) or not 0 <= number < most:
                raise errors.NotFound(f"no relation has the number {relation}")
            return number
        number = self._find_relation(relation)
        if number == _NONE:
            near = self._nearest(lib.wfre_nearest_relations, relation)
            names = tuple(str(self._relation(i)) for i in near)
            raise errors.NotFound(_unknown("relation", relation, names), None, names)
        return number

    def entity(self, name: Union[str, int]) -> Entity:
        """An entity by its name, IRI, label or number, as in a question.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob")])
        >>> g.entity("ANN").id
        0
        >>> g.entity("anna")
        Traceback (most recent call last):
        wfre.NotFound: no entity is called anna; the nearest: ann
        """
        return self._entity(self._entity_id(name))

    def relation(self, name: Union[str, int]) -> Relation:
        """A relation by its name, IRI, label or number; with ``^-1`` at the end its inverse."""
        return self._relation(self._relation_id(name))

    @property
    def entities(self) -> Sequence[Entity]:
        """All entities: ``g.entities[5]``, ``len(g.entities)``, ``"ann" in g.entities``."""
        self._use()
        return _Entities(self)

    @property
    def relations(self) -> Sequence[Relation]:
        """All relations, without their inverses."""
        self._use()
        return _Relations(self)

    @property
    def prefixes(self) -> Dict[str, str]:
        """The prefixes of the RDF that the graph was made of."""
        cdata = self._use()
        prefix, iri = ffi.new("wfre_name *"), ffi.new("wfre_name *")
        found: Dict[str, str] = {}
        for i in itertools.count():
            if not lib.wfre_graph_prefix(cdata, i, prefix, iri):
                return found
            found[native.name(prefix)] = native.name(iri)
        raise AssertionError

    # ---- edges ------------------------------------------------------------------------------

    def targets(
        self, entity: Union[str, int], relation: Union[str, int], split: str = "all"
    ) -> List[Entity]:
        """The t with relation(entity, t).

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("ann", "knows", "cy")])
        >>> g.targets("ann", "knows"), g.targets("cy", "knows^-1")
        (['bob', 'cy'], ['ann'])
        """
        found = lib.wfre_graph_targets(
            self._use(), native.split(split), self._relation_id(relation), self._entity_id(entity)
        )
        return [self._entity(i) for i in ffi.unpack(found.ids, found.count)] if found.count else []

    def sources(self, relation: Union[str, int], split: str = "all") -> List[Entity]:
        """The entities that have an edge of this relation going out."""
        found = lib.wfre_graph_sources(
            self._use(), native.split(split), self._relation_id(relation)
        )
        return [self._entity(i) for i in ffi.unpack(found.ids, found.count)] if found.count else []

    def has(
        self,
        head: Union[str, int],
        relation: Union[str, int],
        tail: Union[str, int],
        split: str = "all",
    ) -> bool:
        """Whether the graph has a triple."""
        return bool(
            lib.wfre_graph_has(
                self._use(),
                native.split(split),
                self._entity_id(head),
                self._relation_id(relation),
                self._entity_id(tail),
            )
        )

    def count(self, relation: Union[str, int, None] = None, split: str = "all") -> int:
        """How many triples there are, of one relation or of all."""
        number = native.split(split)
        if relation is None:
            return int(lib.wfre_graph_triples(self._use(), number))
        cdata = self._use()
        return int(lib.wfre_graph_relation_triples(cdata, number, self._relation_id(relation)))

    def triple_ids(self, split: str = "all") -> "numpy.ndarray[Any, Any]":
        """All triples as numbers: a numpy array of head, relation and tail. Relations are even
        numbers.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
        >>> g.triple_ids().tolist()
        [[0, 0, 1], [1, 0, 2]]
        """
        import numpy

        cdata, number = self._use(), native.split(split)
        count = lib.wfre_graph_triples(cdata, number)
        ids = numpy.empty((count, 3), numpy.uint32)
        if count:
            native.call(
                lib.wfre_graph_copy_triples, cdata, number, _pointer("uint32_t[]", ids), count
            )
        return ids

    def triples(self, split: str = "all") -> Iterator[Tuple[Entity, Relation, Entity]]:
        """All triples by their names, relation by relation."""
        names = list(self.relations)
        for relation in names:
            for head in self.sources(relation, split):
                for tail in self.targets(head, relation, split):
                    yield head, relation, tail

    def to_pandas(self, split: str = "all") -> "pandas.DataFrame":
        """All triples as a frame with the columns head, relation and tail."""
        ids = self.triple_ids(split)
        entities = [str(e) for e in self.entities]
        relations = [str(r) for r in self.relations]
        return _show.frame(
            {
                "head": [entities[i] for i in ids[:, 0].tolist()],
                "relation": [relations[i // 2] for i in ids[:, 1].tolist()],
                "tail": [entities[i] for i in ids[:, 2].tolist()],
            }
        )

    # ---- statistics -------------------------------------------------------------------------

    @property
    def fingerprint(self) -> int:
        """Identifies the contents; a model knows its graph by it."""
        return int(lib.wfre_graph_fingerprint(self._use()))

    @property
    def attributes(self) -> int:
        """How many triples with a literal or a blank node are kept beside the graph."""
        return int(lib.wfre_graph_attributes(self._use()))

    def degrees(self, split: str = "all") -> Degrees:
        """In how many triples entities are.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
        >>> g.degrees().maximum, g.degrees().hub
        (2, 'bob')
        """
        out = ffi.new("wfre_degrees *")
        native.call(lib.wfre_graph_degrees, self._use(), native.split(split), out)
        return Degrees(
            out.unconnected,
            out.mean,
            out.median,
            out.upper_tenth,
            out.upper_hundredth,
            out.maximum,
            None if out.hub == _NONE else self._entity(out.hub),
        )

    def hierarchy(
        self,
        relation: Union[str, int],
        split: str = "all",
        triangles: int = 1000,
        seed: int = 1,
    ) -> Hierarchy:
        """How much a relation orders its entities like a hierarchy: Krackhardt's score (1 for a
        hierarchy, 0 for a symmetric relation) and the curvature of Gu et al. 2018."""
        out = ffi.new("wfre_hierarchy *")
        native.call_stoppable(
            lib.wfre_graph_hierarchy,
            self._use(),
            native.split(split),
            self._relation_id(relation),
            triangles,
            seed,
            native.pool(),
            out,
        )
        return Hierarchy(
            out.entities, out.edges, out.krackhardt, out.one_way, out.curvature, out.triangles
        )

    # ---- files ------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Writes it as a snapshot (\\*.kg), which ``wfre.open`` opens in no time."""
        native.call(lib.wfre_graph_save, self._use(), native.c_path(path))

    def export(self, path: StrPath, format: Optional[str] = None, split: str = "all") -> int:
        """Writes it as RDF, "nt" or "ttl"; returns how many triples that are."""
        monitor = native.Monitor()
        count = ffi.new("uint64_t *")
        given, kind = native.c_path(path), native.c_text(format, "format")
        monitor.call(
            lib.wfre_graph_export,
            self._use(),
            native.split(split),
            given,
            kind,
            monitor.struct,
            count,
        )
        return int(count[0])

    def validate(self) -> None:
        """Reads everything and checks it; raises ``wfre.FormatError`` if something is damaged."""
        native.call(lib.wfre_graph_validate, self._use())

    # ---- questions --------------------------------------------------------------------------

    def _engine(self, model: Optional["Model"]) -> Engine:
        """The engine of this graph and a model (or none), made when it is first needed."""
        cdata = self._use()
        key: Any = self if model is None else model
        if model is not None:
            if not isinstance(model, native.Handle) or model._what != "model":
                raise TypeError(f"a model must be a wfre.Model, not {type(model).__name__}")
            cmodel = model._use()
        else:
            cmodel = NULL
        engine = self._engines.get(key)
        if engine is not None and engine.generation == native.generation:
            return engine
        with self._lock:
            engine = self._engines.get(key)
            if engine is None or engine.generation != native.generation:
                engine = Engine(cdata, cmodel)
                self._engines[key] = engine
                if model is not None:
                    model._graphs.add(self)
        return engine

    def query(self, text: str, notation: str = "auto") -> asking.Query:
        """Reads a question without asking it; notations are "logic", "tree" and "betae"."""
        return asking.Query(self, text, notation)

    @overload
    def ask(  # type: ignore  # a str is a sequence of str as well; the first one counts
        self,
        question: Union[str, asking.Query],
        model: Optional["Model"] = None,
        *,
        top: int = 10,
        min_probability: float = 0.0,
        split: str = "all",
        proven: bool = True,
        predicted: bool = True,
        timeout: Union[str, float, None] = None,
        way: Optional[str] = None,
        missing_rate: float = 0.0,
    ) -> asking.Answers: ...
    @overload
    def ask(
        self,
        question: Sequence[Union[str, asking.Query]],
        model: Optional["Model"] = None,
        *,
        top: int = 10,
        min_probability: float = 0.0,
        split: str = "all",
        proven: bool = True,
        predicted: bool = True,
        timeout: Union[str, float, None] = None,
        way: Optional[str] = None,
        missing_rate: float = 0.0,
    ) -> List[asking.Answers]: ...
    def ask(
        self,
        question: Union[str, asking.Query, Sequence[Union[str, asking.Query]]],
        model: Optional["Model"] = None,
        *,
        top: int = 10,
        min_probability: float = 0.0,
        split: str = "all",
        proven: bool = True,
        predicted: bool = True,
        timeout: Union[str, float, None] = None,
        way: Optional[str] = None,
        missing_rate: float = 0.0,
    ) -> Union[asking.Answers, List[asking.Answers]]:
        """Answers a question, or many together, which takes less time than one after the other.

        Without a model there are only the answers that the graph proves; with one at most ``top``
        that it predicts, none less likely than ``min_probability``. ``split`` is the graph that
        proves. ``timeout`` is for each question, in seconds or as "500ms", "2s". ``way`` is
        "embedding" or "edges", with "exhaustive" if every entity is to be scored; else the model
        says how it is asked. ``missing_rate`` is the share of what is true that the graph lacks, if
        its owner knows; it scales the odds of probabilities (0: as much as was held out).

        A question that fails raises; of many, its own answers have an ``error`` instead.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
        >>> g.ask("?x : knows(ann, ?y) & knows(?y, ?x)").proven
        ['cy']
        >>> [a.proven for a in g.ask(["?x : knows(?x, bob)", "?x : !knows(?x, bob)"])]
        [['ann'], ['bob', 'cy']]
        """
        if isinstance(question, (str, asking.Query)):
            many: Sequence[Union[str, asking.Query]] = (question,)
        elif isinstance(question, Iterable) and not isinstance(question, (bytes, bytearray)):
            many = list(question)
        else:
            raise TypeError(f"a question must be a str, not {type(question).__name__}")
        answers = asking.ask(
            self,
            many,
            model,
            top,
            min_probability,
            split,
            proven,
            predicted,
            timeout,
            way,
            missing_rate,
        )
        if many is not question and not isinstance(question, (str, asking.Query)):
            return answers
        if answers[0].error is not None:
            raise answers[0].error
        return answers[0]

    def sparql(
        self,
        query: str,
        model: Optional["Model"] = None,
        *,
        split: str = "all",
        timeout: Union[str, float, None] = None,
        base: Optional[str] = None,
        seed: int = 0,
    ) -> "SparqlResult":
        """Runs a SPARQL 1.1 query. What a model predicts comes from ``SERVICE wfre:predict`` alone.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
        >>> g.sparql("SELECT ?x { ?x r:knows/r:knows e:cy }").rows
        [('urn:wfre:e:ann',)]
        """
        from . import _sparql

        return _sparql.run(self, query, model, split, timeout, base, seed)

    def predict(
        self,
        model: "Model",
        relation: Union[str, int, None] = None,
        *,
        top: int = 10,
        min_probability: float = 0.0,
        split: str = "all",
        way: Optional[str] = None,
        missing_rate: float = 0.0,
    ) -> PredictedTriples:
        """Predicts the triples that a relation lacks (None: every relation), likeliest first:
        ``top`` for each entity that has the relation, from either end."""
        engine = self._engine(model)
        options = ffi.new("wfre_missing_options *")
        lib.wfre_missing_options_default(options)
        options.missing_rate = missing_rate
        options.split = native.split(split)
        options.top = top
        options.min_probability = min_probability
        cway = asking.fill_way(engine.cdata, way)
        options.way = cway
        wanted = (
            [2 * i for i in range(len(self.relations))]
            if relation is None
            else [self._relation_id(relation) & ~1]
        )
        rows: List[PredictedTriple] = []
        for number in wanted:
            out, count = ffi.new("wfre_missing_triple **"), ffi.new("size_t *")
            engine.call(lib.wfre_session_missing, number, options, CANCEL, out, count)
            found = ffi.gc(out[0], lib.wfre_missing_triples_free)
            rows += (self._predicted(found[i]) for i in range(count[0]))
        if len(wanted) > 1:
            rows.sort(key=lambda t: (-t.probability, -t.score))
        return PredictedTriples(rows)

    def _predicted(self, cdata: Any) -> PredictedTriple:
        return PredictedTriple(
            self._entity(cdata.head),
            self._relation(cdata.relation),
            self._entity(cdata.tail),
            cdata.probability,
            cdata.score,
        )

    # ---- everyday questions -----------------------------------------------------------------

    def rows(
        self,
        question: Union[str, asking.Query],
        model: Optional["Model"] = None,
        *,
        top: int = 10,
        most: int = 0,
        min_probability: float = 0.0,
        split: str = "all",
        timeout: Union[str, float, None] = None,
    ) -> "Rows":
        """Answers a question for any number of variables, also for relations (``?r(a, ?x)``): at
        most ``most`` rows that the graph proves (0: all), and ``top`` that the model predicts.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "likes", "cy")])
        >>> [row.values for row in g.rows("?x, ?y : knows(?x, ?y)")]
        [('ann', 'bob')]
        >>> [row.values for row in g.rows("?r, ?y : ?r(bob, ?y)")]
        [('likes', 'cy')]
        """
        from . import _everyday

        query, reply = _everyday.reply(
            self, question, model, top, most, min_probability, split, timeout
        )
        return _everyday.Rows(self, query, reply)

    def holds(
        self,
        sentence: Union[str, asking.Query],
        model: Optional["Model"] = None,
        *,
        split: str = "all",
        timeout: Union[str, float, None] = None,
    ) -> "Verdict":
        """Whether a sentence without variables holds: proven, refuted, or predicted with a
        probability.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "likes", "cy")])
        >>> g.holds("knows(ann, bob) & likes(bob, cy)")
        Verdict(status='proven', probability=1.0)
        """
        from . import _everyday

        _, reply = _everyday.reply(self, sentence, model, 10, 1, 0.0, split, timeout)
        return _everyday.verdict(reply)

    def score(
        self,
        triples: Union[Iterable[Sequence[Union[str, int]]], "pandas.DataFrame"],
        model: Optional["Model"] = None,
        *,
        split: str = "all",
        way: Optional[str] = None,
    ) -> "ScoredTriples":
        """How likely triples are, in the order in which they are given.

        >>> import wfre
        >>> g = wfre.import_triples([("ann", "knows", "bob")])
        >>> [t.status for t in g.score([("ann", "knows", "bob"), ("bob", "knows", "ann")])]
        ['proven', 'unknown']
        """
        from . import _everyday

        return _everyday.score(self, triples, model, split, way)

    def describe(
        self,
        entity: Union[str, int],
        model: Optional["Model"] = None,
        *,
        missing: int = 10,
        min_probability: float = 0.0,
        split: str = "all",
        missing_rate: float = 0.0,
    ) -> "Description":
        """All that is known of an entity and, with a model, its likeliest missing edges."""
        from . import _everyday

        return _everyday.describe(
            self, entity, model, missing, min_probability, split, missing_rate
        )

    def near(
        self, entity: Union[str, int], model: "Model", *, top: int = 10
    ) -> List[asking.Prediction]:
        """The entities most like this one by the model, best first. This is likeness: probabilities
        are NaN."""
        from . import _everyday

        return _everyday.near(self, entity, model, top)

    def find(
        self, text: str, *, limit: int = 10, kind: str = "any"
    ) -> "List[Union[Entity, Relation]]":
        """Entities and relations ("any", or "entity" or "relation" alone) whose names go on with a
        text or have it within, best first.

        >>> import wfre
        >>> g = wfre.import_triples([("ann lee", "knows", "bob"), ("anna", "knows", "bob")])
        >>> g.find("ann", kind="entity")
        ['ann lee', 'anna']
        """
        from . import _everyday

        return _everyday.find(self, text, limit, kind)

    # ---- more -------------------------------------------------------------------------------

    def add(
        self,
        model: "Model",
        triples: Union["Graph", Iterable[Triple], "pandas.DataFrame"],
        *,
        steps: int = 40,
    ) -> Tuple["Graph", "Model"]:
        """A larger graph, and a model that knows its new entities, without training again: each new
        one is fitted to its triples with known entities. Relations must be known."""
        from ._model import Model

        extra = triples if isinstance(triples, Graph) else import_triples(triples)
        monitor = native.Monitor()
        graph, made = ffi.new("wfre_graph **"), ffi.new("wfre_model **")
        report = ffi.new("wfre_addition *")
        if not isinstance(model, Model):
            raise TypeError(f"a model must be a wfre.Model, not {type(model).__name__}")
        monitor.call(
            lib.wfre_add_with,
            self._use(),
            model._use(),
            extra._use(),
            steps,
            native.pool(),
            monitor.struct,
            graph,
            made,
            report,
        )
        return (
            Graph._of(ffi.gc(graph[0], lib.wfre_graph_close)),
            Model._of(ffi.gc(made[0], lib.wfre_model_free)),
        )

    def sample(
        self,
        path: Optional[StrPath] = None,
        *,
        split: str = "valid",
        types: Optional[str] = None,
        count: int = 100,
        cap: int = 100,
        seed: int = 1,
        protocol: str = "betae",
        edges: str = "questions",
    ) -> "QuerySet":
        """Samples questions with easy answers (that the smaller graph proves) and hard ones (that
        only the split's proves), ``count`` of each type. ``types`` are such as "1p 2p 2in"; None
        takes the 14 of BetaE. By the ``protocol`` "betae" they are as published sets were made, by
        "strict" every branch matters. Single edges are drawn over "questions", "facts" or
        "answers". They are written to ``path`` (\\*.tsv), or kept in memory."""
        from . import _evaluate

        return _evaluate.sample(self, path, split, types, count, cap, seed, protocol, edges)

    def __repr__(self) -> str:
        if self.closed:
            return "<Graph: closed>"
        return (
            f"<Graph: {len(self.entities):,} entities, {len(self.relations):,} relations, "
            f"{self.count():,} triples>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (relation.label, self.count(relation))
            for relation in itertools.islice(self.relations, 1000)
        ]
        rows.sort(key=lambda row: -row[1])
        return _show.table(("relation", "triples"), rows, (), repr(self)[1:-1], 10)


def _unknown(what: str, name: str, near: Sequence[str]) -> str:
    message = f"no {what} is called {name}"
    return message + "; the nearest: " + ", ".join(near[:5]) if near else message


def _pointer(ctype: str, array_: Any) -> Any:
    return ffi.from_buffer(ctype, array_)


# ---- importing ------------------------------------------------------------------------------


def _rows_of(triples: Any) -> Iterator[Any]:
    """Triples as rows: of a frame its columns head, relation and tail, or its first three."""
    columns = getattr(triples, "columns", None)
    if columns is None or not hasattr(triples, "itertuples"):
        return iter(triples)
    names = [str(c).lower() for c in columns]
    for wanted in (
        ("head", "relation", "tail"),
        ("subject", "predicate", "object"),
        ("h", "r", "t"),
        ("s", "p", "o"),
        ("source", "relation", "target"),
    ):
        if all(w in names for w in wanted):
            at = [names.index(w) for w in wanted]
            break
    else:
        if len(names) < 3:
            raise errors.ArgumentError("a frame of triples needs three columns")
        at = [0, 1, 2]
    lists = [triples.iloc[:, i].tolist() for i in at]
    return iter(zip(*lists))


def _names_of(triples: Any, into: List[bytes]) -> int:
    """Appends the names of triples, three for each; returns how many triples there are."""
    count = 0
    for triple in _rows_of(triples):
        if isinstance(triple, (str, bytes)):
            raise TypeError(f"triple {count} must be a head, a relation and a tail, not {triple!r}")
        try:
            head, relation, tail = triple
            into += (head.encode(), relation.encode(), tail.encode())
        except (AttributeError, TypeError):
            raise TypeError(
                f"triple {count} must be three str, not {triple!r}"
            ) from None
        except ValueError as error:
            if isinstance(error, UnicodeError):
                raise errors.FormatError(f"triple {count}: {error}", count) from None
            raise errors.ArgumentError(
                f"triple {count} must be a head, a relation and a tail, not {triple!r}", count
            ) from None
        count += 1
    return count


def _spans(names: Sequence[bytes]) -> Tuple[Any, Any]:
    """An array of wfre_named_triple over the names' bytes, and what keeps it alive."""
    blob = b"".join(names)
    buffer = ffi.from_buffer(blob)
    base = int(ffi.cast("uintptr_t", buffer))
    lengths = array("Q", map(len, names))
    starts = array("Q", itertools.accumulate(lengths, initial=base))
    starts.pop()
    spans = array("Q", bytes(16 * len(names)))
    spans[0::2] = starts
    spans[1::2] = lengths
    view = ffi.from_buffer(spans)
    return ffi.cast("wfre_named_triple *", view), (blob, buffer, spans, view)


def _options(
    holdout: float,
    seed: int,
    base: Optional[str],
    labels: Union[StrPath, Mapping[str, str], None],
) -> Tuple[Any, List[Any]]:
    """wfre_import_options, and what keeps them alive."""
    import tempfile

    options = ffi.new("wfre_import_options *")
    options.holdout = holdout
    options.seed = seed
    keep: List[Any] = [native.c_text(base, "base")]
    options.base = keep[0]
    if isinstance(labels, Mapping):
        file = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", newline="\n")
        for name, label in labels.items():
            if any(c in text for text in (name, label) for c in "\t\n\r\0"):
                raise errors.ArgumentError(f"the label of {name!r} must be one line without tabs")
            file.write(f"{name}\t{label}\n")
        file.flush()
        keep.append(file)
        labels = file.name
    keep.append(native.c_path(labels, "labels"))
    options.labels = keep[-1]
    return options, keep


def import_triples(
    triples: Union[Iterable[Triple], "pandas.DataFrame"],
    *,
    valid: Union[Iterable[Triple], "pandas.DataFrame"] = (),
    test: Union[Iterable[Triple], "pandas.DataFrame"] = (),
    holdout: float = 0.0,
    seed: int = 1,
    labels: Union[StrPath, Mapping[str, str], None] = None,
    base: Optional[str] = None,
) -> Graph:
    """A graph of triples in memory: tuples of head, relation and tail, or a pandas frame with
    these columns.

    ``valid`` and ``test`` are the triples that these splits add; or ``holdout``, such as 0.05, is
    the share of the triples that becomes them. ``labels`` are names to show: a dict, or a TSV file
    of names, labels and descriptions.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
    >>> g.has("ann", "knows", "bob")
    True
    """
    names: List[bytes] = []
    counts = [_names_of(part, names) for part in (triples, valid, test)]
    spans, keep = _spans(names)
    options, alive = _options(holdout, seed, base, labels)
    monitor = native.Monitor()
    out = ffi.new("wfre_graph **")
    monitor.call(
        lib.wfre_import_triples,
        spans,
        ffi.new("size_t[]", counts),
        options,
        monitor.struct,
        out,
        NULL,
    )
    del keep, alive
    return Graph._of(ffi.gc(out[0], lib.wfre_graph_close))


def import_file(
    *paths: StrPath,
    format: Optional[str] = None,
    holdout: float = 0.0,
    seed: int = 1,
    labels: Union[StrPath, Mapping[str, str], None] = None,
    literals: str = "attributes",
    language: Optional[str] = None,
    base: Optional[str] = None,
    header: bool = False,
    save: Optional[StrPath] = None,
) -> Graph:
    """A graph from files: TSV, CSV, N-Triples, Turtle, N-Quads, TriG, each perhaps with gzip, or a
    folder of a benchmark or of WordNet.

    Files that are named train, valid and test become these splits; else ``holdout`` is the share of
    the triples that becomes valid and test. RDF literals are kept as "attributes", become
    "entities", or are left out ("drop"). With ``save`` the graph is written there (\\*.kg) at once,
    which needs less memory.

    >>> import pathlib, tempfile, wfre
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "g.tsv")
    ...     _ = path.write_text("ann\\tknows\\tbob\\n")
    ...     wfre.import_file(path)
    <Graph: 2 entities, 1 relations, 1 triples>
    """
    if not paths:
        raise TypeError("import_file needs at least one path")
    options, keep = _options(holdout, seed, base, labels)
    keep += [native.c_text(format, "format"), native.c_text(language, "language")]
    options.format, options.language = keep[-2], keep[-1]
    options.literals = native.choice(literals, "literals", _LITERALS)
    options.header = bool(header)
    given = [native.c_path(p) for p in paths]
    sources = ffi.new("const char *[]", given)
    monitor = native.Monitor()
    if save is not None:
        monitor.call(
            lib.wfre_import,
            sources,
            len(given),
            options,
            native.c_path(save),
            monitor.struct,
            NULL,
        )
        return Graph(save)
    out = ffi.new("wfre_graph **")
    monitor.call(
        lib.wfre_import_graph, sources, len(given), options, monitor.struct, out, NULL
    )
    return Graph._of(ffi.gc(out[0], lib.wfre_graph_close))


def open(path: StrPath) -> Graph:
    """Opens a snapshot (\\*.kg), which ``Graph.save`` and ``wfre import`` write."""
    return Graph(path)
