"""Graphs: opened from files, looked up, asked."""
from __future__ import annotations

import itertools
import os
import threading
import weakref
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
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
from ._names import NONE, Entity, Kind, Names, Relation
from ._native import NULL, StrPath, ffi, lib

if TYPE_CHECKING:
    import numpy
    import pandas

    from ._evaluate import QuerySet
    from ._everyday import Description, PredictedTriples, Rows, ScoredTriples, Verdict
    from ._model import Model
    from ._sparql import SparqlResult

Triple = Tuple[str, str, str]


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


class Graph(native.FromFile):
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

    __slots__ = ("_engines", "_lock")
    _what = "graph"

    def __init__(self, path: StrPath) -> None:
        given = native.c_path(path)
        cdata = native.make("wfre_graph", lib.wfre_graph_close, lib.wfre_graph_open, given)
        self._start(cdata, os.path.abspath(native.path_text(path)))

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

    def _open_again(self, path: str) -> None:
        old = lib.wfre_graph_fingerprint(self._cdata)
        given = native.c_path(path)
        cdata = native.make("wfre_graph", lib.wfre_graph_close, lib.wfre_graph_open, given)
        if lib.wfre_graph_fingerprint(cdata) != old:
            raise errors.Mismatch(f"{path} is another graph than before the fork")
        self._start(cdata, path)

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
        if number == NONE and raw.endswith(b"^-1"):
            number = int(lib.wfre_graph_find_relation(cdata, ffi.from_buffer(raw), len(raw) - 3))
            return number if number == NONE else number ^ 1
        return number

    def _entity_id(self, entity: Union[str, int]) -> int:
        return _ENTITIES.number(self, entity)

    def _relation_id(self, relation: Union[str, int]) -> int:
        return _RELATIONS.number(self, relation)

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
        return Names(self, _ENTITIES)

    @property
    def relations(self) -> Sequence[Relation]:
        """All relations, without their inverses."""
        return Names(self, _RELATIONS)

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
            None if out.hub == NONE else self._entity(out.hub),
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
            native.whole(triangles, "triangles"),
            native.seed(seed),
            native.pool(),
            out,
        )
        return Hierarchy(
            out.entities, out.edges, out.krackhardt, out.one_way, out.curvature, out.triangles
        )

    # ---- files ------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Writes it as a snapshot (\\*.kg), which ``wfre.open`` opens in no time."""
        native.call_stoppable(lib.wfre_graph_save, self._use(), native.c_path(path))

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
        native.call_stoppable(lib.wfre_graph_validate, self._use())

    # ---- questions --------------------------------------------------------------------------

    def _engine(self, model: Optional["Model"]) -> Engine:
        """The engine of this graph and a model (or none), made when it is first needed."""
        cdata = self._use()
        key: Any = self if model is None else model
        if model is not None:
            native.given(model, "model")
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
        its owner knows; it scales the odds of probabilities (0: as was held out of the split).

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
    ) -> "PredictedTriples":
        """Predicts the triples that a relation lacks (None: every relation), likeliest first:
        ``top`` for each entity that has the relation, from either end."""
        from . import _everyday

        return _everyday.predict(
            self, model, relation, top, min_probability, split, way, missing_rate
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
        from ._import import import_triples
        from ._model import Model

        native.given(model, "model")
        extra = triples if isinstance(triples, Graph) else import_triples(triples)
        monitor = native.Monitor()
        graph, made = ffi.new("wfre_graph **"), ffi.new("wfre_model **")
        report = ffi.new("wfre_addition *")
        monitor.call(
            lib.wfre_add_with,
            self._use(),
            model._use(),
            extra._use(),
            native.whole(steps, "steps"),
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
        types: Union[str, Iterable[str], None] = None,
        count: int = 100,
        cap: int = 100,
        seed: int = 1,
        protocol: str = "betae",
        edges: str = "questions",
    ) -> "QuerySet":
        """Samples questions with easy answers (that the smaller graph proves) and hard ones (that
        only the split's proves), ``count`` of each type. ``types`` are such as "1p 2p 2in", or a
        list of them; None takes the 14 of BetaE. By the ``protocol`` "betae" they are as published sets were made, by
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
        if self.closed:
            return f"<p>{_show.escape(repr(self)[1:-1])}</p>"
        rows = [
            (relation.label, self.count(relation))
            for relation in itertools.islice(self.relations, 1000)
        ]
        rows.sort(key=lambda row: -row[1])
        return _show.table(("relation", "triples"), rows, (), repr(self)[1:-1], 10)


def _pointer(ctype: str, array_: Any) -> Any:
    return ffi.from_buffer(ctype, array_)


_ENTITIES = Kind(
    "entity",
    "entities",
    Entity,
    1,
    lib.wfre_graph_entities,
    lib.wfre_nearest_entities,
    Graph._entity,
    Graph._find_entity,
)
_RELATIONS = Kind(
    "relation",
    "relations",
    Relation,
    2,
    lib.wfre_graph_relations,
    lib.wfre_nearest_relations,
    Graph._relation,
    Graph._find_relation,
)


def open(path: StrPath) -> Graph:
    """Opens a snapshot (\\*.kg), which ``Graph.save`` and ``wfre import`` write."""
    return Graph(path)
