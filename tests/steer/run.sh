#!/usr/bin/env bash
# Runs that keep their best checkpoints and stop in time: steer.py. On CUDA's emulator: tests/cuda/checkpoints.sh.
# Usage: tests/steer/run.sh BUILD
source "$(dirname "$0")/../lib/python.sh"
