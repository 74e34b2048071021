"""The other libraries' side of bench/kernels.py: a process that stays alive and answers requests, a JSON object a line.

    {"do": "load", "operation": ..., "file": F, "most": [N, W]}
        the operands and our result, from a safetensors file -> how far it is from theirs: an error where the norm of
        the difference is above N of the norm or one element is off by more than W of the mean square's root
    {"do": "time", "seconds": S}
        -> milliseconds of each way's calls, of some S seconds in all
    {"do": "versions"}

A way is one that users have: torch.mm into a given result, einsum, JAX's jitted einsum, a convolution with contiguous
and with channels-last operands, NumPy's and numexpr's functions into given arrays. Each is tried; those that are wrong where
others agree (numexpr sums f32 in f32), and those that take more than 1.3 times as long as the fastest, are dropped.
Conversions of layout lie outside of what is timed, results of convolutions are allocated by PyTorch, from memory that
the process keeps (bench/kernels/sides.py sets the allocator).

Usage: python peer.py THREADS, on as many processors as it may use."""
import math
import os
import sys
import time

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../tests/lib")]
from serve import serve                   # noqa: E402
from tensor_file import read_safetensors  # noqa: E402

MOST_CALLS = 2000
SLOWER = 1.3     # ways that take so many times as long as the best are dropped
QUIET = 0.01     # seconds in which OpenMP's threads stop to spin, before the other side is measured


def jax_einsum(operation, data):
    """JAX's compiler brings products of its own."""
    import jax
    a, b = (jax.numpy.asarray(data[name].numpy()) for name in "ab")
    product = jax.jit(lambda a, b: jax.numpy.einsum("%s,%s->%s" % tuple(operation["terms"]), a, b))
    return lambda: product(a, b).block_until_ready()


def contraction_ways(operation, data):
    """PyTorch's ways, and JAX's where its default type is that of the operands."""
    ways = torch_contractions(operation, data)
    return ways + [("jax", jax_einsum(operation, data))] if data["a"].dtype == torch.float32 else ways


def torch_contractions(operation, data):
    """One product, or batches of them, by matmul on views of the operands; anything else by einsum."""
    left, right, out = operation["terms"]
    a, b, y = data["a"], data["b"], torch.zeros_like(data["y"])
    ways = [("einsum", lambda: torch.einsum("%s,%s->%s" % (left, right, out), a, b))]
    batch = "".join(letter for letter in left if letter in right and letter in out)
    if set(left + right) > set(batch + "mnk"):
        return ways

    def view(tensor, term, order):
        """In that order of axes; one that the term lacks has the extent 1."""
        seen = tensor.permute([term.index(letter) for letter in batch + order if letter in term])
        for i, letter in enumerate(order):
            seen = seen if letter in term else seen.unsqueeze(len(batch) + i)
        return seen

    one, two, order = view(a, left, "mk"), view(b, right, "kn"), [letter for letter in batch + "mn" if letter in out]
    if len(batch) < 2 and out == "".join(order):
        product, result = torch.bmm if batch else torch.mm, view(y, out, "mn")
        into = [(product.__name__, lambda: product(one, two, out=result))]
        return into if "m" in out and "n" in out else into + ways
    back = [order.index(letter) for letter in out]
    return [("matmul", lambda: torch.matmul(one, two).permute(back))] if len(order) == one.dim() else ways


def convolution_in(layout, operation, data):
    """The operation on operands in that layout. Zeros that are more on one side lie in the input beforehand."""
    low, high, extra = operation["low"], operation["high"], []
    for before, after in zip(low, high):
        extra = [max(0, before - after), max(0, after - before)] + extra
    crop = (..., *(slice(max(0, before - after), max(0, before - after) + size)
                   for before, after, size in zip(low, high, data["a"].shape[2:])))
    x, w = torch.nn.functional.pad(data["a"], extra), data["b"]
    g = data.get("g")
    x, w, g = (each if each is None else each.contiguous(memory_format=layout) for each in (x, w, g))
    padding = [min(pair) for pair in zip(low, high)]
    stride, dilation, groups = operation["stride"], operation["dilation"], operation["groups"]
    if operation["direction"] == "forward":
        convolve = getattr(torch.nn.functional, "conv%dd" % len(padding))
        return lambda: convolve(x, w, None, stride, padding, dilation, groups)
    wanted = [operation["direction"] == "dx", operation["direction"] == "dw", False]
    backward = lambda: torch.ops.aten.convolution_backward(g, x, w, None, stride, padding, dilation, False,
                                                           [0] * len(padding), groups, wanted)
    return (lambda: backward()[0][crop]) if wanted[0] else (lambda: backward()[1])


