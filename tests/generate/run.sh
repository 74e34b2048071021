#!/usr/bin/env bash
# OUT generate against texts that generate.py draws by the documented rule from what OUT predict says.
# Usage: tests/generate/run.sh BUILD
source "$(dirname "$0")/../lib/python.sh"
