#!/usr/bin/env bash
# Compiles all that gpu.sh runs, on a machine without a GPU, into DIR/bundle.tar.xz (at most 60 MiB):
#
#   bench/cuda/bundle.sh BUILD DIR [--arch=sm_90a] [--jobs=N] [--only=PATTERN] [--seconds=N] [--f64]
#   bench/cuda/bundle.sh BUILD DIR --emulator --tiny        a rehearsal, for the emulator of the tests
#
# models at the sizes of the tables, small modules of contractions, convolutions and attention, the groups of
# tests/vectors with their inputs, the perceptron for processors, the generator of digits. The GPU's code is compiled
# by NVRTC, which `nnc` finds. It takes an hour or two on two cores; a second run takes what did not change from nnc's
# cache, and with --seconds what is begun later is left out: the order is that of importance.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/bundle.py" "$@"
