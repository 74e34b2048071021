#!/usr/bin/env python3
"""Makes the references of tests/extremes: elementwise functions over the whole range of each float type.

    tests/extremes/make.py [--points N] [--into FOLDER] [TYPE...]        (needs mpmath)

For each type a program TYPE.net in which every function has a parameter of its own, and TYPE.safetensors: the
parameters, "=oN" what function N gives and "=dN" its derivative where there is a reference, computed with 300
bits and rounded to double; the metadata names the functions and how many units in the last place each may be off.
With --points 700 and compare.py --table come the numbers of docs/numbers.md."""
import argparse
import json
import os
import random
import re
import struct

import mpmath as M
from mpmath import inf, mp, mpf, nan

mp.prec = 300
HERE = os.path.dirname(os.path.abspath(__file__))
# Bits of the significand, the exponents of the least and the greatest normal number.
TYPES = {"f32": (24, -126, 127), "f64": (53, -1022, 1023), "bf16": (8, -126, 127), "f16": (11, -14, 15)}
NAMES = {"f32": "F32", "f64": "F64", "bf16": "BF16", "f16": "F16"}

HEAD = """# Made by tests/extremes/make.py: do not edit.
const batch = 1
data train { unused = csv("unused.csv", columns = [0], header = false) }
input unused : f32[batch]
optimizer observe() {
  state d = zeros
  d <- g
  w <- w
}
loss = 0 * mean(unused)
"""
TAIL = "train { minimize = loss, optimizer = observe, steps = 1 }\n"


def log(x):
    return M.log(x) if x > 0 else -inf if x == 0 else nan


def inside(f):
    """f between -1 and 1, NaN beyond."""
    return lambda x: f(x) if abs(x) <= 1 else nan


def sigmoid(x):
    return 1 / (1 + M.exp(-x))


def softplus(x):
    return M.log1p(M.exp(x)) if x < 50 else x + M.exp(-x)


def hard_sigmoid(x):
    return min(max(x + 3, mpf(0)), mpf(6)) / 6


def pole(f):
    """Infinite at 1 and -1."""
    return lambda x: x * inf if abs(x) == 1 else f(x) if abs(x) < 1 else nan


# Function, its value, its derivative (None where that is computed from the result or cancels), and by how many units both
# may be off in f32 and f64. In 16 bits a function is rounded once, but for SEVERAL.
FUNCTIONS = [
    ("exp(x)", M.exp, M.exp, 1, 1), ("expm1(x)", M.expm1, M.exp, 1, 1),
    ("log(x)", log, lambda x: 1 / x if x else inf, 1, 1),
    ("log1p(x)", lambda x: M.log1p(x) if x > -1 else -inf if x == -1 else nan, lambda x: 1 / (1 + x) if x != -1 else inf, 1, 2),
    ("sqrt(x)", lambda x: M.sqrt(x) if x >= 0 else nan, None, 1, 0), ("rsqrt(x)", lambda x: 1 / M.sqrt(x) if x > 0 else inf if x == 0 else nan, None, 1.6, 0),
    ("sin(x)", M.sin, M.cos, 1, 1), ("cos(x)", M.cos, lambda x: -M.sin(x), 1, 1), ("tan(x)", M.tan, lambda x: 1 / M.cos(x) ** 2, 1, 2.5),
    ("tanh(x)", M.tanh, None, 2, 0), ("sigmoid(x)", sigmoid, None, 2, 0), ("erf(x)", M.erf, None, 1.6, 0),
    ("exp2(x)", lambda x: M.power(2, x), None, 1, 0), ("log2(x)", lambda x: log(x) / M.log(2), None, 2, 0), ("log10(x)", lambda x: log(x) / M.log(10), None, 2, 0),
    ("sinh(x)", M.sinh, M.cosh, 2.5, 2.5), ("cosh(x)", M.cosh, M.sinh, 2.5, 2.5),
    ("atan(x)", M.atan, None, 2.5, 0), ("asin(x)", inside(M.asin), None, 2.5, 0), ("acos(x)", inside(M.acos), None, 2.5, 0),
    ("asinh(x)", lambda x: M.asinh(x) if x >= 0 else -M.asinh(-x), lambda x: 1 / M.sqrt(1 + x * x), 2.5, 2.5),
    ("acosh(x)", lambda x: M.acosh(x) if x >= 1 else nan, lambda x: 1 / M.sqrt((x - 1) * (x + 1)) if x > 1 else inf if x == 1 else nan, 2.5, 2.5),
    ("atanh(x)", pole(M.atanh), None, 2.5, 0), ("softplus(x)", softplus, sigmoid, 2, 2.5), ("log_sigmoid(x)", lambda x: -softplus(-x), lambda x: sigmoid(-x), 2, 2.5),
    ("softsign(x)", lambda x: x / (1 + abs(x)), None, 2, 0), ("hard_sigmoid(x)", hard_sigmoid, None, 1.6, 0), ("hard_swish(x)", lambda x: x * hard_sigmoid(x), None, 2.5, 0),
    ("elu(x)", lambda x: x if x > 0 else M.expm1(x), lambda x: mpf(1) if x > 0 else M.exp(x), 1, 1),
    ("x ^ -2", lambda x: 1 / (x * x) if x else inf, None, 2.5, 0), ("x ^ 3", lambda x: x ** 3, None, 2, 0),
    ("hypot(x, x)", lambda x: abs(x) * M.sqrt(2), None, 2, 0), ("hypot(x, 1 + 0 * clip(x, 0, 1))", lambda x: M.sqrt(x * x + 1), None, 2, 0),
    ("atan2(x, 3 + 0 * clip(x, 0, 1))", lambda x: M.atan2(x, 3), lambda x: 3 / (9 + x * x), 2.5, 3),
]
# Compositions in 16 bits that round more than once, after each operator.
SEVERAL = {"log2(x)", "log10(x)", "softsign(x)"}
EDGES = [0.0, 1.0, 2.0, 3.0, 0.5, 80.0, 79.9, 80.1, 88.72, 88.73, 89.4, 89.41, 87.3, 103.9, 104.0, 709.7, 709.8, 710.4, 710.47, 710.5, 745.0, 745.2, 11.09, 11.1, 11.78, 11.8,
         15.0, 17.0, 20.0, 22.0, 255.0, 256.0, 300.0, 12000.0, 65504.0, 9.9e7, 1.01e8, 1e10, 1e16, 1e18, 1e19, 1e20, 1e21, 1e30, 3e38, 1e154, 1e200, 1e308, 1e-3, 1e-8, 1e-20,
         1e-30, 1e-38, 1e-40, 1e-45, 1e-300, 1e-310, 1 - 2 ** -7, 1 - 2 ** -11, 1 - 2 ** -24, 1 - 2 ** -53, 1 + 2 ** -7, 1 + 2 ** -10, 1 + 2 ** -23, 1 + 2 ** -52]


