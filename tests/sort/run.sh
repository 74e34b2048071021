#!/usr/bin/env bash
# Orders in executables against Python's sort: rows of 1 to 10,000 elements of every type, with ties, NaNs, both
# zeros and infinities, along both axes, with one thread and three; sorted values, the greatest.
# Usage: tests/sort/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

for type in f32 f64 i32 i64 u8; do
  for count in 1 48 49 10000; do
    sed "s/COUNT/$count/g; s/TYPE/$type/" tests/sort/order.net > "$work/order.net"
    check "compile $type $count" "$build/bin/nnc" "$work/order.net" -o "$work/order"
    check "$type $count" python3 tests/sort/check.py "$work/order" $type $count "$work"
  done
done

# CUDA's kernels: short rows are ordered by counting, longer ones sorted by a block.
emulator=$build/tests/cuda_emulator
if [ -e "$emulator/libnvrtc.so.13" ]; then
  export NNC_NVRTC=$emulator/libnvrtc.so.13 NNC_LIBCUDA=$emulator/libcuda.so.1
  for type in f32 f64 i32 u8; do
    for count in 63 300; do
      sed "s/COUNT/$count/g; s/TYPE/$type/" tests/sort/order.net > "$work/order.net"
      check "compile $type $count for CUDA" "$build/bin/nnc" --target=cuda --arch=compute_90 "$work/order.net" -o "$work/order"
      check "$type $count by CUDA" python3 tests/sort/check.py "$work/order" $type $count "$work"
    done
  done
else
  echo "skipped: kernels of CUDA, without the emulator's C++ compiler"
fi
summary
