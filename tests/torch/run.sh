#!/usr/bin/env bash
# The comparison with PyTorch: variants of sources always; where PyTorch is installed, a small model and one
# with batch norms, whose statistics both sides must begin with, and that a changed weight is found.  Usage: tests/torch/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
python=${PYTHON:-python3}
[ -x /usr/bin/python3 ] && ! "$python" -c 'import torch' 2>/dev/null && python=/usr/bin/python3
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# ---- the variant of every model that keeps gradients is a program without the model's optimizer ----
for file in models/*.net; do
  PYTHONPATH=tests/torch "$python" -c '
import sys
from variant import keep_gradients
sys.stdout.write(keep_gradients(open(sys.argv[1]).read()))' "$file" > "$work/$(basename "$file")"
  check "keeps gradients: $file" "$build/bin/nnc" check "$work/$(basename "$file")"
  check_status "one optimizer is left: $file" 0 '^1$' sh -c "grep -c 'optimizer *= *' '$work/$(basename "$file")'"
done

if "$python" -c 'import numpy, torch' 2>/dev/null; then
  check "mnist_cnn agrees" "$python" tests/torch/compare.py mnist_cnn --build "$build"
  check "dcgan agrees" "$python" tests/torch/compare.py dcgan --float f64 --build "$build"
  # Pictures with a background, and biases of 0: what sees these alone must be 0 in filtered convolutions, too.
  "$build/bin/nnc-digits" "$work/digits" --train 2000 --test 1 >"$work/digits.log"
  check "fashion agrees on digits" "$python" tests/torch/compare.py fashion --float f32 --pictures "$work/digits" --build "$build"
  check "a changed weight is found" "$python" tests/torch/compare.py mnist_cnn --float f64 --spoil --build "$build"
else echo "skipped: PyTorch is not there"; fi
summary
