#!/usr/bin/env bash
# Small models, every example, -O0 and full, 1 and 2 threads, f32 and f64, against the interpreter over the first
# 5 steps; a few with precision = bf16 and f16.  Usage: tests/agree/run.sh BUILD [MODEL.net...]
set -uo pipefail
build=$(cd "$1" && pwd); shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
source tests/lib/check.sh
# Not examples/copy.net: its loss divides by the sum of a mask, which is random here; where that is almost nothing,
# gradients are too large for f16.
mixed=(models/lenet.net examples/own_loss.net tests/agree/programs/{own_gradients,recurrent,dropout_accumulate}.net)
[ $# -eq 0 ] || mixed=("$@")
[ $# -gt 0 ] || set -- $(models_within "$build" 1) examples/*.net tests/agree/programs/*.net
passed=0 failed=0
# The gradient of a bias of keys is 0 but for rounding, which Adam makes as large as any.
plain=' examples/write.net '
agree() { # TYPE MODEL
  local out status
  unset AGREE_PLAIN; [[ $plain != *" $2 "* ]] || export AGREE_PLAIN=1
  out=$("$build/tests/agree" "$build/bin/nnc" "$2" "$1" 5 "$work" 2>&1); status=$?
  printf '%s\n' "$out" | sed "s/^/$1 /"
  passed=$((passed + $(grep -c '^ok ' <<<"$out")))
  failed=$((failed + $(grep -c '^FAIL ' <<<"$out")))
  [ $status -le 1 ] || failed=$((failed + 1))
}
for model in "$@"; do
  for type in f32 f64; do agree $type "$model"; done
done
for model in "${mixed[@]}"; do
  for type in bf16 f16; do agree $type "$model"; done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
