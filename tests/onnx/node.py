"""A node of ONNX as those who translate it see it, and the program that one or many become."""
import numpy as np

# Types of ONNX and what holds their values: exactly, since what an operator does to them is written out.
HELD = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool",
        "int64": "i64", "uint64": "i64", "uint32": "i64", "int32": "i32", "int16": "i32", "uint16": "i32",
        **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
                         "float4_e2m1fn"), "f32"),
        "int8": "i32", "uint8": "i32", "int4": "i32", "uint4": "i32", "int2": "i32", "uint2": "i32"}
# Smallest number and count of numbers.
RANGES = {f"{sign}int{bits}": (-2 ** (bits - 1) if not sign else 0, 2 ** bits)
          for sign in ("", "u") for bits in (2, 4, 8, 16, 32)}


class Outside(Exception):
    """The case is about what the language leaves out by design."""


class Refused(Exception):
    """The language does not say this."""


def operators():
    """A table of functions by operator, and what enters a function into it."""
    table = {}

    def enters(*names):
        def enter(function):
            table.update(dict.fromkeys(names, function))
            return function
        return enter
    return table, enters


def text(value):
    """A number or list in the language."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if np.isnan(value) or np.isinf(value):
            return "(0.0 * inf)" if np.isnan(value) else "inf" if value > 0 else "(-inf)"
        shown = repr(value)
        return shown if "." in shown or "e" not in shown else shown.replace("e", ".0e")
    return str(value)


class Node:
    """`n[0]` is the first input as a tensor of the program, None if it is left out; `n.known(0)` is its value,
    for what must be known when a program is compiled, such as shapes and axes."""

    def __init__(self, case):
        self.case, self.op, self.name = case, case.op, case.name
        self.used, self.lines = [], []
        for value in case.inputs + case.outputs:
            check_type(value)

    def __getitem__(self, i):
        if not self.has(i):
            return None
        if i not in self.used:
            self.used.append(i)
        return f"x{i}"

    def has(self, i):
        return i < len(self.case.inputs) and self.case.inputs[i] is not None

    def __len__(self):
        return len(self.case.inputs)

    def known(self, i, default=None):
        return self.case.inputs[i].tolist() if self.has(i) else default

    def attr(self, name, default=None):
        return self.case.attrs.get(name, default)

    def shape(self, i=0):
        return list(self.case.inputs[i].shape)

    def rank(self, i=0):
        return self.case.inputs[i].ndim

    def onnx_type(self, i=0):
        return self.case.inputs[i].dtype.name

    def type(self, i=0):
        return HELD[self.onnx_type(i)]

    def axis(self, default=None, name="axis", rank=None):
        """An axis that counts from 0."""
        axis = self.attr(name, default)
        return axis + (rank or self.rank()) if axis is not None and axis < 0 else axis

    def out_shape(self, i=0):
        return list(self.case.outputs[i].shape)

    def out_onnx_type(self, i=0):
        return self.case.outputs[i].dtype.name

    def out_type(self, i=0):
        return HELD[self.out_onnx_type(i)]

    def wrapped(self, expression, i=0):
        """Back into the range of the result's integers, which are held in wider ones."""
        name = self.out_onnx_type(i)
        if name not in RANGES or name == "int32":
            return expression
        low, count = RANGES[name]
        return f"wrapped({expression}, {low}, {count})"

    def let(self, statement):
        """A statement in front of the result."""
        self.lines.append(statement)


def check_type(value):
    if value is None:
        return
    if not isinstance(value, np.ndarray):
        raise Outside("sequences and optional values")
    if value.dtype.kind in "OSU" or value.dtype.name == "object":
        raise Outside("strings")
    if value.dtype.name not in HELD:
        raise Outside(value.dtype.name)


def declared(kind, shape):
    return f"{kind}{text(list(shape))}"


def empty(value):
    """A tensor without elements, which no state can be."""
    kind, shape = HELD[value.dtype.name], text(list(value.shape))
    return f"zeros({shape}, i32) != 0" if kind == "bool" else f"zeros({shape}, {kind})"


def zeros(kind, shape):
    return f"zeros({text(list(shape))}, i32) != 0" if kind == "bool" else "zeros"


class Translated:
    """The statements of a case, and what its states begin with and must end as.

    `translate` gives an expression for each result of the node, or one that has them all."""

    def __init__(self, case, translate):
        node = Node(case)
        results = translate(node)
        count = len(results) if isinstance(results, list) else max(case.wants) + 1
        results = ", ".join(results) if isinstance(results, list) else results
        self.case, self.start, self.expected = case, {}, {}
        name = "c_" + "".join(c if c.isalnum() else "_" for c in case.name)
        used = sorted(node.used)
        body = "; ".join(node.lines + [f"return {results}"])
        lines = [f"def {name}({', '.join(f'x{i}' for i in used)}) {{ {body} }}"]
        operands = {}
        for i in used:
            operands[i] = f"{name}_x{i}"
            if case.inputs[i].size == 0:
                operands[i] = empty(case.inputs[i])
                continue
            lines.append(self.state(operands[i], case.inputs[i]))
            self.start[operands[i]] = held(case.inputs[i])
        bound = [f"{name}_r{i}" if i in case.wants else "_" for i in range(count)]
        lines.append(f"{', '.join(bound)} = {name}({', '.join(operands.values())})")
        for k, i in enumerate(case.wants):
            value, state = case.outputs[k], f"{name}_y{k}"
            kind = HELD[value.dtype.name]
            if value.size == 0:
                shape = text(list(value.shape))
                lines.append(f"_ = assert({name}_r{i}.shape == {shape}, \"the shape\", {name}_r{i})")
                continue
            lines.append(self.state(state, value))
            lines.append(f"{state} <- " + (f"{kind}({name}_r{i})" if kind in ("i32", "i64") else f"{name}_r{i}"))
            self.expected[state] = value
        self.text = "\n".join(lines) + "\n"

    @staticmethod
    def state(name, value):
        kind = HELD[value.dtype.name]
        return f"state {name} : {declared(kind, value.shape)} = {zeros(kind, value.shape)}"


def held(value):
    """In the type that holds it."""
    kind = HELD[value.dtype.name]
    if kind == "f32":
        return value.astype(np.float32)
    if kind in ("i32", "i64"):
        if value.size and int(value.max()) >= 2 ** 63:
            raise Refused("numbers of uint64 beyond i64")
        return value.astype(np.int64 if kind == "i64" else np.int32)
    return value


HEAD = """const batch = 1
data train { unused = csv("unused.csv", columns = [0], header = false) }
input unused : f32[batch]
param scale = 0.0
loss = scale * mean(unused)
"""
TAIL = "train { minimize = loss, optimizer = sgd, steps = 1 }\n"


def program(library, cases):
    return HEAD + library + "".join(case.text for case in cases) + TAIL
