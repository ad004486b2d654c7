"""Engines and sessions: one engine for a graph with a model, a session for each thread."""
from __future__ import annotations

import threading
from typing import Any, List

from . import _native as native
from ._native import NULL, ffi, lib


class Session:
    """The workspace of one thread, and its wish to stop."""

    __slots__ = ("cdata", "cancel", "error", "pool")

    def __init__(self, engine: Any) -> None:
        # Threads that work at the same time would only wait for each other's turn with the pool.
        self.pool = native.pool() if native.on_main_thread() else None
        self.cancel = native.new_cancel()
        self.error = ffi.new("wfre_error *")
        options = ffi.new("wfre_session_options *")
        options.pool = NULL if self.pool is None else self.pool
        self.cdata = native.make(
            "wfre_session", lib.wfre_session_free, lib.wfre_session_create, engine, options
        )


class _Free(threading.local):
    def __init__(self) -> None:
        self.sessions: List[Session] = []


class Engine:
    """What a graph and a model know together. Sessions are lent: a call that is made while another
    of the same thread is under way, by a callback or a signal handler, gets another one."""

    __slots__ = ("cdata", "generation", "_free")

    def __init__(self, graph: Any, model: Any) -> None:
        cancel = native.new_cancel()
        error = ffi.new("wfre_error *")
        out = ffi.new("wfre_engine **")
        pool = native.pool() if native.on_main_thread() else NULL
        status = lib.wfre_engine_open(graph, model, NULL, pool, cancel, out, error)
        self.cdata = ffi.gc(out[0], lib.wfre_engine_unref) if status == 0 else None
        native.raise_pending()
        if status != 0:
            raise native.failure(status, error)
        self.generation = native.generation
        self._free = _Free()

    def lend(self) -> Session:
        free = self._free.sessions
        while free:
            session = free.pop()
            if session.pool is None or session.pool is native.pool():
                return session
        return Session(self.cdata)

    def give_back(self, session: Session) -> None:
        lib.wfre_cancel_reset(session.cancel)
        self._free.sessions.append(session)

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls ``function(session, *arguments, error)``; what Ctrl-C raises is raised. The
        arguments may contain ``CANCEL``, which stands for the session's wish to stop."""
        session = self.lend()
        try:
            given = [session.cancel if a is CANCEL else a for a in arguments]
            status = function(session.cdata, *given, session.error)
            failed = native.failure(status, session.error) if status != 0 else None
        finally:
            self.give_back(session)
        native.raise_pending()
        if failed is not None:
            raise failed


CANCEL: Any = object()
