#!/usr/bin/env bash
# Attention on CUDA, through the emulator (tests/cuda_emulator): values and gradients are those of the C target, which
# writes attention out, for every form of mask, extents that fill no tile, sizes of tiles, f32, f64, bf16, f16 and
# tf32, in every order of threads and with late and early copies the same bytes; in 16 bits they are as near to f64 as
# those of the C target, and scores far from 0 lose no weights; no two accesses are unordered; seeded mistakes are
# noticed. Where NVRTC is installed it compiles the kernels for tensor cores without spills.
# Usage: tests/cuda_attention/run.sh BUILD [--long]     --long: more extents, all mistakes, depths for NVRTC
set -uo pipefail
build=$(cd "$1" && pwd) is_long=${2:-}
cd "$(dirname "$0")"
source ../lib/check.sh
source ../lib/emulator.sh
export "${quick_kernels?}"
here=$PWD nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
make_no_inputs
export NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13

# tried NAME TYPE TOLERANCE DEFINE...: of forms.net, or of what `program` names.
program=$here/forms.net
tried() {
  local name=$1 type=$2 tolerance=$3 options=() copies; shift 3
  for define in "$@"; do options+=(-D "$define"); done
  sed "s/precision = f32/precision = $type/" "$program" > "$name.net"
  check "$name: for the CPU" "$nnc" $quick "${options[@]}" "$name.net" -o "$name.cpu"
  check "$name: for CUDA" "$nnc" $quick --target=cuda --arch=sm_90a "${options[@]}" "$name.net" -o "$name.gpu"
  "$nnc" --target=cuda --emit=cuda "${options[@]}" "$name.net" -o "$name.cu" 2> /dev/null
  case $type in
    bf16|f16|tf32) check "$name: has tensor cores" test "$(grep -c "nnc_left_of_sums_$type" "$name.cu")" -ge 4 ;;
    *) check "$name: is the operator" grep -q value_sums "$name.cu" ;;
  esac
  check "$name: a step" step "./$name.cpu" "$name.out"
  check "$name: a step on CUDA" env NNC_EMULATOR_COPIES=wait "./$name.gpu" step --inputs none.safetensors --steps 1 --quiet "$name.given"
  check "$name: values" python3 "$here/compare.py" "$tolerance" "$name.out" "$name.given"
  check "$name: another order" env NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_COPIES=issue "./$name.gpu" step --inputs none.safetensors --steps 1 --quiet "$name.other"
  check "$name: the same bytes" cmp "$name.given" "$name.other"
}

# near NAME DEFINE...: what was tried in 16 bits is as near to f64 as what is written out.
near() {
  local name=$1 options=(); shift
  for define in "$@"; do options+=(-D "$define"); done
  check "$name: in f64" "$nnc" $quick --float=f64 "${options[@]}" "$here/forms.net" -o "$name.exact"
  check "$name: a step in f64" step "./$name.exact" "$name.right"
  check "$name: as near to f64" python3 "$here/compare.py" nearer "$name.right" "$name.out" "$name.given"
}

# far NAME TYPE TOLERANCE DEFINE...: far.net in the type is what it is for the CPU in f32, which holds its numbers.
far() {
  local name=far.$1 type=$2 tolerance=$3 options=(); shift 3
  for define in "$@"; do options+=(-D "$define"); done
  sed "s/precision = f32/precision = $type/" "$here/far.net" > "$name.net"
  check "$name: for the CPU" "$nnc" $quick "${options[@]}" "$here/far.net" -o "$name.cpu"
  check "$name: for CUDA" "$nnc" $quick --target=cuda --arch=sm_90a "${options[@]}" "$name.net" -o "$name.gpu"
  check "$name: a step" step "./$name.cpu" "$name.out"
  check "$name: a step on CUDA" step "./$name.gpu" "$name.given"
  check "$name: values" python3 "$here/compare.py" "$tolerance" "$name.out" "$name.given"
}

# written NAME DEFINE...: heads for which there are no such kernels stay products, which have tensor cores.
written() {
  local name=$1 type=$2 options=(); shift 2
  for define in "$@"; do options+=(-D "$define"); done
  sed "s/precision = f32/precision = $type/" "$here/forms.net" > "$name.net"
  "$nnc" --target=cuda --emit=cuda "${options[@]}" "$name.net" -o "$name.cu" 2> /dev/null
  check "$name: is written out" test "$(grep -c "nnc_mma_$type" "$name.cu")" -ge 3 -a "$(grep -c 'value_sums\|nnc_exp2' "$name.cu")" = 0
}

