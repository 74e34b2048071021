#!/usr/bin/env bash
# eval --confusion, --per-class and --wrong against the same in plain Python: classes.py. Metrics over whole sets: sets.py.
# Usage: tests/classes/run.sh BUILD
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/sets" || exit 2
python3 "$here/sets.py" "$build" "$work/sets"; sets=$?
python3 "$here/classes.py" "$build" "$work" "$here/expected.json" && exit $sets
