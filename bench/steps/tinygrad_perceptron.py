"""tinygrad's side of bench/steps.py: the perceptron of models/mnist.net as one jitted step on the processor. Requests and
answers are those of peer.py, without `twin`. With BEAM=2 in the environment it searches for its kernels, which takes
more than six minutes.

Usage: python tinygrad_perceptron.py THREADS, on as many processors as it may use."""
import os
import sys
from importlib.metadata import version

os.environ["DEV"] = "CPU"
import numpy as np                                 # noqa: E402
from tinygrad import Context, Tensor, TinyJit, nn  # noqa: E402

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from one_way import OneWay  # noqa: E402
from serve import serve     # noqa: E402

SIZES = (784, 1000, 1000, 10)


class Perceptron:
    def __init__(self):
        self.layers = [nn.Linear(a, b) for a, b in zip(SIZES, SIZES[1:])]

    def __call__(self, image):
        h = image.flatten(1).float() / 255
        for layer in self.layers[:-1]:
            h = layer(h).relu()
        return self.layers[-1](h)


class Steps(OneWay):
    way = "tinygrad"

    def prepare(self):
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

        self.step = lambda: step(image, label).item()

    def versions(self, _):
        return {"tinygrad": version("tinygrad")}


if __name__ == "__main__":
    serve(Steps())
