#!/usr/bin/env bash
# Trained runs that are killed, or whose disk is full, end like the run that nothing befell: kill.py.
#
#   tests/kill/run.sh BUILD [--rounds N] [--seed N]     5 rounds (half a minute); 20 to be thorough
#   $NNC_CFLAGS: flags of BUILD's sanitizers, for the generated C
#
# Prints what failed and "N passed, N failed"; the exit status is 0 when nothing failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD [--rounds N] [--seed N]}" && pwd) || exit 2
shift
work=$(mktemp -d) || exit 2
trap 'mountpoint -q "$work/disk" && umount "$work/disk"; rm -rf "$work"' EXIT

ASAN_OPTIONS=detect_leaks=0 "$build/bin/nnc" "$here/digits.net" --cflags="${NNC_CFLAGS:-}" -o "$work/digits" &&
  sed 's/^  metrics .*/&\n  save = best(test.accuracy, "max", keep = 3)\n  save_every = 15 steps\n  keep = 2\n  stop = patience(4, test.loss, threshold = 0.02)/' "$here/digits.net" >"$work/steered.net" &&
  ASAN_OPTIONS=detect_leaks=0 "$build/bin/nnc" "$work/steered.net" --cflags="${NNC_CFLAGS:-}" -o "$work/steered" &&
  ASAN_OPTIONS=detect_leaks=0 "$build/bin/nnc" "$here/sharded.net" --cflags="${NNC_CFLAGS:--O1}" -o "$work/sharded" &&
  "$build/bin/nnc-digits" "$work/data" --train 2000 --test 300 2>/dev/null ||
  { echo "0 passed, 1 failed"; exit 1; }
python3 "$here/kill.py" "$work" "$@"