def convolution_ways(operation, data):
    layouts = {"contiguous": torch.contiguous_format}
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(data["a"].dim())
    if last:
        layouts["channels-last"] = last
    return [(name, convolution_in(layout, operation, data)) for name, layout in layouts.items()]


def elementwise_ways(operation, data):
    """The texts of FUNCTIONS and REDUCTIONS: of torch on tensors, of np on the same memory, of numexpr."""
    import numexpr
    tensors = {**data, "y": torch.zeros_like(data["y"])}
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    makers = {"torch": lambda text: eval("lambda: " + text, {"torch": torch, **tensors}),
              "numpy": lambda text: eval("lambda: " + text, {"np": np, **arrays}),
              "numexpr": lambda text: lambda: numexpr.evaluate(text, arrays, {}, **written)}
    written = {"out": arrays["y"]} if data["y"].shape == data["a"].shape else {}
    return [(library, makers[library](text)) for library, text in operation["ways"].items() if text]


WAYS = {"contraction": contraction_ways, "convolution": convolution_ways, "elementwise": elementwise_ways}


def difference(ours, theirs):
    """The norm of the difference by the norm, and the worst element's by the mean square's root."""
    ours, theirs = ours.double(), theirs.double().reshape(ours.shape)
    gap, scale = ours - theirs, max(theirs.norm().item(), 1e-300)
    return gap.norm().item() / scale, gap.abs().max().item() / scale * math.sqrt(gap.numel())


def as_tensor(result):
    """Of a tensor, a NumPy array or one of JAX's, which NumPy can only read: a copy."""
    return result if isinstance(result, torch.Tensor) else torch.from_numpy(np.array(result))


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def times_within(call, seconds):
    """Milliseconds of one call and of as many more as begin in time, after a tenth of that to get warm."""
    end = time.perf_counter() + seconds / 10
    call()
    while time.perf_counter() < end:
        call()
    found, end = [], time.perf_counter() + seconds
    while not found or (time.perf_counter() < end and len(found) < MOST_CALLS):
        found.append(1e3 * seconds_of(call))
    time.sleep(QUIET)
    return found


class Peer:
    def __init__(self):
        self.ways = []

    def load(self, request):
        data = {name: torch.from_numpy(np.array(value)) for name, value in read_safetensors(request["file"]).items()}
        ours, operation = data["y"], request["operation"]
        ways = WAYS[operation["kind"]](operation, data)
        gaps = [difference(ours, as_tensor(call())) for _, call in ways]
        agreeing = [i for i in range(len(ways)) if all(gap <= most for gap, most in zip(gaps[i], request["most"]))]
        if not agreeing:
            raise ValueError("WRONG: our result differs from %s's by %.2g of its norm, %.2g at worst" % (
                ways[0][0], *gaps[0]))
        times = {i: min(seconds_of(ways[i][1]) for _ in range(3)) for i in agreeing}
        self.ways = [ways[i] for i in agreeing if times[i] <= SLOWER * min(times.values())]
        return {"difference": max(gaps[i][0] for i in agreeing)}

    def time(self, request):
        return {"ms": {name: times_within(call, request["seconds"] / len(self.ways)) for name, call in self.ways}}

    def versions(self, _):
        import jax
        import numexpr
        return {"torch": torch.__version__, "jax": jax.__version__, "numpy": np.__version__,
                "numexpr": numexpr.__version__, "built": torch.__config__.show(), "threads": torch.get_num_threads()}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_grad_enabled(False)
    serve(Peer())


main()
