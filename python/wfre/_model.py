"""Models: trained, opened, looked into."""
from __future__ import annotations

import difflib
import json
import math
import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Union

from . import _native as native
from . import _show, errors
from ._native import NULL, StrPath, ffi, lib
from ._progress import monitored

if TYPE_CHECKING:
    import numpy
    import pandas

    from ._evaluate import QuerySet
    from ._graph import Graph


class ReliabilityBin(NamedTuple):
    """The predictions of a certain probability."""

    low: float
    high: float
    predictions: int
    predicted: float
    observed: float


class Reliability(_show.Table):
    """How well a model's probabilities agree with what is true: a sequence of
    ``ReliabilityBin``."""

    _columns = ("low", "high", "predictions", "predicted", "observed")
    _bars = ("predicted", "observed")
    #: Mean of the difference between predicted and observed.
    error: float
    #: Questions that it was measured on.
    queries: int

    def __init__(self, cdata: Any) -> None:
        bins = lib.WFRE_RELIABILITY_BINS
        self.error = cdata.error
        self.queries = cdata.queries
        self._list = [
            ReliabilityBin(i / bins, (i + 1) / bins, b.count, b.predicted, b.observed)
            for i, b in ((i, cdata.bins[i]) for i in range(bins))
        ]

    def _rows(self) -> List[ReliabilityBin]:
        return self._list


class History(_show.Table):
    """How a training run went: a sequence of dicts, one for each line of its log. A notebook shows
    the learning curve."""

    def __init__(self, log: str, curve: str) -> None:
        self._list: List[Dict[str, Any]] = [json.loads(line) for line in log.splitlines() if line]
        self._curve = curve
        names: Dict[str, None] = {}
        for row in self._list:
            names.update(dict.fromkeys(row))
        self._columns = tuple(names)

    def _rows(self) -> List[Dict[str, Any]]:
        return self._list

    def _cells(self) -> List[Any]:
        return [tuple(row.get(c, math.nan) for c in self._columns) for row in self._list]

    def to_svg(self) -> str:
        """The learning curve as a drawing."""
        return self._curve

    def _repr_html_(self) -> str:
        return self._curve


