"""Steps of layers by PyTorch, in a process that stays alive: see layers.py. A step is forward, backward and a fused update."""
import os
import sys
import time

sys.path[1:1] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")]
import torch              # noqa: E402
from serve import serve   # noqa: E402

torch.set_num_threads(int(sys.argv[1]))
step = None


def open(request):
    global step
    torch.manual_seed(1)
    names = {"torch": torch, "F": torch.nn.functional}
    exec(request["setup"], names)
    loss, optimizer = compile(request["loss"], "loss", "eval"), torch.optim.SGD(names["parameters"], lr=0.001, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        eval(loss, names).backward()
        optimizer.step()
    step()
    return {}


def measure(request):
    times, end = [], time.perf_counter() + request["seconds"]
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - begin))
    return {"all_ms": times}


def versions(_):
    return {"torch": torch.__version__}


if __name__ == "__main__":
    serve(sys.modules[__name__])
