"""For the one who wants the transport score alone: numpy arrays in, numpy arrays out."""
import numpy as np

import wfre

rng = np.random.default_rng(1)
X = rng.random((1000, 60), dtype=np.float32)  # histograms: numbers between 0 and 1

print(wfre.distance(X[0], X[1]))  # one pair
print(wfre.distance(X[0], X[:5]))  # one row with many
distance, du, dv = wfre.gradient(X[0], X[1])  # with gradients

index = wfre.Scores(X, block=5, epsilon=0.1)  # packed once
distances, ids = index.nearest(X[:3], k=4)
print(ids)

plan = wfre.transport(X[0], X[1])  # a notebook draws it
print(plan, plan.plan[0].round(3))

try:
    import torch
except ImportError:
    pass
else:
    row = torch.zeros(60, requires_grad=True)
    optimizer = torch.optim.Adam([row], 0.3)
    for _ in range(30):
        optimizer.zero_grad()
        loss = wfre.torch_distance(torch.sigmoid(row), torch.from_numpy(X[0]))
        loss.backward()
        optimizer.step()
    print(float(loss.detach()), "<", wfre.distance([0.5] * 60, X[0]))
