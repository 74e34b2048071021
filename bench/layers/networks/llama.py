"""Blocks of a language model of today: see llama.net."""

import torch
from torch import nn
import torch.nn.functional as F

B, T, V, L, H, S, W, D = 4, 256, 4096, 4, 8, 2, 512, 1408
d = W // H
f = 1.0 / 10000 ** (torch.arange(0, d, 2) / d)
a = torch.outer(torch.arange(T).float(), f)
cos, sin = a.cos(), a.sin()


def rot(x):
    l, r = x[..., : d // 2], x[..., d // 2 :]
    return torch.cat([l * cos - r * sin, r * cos + l * sin], -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(W, 1e-6), nn.RMSNorm(W, 1e-6)
        self.q = nn.Linear(W, W, bias=False)
        self.k = nn.Linear(W, S * d, bias=False)
        self.v = nn.Linear(W, S * d, bias=False)
        self.o = nn.Linear(W, W, bias=False)
        self.g = nn.Linear(W, D, bias=False)
        self.u = nn.Linear(W, D, bias=False)
        self.w = nn.Linear(D, W, bias=False)

    def forward(self, x):
        a = self.n1(x)
        q = rot(self.q(a).view(B, T, H, d).transpose(1, 2))
        k = rot(self.k(a).view(B, T, S, d).transpose(1, 2))
        v = self.v(a).view(B, T, S, d).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(B, T, W))
        m = self.n2(x)
        return x + self.w(F.silu(self.g(m)) * self.u(m))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, W)
        self.b = nn.Sequential(*[Block() for _ in range(L)])
        self.n = nn.RMSNorm(W, 1e-6)
        self.h = nn.Linear(W, V, bias=False)

    def forward(self, x):
        return self.h(self.n(self.b(self.e(x))))


net = Net()
parameters = list(net.parameters())
x = torch.randint(0, V, (B, T))
label = torch.randint(0, V, (B, T))


def loss():
    return F.cross_entropy(net(x).view(-1, V), label.view(-1))
