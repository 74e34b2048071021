#!/usr/bin/env bash
# Streams: reset at each pass, not shared between training and evaluation, kept over an interruption.
# Usage: tests/stream/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

awk 'BEGIN { for (i = 0; i < 40; i++) printf "%g,%g,%g,%g\n", sin(i), cos(i), sin(2 * i), sin(i + 1) }' > "$work/train.csv"
head -n 14 "$work/train.csv" > "$work/test.csv" # three batches and two single examples
check compile "$build/bin/nnc" tests/stream/stream.net -o "$work/stream"
cd "$work" || exit 1
check train ./stream --quiet --out whole
expect() {
  if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' instead of '$3'"; fi
}
values() { grep -o "\"$1\":[0-9.e+-]*" whole/log.jsonl | cut -d: -f2 | tr '\n' ' '; }
# Ten minibatches an epoch, counted from anew in each. Evaluation counts its own: three batches, and two
# single examples, for a stream that does not know of the batch.
expect "a pass of training" "$(values train/seen)" "10 10 10 "
expect "a pass of evaluation" "$(values test/seen)" "5 5 5 "

# An interruption within an epoch, at a step where the streams hold something.
check straight ./stream --quiet --steps 27 --out straight
check first ./stream --quiet --steps 13 --out parts
check second ./stream --quiet --steps 27 --resume --out parts
check "resumed bit for bit" cmp straight/checkpoint.safetensors parts/checkpoint.safetensors

# A single example begins with the initial value: its order among others does not matter.
cut -d, -f1-3 test.csv > one.csv; tac one.csv > two.csv
./stream predict --out whole one.csv > one.txt 2> one.err || fail "predict: $(cat one.err)"
./stream predict --out whole two.csv | tac > two.txt
expect "count of predictions" "$(grep -c "[0-9]" one.txt)" 14
expect "predictions" "$(grep -o '[0-9.e-]*' one.txt | sort)" "$(grep -o '[0-9.e-]*' two.txt | sort)"
summary
