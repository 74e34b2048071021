"""Compares what executables computed with what is right: the vectors' expected values, and products, convolutions and
attention in float64.  Vectors need Python alone, the others NumPy."""
import array
import json
import math
import struct

try:
    import numpy as np
except ImportError:
    np = None

CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B", "BOOL": "B", "BF16": "H", "F16": "H"}


class TensorFile:
    """A safetensors file: its metadata, and its tensors as flat sequences of numbers."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = memoryview(file.read())
        length = struct.unpack("<Q", self.data[:8])[0]
        self.header = json.loads(bytes(self.data[8:8 + length]))
        self.metadata = self.header.pop("__metadata__", {})
        self.base = 8 + length

    def __contains__(self, name):
        return name in self.header

    def names(self):
        return list(self.header)

    def raw(self, name):
        start, end = self.header[name]["data_offsets"]
        return self.data[self.base + start:self.base + end]

    def values(self, name):
        """As Python's own numbers."""
        entry, raw = self.header[name], self.raw(name)
        if entry["dtype"] == "F16":
            return struct.unpack(f"<{len(raw) // 2}e", raw)
        found = array.array(CODES[entry["dtype"]])
        found.frombytes(raw)
        if entry["dtype"] == "BF16":
            wide = array.array("f")
            wide.frombytes(array.array("I", (bits << 16 for bits in found)).tobytes())
            return wide
        return found

    def floats(self, name, rows=slice(None)):
        """In float64, in their shape; NumPy's. Of large tensors only some rows."""
        entry = self.header[name]
        dtype = {"F64": np.float64, "F32": np.float32, "BF16": np.uint16}[entry["dtype"]]
        chosen = np.frombuffer(self.raw(name), dtype).reshape(entry["shape"])[rows]
        if entry["dtype"] == "BF16":
            chosen = (chosen.astype(np.uint32) << 16).view(np.float32)
        return chosen.astype(np.float64)


# ---- the vectors: as tests/vectors/vectors.c judges them ----------------------------------------

def vector_tolerance(metadata, type_name, is_own):
    if is_own and type_name in ("bf16", "f16"):
        return float(metadata.get("units", "1")) * (2.0 ** -8 if type_name == "bf16" else 2.0 ** -11)
    default = "1e-10" if type_name == "f64" else "1e-5"
    return float(metadata.get("tolerance_" + ("f64" if type_name == "f64" else "f32"), default))


def worst_difference(found, expected):
    """Relative to the greatest expected number; infinities and NaNs must be where they are expected."""
    if len(found) != len(expected):
        return math.inf
    greatest = max((abs(value) for value in expected if math.isfinite(value)), default=0) or 1
    worst = 0.0
    for value, wanted in zip(found, expected):
        if math.isfinite(wanted):
            difference = math.inf if math.isnan(value) else abs(value - wanted) / greatest
        else:
            same = math.isnan(value) if math.isnan(wanted) else value == wanted
            difference = 0.0 if same else math.inf
        worst = max(worst, difference)
    return worst


def flattened(value):
    if not isinstance(value, list):
        return [float(value)]
    return [number for each in value for number in flattened(each)]


def judge_vectors(expected, result, losses, predictions, tolerance):
    """How many were compared, and what differs: name, by how much."""
    compared, wrong = 0, []
    for name in expected.names():
        if name[0] not in "=>":
            continue
        if name == "=loss":
            found = losses
        elif name[0] == ">":
            found = flattened(predictions[name[1:]])
        else:
            found = result.values(name[1:]) if name[1:] in result else ()
        worst = worst_difference(found, expected.values(name))
        compared += 1
        if not worst <= tolerance:
            wrong.append([name.lstrip("=>"), worst])
    return compared, wrong


# ---- float64 -----------------------------------------------------------------------------------

def error_norm(found, right):
    """Not a number where something found is none: no tolerance admits it."""
    return float(np.linalg.norm(found - right) / max(np.linalg.norm(right), 1e-300))


