"""JAX's side of bench/steps.py: the perceptron of models/mnist.net as one jitted step whose parameters and optimizer
states are donated, so that they are written in place. Requests and answers are those of peer.py, without `twin`.

Usage: python jax_perceptron.py THREADS, on as many processors as it may use."""
import functools
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax              # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np      # noqa: E402
import optax            # noqa: E402

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from one_way import OneWay  # noqa: E402
from serve import serve     # noqa: E402


def loss_of(parameters, image, label):
    h = image.reshape(image.shape[0], -1).astype(jnp.float32) / 255
    for i, (w, b) in enumerate(parameters):
        h = h @ w + b
        h = jax.nn.relu(h) if i < 2 else h
    return optax.softmax_cross_entropy_with_integer_labels(h, label).mean()


class Steps(OneWay):
    way = "jax"

    def prepare(self):
        rng, optimizer = np.random.default_rng(7), optax.adam(1e-3)
        self.image = jnp.asarray(rng.integers(0, 256, (100, 28, 28)).astype(np.uint8))
        self.label = jnp.asarray(rng.integers(0, 10, 100))
        sizes = (784, 1000, 1000, 10)
        self.parameters = [(jnp.asarray(rng.standard_normal((a, b), np.float32) / np.float32(a) ** 0.5),
                            jnp.zeros(b, jnp.float32)) for a, b in zip(sizes, sizes[1:])]
        self.states = optimizer.init(self.parameters)

        @functools.partial(jax.jit, donate_argnums=(0, 1))
        def step(parameters, states, image, label):
            loss, gradients = jax.value_and_grad(loss_of)(parameters, image, label)
            updates, states = optimizer.update(gradients, states)
            return optax.apply_updates(parameters, updates), states, loss

        self.run = step

    def step(self):
        self.parameters, self.states, loss = self.run(self.parameters, self.states, self.image, self.label)
        loss.block_until_ready()

    def versions(self, _):
        return {"jax": jax.__version__, "optax": optax.__version__}


if __name__ == "__main__":
    serve(Steps())
