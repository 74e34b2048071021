"""An encoder and a decoder: see seq2seq.net."""

import torch
from torch import nn
import torch.nn.functional as F

B, T, V, W, H, D = 16, 48, 4000, 256, 8, 1024


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Embedding(V, W)
        self.b = nn.Embedding(V, W)
        self.t = nn.Transformer(W, H, 3, 3, D, 0.1, batch_first=True)
        self.t.encoder.norm = None
        self.t.decoder.norm = None
        self.o = nn.Linear(W, V)
        self.p = torch.rand(T, W)
        self.m = nn.Transformer.generate_square_subsequent_mask(T)

    def forward(self, x, y):
        return self.o(
            self.t(
                F.dropout(self.a(x) + self.p, 0.1),
                F.dropout(self.b(y) + self.p, 0.1),
                tgt_mask=self.m,
                tgt_is_causal=True,
            )
        )


net = Net()
parameters = list(net.parameters())
x = torch.randint(0, V, (B, T))
y = torch.randint(0, V, (B, T))
label = torch.randint(0, V, (B, T))


def loss():
    return F.cross_entropy(net(x, y).view(-1, V), label.view(-1), label_smoothing=0.1)
