"""Elementwise functions, activations, reductions."""
import math

import torch
import torch.nn.functional as F

from make import D, Group, I, N, U

INF, NAN = math.inf, math.nan

# ---- elementwise --------------------------------------------------------------------------------

g = Group("elementwise")
WIDE = [-30.0, -5.0, -1.0, -0.1, 0.1, 1.0, 5.0, 30.0]
for name, f, operand in [
        ("exp", torch.exp, N(3, 4)), ("exp", torch.exp, [-80.0, -1e-6, 0.0, 20.0]),
        ("expm1", torch.expm1, N(3, 4)), ("expm1", torch.expm1, [-40.0, -1e-6, 0.0, 1e-6, 1e-3]),
        ("log", torch.log, U(0.1, 9, 3, 4)), ("log", torch.log, [1e-3, 1.0, 1.001, 1000.0]),
        ("log1p", torch.log1p, U(-0.9, 9, 3, 4)), ("log1p", torch.log1p, [-1e-6, 0.0, 1e-6, 0.5]),
        ("sqrt", torch.sqrt, U(0.1, 9, 5)), ("rsqrt", torch.rsqrt, U(0.1, 9, 5)),
        ("sin", torch.sin, N(6, scale=5)), ("cos", torch.cos, N(6, scale=5)),
        ("tan", torch.tan, U(-1.2, 1.2, 6)), ("tanh", torch.tanh, N(6)), ("tanh", torch.tanh, WIDE),
        ("sigmoid", torch.sigmoid, N(2, 1, 3)), ("sigmoid", torch.sigmoid, WIDE),
        ("erf", torch.erf, N(6)), ("erf", torch.erf, [-6.0, -1e-4, 0.0, 2.0, 6.0]),
        ("abs", torch.abs, N(6)), ("abs", torch.abs, [-1.0, 0.0, 2.0]),
        ("sign", torch.sign, [-2.5, 0.0, 3.0]), ("floor", torch.floor, [-1.5, -1.0, -0.25, 0.0, 2.75]),
        ("ceil", torch.ceil, [-1.5, -1.0, -0.25, 0.0, 2.75]),
        ("round", torch.round, [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.625])]:
    g.case(f"{name}(x)", f, x=operand)
g.case("minimum(x, z)", torch.minimum, x=N(3, 4), z=N(4))
g.case("maximum(x, z)", torch.maximum, x=N(3, 1), z=N(1, 4))
g.case("maximum(x, z)", torch.maximum, x=[1.0, 2.0, -1.0], z=[1.0, 3.0, -1.0])  # ties: half to each
g.case("minimum(x, 0.5)", lambda x: torch.clamp(x, max=0.5), x=N(7))
g.case("clip(x, -0.5, 1)", lambda x: x.clamp(-0.5, 1), x=N(3, 4))
g.case("clip(x, low = 0.25)", lambda x: x.clamp(min=0.25), x=N(5))
g.case("clip(x, high = -0.25)", lambda x: x.clamp(max=-0.25), x=N(5))
g.case("pow(x, z)", torch.pow, x=U(0.2, 3, 2, 3), z=N(3))
g.case("x ^ 3", lambda x: x ** 3, x=N(5))
g.case("x ^ -2", lambda x: x ** -2, x=U(0.5, 2, 5))
g.case("x ^ 0.5", lambda x: x ** 0.5, x=U(0.5, 2, 5))
g.case("2 ^ x", lambda x: 2 ** x, x=N(5))
g.case("-x ^ 2", lambda x: -(x ** 2), x=N(5))
for op in "+-*":
    g.case(f"x {op} z", lambda x, z, op=op: eval(f"x {op} z"), x=N(2, 3), z=N(3))
    g.case(f"x {op} z", lambda x, z, op=op: eval(f"x {op} z"), x=N(2, 1, 3), z=N(4, 1))
