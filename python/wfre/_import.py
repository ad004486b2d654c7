"""Making graphs: of triples in memory, of frames, of files."""
from __future__ import annotations

import itertools
import os
from array import array
from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from . import _native as native
from . import errors
from ._graph import Graph, Triple
from ._native import NULL, StrPath, ffi, lib

if TYPE_CHECKING:
    import pandas

_LITERALS = ("attributes", "entities", "drop")


def rows_of(triples: Any) -> Iterator[Any]:
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
    for triple in rows_of(triples):
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
    allow_empty: bool,
) -> Tuple[Any, List[Any]]:
    """wfre_import_options, and what keeps them alive."""
    import tempfile

    options = ffi.new("wfre_import_options *")
    options.holdout = holdout
    options.seed = native.seed(seed)
    options.allow_empty = bool(allow_empty)
    keep: List[Any] = [native.c_text(base, "base")]
    options.base = keep[0]
    if isinstance(labels, Mapping):
        file = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", newline="\n")
        for name, label in labels.items():
            if not isinstance(name, str) or not isinstance(label, str):
                raise TypeError(f"labels must be str for str, not {label!r} for {name!r}")
            if any(c in text for text in (name, label) for c in "\t\n\r\0"):
                raise errors.ArgumentError(f"the label of {name!r} must be one line without tabs")
            file.write(f"{name}\t{label}\n")
        file.flush()
        keep.append(file)
        labels = file.name
    keep.append(native.c_path_if(labels, "labels"))
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
    allow_empty: bool = False,
) -> Graph:
    """A graph of triples in memory: tuples of head, relation and tail, or a pandas frame with
    these columns.

    ``valid`` and ``test`` are the triples that these splits add; or ``holdout``, such as 0.05, is
    the share of the triples that becomes them. ``labels`` are names to show: a dict, or a TSV file
    of names, labels and descriptions. No triples at all are an error unless ``allow_empty``.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
    >>> g.has("ann", "knows", "bob")
    True
    """
    names: List[bytes] = []
    counts = [_names_of(part, names) for part in (triples, valid, test)]
    spans, keep = _spans(names)
    options, alive = _options(holdout, seed, base, labels, allow_empty)
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
    allow_empty: bool = False,
    save: Optional[StrPath] = None,
) -> Graph:
    """A graph from files: TSV, CSV, N-Triples, Turtle, N-Quads, TriG, each perhaps with gzip, or a
    folder of a benchmark or of WordNet.

    Files that are named train, valid and test become these splits; else ``holdout`` is the share of
    the triples that becomes valid and test. RDF literals are kept as "attributes", become
    "entities", or are left out ("drop"). Files without a triple are an error unless
    ``allow_empty``. With ``save`` the graph is written there (\\*.kg) at once,
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
    options, keep = _options(holdout, seed, base, labels, allow_empty)
    keep += [native.c_text(format, "format"), native.c_text(language, "language")]
    options.format, options.language = keep[-2], keep[-1]
    options.literals = native.choice(literals, "literals", _LITERALS)
    options.header = bool(header)
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(
                f"a path must be a str or an os.PathLike, not {type(path).__name__}; triples in "
                "memory and frames are for `import_triples`"
            )
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
