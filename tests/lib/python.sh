# Sourced by the run.sh of a suite that is one script of Python, called as its folder: SCRIPT BUILD FOLDER, where
# FOLDER is empty and goes when the script ends.
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python3 "$here/$(basename "$here").py" "$build" "$work"
