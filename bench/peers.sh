#!/usr/bin/env bash
# Everything that is compared with other libraries, in one command: installs the peers, then measures single kernels,
# training steps in f32, bf16 and bf16x3, predictions, memory and compile times; tables, JSON and plots go to a folder,
# and all bars stand in one table at the end (summary.py).
#
#   bench/peers.sh [FOLDER]         default build/bench; needs a build (BUILD, default build)
#
# PEERS: where the peers are or will be (default build/peers, 6 GB). QUICK=1: representative kernels alone, one short
# round of each step and prediction, memory beside PyTorch's eager way; some 25 minutes, else hours. Nothing else should
# run meanwhile. Status: 0 all bars met, 1 some missed.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/bench} build=${BUILD:-build} peers=${PEERS:-build/peers}
mkdir -p "$folder/steps" "$folder/predict"
[ -x "$peers/bin/python" ] || bench/peers/install.sh "$peers"
quick=() rounds=() ways=()
if [ -n "${QUICK:-}" ]; then quick=(--quick) rounds=(--rounds 1 --seconds 0.5) ways=(--ways eager); fi

measure() { # NAME COMMAND...: the table on standard output and in a file
  local name=$1 found=0; shift
  echo "== $name"
  "$@" --build "$build" --json "$folder/$name.json" | tee "$folder/$name.txt" || found=$?
  if [ "$found" -gt 1 ]; then exit "$found"; fi
}

measure kernels bench/kernels.py "${quick[@]}" --peers "$peers" --plot "$folder/kernels"
measure kernels-direct bench/kernels.py "${quick[@]}" --conv direct --peers "$peers" --plot "$folder/kernels-direct"
for precision in f32 bf16 bf16x3; do
  name=steps${precision#f32}
  name=${name/stepsb/steps-b}
  measure "$name" bench/steps.py "${rounds[@]}" --precision "$precision" --folder "$folder/steps" --peers "$peers" \
    --plot "$folder/$name"
done
measure predict bench/predict.py "${rounds[@]}" --folder "$folder/predict" --peers "$peers"
measure memory bench/memory.py "${ways[@]}" --folder "$folder/steps" --peers "$peers"
measure compile bench/compile.py
echo "== all bars"
found=0
bench/summary.py "$folder" | tee "$folder/summary.txt" || found=$?
exit "$found"
