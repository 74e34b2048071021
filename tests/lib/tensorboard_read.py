#!/usr/bin/env python3
"""As event_file.py, with TensorBoard's own reader:  tensorboard_read.py FOLDER LOG...  (pip install tensorboard)."""
import json
import sys

import event_file
from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

accumulator = EventAccumulator(sys.argv[1], size_guidance={SCALARS: 0})
accumulator.Reload()
wanted = {}
for path in sys.argv[2:]:
    for line in open(path):
        line = json.loads(line)
        for name, value in event_file.numbers(line):
            if name != "step":
                wanted.setdefault(name, []).append((line["step"], event_file.single(value)))
found = {name: [(s.step, event_file.single(s.value)) for s in accumulator.Scalars(name)]
         for name in accumulator.Tags()["scalars"]}
assert found == wanted, (found, wanted)
print(f"{len(found)} series of {sum(map(len, found.values()))} scalars")
