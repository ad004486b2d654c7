"""The transport score alone: arrays in, arrays out.

A histogram is a row of numbers between 0 and 1, cut into blocks; smaller distances are nearer. No
graph and no model is needed. Rows of float32 that lie one after another are read where they are.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native as native
from . import errors
from ._native import NULL, ffi, lib

if TYPE_CHECKING:
    import numpy
    import torch

    Array = numpy.ndarray[Any, Any]
    Rows = Union[Array, Sequence[float], Sequence[Sequence[float]]]

_KINDS = ("wfr", "local", "hellinger", "kl", "l1", "l2", "inner", "wasserstein")


def _checked(rows: Any, what: str) -> "Array":
    """float32 rows of numbers between 0 and 1, each row in one piece."""
    import numpy

    array = numpy.asarray(rows)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be numbers, not {array.dtype}")
    if array.dtype != numpy.float32 or not array.flags.aligned:
        array = array.astype(numpy.float32)
    if array.ndim not in (1, 2):
        raise errors.ArgumentError(f"{what} has {array.ndim} dimensions; give a row, or rows")
    if array.size and not (array.min() >= 0 and array.max() <= 1):  # NaN is refused as well
        raise errors.NumericError(f"{what}: all numbers must be between 0 and 1")
    return array


def _rows(array: "Array") -> Tuple["Array", int]:
    """Two-dimensional rows and their stride in elements; copied only if they are in pieces."""
    import numpy

    if array.ndim == 1:
        array = array.reshape(1, -1)
    down, along = array.strides
    width = array.shape[1]
    straight = (along == 4 or width == 1) and down % 4 == 0 and down >= 4 * width
    if not straight and array.shape[0] > 1:
        array = numpy.ascontiguousarray(array)
    elif array.shape[0] <= 1 and along != 4:
        array = numpy.ascontiguousarray(array)
    stride = array.strides[0] // 4 if array.shape[0] > 1 else width
    return array, max(stride, width)


def _address(array: Any, ctype: str = "float *") -> Any:
    return ffi.cast(ctype, array.__array_interface__["data"][0])


class Nearest(NamedTuple):
    """The nearest rows to each query, nearest first."""

    distances: "Array"
    ids: "Array"


class Score:
    """A score ready to use: its settings checked, its tables made, its kernels chosen.

    ``kind`` is "wfr" (the transport score) or one of the scores that it is compared with: "local",
    "hellinger", "kl", "l1", "l2", "inner", "wasserstein". ``preset`` sets radius and power of WFR:
    "reference" (as the published code), "paper" or "exact". Many threads may use it at once.

    >>> import wfre
    >>> s = wfre.Score(10, block=5)
    >>> s.distance([0.5] * 10, [0.5] * 10) < s.distance([0.5] * 10, [0.9] * 10)
    True
    >>> s.settings["block"], s.settings["kind"]
    (5, 'wfr')
    """

    __slots__ = ("dimension", "_cdata", "_steps", "__weakref__")
    #: Numbers in a row.
    dimension: int

    def __init__(
        self,
        dimension: int,
        *,
        kind: str = "wfr",
        preset: Optional[str] = None,
        block: Optional[int] = None,
        iterations: Optional[int] = None,
        radius: Optional[float] = None,
        epsilon: Optional[float] = None,
        power: Optional[float] = None,
        floor: Optional[float] = None,
    ) -> None:
        settings = ffi.new("wfre_score_settings *")
        dimension = native.whole(dimension, "dimension")
        lib.wfre_score_defaults(dimension, settings)
        settings.kind = native.choice(kind, "kind", _KINDS)
        if preset is not None:
            native.call(lib.wfre_score_preset, native.c_text(preset, "preset"), settings)
        for name, value in (
            ("block", block),
            ("iterations", iterations),
            ("radius", radius),
            ("epsilon", epsilon),
            ("power", power),
            ("floor", floor),
        ):
            if value is not None:
                whole = name in ("block", "iterations")
                setattr(settings, name, native.whole(value, name) if whole else value)
        self.dimension = dimension
        self._cdata = native.make(
            "wfre_score", lib.wfre_score_free, lib.wfre_score_create, settings
        )
        iterates = settings.kind == 0
        self._steps = dimension * (settings.block * settings.iterations if iterates else 1)

    def __reduce__(self) -> Any:
        return (_again, (self.settings,))

    @property
    def settings(self) -> "dict[str, Any]":
        """All settings by their names."""
        settings = lib.wfre_score_get_settings(self._cdata)
        names = ("dimension", "block", "iterations", "radius", "epsilon", "power", "floor")
        found = {n: getattr(settings, n) for n in names}
        return dict(found, kind=_KINDS[settings.kind])

    @property
    def kernel(self) -> str:
        """What computes, such as "avx2, 8 blocks a step in float"."""
        return native.text(lib.wfre_score_kernel(self._cdata))

    def _fit(self, array: "Array", what: str) -> "Array":
        if array.shape[-1] != self.dimension:
            raise errors.ArgumentError(
                f"{what} has rows of {array.shape[-1]} numbers, the score of {self.dimension}"
            )
        return array

    def distance(self, left: "Rows", right: "Rows") -> Any:
        """The distance of two rows, a float; or of the rows of two matrices, pair by pair, an
        array. One row goes with all rows of a matrix.

        >>> import numpy, wfre
        >>> X = numpy.linspace(0, 1, 30).reshape(3, 10)
        >>> wfre.Score(10).distance(X, X[0]).shape
        (3,)
        """
        return self._pairs(left, right, False)[0]

    def gradient(self, left: "Rows", right: "Rows") -> Tuple[Any, "Array", "Array"]:
        """The distance with its gradients by the left and by the right row. With one row on a side
        and a matrix on the other, both gradients have the shape of the matrix."""
        return self._pairs(left, right, True)

    def _pairs(self, left: Any, right: Any, slopes: bool) -> Tuple[Any, Any, Any]:
        import numpy

        u, v = self._fit(_checked(left, "left"), "left"), self._fit(_checked(right, "right"), "right")
        single = u.ndim == 1 and v.ndim == 1
        count = max(1 if u.ndim == 1 else len(u), 1 if v.ndim == 1 else len(v))
        if u.ndim == 2 and v.ndim == 2 and len(u) != len(v):
            raise errors.ArgumentError(
                f"{len(u)} left rows with {len(v)} right ones; give as many, or one row"
            )
        if (u.ndim == 2 and len(u) == 0) or (v.ndim == 2 and len(v) == 0):
            none = numpy.empty((0, self.dimension), numpy.float32)
            return numpy.empty(0, numpy.float32), none, none
        pairs = ffi.new("wfre_pairs *")
        u, ustride = _rows(u)
        v, vstride = _rows(v)
        pairs.left.data, pairs.left.stride = _address(u), ustride
        pairs.right.data, pairs.right.stride = _address(v), vstride
        pairs.count = count
        zeros = numpy.zeros(count, numpy.uint32) if len(u) != len(v) else None
        if zeros is not None and len(u) == 1:
            pairs.left_index = _address(zeros, "uint32_t *")
        elif zeros is not None:
            pairs.right_index = _address(zeros, "uint32_t *")
        distances = numpy.empty(count, numpy.float32)
        gradients, du, dv = NULL, None, None
        if slopes:
            du = numpy.empty((count, self.dimension), numpy.float32)
            dv = numpy.empty((count, self.dimension), numpy.float32)
            gradients = ffi.new("wfre_gradients *")
            gradients.left, gradients.right = _address(du), _address(dv)
            gradients.stride = self.dimension
        pool = native.pool() if count * self.dimension > 20000 else NULL
        # What ends within a few milliseconds need not look for Ctrl-C.
        brief = pool == NULL and count * self._steps < 1 << 22
        call = native.call if brief else native.call_stoppable
        call(lib.wfre_score_pairs, self._cdata, pool, pairs, _address(distances), gradients)
        if single:
            return (
                float(distances[0]),
                None if du is None else du[0],
                None if dv is None else dv[0],
            )
        return distances, du, dv

    def transport(self, left: "Rows", right: "Rows") -> "Plan":
        """How mass of one row moves to the other (WFR only)."""
        import numpy

        u = self._fit(_checked(left, "left"), "left").astype(numpy.float64)
        v = self._fit(_checked(right, "right"), "right").astype(numpy.float64)
        if u.ndim != 1 or v.ndim != 1:
            raise errors.ArgumentError("a transport plan is of two rows, not of matrices")
        block = lib.wfre_score_get_settings(self._cdata).block
        plan = numpy.empty((self.dimension // block, block, block), numpy.float64)
        native.call_stoppable(
            lib.wfre_score_transport,
            self._cdata,
            _address(u, "double *"),
            _address(v, "double *"),
            _address(plan, "double *"),
        )
        return Plan(u, v, plan, self.distance(left, right))

    def __repr__(self) -> str:
        return f"<Score: {self.settings['kind']}, {self.dimension} numbers, {self.kernel}>"


def _again(settings: "dict[str, Any]") -> Score:
    """A score of the settings of another."""
    return Score(**settings)


@functools.lru_cache(maxsize=64)
def _score(dimension: int, settings: Tuple[Tuple[str, Any], ...]) -> Score:
    return Score(dimension, **dict(settings))


def _score_of(rows: Any, settings: "dict[str, Any]") -> Score:
    shape = getattr(rows, "shape", None)
    if shape is None:
        import numpy

        shape = numpy.shape(rows)
    if not shape:
        raise errors.ArgumentError("a number is no row")
    return _score(int(shape[-1]), tuple(sorted(settings.items())))


def distance(left: "Rows", right: "Rows", **settings: Any) -> Any:
    """The transport score of two rows, or of the rows of two matrices; settings as for ``Score``.

    >>> import wfre
    >>> round(wfre.distance([0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.9, 0.1, 0.0, 0.0]), 3)
    0.437
    """
    return _score_of(left, settings).distance(left, right)


def gradient(left: "Rows", right: "Rows", **settings: Any) -> Tuple[Any, "Array", "Array"]:
    """The distance with its gradients by the left and by the right row.

    >>> import wfre
    >>> d, du, dv = wfre.gradient([0.2] * 5, [0.7] * 5)
    >>> bool((du < 0).all()), bool((dv > 0).all())
    (True, True)
    """
    return _score_of(left, settings).gradient(left, right)


def transport(left: "Rows", right: "Rows", **settings: Any) -> "Plan":
    """How mass of one row moves to the other: a ``Plan``, which a notebook draws.

    >>> import wfre
    >>> wfre.transport([0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]).plan.shape
    (1, 5, 5)
    """
    return _score_of(left, settings).transport(left, right)


class Scores:
    """Many rows, packed once, to be compared with others again and again.

    >>> import numpy, wfre
    >>> X = numpy.random.default_rng(1).random((100, 20), dtype=numpy.float32)
    >>> s = wfre.Scores(X)
    >>> distances, ids = s.nearest(X[:2], 3)
    >>> ids[:, 0].tolist(), distances.shape
    ([0, 1], (2, 3))
    """

    __slots__ = ("score", "_store", "__weakref__")
    #: The score that compares.
    score: Score

    def __init__(self, rows: "Rows", score: Optional[Score] = None, **settings: Any) -> None:
        array = _checked(rows, "rows")
        if array.ndim != 2:
            raise errors.ArgumentError("give a matrix, a row for each histogram")
        if score is not None and settings:
            raise TypeError("give a score or settings, not both")
        if score is not None and not isinstance(score, Score):
            raise TypeError(f"a score must be a wfre.Score, not {type(score).__name__}")
        self.score = Score(array.shape[1], **settings) if score is None else score
        self.score._fit(array, "rows")
        array, stride = _rows(array)
        out = ffi.new("wfre_store **")
        native.call_stoppable(
            lib.wfre_store_create,
            self.score._cdata,
            native.pool(),
            _address(array, "void *"),
            lib.WFRE_FLOAT32,
            stride,
            len(array),
            out,
        )
        self._store = ffi.gc(out[0], lib.wfre_store_free)

    def __reduce__(self) -> Any:
        raise native.unpickled(self, "pickle the rows, and pack them again")

    def __len__(self) -> int:
        return int(lib.wfre_store_count(self._store))

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return int(lib.wfre_store_size(self._store))

    def _job(self, queries: Any, among: Any) -> Tuple[Any, Any, int, int, bool]:
        import numpy

        array = self.score._fit(_checked(queries, "queries"), "queries")
        single = array.ndim == 1
        array, stride = _rows(array)
        job = ffi.new("wfre_rank_job *")
        job.queries.data, job.queries.stride = _address(array), stride
        job.query_count = len(array)
        count = len(self)
        chosen = None
        if among is not None:
            chosen = numpy.ascontiguousarray(among)
            if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
                raise TypeError("`among` must be a row of numbers of rows")
            if chosen.size and not (chosen.min() >= 0 and chosen.max() < count):
                raise errors.NotFound(f"`among` names rows that are not there; there are {count}")
            chosen = chosen.astype(numpy.uint32)
            job.selection, job.selected = _address(chosen, "uint32_t *"), len(chosen)
            count = len(chosen)
        job.stride = count
        return job, (array, chosen), len(array), count, single

    def distances(
        self,
        queries: "Rows",
        *,
        among: "Optional[Sequence[int] | Array]" = None,
        out: "Optional[Array]" = None,
    ) -> "Array":
        """The distances of all rows (or of those ``among`` them) to a query, or to each of several
        queries; written to ``out``, float32 in one piece, if that is given."""
        import numpy

        job, keep, rows, count, single = self._job(queries, among)
        shape = (count,) if single else (rows, count)
        if out is None:
            result = numpy.empty(shape, numpy.float32)
        else:
            fits = isinstance(out, numpy.ndarray) and out.dtype == numpy.float32
            if not fits or out.shape != shape or not out.flags.carray:
                raise errors.ArgumentError(
                    f"`out` must be float32 of shape {shape}, in one piece, aligned and writable"
                )
            result = out
        if rows and count:
            native.call_stoppable(
                lib.wfre_score_rank,
                self.score._cdata,
                native.pool() if native.on_main_thread() else NULL,
                self._store,
                job,
                _address(result),
            )
        return result

    def nearest(
        self,
        queries: "Rows",
        k: int = 10,
        *,
        among: "Optional[Sequence[int] | Array]" = None,
    ) -> Nearest:
        """The k nearest rows to a query, or to each of several: distances and numbers of rows,
        nearest first. Fewer if there are fewer."""
        import numpy

        job, keep, rows, count, single = self._job(queries, among)
        k = min(native.whole(k, "k", native.SIZE), count)
        ids = numpy.empty((rows, k), numpy.uint32)
        distances = numpy.empty((rows, k), numpy.float32)
        if rows and k:
            native.call_stoppable(
                lib.wfre_score_nearest,
                self.score._cdata,
                native.pool() if native.on_main_thread() else NULL,
                self._store,
                job,
                k,
                _address(ids, "uint32_t *"),
                _address(distances),
            )
        return Nearest(distances[0], ids[0]) if single else Nearest(distances, ids)

    def __repr__(self) -> str:
        return f"<Scores: {len(self):,} rows of {self.score.dimension} numbers>"


# ---- transport ------------------------------------------------------------------------------


class Plan:
    """A transport plan: ``plan[b, i, j]`` is the mass that goes from bin i of the left row to bin j
    of the right one, within block b. What is not transported is created or destroyed."""

    __slots__ = ("left", "right", "plan", "distance")
    left: "Array"
    right: "Array"
    plan: "Array"
    #: The distance of the two rows.
    distance: float

    def __init__(self, left: "Array", right: "Array", plan: "Array", distance: float) -> None:
        self.left, self.right, self.plan, self.distance = left, right, plan, distance

    def to_svg(self, blocks: int = 8) -> str:
        """A drawing of the first blocks: the left row above, the right one below, mass that moves
        as lines between them."""
        shown = self.plan[:blocks]
        size = self.plan.shape[1]
        step, gap, tall = 14, 14, 60
        width = len(shown) * (size * step + gap) + gap
        parts: List[str] = []
        top, bottom = tall + 4, 2 * tall + 40
        most = float(shown.max()) if shown.size else 0.0
        for b, block in enumerate(shown):
            x = gap + b * (size * step + gap)
            for i in range(size):
                u, v = float(self.left[b * size + i]), float(self.right[b * size + i])
                at = x + i * step
                parts.append(_bar(at, top - u * tall, u * tall, step, "#4a7fb5"))
                parts.append(_bar(at, bottom, v * tall, step, "#c0693c"))
                for j in range(size):
                    mass = float(block[i, j])
                    if most > 0 and mass > 0.01 * most:
                        parts.append(
                            f'<line x1="{at + step / 2:.1f}" y1="{top}" '
                            f'x2="{x + j * step + step / 2:.1f}" y2="{bottom}" stroke="#888" '
                            f'stroke-width="{0.5 + 4 * mass / most:.2f}" '
                            f'stroke-opacity="{0.2 + 0.7 * mass / most:.2f}"/>'
                        )
        note = f"distance {self.distance:.4f}"
        if len(self.plan) > len(shown):
            note += f"; {len(shown)} of {len(self.plan)} blocks"
        tall_all = bottom + tall + 24
        parts.append(
            f'<text x="{gap}" y="{tall_all - 6}" font-family="sans-serif" font-size="12" '
            f'fill="#888">{note}</text>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{tall_all}" '
            f'viewBox="0 0 {width} {tall_all}">' + "".join(parts) + "</svg>"
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"<Plan: {len(self.plan)} blocks, {float(self.plan.sum()):.4g} moved>"


def _bar(x: float, y: float, height: float, step: int, colour: str) -> str:
    return (
        f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{step - 2}" height="{height:.1f}" '
        f'fill="{colour}"/>'
    )


class Solution(NamedTuple):
    """The transport between two measures."""

    #: The WFR value.
    dual: float
    #: The cost of the plan; ``primal - dual`` is the duality gap.
    primal: float
    plan: "Array"


def solve(
    left: Tuple[Sequence[float], Sequence[float]],
    right: Tuple[Sequence[float], Sequence[float]],
    *,
    radius: float = 3.0,
    epsilon: float = 0.1,
    power: Optional[float] = None,
    iterations: int = 100,
    start: float = 1.0,
) -> Solution:
    """The textbook solver, for measures that need not lie on a grid: ``left`` and ``right`` are
    masses and positions. Without ``power`` it is the true dual.

    >>> import wfre
    >>> s = wfre.solve(([1.0, 0.5], [0.0, 1.0]), ([0.5, 1.0], [0.0, 1.0]), iterations=2000)
    >>> abs(s.primal - s.dual) < 1e-6, s.plan.shape
    (True, (2, 2))
    """
    import numpy

    keep: List[Any] = []
    measures: List[Any] = []
    for given in (left, right):
        try:
            mass, position = given
        except (TypeError, ValueError):
            raise errors.ArgumentError("a measure is a pair of masses and positions") from None
        m = numpy.require(mass, numpy.float64, ("C", "A"))
        p = numpy.require(position, numpy.float64, ("C", "A"))
        if m.ndim != 1 or m.shape != p.shape:
            raise errors.ArgumentError("a measure is as many masses as positions")
        measure = ffi.new("wfre_measure *")
        measure.mass, measure.position = _address(m, "double *"), _address(p, "double *")
        measure.count = len(m)
        keep.append((m, p))
        measures.append(measure)
    settings = ffi.new("wfre_score_settings *")
    lib.wfre_score_defaults(5, settings)
    settings.radius, settings.epsilon = radius, epsilon
    settings.iterations = native.whole(iterations, "iterations")
    settings.power = -1.0 if power is None else power  # WFRE_POWER_EXACT
    plan = numpy.empty((measures[0].count, measures[1].count), numpy.float64)
    result = ffi.new("wfre_transport *")
    native.call_stoppable(
        lib.wfre_transport_solve,
        measures[0],
        measures[1],
        settings,
        start,
        _address(plan, "double *"),
        result,
    )
    return Solution(result.dual, result.primal, plan)


# ---- torch ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _function() -> Any:
    """The torch.autograd.Function, made when torch is first needed."""
    import torch
    from torch.autograd.function import once_differentiable

    class Distance(torch.autograd.Function):  # type: ignore[misc]
        """The score forward, its gradient backward; both are computed in the forward pass."""

        @staticmethod
        def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
            left, right, score = args
            needed = any(ctx.needs_input_grad[:2])
            u = left.detach().cpu().float().reshape(-1, left.shape[-1]).numpy()
            v = right.detach().cpu().float().reshape(-1, right.shape[-1]).numpy()
            distances, du, dv = score._pairs(u, v, needed)
            if needed:
                ctx.save_for_backward(
                    torch.from_numpy(du).reshape(left.shape).to(left),
                    torch.from_numpy(dv).reshape(right.shape).to(right),
                )
            return torch.from_numpy(distances).reshape(left.shape[:-1]).to(left)

        @staticmethod
        @once_differentiable  # type: ignore[misc]
        def backward(ctx: Any, *grads: Any) -> Any:
            du, dv = ctx.saved_tensors
            grad = grads[0].unsqueeze(-1)
            return grad * du, grad * dv, None

    return Distance


def torch_distance(
    left: "torch.Tensor", right: "torch.Tensor", score: Optional[Score] = None, **settings: Any
) -> "torch.Tensor":
    """The score of torch tensors, row by row, with its gradient: shapes are broadcast, and the last
    axis becomes one number. Numbers must be between 0 and 1: put them through ``torch.sigmoid``,
    or clamp them. There are no second derivatives: asking for them raises."""
    import torch

    if score is None:
        score = _score_of(left, settings)
    broadcast: Any = torch.broadcast_tensors
    left, right = broadcast(left, right)
    result: "torch.Tensor" = _function().apply(left, right, score)
    return result
