"""A peer of bench/steps.py that has one way to take a step: what jax_perceptron.py and tinygrad_perceptron.py share."""
import time

MOST_STEPS = 500


class OneWay:
    """`way` is its name; `prepare` makes what a step needs, `step` takes one and waits for its end."""

    def load(self, request):
        self.prepare()
        start = time.perf_counter()
        self.ms = min(self.times(5))  # what compiles does so before the third
        return {"failed": {}, "built": {self.way: time.perf_counter() - start}}

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
        return {"ms": {self.way: found}}
