#!/usr/bin/env bash
# Runs the tests under sanitizers: compiler, runtime, unit tests and the generated executables.
#
#   scripts/test_sanitizers.sh [address|thread] [JOBS]    both, unless one is named
#
# address  (with undefined) in build-asan: the unit tests, the golden mistakes, the damaged data files, random
#          graphs, kills and full disks, and generated executables that train, evaluate, predict and export
# thread   in build-tsan: the unit tests of threads, random graphs, generated executables that train with several threads
#
# nnc --cflags gives the sanitizer to the generated C. A leak counts in the runtime and in what is generated;
# the compiler frees nothing that lives as long as its run. Prints "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
source tests/lib/check.sh

kinds=() jobs=$(nproc)
for word in "$@"; do
  case $word in
    address|thread) kinds+=("$word") ;;
    [1-9]*) jobs=$word ;;
    *) echo "usage: scripts/test_sanitizers.sh [address|thread] [JOBS]" >&2; exit 2 ;;
  esac
done
[ ${#kinds[@]} -gt 0 ] || kinds=(address thread)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
compiler=${CC:-clang}
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# suite NAME COMMAND...: what it prints is shown when it fails.
suite() {
  local name=$1; shift
  printf '%s: ' "$name"
  if timeout 3000 "$@" >"$work/log" 2>&1 </dev/null; then
    ok
    tail -n 1 "$work/log" | grep -iE 'passed' || echo ok
  else
    fail "$name"
    tail -n 60 "$work/log"
  fi
}

build() { # FOLDER SANITIZERS
  CC=$compiler scripts/build.sh "$1" -DNNC_SANITIZE="$2" -DNNC_TESTS=REQUIRED -DNNC_ASSERTS=ON \
    -DCMAKE_C_FLAGS=-fno-sanitize-recover=all -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 \
    >"$work/build.log" 2>&1 && return 0
  fail "build of $1"; tail -n 30 "$work/build.log"
  return 1
}

# unit FOLDER NAME...: programs of cmocka
unit() {
  local folder=$1 name; shift
  for name; do suite "$folder unit $name" "$folder/tests/$name"; done
}

# model FOLDER FLAGS FILE DATA: compiled with the sanitizer, then each command of the executable.
model() {
  local folder=$1 flags=$2 file=$3 data=$4 name program
  name=$(basename "$file" .net) program=$work/$(basename "$file" .net)
  suite "$folder compiles $name" env ASAN_OPTIONS=detect_leaks=0 \
    "$folder/bin/nnc" "$file" --cc="$compiler" --arch=native -g --cflags="-O1 $flags" -o "$program"
  [ -x "$program" ] || return
  suite "$folder $name trains" "$program" --data "$data" --out "$work/$name.run" -j4 --steps 12 --validate-every 5 --save-every 4 -q
  suite "$folder $name resumes" "$program" --data "$data" --out "$work/$name.run" -j3 --resume --steps 20 -q
  suite "$folder $name evaluates" "$program" eval --data "$data" --out "$work/$name.run" -j4
  suite "$folder $name predicts" "$program" predict --data "$data" --out "$work/$name.run"
  suite "$folder $name benches" "$program" bench --steps 5 --warmup 1 -j4
  suite "$folder $name exports" "$program" export --out "$work/$name.run" "$work/$name.npz"
  suite "$folder $name tells" "$program" info
}

models() { # FOLDER FLAGS
  "$1/bin/nnc-digits" "$work/data" --train 800 --test 130 >/dev/null 2>&1 || { fail "digits"; return; }
  model "$1" "$2" models/mnist.net "$work/data"
  model "$1" "$2" models/mnist_cnn.net "$work/data"
  model "$1" "$2" tests/kill/digits.net "$work/data"
  model "$1" "$2" examples/own_layer.net "$work/data"
  rm -rf "$work"/*
}

graphs() { # FOLDER FLAGS: random graphs, as programs and as executables
  suite "$1 graphs" "$1/tests/fuzz_graphs" --from 1 --count 30
  suite "$1 graphs in C" "$1/tests/fuzz_graphs" --stage c --build "$1" --work "$work" --from 1 --count 24 --batch 8 \
    --cflags "-O1 $2"
}

test_address() {
  local folder=build-asan flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
  build $folder address,undefined || return
  export ASAN_OPTIONS=detect_leaks=0
  unit $folder $(cd tests/unit && ls test_*.c | sed 's/\.c$//')
  suite "$folder syntax" bash tests/syntax/run.sh $folder
  suite "$folder elaborate" bash tests/elaborate/run.sh $folder
  suite "$folder fuzz" env NNC_CFLAGS="$flags" CC="$compiler" bash tests/fuzz/run.sh $folder
  suite "$folder lsp" env ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=1 bash tests/lsp/run.sh $folder
  graphs $folder "$flags"
  export ASAN_OPTIONS=detect_leaks=1
  models $folder "$flags"
  suite "$folder kill" env NNC_CFLAGS="-O1 $flags" bash tests/kill/run.sh $folder --rounds 2
  unset ASAN_OPTIONS
}

test_thread() {
  local folder=build-tsan flags="-fsanitize=thread -fno-omit-frame-pointer"
  build $folder thread || return
  unit $folder test_support test_syntax test_graph
  graphs $folder "$flags"
  models $folder "$flags"
}

for kind in "${kinds[@]}"; do test_$kind; done
summary
