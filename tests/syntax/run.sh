#!/usr/bin/env bash
# Golden diagnostics of syntax mistakes.  Usage: tests/syntax/run.sh BUILD
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/golden.sh"
golden_folder "$(cd "$1" && pwd)/bin/nnc" "$here/errors"
golden_summary
