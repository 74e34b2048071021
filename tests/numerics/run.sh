#!/usr/bin/env bash
# What a run says of a loss that is not finite, and train --check-numerics: numerics.py. Usage: tests/numerics/run.sh BUILD
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python3 "$here/numerics.py" "$build" "$work"
