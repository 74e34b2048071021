#!/usr/bin/env bash
# eval --confusion, --per-class and --wrong against the same in plain Python: classes.py.
# Usage: tests/classes/run.sh BUILD
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python3 "$here/classes.py" "$build" "$work" "$here/expected.json"
