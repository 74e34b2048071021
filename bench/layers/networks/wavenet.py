"""Dilated causal convolutions of sounds: see wavenet.net."""

import torch
from torch import nn
import torch.nn.functional as F

c, k = 64, 128


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(256, c)
        self.f = nn.ModuleList([nn.Conv1d(c, 2 * c, 2, dilation=2**i) for i in range(8)])
        self.s = nn.ModuleList([nn.Conv1d(c, k, 1) for i in range(8)])
        self.r = nn.ModuleList([nn.Conv1d(c, c, 1) for i in range(7)])
        self.a = nn.Conv1d(k, k, 1)
        self.b = nn.Conv1d(k, 256, 1)

    def forward(self, x):
        h = self.e(x).transpose(1, 2)
        t = 0
        for i in range(8):
            a, b = self.f[i](F.pad(h, (2**i, 0))).chunk(2, 1)
            z = torch.tanh(a) * torch.sigmoid(b)
            t = t + self.s[i](z)
            if i < 7:
                h = h + self.r[i](z)
        return self.b(F.relu(self.a(F.relu(t))))


net = Net()
parameters = list(net.parameters())
x = torch.randint(0, 256, (4, 2048))
label = torch.randint(0, 256, (4, 2048))


def loss():
    return F.cross_entropy(net(x), label)
