#!/usr/bin/env bash
# Everything that is compared with other libraries, in one command: installs the peers, then measures single
# kernels and whole training steps beside them; tables, JSON and plots go to a folder.
#
#   bench/peers.sh [FOLDER]         default build/bench; needs a build (BUILD, default build)
#
# PEERS: where the peers are or will be (default build/peers, 5.5 GB). QUICK=1: representative kernels alone, some
# minutes, and one short round of each step. Nothing else should run meanwhile. Status: 0 all bars met, 1 some missed.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/bench} build=${BUILD:-build} peers=${PEERS:-build/peers} status=0
mkdir -p "$folder"
[ -x "$peers/bin/python" ] || bench/peers/install.sh "$peers"
quick=() rounds=()
if [ -n "${QUICK:-}" ]; then quick=(--quick) rounds=(--rounds 1 --seconds 0.5); fi

measure() { # NAME COMMAND...: the table on standard output and in a file
  local name=$1 found=0; shift
  echo "== $name"
  "$@" --build "$build" --peers "$peers" --json "$folder/$name.json" --plot "$folder/$name" | tee "$folder/$name.txt" || found=$?
  if [ "$found" -gt 1 ]; then exit "$found"; fi
  if [ "$found" -eq 1 ]; then status=1; fi
}

measure kernels bench/kernels.py "${quick[@]}"
measure steps bench/steps.py "${rounds[@]}" --folder "$folder/steps"
measure steps-bf16 bench/steps.py "${rounds[@]}" --precision bf16 --folder "$folder/steps"
exit $status
