#!/usr/bin/env python3
"""Times one training step of a model of models/ in PyTorch, as JSON: the peer of `OUT bench`.

    python3 bench/torch_step.py mnist|mnist_cnn|lenet [--steps N] [--threads N] [--compile]

The data are random and stay in memory; a step is forward, backward and update with the model's own
optimizer, on the same shapes as the .net file's.  Needs PyTorch (Debian: python3-torch).
"""
import argparse
import json
import time

import torch
from torch import nn


def mnist():
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(),
                        nn.Linear(1000, 10))
    return net, torch.optim.Adam(net.parameters(), lr=1e-3), (100, 28, 28)


def mnist_cnn():
    net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1),
                        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(8 * 14 * 14, 10))
    return net, torch.optim.SGD(net.parameters(), lr=0.01), (32, 1, 28, 28)


def lenet():
    net = nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))
    return net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4), (64, 1, 28, 28)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=["mnist", "mnist_cnn", "lenet"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="torch.compile, where PyTorch has it")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    net, optimizer, shape = {"mnist": mnist, "mnist_cnn": mnist_cnn, "lenet": lenet}[options.model]()
    if options.compile:
        net = torch.compile(net)
    image = torch.randint(0, 256, shape, dtype=torch.uint8)
    label = torch.randint(0, 10, (shape[0],))

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(image.float() / 255), label)
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(options.warmup):
        step()
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    times.sort()
    pick = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    print(json.dumps({"model": options.model, "framework": "torch " + torch.__version__,
                      "threads": options.threads, "steps": options.steps, "step_ms": pick(0.5),
                      "p10": pick(0.1), "p90": pick(0.9)}))


if __name__ == "__main__":
    main()
