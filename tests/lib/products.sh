# Products on tensor cores through the emulator, for tests/cuda_tensor and tests/cuda_wgmma. Sourced in the suite's folder, with
# `build` set; the suite sets `arch`, what code is made for (by NVRTC itself
# `compiled_for`, if set), and runs `start ...`, then `finish`.
source ../lib/check.sh
source ../lib/emulator.sh
export "${quick_kernels?}"
here=$PWD nnc=$build/bin/nnc jobs=$(nproc)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
make_no_inputs

# Every line of a result is printed by a function below; they run as many at a time as there are processors.
verdict() { local name=$1; shift; if "$@" >"$name.log" 2>&1; then echo "ok $name"; else echo "FAIL $name: $(tail -c 600 "$name.log")"; fi; }
same() { [ -s "$1.out" ] && step "./$1.gpu" "$1.$2.out" && python3 "$here/../cuda_tensor/compare.py" same "$1.out" "$1.$2.out"; }

# tried NAME PROGRAM FUNCTION [DEFINE...]: the program, some of whose products use this function, gives the C target's bytes.
tried() {
  local name=$1 program=$here/programs/$2.net function=$3 options=(); shift 3
  for define in "$@"; do options+=(-D "$define"); done
  "$nnc" $quick "${options[@]}" "$program" -o "$name.cpu" && step "./$name.cpu" "$name.out" >/dev/null
  verdict "$name.text" "$nnc" --target=cuda --emit=cuda "${options[@]}" "$program" -o "$name.cu"
  verdict "$name.units" grep -q "$function" "$name.cu"
  verdict "$name.compiles" emulated "$nnc" $quick --target=cuda --arch=$arch "${options[@]}" "$program" -o "$name.gpu"
  NNC_EMULATOR_COPIES=wait verdict "$name.late" same "$name" late
  NNC_EMULATOR_COPIES=issue NNC_EMULATOR_ORDER=shuffled verdict "$name.early" same "$name" early
  NNC_EMULATOR_COPIES=wait NNC_EMULATOR_ORDER=reverse verdict "$name.reverse" same "$name" reverse
}

# raced NAME PROGRAM [DEFINE...]: no two accesses that no barrier orders.
raced() {
  local name=$1 program=$here/programs/$2.net options=(); shift 2
  for define in "$@"; do options+=(-D "$define"); done
  NNC_EMULATOR_RACES=1 verdict "$name.compiles" emulated "$nnc" $quick --target=cuda --arch=$arch "${options[@]}" "$program" -o "$name.gpu"
  verdict "$name.runs" step "./$name.gpu" "$name.out"
}

# compiled NAME PROGRAM [DEFINE...]: by NVRTC itself, which nnc refuses to use where it serializes wgmma.
compiled() {
  local name=nvrtc.$1 program=$here/programs/$2.net options=(); shift 2
  for define in "$@"; do options+=(-D "$define"); done
  env -u NNC_NVRTC "$nnc" --no-cache --verbose --jobs=1 --target=cuda --arch="${compiled_for:-$arch}" "${options[@]}" "$program" \
    -o "$name.gpu" >"$name.ptxas" 2>&1 || { echo "FAIL $name: $(tail -c 600 "$name.ptxas")"; return; }
  verdict "$name.spills" test "$(grep -c 'spill stores' "$name.ptxas")" -gt 3 -a "$(grep -c ' [1-9][0-9]* bytes spill' "$name.ptxas")" -eq 0
}
has_nvrtc() { # PROGRAM
  "$nnc" --target=cuda --no-cache "$here/programs/$1.net" -o nvrtc >nvrtc.log 2>&1 && return
  echo "NVRTC does not compile here: $(tail -n 1 nvrtc.log)"
  return 1
}

start() { while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done; "$@" >>results & }
finish() {
  wait
  grep -v '^ok ' results
  passed=$(grep -c '^ok ' results) failed=$(grep -c '^FAIL ' results)
}
