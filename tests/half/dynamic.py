"""Dynamic loss scaling by its recurrence: see dynamic.net.  Usage: dynamic.py EXECUTABLE"""

import json
import struct
import subprocess
import sys

FIRST, GOOD_STEPS = 65536.0, 2000


def run(steps):
    """The checkpoint after that many steps, by path."""
    subprocess.run([sys.argv[1], "--steps", str(steps), "--out", "dynamic.run", "-q"], check=True)
    with open("dynamic.run/checkpoint.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(length))
        data = file.read()
    found = {}
    for path, entry in head.items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            found[path] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return found


with open("train.csv", "w") as table:
    table.writelines(f"{i % 3},{i % 5 - 2},{i * i % 7},{i % 4}\n" for i in range(16))
first, scale, good, skipped = run(1), FIRST, 0, 0
for step in range(1, 30):
    state = run(step)
    now, count = state["loss_scale:value"][0], state["loss_scale:good_steps"][0]
    if now < scale:  # left out
        assert now == scale / 2 and count == 0, (step, now, scale, count)
        skipped, good = skipped + 1, 0
    else:
        assert now == scale and count == good + 1, (step, now, scale, count, good)
        good += 1
    scale = now
    if skipped == step:
        moments = [value for path, value in state.items() if path.endswith((":m", ":v"))]
        assert state["y.w"] == first["y.w"] and state["y.b"] == first["y.b"], step
        assert len(moments) == 4 and not any(any(value) for value in moments), (step, moments)
assert 4 <= skipped <= 20 and good > 0, (skipped, good)
state = run(skipped + GOOD_STEPS + 1)
assert state["loss_scale:value"][0] in (2 * scale, scale), state  # doubled; then perhaps too large again
