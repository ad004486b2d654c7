#!/bin/sh
# fuzz.sh BUILD_FOLDER CALLS [SEED]: random calls of the Python module, with the library built there
# under ASan and UBSan.
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
library=$(${CC:-cc} -print-file-name=libasan.so)
[ -f "$library" ] || { echo "skipped: no libasan.so"; exit 77; }
# The interpreter keeps what it has at its end; leaks are looked for by test_stopping.py.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1
export PYTHONPATH="$build/python" PYTHONMALLOC=malloc
for python in /usr/bin/python3 python3; do
    "$python" -c 'import cffi, numpy' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "skipped: no python3 with cffi and numpy"; exit 77; }
LD_PRELOAD="$library $(${CC:-cc} -print-file-name=libubsan.so)" \
    "$python" -X faulthandler -W ignore "$here/fuzz.py" "$2" "${3:-1}" && echo "$2 calls, no crash"
