#!/usr/bin/env bash
# One training step here and in PyTorch, in turn, in one run: prints the median of each round and the ratio.
#
#   bench/compare_torch.sh [MODEL [ROUNDS]]      MODEL: mnist (default), mnist_cnn, lenet
#
# Needs build/bin/nnc and PyTorch for $PYTHON (default /usr/bin/python3; Debian: apt-get install python3-torch).
set -euo pipefail
cd "$(dirname "$0")/.."
model=${1:-mnist} rounds=${2:-5} threads=${THREADS:-2} python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
build/bin/nnc "models/$model.net" -o "$work/model"

field() { "$python" -c 'import json,sys; d=json.loads(sys.stdin.read().strip().splitlines()[-1]); print(d[sys.argv[1]], d["p10"])' step_ms; }
ratios=()
for round in $(seq "$rounds"); do
  read -r ours ours10 < <("$work/model" bench --steps 200 --threads "$threads" | field)
  read -r theirs theirs10 < <("$python" bench/torch_step.py "$model" --steps 200 --threads "$threads" | field)
  ratio=$("$python" -c "print(f'{$theirs / $ours:.2f}')")
  ratios+=("$ratio")
  printf 'round %d: nnc median %.3f ms (p10 %.3f), PyTorch median %.3f ms (p10 %.3f): %s times as fast\n' \
    "$round" "$ours" "$ours10" "$theirs" "$theirs10" "$ratio"
done
printf 'median ratio over %d rounds: %s\n' "$rounds" "$(printf '%s\n' "${ratios[@]}" | sort -n | sed -n "$(((rounds + 1) / 2))p")"
