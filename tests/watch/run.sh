#!/usr/bin/env bash
# What a run tells of its steps by itself: learning rates and norms of gradients, watch.py.
# Usage: tests/watch/run.sh BUILD
source "$(dirname "$0")/../lib/python.sh"
