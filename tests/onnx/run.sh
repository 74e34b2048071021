#!/usr/bin/env bash
# A case of each operator of ONNX's node suite, translated and committed (sample.net), through the interpreter and
# executables; all cases: tests/onnx/run_all.sh.  Usage: tests/onnx/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
output=$("$build/tests/vectors" "$build/bin/nnc" tests/onnx/sample.net tests/onnx/sample.safetensors "$work" 2>&1)
status=$?
printf '%s\n' "$output"
counts=$(sed -n 's/^[^ ]*: \([0-9]*\) compared, \([0-9]*\) differ$/\1 \2/p' <<<"$output")
if [ -z "$counts" ]; then fail "sample: exit status $status"
else passed=$((passed + ${counts% *} - ${counts#* })) failed=$((failed + ${counts#* })); fi

# What the sample does not show without Python's packages: that the scripts parse, and that no case that was right
# belongs to an operator that is no longer translated.
for file in tests/onnx/*.py; do
  check "$file parses" python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$file"
done
summary
