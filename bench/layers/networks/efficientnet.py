"""EfficientNet-B0: see efficientnet.net."""

import torch
from torch import nn
import torch.nn.functional as F


def unit(i, c, k=1, s=1, g=1, act=True):
    return nn.Sequential(
        nn.Conv2d(i, c, k, s, k // 2, groups=g, bias=False),
        nn.BatchNorm2d(c),
        *([nn.SiLU(inplace=True)] if act else [])
    )


class SE(nn.Module):
    def __init__(self, e, c):
        super().__init__()
        self.a = nn.Conv2d(e, c, 1)
        self.b = nn.Conv2d(c, e, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.b(F.silu(self.a(x.mean((2, 3), keepdim=True)))))


class Block(nn.Module):
    def __init__(self, n, c, k, st, t):
        super().__init__()
        self.m = nn.Sequential(
            *([unit(n, n * t)] if t > 1 else []),
            unit(n * t, n * t, k, st, n * t),
            SE(n * t, n // 4),
            unit(n * t, c, act=False)
        )
        self.r = st == 1 and n == c

    def forward(self, x):
        return self.m(x) + x if self.r else self.m(x)


m = [unit(3, 32, 3, 2)]
n = 32
for t, c, r, st, k in (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
):
    for i in range(r):
        m.append(Block(n, c, k, st if i == 0 else 1, t))
        n = c
net = nn.Sequential(*m, unit(320, 1280), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 100)).to(
    memory_format=LAST
)
parameters = list(net.parameters())
x = torch.rand(8, 3, 96, 96).to(memory_format=LAST)
label = torch.randint(0, 100, (8,))


def loss():
    return F.cross_entropy(net(x), label)
