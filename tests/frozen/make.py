"""Makes tests/frozen/evaluated.json: what PyTorch in double makes of evaluated.net in five steps.

    python3 tests/frozen/make.py

Needs PyTorch; the tests do not."""
import json
import os
import random

import torch

torch.set_default_dtype(torch.float64)
draw = random.Random(3)
rows = [[round(draw.uniform(-2, 3), 3) for _ in range(4)] for _ in range(20)]
w = [[round(draw.uniform(-1, 1), 3) for _ in range(5)] for _ in range(3)]
data = torch.tensor(rows)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.drop = torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Dropout(0.5)
        self.linear.weight.data = torch.tensor(w).T.contiguous()
        self.linear.bias.data.zero_()

    def forward(self, x):
        return self.drop(torch.tanh(self.norm(self.linear(x))))


net, head = Net(), torch.nn.Linear(5, 1)
head.weight.data.fill_(0.3)
head.bias.data.zero_()
net.drop.p = 0.0  # while it trains; nothing is drawn otherwise
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
losses = []
for step in range(5):
    batch = data[4 * step:4 * step + 4]
    x, y = batch[:, :3], batch[:, 3:]
    net.train()
    moved = net(x).square().mean()
    net.eval()
    still = net(x)
    teacher = net(2 * x).detach()
    loss = (head(still) - y).square().mean() + 0.5 * moved + (still - teacher).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
found = {"net.linear.0.w": net.linear.weight.T, "net.linear.0.b": net.linear.bias, "net.batch_norm.0.gamma": net.norm.weight,
         "net.batch_norm.0.beta": net.norm.bias, "net.batch_norm.0.running_mean": net.norm.running_mean,
         "net.batch_norm.0.running_var": net.norm.running_var, "head.w": head.weight.T, "head.b": head.bias}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluated.json"), "w") as file:
    json.dump({"rows": rows, "w": w, "losses": losses, "variables": {name: value.detach().flatten().tolist() for name, value in found.items()}}, file)
    file.write("\n")
