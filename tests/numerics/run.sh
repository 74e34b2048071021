#!/usr/bin/env bash
# What a run says of a loss that is not finite, and train --check-numerics: numerics.py. Usage: tests/numerics/run.sh BUILD
source "$(dirname "$0")/../lib/python.sh"
