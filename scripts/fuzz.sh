#!/usr/bin/env bash
# Fuzzes nnc and its runtime with libFuzzer, under the address and undefined-behaviour sanitizers.
#
#   scripts/fuzz.sh [TARGET...] [SECONDS]    all targets, 60 seconds each, unless told otherwise
#
# Targets (tests/fuzz/fuzz_TARGET.c): source compile format dump safetensors idx npy npz csv list tar rows text picture wav cache vocabulary.
# Build and corpora live in build-fuzz (or $FUZZ_BUILD); a corpus is kept and grows from run to run.
# A finding stops its target, is kept in build-fuzz/findings and is run once more to show it.
# FUZZ_FLAGS are given to libFuzzer (-timeout=600 where other work leaves little of the machine: it
# measures time, not work); FUZZ_AT_ONCE=N runs N targets side by side (1 unless told).
# Prints "N passed, N failed"; the exit status is 0 if none failed.
set -uo pipefail
cd "$(dirname "$0")/.."

targets=() seconds=60
for word in "$@"; do
  if [[ $word =~ ^[0-9]+$ ]]; then seconds=$word
  elif [ -f "tests/fuzz/fuzz_$word.c" ]; then targets+=("$word")
  else
    echo "fuzz: there is no target '$word': $(cd tests/fuzz && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/' | tr '\n' ' ')" >&2
    exit 2
  fi
done
[ ${#targets[@]} -gt 0 ] || targets=(source compile format dump safetensors idx npy npz csv list tar rows text picture wav cache vocabulary)
at_once=${FUZZ_AT_ONCE:-1}
if ! [[ $at_once =~ ^[1-9][0-9]*$ ]]; then echo "fuzz: FUZZ_AT_ONCE is a number of targets, not '$at_once'" >&2; exit 2; fi
build=${FUZZ_BUILD:-build-fuzz}
mkdir -p "$build/findings" || exit 1
build=$(cd "$build" && pwd)
sanitize=-fsanitize=address,undefined

# The newest clang that links libFuzzer.
printf '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *b, size_t n) { return 0; }\n' >"$build/probe.c"
clang="" seen=""
for candidate in ${CC:-} clang-{23,22,21,20,19,18,17,16,15,14} clang; do
  command -v "$candidate" >/dev/null || continue
  seen=$candidate
  if "$candidate" -fsanitize=fuzzer,address,undefined "$build/probe.c" -o "$build/probe" 2>"$build/probe.log"; then
    clang=$candidate
    break
  fi
done
if [ -z "$seen" ]; then echo "fuzz: clang is needed: apt-get install clang" >&2; exit 1; fi
if [ -z "$clang" ]; then
  number=$("$seen" -dumpversion | cut -d. -f1)
  echo "fuzz: $seen cannot link libFuzzer; its runtime is needed: apt-get install libclang-rt-$number-dev" >&2
  [ "$number" -ge 14 ] || echo "fuzz: (clang is older than 14, where the runtime comes with clang itself)" >&2
  sed 's/^/    /' "$build/probe.log" >&2
  exit 1
fi

common="-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined"
{
  cmake -S . -B "$build" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DNNC_TESTS=OFF \
    -DNNC_SANITIZE=address,undefined -DCMAKE_C_FLAGS="$common -fsanitize=fuzzer-no-link" &&
    cmake --build "$build" --parallel "${FUZZ_JOBS:-$(nproc)}" --target nnc nncrt
} >"$build/build.log" 2>&1 || { tail -n 30 "$build/build.log" >&2; exit 1; }
# The compiler frees nothing that lives as long as the run; the runtime does.
compiler_options=detect_leaks=0:${ASAN_OPTIONS:-}
rm -rf "$build/seeds"
ASAN_OPTIONS=$compiler_options python3 tests/fuzz/seeds.py "$build/seeds" "$build/bin/nnc" || exit 1

is_compilers() { [[ " source compile format dump " == *" $1 "* ]]; }

link() { # TARGET
  local mutator=()
  is_compilers "$1" && mutator=(tests/fuzz/text_mutator.c)
  "$clang" $common -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer $sanitize -Icompiler -Iruntime -Iruntime/abi -I"$build/generated" \
    "tests/fuzz/fuzz_$1.c" "${mutator[@]}" "$build/lib/libnnccompiler.a" "$build/lib/nnc/libnncrt.a" \
    -ljpeg -lpng -lz -lm -lpthread -o "$build/fuzz_$1"
}

run() { # TARGET
  local flags=(-max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -print_final_stats=1 -verbosity=1)
  local options=${ASAN_OPTIONS:-} log=$build/$1.log corpus=$build/corpus/$1 finding
  local prefix=$build/findings/$1-
  is_compilers "$1" && options=$compiler_options
  case $1 in
    dump) flags+=(-max_len=65536 -dict="$build/seeds/dump.dict") ;;
    source|compile|format) flags+=(-max_len=8192 -dict="$build/seeds/source.dict") ;;
    rows) flags+=(-max_len=7000) ;; # two records of cifar
    *) flags+=(-max_len=4096) ;;
  esac
  mkdir -p "$corpus"
  rm -f "$prefix"*
  # Messages of the code under test go to file 2, which is closed; the sanitizers keep a copy.
  ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 "$build/fuzz_$1" "${flags[@]}" -close_fd_mask=2 \
    -artifact_prefix="$prefix" ${FUZZ_FLAGS:-} "$corpus" "$build/seeds/$1" >"$log" 2>&1
  local status=$?
  grep -E 'number_of_executed_units|new_units_added|average_exec_per_sec|peak_rss_mb' "$log" |
    sed 's/^stat::\([^:]*\): */\1=/' | tr '\n' ' '
  grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$log" | tail -n 1
  [ $status -eq 0 ] && return 0
  for finding in "$prefix"*; do
    [[ -f $finding && $finding != *-slow-unit-* ]] || continue
    echo "finding: $finding; once more:"
    ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 timeout 60 "$build/fuzz_$1" "$finding" 2>&1 |
      grep -vE '^(INFO|Running|NOTE)' | head -n 60
    return 1
  done
  tail -n 30 "$log"
  return 1
}

passed=0 failed=0
for ((first = 0; first < ${#targets[@]}; first += at_once)); do
  pids=()
  for target in "${targets[@]:first:at_once}"; do
    { link "$target" && run "$target"; } >"$build/$target.result" 2>&1 &
    pids+=($!)
  done
  for i in "${!pids[@]}"; do
    if wait "${pids[i]}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    target=${targets[first + i]}
    echo "$target: $(cat "$build/$target.result")"
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