class Model(native.FromFile):
    """A trained model: ``wfre.Model("my.safetensors")``, or what ``wfre.train`` returns.

    A model belongs to one graph, which it knows by its fingerprint. It may be used by many threads
    at once, and is a context manager."""

    __slots__ = ("history", "_graphs")
    _what = "model"
    #: How it was trained, if that was in this process; else None.
    history: Optional[History]

    def __init__(self, path: StrPath) -> None:
        given = native.c_path(path)
        cdata = native.make("wfre_model", lib.wfre_model_free, lib.wfre_model_open, given)
        self._start(cdata, os.path.abspath(native.path_text(path)), None)

    def _start(self, cdata: Any, path: Optional[str], history: Optional[History]) -> None:
        self._set(cdata)
        self.path = path
        self.history = history
        self._graphs: "weakref.WeakSet[Graph]" = weakref.WeakSet()

    @classmethod
    def _of(
        cls, cdata: Any, path: Optional[str] = None, history: Optional[History] = None
    ) -> "Model":
        model = cls.__new__(cls)
        model._start(cdata, path, history)
        return model

    def _open_again(self, path: str) -> None:
        given = native.c_path(path)
        cdata = native.make("wfre_model", lib.wfre_model_free, lib.wfre_model_open, given)
        self._start(cdata, path, self.history)

    def close(self) -> None:
        """Lets go of it; using it afterwards raises ``wfre.Closed``. Closing twice is fine."""
        self._cdata = None
        for graph in list(getattr(self, "_graphs", ())):
            graph._engines.pop(self, None)

    @property
    def embeddings(self) -> "numpy.ndarray[Any, Any]":
        """The entities' histograms, a row each: a read-only numpy array over the model's own
        memory or file, which stays there as long as the array does."""
        import numpy

        cdata = self._use()
        rows = ffi.new("wfre_rows *")
        native.call(lib.wfre_model_entity_rows, cdata, rows)
        count, width = lib.wfre_model_entities(cdata), rows.stride
        owner = lib.wfre_model_ref(cdata)
        mapped = ffi.gc(rows.data, lambda _: lib.wfre_model_free(owner))
        flat: Any = numpy.frombuffer(ffi.buffer(mapped, count * width * 4), numpy.float32)
        flat.flags.writeable = False
        return flat.reshape(count, width)  # type: ignore[no-any-return]

    @property
    def settings(self) -> Dict[str, str]:
        """Its settings by their names, as text."""
        settings = lib.wfre_model_get_settings(self._use())
        rows = (lib.wfre_model_setting(settings, i) for i in range(lib.wfre_model_setting_count()))
        return {native.text(row.name): native.text(row.value) for row in rows}

    @property
    def parameters(self) -> int:
        """How many numbers it has learned."""
        return int(lib.wfre_model_parameters(self._use()))

    @property
    def fingerprint(self) -> int:
        """That of the graph it was trained on."""
        return int(lib.wfre_model_fingerprint(self._use()))

    @property
    def unfinished(self) -> bool:
        """Whether a training run that had not ended wrote it."""
        return bool(lib.wfre_model_unfinished(self._use()))

    @property
    def reliability(self) -> Optional[Reliability]:
        """How good its probabilities are; None if it has none."""
        cdata = self._use()
        measured = lib.wfre_model_reliability(cdata)
        return None if measured == NULL else Reliability(measured)

    @property
    def measured(self) -> Optional[Dict[str, Any]]:
        """What training measured of it: MRR and Hits by question type, their means, and link
        prediction, with intervals; None if its file does not say."""
        out = ffi.new("char **")
        native.call(lib.wfre_model_measured_json, self._use(), out)
        found: Optional[Dict[str, Any]] = json.loads(native.take_string(out[0]))
        return found

    def save(self, path: StrPath, bf16: bool = False) -> None:
        """Writes it as a safetensors file; ``bf16`` halves the weights at the price of rounding."""
        given = native.c_path(path)
        native.call_stoppable(lib.wfre_model_save, self._use(), given, bool(bf16))

    def validate(self) -> None:
        """Reads every weight; raises ``wfre.NumericError`` if one is not a finite number."""
        native.call_stoppable(lib.wfre_model_validate, self._use())

    def calibrate(self, graph: "Graph", queries: Union[StrPath, "QuerySet"]) -> "Model":
        """The same model with probabilities learned from a query set. This one stays as it is."""
        native.given(graph, "graph")
        set_ = _query_set(graph, queries)
        with tempfile.TemporaryDirectory(prefix="wfre-") as folder:
            path = os.path.join(folder, "model.safetensors")
            self.save(path)
            copy = Model(path)
        copy.path = None
        monitor = native.Monitor()
        monitor.call(
            lib.wfre_calibrate_with,
            graph._use(),
            copy._use(),
            set_._use(),
            native.pool(),
            monitor.struct,
        )
        return copy

    def __repr__(self) -> str:
        if self.closed:
            return "<Model: closed>"
        cdata = self._use()
        return (
            f"<Model: {lib.wfre_model_entities(cdata):,} entities, "
            f"{lib.wfre_model_relations(cdata) // 2:,} relations, "
            f"{lib.wfre_model_get_settings(cdata).dim} dimensions, {self.parameters:,} parameters>"
        )

    def _repr_html_(self) -> str:
        head = f"<p>{_show.escape(repr(self)[1:-1])}</p>"
        if self.history is not None:
            head += self.history._repr_html_()
        return head


class Step(NamedTuple):
    """How a training run stands after a step."""

    step: int
    seconds: float
    progress: float
    loss: float
    #: Of the last validation; None before the first.
    mrr: Optional[float]
    queries_per_second: float


