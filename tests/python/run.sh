#!/bin/sh
# run.sh PYTHON FILE: runs the tests of a file by pytest; skips if that is not there.
"$1" -c 'import pytest' 2>/dev/null || { echo "skipped: no pytest for $1"; exit 77; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
"$1" -m pytest -q -p no:cacheprovider --basetemp "$folder/base" -rs "$2" || exit 1