g.case("x / z", lambda x, z: x / z, x=N(2, 3), z=U(0.5, 2, 2, 1))
g.case("1 / x", lambda x: 1 / x, x=U(0.5, 2, 4))
g.case("x % z", torch.remainder, x=[-7.5, 7.5, 3.0, -0.5], z=[2.0, -2.0, 1.25, 4.0])
g.case("x // 2", lambda x: torch.div(x, 2, rounding_mode="floor"), x=[-7.5, 7.5, 3.0, -0.5])
g.case("a % b", torch.remainder, a=[-7, 7, 5, -4], b=[3, -3, 5, 2])
g.case("a // b", lambda a, b: torch.div(a, b, rounding_mode="floor"), a=[-7, 7, 5, -4], b=[3, -3, 5, 2])
for op in ["==", "!=", "<", "<=", ">", ">="]:
    g.case(f"x {op} z", lambda x, z, op=op: eval(f"x {op} z"), x=[1.0, 2.0, 3.0, NAN], z=[1.0, 3.0, 2.0, NAN])
    g.case(f"a {op} 2", lambda a, op=op: eval(f"a {op} 2"), a=[1, 2, 3])
g.case("x > 0 && x < 1", lambda x: (x > 0) & (x < 1), x=[-1.0, 0.5, 2.0])
g.case("x < 0 || x > 1", lambda x: (x < 0) | (x > 1), x=[-1.0, 0.5, 2.0])
g.case("!(x < 0)", lambda x: ~(x < 0), x=[-1.0, 0.5, 2.0])
g.case("where(x > z, x, 2 * z)", lambda x, z: torch.where(x > z, x, 2 * z), x=N(3, 4), z=N(4))
g.case("where(x > 0, x, 0)", lambda x: x * (x > 0), x=N(1, 5))
g.case("i32(x)", lambda x: x.to(torch.int32), x=[-2.75, -0.5, 0.5, 2.75])
g.case("cast(x, u8)", lambda x: x.to(torch.uint8), x=[0.0, 1.75, 254.5])
g.case("cast(a, f32) * x", lambda a, x: a * x, a=I(9, 4), x=N(4))
g.case("f32(a > 1) + x", lambda a, x: (a > 1) + x, a=I(4, 4), x=N(4))
g.case("floor_of(x)", torch.floor, x=[-1.5, 2.75])
g.case("stop_gradient(x) * x", lambda x: x.detach() * x, x=N(4))

# ---- activations --------------------------------------------------------------------------------

g = Group("activations")
ZERO = [-2.0, -1.0, 0.0, 1.0, 2.0]
for text, f in [
        ("relu(x)", F.relu), ("relu6(x)", F.relu6), ("leaky_relu(x)", F.leaky_relu),
        ("leaky_relu(x, 0.2)", lambda x: F.leaky_relu(x, 0.2)), ("elu(x)", F.elu),
        ("elu(x, alpha = 0.5)", lambda x: F.elu(x, 0.5)), ("selu(x)", F.selu), ("gelu(x)", F.gelu),
        ("gelu(x, approximate = true)", lambda x: F.gelu(x, approximate="tanh")), ("silu(x)", F.silu),
        ("hard_swish(x)", F.hardswish), ("softplus(x)", F.softplus), ("log_sigmoid(x)", F.logsigmoid),
        ("softsign(x)", F.softsign), ("mish(x)", F.mish)]:
    g.case(text, f, x=N(3, 5, scale=3))
    g.case(text, f, x=[-25.0, -1.25, -0.125, 0.125, 1.25, 25.0])
for text, f in [("relu(x)", F.relu), ("leaky_relu(x)", F.leaky_relu), ("relu6(x)", F.relu6)]:
    g.case(text, f, x=ZERO)
for axis in (-1, 0, 1):
    for name, f in [("softmax", torch.softmax), ("log_softmax", torch.log_softmax)]:
        g.case(f"{name}(x, axis = {axis})", lambda x, f=f, a=axis: f(x, a), x=N(3, 4, 2, scale=3))
