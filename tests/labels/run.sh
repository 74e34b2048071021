#!/usr/bin/env bash
# Labels are held against the number of classes before training: also where `ignore` excepts one, at every
# level of optimization.  Usage: tests/labels/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# labels NAME LABEL...: rows of a number and a label
labels() { local name=$1; shift; printf '%s\n' "$@" | awk '{ print NR / 8 "," $1 }' > "$name.csv"; }
labels plain 0 1 2 1
labels ignored 0 -1 2 -1
labels below 0 -1 -2 1
labels above 0 -1 3 1

# program NAME LOSS [OPTION [STATEMENT]]
program() {
  cat > "$1.net" <<EOF
const batch = 4
data train { x, y = csv("train.csv", columns = [0, 1], header = false) }
input x : f32[batch]
input y : i32[batch]
logits = linear(x[:, none], 3)
${4:-}
loss = $2
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }
EOF
  "$nnc" ${3:-} "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"
}
run() { # run STATUS PATTERN PROGRAM LABELS
  cp "$4.csv" train.csv
  check_status "$3 with $4" "$1" "$2" "./$3" --out x.run
}
refusal="'y' holds %s, but the model takes it as an index from 0 to 2"
for level in -O0 -O1; do
  program ignores 'cross_entropy(logits, y, ignore = -1)' $level
  run 0 epoch ignores plain
  run 0 epoch ignores ignored
  run 1 "${refusal/\%s/-2}" ignores below
  run 1 "${refusal/\%s/3}" ignores above
done
program weighs 'cross_entropy(logits, y, ignore = -1, weights = [1.0, 2.0, 3.0], smoothing = 0.1)'
run 0 epoch weighs ignored
run 1 "${refusal/\%s/3}" weighs above
program likely 'nll(log_softmax(logits), y, ignore = -1)'
run 0 epoch likely ignored
run 1 "${refusal/\%s/-2}" likely below
# Another use of the label without the exception.
program both 'cross_entropy(logits, y, ignore = -1) + cross_entropy(2 * logits, y)'
run 0 epoch both plain
run 1 "${refusal/\%s/-1}" both ignored
program embeds 'cross_entropy(logits, y, ignore = -1) + 0 * mean(one_hot(y, 3))'
run 0 epoch embeds plain
# In the steps of a scan, whether it is written out or a loop.
for scans in unroll loop; do
  program "$scans" 'mean(v * logits[:, 0])' "--scans=$scans" 'param t : f32[3] = 1.0; v = scan k in y { yield t[k] }'
  run 1 "${refusal/\%s/-1}" "$scans" ignored
  run 0 epoch "$scans" plain
done
# Beside other positions, each is held against its own axis.
program beside 'mean(t[arange(batch) % 2, y] * logits[:, 0])' -O1 'param t : f32[2, 3] = 1.0'
run 0 epoch beside plain
run 1 "${refusal/\%s/-1}" beside above
program without 'cross_entropy(logits, y)'
run 1 "${refusal/\%s/-1}" without ignored
run 0 epoch without plain
summary
