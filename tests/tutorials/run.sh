#!/usr/bin/env bash
# What the tutorials and recipes of docs/ tell their readers to do works: pages.py.  Usage: tests/tutorials/run.sh BUILD [--long] [PAGE...]
#
# Programs are compiled with less optimization than the pages' commands ask for (--long: as they ask), since compilers take most of the time.
# Pages with data that the project does not draw are run where ../shared/data has them.
set -uo pipefail
build=$(cd "$1" && pwd); shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -B tests/tutorials/pages.py "$build" "$work" "$@"
