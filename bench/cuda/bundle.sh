#!/usr/bin/env bash
# Compiles all that gpu.sh runs, on a machine without a GPU, into DIR/bundle.tar.xz (at most 60 MiB):
#
#   bench/cuda/bundle.sh BUILD DIR [--arch=sm_90a] [--jobs=N] [--only=PATTERN] [--seconds=N] [--f64]
#   bench/cuda/bundle.sh BUILD DIR --emulator --tiny        a rehearsal, for the emulator of the tests
#
# models at the sizes of the tables, small modules of contractions, convolutions and attention, the groups of
# tests/vectors with their inputs, the perceptron for processors, the generator of digits. The GPU's code is compiled
# by NVRTC, which `nnc` finds. It takes a quarter of an hour of processor time, half of that on two cores that
# do nothing else; a second run takes what did not change from nnc's cache. The order is that of importance: with
# --seconds what is begun later is left out, and a signal (Ctrl-C, SIGTERM) ends the compiling; what there is by then
# becomes the bundle. --only takes what matches, such as 'mnist|model (gpt2|resnet50)|contraction .* bf16'.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/bundle.py" "$@"
