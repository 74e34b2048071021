"""bench/kernels: the rows of known networks, flops counted by hand, programs that compile to the row they are of;
bars that are missed are seen.  Usage: rows_and_bars.py NNC"""
import ctypes
import os
import subprocess
import sys
import tempfile
import xml.dom.minidom

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[1:1] = [os.path.join(ROOT, "bench/kernels"), os.path.join(ROOT, "bench")]
import convolutions  # noqa: E402
import elementwise   # noqa: E402
import extract       # noqa: E402
import judge         # noqa: E402
import rows          # noqa: E402
import sides         # noqa: E402
import step_bound    # noqa: E402

NNC = sys.argv[1]

# All products of networks whose flops are counted by hand.
for model in ("mnist", "mnist_cnn", "lenet"):
    found = extract.rows_of(extract.graph_text(NNC, model)).values()
    total, wanted = sum(row.flop * count for row, count in found), step_bound.step_flops(step_bound.MODELS[model][1])
    assert total == wanted, (model, total, wanted, [(row.name, count) for row, count in found])
names = {row.name: row.models["mnist"] for row in extract.rows_of_models(NNC, ["mnist"])}
assert names == {"100x1000x784 nn": 1, "784x1000x100 tn": 1, "100x1000x1000 nn": 1, "100x1000x1000 nt": 1,
                 "1000x1000x100 tn": 1, "100x10x1000 nn": 1, "100x1000x10 nt": 1, "1000x10x100 tn": 1}, names

names = {row.name: (row.group, row.flop) for row in extract.rows_of_models(NNC, ["lenet"]) if ">" in row.name}
flops = [2 * 64 * 24 * 24 * 20 * 25, 2 * 64 * 8 * 8 * 50 * 20 * 25]
assert names == {"5x5 1>20 @28x28 n64 forward": ("convolution forward", flops[0]),
                 "5x5 1>20 @28x28 n64 dw": ("convolution dw", flops[0]),
                 "5x5 20>50 @12x12 n64 forward": ("convolution forward", flops[1]),
                 "5x5 20>50 @12x12 n64 dx": ("convolution dx", flops[1]),
                 "5x5 20>50 @12x12 n64 dw": ("convolution dw", flops[1])}, names
shuffled = {row.name: row for row in extract.rows_of_models(NNC, ["shufflenet"])}
depthwise = shuffled["3x3/2 24>24 @24x24 n8 p1 g24 dx"]
assert depthwise.group == "depthwise dx" and depthwise.flop == 2 * 8 * 24 * 12 * 12 * 9, depthwise

# Scans' bodies are read, and the transposed result of an attention.
lstm = {row.name: row for row in extract.rows_of_models(NNC, ["ptb_lstm"])}
assert "20x2600x650 nn" in lstm and "20x650x2600 nt" in lstm and lstm["700x10000x650 nn"].flop == 2 * 700 * 10000 * 650
gpt = {row.name for row in extract.rows_of_models(NNC, ["gpt"])}
assert "bmck,bnck->bcmn b12 c4 k32 m64 n64" in gpt and "bcmk,bkcn->bmcn b12 c4 k64 m64 n32" in gpt, gpt

# Equal work has one name.
name = lambda formula, **sizes: rows.contraction(formula.replace("->", ",").split(","), sizes).name
assert name("ik,kj->ij", i=3, j=4, k=5) == "3x4x5 nn"
assert name("ik,kj->ji", i=3, j=4, k=5) == "4x3x5 tt"
assert name("abk,kj->abj", a=3, b=2, j=4, k=5) == "6x4x5 nn"
assert name("abk,abj->kj", a=3, b=2, j=4, k=5) == "5x4x6 tn"
assert name("bhik,bhjk->bhij", b=2, h=3, i=4, j=5, k=6) == "6 of 4x5x6 nt"
assert name("ik,kj->ij", i=1, j=4, k=5) == name("k,kj->j", j=4, k=5)

geometry = {"low": [0, 2], "high": [1, 2], "stride": [2, 1], "dilation": [1, 2], "groups": 2}
grouped = [convolutions.convolution(direction, [3, 8, 9, 10], [6, 4, 2, 3], [3, 6, 5, 10], geometry)
           for direction in (convolutions.FORWARD, convolutions.INPUT, convolutions.WEIGHT)]
assert grouped[1].name == "2x3/2x1d1x2 8>6 @9x10 n3 p0x2:1x2 g2 dx" and grouped[1].flop == 2 * 3 * 6 * 50 * 4 * 6


# A row's program is that row.
def compiled(row):
    done = subprocess.run([NNC, "/dev/stdin", "--emit=ir", "--float=" + row.dtype], input=row.text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, (row.name, done.stdout)
    return extract.rows_of(done.stdout)


for row in rows.made_contractions(True) + list(lstm.values())[:3] + list(shuffled.values())[::20] + grouped + [
        rows.contraction(["km", "kn", "nm"], {"k": 30, "m": 7, "n": 5})]:
    again = compiled(row)
    assert list(again) == [row.key()] and again[row.key()][0].flop == row.flop, (row.name, list(again))
for row in elementwise.made(False)[::3]:
    assert compiled(row) == {}, row.name


# The library by which MKL is at its best is made once.
with tempfile.TemporaryDirectory() as folder:
    os.makedirs(os.path.join(folder, "lib"))
    library = sides.mkl_library(os.path.join(folder, "bin/python"))
    made = os.stat(library).st_ino
    assert ctypes.CDLL(library).mkl_serv_intel_cpu_true() == 1
    assert os.stat(sides.mkl_library(os.path.join(folder, "bin/python"))).st_ino == made


# Bars.
def finding(ours, theirs, group="contraction", **others):
    times = lambda ms: {"least": ms, "median": 2 * ms, "samples": 3}
    return {"group": group, "name": "x", "dtype": "f32", "threads": 1, "flop": 2e6, "bytes": 1e3, "of_peak": 0,
            "is_read_only": False, "ours": times(ours), "peers": {"a": times(theirs), "b": times(theirs + 1)}, **others}


machine = {1: {"fma_gflops": 4.0}}  # 2 MFLOP: 0.5 ms
good, slow, below = finding(1, 1.5), finding(1, 0.7), finding(1, 1.5, of_peak=0.9)
assert judge.ratio(good) == 1.5 and judge.of_bound(good, machine) == 0.5 and judge.is_met(good, machine)
assert not judge.is_met(slow, machine) and not judge.is_met(below, machine)
assert judge.is_good([good], machine) and not judge.is_good([good, slow], machine)
assert not judge.is_good([finding(1, 0.9), finding(1, 0.95)], machine)  # the mean is below its bar
two = finding(1, 3, threads=2)
judge.let_idle(two, [good])
assert judge.ratio(two) == 1.5 and judge.best_way(two) == "a, 1 t" and len(two["peers"]) == 4
lost = {key: value for key, value in good.items() if key not in ("ours", "peers")}
lost["failure"] = "WRONG"
assert not judge.is_good([good, lost], machine) and "WRONG" in judge.line(lost, machine, False)
assert judge.line(slow, machine, False).endswith(" MISSED") and judge.line(slow, machine, True).startswith("\033[31m")
assert "\033" not in judge.line(good, machine, True) and any("MISSED" in each for each in judge.summary(
    [good, slow], machine, False))
with tempfile.TemporaryDirectory() as folder:
    path = judge.plot([good, slow, lost], folder + "/plot.svg", plain=True)
    assert path == folder + "/plot.svg"
    xml.dom.minidom.parse(path)
assert judge.plot([lost], "/nowhere") is None
