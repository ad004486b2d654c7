#!/usr/bin/env python3
"""docs/MODEL.md in numpy: scores of a small trained model, from its file and the graph's edges alone.

    model.py WFRE FOLDER      trains two small models in FOLDER and compares with `wfre ask --json`
"""
import json
import math
import struct
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

ENTITIES, RELATIONS = 40, 3


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(length))
            data = file.read()
        self.settings = header.pop("__metadata__")
        self.tensors = {}
        for name, entry in header.items():
            if entry["dtype"] == "F32":
                begin, end = entry["data_offsets"]
                values = np.frombuffer(data[begin:end], dtype="<f4").astype(float)
                self.tensors[name] = values.reshape(entry["shape"])
        self.entities = np.clip(self.tensors["entities"], 0, 1)
        self.rho, self.gamma = float(self.settings["rho"]), float(self.settings["gamma"])
        self.odds, self.bends, self.lacking = None, {}, 0
        for line in self.settings.get("calibration", "").splitlines():
            word, *rest = line.split(" ")
            if word == "edges":
                self.odds = np.array(rest, float).reshape(2, 5)
            elif word == "share":
                logit = lambda share: math.log(share / (1 - share))
                share, _, _, train = map(float, rest[:4])  # questions are asked of the train graph
                self.lacking = logit(train) - logit(share)
            elif word == "bend":
                self.bends[int(rest[0])] = np.array(rest[1:], float)
            elif word == "rates":
                self.rates = np.array(rest[1:], float).reshape(-1, 2)

    def number(self, name):
        return float(self.settings[name])

    def project(self, relation, m):
        t = self.tensors
        outputs = np.einsum("jik,k->ji", t["layer0.bases"], m) + t["layer0.biases"]
        mixed = t["layer0.coefficients"][relation] @ outputs
        normal = (mixed - mixed.mean()) / math.sqrt(mixed.var() + 1e-5)
        return 1 / (1 + np.exp(-(normal * t["layer0.gain"] + t["layer0.shift"])))

    def distances(self, query):
        """Of all entities from a histogram; radius 1, so that no mass moves between bins."""
        a, eps = int(self.settings["block"]), self.number("epsilon")
        assert self.number("radius") == 1 and self.settings["score"] == "wfr"
        x = (self.entities + self.number("floor")).reshape(ENTITIES, -1, a)
        y = (query + self.number("floor")).reshape(1, -1, a)
        psi = np.full_like(x, 1 / a)
        for _ in range(int(self.settings["iterations"])):
            phi = (x / psi) ** (1 / (1 + eps))
            psi = (y / phi) ** (1 / (1 + eps))
        value = (x * (1 - phi ** -eps)).sum(2) + (y * (1 - psi ** -eps)).sum(2)
        return (value + eps * (a - (phi * psi).sum(2))).mean(1)

    def factor_score(self, relation, x, y):
        k = int(self.settings["factors"])
        number = lambda name, row: (self.tensors[name][row, :k] + 1j * self.tensors[name][row, k:])
        by = number("factors.relations", relation)
        return (number("factors.entities", x) * by * number("factors.entities", y).conj()).sum().real

    def lifted(self, histogram, last):
        return np.minimum(histogram * self.number("lift-" + last), 1)


def ask(program, folder, model, questions):
    command = [program, "ask", f"{folder}/g.kg"] + ([model] if model else [])
    command += ["--split", "train", "--json", "--top", "0"] + (["--exhaustive"] if model else [])
    run = subprocess.run(command, input="\n".join(questions) + "\n", capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.strip().split("\n")]


def known_edges(program, folder):
    pairs = [(r, e) for r in range(2 * RELATIONS) for e in range(ENTITIES)]
    texts = [f"(p,#{r},(e,#{e}))" for r, e in pairs]
    answers = ask(program, folder, None, texts)
    return {p: {a["id"] for a in answer["answers"]} for p, answer in zip(pairs, answers)}


def log_room(edges, relation, degree):
    counts = [0.0] * 2
    for e in range(ENTITIES):
        n = len(edges[relation, e])
        counts += [0.0] * (n + 1 - len(counts))
        counts[n] += 1
    counts[0] = min(counts[0], 0.2 * counts[1])
    following = counts[degree + 1] if degree + 1 < len(counts) else 0
    return math.log((degree + 1) * (following + 1) / (counts[degree] + 1))


def kinds_fit(edges, place, y):
    """How y fits an end of a relation by what it is otherwise."""
    if edges[place, y]:
        return 0
    fillers = [e for e in range(ENTITIES) if edges[place, e]]
    total, kinds, strange = 0, 0, 0
    for s in range(2 * RELATIONS):
        if edges[s, y]:
            share = (sum(1 for e in range(ENTITIES) if edges[s, e]) + 1) / (ENTITIES + 1)
            have = sum(1 for e in fillers if edges[s, e])
            total += math.log((have + 0.5 * share) / ((len(fillers) + 0.5) * share))
            kinds += 1
            strange += have == 0
    return max(min(total * (1 + 3 * strange / max(kinds, 1)), 0), -16)


