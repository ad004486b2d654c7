"""SPARQL 1.1 over a graph."""
from __future__ import annotations

import json
import re
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


class SparqlTriple(NamedTuple):
    """A triple that a CONSTRUCT or DESCRIBE gave."""

    subject: Term
    predicate: Term
    object: Term


# A term as the library writes it into N-Triples: an IRI, a blank node, or a literal.
_TERM = re.compile(
    r'<([^>]*)>|_:(\S+)|"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?', re.S
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.S)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def _plain(text: str) -> str:
    """Without the escapes of N-Triples."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(
        lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _ESCAPED.get(m[3], m[3]), text
    )


def _triple(line: str) -> SparqlTriple:
    """One line of N-Triples."""
    terms: List[Term] = []
    for found in _TERM.finditer(line):
        iri, blank, literal, language, datatype = found.groups()
        if iri is not None:
            terms.append(Term("uri", _plain(iri)))
        elif blank is not None:
            terms.append(Term("bnode", blank))
        else:
            kind = None if datatype is None else _plain(datatype)
            terms.append(Term("literal", _plain(literal), kind, language))
    return SparqlTriple(*terms)


class SparqlResult(_show.Table):
    """What a query gave. Of a SELECT it is the sequence of its rows, of a CONSTRUCT or DESCRIBE the
    sequence of its triples (``SparqlTriple``); ``truth`` is the answer of an ASK.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob"), ("bob", "knows", "cy")])
    >>> built = g.sparql("CONSTRUCT { ?y r:known_by ?x } WHERE { ?x r:knows ?y }")
    >>> len(built), sorted(t.subject.value for t in built)
    (2, ['urn:wfre:e:bob', 'urn:wfre:e:cy'])
    """

    #: "SELECT", "ASK", "CONSTRUCT" or "DESCRIBE".
    form: str
    #: The variables of a SELECT.
    variables: Tuple[str, ...]
    #: The answer of an ASK.
    truth: Optional[bool]
    #: The triples of a CONSTRUCT or DESCRIBE, as N-Triples.
    text: str

    def __init__(self, form: str, text: str) -> None:
        self.form = form
        self.variables = ()
        self.truth = None
        self.text = ""
        self._terms: Optional[List[Any]] = []
        self._values: Optional[List[Any]] = None
        if form in ("SELECT", "ASK"):
            self._read(json.loads(text))
            self._columns = self.variables
        else:
            self.text = text
            self._terms = None  # read when they are asked for
            self._columns = SparqlTriple._fields

    @property
    def terms(self) -> List[Tuple[Optional[Term], ...]]:
        """The rows with whole terms, None where nothing is bound; the triples of a CONSTRUCT or
        DESCRIBE."""
        if self._terms is None:
            self._terms = [_triple(line) for line in self.text.split("\n") if line]
        return self._terms

    def _read(self, data: Dict[str, Any]) -> None:
        if self.form == "ASK":
            self.truth = bool(data["boolean"])
            return
        self.variables = tuple(data["head"]["vars"])
        self._terms = [
            tuple(_term(binding.get(v)) for v in self.variables)
            for binding in data["results"]["bindings"]
        ]

    @property
    def rows(self) -> List[Tuple[Union[str, int, float, bool, None], ...]]:
        """The rows in Python's own types: IRIs and texts as str, numbers as numbers, None if
        unbound."""
        if self._values is None:
            self._values = [
                tuple(None if t is None else t.python for t in row) for row in self.terms
            ]
        return self._values

    def _rows(self) -> Sequence[Any]:
        if self.form == "SELECT":
            return self.rows
        return self.terms

    def _cells(self) -> List[Any]:
        return self.rows

    def __len__(self) -> int:
        return len(self.terms) if self._terms is not None else self.text.count("\n")

    def __bool__(self) -> bool:
        return bool(self.truth) if self.form == "ASK" else len(self) > 0

    def __str__(self) -> str:
        if self.form == "ASK":
            return "yes" if self.truth else "no"
        return super().__str__() if self.form == "SELECT" else self.text

    def __repr__(self) -> str:
        if self.form == "ASK":
            return f"<SparqlResult: {self.truth}>"
        if self.form != "SELECT":
            return f"<SparqlResult: {len(self):,} triples>"
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
