#!/usr/bin/env bash
# Random graphs (fuzz.c).  Usage: tests/fuzz_graphs/run.sh BUILD [--long]
#
#   - the cases of this folder: small modules that once failed
#   - 200 (--long: 300) fixed seeds through all that needs no C compiler; together they hold every operator, and
#     gradients flow through every operator that has one
#   - some (--long: more) in bf16 and f16, also as executables
#   - some with values far from 1, infinities and NaNs, also as executables
#   - seeds on which the generator itself, or the judge, once failed
#   - graphs with a small mistake, of which the judge must notice nearly all
#   - the cases as executables: nnc at -O0 and -O1, own types and f64, 1 and 2 threads, compiled without optimization (--long: with
#     -O1)
#   - the first C_SEEDS (4; --long: 36) of the seeds as executables, at -O1
#   - others of them with all channels last (--long: more)
#
# Longer: docs/testing.md.  $NNC_CFLAGS: flags of BUILD's sanitizers
set -uo pipefail
build=$(cd "$1" && pwd)
seeds=200 halves=12 half_executables=3 far=16 faults=80 c_seeds=4 all_last=4 far_executables=6 quick=-O0
[ "${2:-}" = --long ] && seeds=300 halves=60 half_executables=16 far=80 far_executables=24 faults=200 c_seeds=36 all_last=96 quick=-O1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
judge() {
  local out line
  out=$("$build/tests/fuzz_graphs" "$@" 2>&1); local status=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' <<<"$out" | tail -n 1)
  if [ -z "$line" ]; then
    printf '%s\n' "$out"; failed=$((failed + 1)); return
  fi
  [ $status -eq 0 ] || printf '%s\n' "$out"
  passed=$((passed + $(cut -d' ' -f1 <<<"$line")))
  failed=$((failed + $(cut -d' ' -f3 <<<"$line")))
}
# notice SHARE FLAGS...: of 80 (--long: 200) small mistakes, less those in graphs that cannot be judged (some 15 of 200
# far ones), at least SHARE percent. Which graphs are drawn depends on the compiler that built the generator.
notice() {
  local share=$1 out noticed of; shift
  out=$("$build/tests/fuzz_graphs" --faults --from 20001 --count $faults --jobs 2 "$@" 2>&1)
  read -r noticed of < <(sed -n 's/^\([0-9]*\) of \([0-9]*\) faults noticed$/\1 \2/p' <<<"$out")
  if [ $((${of:-0} * 100)) -ge $((faults * 85)) ] && [ $((noticed * 100)) -ge $((of * share)) ]; then passed=$((passed + 1)); return; fi
  printf '%s\n' "$out" "fewer than $share % of the faults noticed: $*"; failed=$((failed + 1))
}
judge --module "$here"/cases/*.dump
judge --from 1 --count $seeds --jobs 2 --coverage
for half in bf16 f16; do judge --from 301 --count $halves --jobs 2 --half $half; done
judge --from 421 --count $far --jobs 2 --far f64
judge --from 70386 --count 1
notice 97
notice 93 --far f64
notice 93 --far f32
in_c=(--stage c --build "$build" --work "$work" --jobs 2 --cflags "-O1 ${NNC_CFLAGS:-}")
quick_in_c=("${in_c[@]::${#in_c[@]}-1}" "$quick ${NNC_CFLAGS:-}")
judge "${quick_in_c[@]}" --looks all --module "$here"/cases/*.dump
judge "${in_c[@]}" --from 1 --count "${C_SEEDS:-$c_seeds}" --batch 8
judge "${quick_in_c[@]}" --from 601 --count $all_last --batch 12 --target last
judge "${quick_in_c[@]}" --from 701 --count $half_executables --batch 8 --target last --half bf16
for half in bf16 f16; do judge "${quick_in_c[@]}" --from 361 --count $half_executables --batch 8 --half $half; done
judge "${quick_in_c[@]}" --from 501 --count $far_executables --batch 12 --far f32
judge "${in_c[@]}" --from 8100288 --count 1 --far f32 # nothing but rounding is left of some results
judge "${in_c[@]}" --from 5059 --count 1 --looks types
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
