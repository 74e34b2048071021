#!/usr/bin/env bash
# Attention by the CPU's kernels for it: values and gradients are the interpreter's for every form of mask, extents that
# fill no block and no vector, several blocks of keys and of queries, few queries, rows that see nothing, large scores,
# in f32 and f64, with one thread and two bit for bit (tests/agree/agree.c). 16 bits stay written out.
# Usage: tests/attention/run.sh BUILD [--long]     --long: every form with several blocks, in f32 and f64
set -uo pipefail
build=$(cd "$1" && pwd) is_long=${2:-}
cd "$(dirname "$0")"
source ../lib/check.sh
here=$PWD nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export AGREE_CFLAGS=-O1

# tried NAME TYPE CONSTANT...: forms.net with these constants is the operator, and agrees.
tried() {
  local name=$1 type=$2 edits=(); shift 2
  for constant in "$@"; do edits+=(-e "s/\\b${constant%=*} = [0-9.]*/${constant%=*} = ${constant#*=}/"); done
  sed "${edits[@]}" "$here/forms.net" > "$work/$name.net"
  "$nnc" --emit=c "$work/$name.net" -o "$work/$name.c" 2> /dev/null
  check "$name: is the operator" grep -q nnc_attention_adjoints "$work/$name.c"
  mkdir "$work/$name"
  check "$name: agrees in $type" "$build/tests/agree" "$nnc" "$work/$name.net" "$type" 1 "$work/$name"
}

tried plain f32 queries=70 keys=515 depth=5 values=7
tried whole f64 queries=33 keys=520 depth=16 values=32
tried few f32 queries=1 keys=600 depth=3 values=1
tried causal f32 queries=150 keys=150 depth=16 values=16 form=1
tried causal.long f64 queries=530 keys=530 depth=4 values=3 form=1
tried more.keys f32 queries=130 keys=540 depth=8 values=16 form=1
tried more.queries f64 queries=540 keys=130 depth=16 values=5 form=1
tried masked f32 queries=40 keys=513 depth=6 values=9 form=2
tried masked.causal f32 queries=200 keys=140 depth=16 values=16 form=3
tried added f32 queries=65 keys=512 depth=16 values=8 form=4
tried blind f32 queries=30 keys=530 depth=8 values=8 form=6
tried blind.causal f64 queries=128 keys=129 depth=3 values=17 form=7
tried large f64 queries=20 keys=600 depth=8 values=8 size=300.0 form=4
tried large.f32 f32 queries=20 keys=600 depth=8 values=8 size=10.0 form=4
tried large.causal f32 queries=130 keys=130 depth=8 values=8 size=10.0 form=1

# 16 bits are multiplied by a matrix unit where there is one, and stay written out; f32 of the same extents does not.
for precision in f32 bf16 f16; do
  sed -e "s/ keys = 30/ keys = 600/" -e "s/steps = 1 }/steps = 1, precision = $precision }/" "$here/forms.net" \
    > "$work/$precision.net"
  check "$precision: compiles" "$nnc" --emit=c "$work/$precision.net" -o "$work/$precision.c"
  found=$(grep -c nnc_attention_adjoints "$work/$precision.c")
  case $precision in f32) at_least "$precision: uses of the kernels" "$found" 1 ;;
    *) check "$precision: stays written out" [ "$found" = 0 ] ;;
  esac
done
if [ -n "$is_long" ]; then
  for type in f32 f64; do
    for form in 0 1 2 3 4 5 6 7; do tried "long$form.$type" $type queries=600 keys=700 depth=24 values=20 form=$form; done
  done
fi
summary
