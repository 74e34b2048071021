"""ConvNeXt, with fewer blocks: see convnext.net."""

import torch
from torch import nn
import torch.nn.functional as F


class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.d = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.n = nn.LayerNorm(c, 1e-6)
        self.a = nn.Linear(c, 4 * c)
        self.b = nn.Linear(4 * c, c)
        self.s = nn.Parameter(torch.full((c,), 1e-6))

    def forward(self, x):
        y = self.n(self.d(x).permute(0, 2, 3, 1))
        return x + (self.b(F.gelu(self.a(y))) * self.s).permute(0, 3, 1, 2)


m = [nn.Conv2d(3, 96, 4, 4), Norm(96, 1e-6)] + [Block(96) for _ in range(2)]
for a, b, n in ((96, 192, 2), (192, 384, 4), (384, 768, 2)):
    m += [Norm(a, 1e-6), nn.Conv2d(a, b, 2, 2)] + [Block(b) for _ in range(n)]
net = nn.Sequential(*m, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(768, 1e-6), nn.Linear(768, 100)).to(
    memory_format=LAST
)
parameters = list(net.parameters())
x = torch.rand(8, 3, 96, 96).to(memory_format=LAST)
label = torch.randint(0, 100, (8,))


def loss():
    return F.cross_entropy(net(x), label)
