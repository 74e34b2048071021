"""The prediction of one picture by PyTorch and by ONNX Runtime, in a process that stays alive: see predict.py.

The networks are torchvision's with random weights, in evaluation mode. Inputs lie in memory; results are read."""
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..")]
import numpy as np        # noqa: E402
import onnxruntime        # noqa: E402
import torch              # noqa: E402
import torchvision        # noqa: E402
from serve import serve   # noqa: E402

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
ways = {}


def torch_way(name, last, compiled):
    torch.manual_seed(1)
    module, x = getattr(torchvision.models, name)().eval(), torch.randn(1, 3, 224, 224)
    if last:
        module, x = module.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if compiled:
        module = torch.compile(module, options={"freezing": True})

    def call():
        with torch.inference_mode():
            return module(x).numpy()
    return call


def onnx_way(name):
    torch.manual_seed(1)
    module, x = getattr(torchvision.models, name)().eval(), torch.randn(1, 3, 224, 224)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.onnx")
        torch.onnx.export(module, (x,), path, dynamo=True, external_data=False, input_names=["x"],
                          output_names=["y"], verbose=False)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {"x": x.numpy()}
    return lambda: session.run(["y"], given)[0]


def open(request):
    """Makes a way to predict, whose result is that of the plain one."""
    name, way = request["model"], request["way"]
    plain = torch_way(name, False, False)
    call = onnx_way(name) if way == "onnxruntime" else torch_way(name, "last" in way, "compiled" in way)
    expected = plain()
    error = float(np.linalg.norm(call() - expected) / np.linalg.norm(expected))
    if error > 1e-4:
        raise ValueError("%s: its result is %g off" % (way, error))
    ways[way] = call
    return {"norm": error}


def measure(request):
    """Milliseconds of each prediction."""
    call, times, end = ways[request["way"]], [], time.perf_counter() + request["seconds"]
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return {"all_ms": times}


def versions(request):
    return {"torch": torch.__version__, "torchvision": torchvision.__version__, "onnxruntime": onnxruntime.__version__}


if __name__ == "__main__":
    serve(sys.modules[__name__])
