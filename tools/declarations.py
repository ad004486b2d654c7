#!/usr/bin/env python3
"""What the public headers declare, for those who cannot include them.

    declarations.py cdef wfre.h [DEPFILE]    one C declaration after another, without comments,
                                             macros and attributes: what cffi reads
    declarations.py sizes wfre.h [DEPFILE]   rows {"wfre_error", sizeof(wfre_error)}, for
                                             wfre_struct_size

The headers that wfre.h includes are read in the order in which they include each other.
"""
import os
import re
import sys

# Functions with parameters that no foreign caller can give.
LEFT_OUT = re.compile(r"\bva_list\b|\.\.\.")
CONSTANTS = {"SIZE_MAX": 2**64 - 1, "UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1}


def in_order(path):
    """The headers, each behind those that it includes, with their paths."""
    done = {}

    def visit(path):
        if path in done:
            return
        done[path] = None
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for needed in re.findall(r'^#include "(wfre/\w+\.h)"', text, re.M):
            visit(os.path.join(os.path.dirname(main_path), needed))
        del done[path]
        done[path] = text

    main_path = path
    visit(path)
    return done


def plain(text):
    """A header without what only a compiler understands."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    constants = re.findall(r"^#define (WFRE_\w+) (\w+)$", text, re.M)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{\s*(.*)\}\s*$', r"\1", text.strip(), flags=re.S)
    text = re.sub(r"\bWFRE_PRINTF\([^)]*\)|\bWFRE_(API|NODISCARD)\b", "", text)
    known = ["#define %s %d" % (n, CONSTANTS[v]) for n, v in constants if v in CONSTANTS]
    return known, text


def statements(text):
    """Cuts at the semicolons outside of braces."""
    depth, begin = 0, 0
    for at, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth == 0:
            yield " ".join(text[begin:at].split())
            begin = at + 1


def main(mode, path, depfile=None):
    constants, declarations = [], []
    headers = in_order(path)
    for text in headers.values():
        known, rest = plain(text)
        constants += known
        declarations += [s for s in statements(rest) if s and not LEFT_OUT.search(s)]
    if mode == "cdef":
        print("\n".join(constants + [d + ";" for d in declarations]))
    else:
        for d in declarations:
            struct = re.match(r"typedef struct \w+ \{.*\} (\w+)$", d)
            if struct:
                print('{"%s", sizeof(%s)},' % (struct[1], struct[1]))
    if depfile:
        with open(depfile, "w", encoding="utf-8") as file:
            file.write("%s: %s\n" % (os.path.basename(depfile)[:-2], " ".join(headers)))


if __name__ == "__main__":
    main(*sys.argv[1:])
