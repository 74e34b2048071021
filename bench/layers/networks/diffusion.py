"""The network of a diffusion model: see diffusion.net."""

import torch
from torch import nn
import torch.nn.functional as F

c = 64


class Unit(nn.Module):
    def __init__(self, i, n):
        super().__init__()
        self.a = nn.GroupNorm(8, i)
        self.b = nn.Conv2d(i, n, 3, padding=1)
        self.e = nn.Linear(4 * c, n)
        self.c = nn.GroupNorm(8, n)
        self.d = nn.Conv2d(n, n, 3, padding=1)
        self.r = nn.Identity() if i == n else nn.Conv2d(i, n, 1)

    def forward(self, x, e):
        h = self.b(F.silu(self.a(x))) + self.e(F.silu(e))[:, :, None, None]
        return self.d(F.silu(self.c(h))) + self.r(x)


class Attend(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g = nn.GroupNorm(8, n)
        self.q = nn.Linear(n, 3 * n)
        self.o = nn.Linear(n, n)

    def forward(self, x):
        B, n, h, w = x.shape
        q, k, v = self.q(self.g(x).flatten(2).transpose(1, 2)).view(B, h * w, 3, 4, n // 4).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, h * w, n)
        return x + self.o(o).transpose(1, 2).reshape(B, n, h, w)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, c)
        self.t = nn.Sequential(nn.Linear(c, 4 * c), nn.SiLU(), nn.Linear(4 * c, 4 * c))
        C = lambda i, o, k=1: nn.Conv2d(i, o, 3, k, 1)
        self.c0 = C(3, c)
        self.u1 = Unit(c, c)
        self.c2 = C(c, c, 2)
        self.u3 = Unit(c, 2 * c)
        self.a3 = Attend(2 * c)
        self.c4 = C(2 * c, 2 * c, 2)
        self.u5 = Unit(2 * c, 4 * c)
        self.a5 = Attend(4 * c)
        self.u6 = Unit(4 * c, 4 * c)
        self.c7 = C(4 * c, 2 * c)
        self.u7 = Unit(4 * c, 2 * c)
        self.a7 = Attend(2 * c)
        self.c8 = C(2 * c, c)
        self.u8 = Unit(2 * c, c)
        self.g = nn.GroupNorm(8, c)
        self.o = C(c, 3)

    def forward(self, x, t):
        e = self.t(self.emb(t))
        h1 = self.u1(self.c0(x), e)
        h3 = self.a3(self.u3(self.c2(h1), e))
        h5 = self.u6(self.a5(self.u5(self.c4(h3), e)), e)
        u = self.c7(F.interpolate(h5, scale_factor=2))
        u = self.a7(self.u7(torch.cat([u, h3], 1), e))
        u = self.c8(F.interpolate(u, scale_factor=2))
        u = self.u8(torch.cat([u, h1], 1), e)
        return self.o(F.silu(self.g(u)))


net = Net().to(memory_format=LAST)
parameters = list(net.parameters())
x = torch.rand(4, 3, 32, 32).to(memory_format=LAST)
y = torch.rand(4, 3, 32, 32).to(memory_format=LAST)
t = torch.randint(0, 1000, (4,))


def loss():
    return F.mse_loss(net(x, t), y)
