#!/usr/bin/env bash
# The fuzzing targets of the compiler, of checkpoints and of vocabularies on their seeds and on some mutations of them, the same
# ones every time, without libFuzzer (mutate.c); those of the data readers run in tests/data. scripts/fuzz.sh
# searches for longer.
#
#   tests/fuzz/run.sh BUILD      $MUTATIONS: how many a target (default 120); $NNC_CFLAGS: flags of BUILD's sanitizers
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

link() { # TARGET
  ${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE ${NNC_CFLAGS:-} -Icompiler -Iruntime -Iruntime/abi "tests/fuzz/fuzz_$1.c" \
    tests/fuzz/mutate.c "$build/lib/libnnccompiler.a" "$build/lib/nnc/libnncrt.a" -ljpeg -lpng -lz -lm -lpthread -o "$work/$1"
}

# play TARGET ROUNDS: messages about the files are not shown, the last lines of a crash are.
play() {
  check "link $1" link "$1"
  if timeout 600 "$work/$1" "$2" "$work/seeds/$1"/* >"$work/$1.log" 2>&1; then ok
  else fail "$1: exit status $?: $(tail -n 12 "$work/$1.log")"; fi
}

check "seeds" python3 tests/fuzz/seeds.py "$work/seeds" "$build/bin/nnc"
rounds=${MUTATIONS:-120}
for target in source compile format dump; do play $target "$rounds"; done
for target in safetensors vocabulary; do play "$target" $((rounds * 10)); done
summary
