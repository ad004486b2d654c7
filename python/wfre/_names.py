"""The entities and relations of a graph: text that knows its number, and finding it by its name."""
from __future__ import annotations

import operator
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    List,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from . import _native as native
from . import errors
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._graph import Graph

NONE = lib.WFRE_NONE


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


Name = TypeVar("Name", bound=Union[Entity, Relation])


class Kind(Generic[Name]):
    """What entities and relations have in common. Numbers of relations are two apart: those between
    are inverses, which are found by their names, but not counted."""

    def __init__(
        self,
        what: str,
        plural: str,
        kind: Type[Name],
        apart: int,
        count: Any,
        nearest: Any,
        make: "Callable[[Graph, int], Name]",
        find: "Callable[[Graph, str], int]",
    ) -> None:
        self.what = what
        self.plural = plural
        self.kind = kind
        self.apart = apart
        self.count = count
        self.nearest = nearest
        self.make = make
        self.find = find

    def number(self, graph: "Graph", given: Union[str, int]) -> int:
        """The number of one that is given by name or number; raises what is near if there is none."""
        if isinstance(given, self.kind) and getattr(given, "_graph", None) is graph:
            return given.id
        if not isinstance(given, str):
            try:
                number = operator.index(given)
            except TypeError:
                raise TypeError(
                    f"{self.plural} are given by name or number, not by {type(given).__name__}"
                ) from None
            if isinstance(given, bool) or not 0 <= number < self.count(graph._use()):
                raise errors.NotFound(f"no {self.what} has the number {given}")
            return number
        number = self.find(graph, given)
        if number == NONE:
            names = self._near(graph, given)
            if not names and self.apart > 1 and given.endswith("^-1"):
                names = tuple(n + "^-1" for n in self._near(graph, given[:-3]))
            message = f"no {self.what} is called {given}"
            if names:
                message += "; the nearest: " + ", ".join(names[:5])
            raise errors.NotFound(message, None, names)
        return number

    def _near(self, graph: "Graph", name: str) -> Tuple[str, ...]:
        raw = native.encode(name)
        ids = ffi.new("uint32_t[]", lib.WFRE_NEAREST)
        count = self.nearest(graph._use(), ffi.from_buffer(raw), len(raw), ids, lib.WFRE_NEAREST)
        return tuple(str(self.make(graph, ids[i])) for i in range(count))


class Names(Sequence[Name]):
    """All entities by their numbers, or all relations without their inverses."""

    def __init__(self, graph: "Graph", kind: Kind[Name]) -> None:
        graph._use()
        self._graph = graph
        self._kind = kind

    def __len__(self) -> int:
        return int(self._kind.count(self._graph._use())) // self._kind.apart

    @overload
    def __getitem__(self, index: int) -> Name: ...
    @overload
    def __getitem__(self, index: slice) -> List[Name]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Name, List[Name]]:
        kind, count = self._kind, len(self)
        if isinstance(index, slice):
            numbers = range(*index.indices(count))
            return [kind.make(self._graph, kind.apart * i) for i in numbers]
        return kind.make(self._graph, kind.apart * native.position(index, count, kind.what))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._kind.find(self._graph, name) != NONE

    def __reduce__(self) -> Any:
        return (getattr, (self._graph, self._kind.plural))

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._kind.plural}>"
