#!/usr/bin/env python3
"""PyTorch's side of one row, in a process of its own: it builds and warms up, then answers requests.

    peer.py model FILE PRECISION MODE DEFINES      a training step; DEFINES: the constants, as JSON
    peer.py contractions                           torch.matmul, of sizes that a request names

Each line of standard input is a request, each line of standard output a JSON object, the first of which says
"ready" (with the milliseconds of a step) or "failed". MODE: eager; compiled (torch.compile with CUDA graphs); captured
(torch.compile, and the whole step with its update one CUDA graph). Optimizers are fused, inputs lie on the device,
networks of pictures have the faster of both layouts, bf16 is autocast. Without CUDA it computes on processors."""
import contextlib
import gc
import json
import os
import sys
import time

REPLIES = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is no reply
import torch

from networks import NETWORKS

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GROUPS, WARMUP = 10, 5


def reply(**found):
    print(json.dumps(found), file=REPLIES, flush=True)


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def group_times(step, steps):
    """Milliseconds of a step in each group of steps; as `OUT bench --ahead`."""
    found, done, groups = [], 0, min(GROUPS, steps)
    wait()
    for group in range(groups):
        count = steps * (group + 1) // groups - done
        start = time.perf_counter()
        for _ in range(count):
            step()
        wait()
        found.append(1e3 * (time.perf_counter() - start) / count)
        done += count
    return found


def memory():
    if DEVICE != "cuda":
        return {}
    return {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}


class Training:
    def __init__(self, file, precision, mode, defines, layout):
        torch.manual_seed(1)
        self.net = NETWORKS[file](**defines).to(DEVICE)
        if layout == "channels_last":
            self.net = self.net.to(memory_format=torch.channels_last)
        self.batch = self.net.inputs(DEVICE)
        if layout == "channels_last" and self.batch["image"].dim() == 4:
            self.batch["image"] = self.batch["image"].contiguous(memory_format=torch.channels_last)
        self.optimizer = self.net.optimizer(mode == "captured")
        in_bf16 = lambda: torch.autocast(DEVICE, torch.bfloat16)
        self.autocast = in_bf16 if precision == "bf16" else contextlib.nullcontext
        self.loss = self.net.loss
        if mode != "eager":
            small = file in ("mnist", "mnist_cnn")
            chosen = {"compiled": "max-autotune" if small else "reduce-overhead", "captured": "default"}[mode]
            self.loss = torch.compile(self.loss, mode=chosen, dynamic=False)
        self.step = self.one_step
        if mode == "captured":
            self.capture()

    def one_step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            loss = self.loss(self.batch)
        loss.backward()
        if self.net.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.net.clip)
        self.optimizer.step()

    def capture(self):
        if DEVICE != "cuda":
            raise RuntimeError("a captured step needs CUDA")
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(4):
                self.one_step()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.one_step()
        self.step = graph.replay


def faster_layout(file, precision, defines):
    if not NETWORKS[file].is_pictures:
        return "contiguous"
    found = {}
    for layout in ("contiguous", "channels_last"):
        trial = Training(file, precision, "eager", defines, layout)
        group_times(trial.step, 3)
        found[layout] = min(group_times(trial.step, 5))
        del trial
        gc.collect()  # it has its own step: a circle
    return min(found, key=found.get)


def serve_model(file, precision, mode, defines):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    layout = faster_layout(file, precision, defines)
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    training = Training(file, precision, mode, defines, layout)
    for _ in range(WARMUP):
        training.step()
    if DEVICE == "cuda" and mode == "eager":
        torch.cuda.reset_peak_memory_stats()  # the trials of cuDNN's algorithms are over; graphs keep what they took
    ms = min(group_times(training.step, 3))
    if DEVICE == "cuda" and mode == "eager":
        torch.cuda.empty_cache()  # others are built meanwhile
    reply(ready=True, ms=ms, layout=layout, torch=torch.__version__, **memory())
    for line in sys.stdin:
        request = json.loads(line)
        training.step()
        reply(number=request["number"], ms=group_times(training.step, request["steps"]), **memory())


def multiplier(m, k, n, type_name, repeats):
    """A function that multiplies `repeats` pairs once: on a GPU one graph."""
    torch.backends.cuda.matmul.allow_tf32 = type_name == "tf32"
    dtype = torch.bfloat16 if type_name == "bf16" else torch.float32
    pairs = [[torch.randn(shape, device=DEVICE).to(dtype) for shape in ((m, k), (k, n))] for _ in range(repeats)]
    results = [torch.empty((m, n), device=DEVICE, dtype=dtype) for _ in range(repeats)]

    def step():
        for (a, b), c in zip(pairs, results):
            torch.matmul(a, b, out=c)
    step()
    wait()
    if DEVICE != "cuda":
        return step
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    step.graph, step.kept = graph, (pairs, results)
    replay = lambda: graph.replay()
    replay.kept = step
    return replay


def serve_contractions():
    reply(ready=True, ms=0, torch=torch.__version__)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            step = multiplier(*request["sizes"], request["type"], request["repeats"])
            once = min(group_times(step, 3))
            steps = max(3, min(2000, int(request["seconds"] * 1e3 / once)))
            reply(number=request["number"], ms=group_times(step, steps))
        except Exception as error:  # of one size: out of memory, say
            reply(number=request["number"], failed=f"{type(error).__name__}: {error}"[:300])
        step = None
        if DEVICE == "cuda":
            torch.cuda.empty_cache()


def main():
    try:
        if sys.argv[1] == "contractions":
            serve_contractions()
        else:
            file, precision, mode, defines = sys.argv[2:]
            serve_model(file, precision, mode, json.loads(defines))
    except Exception as error:
        reply(failed=f"{type(error).__name__}: {error}".splitlines()[0][:300])
        raise


if __name__ == "__main__":
    main()
