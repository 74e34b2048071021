#!/usr/bin/env bash
# Products by what sm_90a alone has (wgmma, TMA), through the emulator (tests/cuda_emulator): programs whose values are
# small integers give the bytes that the C target gives, in bf16, f16 and tf32, for every way in which the sides lie in
# memory, extents that fill no tile, batches, and what is computed along, with boxes and products done as early
# and as late as they may be; rounded factors give what they should. Seeded mistakes are caught; other devices get other
# code. Where NVRTC is installed it compiles the same programs without spills and without putting wgmma in sequence.
# Usage: tests/cuda_wgmma/run.sh BUILD [--long]    all types, and a depth at which larger tiles pay
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
source ../lib/products.sh
arch=sm_90a long=0
[ "${2:-}" = --long ] && long=1

# values TYPE: of factors that the type rounds.
values() {
  verdict "values.$1.compiles" emulated "$nnc" $quick --target=cuda --arch=$arch -D "train.precision=$1" "$here/programs/values.net" -o "values.$1.gpu"
  verdict "values.$1.runs" step "./values.$1.gpu" "values.$1.out"
  verdict "values.$1.values" python3 "$here/compare.py" "$1" "values.$1.out"
}

# A device that is no 9.0 takes the code that every device has.
others() {
  verdict others.text "$nnc" --target=cuda --emit=cuda --arch=sm_80,sm_90,sm_100 -D train.precision=tf32 "$here/programs/turned.net" -o others.cu
  verdict others.plain test "$(grep -c WGMMA others.cu)" -eq 0
  for device in 86 120; do NNC_EMULATOR_SM=$device verdict others.$device same turned $device; done
}

# Products of GPT-2 that take this form.
model() {
  verdict model.text "$nnc" --target=cuda --emit=cuda -D train.precision=bf16 "$here/../../models/gpt2.net" -o model.cu
  verdict model.forms test "$(grep -c 'nnc_wgmma_bf16<' model.cu)" -ge 10
}

# Mistakes of seeded.h, by which the emulator ends the program, or values are wrong.
differs() { ! { NNC_SEEDED=$1 step ./seeded.gpu "seeded.$1.out" && python3 "$here/../cuda_tensor/compare.py" same turned.out "seeded.$1.out"; }; }
seeds() {
  NNC_EMULATOR_FLAGS+=" -include $here/seeded.h" verdict seeded.compiles emulated "$nnc" $quick --no-cache --target=cuda --arch=$arch \
    -D train.precision=tf32 "$here/programs/turned.net" -o seeded.gpu
  verdict seeded.right step ./seeded.gpu seeded.right.out
  verdict seeded.same python3 "$here/../cuda_tensor/compare.py" same turned.out seeded.right.out
  for mistake in no_arrival no_space parity few_bytes many_bytes not_begun no_group no_fence early_wait eights swizzle registers; do
    verdict "seeded.$mistake" differs "$mistake"
  done
}

arch=sm_80,sm_90a tried turned turned "nnc_wgmma_tf32<false, false>" train.precision=tf32 >>results
start others
start model
start seeds
start tried forms forms "nnc_wgmma_bf16<true, true>" train.precision=bf16
start values tf32
if [ $long = 1 ]; then
  start tried forms.f16 forms "nnc_wgmma_f16<true, false>" train.precision=f16 m=760 n=744 k=72
  start tried forms.tf32 forms "nnc_wgmma_tf32<false, false>" train.precision=tf32
  start tried turned.bf16 turned "nnc_wgmma_bf16<false, false>" train.precision=bf16 k=520
  start tried deep deep "COLUMNS = 256" train.precision=bf16
  start values bf16
  start values f16
  start raced races.bf16 forms train.precision=bf16
fi
if [ $long = 1 ] && has_nvrtc turned; then
  start compiled forms.bf16 forms train.precision=bf16
  start compiled turned.f16 turned train.precision=f16 k=520
  start compiled deep deep train.precision=bf16
elif has_nvrtc turned; then
  compiled_for=sm_90a start compiled turned.tf32 turned train.precision=tf32
fi
finish
check "all ways of the sides" test "$(grep -ho 'nnc_wgmma_bf16<[a-z, ]*>' forms.cu | sort -u | wc -l)" -eq 4
summary
