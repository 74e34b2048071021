#!/usr/bin/env bash
# Configures and builds nnc into build/ (or the folder given), with every processor.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
shift || true
log=$(mktemp); trap 'rm -f "$log"' EXIT
cmake -S . -B "$build" "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

# Warnings and errors are shown; the list of files only as a moving line on a terminal.
terminal=0; [ -t 1 ] && terminal=1
cmake --build "$build" --parallel "$(nproc)" -- --no-print-directory 2>&1 |
  awk -v terminal=$terminal '
    /^\[ *[0-9]+%\] / { if (terminal) printf "\r%s\033[K", substr($0, 1, 78); shown = terminal; fflush(); next }
    /^(Consolidate|Scanning) / { next }
    { if (shown) print ""; shown = 0; print }
    END { if (shown) print "" }'
