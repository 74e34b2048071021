#!/usr/bin/env bash
# The stand-ins for NVRTC and the CUDA driver: right kernels give right values in every order of threads and however
# late the device works. With them nnc and its programs run unmodified, without a GPU or a toolkit:
#
#   NNC_NVRTC=build/tests/cuda_emulator/libnvrtc.so.13 nnc --target=cuda model.net -o model
#   NNC_LIBCUDA=build/tests/cuda_emulator/libcuda.so.1 ./model
#
# What else they are told by the environment is said at the head of nvrtc.c and driver_device.c.
# Usage: tests/cuda_emulator/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
if ! command -v clang++ >/dev/null && ! command -v g++ >/dev/null && [ -z "${NNC_EMULATOR_CXX:-}" ]; then
  echo "skipped: the emulator needs a C++ compiler (clang++ or g++)"
  echo "0 passed, 0 failed"
  exit 0
fi
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
emulator=$build/tests/cuda_emulator
export NNC_NVRTC=$emulator/libnvrtc.so.13 NNC_LIBCUDA=$emulator/libcuda.so.1
kernels=tests/cuda_emulator/kernels

for order in forward reverse shuffled; do
  for async in issue late others; do
    check "right kernels, $order, $async" env NNC_EMULATOR_ORDER=$order NNC_EMULATOR_ASYNC=$async \
      "$emulator/check" $kernels/right.cu all
  done
done
summary
