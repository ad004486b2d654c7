#!/bin/sh
# Random queries have the solutions of oxigraph (npm) or rdflib: random.sh MODULES [SEED [GRAPHS]], 20 queries a graph.
# MODULES is a folder that keeps the npm packages from run to run. Differences are explained by their kind
# (docs/SPARQL.md); one of no kind fails.
skip() { echo "skipped: $*"; exit 77; }
source=$WFRE_SOURCE/tests/sparql modules=$1
for python in python3 /usr/bin/python3; do
    "$python" -c 'import rdflib' 2>/dev/null && break
    python=
done
[ -n "$python" ] || skip "needs rdflib"
. "$source/../npm.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$modules/node_modules" "$folder/node_modules"
cp "$source/oxigraph_cases.mjs" "$folder/"
"$python" "$source/random_cases.py" "${2:-2}" "${3:-15}" 20 >"$folder/cases" &&
    (cd "$folder" && node oxigraph_cases.mjs <cases >answers) &&
    "$python" "$source/compare_cases.py" "$WFRE" "$folder/cases" "$folder/answers"
