#!/usr/bin/env bash
# Attention on CUDA, through the emulator (tests/cuda_emulator): values and gradients are those of the C target, which
# writes attention out, for every form of mask, extents that fill no tile, all sizes of tiles, f32, f64, bf16 and f16,
# in every order of threads the same bytes; no two accesses are unordered.  Usage: tests/cuda_attention/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
source ../lib/check.sh
source ../lib/emulator.sh
here=$PWD nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
make_no_inputs
export NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13

# tried NAME TYPE TOLERANCE DEFINE...
tried() {
  local name=$1 type=$2 tolerance=$3 options=(); shift 3
  for define in "$@"; do options+=(-D "$define"); done
  sed "s/precision = f32/precision = $type/" "$here/forms.net" > "$name.net"
  check "$name: for the CPU" "$nnc" "${options[@]}" "$name.net" -o "$name.cpu"
  check "$name: for CUDA" "$nnc" --target=cuda --arch=sm_90a "${options[@]}" "$name.net" -o "$name.gpu"
  "$nnc" --target=cuda --emit=cuda "${options[@]}" "$name.net" -o "$name.cu" 2> /dev/null
  case $type in # products of 16 bits have the tensor cores, which the operator's kernels have not
    bf16|f16) check "$name: is written out" test "$(grep -c value_sums "$name.cu")" = 0 ;;
    *) check "$name: is the operator" grep -q value_sums "$name.cu" ;;
  esac
  check "$name: a step" step "./$name.cpu" "$name.out"
  check "$name: a step on CUDA" step "./$name.gpu" "$name.given"
  check "$name: values" python3 "$here/compare.py" "$tolerance" "$name.out" "$name.given"
  check "$name: another order" env NNC_EMULATOR_ORDER=shuffled "./$name.gpu" step --inputs none.safetensors --steps 1 --quiet "$name.other"
  check "$name: the same bytes" cmp "$name.given" "$name.other"
}

for form in 0 1 2 3 4 5; do tried "form$form" f32 2e-5 form=$form; done
tried odd f32 2e-5 queries=37 keys=23 depth=5 values=7 form=1
tried few f32 2e-5 queries=1 keys=70 depth=3 values=1
tried two f32 2e-5 queries=70 keys=2 depth=1 values=3 form=3
tried deep f32 2e-5 queries=33 keys=40 depth=256 values=256 form=1
tried wide f32 2e-5 queries=66 keys=40 depth=64 values=128 form=1
tried many f32 2e-5 n=4 heads=11 queries=195 keys=195 depth=64 values=64 form=1
tried uneven f32 2e-5 n=4 heads=17 queries=100 keys=130 depth=128 values=96
tried double f64 1e-11 queries=40 keys=33 depth=128 values=64 form=1
tried bf16 bf16 4e-2 queries=40 keys=33 depth=32 values=48 form=1
tried f16 f16 1e-2 queries=40 keys=33 depth=32 values=32 form=3

check "all sizes of tiles" test "$(grep -ho 'ROWS = [0-9]*, COLUMNS = [0-9]*' ./*.cu | sort -u | wc -l)" -ge 7

kernels() { sed -n '/^#ifdef NNC_KERNELS/,$p' "$1"; }
for after in recognize differentiate dce plan; do
  "$nnc" --target=cuda -D form=3 --dump-after=$after form3.net > "$after.dump" 2> /dev/null
  check "resumed after $after" "$nnc" --target=cuda --resume-after=$after --emit=cuda "$after.dump" -o "$after.cu"
  check "resumed after $after: the same" cmp <(kernels form3.cu) <(kernels "$after.cu")
done
check "a dump for CUDA, for the CPU" "$nnc" --resume-after=differentiate differentiate.dump --emit=c -o resumed.c
check_status "one that is too late" 1 "made for another target" "$nnc" --resume-after=dce dce.dump --emit=c -o resumed.c

export NNC_EMULATOR_RACES=1
for form in 1 4; do
  check "races $form: for CUDA" "$nnc" --no-cache --target=cuda --arch=sm_90a -D form=$form -D queries=50 -D keys=50 "$here/forms.net" -o races
  check "races $form: none" step ./races races.out
done
summary
