# What the parts of the suite share: the compiler for the emulator, and checks that run side by side, as many as
# there are cores.

export NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13
export NNC_EMULATOR_FLAGS=-g0 # compiles faster; faults name no lines
nnc=$build/bin/nnc
cuda=(--target=cuda --arch=compute_90)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/jobs"
job_count=0

# job NAME COMMAND...: a function or a command, in the background, in a folder of its own, $here. Its checks are
# counted; a command that makes none is itself a check.
job() {
  local name=$1; shift
  while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  job_count=$((job_count + 1))
  run_job "$work/jobs/$job_count" "$name" "$@" >"$work/jobs/$job_count.out" 2>&1 &
}

run_job() { # FILE NAME COMMAND...
  local file=$1 name=$2; shift 2
  trap - EXIT
  passed=0 failed=0 here=$file.d
  mkdir "$here"
  if [ "$(type -t "$1")" = function ]; then "$@"; else check "$name" "$@"; fi
  [ $((passed + failed)) -gt 0 ] || fail "$name: checked nothing"
  rm -rf "$here"
  echo "$passed $failed" >"$file.counts"
  [ -n "${CUDA_TIMES:-}" ] || return
  times >"$file.times"
  echo "$name: $(tail -n 1 "$file.times"), $failed failed" >>"$CUDA_TIMES"
}

# Waits for all, prints what they said, and adds up their counts.
finish_jobs() {
  local number counts
  wait
  for ((number = 1; number <= job_count; number++)); do
    cat "$work/jobs/$number.out"
    counts=$(cat "$work/jobs/$number.counts" 2>/dev/null) || counts="0 1"
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
  done
}

# counted COMMAND...: a program that ends with "N passed, N failed".
counted() {
  local output line
  output=$("$@" 2>&1 </dev/null)
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' <<<"$output" | tail -n 1)
  if [ -z "$line" ]; then fail "$*: $output"; return; fi
  passed=$((passed + ${line%% *})) failed=$((failed + $(cut -d' ' -f3 <<<"$line")))
  [ "$(cut -d' ' -f3 <<<"$line")" = 0 ] || echo "$output"
}
# same_files NAME FILE FILE
same_files() { if cmp -s "$2" "$3"; then ok; else fail "$1: $2 and $3 differ"; fi; }
