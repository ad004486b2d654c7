"""The library itself: found, loaded, and compared with the headers that this module was made of.

Everything here is internal. All other files call C through ``call``, which raises what went wrong,
or through ``stoppable`` calls, which Ctrl-C ends as well.
"""
from __future__ import annotations

import operator
import os
import re
import sys
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _library
from . import errors

try:
    from . import _declarations  # made by cffi when the module is built
except ModuleNotFoundError as _missing:
    if _missing.name != "_cffi_backend":
        raise
    raise ImportError(
        f"wfre needs cffi, which {sys.executable or 'this Python'} does not have: install cffi "
        "(python3-cffi on Debian, or pip install cffi)"
    ) from None

ffi: Any = _declarations.ffi
NULL: Any = ffi.NULL
StrPath = Union[str, "os.PathLike[str]"]


# ---- loading --------------------------------------------------------------------------------


def _path() -> str:
    """Where the library is: $WFRE_LIBRARY, beside this file (wheels), or where it was installed."""
    given = os.environ.get("WFRE_LIBRARY")
    if given:
        return given
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _library.NAME)
    return beside if os.path.exists(beside) else _library.PATH


def _load() -> Any:
    path = _path()
    try:
        loaded = ffi.dlopen(path)
    except OSError as error:
        raise ImportError(f"wfre's library cannot be loaded: {error}") from error
    try:
        version = ffi.string(loaded.wfre_version()).decode()
        size_of = loaded.wfre_struct_size
    except (AttributeError, ffi.error) as error:
        raise ImportError(f"{path} is not wfre's library: {error}") from error
    if version != _library.VERSION:
        raise ImportError(
            f"this module is made for wfre {_library.VERSION}, but {path} is {version}"
        )
    for name in ffi.list_types()[0]:
        try:
            size = ffi.sizeof(name)
        except (ffi.error, TypeError, ValueError):
            continue  # a handle
        if size_of(name.encode()) not in (0, size):
            raise ImportError(
                f"{path} was built from other headers: its {name} has {size_of(name.encode())} "
                f"bytes, not {size}"
            )
    return loaded


lib: Any = _load()


# ---- failures -------------------------------------------------------------------------------

_CLASSES: dict[int, Type[errors.Error]] = {
    lib.WFRE_ERR_ARGUMENT: errors.ArgumentError,
    lib.WFRE_ERR_MEMORY: errors.OutOfMemory,
    lib.WFRE_ERR_IO: errors.InputOutputError,
    lib.WFRE_ERR_FORMAT: errors.FormatError,
    lib.WFRE_ERR_NOT_FOUND: errors.NotFound,
    lib.WFRE_ERR_MISMATCH: errors.Mismatch,
    lib.WFRE_ERR_UNSUPPORTED: errors.Unsupported,
    lib.WFRE_ERR_TIMEOUT: errors.Timeout,
    lib.WFRE_ERR_INTERRUPTED: errors.Interrupted,
    lib.WFRE_ERR_NUMERIC: errors.NumericError,
}
_NO_OFFSET = lib.WFRE_NO_OFFSET


def text(bytes_: Any, length: int = -1) -> str:
    """A C string, or ``length`` bytes, as text; bytes that are no UTF-8 come back as they were."""
    if bytes_ == NULL:
        return ""
    raw: bytes = ffi.string(bytes_) if length < 0 else ffi.buffer(bytes_, length)[:]
    return raw.decode("utf-8", "surrogateescape")


def name(span: Any) -> str:
    """A wfre_name as text."""
    if span.length == 0:
        return ""
    raw: bytes = ffi.buffer(span.bytes, span.length)[:]
    return raw.decode("utf-8", "surrogateescape")


