#!/usr/bin/env python3
"""Layers by themselves, forward, backward and the update of what they read, beside PyTorch's eager ones, in turn, in one run.

    bench/layers.py [PATTERN] [--networks] [--threads 2] [--rounds N] [--seconds S] [--build DIR] [--peers DIR] [--json FILE]

The rows are those of layers/rows.py whose name matches: layers of which no model of ours has its step's time, so that what is
slow in one of them is seen. With --networks they are small networks of kinds that no model has, in layers/networks. Ours is
`OUT bench`; PyTorch has a fused update and contiguous operands, and networks of pictures both layouts, the faster of which counts.
The ratio is its least time by ours; that of the medians stands beside it; the bar is 1.
Status: 0 all bars met, 1 one is missed, 2 nothing to measure with."""
import json
import math
import os
import re
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "kernels")]
import sides  # noqa: E402
sys.path.insert(1, os.path.join(HERE, "layers"))
from rows import LAYERS, networks  # noqa: E402

BAR = 1.0


def measure(options, layer, cpus, theirs, folder):
    path = os.path.join(folder, re.sub(r"\W", "_", layer.name))
    with open(path + ".net", "w") as file:
        file.write(layer.program)
    sides.output([os.path.join(options.build, "bin/nnc"), path + ".net", "-o", path])
    bench = lambda steps: json.loads(sides.output(
        [path, "bench", "--all", "--steps", steps, "--warmup", 2, "--threads", len(cpus)], cpus))["all_ms"]
    least, ours, peers = min(bench(3)), [], [[] for _ in layer.setups]
    for _ in range(options.rounds):
        ours += bench(max(3, min(1000, round(1e3 * options.seconds / least))))
        for setup, times in zip(layer.setups, peers):
            theirs.ask(do="open", setup=setup, loss=layer.loss)
            times += theirs.ask(do="measure", seconds=options.seconds)["all_ms"]
    peer = min(peers, key=min)
    row = {"layer": layer.name, "threads": len(cpus), "ours": min(ours), "torch": min(peer),
           "ratio": min(peer) / min(ours), "median_ratio": statistics.median(peer) / statistics.median(ours)}
    print("%-28s %d %10.3f %10.3f %8.2f %8.2f%s" % (*row.values(), "" if row["ratio"] >= BAR else "  MISSED"), flush=True)
    return row


def main():
    def add(parser):
        parser.add_argument("pattern", nargs="?", default="")
        parser.add_argument("--networks", action="store_true")
    options = sides.options_of(__doc__, HERE, add, threads="2", rounds=2, seconds=0.2)
    rows = networks() if options.networks else LAYERS
    chosen = [layer for layer in rows if re.search(options.pattern, layer.name)]
    if not chosen:
        sides.stop("no such layer")
    found = []
    print("%-28s t %10s %10s %8s %8s" % ("layer", "ours ms", "torch ms", "ratio", "median"))
    for threads in options.threads:
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        theirs = sides.Theirs(options.python, cpus, os.path.join(HERE, "layers/peer.py"))
        with tempfile.TemporaryDirectory() as folder:
            found += [measure(options, layer, cpus, theirs, folder) for layer in chosen]
        theirs.close()
    print("geometric mean %.2f, the least %.2f" % (
        math.exp(statistics.mean(math.log(row["ratio"]) for row in found)), min(row["ratio"] for row in found)))
    sides.write_json(options, found)
    return any(row["ratio"] < BAR for row in found)


if __name__ == "__main__":
    sys.exit(main())
