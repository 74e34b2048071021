#!/usr/bin/python3
"""Memory of one training step, here and in PyTorch, as JSON.

    python3 bench/torch_memory.py EXECUTABLE MODEL      MODEL has a twin in tests/torch/twins

The executable's figures are its plan (`info --json`) and its greatest resident memory in two steps of
`bench`. PyTorch's, on the same shapes with the twin: what it saves for the backward part (each storage
once, parameters not counted), and the growth of resident memory, to its peak, by one step with gradients
and optimizer.
"""
import json
import os
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[1:1] = [os.path.join(ROOT, "tests", "torch"), os.path.join(ROOT, "tests", "torch", "twins")]


def resident(key):
    """VmRSS or VmHWM, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def ours(executable):
    info = json.loads(subprocess.run([executable, "info", "--json"], check=True, capture_output=True).stdout)
    subprocess.run([executable, "bench", "--steps", "1", "--warmup", "1"], check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return info, {"activations": info["activation_bytes"], "arena": info["arena_bytes"], "resident": peak}


def theirs(name, info):
    import torch  # not before: what a process held when it was forked counts as its own
    twin = __import__(name)
    torch.manual_seed(1)
    p = {each["name"]: torch.randn(each["shape"]).mul_(0.02).requires_grad_(True)
         for each in info["variables"] if each["kind"] == "param"}
    s = {each["name"]: torch.ones(each["shape"]) for each in info["variables"] if each["kind"] == "state"}
    x = {each["name"]: torch.randint(0, each.get("limit", 256), each["shape"],
                                     dtype=torch.uint8 if each["dtype"] == "u8" else torch.long)
         for each in info["inputs"]}
    optimizer = twin.optimizer(p)
    optimizer = optimizer[0] if isinstance(optimizer, tuple) else optimizer
    parameters, saved = {value.data_ptr() for value in p.values()}, {}

    def pack(tensor):
        if tensor.data_ptr() not in parameters:
            saved[tensor.storage().data_ptr()] = tensor.storage().nbytes()
        return tensor
    before = resident("VmRSS")
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = twin.loss(p, s, x)
    loss.backward()
    optimizer.step()
    return {"saved": sum(saved.values()), "grown": resident("VmHWM") - before}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    info, own = ours(sys.argv[1])
    print(json.dumps({"model": sys.argv[2], "nnc": own, "PyTorch": theirs(sys.argv[2], info)}))


if __name__ == "__main__":
    main()
