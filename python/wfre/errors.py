"""Exceptions: one class for each way in which the library can fail."""
from __future__ import annotations

from typing import List, Optional, Tuple


class Error(Exception):
    """Base class of everything that the library refuses or fails to do.

    >>> import wfre
    >>> g = wfre.import_triples([("ann", "knows", "bob")])
    >>> try:
    ...     g.ask("?x : nows(?x, bob)")
    ... except wfre.Error as error:
    ...     print(error)
    ...     print(error.offset, error.suggestions)
    no relation is called nows; the nearest: knows
    5 ['knows']
    """

    #: The library's short name of this kind of failure, such as ``"not found"``.
    status: str = "failed"
    #: What was wrong, where, and what to do, in one line.
    message: str
    #: Where in a text or file it was, counted in characters of a question and in bytes of a file.
    offset: Optional[int]
    #: Names that may have been meant, nearest first.
    suggestions: List[str]

    def __init__(
        self, message: str, offset: Optional[int] = None, suggestions: Tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.suggestions = list(suggestions)


class ArgumentError(Error, ValueError):
    """A value is outside of what is documented."""

    status = "bad argument"


class OutOfMemory(Error, MemoryError):
    """There is not enough memory, or a limit of memory was reached."""

    status = "out of memory"


class InputOutputError(Error, OSError):
    """The operating system refused to read or to write."""

    status = "input or output failed"

    def __str__(self) -> str:
        return self.message


class FormatError(Error, ValueError):
    """A file or a text is not what it should be; ``offset`` says where."""

    status = "bad format"


class NotFound(Error, LookupError):
    """A name, file or number that does not exist; ``suggestions`` are the nearest names."""

    status = "not found"


class Mismatch(Error, ValueError):
    """Two things do not belong together, such as a model and a graph."""

    status = "mismatch"


class Unsupported(Error, NotImplementedError):
    """This machine, or this method, cannot do what was asked."""

    status = "unsupported"


class Timeout(Error, TimeoutError):
    """The time limit ran out."""

    status = "timeout"

    def __str__(self) -> str:
        return self.message


class Interrupted(Error):
    """Somebody asked to stop. Ctrl-C raises KeyboardInterrupt instead, as everywhere."""

    status = "interrupted"


class NumericError(Error, ArithmeticError):
    """A computation left the finite numbers, or numbers are outside of their range."""

    status = "numeric failure"


class Closed(Error, ValueError):
    """A graph, a model or a query set was used after it was closed."""

    status = "closed"
