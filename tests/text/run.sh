#!/usr/bin/env bash
# Vocabularies of other programs: expected ids, files that are refused, and a program that trains, predicts and
# writes with one.
#
#   tests/text/run.sh BUILD            tests/text/long.py searches for longer, against tokenizers and tiktoken
source "$(dirname "$0")/../lib/python.sh"
