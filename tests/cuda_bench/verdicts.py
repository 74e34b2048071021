"""bench/cuda's judgement: a wrong value, a lost infinity and a NaN are found; verdicts and plot follow the numbers."""
import math
import os
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/cuda"))
import judge
import report

worst = judge.worst_difference
assert worst([1.0, 2.0], [1.0, 2.0]) == 0 and abs(worst([1.0, 2.2], [1.0, 2.0]) - 0.1) < 1e-12
assert worst([math.nan, 2.0], [1.0, 2.0]) == math.inf and worst([math.nan], [math.nan]) == 0
assert worst([1e30], [math.inf]) == math.inf and worst([-math.inf], [math.inf]) == math.inf
assert worst([1.0], [1.0, 2.0]) == math.inf
assert judge.vector_tolerance({"units": "2"}, "bf16", True) == 2 / 256
assert judge.vector_tolerance({"tolerance_f64": "1e-8"}, "f64", True) == 1e-8
assert judge.vector_tolerance({}, "f32", False) == 1e-5

peers = {"eager": {"least": 9.0, "median": 12.0, "allocated": 1000}, "compiled": {"least": 2.0, "median": 4.0},
         "captured": {"least": 2.0, "median": 2.5}}
row = {"name": "perceptron", "type": "f32", "ours": {"least": 0.9, "median": 1.0, "bytes": 900}, "peers": peers}
products = [{"name": "x", "whose": "", "type": "bf16", "sizes": [8, 8, 8], "ours": ours, "theirs": 1.0}
            for ours in (1.0, 4.0)]
results = {"models": [row], "contractions": products}
verdicts = {each["target"]: (each["value"], each["verdict"]) for each in report.targets(results)}
assert verdicts["perceptron, B=100, f32: times eager"] == (12.0, "met")
assert verdicts["perceptron, B=100, f32: times compiled"] == (2.5, "missed")
assert verdicts["perceptron, B=100, f32: of its peak memory"] == (0.9, "missed")
assert verdicts["contractions, bf16: of cuBLAS, geometric mean"] == (0.5, "missed")
assert verdicts["contractions, f32: of cuBLAS, geometric mean"] == (None, "not measured")
assert "| perceptron, B=100, f32: times eager | 10.0 | 12 | met |" in report.markdown(results)
with tempfile.TemporaryDirectory() as folder:
    assert report.plot(results, folder, plain=True) == "speed.svg"
    drawn = xml.dom.minidom.parse(os.path.join(folder, "speed.svg"))
    assert len(drawn.getElementsByTagName("rect")) == 1 + 3
assert report.plot({}, "/nowhere") is None
