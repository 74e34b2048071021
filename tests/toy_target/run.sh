#!/usr/bin/env bash
# Random graphs through the toy target (toy.h): executables whose kernels it writes against the
# interpreter, in f64 and some in their own types.
# Usage: tests/toy_target/run.sh BUILD [SEEDS (48)]; $NNC_CFLAGS: flags of BUILD's sanitizers
set -uo pipefail
build=$(cd "$1" && pwd)
seeds=${2:-48}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$build/tests/fuzz_graphs" --stage c --target toy --build "$build" --work "$work" --jobs 2 --batch 16 \
  --from 1 --count "$seeds" --cflags "-O0 -I $here ${NNC_CFLAGS:-}"
