#!/bin/sh
# Random queries have the solutions of oxigraph (npm) or rdflib. WFRE_OXIGRAPH is a folder whose node_modules has oxigraph.
# Differences are explained by their kind (docs/SPARQL.md); one of no kind fails.
here=$WFRE_SOURCE/tests/sparql
for python in python3 /usr/bin/python3; do
    "$python" -c 'import rdflib' 2>/dev/null && break
    python=
done
[ -n "$python" ] && [ -d "${WFRE_OXIGRAPH:-}/node_modules/oxigraph" ] && command -v node >/dev/null ||
    { echo "skipped: needs rdflib, node and WFRE_OXIGRAPH"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$WFRE_OXIGRAPH/node_modules" "$folder/node_modules"
cp "$here/oxigraph_cases.mjs" "$folder/"
"$python" "$here/random_cases.py" "${1:-2}" 15 20 >"$folder/cases" &&
    (cd "$folder" && node oxigraph_cases.mjs <cases >answers) &&
    "$python" "$here/compare_cases.py" "$WFRE" "$folder/cases" "$folder/answers"
