#!/usr/bin/env bash
# ONNX's node suite, single operators, through the interpreter and executables.
# Usage: tests/onnx/run_all.sh BUILD [--only OPERATOR,...] [--case NAME] [--show] [--markdown] [--accept]
#
# Needs python3 with venv and the network once: the package `onnx` goes to BUILD/onnx/venv. Fails when a case of
# right.txt is no longer right; --accept adds those that became right, --markdown writes the table in docs/agreement.md.
set -euo pipefail
build=$(cd "$1" && pwd); shift
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/onnx/venv
mkdir -p "$build/onnx"
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed"
fi
exec "$venv/bin/python" "$here/suite.py" "$build" "$@"
