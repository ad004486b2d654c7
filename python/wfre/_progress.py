"""A line of progress for long tasks."""
from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, Optional

from . import _native as native
from . import _show


class Bar:
    """A line of progress on standard error, ten times a second at most."""

    def __init__(self) -> None:
        self._next = 0.0
        self._width = 0

    def __call__(self, task: str, done: int, total: int, note: str) -> None:
        now = time.monotonic()
        if now < self._next and done != total:
            return
        self._next = now + 0.1
        if total:
            filled = int(30 * done / total)
            line = f"{task} [{'#' * filled}{'.' * (30 - filled)}] {100 * done / total:3.0f}%"
        else:
            line = f"{task} {done:,}"
        line += "  " + _show.printable(note) if note else ""
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


@contextlib.contextmanager
def monitored(
    progress: bool, step: Optional[Callable[[Any, float], None]] = None
) -> Iterator[native.Monitor]:
    """A monitor for one task, with a bar if there is to be ``progress``."""
    bar = Bar() if progress else None
    try:
        yield native.Monitor(bar, step)
    finally:
        if bar is not None:
            bar.end()
