#!/usr/bin/env bash
# Every function of `nnc doc` with arguments of every wrong kind: sweep.py.  Usage: tests/arguments/run.sh BUILD [NAME ...]
set -uo pipefail
nnc=$(cd "$1" && pwd)/bin/nnc; shift
cd "$(dirname "$0")"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 sweep.py "$nnc" ../docs/examples.net "$work" "$@"
