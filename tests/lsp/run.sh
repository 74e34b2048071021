#!/usr/bin/env bash
# The language server, asked by a client: what it answers about every program of models/ and about every golden mistake; names, completion,
# edits; and what no client should send.  Usage: tests/lsp/run.sh BUILD [--long]
#
#   --long    5,000 changes
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
exec env XDG_CACHE_HOME="$work" python3 tests/lsp/check.py "$build/bin/nnc" "$work" "${2:-}"
