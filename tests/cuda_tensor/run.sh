#!/usr/bin/env bash
# Products on tensor cores, through the emulator (tests/cuda_emulator): programs whose values are small integers, so that
# sums are exact in any order, give the bytes that the C target gives, in bf16, f16 and tf32, for every way in which the
# sides lie in memory, extents that fill no tile, all sizes of tiles, convolutions in their three directions and what is
# computed along; copies are done as early and as late as they may be. tf32 rounds as it should. Seeded mistakes of the
# pipeline are caught. Where NVRTC is installed it compiles the same programs without spills.
# Usage: tests/cuda_tensor/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
source ../lib/check.sh
source ../lib/emulator.sh
here=$PWD nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
make_no_inputs

# Every line of a result is printed by a function below; they run as many at a time as there are processors.
verdict() { local name=$1; shift; if "$@" >"$name.log" 2>&1; then echo "ok $name"; else echo "FAIL $name: $(tail -c 600 "$name.log")"; fi; }
same() { [ -s "$1.out" ] && step "./$1.gpu" "$1.$2.out" && python3 "$here/compare.py" same "$1.out" "$1.$2.out"; }

# tried NAME PROGRAM MMA [DEFINE...]: the program, whose products all use this operation.
tried() {
  local name=$1 program=$here/programs/$2.net mma=$3 options=(); shift 3
  for define in "$@"; do options+=(-D "$define"); done
  "$nnc" "${options[@]}" "$program" -o "$name.cpu" && step "./$name.cpu" "$name.out" >/dev/null
  verdict "$name.text" "$nnc" --target=cuda --emit=cuda "${options[@]}" "$program" -o "$name.cu"
  verdict "$name.units" grep -q "nnc_mma_$mma(" "$name.cu"
  verdict "$name.compiles" emulated "$nnc" --target=cuda --arch=sm_90a "${options[@]}" "$program" -o "$name.gpu"
  NNC_EMULATOR_COPIES=wait verdict "$name.late" same "$name" late
  NNC_EMULATOR_COPIES=issue NNC_EMULATOR_ORDER=shuffled verdict "$name.early" same "$name" early
  NNC_EMULATOR_COPIES=wait NNC_EMULATOR_ORDER=reverse verdict "$name.reverse" same "$name" reverse
}

# raced NAME PROGRAM [DEFINE...]: no two accesses that no barrier orders.
raced() {
  local name=$1 program=$here/programs/$2.net options=(); shift 2
  for define in "$@"; do options+=(-D "$define"); done
  NNC_EMULATOR_RACES=1 verdict "$name.compiles" emulated "$nnc" --target=cuda --arch=sm_90a "${options[@]}" "$program" -o "$name.gpu"
  verdict "$name.runs" step "./$name.gpu" "$name.out"
}

rounds() {
  verdict rounds.compiles emulated "$nnc" --target=cuda --arch=sm_90a "$here/programs/rounds.net" -o rounds.gpu
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
differs() { ! { step "./$1.gpu" "$1.out" && python3 "$here/compare.py" same "$2.out" "$1.out"; }; }
seeded() {
  local name=seeded.$1
  NNC_EMULATOR_FLAGS="-include $here/seeded/$1.h" verdict "$name.compiles" emulated "$nnc" --no-cache \
    --target=cuda --arch=sm_90a -D train.precision=bf16 "$here/programs/$2.net" -o "$name.gpu"
  verdict "$name.caught" differs "$name" "$2"
}

# compiled NAME PROGRAM [DEFINE...]: by NVRTC itself.
compiled() {
  local name=nvrtc.$1 program=$here/programs/$2.net options=(); shift 2
  for define in "$@"; do options+=(-D "$define"); done
  env -u NNC_NVRTC "$nnc" --no-cache --verbose --jobs=1 --target=cuda --arch=sm_80,sm_90a,sm_120 "${options[@]}" "$program" \
    -o "$name.gpu" >"$name.ptxas" 2>&1 || { echo "FAIL $name: $(tail -c 600 "$name.ptxas")"; return; }
  verdict "$name.spills" test "$(grep -c 'spill stores' "$name.ptxas")" -gt 3 -a "$(grep -c ' [1-9][0-9]* bytes spill' "$name.ptxas")" -eq 0
}

jobs=$(nproc)
start() { while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done; "$@" >>results & }

start tried pipeline pipeline bf16 # seeded mistakes are compared with these two
start tried tiles tiles bf16 train.precision=bf16
wait
for mistake in early_wait no_wait no_group no_barrier plain_places; do start seeded $mistake pipeline; done
start seeded no_warp_barrier tiles
start tried products.bf16 products bf16 train.precision=bf16
start tried products.f16 products f16 train.precision=f16 m=67 n=45 k=133
start tried products.tf32 products tf32 train.precision=tf32 m=40 n=132 k=68
start tried odd.tf32 products tf32 train.precision=tf32 m=67 n=45 k=133
start tried batches.f16 batches f16 train.precision=f16
start tried batches.tf32 batches tf32 train.precision=tf32
start tried epilogues.bf16 epilogues bf16 train.precision=bf16
start tried epilogues.tf32 epilogues tf32 train.precision=tf32
start tried convolutions.bf16 convolutions bf16 train.precision=bf16
start tried convolutions.tf32 convolutions tf32 train.precision=tf32
start tried tiles.tf32 tiles tf32 train.precision=tf32
start rounds
start raced races.bf16 pipeline
start raced races.tf32 convolutions train.precision=tf32
if "$nnc" --target=cuda --no-cache "$here/programs/rounds.net" -o nvrtc >nvrtc.log 2>&1; then
  start compiled products.bf16 products train.precision=bf16
  start compiled odd.tf32 products train.precision=tf32 m=67 n=45 k=133
  start compiled tiles.bf16 tiles train.precision=bf16
  start compiled tiles.tf32 tiles train.precision=tf32
  start compiled convolutions.bf16 convolutions train.precision=bf16
else
  echo "NVRTC does not compile here: $(tail -n 1 nvrtc.log)"
fi
wait
grep -v '^ok ' results
passed=$(grep -c '^ok ' results) failed=$(grep -c '^FAIL ' results)
check "all sizes of tiles" test "$(grep -ho 'ROWS = [0-9]*, COLUMNS = [0-9]*' tiles*.cu products*.cu | sort -u | wc -l)" -eq 5
summary