def check_contraction(result, entry):
    """c = a @ b in 64 rows of the first and of the last product."""
    rows = np.random.default_rng(1).permutation(entry["sizes"][0])[:64]
    errors = {}
    for i in sorted({0, entry["repeats"] - 1}):
        a, c = (result.floats(f"{name}{i}", rows) for name in "ac")
        errors[f"c{i}"] = error_norm(c, a @ result.floats(f"b{i}"))
    return errors


def windows(x, kernel, stride, after):
    """For each place of the window: the elements of the padded planes under it, one for each result."""
    for r in range(kernel):
        for s in range(kernel):
            yield r, s, (slice(None), slice(None), slice(r, r + stride * after, stride),
                         slice(s, s + stride * after, stride))


def convolution_gradients(x, w, dy, kernel, stride, groups):
    """y and the gradients of sum(y * dy), a place of the window after another."""
    n, channels, size = x.shape[:3]
    out, per, after, pad = w.shape[0], w.shape[1], dy.shape[2], kernel // 2
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    y, dx, dw = np.zeros_like(dy), np.zeros_like(padded), np.zeros_like(w)
    split = lambda value, each: value.reshape(n, groups, each, after, after)
    dyg = split(dy, out // groups)
    wg, dwg = (value.reshape(groups, out // groups, per, kernel, kernel) for value in (w, dw))
    for r, s, place in windows(padded, kernel, stride, after):
        seen = split(padded[place], per)
        y += np.einsum("ngchw,goc->ngohw", seen, wg[..., r, s], optimize=True).reshape(y.shape)
        dwg[..., r, s] = np.einsum("ngchw,ngohw->goc", seen, dyg, optimize=True)
        dx[place] += np.einsum("ngohw,goc->ngchw", dyg, wg[..., r, s], optimize=True).reshape(n, channels, after, after)
    return y, dx[:, :, pad:pad + size, pad:pad + size], dw


def check_convolution(result, entry):
    kernel, stride, groups = entry["sizes"][4:]
    x, w, dy = (result.floats(name) for name in ("x", "y.w", "seen"))
    y, dx, dw = convolution_gradients(x, w, dy, kernel, stride, groups)
    return {"y": error_norm(result.floats("result"), y), "dx": error_norm(result.floats("x:d"), dx),
            "dw": error_norm(result.floats("y.w:d"), dw)}


def check_attention(result, entry):
    batch, time, width, heads = entry["sizes"]
    depth = width // heads
    split = lambda name: result.floats(name).reshape(batch, time, heads, depth).transpose(0, 2, 1, 3)
    q, k, v, dy = (split(name) for name in ("q", "k", "v", "seen"))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(depth)
    scores = np.where(np.tril(np.ones((time, time), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    dweights = dy @ v.transpose(0, 1, 3, 2)
    dscores = weights * (dweights - (weights * dweights).sum(-1, keepdims=True)) / math.sqrt(depth)
    right = {"result": weights @ v, "q:d": dscores @ k, "k:d": dscores.transpose(0, 1, 3, 2) @ q,
             "v:d": weights.transpose(0, 1, 3, 2) @ dy}
    return {name: error_norm(split(name), value) for name, value in right.items()}


CHECKS = {"contraction": check_contraction, "convolution": check_convolution, "attention": check_attention}


# ---- checkpoints -------------------------------------------------------------------------------

def distance(first, second, start=None):
    """The greatest relative norm of a difference of two checkpoints, tensor by tensor: to how far it moved from
    `start`, else to its own norm. With the name of that tensor."""
    worst = (0.0, "")
    for name in second.names():
        if second.header[name]["dtype"] not in ("F32", "F64") or name not in first:
            continue
        a, b = first.values(name), second.values(name)
        from_ = start.values(name) if start and name in start else [0.0] * len(b)
        norm = math.sqrt(sum((y - z) * (y - z) for y, z in zip(b, from_)))
        error = math.sqrt(sum((x - y) * (x - y) for x, y in zip(a, b))) / max(norm, 1e-30)
        worst = max(worst, (math.inf if math.isnan(error) else error, name))
    return worst
