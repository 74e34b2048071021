"""A residual network of volumes: see resnet3d.net."""

import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, n, c, st):
        super().__init__()
        self.m = nn.Sequential(
            nn.Conv3d(n, c, 3, st, 1, bias=False),
            nn.BatchNorm3d(c),
            nn.ReLU(True),
            nn.Conv3d(c, c, 3, 1, 1, bias=False),
            nn.BatchNorm3d(c),
        )
        self.d = (
            nn.Sequential(nn.Conv3d(n, c, 1, st, bias=False), nn.BatchNorm3d(c)) if st != 1 or n != c else nn.Identity()
        )

    def forward(self, x):
        return F.relu(self.d(x) + self.m(x))


net = nn.Sequential(
    nn.Conv3d(3, 32, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False),
    nn.BatchNorm3d(32),
    nn.ReLU(True),
    Block(32, 32, 1),
    Block(32, 64, 2),
    Block(64, 128, 2),
    Block(128, 256, 2),
    nn.AdaptiveAvgPool3d(1),
    nn.Flatten(),
    nn.Linear(256, 10),
)
if LAST == torch.channels_last:
    net = net.to(memory_format=torch.channels_last_3d)
parameters = list(net.parameters())
x = torch.rand(2, 3, 8, 56, 56)
label = torch.randint(0, 10, (2,))
if LAST == torch.channels_last:
    x = x.to(memory_format=torch.channels_last_3d)


def loss():
    return F.cross_entropy(net(x), label)
