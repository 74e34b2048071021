#!/usr/bin/env bash
# Folds whose number is an option: the bits of programs with the constant, on both targets; what the stages learn and what is
# validated; a sweep with means over the folds; resuming, other folds, mistakes.  Usage: tests/folds/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
perl -e 'srand 5; print "row,x,kind,y\n"; for (0 .. 52) { my $kind = rand() < 0.1 ? "rare$_" : (qw(a b c))[rand 3];
  printf "%d,%s,%s,%d\n", $_, rand() < 0.1 ? "" : sprintf("%.3f", 9 * rand()), $kind, rand 3 }' > rows.csv
cp "$here/program.net" fold.net
sed 's/^option fold/const fold/' fold.net > constant.net
no_text() { # CHECKPOINT: its tensors, and what the stages learned, without what names the program
  python3 -c '
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
fitted = header.pop("__metadata__")["fitted"]
sys.stdout.buffer.write(json.dumps([header, fitted], sort_keys=True).encode() + data[8 + size:])' "$1"
}
line() { sed 's/"seconds":[0-9.]*,//; s/"options":{[^}]*},//; s/,"command":\[[^]]*\]//' "$1/log.jsonl"; }

for target in c cuda; do
  check "$target compiles" emulated "$nnc" --target=$target $quick fold.net -o $target.fold
  checkpoints=()
  for k in 0 1 2 3 4; do
    [ $target = c ] || [ $k = 3 ] || continue
    check "$target fold $k" ./$target.fold --fold $k --out $target.$k --quiet
    check "$target constant $k" emulated "$nnc" --target=$target $quick constant.net -D fold=$k -o $target.constant
    check "$target constant $k" ./$target.constant --out $target.constant.$k --quiet
    for run in $target.$k $target.constant.$k; do no_text $run/checkpoint.safetensors >$run.bytes; done
    check "$target: the bits of constant $k" cmp $target.$k.bytes $target.constant.$k.bytes
    check "$target: the log of constant $k" cmp <(line $target.$k) <(line $target.constant.$k)
    ./$target.fold predict --out $target.$k --quiet >$target.$k/checkpoint.safetensors.held
    check "$target: predicts the fold $k" cmp $target.$k/checkpoint.safetensors.held <(./$target.constant predict --out $target.constant.$k --quiet)
    checkpoints+=($target.$k/checkpoint.safetensors)
  done
  [ $target = cuda ] || check "each row once, and what was learned" python3 "$here/check_folds.py" "${checkpoints[@]}"
done
check "other folds, other bits" test "$(cat c.?.bytes | wc -c)" -gt 0 -a "$(cksum c.?.bytes | cut -d' ' -f1 | sort -u | wc -l)" = 5

