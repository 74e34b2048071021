#!/usr/bin/env bash
# Products on tensor cores, through the emulator (tests/cuda_emulator): programs whose values are small integers, so that
# sums are exact in any order, give the bytes that the C target gives, in bf16, f16 and tf32, for every way in which the
# sides lie in memory, extents that fill no tile, all sizes of tiles, convolutions in their three directions, channels first and last, and what is
# computed along; copies are done as early and as late as they may be. tf32 rounds as it should. Seeded mistakes of the
# pipeline are caught. Where NVRTC is installed it compiles the same programs without spills.
# Usage: tests/cuda_tensor/run.sh BUILD [--long]     --long: every program in every type it is for, all mistakes
set -uo pipefail
build=$(cd "$1" && pwd) is_long=${2:-}
cd "$(dirname "$0")"
source ../lib/products.sh
compiled_for=sm_80,sm_90,sm_120
arch=sm_90 # without what sm_90a alone has (tests/cuda_wgmma)

rounds() {
  verdict rounds.compiles emulated "$nnc" $quick --target=cuda --arch=$arch "$here/programs/rounds.net" -o rounds.gpu
  verdict rounds.runs step ./rounds.gpu rounds.out
  verdict rounds.values python3 "$here/compare.py" tf32 rounds.out
  "$nnc" --target=cuda --emit=cuda "$here/programs/rounds.net" -o rounds.cu
  for after in mix plan; do
    "$nnc" --target=cuda --dump-after=$after "$here/programs/rounds.net" >rounds.$after
    "$nnc" --target=cuda --resume-after=$after --emit=cuda rounds.$after -o rounds.$after.cu
    verdict rounds.$after.resumed diff <(sed -n '/^#ifdef NNC_KERNELS/,$p' rounds.cu) <(sed -n '/^#ifdef NNC_KERNELS/,$p' rounds.$after.cu)
  done
}

# seeded MISTAKE PROGRAM: values are wrong, or the emulator ends the program.
differs() { ! { step "./$1.gpu" "$1.out" && python3 "$here/../cuda_tensor/compare.py" same "$2.out" "$1.out"; }; }
seeded() {
  local name=seeded.$1
  NNC_EMULATOR_FLAGS+=" -include $here/seeded/$1.h" verdict "$name.compiles" emulated "$nnc" $quick --no-cache \
    --target=cuda --arch=$arch -D train.precision=bf16 "$here/programs/$2.net" -o "$name.gpu"
  verdict "$name.caught" differs "$name" "$2"
}

start tried pipeline pipeline "nnc_mma_bf16(" # seeded mistakes are compared with these three
start tried tiles tiles "nnc_mma_bf16(" train.precision=bf16
start tried channels channels "nnc_mma_bf16(" train.precision=bf16
wait
for mistake in early_wait no_barrier ${is_long:+no_wait no_group plain_places}; do start seeded $mistake pipeline; done
start seeded no_padding channels
start tried products.bf16 products "nnc_mma_bf16(" train.precision=bf16
start tried odd.tf32 products "nnc_mma_tf32(" train.precision=tf32 m=67 n=45 k=133
start tried batches.f16 batches "nnc_mma_f16(" train.precision=f16
start tried epilogues.bf16 epilogues "nnc_mma_bf16(" train.precision=bf16
start tried convolutions.tf32 convolutions "nnc_mma_tf32(" train.precision=tf32
start rounds
start raced races.bf16 pipeline
if [ -n "$is_long" ]; then
  start seeded no_warp_barrier tiles
  start tried products.f16 products "nnc_mma_f16(" train.precision=f16 m=67 n=45 k=133
  start tried products.tf32 products "nnc_mma_tf32(" train.precision=tf32 m=40 n=132 k=68
  start tried batches.tf32 batches "nnc_mma_tf32(" train.precision=tf32
  start tried epilogues.tf32 epilogues "nnc_mma_tf32(" train.precision=tf32
  start tried convolutions.bf16 convolutions "nnc_mma_bf16(" train.precision=bf16
  start tried channels.tf32 channels "nnc_mma_tf32(" train.precision=tf32
  start tried tiles.tf32 tiles "nnc_mma_tf32(" train.precision=tf32
  start raced races.tf32 convolutions train.precision=tf32
fi
if has_nvrtc rounds; then
  start compiled products.bf16 products train.precision=bf16
  start compiled tiles.tf32 tiles train.precision=tf32
  if [ -n "$is_long" ]; then
    start compiled odd.tf32 products train.precision=tf32 m=67 n=45 k=133
    start compiled tiles.bf16 tiles train.precision=bf16
    start compiled channels.bf16 channels train.precision=bf16
    start compiled convolutions.bf16 convolutions train.precision=bf16
  fi
fi
finish
check "all sizes of tiles" test "$(grep -ho 'ROWS = [0-9]*, COLUMNS = [0-9]*' tiles*.cu products*.cu | sort -u | wc -l)" -eq 5
summary