def alike_gain(edges, relation, x, y):
    """What those do that share facts with the ends of an edge that is not known."""
    if y in edges[relation, x]:
        return 0
    head = tail = 0
    for s in range(2 * RELATIONS):
        for z in edges[s, x]:
            others = edges[s ^ 1, z] - {x}
            have = sum(1 for e in others if y in edges[relation, e])
            head = max(head, have / (len(others) + 5) if have >= 2 else 0)
        for z in edges[s, y]:
            have = len(edges[s ^ 1, z] & edges[relation, x])
            if have >= 2 and (s, z) != (relation ^ 1, x):
                tail = max(tail, have / (len(edges[s ^ 1, z]) + 5))
    return math.log(1 + 50 * head) + math.log(1 + 50 * tail)


def bent(numbers, z):
    """A line with a start, and a slope of its own up to each knot and above the last."""
    start, knots, slopes = numbers[0], numbers[1:6], numbers[6:]
    result = start + slopes[0] * np.minimum(z, knots[0])
    for i in range(5):
        end = knots[i + 1] if i < 4 else np.inf
        result += slopes[i + 1] * np.maximum(np.minimum(z, end) - knots[i], 0)
    return result


def edge_truths(model, edges, relation, x):
    """log of the truth values of all edges from x."""
    sharp, weight = model.number("edge-sharpness"), model.number("edge-room")
    known = edges[relation, x]
    histogram = model.lifted(model.project(relation, model.entities[x]), "projection")
    logits = -sharp * model.rho * model.distances(histogram)
    for y in range(ENTITIES):
        degree = len(edges[relation ^ 1, y])
        if degree > 0:
            gain = log_room(edges, relation ^ 1, degree) - log_room(edges, relation ^ 1, 0)
            logits[y] += sharp * weight * gain
        if any(y in edges[s, x] for s in range(2 * RELATIONS) if s != relation):
            logits[y] += model.number("edge-joined")
        logits[y] += sharp * model.number("edge-alike") * alike_gain(edges, relation, x, y)
        logits[y] += sharp * model.number("edge-factors") * model.factor_score(relation, x, y)
        if y == x:
            loops = sum(e in edges[relation, e] for e in range(ENTITIES))
            count = sum(len(edges[relation, e]) for e in range(ENTITIES))
            logits[y] += math.log((loops + 1) / (count + 1))
        logits[y] += model.number("edge-kinds") * kinds_fit(edges, relation ^ 1, y)
    softmax = logits - logits.max() - math.log(np.exp(logits - logits.max()).sum())
    kind, n = (0, len(known)) if known else (1, 1)
    room = log_room(edges, relation, len(known))
    odds = room + softmax
    if model.odds is not None:
        f = model.odds[kind]
        odds = (f[0] + f[1] * softmax + f[2] * room + f[3] * math.log(n)
                + f[4] * model.rates[relation, kind])
        odds = model.lacking + bent(model.bends[kind], odds)
    truths = odds - np.log1p(np.exp(odds))
    truths[sorted(known)] = 0
    return truths


def compare(name, expected, answer):
    rows = [(a["id"], a["score"]) for a in answer["answers"] if a["status"] == "predicted"]
    assert rows, f"{name}: nothing predicted"
    worst = max(abs(score - expected[e]) / max(1, abs(score)) for e, score in rows)
    print(f"{name}: {len(rows)} scores, worst difference {'small' if worst < 2e-3 else worst}")
    return worst < 2e-3


def main():
    program, folder = sys.argv[1:]
    with open(f"{folder}/g.tsv", "w") as file:
        for i in range(ENTITIES):
            for r in range(RELATIONS):
                for k in range(1 + i % 2):
                    file.write(f"e{i}\tr{r}\te{(i * (r + 1) + r + 7 * k) % ENTITIES}\n")
    run = lambda *words: subprocess.run([program, *words], check=True, capture_output=True)
    run("import", f"{folder}/g.tsv", "-o", f"{folder}/g.kg", "--holdout", "0.15")
    small = ["--dim", "20", "--bases", "3", "--batch", "32", "--negatives", "16", "--steps", "60"]
    whole, single = f"{folder}/whole.safetensors", f"{folder}/single.safetensors"
    run("train", f"{folder}/g.kg", "-o", whole, *small, "--set", "answering=embedding")
    run("train", f"{folder}/g.kg", "-o", single, *small, "--set", "answering=edges")
    edges = known_edges(program, folder)
    texts = ["(p,#0,(e,#3))", "(p,#3,(e,#5))", "(i,(p,#0,(e,#3)),(p,#4,(e,#8)))"]
    good = True
    model = Model(whole)
    answers = ask(program, folder, whole, texts)
    one = lambda r, e: model.project(r, model.entities[e])
    histograms = [model.lifted(one(0, 3), "projection"), model.lifted(one(3, 5), "projection"),
                  model.lifted(np.minimum(one(0, 3), one(4, 8)), "intersection")]
    for text, histogram, answer in zip(texts, histograms, answers):
        expected = model.gamma - model.rho * model.distances(histogram)
        good = compare(f"by embedding {text}", expected, answer) and good
    model = Model(single)
    answers = ask(program, folder, single, texts)
    first, second = edge_truths(model, edges, 0, 3), edge_truths(model, edges, 3, 5)
    both = first + edge_truths(model, edges, 4, 8)
    for text, expected, answer in zip(texts, [first, second, both], answers):
        good = compare(f"by edges {text}", expected, answer) and good
    assert model.odds is not None, "the odds of edges were not fitted"
    sys.exit(0 if good else 1)


main()
