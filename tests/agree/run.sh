#!/usr/bin/env bash
# Small models in f32 and f64, every example and program in one of these (--long: both), full and every third in f64 also
# -O0, 1 and 2 threads, against the interpreter over the first 5 steps; a few with precision = bf16 and f16.
# Usage: tests/agree/run.sh BUILD [--long] [MODEL.net...]
# The C of -O0 and of f64 is compiled without optimization, that of the small programs in f32 with -O1; with --long all
# is compiled as nnc does, and each also at -O0.
set -uo pipefail
build=$(cd "$1" && pwd); shift
if [ "${1:-}" = --long ]; then export AGREE_LONG=1; shift; fi
cd "$(dirname "$0")/../.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
source tests/lib/check.sh
# Not examples/copy.net: its loss divides by the sum of a mask, which is random here; where that is almost nothing,
# gradients are too large for f16.
mixed=(models/lenet.net examples/own_loss.net tests/agree/programs/{own_gradients,recurrent,dropout_accumulate}.net)
[ $# -eq 0 ] || mixed=("$@")
[ $# -gt 0 ] || set -- $(models_within "$build" 1) examples/*.net tests/agree/programs/*.net
# The gradient of a bias of keys is 0 but for rounding, which Adam makes as large as any.
plain=' examples/write.net '
# What was found goes to a file of the comparison's own, since as many run at a time as there are cores.
agree() { # NUMBER TYPE MODEL
  local status
  [[ $plain != *" $3 "* ]] || export AGREE_PLAIN=1
  [ -n "${AGREE_LONG:-}" ] || [[ $3 == models/* ]] || export AGREE_CFLAGS=-O1
  [ $(($1 % 3)) -eq 0 ] || export AGREE_FULL=1 # every third program of f64 is at -O0, too
  mkdir "$work/$1"
  "$build/tests/agree" "$build/bin/nnc" "$3" "$2" 5 "$work/$1" >"$work/$1.out" 2>&1; status=$?
  sed -i "s/^/$2 /" "$work/$1.out"
  [ $status -le 1 ] || echo "$2 FAIL $3: exit status $status" >>"$work/$1.out"
  rm -r "${work:?}/$1"
}
number=100 jobs=$(nproc)
start() { # TYPE MODEL
  while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
  number=$((number + 1)); agree $number "$@" &
}
turn=0
for model in "$@"; do
  turn=$((turn + 1))
  for type in f32 f64; do
    # Small programs take turns, unless all is asked for, or one of them.
    [ -n "${AGREE_LONG:-}" ] || [ $# -eq 1 ] || [[ $model == models/* ]] || [ $((turn % 2)) -eq $((${type#f} / 64)) ] ||
      continue
    start $type "$model"
  done
done
turn=0 halves=(bf16 f16)
for model in "${mixed[@]}"; do
  turn=$((turn + 1))
  for type in "${halves[@]}"; do
    # Small programs take turns here, too.
    [ -n "${AGREE_LONG:-}" ] || [ $# -eq 1 ] || [[ $model == models/* ]] || [ $type = "${halves[turn % 2]}" ] || continue
    start $type "$model"
  done
done
wait
cat "$work"/*.out
passed=$(cat "$work"/*.out | grep -c '^[a-z0-9]* ok ') failed=$(cat "$work"/*.out | grep -c '^[a-z0-9]* FAIL ')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && [ "$(ls "$work"/*.out | wc -l)" -eq $((number - 100)) ]
