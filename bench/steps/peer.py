"""PyTorch's side of bench/steps.py: a process that stays alive and answers requests, a JSON object a line.

    {"do": "twin", "model": NAME}        -> the edits that its twin of tests/torch/twins makes in the .net file
    {"do": "load", "variables": FILE, "kinds": {NAME: KIND}, "inputs": [...], "precision": P, "ways": [...]}
        -> the ways that work, why the others do not, seconds that each took before its first step was over
    {"do": "time", "seconds": S}         -> milliseconds of each way's steps, of some S seconds each
    {"do": "memory"}                     -> bytes by which each way's step makes the process grow, to its peak
    {"do": "versions"}

A way is `eager` or `compiled` (torch.compile of the loss, with shapes that do not change), with `, last` on weights
and pictures that keep their channels last. All have the fused update of parameters where PyTorch has one, and
attention by scaled_dot_product_attention. With precision bf16 the loss is computed under autocast.
Ways that take more than 1.3 times as long as the fastest are dropped after the first round.

Usage: python peer.py THREADS, on as many processors as it may use."""
import contextlib
import ctypes
import gc
import math
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, folder) for folder in ("..", "../../tests/torch", "../../tests/lib")]
from compare import Peer, draw_input, load_twin, to_torch  # noqa: E402
from serve import serve                                    # noqa: E402
from tensor_file import read_safetensors                   # noqa: E402

MOST_STEPS = 500
SLOWER = 1.3  # ways that take so many times as long as the fastest are dropped
QUIET = 0.01  # seconds in which OpenMP's threads stop to spin, before the other side is measured


def fused_attention(q, k, v, heads):
    """Of gpt's twin, which writes it out."""
    n, time_, width = q.shape
    q, k, v = (each.view(n, time_, heads, width // heads).transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, time_, width)


def gpt2_attend(twin):
    def attend(p, x, path):
        q, k, v = twin.conv1d(p, x, path + ".linear.0").split(x.shape[2], -1)
        return twin.conv1d(p, fused_attention(q, k, v, twin.HEADS), path + ".linear.1")
    return attend


def tune(name, twin):
    """What PyTorch has a faster function for than the one that the twin writes out."""
    if name == "gpt":
        twin.causal_attention = fused_attention
    elif name == "gpt2":
        twin.attend = gpt2_attend(twin)


def fuse(optimizer):
    """Kinds that have no fused update keep theirs."""
    for group in optimizer.param_groups:
        if "fused" in group:
            group.update(fused=True, foreach=False)
    return optimizer


def resident(key):
    """VmRSS or VmHWM, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


class Way:
    """A training step."""

    def __init__(self, name, request, twin, batch):
        variables, kinds = read_safetensors(request["variables"]), request["kinds"]
        of_kind = lambda *wanted: {key: np.array(value) for key, value in variables.items() if kinds[key] in wanted}
        self.name, self.batch = name, dict(batch)
        self.peer = Peer(twin, "f32", of_kind("param"), of_kind("state", "stream"), 1000, False)
        if name.endswith(", last"):
            for value in self.peer.p.values():
                if value.dim() == 4:
                    value.data = value.data.contiguous(memory_format=torch.channels_last)
        is_bf16 = request["precision"] == "bf16"
        self.cast = lambda: torch.autocast("cpu", torch.bfloat16) if is_bf16 else contextlib.nullcontext()
        compiled = (lambda loss: torch.compile(loss, dynamic=False)) if name.startswith("compiled") else lambda loss: loss
        self.parts = [(compiled(loss), own, fuse(self.peer.optimizer(own)[0])) for _, loss, own in self.peer.parts()]
        self.ms = math.inf

    def step(self):
        for loss_of, own, optimizer in self.parts:
            optimizer.zero_grad(set_to_none=True)
            with self.cast():
                loss = loss_of(self.peer.p, self.peer.s, self.batch)
            loss.backward(inputs=list(own.values()))
            if getattr(self.peer.twin, "clip", None):
                torch.nn.utils.clip_grad_norm_(own.values(), self.peer.twin.clip)
            optimizer.step()
        return loss.item()

    def growth(self):
        """Bytes, of the least of three steps."""
        found = []
        for _ in range(3):
            for _, own, optimizer in self.parts:
                optimizer.zero_grad(set_to_none=True)
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)  # of the heap, too, where tensors lie that are too small for pages of their own
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # the peak is what is held now
            before = resident("VmRSS")
            self.step()
            found.append(resident("VmHWM") - before)
        return min(found)

    def time(self, count):
        found = []
        for _ in range(count):
            start = time.perf_counter()
            self.step()
            found.append(1e3 * (time.perf_counter() - start))
        self.ms = min(self.ms, *found)
        return found


class Steps:
    def __init__(self):
        self.ways, self.rounds = [], 0

    def twin(self, request):
        self.name, self.module = request["model"], load_twin(request["model"])
        tune(self.name, self.module)
        return {"edits": getattr(self.module, "edits", [])}

    def load(self, request):
        rng = np.random.default_rng(7)
        batch = {entry["name"]: to_torch(draw_input(rng, self.module, entry, "f32")) for entry in request["inputs"]}
        failed, built = {}, {}
        for name in request["ways"]:
            start = time.perf_counter()
            try:
                way = Way(name, request, self.module, batch)
                way.time(3)
                self.ways.append(way)
                built[name] = time.perf_counter() - start
            except Exception as error:
                failed[name] = "%s: %s" % (type(error).__name__, str(error)[:300])
        if not self.ways:
            raise ValueError("no way works: %s" % failed)
        return {"failed": failed, "built": built}

    def time(self, request):
        found = {}
        for way in self.ways:
            way.time(1)
            found[way.name] = way.time(max(2, min(MOST_STEPS, round(1e3 * request["seconds"] / way.ms))))
            time.sleep(QUIET)
        best = min(way.ms for way in self.ways)
        self.ways = [way for way in self.ways if way.ms <= SLOWER * best]
        return {"ms": found}

    def memory(self, _):
        return {"bytes": {way.name: way.growth() for way in self.ways}}

    def versions(self, _):
        return {"torch": torch.__version__, "numpy": np.__version__, "threads": torch.get_num_threads()}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    serve(Steps())


if __name__ == "__main__":
    main()
