#!/usr/bin/env python3
"""The prediction of one picture here, in PyTorch and in ONNX Runtime, in turn, in one run.

    bench/predict.py [MODEL...] [--threads 1,2] [--rounds N] [--seconds S] [--build DIR] [--peers DIR] [--folder DIR]
                     [--json FILE]

MODEL: mobilenet_v2, resnet50 (both unless told), at 224 x 224. Ours is `OUT bench --predict`. PyTorch's networks are
torchvision's in inference mode: eager and by torch.compile with frozen weights, both also with the channels last; ONNX
Runtime has the same network, exported, with all its optimizations. Of each the results are compared before it is timed.
Rounds alternate between all ways on the same processors. The ratio is the fastest peer's least time by our least; that
of the medians stands beside it; the bar is 1.2. --folder keeps the executables, and takes those that are there.
Status: 0 all bars met, 1 one is missed, 2 nothing to measure with."""
import json
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "kernels"))
import sides  # noqa: E402

BAR = 1.2
WAYS = ["eager", "eager, last", "compiled", "compiled, last", "onnxruntime"]


def ours(options, name, cpus, seconds):
    path = os.path.join(options.folder, name)
    if not os.path.exists(path):
        sides.output([os.path.join(options.build, "bin/nnc"), os.path.join(HERE, "../models", name + ".net"), "-o", path])
    bench = lambda steps: json.loads(sides.output([path, "bench", "--predict", "--all", "--steps", steps, "--threads", len(cpus)], cpus))
    return bench(max(3, round(1e3 * seconds / bench(3)["step_ms"])))["all_ms"]


def measure(options, name, threads):
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    theirs = sides.Theirs(options.python, cpus, os.path.join(HERE, "predict/peer.py"))
    found = {"nnc": []}
    for way in WAYS:
        try:
            theirs.ask(do="open", model=name, way=way)
            found[way] = []
        except sides.Failure as failure:
            print("%s, %s: %s" % (name, way, str(failure)[:200]), file=sys.stderr)
    for _ in range(options.rounds):
        found["nnc"] += ours(options, name, cpus, options.seconds)
        for way in list(found)[1:]:
            found[way] += theirs.ask(do="measure", way=way, seconds=options.seconds)["all_ms"]
    row = {"model": name, "threads": threads, "versions": theirs.ask(do="versions"),
           "least": {way: min(times) for way, times in found.items()},
           "median": {way: statistics.median(times) for way, times in found.items()}}
    theirs.close()
    best = min(list(found)[1:], key=lambda way: row["least"][way])
    ratios = [row[key][best] / row[key]["nnc"] for key in ("least", "median")]
    print("%-13s %d  " % (name, threads) + "  ".join("%s %.2f (%.2f)" % (way, row["least"][way], row["median"][way]) for way in found))
    print("%-13s %d  ratio %.2f (%.2f) to %s%s" % (name, threads, *ratios, best, "" if ratios[0] >= BAR else "  MISSED"), flush=True)
    return {**row, "ratio": ratios[0], "median_ratio": ratios[1]}


def main():
    def add(parser):
        parser.add_argument("models", nargs="*", default=["mobilenet_v2", "resnet50"])
        parser.add_argument("--folder")
    options = sides.options_of(__doc__, HERE, add, threads="1,2", rounds=4, seconds=0.6)
    with tempfile.TemporaryDirectory() as own:
        options.folder = options.folder or own
        os.makedirs(options.folder, exist_ok=True)
        print("milliseconds a picture, the least (median)")
        rows = [measure(options, name, threads) for name in options.models for threads in options.threads]
    sides.write_json(options, rows)
    return any(row["ratio"] < BAR for row in rows)


if __name__ == "__main__":
    sys.exit(main())
