#!/bin/sh
# The W3C tests: all syntax tests, and all evaluation tests whose files are there but one (docs/SPARQL.md).
suite=$WFRE_SHARED/w3c-sparql
for python in python3 /usr/bin/python3; do
    "$python" -c 'import rdflib' 2>/dev/null && break
    python=
done
[ -n "$python" ] && [ -f "$suite/run.py" ] || { echo "skipped: needs rdflib and $suite"; exit 77; }
"$python" -W ignore "$WFRE_SOURCE/tests/sparql/w3c_named.py" "$WFRE" "$suite"
