"""bench/summary.py: bars that are met, missed and not measured are told apart."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[1:1] = [os.path.join(ROOT, "bench")]
import summary  # noqa: E402


def times(ms):
    return {"least": ms, "median": ms, "samples": 3}


def row(ours, theirs, group, of_peak=0, threads=2):
    return {"group": group, "name": "x%g" % ours, "dtype": "f32", "threads": threads, "flop": 2e6, "bytes": 1e3,
            "of_peak": of_peak, "is_read_only": False, "ours": times(ours), "peers": {"a": times(theirs)}}


def step(model, ours, theirs, precision="f32", f32=None):
    return {"model": model, "precision": precision, "threads": 2, "gflop": 1.0, "ours": times(ours),
            "ours_f32": times(f32 or ours), "peers": {"eager": times(theirs)}}


def found(**files):
    with tempfile.TemporaryDirectory() as folder:
        for name, value in files.items():
            with open(os.path.join(folder, name + ".json"), "w") as file:
                json.dump(value, file)
        return {bar.name: bar for bar in summary.bars_of(folder, 2)}


def kernels(*findings):
    return {"machine": {"2": {"fma_gflops": 4.0}}, "findings": findings}  # 2 MFLOP: 0.5 ms


none = found()
assert len(none) == 8 and not any(bar.good for bar in none.values()), none

good = found(kernels=kernels(row(0.52, 0.6, "contraction", 0.9), row(1, 1, "elementwise"), row(1, 1.9, "elementwise")))
assert good["contraction"].good and "96 % of the peak" in good["contraction"].found and good["elementwise"].good, good
low = found(kernels=kernels(row(1, 1.5, "contraction", 0.9), row(2, 1.9, "elementwise"), row(1, 5, "elementwise"),
                            row(1, 0.5, "contraction", threads=1)))
assert not low["contraction"].good and low["contraction"].rows == ["x1"], low
assert not low["elementwise"].good and low["elementwise"].rows == ["x2 f32"], low

direct = found(**{"kernels-direct": kernels(row(1, 0.5, "direct convolution dx"), row(1, 2, "direct convolution dx"))})
assert direct["direct convolution dx"].good and direct["direct convolution dx"].wanted == "mean 0.95", direct

machine = {"2": {"fma_gflops": 100.0}}  # 1 GFLOP: 10 ms
steps = found(steps={"machine": machine, "findings": [step("mnist", 12, 17), step("mnist_cnn", 15, 60), step("gpt2", 1, 1.05),
                                                      {"model": "iris", "failure": "x"}]})
assert steps["steps, f32"].rows == ["gpt2", "iris"] and not steps["steps, f32"].good, steps
assert steps["step of mnist"].good and steps["mnist by its flop bound"].good, steps
assert not steps["mnist_cnn by its flop bound"].good and "1.50" in steps["mnist_cnn by its flop bound"].found, steps

slower = found(**{"steps-bf16": {"machine": machine, "findings": [step("lenet", 12, 20, "bf16", f32=11)]}})
name = next(name for name in slower if name.startswith("steps, bf16, "))
assert slower[name].rows == ["lenet"], slower

split = {"machine": machine, "findings": [step("lenet", 12, 20, "bf16x3", f32=11)]}  # which has no bar anywhere
bar = next(bar for bar in found(**{"steps-bf16x3": split}).values() if bar.name.startswith("steps, bf16x3, "))
assert bar.good is None and bar.wanted == "no bar" and "MISSED" not in summary.show(bar), bar

others = found(predict=[{"model": "resnet50", "threads": 2, "ratio": 1.21, "median_ratio": 1.1},
                        {"model": "mobilenet_v2", "threads": 2, "ratio": 1.19, "median_ratio": 1.3},
                        {"model": "mobilenet_v2", "threads": 1, "ratio": 1.3, "median_ratio": 1.3}],
               memory={"findings": [{"model": "gpt", "gflop": 4.0, "ours": 7e6, "peers": {"eager": 10e6, "compiled": 12e6}},
                                    {"model": "iris", "gflop": 1e-3, "ours": 7e6, "peers": {"eager": 1e6}}]},
               compile=[{"model": "mnist", "bar": 1.2, "now": {"seconds": 1.1}, "good": True},
                        {"model": "gpt", "bar": 15.0, "now": {"seconds": 16.0}, "good": False}])
assert others["prediction of resnet50"].good and not others["prediction of mobilenet_v2"].good, others
assert others["memory of a step"].rows == ["gpt 0.70"] and "0 of 1" in others["memory of a step"].found, others
assert others["compile time"].rows == ["gpt"] and "16.0 s, gpt" in others["compile time"].found, others

run = subprocess.run([os.path.join(ROOT, "bench/summary.py"), "/nonesuch"], stderr=subprocess.PIPE, text=True)
assert run.returncode == 2 and "no folder" in run.stderr, run