def _settings(graph: "Graph", preset: Optional[str], given: Dict[str, Any]) -> Any:
    native.given(graph, "graph")
    settings = ffi.new("wfre_train_settings *")
    name = native.c_text(preset, "preset")
    native.call(lib.wfre_train_preset, name, graph._use(), settings)
    return _set(settings, given)


def _set(settings: Any, given: Dict[str, Any]) -> Any:
    for key, value in given.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        text = native.c_text(str(value), key)
        try:
            native.call(lib.wfre_train_set, settings, native.c_text(key.replace("_", "-")), text)
        except errors.NotFound as error:
            raise _near_settings(settings, key, error) from None
    return settings


def _named_settings(settings: Any) -> Dict[str, str]:
    rows = (lib.wfre_train_setting(settings, i) for i in range(lib.wfre_train_setting_count()))
    return {native.text(row.name): native.text(row.value) for row in rows}


def _near_settings(settings: Any, key: str, error: errors.NotFound) -> errors.NotFound:
    """The same with what may have been meant, as it is written in Python."""
    names = [name.replace("-", "_") for name in _named_settings(settings)]
    near = tuple(difflib.get_close_matches(key, names, 3))
    message = error.message + ("; the nearest: " + ", ".join(near) if near else "")
    return errors.NotFound(message, None, near)


def _resumed(out: str, given: Dict[str, Any]) -> Any:
    """The settings of the interrupted run of a path; None if there is none. What is given must be
    what they are."""
    settings = ffi.new("wfre_train_settings *")
    error = ffi.new("wfre_error *")
    status = lib.wfre_train_resumed_settings(native.c_path(out), settings, error)
    if status == lib.WFRE_ERR_NOT_FOUND:
        return None
    if status != lib.WFRE_OK:
        raise native.failure(status, error)
    before = _named_settings(settings)
    for name, value in _named_settings(_set(settings, given)).items():
        if value != before[name]:
            raise errors.ArgumentError(
                f"{name.replace('-', '_')} is {before[name]} in the interrupted run, not {value}; "
                "a resumed run keeps its settings"
            )
    return settings


def train_settings(
    graph: "Graph", preset: Optional[str] = None, **settings: Any
) -> Dict[str, str]:
    """What ``train`` would take: all settings of training and model by their names, as text.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob")])
    >>> wfre.train_settings(g, "small", dim=100)["dim"]
    '100'
    """
    return _named_settings(_settings(graph, preset, settings))


