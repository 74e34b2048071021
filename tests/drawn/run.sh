#!/usr/bin/env bash
# What nnc-sounds and nnc-shapes --boxes draw is what they say: drawn.py.  Usage: tests/drawn/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

check "sounds" "$build/bin/nnc-sounds" "$work/sounds" --train 40 --val 7
check "sounds are what their folders say" python3 tests/drawn/drawn.py sounds "$work/sounds"
check "the same sounds" "$build/bin/nnc-sounds" "$work/again" --train 40 --val 7
check "the same bytes" diff -r "$work/sounds" "$work/again"
check "other sounds" "$build/bin/nnc-sounds" "$work/other" --train 5 --val 1 --seed 2
if cmp -s "$work"/{sounds,other}/train/tone/000004.wav; then fail "another seed, the same sound"; else ok; fi
check_status "a number that is none" 2 "nnc-sounds: --train needs a number from 0 to 1000000, not 'x'" "$build/bin/nnc-sounds" "$work/x" --train x
check_status "no folder" 2 'usage: nnc-sounds' "$build/bin/nnc-sounds"
: > "$work/file"
check_status "a folder that cannot be made" 1 'cannot make the folder' "$build/bin/nnc-sounds" "$work/file"

check "boxes" "$build/bin/nnc-shapes" "$work/boxes" --boxes --size 40 --train 60 --val 5
check "boxes are around shapes" python3 tests/drawn/drawn.py boxes "$work/boxes"
summary
