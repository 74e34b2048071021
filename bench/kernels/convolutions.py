#!/usr/bin/env python3
"""Convolutions of known networks: GFLOP/s of forward, gradient in the input and gradient in the weights, and
their share of the peak that `profile` measures in the same run.

    bench/kernels/convolutions.py [--threads N] [--steps N] [PATTERN...]

A row is a program of its own, whose input is a parameter, so that all three are computed; both gradients
carry the update by sgd in their epilogues, so the input's is read and written once more. PATTERN: rows
whose name contains it. `GB/s` counts each operand once: depthwise convolutions are bound by memory."""
import argparse, json, os, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# name: images, channels in, extent, channels out, kernel, stride, padding, groups
SHAPES = {
    "3x3 64@32": (16, 64, 32, 64, 3, 1, 1, 1),
    "3x3 128@16": (16, 128, 16, 128, 3, 1, 1, 1),
    "3x3 256@8": (16, 256, 8, 256, 3, 1, 1, 1),
    "3x3 64@56": (4, 64, 56, 64, 3, 1, 1, 1),
    "3x3 128@56/2": (4, 128, 56, 128, 3, 2, 1, 1),
    "1x1 192->64@28": (8, 192, 28, 64, 1, 1, 0, 1),
    "1x1 24->144@56": (4, 24, 56, 144, 1, 1, 0, 1),
    "7x7 3->64@224/2": (2, 3, 224, 64, 7, 2, 3, 1),
    "5x5 20->50@12": (64, 20, 12, 50, 5, 1, 0, 1),
    "5x5 32->96@14": (8, 32, 14, 96, 5, 1, 2, 1),
    "3x3 8@28": (32, 8, 28, 8, 3, 1, 1, 1),
    "depthwise 144@56": (4, 144, 56, 144, 3, 1, 1, 144),
    "depthwise 96@112/2": (4, 96, 112, 96, 3, 2, 1, 96),
}

PROGRAM = """param x : f32[{n}, {c}, {d}, {d}] = normal(0, 1)
state g : f32[{n}, {k}, {o}, {o}] = normal(0, 1)
y = conv2d(x, {k}, kernel = {kernel}, stride = {stride}, padding = {padding}, groups = {groups}, bias = false)
loss = sum(y * g)
train {{
  minimize  = loss
  optimizer = sgd(lr = 1e-6)
  steps     = 1
}}
"""

KINDS = (("conv", "forward"), ("conv_input", "input"), ("conv_weight", "weights"))


def measure(nnc, shape, arguments, folder):
    n, c, d, k, kernel, stride, padding, groups = shape
    out = (d + 2 * padding - kernel) // stride + 1
    source, program = os.path.join(folder, "conv.net"), os.path.join(folder, "conv")
    with open(source, "w") as file:
        file.write(PROGRAM.format(n=n, c=c, d=d, k=k, o=out, kernel=kernel, stride=stride, padding=padding,
                                  groups=groups))
    subprocess.check_call([nnc, source, "-o", program])
    text = subprocess.check_output([program, "profile", "--json", "--threads", str(arguments.threads), "--steps",
                                    str(arguments.steps), "--warmup", "2"], stderr=subprocess.DEVNULL)
    result = json.loads(text)
    rows = {row["operator"].split("+")[0]: row for row in result["instances"] if row.get("kernel")}
    return result["peak_gflops"], [rows[operator] for operator, _ in KINDS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--nnc", default=os.path.join(HERE, "../../build/bin/nnc"))
    arguments = parser.parse_args()
    print("%-20s %-8s %9s %9s %7s %7s" % ("shape", "kernel", "ms", "GFLOP/s", "peak", "GB/s"))
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            if arguments.patterns and not any(pattern in name for pattern in arguments.patterns): continue
            peak, rows = measure(arguments.nnc, shape, arguments, folder)
            for (_, kind), row in zip(KINDS, rows):
                print("%-20s %-8s %9.3f %9.1f %6.1f%% %7.1f" %
                      (name, kind, row["ms"], row["gflops"], 100 * row["gflops"] / peak, row["gbs"]), flush=True)


main()
