#!/usr/bin/env bash
# Sweeps: each run is byte for byte the single run with its flags, on both targets; interrupted ones go on; the table, its
# JSON, failures and mistakes on the command line.  Usage: tests/sweep/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
perl -e 'srand 3; for (1 .. 20) { print join(",", map { sprintf "%.4f", 2 * rand() - 1 } 1 .. 4), "\n" }' > x.csv
cp "$here/../options/program.net" program.net

# Eight runs, and the eight single ones.
names=(lr=0.001,seed={0,1,2,3} lr=0.02,seed={0,1,2,3})
for target in c cuda; do
  check "$target compiles" emulated "$nnc" --target=$target $quick program.net -o $target
  check "$target sweeps" ./$target sweep --lr 1e-3,2e-2 --seed 0..4 --jobs 3 --quiet --out $target.sweep --tensorboard $target.events
  for name in "${names[@]}"; do
    settings=(${name//,/ })
    check "$target $name alone" ./$target --quiet --out "$target.single/$name" --lr "${settings[0]#*=}" --seed "${settings[1]#*=}"
    check "$target: events of $name" python3 "$here/../lib/event_file.py" "$target.events/$name/events.out.tfevents.nnc" "$target.sweep/$name/log.jsonl"
    check "$target: the same bytes of $name" cmp {$target.sweep,$target.single}/"$name"/checkpoint.safetensors
  done
  check "$target: nothing else" test "$(ls $target.sweep | wc -l)" = 8
done

# Several reports in an epoch are told apart by their steps; where each epoch has one, it is the epoch's.
check_status "reports within an epoch" 0 '^epoch 4/4  step 16/16  loss ' ./c --epochs 4 --validate-every 4 --out reports
check_status "reports of epochs" 0 '^epoch 4/4  loss ' ./c --epochs 4 --validate-every 0 --out reports
check "no command that the program has not" test -z "$(./c --help | grep -w generate)"

# What is printed: a line a run, in their order; the best of all.
check_status "the table" 0 '^ *0.02 +1 +done +12 +[0-9.e-]+ +[0-9.]+ +[0-9]+ +[0-9.e-]+ +[0-9.]+  c.sweep/lr=0.02,seed=1$' ./c sweep --lr 2e-2 --seed 1 --resume --out c.sweep
./c sweep --lr 1e-3,2e-2 --seed 0..4 --resume --json --out c.sweep >rows 2>messages
check "a JSON line a run" python3 - "${names[@]}" <<'PYTHON'
import json, sys
rows = [json.loads(line) for line in open("rows")]
assert [row["folder"] for row in rows] == ["c.sweep/" + name for name in sys.argv[1:]], rows
for row in rows:
    log = [json.loads(line) for line in open(row["folder"] + "/log.jsonl")]
    assert row["state"] == "done" and row["folder"].endswith("lr=%g,seed=%d" % (row["settings"]["lr"], row["settings"]["seed"]))
    best = min(log, key=lambda line: line["test/loss"])
    for name, line in ("last", log[-1]), ("best", best):
        assert row[name] == {key: line[key] for key in line if "/" in key or key == "step"}, (name, row)
PYTHON
check "what is done is left out" test "$(grep -c '^\[' messages)" = 0
./c sweep --lr 1e-3,2e-2 --seed 0..4 --resume --out c.sweep 2>messages | tail -n 1 >best
check "the best" test "$(cat best)" = "$(python3 -c '
import json
rows = [json.loads(line) for line in open("rows")]
best = min(rows, key=lambda row: row["best"]["test/loss"])
print("least test/loss: %.6g, at step %d of lr=%g seed=%d" % (best["best"]["test/loss"], best["best"]["step"], best["settings"]["lr"], best["settings"]["seed"]))')"

# Where the program says which report is the best, runs are compared by that.
check "compiles" "$nnc" $quick program.net -D 'train.save=best(test.far, "max")' -o most
./most sweep --lr 1e-3,2e-2 --seed 0..2 --json --quiet --out most.sweep >rows
./most sweep --lr 1e-3,2e-2 --seed 0..2 --resume --out most.sweep 2>/dev/null | tail -n 1 >best
check "by save = best(...)" python3 - <<'PYTHON'
import json
rows = [json.loads(line) for line in open("rows")]
for row in rows:
    log = [json.loads(line) for line in open(row["folder"] + "/log.jsonl")]
    best = max(log, key=lambda line: line["test/far"])
    assert row["best"]["step"] == best["step"] == log[-1]["best_step"], row
best = max(rows, key=lambda row: row["best"]["test/far"])
assert open("best").read() == "greatest test/far: %.6g, at step %d of lr=%g seed=%d\n" % (
    best["best"]["test/far"], best["best"]["step"], best["settings"]["lr"], best["settings"]["seed"]), open("best").read()
PYTHON
check "progress" ./c sweep --seed 0..3 --out lines.sweep
check_status "names what has ended" 0 '^\[3/3\] seed=[0-2]: done, step 12, test/loss [0-9.e-]+, [0-9.]+ s$' ./c sweep --seed 0..3 --out lines.sweep
check "an earlier checkpoint is kept" test -e lines.sweep/seed=1/checkpoint.previous.safetensors
check_status "another length goes on" 0 '^\[1/1\] seed=2: done, step 20' ./c sweep --seed 2 --out lines.sweep --resume --epochs 5

# Interrupted: those that run save; then the rest, with another number of runs at a time.
length=(--epochs 30000 --validate-every 1000 --lr 1e-3,1e-2 --seed 0..2)
./c sweep "${length[@]}" --jobs 2 --out cut.sweep >cut.rows 2>cut.messages & sweep=$!
for _ in $(seq 600); do [ -s cut.sweep/lr=0.001,seed=1/log.jsonl ] && break; sleep 0.05; done
kill -INT $sweep; wait $sweep
check "its status" test $? = 130
check_status "which were cut" 0 'interrupted' cat cut.rows
check_status "which were not" 0 '0.01 +1 +not started' cat cut.rows
check_status "what goes on" 0 'interrupted; --resume continues' cat cut.messages
check "goes on" ./c sweep "${length[@]}" --jobs 3 --out cut.sweep --resume --quiet
check "whole" ./c sweep "${length[@]}" --jobs 1 --out whole.sweep --quiet
for name in lr=0.001,seed={0,1} lr=0.01,seed={0,1}; do
  check "the same bytes of $name" cmp {cut,whole}.sweep/"$name"/checkpoint.safetensors
done
# Killed: its runs end, too, and save. One that has logged something has taken a step: before the first nothing is saved.
./c sweep "${length[@]}" --jobs 2 --out killed.sweep >/dev/null 2>&1 & sweep=$!
for _ in $(seq 600); do
  [ -s killed.sweep/lr=0.001,seed=0/log.jsonl ] && [ -s killed.sweep/lr=0.001,seed=1/log.jsonl ] && break
  sleep 0.05
done
kill -KILL $sweep; wait $sweep 2>/dev/null
for _ in $(seq 600); do [ -e killed.sweep/lr=0.001,seed=0/checkpoint.safetensors ] && [ -e killed.sweep/lr=0.001,seed=1/checkpoint.safetensors ] && break; sleep 0.05; done
check "they have saved" test -e killed.sweep/lr=0.001,seed=1/checkpoint.safetensors
check "and go on" ./c sweep "${length[@]}" --out killed.sweep --resume --quiet
check "to the same end" cmp {killed,whole}.sweep/lr=0.01,seed=1/checkpoint.safetensors

# A run that fails does not stop the others.
check_status "one that fails" 1 '^ *1e\+39 +1 +failed' bash -c './c sweep --weight 1,1e39,2 --spread 1 --out bad.sweep --quiet 2>&1'
check_status "the others" 0 '2' bash -c 'ls bad.sweep/*/sweep.json | wc -l'
check_status "is told" 1 'error: weight=1e\+39: ' ./c sweep --weight 1e39,2 --out bad.sweep --quiet
check_status "and tried again" 1 '^ *2 +done' ./c sweep --weight 1e39,2 --out bad.sweep --quiet --resume
: >in_the_way
check_status "no folder" 1 'in_the_way' ./c sweep --seed 1 --out in_the_way --quiet
while IFS='|' read -r words wanted; do
  # shellcheck disable=SC2086
  check_status "$words" 2 "$wanted" ./c sweep $words
done <<'ROWS'
--epochs 3|sweep wants lists of values: --seed 0..4
--lr 1e-3,1|--lr wants a number from 0 and less than 1, such as 0.01, not '1'
--lr 1e-3,,1e-2|not ''
--lr 1e-3,0.001|--lr lists 0.001 twice
--seed 0..|'0..' is no range: 0..3 is 0, 1, 2
--seed 3..3|is no range
--seed 0..20000|--seed lists more than 10000 values
--seed 0..1000 --rounds 1..1000|these lists give more than 10000 runs
--seed a|--seed wants whole numbers, such as 0,1,2 or 0..3, not 'a'
--rounds 0..3|--rounds wants a whole number from 1, such as 3, not '0'
--seed 1 --resume file|sweep: --resume takes no file
--seed 1 --log file|--log is no flag of sweep
--seed 0,99999999999999999999|--seed wants a whole number from 0 to 18446744073709551615, not 99999999999999999999
--batch 10,20|--batch is no flag of sweep, which takes lists for --seed and the options of the program; './c sweep --help'
--seed 1 --epochs 2,3|--epochs wants one whole number, not '2,3': a sweep takes lists for --seed and the options
--seed 1 --jobs 0|--jobs wants a whole number of at least 1
ROWS
check_status "lists are a sweep's" 2 "--seed wants a whole number of at least 0, not '0..3'" ./c train --seed 0..3
check_status "lists are a sweep's" 2 "--lr wants a number from 0 and less than 1, such as 0.01, not '1e-3,1e-2'" ./c eval --lr 1e-3,1e-2
summary
