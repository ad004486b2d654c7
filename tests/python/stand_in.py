"""Imports the module with a stand-in for cffi, for Pythons that have none: every class and function
is defined, nothing is called."""
import sys
import types


class Anything:
    """Answers to every name and call; counts as 0."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *given, **named):
        return Anything()

    def __index__(self):
        return 0

    def __hash__(self):
        return id(self)


class Interface(Anything):
    error = RuntimeError

    def string(self, given):
        return VERSION.encode()

    def list_types(self):
        return [], [], []

    def callback(self, *given, **named):
        return lambda function: function


declarations = types.ModuleType("wfre._declarations")
declarations.ffi = Interface()
library = types.ModuleType("wfre._library")
VERSION = library.VERSION = "0"
library.NAME = library.PATH = "nowhere"
sys.modules.update({"wfre._declarations": declarations, "wfre._library": library})
sys.path.insert(0, sys.argv[1])

import wfre  # noqa: E402

assert len(wfre.__all__) > 50 and wfre.Graph.ask.__doc__
