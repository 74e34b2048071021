#!/usr/bin/env bash
# Runs every test, after installing what they need and building.
#
#   scripts/test.sh              all, side by side on all cores (some half an hour on two)
#   scripts/test.sh PATTERN      the tests whose name matches: unit, suite.runtime, ...
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_dependencies.sh
scripts/build.sh build -DNNC_TESTS=REQUIRED
exec ctest --test-dir build --parallel "$(nproc)" --output-on-failure --no-tests=error ${1:+-R "$1"}
