#!/usr/bin/env bash
# Elementwise functions over the whole range of every float type, subnormal numbers, infinities and NaN included, at -O0
# (of nnc and of the C compiler) and at full optimization, against references of 300 bits (make.py).  Usage: tests/extremes/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
here=$PWD/tests/extremes
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

flags=("--cflags=-O0 --units=1" "") # of the C compiler; full: nnc's own
for type in f32 f64 bf16 f16; do
  for level in 0 1; do
    check "$type -O$level" "$nnc" ${flags[level]} -O$level "$here/$type.net" -o $type
    check "$type -O$level step" ./$type step --inputs "$here/$type.safetensors" --init "$here/$type.safetensors" --steps 1 --quiet out.safetensors
    compared=$(python3 "$here/compare.py" $type "$here/$type.safetensors" out.safetensors)
    grep -v ' passed, ' <<<"$compared"
    passed=$((passed + $(sed -n 's/ passed.*//p' <<<"$compared")))
    failed=$((failed + $(sed -n 's/.*, \(.*\) failed/\1/p' <<<"$compared")))
  done
done
summary
