#!/usr/bin/env python3
"""What loading photographs costs training: a step on data from files beside the least that it can take.

    bench/data_cost.py FOLDER [--model mobilenet_v2] [--size 96] [--threads 2] [--steps 20] [--rounds 5] [--program FILE]
                       [--build DIR] [--json FILE]

FOLDER has a folder `train` with a folder of JPEG files for each class. In each round, in turn:

  loading   `bench --data-only`: the processor time of a minibatch, of all threads together
  step      `bench --ahead` on synthetic inputs: the time of a step
  both      `bench --ahead --data FOLDER`

The least is the step's time and the loading's divided by the threads: no processor is ever idle, and none
does anything twice. What `both` takes more than that is the loss; the bar is 3 %. Medians of all rounds.
--program names the executable, which is made if it is not there and kept."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BAR = 3


def measure(options, path):
    def call(*words):
        text = subprocess.run([path, "bench", "--threads", str(options.threads), "--steps", str(options.steps), *words],
                              stdout=subprocess.PIPE, check=True).stdout
        return json.loads(text)

    found = {"loading": [], "step": [], "both": [], "data_wait": []}
    data = ["--data", options.folder]
    for _ in range(options.rounds):
        found["loading"].append(call("--data-only", *data)["processor_ms"] * options.batch)
        found["step"].append(call("--ahead")["step_ms"])
        both = call("--ahead", *data)
        found["both"].append(both["step_ms"])
        found["data_wait"].append(both["data_wait"])
    return found


def compile_model(options, path):
    classes = len(os.listdir(os.path.join(options.folder, "train")))
    constants = [f"size={options.size}", f"batch={options.batch}", f"classes={classes}"]
    subprocess.run([os.path.join(options.build, "bin/nnc"), os.path.join(HERE, "../models", options.model + ".net"), "-o", path,
                    *[word for constant in constants for word in ("-D", constant)]], check=True, stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--model", default="mobilenet_v2")
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program")
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        path = os.path.abspath(options.program or os.path.join(work, options.model))
        if not os.path.exists(path):
            compile_model(options, path)
        found = measure(options, path)
    middle = {name: statistics.median(times) for name, times in found.items()}
    least = middle["step"] + middle["loading"] / options.threads
    loss = (middle["both"] / least - 1) * 100
    print(f"step {middle['step']:.1f} ms, loading {middle['loading']:.1f} ms on one of {options.threads} threads: at least {least:.1f} ms")
    print(f"both {middle['both']:.1f} ms: {loss:.1f} % more (at most {BAR} %); of its time {middle['data_wait'] * 100:.1f} % wait for data")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({**found, "least": least, "loss": loss}, file, indent=1)
    sys.exit(0 if loss <= BAR else 1)


main()