def train(
    graph: "Graph",
    path: Optional[StrPath] = None,
    *,
    time: Union[str, float, None] = None,
    steps: Optional[int] = None,
    preset: Optional[str] = None,
    progress: bool = False,
    callback: Optional[Callable[[Step], None]] = None,
    start: Union[StrPath, Model, None] = None,
    resume: bool = False,
    queries: Union[StrPath, "QuerySet", None] = None,
    validate: int = 20,
    calibrate: int = 200,
    seed: Optional[int] = None,
    **settings: Any,
) -> Model:
    """Trains a model for ``time`` ("90s", "10m", "1.5h"; 5 minutes unless given) or for a number of
    ``steps``, which gives the same bits again with the same ``seed`` (1 unless given).

    The model is written to ``path``, with its log and learning curve beside it; without one it is
    in memory only. ``preset`` is "small", "base", "large", "embedding" or a recipe of the paper; any other
    setting is given by its name (``dim=400, drop_input=0.2``; ``train_settings`` lists them).
    ``progress`` shows a bar; ``callback`` is called after every step. ``start`` is a model to begin
    with, whose sizes the new one has; ``queries`` is a query set to validate on, instead of sampled
    ones; both are files or what was opened of them. ``resume`` goes on with an interrupted run of the same path, whose settings it keeps, or
    starts anew if there is none. Ctrl-C, or an exception in the callback, ends the run; with a
    path, ``resume`` goes on from there.

    >>> import wfre
    >>> ring = [(f"e{i}", "next", f"e{(i + 1) % 30}") for i in range(30)]
    >>> g = wfre.import_triples(ring, holdout=0.1)
    >>> losses = []
    >>> m = wfre.train(g, steps=20, dim=20, batch=32, callback=lambda s: losses.append(s.loss))
    >>> len(losses), m.embeddings.shape
    (20, (30, 20))
    """
    native.given(graph, "graph")
    if resume and path is None:
        raise errors.ArgumentError("only a run with a path can be resumed")
    if steps is not None and time is not None:
        raise errors.ArgumentError("give a number of steps or a time, not both")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, not {type(callback).__name__}")
    begun = _first(start)
    set_ = None if queries is None else _query_set(graph, queries)
    with tempfile.TemporaryDirectory(prefix="wfre-") as folder:
        out = native.path_text(os.path.join(folder, "model.safetensors") if path is None else path)
        if seed is not None:
            settings["seed"] = seed
        filled = _resumed(out, settings) if resume else None
        resume = filled is not None
        if filled is None:
            filled = _settings(graph, preset, dict({"seed": 1}, **settings))
            if begun is not None:
                plain, sizes = _settings(graph, preset, {}), begun._use()
                sizes = lib.wfre_model_get_settings(sizes)
                native.call(lib.wfre_train_take_sizes, filled, plain, sizes)
        if steps is not None:
            filled.steps, filled.seconds = native.whole(steps, "steps", 2**63), 0
        elif time is not None or not resume:
            filled.steps, filled.seconds = 0, native.seconds("5m" if time is None else time)
        native.call(lib.wfre_train_settings_check, filled)
        return _run(graph, filled, out, path, progress, callback, begun, resume, set_, validate,
                    calibrate)


def _first(start: Union[StrPath, Model, None]) -> Optional[Model]:
    """The model to begin with."""
    if start is None or isinstance(start, Model):
        return start
    try:
        return Model(start)
    except TypeError:
        kind = type(start).__name__
        raise TypeError(f"start must be a path or a wfre.Model, not {kind}") from None


def _query_set(graph: "Graph", queries: Union[StrPath, "QuerySet"]) -> "QuerySet":
    from ._evaluate import opened

    try:
        return opened(graph, queries)
    except TypeError:
        kind = type(queries).__name__
        raise TypeError(f"queries must be a path or a wfre.QuerySet, not {kind}") from None


def _run(
    graph: "Graph",
    settings: Any,
    out: str,
    path: Optional[StrPath],
    progress: bool,
    callback: Optional[Callable[[Step], None]],
    start: Optional[Model],
    resume: bool,
    queries: Optional["QuerySet"],
    validate: int,
    calibrate: int,
) -> Model:
    def after_step(status: Any, mrr: float) -> None:
        assert callback is not None
        callback(
            Step(
                status.step,
                status.seconds,
                status.progress,
                status.loss,
                None if mrr < 0 else mrr,
                status.queries_per_second,
            )
        )

    run = ffi.new("wfre_train_run *")
    # They live as long as the run, whatever else is closed meanwhile.
    keep = (
        native.c_path(out),
        NULL if start is None else start._use(),
        NULL if queries is None else queries._use(),
    )
    run.model, run.from_model, run.queryset = keep
    run.resume = resume
    run.checkpoint_seconds = 60 if path is not None else -1  # what is in memory is not resumed
    run.validate = native.whole(validate, "validate")
    run.calibrate = native.whole(calibrate, "calibrate")
    summary = ffi.new("wfre_train_summary *")
    with monitored(progress, after_step) as monitor:
        if callback is not None:
            run.step = native.train_step
            run.context = monitor.context
        monitor.call(
            lib.wfre_train, graph._use(), settings, run, native.pool(), monitor.struct, summary
        )
    base = out[: -len(".safetensors")] if out.endswith(".safetensors") else out
    history = History(_read(base + ".log.jsonl"), _read(base + ".curve.svg"))
    model = Model(out)
    model.history = history
    if path is None:
        model.path = None
    return model


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
