#!/usr/bin/env bash
# The CUDA back end on the emulator of tests/cuda_emulator, without a GPU.
#
#   tests/cuda/run.sh BUILD [PART...]           some minutes; parts: see `parts`, each a file beside this one
#   tests/cuda/run.sh BUILD --long [PART...]    everything each part knows: hours on two cores
#
# $CUDA_TIMES: a file to which each job adds its processor time; $CUDA_DEFECTS: some of the defects; $CUDA_MODELS: a
# pattern of the models that the parts models and nvrtc take, such as 'gpt|mnist'; $CUDA_JOBS: how many jobs at a time.
# Prints what failed and "N passed, N failed".
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD [--long] [PART...]}" && pwd) || exit 2
shift
cd "$(dirname "$0")/../.."
parts=(graphs models steps vectors depth merge checkpoints resident orders defects commands library nvrtc)
is_long=
if [ "${1:-}" = --long ]; then is_long=1; shift; fi
[ $# -eq 0 ] || parts=("$@")
source tests/lib/check.sh
source tests/lib/emulator.sh
source tests/cuda/jobs.sh
for part in "${parts[@]}"; do
  source "tests/cuda/$part.sh"
  "part_$part"
done
finish_jobs
summary
