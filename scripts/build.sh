#!/usr/bin/env bash
# Configures and builds nnc into build/ (or the folder given), with every processor.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
shift || true
cmake -S . -B "$build" "$@" >"${TMPDIR:-/tmp}/nnc-configure.$$" || { cat "${TMPDIR:-/tmp}/nnc-configure.$$" >&2; exit 1; }
rm -f "${TMPDIR:-/tmp}/nnc-configure.$$"
cmake --build "$build" --parallel "$(nproc)" -- --no-print-directory -s