# too_deep NAME TYPE TOLERANCE DEFINE...: heads of which a block's memory holds no tiles are written out, whether
# the program wrote `attention` or products.
too_deep() {
  local name=$1 type=$2 tolerance=$3 options=(); shift 3
  for define in "$@"; do options+=(-D "$define"); done
  sed "s/precision = f32/precision = $type/" "$here/forms.net" > "$name.net"
  check "$name: for the CPU" "$nnc" $quick "${options[@]}" "$name.net" -o "$name.cpu"
  check "$name: for CUDA" "$nnc" $quick --target=cuda --arch=sm_90a "${options[@]}" "$name.net" -o "$name.gpu"
  "$nnc" --target=cuda --emit=cuda "${options[@]}" "$name.net" -o "$name.cu" 2> /dev/null
  check "$name: is written out" test "$(grep -c value_sums "$name.cu")" = 0
  check "$name: a step" step "./$name.cpu" "$name.out"
  check "$name: a step on CUDA" step "./$name.gpu" "$name.given"
  check "$name: values" python3 "$here/compare.py" "$tolerance" "$name.out" "$name.given"
}

# seeded MISTAKE: the values are wrong, or the emulator ends the program.
warps=(n=6 heads=22 queries=70 keys=70 depth=16 values=16 form=1)
differs() { ! { step "./$1.gpu" "$1.out" && python3 "$here/compare.py" 4e-2 warps.out "$1.out"; }; }
seeded() {
  local name=seeded.$1 options=()
  for define in "${warps[@]}"; do options+=(-D "$define"); done
  mkdir "$name"
  printf '#!/bin/sh\nexec python3 "%s" %s %s "%s" "$@"\n' "$here/../cuda/seed.py" "$compiler" "$1" "$work/$name.note" > "$name/$compiler"
  chmod +x "$name/$compiler"
  check "$name: for CUDA" env NNC_EMULATOR_CXX="$work/$name/$compiler" "$nnc" $quick --no-cache --target=cuda --arch=sm_90a "${options[@]}" warps.net -o "$name.gpu"
  check "$name: is in the text" test -e "$name.note"
  NNC_EMULATOR_COPIES=wait NNC_EMULATOR_ORDER=shuffled check "$name: is noticed" differs "$name"
}

# compiled TYPE DEPTH ARCHITECTURES: by NVRTC itself.
compiled() {
  local name=nvrtc.$1.$2
  sed "s/precision = f32/precision = $1/" "$here/forms.net" > "$name.net"
  env -u NNC_NVRTC "$nnc" --no-cache --verbose --target=cuda --arch="$3" -D n=4 -D heads=12 -D queries=1024 -D keys=1024 \
    -D depth="$2" -D values="$2" -D form=1 "$name.net" -o "$name.gpu" > "$name.ptxas" 2>&1
  check "$name: spills nothing" test "$(grep -c 'spill stores' "$name.ptxas")" -gt 3 -a "$(grep -c ' [1-9][0-9]* bytes spill' "$name.ptxas")" -eq 0
}

# Form 1 has other extents below.
for form in 3 5 ${is_long:+0 1 2 4}; do tried "form$form" f32 2e-5 form=$form; done
tried odd f32 2e-5 queries=37 keys=23 depth=5 values=7 form=1
tried few f32 2e-5 queries=1 keys=70 depth=3 values=1
[ -z "$is_long" ] || tried two f32 2e-5 queries=70 keys=2 depth=1 values=3 form=3
[ -z "$is_long" ] || tried deep f32 2e-5 queries=33 keys=40 depth=256 values=256 form=1
tried wide f32 2e-5 queries=66 keys=40 depth=64 values=128 form=1
too_deep deepest f32 2e-5 queries=5 keys=7 depth=700 values=512 form=1
[ -z "$is_long" ] || too_deep deepest.f64 f64 1e-11 queries=5 keys=7 depth=221 values=221
NNC_EMULATOR_FLAGS=-g0 # with -O1: these run for longer
tried many f32 2e-5 n=4 heads=11 queries=195 keys=195 depth=64 values=64 form=1
[ -z "$is_long" ] || tried uneven f32 2e-5 n=4 heads=17 queries=100 keys=130 depth=128 values=96
export "${quick_kernels?}"
tried double f64 1e-11 queries=40 keys=33 depth=128 values=64 form=1
# In 16 bits and tf32 the tensor cores: of bf16 numbers have 8 bits, of f16 and tf32 11; sums are in f32.
tried bf16 bf16 2e-2 queries=40 keys=33 depth=32 values=48 form=1
near bf16 queries=40 keys=33 depth=32 values=48 form=1
tried f16 f16 4e-3 queries=40 keys=33 depth=24 values=40 form=3
[ -z "$is_long" ] || near f16 queries=40 keys=33 depth=24 values=40 form=3
[ -z "$is_long" ] || tried tf32 tf32 4e-3 queries=70 keys=50 depth=24 values=16 form=5
tried warps bf16 2e-2 "${warps[@]}"
program=$here/turned.net
tried turned.tf32 tf32 4e-3
[ -z "$is_long" ] || tried turned.bf16 bf16 2e-2
program=$here/forms.net
# Far from 0: all that is rounded are results and, to the type, the weights before they are divided by their sum.
far f32 f32 2e-5 low=-1e9
[ -z "$is_long" ] || far bf16 bf16 2e-2 low=-1e9
[ -z "$is_long" ] || far least bf16 2e-2 low=-3.4e38
[ -z "$is_long" ] || far large bf16 2e-2 size=131072
far scaled bf16 2e-2 size=131072 depth=24
if [ -n "$is_long" ]; then
  far f64 f64 2e-5 low=-3.4e38
  for low in -1e9 -3.4e38; do far f16$low f16 4e-3 low=$low; done
  for size in 1024 131072; do far tf32.$size tf32 4e-3 size=$size depth=24; done
  far f32.large f32 2e-5 size=131072 depth=24
