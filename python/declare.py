"""declare.py wfre.h OUTPUT [DEPFILE]: the headers' declarations as a module that cffi loads without
reading C."""
import os
import subprocess
import sys

import cffi

header, output, *depfile = sys.argv[1:]
tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "declarations.py")
declarations = subprocess.run(
    [sys.executable, tool, "cdef", header, *depfile], check=True, stdout=subprocess.PIPE, text=True
).stdout
builder = cffi.FFI()
builder.set_source("wfre._declarations", None)
builder.cdef(declarations)
builder.emit_python_code(output)
