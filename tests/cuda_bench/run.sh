#!/usr/bin/env bash
# The scripts for a machine with a GPU (bench/cuda), rehearsed with the emulator, at tiny sizes and without PyTorch: a
# bundle, a good run, a run that finds what is wrong, a run without a device.  Usage: tests/cuda_bench/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
source tests/lib/emulator.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
bundle() { bench/cuda/bundle.sh "$build" "$work/bundle" --emulator --tiny --no-compile-time "$@"; }
gpu() { bench/cuda/gpu.sh "$work/bundle" "$work/out" --jobs=2 --rounds=1 --round-seconds=0.02 --seconds=120 "$@"; }
# found NAME EXPRESSION: of the results `r`.
found() {
  check "$1" python3 -c "import json, sys; r = json.load(open(sys.argv[1])); assert $2, r" "$work/out/results.json"
}

# The tools of such a machine, which say nothing of their own; racecheck finds something.
mkdir "$work/tools"
cat >"$work/tools/compute-sanitizer" <<'END'
#!/usr/bin/env bash
[ "$2" = racecheck ] && { echo "a race" >&2; exit 9; }
exec "${@:5}"
END
cat >"$work/tools/nvidia-smi" <<'END'
#!/usr/bin/env bash
case $1 in *memory*) echo 4096 ;; *) echo "Rehearsal, 1.2" ;; esac
END
chmod +x "$work"/tools/*

check_status "a bundle" 0 'bundle.tar.xz: .* 7 programs, 0 not built' \
  bundle --only='mnist|model perceptron f32|contraction 16x16x16 (f32|bf16)|convolution 2x4.* f32|vectors rates'
check_status "a run" 0 'mnist: good: accuracy' gpu
found "vectors" "r['parts']['vectors']['state'] == 'good' and '1 of 1 groups agree' in r['parts']['vectors']['says']"
found "checks" "r['parts']['checks']['state'] in ('good', 'skipped')"
found "models" "[(m['name'], m['type'], m['ours']['median'] > 0) for m in r['models']] == [('perceptron', 'f32', True)]"
found "contractions" "len(r['contractions']) == 2 and all(c['ours'] > 0 for c in r['contractions'])"
found "profiles" "r['parts']['profiles']['says'] == '1 models, in profiles.json'"
found "targets" "{t['verdict'] for t in r['targets']} == {'not measured'}"
check "a page" grep -q 'perceptron, B=100, f32: times eager | 10.0 |  | not measured' "$work/out/results.md"
check_status "tools" 1 '4 of 6 runs are clean' \
  env PATH="$work/tools:$PATH" bench/cuda/gpu.sh "$work/bundle" "$work/out" --parts=sanitizer
found "the sanitizer" "len(r['parts']['sanitizer']['wrong']) == 2 and 'a race' in r['parts']['sanitizer']['wrong'][0]"
found "the device" "r['device'] == 'Rehearsal' and r['driver'] == '1.2'"
short() { bench/cuda/bundle.sh "$build" "$work/short" --emulator --tiny --no-compile-time --seconds=0.0001 "$@"; }
check_status "a bundle that had no time" 0 '0 programs, 1 not built' short --only='vectors rates'
# cut COMMAND...: ended by SIGTERM after its first line.
cut_short() {
  "$@" >"$work/cut.log" 2>&1 &
  until [ -s "$work/cut.log" ] || ! kill -0 $!; do sleep 0.1; done
  kill -TERM $!
  wait $!
  local status=$?
  cat "$work/cut.log"
  return $status
}
check_status "a bundle that is ended" 0 '[12] programs, [12] not built' cut_short \
  bench/cuda/bundle.sh "$build" "$work/cut" --emulator --tiny --jobs=1 --only='mnist|model perceptron f32'
check "what was made until then" python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).getmember("programs/mnist_mnist_cuda")' \
  "$work/cut/bundle.tar.xz"
check_status "a device that fails" 1 'contractions: FAILED' \
  env NNC_EMULATOR_FAIL=cuGraphLaunch:2:719 bench/cuda/gpu.sh "$work/bundle" "$work/failed" --parts=contractions
check_status "no device" 1 'computes on no device' \
  env NNC_LIBCUDA=/nowhere bench/cuda/gpu.sh "$work/bundle" "$work/none"
check_status "no such part" 2 'the parts are' gpu --parts=speed
check "judging and the plot" python3 tests/cuda_bench/verdicts.py
summary