def rounded(x, type_name):
    """A double as a number of the type."""
    precision, least, greatest = TYPES[type_name]
    if x == 0 or x != x or abs(x) == inf:
        return x
    exponent = max(int(M.floor(M.log(abs(mpf(x)), 2))), least) - precision + 1
    value = float(M.nint(mpf(x) / mpf(2) ** exponent) * mpf(2) ** exponent)
    return value if abs(mpf(value)) < mpf(2) ** (greatest + 1) else float("inf") * (1 if x > 0 else -1)


def points(type_name, count):
    precision, least, greatest = TYPES[type_name]
    rng = random.Random(7)
    found = EDGES + [float("inf")]
    for _ in range(count):
        found.append(float((1 + mpf(rng.random())) * mpf(2) ** rng.randint(least - precision + 1, greatest)))
        found.append(rng.uniform(0, 12))
        found.append(1 + rng.uniform(-1, 1) * 2.0 ** -rng.randint(0, precision))
    found += [-x for x in found if x]  # mpmath has no negative zero
    return [rounded(x, type_name) for x in found] + [float("nan")]


def encoded(values, type_name):
    if type_name in ("f32", "f64"):
        return struct.pack("<%d%s" % (len(values), "f" if type_name == "f32" else "d"), *values)
    if type_name == "f16":
        return struct.pack("<%de" % len(values), *values)
    return b"".join(struct.pack("<f", x)[2:] for x in values)


def exact(f, x):
    if x != x:
        return x
    try:
        value = f(mpf(x) if abs(x) != inf else inf * (1 if x > 0 else -1))
    except (ValueError, ZeroDivisionError, OverflowError):
        return float("nan")
    return float("nan") if isinstance(value, M.mpc) else float(value)


def make(type_name, count, folder):
    xs, program, tensors, limits = points(type_name, count), HEAD, {}, []
    for i, (text, f, derivative, error, slope_error) in enumerate(FUNCTIONS):
        used = re.sub(r"\bx\b", "x%d" % i, text)
        program += "param x%d : %s[%d] = zeros\nstate o%d : %s[%d] = zeros\n" % (i, type_name, len(xs), i, type_name, len(xs))
        program += "y%d = %s\no%d <- y%d\nloss = loss + f32(sum(y%d))\n" % (i, used, i, i, i)
        tensors["x%d" % i] = (NAMES[type_name], encoded(xs, type_name))
        tensors["=o%d" % i] = ("F64", struct.pack("<%dd" % len(xs), *[exact(f, x) for x in xs]))
        if derivative:
            tensors["=d%d" % i] = ("F64", struct.pack("<%dd" % len(xs), *[exact(derivative, x) for x in xs]))
        if type_name in ("bf16", "f16"):
            error, slope_error = (2 if text in SEVERAL else 0.51), 3 * (derivative is not None)
        limits.append("%s|%g|%g" % (text, error, slope_error))
    tensors["0/unused"] = ("F32", struct.pack("<f", 0))
    head, data = {"__metadata__": {"functions": "\n".join(limits)}}, b""
    for name, (kind, raw) in tensors.items():
        head[name] = {"dtype": kind, "shape": [1 if "/" in name else len(xs)], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, type_name + ".safetensors"), "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, type_name + ".net"), "w") as out:
        out.write(program + TAIL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", metavar="TYPE")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--into", default=HERE)
    arguments = parser.parse_args()
    for type_name in arguments.types or TYPES:
        make(type_name, arguments.points, arguments.into)


main()
