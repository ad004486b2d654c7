#!/bin/sh
# docs/MODEL.md against the program, by tests/golden/model.py; skipped where no Python has numpy.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && exec_with=$python && break
done
[ -n "$exec_with" ] || { echo "no python3 with numpy"; exit 77; }
"$exec_with" "$(dirname "$0")/model.py" "$WFRE" "$folder"
