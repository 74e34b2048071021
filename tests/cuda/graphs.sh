# Random graphs (tests/fuzz_graphs) as executables of CUDA against the interpreter, with the threads in order and
# shuffled.

random_graphs() { # FLAGS...
  counted env NNC_EMULATOR_FLAGS="-O0 -g0" "$build/tests/fuzz_graphs" --stage c --target cuda --build "$build" \
    --work "$here" --jobs 1 --batch 32 --cflags -O0 "$@"
}

part_graphs() {
  local from half count=16 few=4 cases
  [ -z "$is_long" ] || count=5000 few=512
  for ((from = 1; from < count; from += 100)); do
    job "graphs from $from" random_graphs --from $from --count $((count < 100 ? count : 100))
  done
  for half in bf16 f16; do job "graphs in $half" random_graphs --half $half --from 10001 --count $few; done
  job "graphs with values far from 1" random_graphs --far f64 --from 10501 --count $few
  job "graphs with floats far from 1" random_graphs --far f32 --from 11001 --count $few
  job "graphs in their own types" random_graphs --looks types --from 11501 --count $few
  [ -z "$is_long" ] || job "graphs at -O0" random_graphs --looks all --from 12001 --count $((few / 2))
  job "graphs with scans as loops" random_graphs --scans loop --from 12501 --count $few
  cases=(tests/fuzz_graphs/cases/*.dump)
  [ -n "$is_long" ] || cases=($(printf '%s\n' "${cases[@]}" | awk 'NR % 2'))
  job "cases" random_graphs --looks types --module "${cases[@]}"
}
