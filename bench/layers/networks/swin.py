"""Attention in shifted windows: see swin.net."""

import torch
from torch import nn
import torch.nn.functional as F

w = 7


class Block(nn.Module):
    def __init__(self, c, heads, shift):
        super().__init__()
        self.h, self.sh = heads, shift
        self.n = nn.LayerNorm(c)
        self.m = nn.LayerNorm(c)
        self.q = nn.Linear(c, 3 * c)
        self.o = nn.Linear(c, c)
        self.a = nn.Linear(c, 4 * c)
        self.b = nn.Linear(4 * c, c)
        self.bias = nn.Parameter(torch.randn(heads, w * w, w * w) * 0.02)

    def forward(self, x):
        B, S, _, C = x.shape
        n = S // w
        a = self.n(x)
        if self.sh:
            a = torch.roll(a, (-self.sh, -self.sh), (1, 2))
        a = a.view(B, n, w, n, w, C).transpose(2, 3).reshape(-1, w * w, C)
        q, k, v = self.q(a).view(-1, w * w, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[None])
        o = self.o(o.transpose(1, 2).reshape(-1, w * w, C)).view(B, n, n, w, w, C).transpose(2, 3).reshape(B, S, S, C)
        if self.sh:
            o = torch.roll(o, (self.sh, self.sh), (1, 2))
        x = x + o
        return x + self.b(F.gelu(self.a(self.m(x))))


class Merge(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n = nn.LayerNorm(4 * c)
        self.l = nn.Linear(4 * c, 2 * c, bias=False)

    def forward(self, x):
        B, S, _, C = x.shape
        return self.l(self.n(x.view(B, S // 2, 2, S // 2, 2, C).transpose(2, 3).reshape(B, S // 2, S // 2, 4 * C)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 96, 4, 4)
        self.m = nn.Sequential(
            nn.LayerNorm(96),
            Block(96, 3, 0),
            Block(96, 3, 3),
            Merge(96),
            Block(192, 6, 0),
            Block(192, 6, 3),
            Merge(192),
            Block(384, 12, 0),
            Block(384, 12, 0),
            nn.LayerNorm(384),
        )
        self.l = nn.Linear(384, 100)

    def forward(self, x):
        return self.l(self.m(self.c(x).permute(0, 2, 3, 1)).mean((1, 2)))


net = Net()
parameters = list(net.parameters())
x = torch.rand(4, 3, 112, 112)
label = torch.randint(0, 100, (4,))


def loss():
    return F.cross_entropy(net(x), label)
