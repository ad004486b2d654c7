"""For the researcher: query sets, metrics by type, link prediction, settings, frames."""
import sys
import tempfile

import family
import wfre

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500

g = wfre.import_triples(family.triples(), holdout=0.2)
queries = g.sample(types="1p 2p 2i 2in", count=20, split="valid")
print(queries, queries.types[0])

for tnorm in ("product", "godel"):
    m = wfre.train(g, steps=steps, dim=40, calibrate=20, seed=1, tnorm=tnorm)
    found = wfre.evaluate(g, m, queries)
    print(tnorm, {row.name: round(row.mrr, 3) for row in found})
print(found)
print(wfre.evaluate_links(g, m, split="test", known="valid"))
print(m.reliability)

with tempfile.TemporaryDirectory() as folder:
    found.report(folder, "Families")  # report.html, results.csv, results.json
