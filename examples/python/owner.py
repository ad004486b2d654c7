"""For the owner of a graph: from triples to answers, proven and predicted, with reasons."""
import sys

import family
import wfre

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500

g = wfre.import_triples(family.triples(), holdout=0.1)
print(g)

# What the graph proves needs no model.
print(g.ask("?x : grandparent_of(ada_7, ?x) & sibling_of(?x, ?y)").proven)

# What it lacks, a model predicts; the tenth that was held out tells how well.
m = wfre.train(g, steps=steps, dim=60, calibrate=40, progress=sys.stderr.isatty())
answers = g.ask("?x : parent_of(?y, ?x) & parent_of(ada_7, ?y)", m, split="train", top=5)
print(answers)
print(answers.explain()[0])

# All that seems to be missing, and how likely a triple is.
print(g.predict(m, "grandparent_of", top=3, split="train")[:5])
print(g.score([("ada_7", "grandparent_of", "kid0_7"), ("ada_7", "grandparent_of", "kid0_8")], m))
print(g.describe("cleo_7", m, missing=3))
