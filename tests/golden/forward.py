#!/usr/bin/python3
"""The published model written down once more, by itself, in PyTorch and double precision.

    forward.py json FILE              the case that tests/golden/forward.c compares with
    forward.py checkpoint FILE        the same weights as the published code would save them
    forward.py checkpoint FILE real   with the projection that allows for several layers
    forward.py checkpoint FILE half   with weights in half precision

Entities are clamped to [0, 1]; a projection is sigmoid(LayerNorm(sum_j c_rj (V_j m + a_j))); an
intersection is the minimum; the complement keeps the factor of its training noise; a union is the
best of its branches; and the distance is the mean of the blocks' WFR values after L iterations.
"""
import collections
import json
import math
import sys

import torch

ENTITIES, RELATIONS, GRID, BLOCKS, BASES = 10, 6, 5, 4, 3
DIM = GRID * BLOCKS
GAMMA, SCALE, EPSILON, ETA, ITERATIONS, FACTOR, FLOOR = 37.5, 120.0, 0.1, 1.0, 10, 0.9, 1e-4

QUERIES = {
    "1p": ["p", 0, ["e", 1]],
    "2p": ["p", 1, ["p", 2, ["e", 3]]],
    "3p": ["p", 5, ["p", 0, ["p", 3, ["e", 4]]]],
    "2i": ["i", ["p", 0, ["e", 1]], ["p", 4, ["e", 2]]],
    "3i": ["i", ["p", 0, ["e", 1]], ["p", 4, ["e", 2]], ["p", 5, ["e", 9]]],
    "ip": ["p", 3, ["i", ["p", 0, ["e", 1]], ["p", 4, ["e", 2]]]],
    "pi": ["i", ["p", 1, ["p", 2, ["e", 3]]], ["p", 4, ["e", 2]]],
    "2in": ["i", ["p", 0, ["e", 1]], ["n", ["p", 4, ["e", 2]]]],
    "3in": ["i", ["p", 0, ["e", 1]], ["p", 4, ["e", 2]], ["n", ["p", 5, ["e", 9]]]],
    "inp": ["p", 3, ["i", ["p", 0, ["e", 1]], ["n", ["p", 4, ["e", 2]]]]],
    "pin": ["i", ["p", 1, ["p", 2, ["e", 3]]], ["n", ["p", 4, ["e", 2]]]],
    "pni": ["i", ["n", ["p", 1, ["p", 2, ["e", 3]]]], ["p", 4, ["e", 2]]],
    "2u": ["u", ["p", 0, ["e", 1]], ["p", 4, ["e", 2]]],
    "up": ["u", ["p", 3, ["p", 0, ["e", 1]]], ["p", 3, ["p", 4, ["e", 2]]]],
}


def make_weights():
    torch.manual_seed(20)
    draw = torch.distributions.Normal(0, 1)
    return {
        "entities": torch.rand(ENTITIES, DIM) * 1.2 - 0.1,  # some outside of [0, 1]
        "coefficients": draw.sample((RELATIONS, BASES)),
        "bases": draw.sample((BASES, DIM, DIM)) / math.sqrt(DIM),
        "biases": draw.sample((BASES, DIM)) * 0.3,
        "gain": 1 + 0.5 * draw.sample((DIM,)),
        "shift": 0.5 * draw.sample((DIM,)),
    }


def project(w, relation, m):
    outputs = torch.einsum("jik,k->ji", w["bases"], m) + w["biases"]
    mixed = w["coefficients"][relation] @ outputs
    spread = ((mixed - mixed.mean()) ** 2).mean()
    normal = (mixed - mixed.mean()) / torch.sqrt(spread + 1e-5)
    return torch.sigmoid(normal * w["gain"] + w["shift"])


def branches(w, query):
    """The histograms of a query: one, or one for each branch of a union at the root."""
    op = query[0]
    if op == "u":
        return [b for part in query[1:] for b in branches(w, part)]
    if op == "e":
        return [w["entities"][query[1]].clamp(0, 1)]
    if op == "p":
        return [project(w, query[1], branches(w, query[2])[0])]
    if op == "n":
        return [0.5 - FACTOR * (branches(w, query[1])[0] - 0.5)]
    parts = [branches(w, part)[0] for part in query[1:]]
    return [torch.stack(parts).amin(0)]


def distance(entity, query):
    x = entity.reshape(BLOCKS, GRID) + FLOOR
    y = query.reshape(BLOCKS, GRID) + FLOOR
    gap = (torch.arange(GRID)[:, None] - torch.arange(GRID)[None, :]).abs().double()
    cosine = torch.cos((gap / (2 * ETA)).clamp(max=math.pi / 2))
    h, k = cosine ** 2, cosine ** (2 / EPSILON)
    phi = psi = torch.full_like(x, 1 / GRID)
    for _ in range(ITERATIONS):
        phi = (x / (psi @ h)) ** (1 / (1 + EPSILON))
        psi = (y / (phi @ h)) ** (1 / (1 + EPSILON))
    plan = torch.einsum("bi,ij,bj->b", phi, k, psi)
    value = (x * (1 - phi ** -EPSILON)).sum(1) + (y * (1 - psi ** -EPSILON)).sum(1)
    return (value + EPSILON * (k.sum() - plan)).mean()


def logits(w, query):
    parts = branches(w, query)
    return [max(GAMMA - SCALE * distance(w["entities"][e].clamp(0, 1), b).item() for b in parts)
            for e in range(ENTITIES)]


def case():
    weights = make_weights()
    double = {name: tensor.double() for name, tensor in weights.items()}
    return {
        "made by": "tests/golden/forward.py",
        "entity_count": ENTITIES, "relation_count": RELATIONS, "dim": DIM, "bases": BASES,
        "weights": {name: t.flatten().tolist() for name, t in weights.items()},
        "queries": [{"type": name, "query": q, "logits": logits(double, q)}
                    for name, q in QUERIES.items()],
    }


def checkpoint(kind):
    weights = make_weights()
    if kind == "half":
        weights = {name: t.half() for name, t in weights.items()}
    real = kind == "real"
    norm = "ln1" if real else "ln0"
    state = collections.OrderedDict()
    state["gamma"] = torch.tensor([GAMMA])
    state["embedding_range"] = torch.tensor([(GAMMA + 2) / DIM])
    state["entity_embedding"] = weights["entities"]
    net = "projection_net."
    c = weights["coefficients"]
    state[net + "weights"] = c[:, :, None] if real else c
    if not real:
        state[net + "relation_base"] = torch.zeros(BASES, DIM, DIM + 1)
    state[net + "layer1.weight"] = weights["bases"].reshape(BASES * DIM, DIM)
    state[net + "layer1.bias"] = weights["biases"].reshape(BASES * DIM)
    state[net + norm + ".weight"] = weights["gain"]
    state[net + norm + ".bias"] = weights["shift"]
    parameters = [torch.nn.Parameter(state["entity_embedding"].float().clone())]
    optimizer = torch.optim.AdamW(parameters, lr=5e-4, weight_decay=0.01)
    parameters[0].sum().backward()
    optimizer.step()
    return {"model_parameter": state, "optimizer_parameter": optimizer.state_dict(),
            "warm_up_steps": 120000.0, "learning_rate": 5e-4}


if __name__ == "__main__":
    if sys.argv[1] == "json":
        with open(sys.argv[2], "w") as out:
            json.dump(case(), out, indent=0)
    else:
        torch.save(checkpoint(sys.argv[3] if len(sys.argv) > 3 else "plain"), sys.argv[2])
