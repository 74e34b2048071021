"""tinygrad's side of bench/steps.py: the perceptron of models/mnist.net as one jitted step on the processor. Requests and
answers are those of peer.py, without `twin`. With BEAM=2 in the environment it searches for its kernels, which takes
more than six minutes.

Usage: python tinygrad_perceptron.py THREADS, on as many processors as it may use."""
import os
import sys
import time

os.environ["DEV"] = "CPU"
import numpy as np                                  # noqa: E402
import tinygrad                                     # noqa: E402
from tinygrad import Context, Tensor, TinyJit, nn   # noqa: E402

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from serve import serve  # noqa: E402

MOST_STEPS = 500
SIZES = (784, 1000, 1000, 10)


class Perceptron:
    def __init__(self):
        self.layers = [nn.Linear(a, b) for a, b in zip(SIZES, SIZES[1:])]

    def __call__(self, image):
        h = image.flatten(1).float() / 255
        for layer in self.layers[:-1]:
            h = layer(h).relu()
        return self.layers[-1](h)


class Steps:
    def load(self, request):
        rng, network = np.random.default_rng(7), Perceptron()
        image = Tensor(rng.integers(0, 256, (100, 28, 28)).astype(np.uint8)).realize()
        label = Tensor(rng.integers(0, 10, 100).astype(np.int32)).realize()
        optimizer = nn.optim.Adam(nn.state.get_parameters(network), lr=1e-3)

        @TinyJit
        def step(image, label):
            with Context(TRAINING=1):
                optimizer.zero_grad()
                loss = network(image).sparse_categorical_crossentropy(label).backward()
                optimizer.step()
                return loss

        self.step, start = lambda: step(image, label).item(), time.perf_counter()
        self.ms = min(self.times(5))  # the third is the first that is played back
        return {"failed": {}, "built": {"tinygrad": time.perf_counter() - start}}

    def times(self, count):
        found = []
        for _ in range(count):
            start = time.perf_counter()
            self.step()
            found.append(1e3 * (time.perf_counter() - start))
        return found

    def time(self, request):
        self.times(1)
        found = self.times(max(2, min(MOST_STEPS, round(1e3 * request["seconds"] / self.ms))))
        self.ms = min(self.ms, *found)
        return {"ms": {"tinygrad": found}}

    def versions(self, _):
        return {"tinygrad": getattr(tinygrad, "__version__", "of unknown version")}


if __name__ == "__main__":
    serve(Steps())
