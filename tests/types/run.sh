#!/usr/bin/env bash
# Every function and layer that `nnc doc` lists takes bf16, f16, f32 and f64 (examples.py).  Usage: tests/types/run.sh BUILD [--long]
set -uo pipefail
build=$(cd "$1" && pwd); shift
cd "$(dirname "$0")"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 examples.py "$build/bin/nnc" "$work" "$@"
