#!/usr/bin/env bash
# Installs the libraries that benchmarks compare with into a folder of their own: PyTorch (its processors' side
# is MKL and oneDNN) with torchvision, JAX, tinygrad, ONNX Runtime, NumPy, numexpr, and matplotlib for plots; the newest
# of each as pip finds them.
# Usage: bench/peers/install.sh [FOLDER]       default build/peers
# PyTorch's package for Linux brings the libraries for GPUs along, and does not start without them: 2.2 GB are
# fetched, 5.5 GB stay. pip is that of PYTHON (default python3), whose settings hold here too.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-build/peers}
mkdir -p "$(dirname "$folder")"
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --upgrade torch torchvision numpy numexpr matplotlib jax optax tinygrad \
  onnx onnxscript onnxruntime
"$folder/bin/python" - <<'END'
from importlib.metadata import version
print(", ".join(f"{name} {version(name)}" for name in
                ("torch", "torchvision", "jax", "tinygrad", "onnxruntime", "numpy", "numexpr", "matplotlib")))
END
du -sh "$folder"
