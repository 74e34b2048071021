#!/usr/bin/env bash
# OUT generate against texts that generate.py draws by the documented rule from what OUT predict says.
# Usage: tests/generate/run.sh BUILD
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python3 "$here/generate.py" "$build" "$work"
