#!/bin/sh
# The W3C tests: all syntax tests, and all evaluation tests that do not need a second graph (docs/SPARQL.md).
suite=$WFRE_SHARED/w3c-sparql
for python in python3 /usr/bin/python3; do
    "$python" -c 'import rdflib' 2>/dev/null && break
    python=
done
[ -n "$python" ] && [ -f "$suite/run.py" ] || { echo "skipped: needs rdflib and $suite"; exit 77; }
"$python" - "$WFRE" "$suite" <<'PY' 2>/dev/null
import contextlib, io, re, sys
import rdflib
rdflib.NORMALIZE_LITERALS = False  # the expectation is to be read as it is written
out = io.StringIO()
with contextlib.redirect_stdout(out):
    try:
        exec(compile(open(sys.argv[2] + '/run.py').read(), 'run.py', 'exec'))
    except SystemExit:
        pass
print(out.getvalue())
score = dict((k, (int(a), int(b))) for k, a, b in re.findall(r'([a-z-]+) (\d+) of (\d+)', out.getvalue()))
sys.exit(not (score['syntax'][0] == score['syntax'][1] and score['bad-syntax'][0] == score['bad-syntax'][1] and score['evaluate'][0] >= 326))
PY
