"""SPARQL 1.1 over a graph."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native as native
from . import _show
from ._native import NULL, ffi, lib

if TYPE_CHECKING:
    from ._graph import Graph
    from ._model import Model

_XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = frozenset(
    _XSD + n
    for n in (
        "integer",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "negativeInteger",
        "nonPositiveInteger",
        "unsignedInt",
        "unsignedLong",
        "unsignedShort",
        "unsignedByte",
    )
)
_REALS = frozenset(_XSD + n for n in ("double", "float", "decimal"))
_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")


class Term(NamedTuple):
    """One term of a result as RDF has it."""

    #: "uri", "literal" or "bnode".
    type: str
    value: str
    datatype: Optional[str] = None
    language: Optional[str] = None

    @property
    def python(self) -> Union[str, int, float, bool]:
        """Its value in Python: numbers and truth values as such, all else as a str."""
        if self.type == "literal" and self.datatype is not None:
            try:
                if self.datatype in _INTEGERS:
                    return int(self.value)
                if self.datatype in _REALS:
                    return float(self.value)
            except ValueError:
                return self.value
            if self.datatype == _XSD + "boolean":
                return self.value in ("true", "1")
        return self.value


class SparqlResult(_show.Table):
    """What a query gave: ``rows`` of a SELECT, ``truth`` of an ASK, ``text`` (N-Triples) of a
    CONSTRUCT or DESCRIBE."""

    #: "SELECT", "ASK", "CONSTRUCT" or "DESCRIBE".
    form: str
    #: The variables of a SELECT.
    variables: Tuple[str, ...]
    #: The rows with whole terms; None where nothing is bound.
    terms: List[Tuple[Optional[Term], ...]]
    #: The answer of an ASK.
    truth: Optional[bool]
    #: The triples of a CONSTRUCT or DESCRIBE, as N-Triples.
    text: str

    def __init__(self, form: str, text: str) -> None:
        self.form = form
        self.variables = ()
        self.terms = []
        self.truth = None
        self.text = ""
        if form in ("SELECT", "ASK"):
            self._read(json.loads(text))
        else:
            self.text = text
        self._columns = self.variables
        self._list = [tuple(None if t is None else t.python for t in row) for row in self.terms]

    def _read(self, data: Dict[str, Any]) -> None:
        if self.form == "ASK":
            self.truth = bool(data["boolean"])
            return
        self.variables = tuple(data["head"]["vars"])
        for binding in data["results"]["bindings"]:
            self.terms.append(tuple(_term(binding.get(v)) for v in self.variables))

    @property
    def rows(self) -> List[Tuple[Union[str, int, float, bool, None], ...]]:
        """The rows of a SELECT: IRIs and texts as str, numbers as numbers, None if unbound."""
        return self._list

    def _rows(self) -> Sequence[Any]:
        return self._list

    def _cells(self) -> List[Any]:
        return self._list

    def __bool__(self) -> bool:
        return bool(self.truth) if self.form == "ASK" else bool(self._list or self.text)

    def __str__(self) -> str:
        if self.form == "ASK":
            return "yes" if self.truth else "no"
        return super().__str__() if self.form == "SELECT" else self.text

    def __repr__(self) -> str:
        if self.form == "ASK":
            return f"<SparqlResult: {self.truth}>"
        if self.form != "SELECT":
            return f"<SparqlResult: {self.text.count(chr(10))} triples>"
        return f"<SparqlResult: {len(self)} rows of {', '.join(self.variables)}>"

    def _repr_html_(self) -> str:
        if self.form != "SELECT":
            lines = map(_show.escape, str(self).split("\n"))
            return "<pre>" + "\n".join(lines) + "</pre>"
        return super()._repr_html_()


def _term(binding: Optional[Dict[str, str]]) -> Optional[Term]:
    if binding is None:
        return None
    kind = "literal" if binding["type"] == "typed-literal" else binding["type"]
    return Term(kind, binding["value"], binding.get("datatype"), binding.get("xml:lang"))


@ffi.callback(  # type: ignore[misc]
    "wfre_status(void *, const char *, size_t, wfre_error *)",
    error=lib.WFRE_ERR_INTERRUPTED,
    onerror=native._keep,
)
def _write(context: Any, bytes_: Any, length: int, error: Any) -> int:
    ffi.from_handle(context).append(ffi.buffer(bytes_, length)[:])
    return 0


class _Pieces(List[bytes]):
    """A list that can be referred to."""


def run(
    graph: "Graph",
    query: str,
    model: Optional["Model"],
    split: str,
    timeout: Union[str, float, None],
    base: Optional[str],
    seed: int,
) -> SparqlResult:
    """See ``Graph.sparql``."""
    raw = native.encode(query, "a query")
    cgraph = graph._use()
    engine = graph._engine(model) if model is not None else None
    options = ffi.new("wfre_sparql_options *")
    given = native.c_text(base, "base")
    options.base = given
    options.graph = cgraph
    if timeout is not None:
        options.timeout = native.seconds(timeout)
    error = ffi.new("wfre_error *")
    out = ffi.new("wfre_sparql **")
    status = lib.wfre_sparql_parse(ffi.from_buffer(raw), len(raw), options, out, error)
    if status != 0:
        raise native.failure(status, error, raw)
    parsed = ffi.gc(out[0], lib.wfre_sparql_free)
    view = native.make(
        "wfre_rdf_view",
        lib.wfre_rdf_view_close,
        lib.wfre_rdf_view_open,
        cgraph,
        native.split(split),
    )
    form = lib.wfre_sparql_get_form(parsed)
    pieces = _Pieces()
    handle = ffi.new_handle(pieces)
    output = ffi.new("wfre_sparql_output *", {"write": _write, "context": handle})
    how = ffi.new("wfre_sparql_run_options *")
    how.limits.timeout = native.seconds(timeout)
    how.seed = native.seed(seed)
    asks = form in (lib.WFRE_SPARQL_SELECT, lib.WFRE_SPARQL_ASK)
    session = engine.lend() if engine is not None else None
    cancel = session.cancel if session is not None else native.new_cancel()
    try:
        how.session = NULL if session is None else session.cdata
        how.cancel = cancel
        status = lib.wfre_sparql_write(
            parsed,
            view,
            how,
            lib.WFRE_SPARQL_JSON if asks else lib.WFRE_SPARQL_NT,
            output,
            NULL,
            error,
        )
    finally:
        if engine is not None and session is not None:
            engine.give_back(session)
    native.raise_pending()
    if status != 0:
        raise native.failure(status, error, raw)
    del cgraph
    return SparqlResult(_FORMS[form], b"".join(pieces).decode("utf-8", "replace"))
