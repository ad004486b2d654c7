#!/bin/sh
# Every public header compiles alone, as C11 and as C++17, without a warning.
cd "$1" || exit 1
cxx=
for name in "${CXX:-c++}" g++ clang++; do
    command -v "$name" >/dev/null && { cxx=$name; break; }
done
[ -n "$cxx" ] || { echo "skipped: no C++ compiler"; exit 77; }
failed=0
for header in include/wfre.h include/wfre/*.h; do
    for how in "${CC:-cc} -std=c11 -x c" "$cxx -std=c++17 -x c++"; do
        # Twice, for the guard.
        printf '#include "%s"\n#include "%s"\n' "${header#include/}" "${header#include/}" |
            $how -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude - ||
            { echo "$header does not compile by $how"; failed=1; }
    done
done
exit $failed
