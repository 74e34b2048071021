"""Recommendations from tables: see dlrm.net."""

import torch
from torch import nn
import torch.nn.functional as F

B, T, R, W = 512, 16, 20000, 64
bot = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, W), nn.ReLU())
emb = nn.ModuleList([nn.Embedding(R, W) for _ in range(T)])
top = nn.Sequential(nn.Linear(W + (T + 1) ** 2, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
parameters = [*bot.parameters(), *emb.parameters(), *top.parameters()]
d = torch.rand(B, 13)
s = torch.randint(0, R, (B, T))
label = torch.rand(B).round()


def loss():
    h = bot(d)
    z = torch.stack([h] + [e(s[:, i]) for i, e in enumerate(emb)], 1)
    f = torch.cat([h, torch.bmm(z, z.transpose(1, 2)).flatten(1)], 1)
    return F.binary_cross_entropy_with_logits(top(f)[:, 0], label)
