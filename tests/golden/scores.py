#!/usr/bin/env python3
"""Makes scores.json: a dozen WFR cases with value and both gradients, in plain double precision.

The definition at the head of wfre/score.h once more, written without a look at the C code, so that
two independent hands must agree. Gradients are the envelope's: the iterations are held fixed.
Run it by hand, and only to change the cases: python3 tests/golden/scores.py > tests/golden/scores.json
"""
import json
import math
import random


def block_score(x, y, c, power, epsilon, iterations):
    """The value of one block, and phi and psi."""
    bins = range(len(x))
    spread = [[c[abs(i - j)] ** power for j in bins] for i in bins]
    kernel = [[c[abs(i - j)] ** (2 / epsilon) for j in bins] for i in bins]
    phi = psi = [1 / len(x)] * len(x)
    for _ in range(iterations):
        phi = [(x[i] / math.fsum(spread[i][j] * psi[j] for j in bins)) ** (1 / (1 + epsilon)) for i in bins]
        psi = [(y[i] / math.fsum(spread[i][j] * phi[j] for j in bins)) ** (1 / (1 + epsilon)) for i in bins]
    terms = [x[i] * (1 - phi[i] ** -epsilon) for i in bins]
    terms += [y[i] * (1 - psi[i] ** -epsilon) for i in bins]
    terms += [epsilon * kernel[i][j] * (1 - phi[i] * psi[j]) for i in bins for j in bins]
    return math.fsum(terms), phi, psi


def score(case):
    a, e, radius, power = case["block"], case["epsilon"], case["radius"], case["power"]
    c = [math.cos(math.pi * k / (2 * radius)) if k < radius else 0.0 for k in range(a)]
    blocks = len(case["left"]) // a
    values, left, right = [], [], []
    for b in range(blocks):
        x = [u + case["floor"] for u in case["left"][b * a:(b + 1) * a]]
        y = [v + case["floor"] for v in case["right"][b * a:(b + 1) * a]]
        value, phi, psi = block_score(x, y, c, power, e, case["iterations"])
        values.append(value)
        left += [(1 - p ** -e) / blocks for p in phi]
        right += [(1 - p ** -e) / blocks for p in psi]
    return math.fsum(values) / blocks, left, right


# How an element is drawn: spread over [0, 1], saturated, mostly empty.
KINDS = {
    "spread": lambda: round(random.random(), 6),
    "saturated": lambda: random.choice([0.0, 1.0, 1.0, round(random.random(), 6)]),
    "sparse": lambda: 0.0 if random.random() < 0.7 else round(random.random(), 6),
}
# block, blocks, radius, power, epsilon, iterations, floor, left, right
ROWS = [
    (5, 4, math.pi, 2, 0.1, 10, 1e-4, "spread", "spread"),
    (5, 4, math.pi, 2, 0.1, 10, 1e-4, "sparse", "saturated"),
    (5, 3, 3, 1, 0.1, 15, 1e-4, "spread", "sparse"),
    (5, 3, 3, 20, 0.1, 50, 1e-4, "spread", "spread"),
    (5, 4, 1, 20, 0.1, 10, 1e-4, "saturated", "spread"),
    (4, 3, 2.5, 2, 0.05, 20, 1e-3, "spread", "spread"),
    (8, 2, 6, 2, 0.2, 12, 1e-4, "sparse", "spread"),
    (10, 2, 4.5, 1.5, 0.5, 8, 1e-2, "spread", "saturated"),
    (1, 7, 1, 2, 0.1, 10, 1e-4, "spread", "spread"),
    (3, 5, 0.5, 2, 1, 5, 1e-6, "spread", "spread"),
    (16, 1, 12, 3, 0.3, 25, 1e-4, "spread", "sparse"),
    (5, 2, math.pi, 2, 0.1, 1, 1e-4, "saturated", "saturated"),
]


def main():
    random.seed(17)
    cases = []
    for block, blocks, radius, power, epsilon, iterations, floor, left, right in ROWS:
        case = {"block": block, "radius": radius, "power": power, "epsilon": epsilon,
                "iterations": iterations, "floor": floor,
                "left": [KINDS[left]() for _ in range(block * blocks)],
                "right": [KINDS[right]() for _ in range(block * blocks)]}
        case["distance"], case["grad_left"], case["grad_right"] = score(case)
        cases.append(case)
    print("[" + ",\n".join(json.dumps(case) for case in cases) + "]")


if __name__ == "__main__":
    main()
