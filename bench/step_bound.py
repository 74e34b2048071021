#!/usr/bin/env python3
"""How near a training step is to what the machine can do: the ratio of its time to its flop bound.

    bench/step_bound.py [--rounds N] [--steps N] [--threads N] [--build DIR] [--cc CC] [--json] [MODEL...]

MODEL: mnist, mnist_cnn, lenet; default all. One run measures the machine (bench/limits.c) and the models in
turn, round after round, so that all figures are of the same machine in the same mood. The flop bound is the
time of the step's contractions and convolutions, 2 m n k each, at the fastest multiply-add of the run.
The count is made here from the shapes and must equal the compiler's own (`product_gflop` of `OUT bench` and
`OUT profile`): each layer's forward product, its weight gradient, and its data gradient where the layer is
not the first; zeros of a padded convolution count as usual, lanes that an implementation fills up do not.

Then the kernels of the step that memory bounds, with their share of the bandwidth of DRAM (above 100 %:
their operands sit in a cache).

Needs a build and a C compiler. Status: 0 all bars met, 1 one is missed, 2 the counts differ, 3 failure."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def dense(batch, inputs, outputs):
    return 2 * batch * inputs * outputs


def conv(batch, height, width, channels, filters, kernel):
    """height, width: of the result."""
    return 2 * batch * height * width * filters * channels * kernel * kernel


# Flops of the forward product of each layer, the first one first; the step's time may be BAR times its bound.
MODELS = {
    "mnist": (1.45, [dense(100, 784, 1000), dense(100, 1000, 1000), dense(100, 1000, 10)]),
    "mnist_cnn": (2.0, [conv(32, 28, 28, 1, 8, 3), conv(32, 28, 28, 8, 8, 3), conv(32, 28, 28, 8, 8, 3),
                        dense(32, 8 * 14 * 14, 10)]),
    "lenet": (2.2, [conv(64, 24, 24, 1, 20, 5), conv(64, 8, 8, 20, 50, 5), dense(64, 50 * 4 * 4, 500),
                    dense(64, 500, 10)]),
}


def step_flops(layers):
    """Forward, weight gradient and data gradient; the first layer has no data gradient."""
    return 3 * sum(layers) - layers[0]


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def fail(message):
    print("bench: " + message, file=sys.stderr)
    sys.exit(3)


def run(*command):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE)
    if result.returncode != 0:
        fail("%s ended with status %d" % (command[0], result.returncode))
    return result.stdout.decode()


def compiler(given):
    for name in [given] if given else ["clang", "gcc", "cc"]:
        if shutil.which(name):
            return name
    fail("no C compiler; give one with --cc")


def prepare(arguments, folder):
    run(compiler(arguments.cc), "-O2", "-march=native", "-pthread", os.path.join(HERE, "limits.c"),
        "-o", folder + "/limits")
    nnc = os.path.join(arguments.build, "bin/nnc")
    for model in arguments.models:
        run(nnc, os.path.join(HERE, "../models", model + ".net"), "-o", folder + "/" + model)


def measure(arguments, folder):
    """The machine and the models in turn: the best of each limit, and all times of each model."""
    limits, benches, times = {}, {}, {model: [] for model in arguments.models}
    for _ in range(arguments.rounds):
        for model in arguments.models:
            for key, value in json.loads(run(folder + "/limits", arguments.threads, 2)).items():
                limits[key] = max(value, limits.get(key, 0))
            benches[model] = json.loads(run(folder + "/" + model, "bench", "--all", "--steps", arguments.steps,
                                            "--threads", arguments.threads))
            times[model] += benches[model]["all_ms"]
    return limits, benches, times


def memory_bound(profile, limits):
    """Rows that take at least a hundredth of the step and move bytes for longer than they compute."""
    dram = max(limits["read_gbs"], limits["update_gbs"], limits["copy_gbs"])
    rows = []
    for row in profile["instances"]:
        flops, moved = row["gflops"] / limits["fma_gflops"], row["gbs"] / dram
        if row["share"] >= 0.01 and moved > flops:
            rows.append({"name": row["name"], "operator": row["operator"], "ms": row["ms"],
                         "share": row["share"], "gbs": row["gbs"], "of_dram": moved})
    return rows


def judge(model, bench, times, limits, profile):
    bar, layers = MODELS[model]
    counted = step_flops(layers) * 1e-9
    bound = counted / limits["fma_gflops"] * 1e3
    p10, median = quantile(times, 0.1), statistics.median(times)
    return {"model": model, "batch": bench["batch"], "threads": bench["threads"], "gflop": counted,
            "compiler_gflop": bench["product_gflop"], "profile_gflop": profile["product_gflop"],
            "peak_gflops": limits["fma_gflops"], "bound_ms": bound, "p10_ms": p10, "median_ms": median,
            "samples": len(times), "ratio": p10 / bound, "median_ratio": median / bound, "bar": bar,
            "met": p10 / bound <= bar, "memory_bound": memory_bound(profile, limits)}


def agrees(result):
    return all(abs(result[key] / result["gflop"] - 1) < 1e-6 for key in ("compiler_gflop", "profile_gflop"))


def show(results, limits, threads):
    print("%d threads: %.1f GFLOP/s of f32 multiply-adds; DRAM read %.1f, write %.1f, update %.1f, copy %.1f GB/s"
          % (threads, limits["fma_gflops"], limits["read_gbs"], limits["write_gbs"], limits["update_gbs"],
             limits["copy_gbs"]))
    print("model       GFLOP  bound ms   p10 ms  median ms  p10/bound  median/bound   bar")
    for r in results:
        print("%-10s %6.4f %9.3f %8.3f %10.3f %10.2f %13.2f  %4.2f %s" %
              (r["model"], r["gflop"], r["bound_ms"], r["p10_ms"], r["median_ms"], r["ratio"],
               r["median_ratio"], r["bar"], "met" if r["met"] else "MISSED"))
    for r in results:
        for row in r["memory_bound"]:
            print("%-10s %-28s %-18s %5.1f %% of the step, %6.1f GB/s, %3.0f %% of DRAM" %
                  (r["model"], row["name"], row["operator"], row["share"] * 100, row["gbs"], row["of_dram"] * 100))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60, help="of each model in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--cc", help="for bench/limits.c; default clang, else gcc")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    arguments = parser.parse_args()
    arguments.models = arguments.models or list(MODELS)
    if not set(arguments.models) <= set(MODELS):
        parser.error("models are " + ", ".join(MODELS))
    with tempfile.TemporaryDirectory() as folder:
        prepare(arguments, folder)
        limits, benches, times = measure(arguments, folder)
        results = []
        for model in arguments.models:
            profile = json.loads(run(folder + "/" + model, "profile", "--json", "--steps", 20, "--threads",
                                     arguments.threads))
            results.append(judge(model, benches[model], times[model], limits, profile))
    if arguments.json:
        print(json.dumps({"limits": limits, "rounds": arguments.rounds, "models": results}))
    else:
        show(results, limits, arguments.threads)
    for r in results:
        if not agrees(r):
            print("step_bound: %s: %.9g GFLOP by the shapes, %.9g by the compiler, %.9g by the profile" %
                  (r["model"], r["gflop"], r["compiler_gflop"], r["profile_gflop"]), file=sys.stderr)
            return 2
    return 0 if all(r["met"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
