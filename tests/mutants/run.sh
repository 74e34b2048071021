#!/usr/bin/env bash
# Hostile use: mutated programs, damaged data files and checkpoints, injections.  Usage: tests/mutants/run.sh BUILD [FLAG...]
#
#   --programs N   mutants of the tree's programs (80); a quarter of those that nnc accepts are compiled to C, without warnings
#   --compiled P   which share of them (0.25): the expensive part
#   --files N      damaged files, each read by a command of an executable (60)
#   --no-injections
#   --seed S       other mutants (1)
#   --jobs N       side by side (one a core)
#   --kept DIR     where the files of findings go (default: mutants-findings in BUILD)
#
# The long run, about an hour on two cores:
#   bash tests/mutants/run.sh build --programs 19004 --compiled 0.5 --files 4959
#   bash tests/kill/run.sh build --rounds 20
set -uo pipefail
build=$(cd "$1" && pwd); shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
${CC:-cc} -O1 tests/mutants/make_jpeg.c -ljpeg -o "$work/make_jpeg" || exit 1
python3 tests/mutants/suite.py "$build" "$work" "$@"
