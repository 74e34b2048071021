# What the parts of the suite share: the compiler for the emulator, and checks that run side by side, as many as
# there are cores ($CUDA_JOBS: so many).

export NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13
export NNC_EMULATOR_FLAGS=-g0 # with -O1; faults name no lines
nnc=$build/bin/nnc
cuda=(--target=cuda --arch=compute_90 $quick) # the host's part does little
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/jobs"
job_count=0 job_names=() job_commands=()
exec 3>&1 # where progress is told

# job NAME COMMAND...: a function or a command, which finish_jobs runs in a folder of its own, $here. Its checks are
# counted; a command that makes none is itself a check.
job() {
  job_count=$((job_count + 1))
  job_names[job_count]=$1; shift
  printf -v 'job_commands[job_count]' '%q ' "$@"
}

run_job() { # NUMBER
  local file=$work/jobs/$1 name=${job_names[$1]} command
  eval "command=(${job_commands[$1]})"
  trap - EXIT
  passed=0 failed=0 here=$file.d
  mkdir "$here"
  if [ "$(type -t "${command[0]}")" = function ]; then "${command[@]}"; else check "$name" "${command[@]}"; fi
  [ $((passed + failed)) -gt 0 ] || fail "$name: checked nothing"
  rm -rf "$here"
  echo "$passed $failed" >"$file.counts"
  [ -z "$is_long" ] || tell "$name: $passed passed, $failed failed"
  [ -n "${CUDA_TIMES:-}" ] || return
  times >"$file.times"
  echo "$name: $(tail -n 1 "$file.times"), $failed failed" >>"$CUDA_TIMES"
}

# chosen MODEL: whether $CUDA_MODELS, a pattern such as 'gpt|mnist', takes it.
chosen() { grep -qE "${CUDA_MODELS:-.}" <<<"$1"; }

# tell TEXT: progress, with the rate and what is left at that rate.
tell() {
  local done=("$work/jobs/"*.counts)
  awk -v "done=${#done[@]}" -v "all=$job_count" -v "seconds=$SECONDS" -v "text=$1" 'BEGIN {
    printf "[%d of %d, %d min, %.1f a minute, %d min left] %s\n", done, all, seconds / 60, done * 60 / (seconds + 1),
      (all - done) * seconds / done / 60, text }' >&3
}

# Runs all, prints what they said, and adds up their counts.
finish_jobs() {
  local number counts
  SECONDS=0
  for ((number = 1; number <= job_count; number++)); do
    while [ "$(jobs -pr | wc -l)" -ge "${CUDA_JOBS:-$(nproc)}" ]; do wait -n; done
    run_job $number >"$work/jobs/$number.out" 2>&1 &
  done
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
