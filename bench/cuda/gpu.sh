#!/usr/bin/env bash
# One call on a machine with a GPU: checks every kernel, trains, times ours beside PyTorch, in less than ten minutes.
#
#   bench/cuda/gpu.sh DIR OUT [--seconds=560] [--parts=vectors,checks,mnist,sanitizer,models,contractions,profiles]
#
# DIR is what bundle.sh wrote; the machine needs a driver and Python 3.9, for float64 products NumPy, for the other side
# of the timings PyTorch. OUT gets results.md, results.json (both as they come), speed.png or speed.svg, profiles.json,
# and peers.log, what PyTorch had to say. A part that lacks something is skipped, with the reason, and one that fails
# stops no other.
# Status: 0 all parts are good or skipped, 1 one failed or there is no device, 2 wrong usage.
set -euo pipefail
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/gpu.py" "$@"
