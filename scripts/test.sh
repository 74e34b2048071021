#!/usr/bin/env bash
# Runs every test, after installing what they need and building.
#
#   scripts/test.sh              all, side by side on all cores (a quarter of an hour to 40 minutes on two)
#   scripts/test.sh PATTERN      the tests whose name matches: unit, suite.runtime, ...
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_dependencies.sh
scripts/build.sh build -DNNC_TESTS=REQUIRED
# One more than there are cores, since a suite may wait: for the disk, for a run to be killed, for the last of its jobs.
exec ctest --test-dir build --parallel "$(($(nproc) + 1))" --output-on-failure --no-tests=error ${1:+-R "$1"}