g.case("softmax(x)", lambda x: torch.softmax(x, -1), x=[[1000.0, 1000.5], [-1000.0, 0.0]])
g.case("log_softmax(x)", lambda x: torch.log_softmax(x, -1), x=[[1000.0, 1000.5], [-1000.0, 0.0]])
g.case("softmax(x)", lambda x: torch.softmax(x, -1), x=N(3, 1))

# ---- reductions ---------------------------------------------------------------------------------

g = Group("reductions")
AXES = [("", None, False), (", axis = 1", 1, False), (", axis = -1, keep = true", -1, True),
        (", axis = [0, 2]", (0, 2), False), (", axis = [-3, -2], keep = true", (-3, -2), True)]
FULL = (0, 1, 2)
for text, axis, keep in AXES:
    every = FULL if axis is None else axis
    for name, f in [("sum", torch.sum), ("mean", torch.mean), ("logsumexp", torch.logsumexp),
                    ("max", torch.amax), ("min", torch.amin)]:
        g.case(f"{name}(x{text})", lambda x, f=f: f(x, every, keepdim=keep), x=D(2, 3, 4))
    g.case(f"var(x{text})", lambda x: torch.var(x, every, unbiased=False, keepdim=keep), x=N(2, 3, 4))
    g.case(f"std(x{text})", lambda x: torch.std(x, every, unbiased=False, keepdim=keep), x=N(2, 3, 4))
    g.case(f"norm(x{text})", lambda x: torch.linalg.vector_norm(x, 2, every, keep), x=N(2, 3, 4))


def prod(x, axes, keep=False):
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x


g.case("prod(x)", lambda x: x.prod(), x=N(2, 3))
g.case("prod(x, axis = 1)", lambda x: x.prod(1), x=N(2, 3, 4))
g.case("prod(x, axis = [0, 2], keep = true)", lambda x: prod(x, (0, 2), True), x=N(2, 3, 4))
g.case("prod(x, axis = -1)", lambda x: x.prod(-1), x=[[0.0, 2.0, 3.0], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0]])
g.case("sum(x, axis = 0)", lambda x: x.sum(0), x=N(1, 5))
g.case("mean(x, axis = -1)", lambda x: x.mean(-1), x=N(5, 1))
g.case("std(x, axis = 0, eps = 0.5)", lambda x: torch.sqrt(x.var(0, unbiased=False) + 0.5), x=N(4, 3))
g.case("var(x, axis = 0) * unbias(x, [0])", lambda x: x.var(0), x=N(4, 3))
g.case("norm(x)", lambda x: x.norm(), x=[0.0, 0.0])
g.case("max(x, axis = 1)", lambda x: x.max(1).values, x=[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])  # to the first
g.case("min(x, axis = 1)", lambda x: x.min(1).values, x=[[3.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
g.case("max(x)", lambda x: x.max(), x=N(1))
g.case("max(a, axis = 0)", lambda a: a.amax(0), a=I(99, 3, 4))
g.case("sum(a)", lambda a: a.sum(), a=I(99, 3, 4))
g.case("sum(x > 0)", lambda x: (x > 0).sum(), x=N(3, 4))
g.case("mean(x > 0) * sum(x)", lambda x: (x > 0).double().mean() * x.sum(), x=N(5, 4))
for axis in (0, 1, -1):
    g.case(f"argmax(x, axis = {axis})", lambda x, a=axis: x.argmax(a), x=D(3, 4, 2))
    g.case(f"argmin(x, axis = {axis})", lambda x, a=axis: x.argmin(a), x=D(3, 4, 2))
g.case("argmax(x)", lambda x: x.argmax(-1), x=[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
g.case("argmin(x)", lambda x: x.argmin(-1), x=[[1.0, 1.0, 3.0], [2.0, 2.0, 2.0]])
g.case("any(x > 1)", lambda x: (x > 1).any(), x=N(3, 4))
g.case("any(x > 1, axis = 0)", lambda x: (x > 1).any(0), x=N(3, 4))
g.case("all(x > -1, axis = -1, keep = true)", lambda x: (x > -1).all(-1, keepdim=True), x=N(3, 4))
g.case("all(x > -9)", lambda x: (x > -9).all(), x=N(3, 4))
