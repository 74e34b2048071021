"""The other libraries' side of bench/kernels.py: a process that stays alive and answers requests, a JSON object a line.

    {"do": "load", "operation": ..., "file": F}   the operands and our result, from a safetensors file -> the ways to
                                                  compute it that are worth timing, and how far ours is from each
    {"do": "time", "seconds": S}                  -> each way's milliseconds, the calls of some S seconds in all
    {"do": "versions"}

A way is one that users have: torch.mm into a given result, einsum, a convolution with contiguous and with
channels-last operands, NumPy's and numexpr's functions into given arrays. Each is tried; those that take more than
1.3 times as long as the fastest are dropped. Conversions of layout lie outside of what is timed, results of
convolutions are allocated by PyTorch, from memory that the process keeps (bench/kernels/sides.py sets the allocator).

Usage: python peer.py THREADS, on as many processors as it may use."""
import json
import math
import os
import sys
import time

import numpy as np
import torch

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/lib"))
from tensor_file import read_safetensors  # noqa: E402

MOST_CALLS = 2000
SLOWER = 1.3     # ways that take so many times as long as the best are dropped
QUIET = 0.01     # seconds in which OpenMP's threads stop to spin, before the other side is measured


def contraction_ways(operation, data):
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

    a, b, order = view(a, left, "mk"), view(b, right, "kn"), [letter for letter in batch + "mn" if letter in out]
    if len(batch) < 2 and out == "".join(order):
        product, result = torch.bmm if batch else torch.mm, view(y, out, "mn")
        return [(product.__name__, lambda: product(a, b, out=result))] + ([] if "m" in out and "n" in out else ways)
    back = [order.index(letter) for letter in out]
    return [("matmul", lambda: torch.matmul(a, b).permute(back))] if len(order) == a.dim() else ways


WAYS = {"contraction": contraction_ways}


def difference(ours, theirs):
    """The norm of the difference by the norm, and the worst element's by the mean square's root."""
    ours, theirs = ours.double(), theirs.double().reshape(ours.shape)
    gap, scale = ours - theirs, max(theirs.norm().item(), 1e-300)
    return gap.norm().item() / scale, gap.abs().max().item() / scale * math.sqrt(gap.numel())


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Peer:
    def __init__(self):
        self.ways, self.estimates = [], []

    def load(self, request):
        data = {name: torch.from_numpy(np.array(value)) for name, value in read_safetensors(request["file"]).items()}
        ours, operation = data["y"], request["operation"]
        ways = WAYS[operation["kind"]](operation, data)
        gaps = [difference(ours, torch.as_tensor(call())) for _, call in ways]
        times = [min(seconds_of(call) for _ in range(3)) for _, call in ways]
        kept = [i for i in range(len(ways)) if times[i] <= SLOWER * min(times)]
        self.ways, self.estimates = [ways[i] for i in kept], [times[i] for i in kept]
        return {"ways": [ways[i][0] for i in kept], "differences": [gaps[i] for i in kept]}

    def time(self, request):
        result = {}
        for (name, call), estimate in zip(self.ways, self.estimates):
            seconds = request["seconds"] / len(self.ways)
            count = max(1, min(MOST_CALLS, round(seconds / estimate)))
            for _ in range(max(1, min(count, 20))):
                call()
            result[name] = [1e3 * seconds_of(call) for _ in range(count)]
        time.sleep(QUIET)
        return {"ms": result}

    def versions(self, _):
        import numexpr
        return {"torch": torch.__version__, "numpy": np.__version__, "numexpr": numexpr.__version__,
                "built": torch.__config__.show(), "threads": torch.get_num_threads()}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_grad_enabled(False)
    peer, answers = Peer(), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(peer, request["do"])(request)
        except Exception as error:  # the row is lost, not the run
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), file=answers, flush=True)


main()
