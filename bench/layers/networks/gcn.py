"""Messages along the edges of a graph: see gcn.net."""

import torch
from torch import nn
import torch.nn.functional as F

N, E = 10000, 20000
a, b, c, d = nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 16)
parameters = [p for m in (a, b, c, d) for p in m.parameters()]
feat = torch.rand(N, 128)
cls = torch.zeros(N, dtype=torch.int64)
s = torch.randint(0, N, (E,))
t = torch.randint(0, N, (E,))


def layer(lin, x):
    m = lin(x)[s]
    deg = torch.zeros(N).index_add(0, t, torch.ones(E)).clamp(min=1)
    return torch.zeros(N, 128).index_add(0, t, m) / deg[:, None]


def loss():
    h = F.relu(layer(a, feat))
    h = F.relu(layer(b, h) + c(h))
    return F.cross_entropy(d(h), cls)