def encode(value: str, what: str = "text") -> bytes:
    """Text for C, which must be text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    return value.encode("utf-8", "surrogateescape")


def c_text(value: Optional[str], what: str = "text") -> Any:
    """Text for a C function that wants a NUL at its end; None becomes NULL. Keep it alive."""
    if value is None:
        return NULL
    raw = encode(value, what)
    if b"\0" in raw:
        raise ValueError(f"{what} must not contain a NUL character")
    return ffi.new("char[]", raw)


def path_text(value: StrPath, what: str = "a path") -> str:
    """A file's path as text."""
    try:
        return os.fsdecode(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{what} must be a str or an os.PathLike, not {kind}") from None


def c_path(value: StrPath, what: str = "a path") -> Any:
    """A file's path for C. Keep it alive."""
    raw = os.fsencode(path_text(value, what))
    if b"\0" in raw:
        raise ValueError(f"{what} must not contain a NUL character")
    return ffi.new("char[]", raw)


def c_path_if(value: Optional[StrPath], what: str) -> Any:
    """The same, where None means none."""
    return NULL if value is None else c_path(value, what)


def take_string(pointer: Any) -> str:
    """Text that the library handed out, which it gets back."""
    try:
        return text(pointer)
    finally:
        lib.wfre_string_free(pointer)


_SETTING = re.compile("`[a-z]+(?:-[a-z]+)+`")


# What a message says of the program, and what to say here.
_PROGRAM = (
    ("'wfre import' makes one from triples", "`import_file` and `import_triples` make graphs"),
    (", see 'wfre types'", ""),
)


def told(message: str) -> str:
    """A message of the library in the words of Python: settings have underscores."""
    for program, here in _PROGRAM:
        message = message.replace(program, here)
    return _SETTING.sub(lambda found: found[0].replace("-", "_"), message)


def failure(status: int, error: Any, source: Optional[bytes] = None) -> errors.Error:
    """The exception of a status; ``source`` is the text that offsets count the bytes of."""
    offset: Optional[int] = None if error.offset == _NO_OFFSET else error.offset
    if offset is not None and source is not None:
        offset = len(source[:offset].decode("utf-8", "surrogateescape"))
    near = text(error.nearest).split("\n")[:-1]
    kind = _CLASSES.get(status, errors.Error)
    return kind(told(text(error.message)), offset, tuple(near))


def call(function: Any, *arguments: Any) -> None:
    """Calls a C function whose last parameter is the error, and raises what went wrong."""
    error = ffi.new("wfre_error *")
    status = function(*arguments, error)
    if status != 0:
        raise failure(status, error)


def make(ctype: str, free: Any, function: Any, *arguments: Any) -> Any:
    """The same for a function that makes something of ``ctype``, its last parameter but one, which
    ``free`` releases when nobody refers to it any more."""
    error = ffi.new("wfre_error *")
    out = ffi.new(ctype + " **")
    status = function(*arguments, out, error)
    if status != 0:
        raise failure(status, error)
    return ffi.gc(out[0], free)


# ---- stopping -------------------------------------------------------------------------------
#
# Python notices Ctrl-C when it runs code. While C works it does not, so C calls back: at most every
# ten milliseconds, and only on the main thread, which alone gets KeyboardInterrupt. What the
# callback raises ends the C function, is kept, and is raised again when that has returned.


class _Pending(threading.local):
    exception: Optional[BaseException] = None


_pending = _Pending()
_main = threading.main_thread().ident


def _keep(kind: Any, value: Optional[BaseException], traceback: Any) -> None:
    _pending.exception = value


@ffi.callback("bool(void *)", error=True, onerror=_keep)  # type: ignore[misc]
def _look(context: Any) -> bool:
    return False  # to come here is enough: what is pending is raised


def raise_pending() -> None:
    """Raises what a callback of this thread raised meanwhile."""
    exception = _pending.exception
    if exception is not None:
        _pending.exception = None
        raise exception.with_traceback(None)


def on_main_thread() -> bool:
    return threading.get_ident() == _main


def new_cancel() -> Any:
    """A wish to stop, which on the main thread looks for Ctrl-C."""
    cancel = make("wfre_cancel", lib.wfre_cancel_free, lib.wfre_cancel_create)
    if on_main_thread():
        lib.wfre_cancel_watch(cancel, _look, NULL)
    return cancel


class _Cancels(threading.local):
    """Of this thread. All of them live as long as it: an exception that a signal raises at an unlucky
    moment may keep one from being used again."""

    def __init__(self) -> None:
        self.all: List[Any] = []
        self.free: List[Any] = []
        self.current: Any = NULL  # the one in force


_cancels = _Cancels()


def call_stoppable(function: Any, *arguments: Any) -> None:
    """``call`` for work of any length that takes no wfre_cancel: Ctrl-C ends it."""
    mine = _cancels
    if not mine.free:
        mine.free.append(new_cancel())
        mine.all.append(mine.free[-1])
    cancel, outer = mine.free.pop(), mine.current
    error = ffi.new("wfre_error *")
    try:
        # Ctrl-C may be raised behind any call, so this one is within, and undone first of all.
        lib.wfre_cancel_here(cancel)
        mine.current = cancel
        status = function(*arguments, error)
    finally:
        mine.current = outer
        lib.wfre_cancel_here(outer)
        lib.wfre_cancel_reset(cancel)
        mine.free.append(cancel)
    raise_pending()
    if status != 0:
        raise failure(status, error)


class Monitor:
    """What long tasks tell, and whether they are to stop: Python functions behind a wfre_monitor.

    A function that raises ends the task, and ``call`` raises the same."""

    def __init__(
        self,
        report: Optional[Callable[[str, int, int, str], None]] = None,
        step: Optional[Callable[[Any, float], None]] = None,
    ) -> None:
        self.report = report
        self.step = step
        self.context = ffi.new_handle(self)
        self.struct = ffi.new("wfre_monitor *")
        self.struct.interrupted = _interrupted
        self.struct.context = self.context
        if report is not None:
            self.struct.report = _report

    def call(self, function: Any, *arguments: Any) -> None:
        error = ffi.new("wfre_error *")
        status = function(*arguments, error)
        raise_pending()
        if status != 0:
            raise failure(status, error)


@ffi.callback("bool(void *)", error=True, onerror=_keep)  # type: ignore[misc]
def _interrupted(context: Any) -> bool:
    return _pending.exception is not None


@ffi.callback("void(void *, const wfre_progress *)", onerror=_keep)  # type: ignore[misc]
def _report(context: Any, progress: Any) -> None:
    if _pending.exception is None:
        report = ffi.from_handle(context).report
        report(text(progress.task), progress.done, progress.total, text(progress.note))


@ffi.callback("void(void *, const wfre_train_status *, double)", onerror=_keep)  # type: ignore[misc]
def train_step(context: Any, status: Any, mrr: float) -> None:
    if _pending.exception is None:
        ffi.from_handle(context).step(status, mrr)


# ---- forks ----------------------------------------------------------------------------------
#
# Of what was opened before a fork the child may only let go. ``generation`` tells which process a
# handle belongs to.

generation = 0


def _after_fork() -> None:
    global generation, _main, _pool, _pool_lock
    generation += 1
    _main = threading.get_ident()
    # Another thread may have had the lock, and is not here to let go of it.
    _pool, _pool_lock = None, threading.Lock()
    _cancels.free = []
    _cancels.current = NULL
    lib.wfre_cancel_here(NULL)
    _pending.exception = None


os.register_at_fork(after_in_child=_after_fork)


class Handle:
    """Something that C made. It lives until nobody refers to it, or until it is closed; whoever
    uses it in a call refers to it, so that closing it meanwhile in another thread is harmless."""

    __slots__ = ("_cdata", "_generation", "__weakref__")
    _what = "object"
    _cdata: Any
    _generation: int

    def _set(self, cdata: Any) -> None:
        self._cdata = cdata
        self._generation = generation

    def _use(self) -> Any:
        try:
            cdata = self._cdata
        except AttributeError:
            raise errors.Closed(f"this {self._what} was never opened") from None
        if cdata is None:
            raise errors.Closed(f"this {self._what} is closed")
        if self._generation != generation:
            self._reopen()
            cdata = self._cdata
        return cdata

    def _reopen(self) -> None:
        raise errors.Unsupported(
            f"this {self._what} belongs to the process that was forked; open it again in this one"
        )

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return getattr(self, "_cdata", None) is None

    def close(self) -> None:
        """Lets go of it; using it afterwards raises ``wfre.Closed``. Closing twice is fine."""
        self._cdata = None


_FromFile = TypeVar("_FromFile", bound="FromFile")


class FromFile(Handle):
    """A handle that may have come from a file: a context manager, opened again in a child after
    fork, and pickled as its path."""

    __slots__ = ("path",)
    #: The file that it was opened from; None if it is in memory only.
    path: Optional[str]

    def __enter__(self: _FromFile) -> _FromFile:
        self._use()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        self._use()
        if self.path is None:
            raise TypeError(
                f"a {self._what} in memory cannot be pickled; save it, and open the file"
            )
        return (type(self), (self.path,))

    def _reopen(self) -> None:
        if self.path is None:
            raise errors.Unsupported(
                f"this {self._what} is in the memory of the process that was forked; save it, and "
                "open the file in this one"
            )
        self._open_again(self.path)

    def _open_again(self, path: str) -> None:
        raise NotImplementedError


def unpickled(thing: Any, instead: str) -> TypeError:
    """What pickling something raises that C keeps."""
    kind = type(thing).__name__
    article = "an" if kind[0] in "AEIOU" else "a"
    return TypeError(f"{article} {kind} cannot be pickled; {instead}")


def given(thing: Any, what: str) -> None:
    """Refuses what is no "graph", "model" or "query set"."""
    if not isinstance(thing, Handle) or thing._what != what:
        name = what.title().replace(" ", "")
        raise TypeError(f"a {what} must be a wfre.{name}, not {type(thing).__name__}")


def position(index: Any, count: int, what: str) -> int:
    """An index as Python counts, from either end, as a number from 0 on."""
    at = operator.index(index)
    if not -count <= at < count:
        raise IndexError(f"{what} {at} of {count}")
    return at % count


# ---- threads --------------------------------------------------------------------------------

_pool: Any = None
_pool_threads = 0
_pool_lock = threading.Lock()


def set_threads(count: int) -> None:
    """Says how many threads work on one task; 0 takes one for each CPU, as at the beginning.

    Results do not depend on it. Questions that other threads than the main one ask use one thread
    each, however many there are.

    >>> import wfre
    >>> wfre.set_threads(1)
    >>> wfre.set_threads(0)
    """
    global _pool, _pool_threads
    count = whole(count, "the number of threads", 4096)
    with _pool_lock:
        _pool, _pool_threads = None, count


def pool() -> Any:
    """The threads of this process."""
    global _pool
    made = _pool
    if made is None:
        with _pool_lock:
            if _pool is None:
                _pool = make("wfre_pool", lib.wfre_pool_free, lib.wfre_pool_create, _pool_threads)
            made = _pool
    return made


# ---- small things ---------------------------------------------------------------------------

_SPLITS = {"train": 0, "valid": 1, "test": 2, "all": 2}


def split(value: str) -> int:
    """A split by its name; "all" is "test", which has the triples of all three."""
    try:
        return _SPLITS[value]
    except (KeyError, TypeError):
        raise errors.ArgumentError(
            f"no split is called {value!r}; use train, valid, test or all"
        ) from None


def choice(value: str, what: str, options: Sequence[str]) -> int:
    """The number of one of some words."""
    if value in options:
        return options.index(value)
    raise errors.ArgumentError(f"{what} {value!r}: use one of {', '.join(options)}")


SIZE = 2**64 - 1  # the most that a size_t can be


def whole(value: Any, what: str, most: int = 2**32 - 1) -> int:
    """A number of things: a whole number from 0 on."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{what} must be a whole number, not {kind}") from None
    if not 0 <= number <= most:
        raise errors.ArgumentError(f"{what} must be between 0 and {most:,}, not {number:,}")
    return number


def seed(value: Any) -> int:
    """A seed of random numbers."""
    return whole(value, "seed", SIZE)


def share(value: Any, what: str) -> float:
    """A probability, or another number between 0 and 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{what} must be a number between 0 and 1, not {kind}") from None
    if not 0 <= number <= 1:
        raise errors.ArgumentError(f"{what} must be between 0 and 1, not {number}")
    return number


def seconds(value: Union[str, float, int, None]) -> float:
    """A time: a number of seconds, or text such as "90s", "30m" or "1.5h"."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        units = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
        number = value.rstrip("abcdefghijklmnopqrstuvwxyz ")
        unit = value[len(number) :].strip()
        try:
            result = float(number) * units[unit or "s"]
        except (ValueError, KeyError):
            raise ValueError(f"{value!r} is no time; one is 90, '90s', '30m' or '1.5h'") from None
    else:
        result = float(value)
    if not 0 <= result < 1e12:
        raise ValueError(f"{value!r} is no time; one is 90, '90s', '30m' or '1.5h'")
    return result


def version() -> Tuple[str, str]:
    """Version and commit of the library."""
    return text(lib.wfre_version()), text(lib.wfre_commit())
