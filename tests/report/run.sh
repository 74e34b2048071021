#!/usr/bin/env bash
# What is told of a run: events for TensorBoard, read back by a reader of our own (tests/lib/event_file.py).
# Usage: tests/report/run.sh BUILD [--long]; with --long also by TensorBoard's own reader, where $NNC_TENSORBOARD is a
# Python that has it (python3 -m venv tb && tb/bin/pip install tensorboard).
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
root=$PWD
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

check "compile" "$build/bin/nnc" tests/report/made.net --cflags=-O0 -o "$work/made"
cd "$work" || exit 1
python3 - <<'DATA'
import random
random.seed(5)
with open("flowers.csv", "w") as file:
    print("length,width,species", file=file)
    for i in range(60):
        kind = i % 3
        print(f"{kind + random.random():.3f},{random.random() - kind:.3f},{['<b>lily&', 'rose', 'iris'][kind]}", file=file)
DATA

# ---- events ----
read_back() { check "$1: events are the log" python3 "$root/tests/lib/event_file.py" "$2/events.out.tfevents.nnc" "${@:3}"; }
check "a run" ./made --quiet --out one --tensorboard one/tb --lr 0.5
read_back "a run" one/tb one/log.jsonl
if grep -q '"NaN"' one/log.jsonl && grep -q '"lr":0.5' one/log.jsonl; then ok; else fail "the log has NaN and options: $(cat one/log.jsonl)"; fi

# A run in parts has what a run at a stretch has; one that was killed writes no step twice.
check "a part" ./made --quiet --out parts --tensorboard tb/parts --epochs 3 --keep 9 --save-every 1epochs
check "half a record at the end" sh -c 'head -c 9 tb/parts/events.out.tfevents.nnc > half && cat half >> tb/parts/events.out.tfevents.nnc'
check "another part" ./made --quiet --out parts --tensorboard tb/parts --epochs 6 --resume
read_back "parts" tb/parts parts/log.jsonl
cp parts/kept/step-12.safetensors parts/checkpoint.safetensors
check "as if killed after step 12" ./made --quiet --out parts --tensorboard tb/parts --epochs 5 --resume
read_back "killed" tb/parts parts/log.jsonl
expect() { if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' instead of '$3'"; fi; }
expect "lines of the log" "$(wc -l <parts/log.jsonl)" 5

# A new run begins anew, and the earlier events stay under a name that TensorBoard does not read.
check "a new run" ./made --quiet --out parts --tensorboard tb/parts --steps 3
read_back "a new run" tb/parts parts/log.jsonl
check "the earlier events" python3 "$root/tests/lib/event_file.py" tb/parts/events.previous parts/log.previous.jsonl
check "no step" ./made --quiet --out none --tensorboard none/tb --epochs 0
expect "no step, no folder" "$(ls -d none/tb 2>&1 | grep -c 'No such file')" 1
mkdir mine; echo "my own file, which is no event file at all" > mine/events.out.tfevents.nnc
check_status "another file" 1 'the file that is there is no event file' ./made --out other --tensorboard mine
expect "it stays" "$(cat mine/*)" "my own file, which is no event file at all"
check_status "a folder that cannot be made" 1 'create the folder' ./made --out other --tensorboard flowers.csv/tb
check_status "not of eval" 2 'is no flag of eval' ./made eval --tensorboard tb

if [ "${2:-}" = --long ]; then
  python=${NNC_TENSORBOARD:?a Python that has tensorboard}
  check "TensorBoard reads it" env PYTHONPATH="$root/tests/lib" "$python" "$root/tests/lib/tensorboard_read.py" tb/parts parts/log.jsonl
  check "TensorBoard reads the first" env PYTHONPATH="$root/tests/lib" "$python" "$root/tests/lib/tensorboard_read.py" one/tb one/log.jsonl
fi

summary