fi
written narrow bf16 depth=8
written uneven16 f16 depth=20
written wide32 tf32 depth=72
if [ -n "$is_long" ]; then
  for form in 0 1 2 3 4 5; do
    for type in bf16 f16 tf32; do tried "$type.$form" $type 2e-2 form=$form queries=75 keys=90 depth=64 values=64; done
    for type in bf16 f16; do near "$type.$form" form=$form queries=75 keys=90 depth=64 values=64; done
  done
  for depth in 16 40 72 96 128; do tried "bf16.deep$depth" bf16 2e-2 form=1 queries=150 keys=120 depth=$depth values=$((144 - depth)); done
  tried bf16.many bf16 2e-2 n=4 heads=34 queries=130 keys=150 depth=64 values=64 form=1
  tried tf32.many tf32 4e-3 n=4 heads=34 queries=130 keys=150 depth=64 values=64 form=1
  tried bf16.one bf16 2e-2 queries=1 keys=200 depth=64 values=64
  tried bf16.late bf16 2e-2 queries=20 keys=200 depth=64 values=64 form=1
fi

compiler=clang++
command -v clang++ >/dev/null || compiler=g++
mistakes="no_barrier diagonal_unmasked"
[ -z "$is_long" ] || mistakes=$(python3 "$here/../cuda/seed.py" --list attention)
for mistake in $mistakes; do seeded "$mistake"; done
if env -u NNC_NVRTC "$nnc" --target=cuda --no-cache "$here/forms.net" -o nvrtc > nvrtc.log 2>&1; then
  compiled bf16 64 sm_90a
  [ -z "$is_long" ] || for depth in 16 48 64 96 128; do compiled bf16 $depth sm_80,sm_90a,sm_120; done
  [ -z "$is_long" ] || for depth in 48 64; do compiled tf32 $depth sm_80,sm_90a,sm_120; done
else
  echo "NVRTC does not compile here: $(tail -n 1 nvrtc.log)"
fi

sizes=6
[ -z "$is_long" ] || sizes=7
check "sizes of tiles" test "$(grep -ho 'ROWS = [0-9]*, COLUMNS = [0-9]*' ./*.cu | sort -u | wc -l)" -ge $sizes

kernels() { sed -n '/^#ifdef NNC_KERNELS/,$p' "$1"; }
for after in recognize differentiate dce plan; do
  "$nnc" --target=cuda -D form=3 --dump-after=$after form3.net > "$after.dump" 2> /dev/null
  check "resumed after $after" "$nnc" --target=cuda --resume-after=$after --emit=cuda "$after.dump" -o "$after.cu"
  check "resumed after $after: the same" cmp <(kernels form3.cu) <(kernels "$after.cu")
done
check "a dump for CUDA, for the CPU" "$nnc" --resume-after=differentiate differentiate.dump --emit=c -o resumed.c
check_status "one that is too late" 1 "made for another target" "$nnc" --resume-after=dce dce.dump --emit=c -o resumed.c

export NNC_EMULATOR_RACES=1
raced() { # NAME OPTION...
  local name=races.$1; shift
  check "$name: for CUDA" "$nnc" $quick --no-cache --target=cuda --arch=sm_90a "$@" -o races
  check "$name: none" step ./races races.out
}
for form in 4 ${is_long:+1}; do raced $form -D form=$form -D queries=50 -D keys=50 "$here/forms.net"; done
raced warps $(printf -- '-D %s ' "${warps[@]}") warps.net
raced turned turned.tf32.net
summary
