#!/usr/bin/env bash
# The library against reference vectors made with PyTorch (make.py), through the interpreter and through executables of
# f64 and, every third group, f32 (--long: every group); groups with scans once more with scans as loops, in f64 (--long:
# in f32, too); groups written in TYPE in bf16, f16 and f64 by their own declarations.
# Usage: tests/vectors/run.sh BUILD [--long] [GROUP...]
# Executables are compiled without optimization; with --long as nnc does.
#
# Every name that `nnc doc --internal` lists is called in some vector, but for those in `exceptions`; optimizers,
# schedules and initializers may be named alone. Every other is called with operands of several shapes.
set -uo pipefail
build=$(cd "$1" && pwd); shift
if [ "${1:-}" = --long ]; then export VECTORS_LONG=1; shift; fi
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# What a vector cannot show, and what shows it instead.
exceptions="
rand randn random_bits  # numbers of the generator: tests/unit/test_ops.c
bernoulli randint categorical permutation gamma drawn_log_gamma beta  # frequencies: tests/predict
load  # files: tests/load
plateau plateau_value  # follow reports: tests/plateau
averaged  # over steps: tests/averaged
evaluated  # in the training step: tests/frozen
unstandardize  # by what data have taught: tests/unstandardize
classified auc average_precision f1 top_k_accuracy perplexity calibration iou  # of whole sets: tests/classes
per_batch  # of sets in batches: tests/batches
gradient_norm  # of the steps of a run: tests/watch
boxes_ranked box_precision error_rate edit_distance length_before  # likewise, by pycocotools and jiwer
int float rank size shape dtype len as_list is_list is_number is_none assert  # compile time: docs/language.md
need_finite need_from_0 need_above_0 need_from_1 need_below_1 need_to_1 need_inside_1  # mistakes: tests/elaborate
"
if [ $# -eq 0 ]; then
  text=$(sed 's/#.*//' tests/vectors/*.net)
  called=$(grep -oE '[A-Za-z_][A-Za-z0-9_]*\(' <<<"$text" | tr -d '(' | sort -u)
  named=$(grep -oE '[A-Za-z_][A-Za-z0-9_]*' <<<"$text" | sort -u)
  excused=$(sed 's/#.*//' <<<"$exceptions" | tr ' ' '\n')
  # Names that are called with operands of more than one set of shapes.
  several=$(cat tests/vectors/*.net | awk '
    /^(param|state) [a-z]+[0-9]+ : / { shape = $0; sub(/^[^[]*/, "", shape); sub(/ =.*/, "", shape); of[$2] = shape }
    /^y[0-9]+ = / {
      text = $0; sub(/^y[0-9]+ = /, "", text); number = substr($1, 2); shapes = ""
      rest = text
      while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(rest, RSTART, RLENGTH); follows = substr(rest, RSTART + RLENGTH, 1); rest = substr(rest, RSTART + RLENGTH)
        if (follows == "(") calls[word] = 1
        else if (word in of && word ~ "[a-z]" number "$") shapes = shapes of[word]
      }
      for (word in calls) {
        if (!(word in first)) first[word] = shapes
        else if (first[word] != shapes && !(word in done)) { print word; done[word] = 1 }
      }
      delete calls
    }')
  while read -r section name; do
    shown=$called
    case $section in
      statements|words|values|types|train|data) continue ;; # no functions: tests/docs has their examples
      optimizers|schedules|initializers) shown=$named ;;
      *) if grep -qx -- "$name" <<<"$several" || grep -qx -- "$name" <<<"$excused"; then ok
         else fail "$name has vectors of one shape alone: add a case to tests/vectors/cases_shapes.py"; fi ;;
    esac
    if grep -qx -- "$name" <<<"$shown" || grep -qx -- "$name" <<<"$excused"; then ok
    else fail "$name has no vector: add a case to tests/vectors/cases_*.py"; fi
  done < <("$nnc" doc --internal | awk '/^[a-z]/ { section = $1 } /^  / { print section, $1 }')