# Log and checkpoint have the fold; a run goes on with its own alone.
check "the log" grep -q '"options":{"fold":3,"lr":0.1}' c.3/log.jsonl
check_status "eval takes it" 0 'fold = 3, as in c.3' ./c.fold eval --out c.3
check_status "eval warns of another" 0 'warning: --fold 1, where c.3.* has 3: rows that it was trained on' ./c.fold eval --fold 1 --out c.3
check_status "not with another" 1 'error: --fold 1, where c.3.* has 3: --resume goes on with the rows' ./c.fold --resume --fold 1 --epochs 3 --out c.3
check_status "with its own" 0 'step 30' ./c.fold --resume --fold 3 --epochs 3 --out c.3
check "whole" ./c.fold --fold 3 --epochs 3 --out whole --quiet
check "goes on to the same bits" cmp {c.3,whole}/checkpoint.safetensors
check_status "out of range" 2 "error: --fold wants a whole number from 0 and less than 5, such as 0, not '5'" ./c.fold --fold 5
check_status "help" 0 '--fold N +default 0, from 0, less than 5' ./c.fold --help
check_status "info" 0 'fold\(number = fold, of = 5, by = y\)' ./c.fold info
check_status "info of a run" 0 '^fitted x.standardize: [0-9.]+ [0-9.]+$' ./c.fold info --out c.3
check "all that was fitted" python3 - <<'PYTHON'
import json, struct, subprocess
with open("c.3/checkpoint.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
told = json.loads(subprocess.run(["./c.fold", "info", "--json", "--out", "c.3"], stdout=subprocess.PIPE, check=True).stdout)["fitted"]
kept = {value["name"]: value for value in json.loads(header["__metadata__"]["fitted"])}
assert set(told) == set(kept) and len(kept) >= 4, (told, kept)
for name, value in kept.items():
    if "strings" in value: assert told[name] == value["strings"]
    else: assert all(abs(a - float(b)) <= 1e-8 * abs(float(b)) for a, b in zip(told[name], value["numbers"], strict=True))
PYTHON
check_status "info without a run" 0 'fold\(number = fold' ./c.fold info
check_status "info of no run" 1 'nowhere/checkpoint.safetensors' ./c.fold info --out nowhere

# Fields that stages look at, and that the entry at work, or all of them, compute nothing with.
sed 's/class = y, //' fold.net >unread.net
check "predictions that read no y compile" "$nnc" $quick unread.net -o unread
for k in 0 3; do
  cp -r c.$k unread.$k
  check "they are of the rows of fold $k" cmp <(grep -o '"id":[0-9]*' c.$k/checkpoint.safetensors.held) \
    <(./unread predict --fold $k --init c.$k/checkpoint.safetensors --out none --quiet | grep -o '"id":[0-9]*')
done
perl -e 'srand 6; print "row,patient,y\n"; for (0 .. 59) { printf "%d,p%d,%d\n", $_, rand 9, $_ < 40 ? 0 : rand 3 }' >groups.csv
cat >group.net <<'NET'
const batch = 4
option fold = 0
data train { row, patient, y = csv("groups.csv") | fold(fold, group = patient) | categories(patient, unknown = true) | balance(y) }
data held  { row, patient, y = csv("groups.csv") | fold(fold, group = patient) }
input row     : i64[batch]
input patient : i32[batch]
input y       : i32[batch]
logits = linear(reshape(f32(row), [batch, 1]), 3)
loss   = cross_entropy(logits, y)
train   { minimize = loss, optimizer = sgd(lr = 0.001), epochs = 1 }
predict { id = row, logits = logits }
NET
check_status "what a stage looks at is used" 0 "^$" "$nnc" check group.net
check "a group that nothing computes with compiles" "$nnc" $quick group.net -o group
for k in 0 1 2 3 4; do
  check "it trains without fold $k" ./group --fold $k --out group.$k --quiet
  check "predicts it" sh -c "./group predict --fold $k --out group.$k --quiet >group.$k.held"
done
check "predicts all rows of a file" test "$(./group predict --out group.0 groups.csv | wc -l)" = 60
check "each patient is in one fold" python3 - <<'PYTHON'
import csv, json
rows = {int(row["row"]): row["patient"] for row in csv.DictReader(open("groups.csv"))}
folds = [[json.loads(line)["id"] for line in open(f"group.{k}.held")] for k in range(5)]
assert sorted(sum(folds, [])) == sorted(rows), "each row once"
patients = [{rows[id] for id in fold} for fold in folds]
assert sum(map(len, patients)) == len(set(rows.values())) > 5, patients
PYTHON

# The dump says the same program.
"$nnc" fold.net $quick --emit=c -o plain.c
"$nnc" fold.net $quick --dump-after=dce >dump.ir
check "a dump has the option" grep -q 'fold(number = option "fold"' dump.ir
check "a dump is read" "$nnc" dump.ir $quick --resume-after=dce --emit=c -o again.c
check "to the same program" cmp plain.c <(sed "s/again/plain/g; s/dump\.ir/fold.net/g" again.c)
sed 's/option "fold",/option "gold",/' dump.ir >wrong.ir
check_status "a dump without the option" 1 'there is no option of this name' "$nnc" wrong.ir --resume-after=dce --emit=c -o wrong.c

# Means over the folds, beside those of the single runs; an unfinished run does not count.
./c.fold sweep --fold 0..5 --lr 0.1,0.01 --over fold --out sweep --quiet >table
./c.fold sweep --fold 0..5 --lr 0.1,0.01 --over fold --out sweep --quiet --resume --json >rows
./c.fold sweep --fold 0..5 --over lr --lr 0.1,0.01 --out sweep --quiet --resume --json >by_lr
check "means and deviations" python3 - <<'PYTHON'
import json, re, statistics
table = open("table").read()
for file, over, other in (("rows", "fold", "lr"), ("by_lr", "lr", "fold")):
    rows = [json.loads(line) for line in open(file)]
    runs = [row for row in rows if "over" not in row]
    means = [row for row in rows if "over" in row]
    assert len(runs) == 10 and [row["settings"][other] for row in means] == sorted({run["settings"][other] for run in runs}, reverse=other == "lr")
    for mean in means:
        of = [run for run in runs if run["settings"][other] == mean["settings"][other]]
        assert mean["over"] == over and mean["runs"] == len(of) == (5 if over == "fold" else 2)
        for report in ("last", "best"):
            assert set(mean[report]) == set(of[0][report]) - {"step"} and len(mean[report]) == 4
            for name, value in mean[report].items():
                values = [run[report][name] for run in of]
                assert abs(value["mean"] - statistics.mean(values)) < 1e-8, (name, value)
                assert abs(value["deviation"] - statistics.stdev(values)) < 1e-8, (name, value)
        if over == "fold":
            loss = mean["last"]["held/loss"]
            cells = r"^ *%g +5 +%s \+- %s " % (mean["settings"]["lr"], re.escape("%.6g" % loss["mean"]), re.escape("%.2g" % loss["deviation"]))
            assert re.search(cells, table, re.M), (cells, table)
    if over == "fold":
        least = min(means, key=lambda row: row["last"]["held/loss"]["mean"])
        wanted = "least mean: held/loss %.6g +- %.2g in the last reports, of lr=%g\n" % (*least["last"]["held/loss"].values(), least["settings"]["lr"])
        assert table.endswith(wanted), (table, wanted)
PYTHON
check "a sweep's run is the single run" cmp sweep/fold=2,lr=0.1/checkpoint.safetensors c.2/checkpoint.safetensors
check_status "one of one run" 0 '^ +1 +[0-9.]+ +[0-9.]+ +' ./c.fold sweep --fold 2 --over fold --out one --quiet
mkdir half; touch half/fold=1
./c.fold sweep --fold 0..3 --over fold --out half --quiet >half.rows 2>half.messages
check_status "what failed does not count" 0 '^ +2 +[0-9.]+ \+- ' cat half.rows
check_status "over seeds" 0 '^over seed, the mean' ./c.fold sweep --seed 0..2 --over seed --out seeds --quiet
check_status "no such list" 2 "error: --over lr wants the name of a flag that lists values here, as in --seed 0..5 --over seed" ./c.fold sweep --fold 0..2 --over lr
check_status "of sweeps alone" 2 "--over is no flag of train" ./c.fold --over fold
check_status "no such fold" 2 "--fold wants a whole number from 0 and less than 5, such as 0, not '5'" ./c.fold sweep --fold 0..6

# Mistakes in the program.
wrong() { # NAME SED PATTERN
  sed -E "$2" fold.net >wrong.net
  check_status "$1" 1 "$3" "$nnc" check wrong.net
}
wrong "a fraction" 's/^option fold = 0/option fold = 0.5/' "wrong.net:6:50: error: the number of a fold is a whole one, but the option 'fold' is not"
wrong "a length" 's/^option fold = 0/option fold = 1 steps/' "the option 'fold' is a length in epochs or steps"
wrong "too great" 's/^option fold = 0/option fold = 5/' "folds are numbered from 0: of 5 there is none of number 5"
wrong "below" 's/^option fold = 0/option fold = -1/' "folds are numbered from 0: of 5 there is none of number -1"
wrong "computed" '/^data/s/fold\(fold/fold(fold + 1/' "what is compiled needs a constant"
wrong "another set with a constant" '/^data held/s/fold\(fold/fold(0/' "have folds that are not the same: rows are in both"
wrong "another set with another option" '1i option other = 0
/^data held/s/fold\(fold/fold(other/' "have folds that are not the same: rows are in both"
wrong "options elsewhere" '/^data/s/of = 5/of = fold/' "'of' must be a number|must be a number, a string or a list, found the option 'fold'"
summary
