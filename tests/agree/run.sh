#!/usr/bin/env bash
# Small models, every example, -O0 and full, 1 and 2 threads, f32 and f64, against the interpreter over the first
# 5 steps.  Usage: tests/agree/run.sh BUILD [MODEL.net...]
set -uo pipefail
build=$(cd "$1" && pwd); shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
source tests/lib/check.sh
[ $# -gt 0 ] || set -- $(models_within "$build" 1) examples/*.net tests/agree/programs/*.net
passed=0 failed=0
for model in "$@"; do
  for type in f32 f64; do
    out=$("$build/tests/agree" "$build/bin/nnc" "$model" $type 5 "$work" 2>&1); status=$?
    printf '%s\n' "$out" | sed "s/^/$type /"
    passed=$((passed + $(grep -c '^ok ' <<<"$out")))
    failed=$((failed + $(grep -c '^FAIL ' <<<"$out")))
    [ $status -le 1 ] || failed=$((failed + 1))
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
