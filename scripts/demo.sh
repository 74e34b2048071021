#!/usr/bin/env bash
# The main job, end to end: builds nnc, compiles models/mnist.net, trains it, evaluates it and predicts.
#
#   scripts/demo.sh                  on digits that the project generates (no download)
#   scripts/demo.sh --data DIR       on MNIST's files in DIR (tools/fetch_mnist.sh fetches them)
#   scripts/demo.sh --epochs N       more or fewer than 5
set -euo pipefail
cd "$(dirname "$0")/.."

data="" epochs=5
while [ $# -gt 0 ]; do
  case $1 in
    --data) data=${2:?"--data needs a directory"}; shift 2 ;;
    --epochs) epochs=${2:?"--epochs needs a number"}; shift 2 ;;
    *) echo "usage: scripts/demo.sh [--data DIR] [--epochs N]" >&2; exit 2 ;;
  esac
done

say() { printf '\n== %s\n' "$*" >&2; }

scripts/install_dependencies.sh --build-only
say "building nnc"
scripts/build.sh build -DNNC_TESTS=OFF
if [ -z "$data" ]; then
  data=data/digits
  [ -f $data/t10k-labels-idx1-ubyte ] || { say "drawing 70,000 digits into $data"; mkdir -p data; build/bin/nnc-digits $data; }
fi
say "nnc models/mnist.net -o build/mnist"
build/bin/nnc models/mnist.net -o build/mnist
say "build/mnist train --data $data --epochs $epochs --out build/mnist.run"
build/mnist train --data "$data" --epochs "$epochs" --out build/mnist.run
say "build/mnist eval --data $data --out build/mnist.run"
build/mnist eval --data "$data" --out build/mnist.run
say "build/mnist predict --data $data --out build/mnist.run > build/predictions.jsonl   (the first five)"
build/mnist predict --data "$data" --out build/mnist.run > build/predictions.jsonl
head -n 5 build/predictions.jsonl
