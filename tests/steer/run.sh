#!/usr/bin/env bash
# Runs that keep their best checkpoints and stop in time: steer.py. On CUDA's emulator: tests/cuda/checkpoints.sh.
# Usage: tests/steer/run.sh BUILD
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python3 "$here/steer.py" "$build/bin/nnc" "$work"
