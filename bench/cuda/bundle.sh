#!/usr/bin/env bash
# Compiles all that gpu.sh runs, on a machine without a GPU, into DIR/bundle.tar.xz (at most 60 MiB):
#
#   bench/cuda/bundle.sh BUILD DIR [--arch=sm_90a] [--jobs=N] [--only=PATTERN] [--f64]
#   bench/cuda/bundle.sh BUILD DIR --emulator --tiny        a rehearsal, for the emulator of the tests
#
# models at the sizes of the tables, small modules of contractions, convolutions and attention, the groups of
# tests/vectors with their inputs, the perceptron for processors, the generator of digits. The GPU's code is compiled
# by NVRTC, which `nnc` finds. A second run takes what did not change from nnc's cache.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/bundle.py" "$@"