fi

# erfinv near 1 in f32, to f32's precision (as declared: --float would compute its inner f64 in f32, too).
if [ $# -eq 0 ]; then
  for pair in 0.9998779296875:2.7166552405670563 -0.99999904632568359375:-3.4655050258053137 0.999999940395355224609375:3.8325068569874166; do
    printf 'param x : [1] = constant(%s)\nloss = 1e6 * abs(sum(erfinv(x)) / %s - 1)\ntrain { minimize = loss, optimizer = sgd, steps = 1 }\n' \
      "${pair%:*}" "${pair#*:}" >"$work/near.net"
    rm -rf "$work/near.run"
    check "erfinv(${pair%:*}): build" "$nnc" "$work/near.net" -o "$work/near"
    check "erfinv(${pair%:*}): train" "$work/near" train --quiet --out "$work/near.run"
    at_most "erfinv(${pair%:*}): millionths off" "$(sed -n 's/.*"train\/loss":\([^,}]*\).*/\1/p' "$work/near.run/log.jsonl")" 0.5
  done
fi

# Targets that are truth values or integers mean what they mean as floats.
if [ $# -eq 0 ]; then
  {
    echo 'param x : [3] = 0.7 * (f32(arange(3)) - 1)'
    echo 'truth = arange(3) > 0'
    echo 'of_floats = binary_cross_entropy(x, f32(truth), positive = 2.0) + binary_cross_entropy(x, f32(truth))'
    echo 'of_truths = binary_cross_entropy(x, truth, positive = 2.0) + binary_cross_entropy(x, i32(truth))'
    echo 'loss = 1 + abs(of_floats - of_truths) + maximum(0.1 - of_truths, 0)'
    echo 'train { minimize = loss, optimizer = sgd, steps = 1 }'
  } > "$work/truths.net"
  check "binary_cross_entropy of truth values: build" "$nnc" --cflags=-O0 --units=1 "$work/truths.net" -o "$work/truths"
  check "binary_cross_entropy of truth values: train" "$work/truths" train --quiet --out "$work/truths.run"
  at_most "binary_cross_entropy of truth values" "$(sed -n 's/.*"train\/loss":\([^,}]*\).*/\1/p' "$work/truths.run/log.jsonl")" 1.000001
fi

[ $# -gt 0 ] || set -- $(cd tests/vectors && ls *.net | sed 's/\.net$//')
judge() { # GROUP [loop | TYPE]
  local output status counts program=tests/vectors/$1.net
  case ${2:-} in bf16|f16|f64) program=$work/$1.$2.net; sed "s/\bTYPE\b/$2/g" "tests/vectors/$1.net" >"$program" ;; esac
  output=$("$build/tests/vectors" "$nnc" "$program" "tests/vectors/$1.safetensors" "$work" "${@:2}" 2>&1)
  status=$?
  printf '%s\n' "$output"
  counts=$(sed -n 's/^[^ ]*: \([0-9]*\) compared, \([0-9]*\) differ$/\1 \2/p' <<<"$output")
  if [ -z "$counts" ]; then fail "$*: exit status $status"; return; fi
  passed=$((passed + ${counts% *} - ${counts#* })) failed=$((failed + ${counts#* }))
}
number=0
for group in "$@"; do
  number=$((number + 1))
  unset VECTORS_EXACT
  [ $((number % 3)) -eq 1 ] || export VECTORS_EXACT=1 # f64 alone
  if grep -qw TYPE "tests/vectors/$group.net"; then
    for type in bf16 f16 f64; do judge "$group" $type; done
    continue
  fi
  judge "$group"
  if grep -qE '\b(scan|rnn|lstm|gru|ctc)\b' "tests/vectors/$group.net"; then judge "$group" loop; fi
done
summary
