#!/usr/bin/env bash
# What bench/kernels.py does without other libraries: rows from the graphs of models, their flops, names and
# programs, the judgement and the plot.  Usage: tests/kernel_bench/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
bench() { bench/kernels.py --build "$build" "$@"; }

check "rows and judgement" python3 tests/kernel_bench/rows_and_bars.py "$build/bin/nnc"
check "all bars in one table" python3 tests/kernel_bench/all_bars.py
check_status "a list" 0 'contraction +100x1000x784 nn +f32 +156.8 MFLOP +mnist:1' bench --models mnist --list
check_status "a pattern" 0 '^contraction +1024x1024x1024 nt' bench --quick --only '^1024' --list
check_status "direct convolutions" 0 '^direct convolution dx +3x3' bench --models mnist_cnn --conv direct --list
check_status "no rows" 2 'no such rows' bench --models mnist --only 'nothing is called so' --list
check_status "no such model" 2 'no models/nonesuch.net' bench --models nonesuch --list
check_status "no peers" 2 'bench/peers/install.sh' bench --models iris --threads 1 --peers "$work/none"
summary
