"""Rows that memory or the polynomial of a function bounds: elementwise functions and reductions, f32 and f64."""
import math

import rows

COUNT = 2 * 10 ** 7
ROWS = [COUNT // 1000, 1000]

# Name: what it is in the language, in PyTorch, NumPy and numexpr ("": it has none), of `a` and `b` into `y`.
FUNCTIONS = {
    "exp": ("exp(a)", "torch.exp(a, out=y)", "np.exp(a, out=y)", "exp(a)"),
    "log": ("log(a)", "torch.log(a, out=y)", "np.log(a, out=y)", "log(a)"),
    "erf": ("erf(a)", "torch.erf(a, out=y)", "", ""),
    "tanh": ("tanh(a)", "torch.tanh(a, out=y)", "np.tanh(a, out=y)", "tanh(a)"),
    "sigmoid": ("sigmoid(a)", "torch.sigmoid(a, out=y)", "", "1 / (1 + exp(-a))"),
    "sin": ("sin(a)", "torch.sin(a, out=y)", "np.sin(a, out=y)", "sin(a)"),
    "sqrt": ("sqrt(a)", "torch.sqrt(a, out=y)", "np.sqrt(a, out=y)", "sqrt(a)"),
    "gelu": ("gelu(a)", "torch.ops.aten.gelu.out(a, out=y)", "", ""),
    "silu": ("silu(a)", "torch.ops.aten.silu.out(a, out=y)", "", "a / (1 + exp(-a))"),
    "relu": ("relu(a)", "torch.clamp_min(a, 0, out=y)", "np.maximum(a, 0, out=y)", ""),
    "a + b": ("a + b", "torch.add(a, b, out=y)", "np.add(a, b, out=y)", "a + b"),
    "a * b + a": ("a * b + a", "torch.addcmul(a, a, b, out=y)", "", "a * b + a"),
    "softmax of rows": ("softmax(a)", "torch.softmax(a, -1, out=y)", "", ""),
}
REDUCTIONS = {
    "sum": ("sum(a)", "torch.sum(a)", "np.sum(a)", "sum(a)"),
    "max": ("max(a)", "torch.amax(a)", "np.max(a)", "max(a)"),
    "logsumexp": ("logsumexp(a)", "torch.logsumexp(a, 0)", "", ""),
    "sum of rows": ("sum(a, axis = 1)", "torch.sum(a, 1)", "np.sum(a, axis=1)", ""),
    "sum of columns": ("sum(a, axis = 0)", "torch.sum(a, 0)", "np.sum(a, axis=0)", ""),
    "max of rows": ("max(a, axis = 1)", "torch.amax(a, 1)", "np.max(a, axis=1)", ""),
}
DOMAINS = {"log": (0.01, 100), "sqrt": (0, 100), "sum": (0, 1), "sum of rows": (0, 1), "sum of columns": (0, 1)}
QUICK = {("exp", "f32"), ("exp", "f64"), ("erf", "f32"), ("tanh", "f32"), ("sigmoid", "f32"), ("log", "f64"),
         ("softmax of rows", "f32"), ("sum", "f32"), ("logsumexp", "f32"), ("sum of columns", "f64")}


def elementwise(name, dtype):
    statement, *ways = {**FUNCTIONS, **REDUCTIONS}[name]
    shape = ROWS if name.endswith(("rows", "columns")) else [COUNT]
    result = shape
    if name in REDUCTIONS:
        result = {"rows": ROWS[:1], "columns": ROWS[1:]}.get(name.split()[-1], [])
    drawn = dtype, shape, "uniform(%g, %g)" % DOMAINS.get(name, (-4, 4))
    states = {"a": drawn, "b": drawn, "y": (dtype, result, "zeros")}
    if "b" not in statement:
        del states["b"]
    read = COUNT * (len(states) - 1)
    operation = {"kind": "elementwise", "ways": dict(zip(("torch", "numpy", "numexpr"), ways))}
    return rows.Row("elementwise", name, operation, 0.0,
                    float(rows.BYTES[dtype] * (read + math.prod(result))), rows.program(states, statement), dtype,
                    is_read_only=name in REDUCTIONS)


def made(is_quick):
    every = [(name, dtype) for name in (*FUNCTIONS, *REDUCTIONS) for dtype in ("f32", "f64")]
    return [elementwise(*each) for each in every if not is_quick or each in QUICK]
