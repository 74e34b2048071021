# Checkpoints: what a run of CUDA leaves, one of CUDA resumes to the same bits and one of C to the same numbers, and
# the other way round; in the middle of an epoch (40 steps), after kills too. The program is that of tests/kill, but that
# batch norm comes after the activation, so that the bias before it has a gradient that is more than rounding.

write_digits() {
  sed 's/relu(batch_norm(\(linear(.*, 32)\)))/batch_norm(tanh(\1))/' tests/kill/digits.net >"$here/digits.net"
  check "the order of layers" grep -q 'batch_norm(tanh(linear(' "$here/digits.net"
  check "digits" "$build/bin/nnc-digits" "$here/data" --train 2000 --test 100
}

run_digits() { # PROGRAM OUT FLAGS...
  local program=$1 out=$2; shift 2
  check "$program $out $*" "$here/$program" --data "$here/data" --out "$here/$out" --quiet --schedule 2 "$@"
}
checkpoint() { echo "$here/$1/checkpoint.safetensors"; }
same_run() { # NAME RUN RUN: bit for bit, but for the log's times
  same_files "$1" "$(checkpoint "$2")" "$(checkpoint "$3")"
  same_files "$1, logs" <(without_times "$2") <(without_times "$3")
}
without_times() { sed -E 's/"(seconds|data_wait)":[0-9.]*,|,"command":\[[^]]*\]//g' "$here/$1/log.jsonl"; }
close_run() { check "$1" python3 tests/cuda/compare.py "$(checkpoint "$2")" "$(checkpoint "$3")" "$4"; }

moving() { # TYPE LIMIT
  local digits=$here/digits.net run
  write_digits
  check "digits of C" "$nnc" $quick --float="$1" "$digits" -o "$here/c"
  check "digits of CUDA" "$nnc" "${cuda[@]}" --float="$1" "$digits" -o "$here/cuda"
  run_digits c whole_c --steps 50
  run_digits cuda whole_cuda --steps 50
  close_run "$1: C and CUDA" whole_c whole_cuda "$2"
  run_digits cuda parts --steps 13
  cp -r "$here/parts" "$here/moved"
  run_digits cuda parts --resume --steps 50
  same_files "$1: CUDA resumes CUDA" "$(checkpoint whole_cuda)" "$(checkpoint parts)"
  run_digits c moved --resume --steps 27
  run_digits cuda moved --resume --steps 50
  close_run "$1: CUDA, C and CUDA again" whole_c moved "$2"
  run_digits c other --steps 21
  run_digits cuda other --resume --steps 44
  run_digits c other --resume --steps 50
  close_run "$1: C, CUDA and C again" whole_c other "$2"
  for run in whole_cuda moved other; do
    check_status "$1: the loss of $run" 0 "$(loss_of c whole_c)" echo "$(loss_of cuda $run)"
  done
}
# Its first digits.
loss_of() { # PROGRAM RUN
  "$here/$1" eval --data "$here/data" --init "$(checkpoint "$2")" --quiet | grep -oE 'loss[^0-9]{1,4}[0-9.]{5}' | head -n 1
}

# Killed in whatever it does when a checkpoint has come, three times.
killed() {
  local out=$here/killed round before pid
  write_digits
  check "digits of CUDA" "$nnc" "${cuda[@]}" "$here/digits.net" -o "$here/cuda"
  run_digits cuda whole --steps 60
  for round in 1 2 3; do
    before=$(stat -c %Y%i "$out/checkpoint.safetensors" 2>/dev/null)
    NNC_EMULATOR_ASYNC=late "$here/cuda" --data "$here/data" --out "$out" --quiet --schedule 2 --save-every 2 --steps 60 \
      $([ -z "$before" ] || echo --resume) >"$here/out" 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(stat -c %Y%i "$out/checkpoint.safetensors" 2>/dev/null)" = "$before" ]; do
      sleep 0.02
    done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
  done
  run_digits cuda killed --resume --steps 60
  same_run "killed and resumed" whole killed
}

# What a run keeps, and when it stops: killed ones are as those that were not.
steering() {
  local part
  write_digits
  sed -i 's/^  metrics .*/&\n  save = best(test.loss, keep = 2)\n  keep = 2\n  stop = patience(2, test.accuracy, "max", threshold = 0.02)/; s/validate .*/validate = 7 steps/; s/^accuracy .*/&\narea = auc(logits[:, 3], label[:, 3])/; s/\[accuracy\]/[accuracy, area]/' "$here/digits.net"
  check "digits of CUDA" "$nnc" "${cuda[@]}" "$here/digits.net" -o "$here/cuda"
  run_digits cuda whole --steps 160
  check "the best is kept" grep -q '"best_step"' "$here/whole/log.jsonl"
  check "it stops in time" grep -q '"stopped":"patience"' "$here/whole/log.jsonl"
  run_digits cuda parts --steps 14
  run_digits cuda parts --resume --steps 21
  NNC_EMULATOR_ASYNC=late run_digits cuda parts --resume --steps 160
  same_run "stopped in parts" whole parts
  check "the same files are kept" diff -r -x log.jsonl "$here/whole" "$here/parts"
  for part in whole parts; do
    "$here/cuda" eval --json --confusion --per-class --wrong 5 --data "$here/data" --out "$here/$part" --quiet >"$here/$part.json"
  done
  same_files "classes" "$here/whole.json" "$here/parts.json"
  check "$nnc: digits of C" "$nnc" $quick "$here/digits.net" -o "$here/c"
  "$here/c" eval --json --confusion --data "$here/data" --init "$here/whole/checkpoint.safetensors" --quiet >"$here/c.json"
  same_files "the confusion of C" <(grep -o "\"confusion\":[][0-9,]*]]" "$here/c.json") <(grep -o "\"confusion\":[][0-9,]*]]" "$here/whole.json")
  check_status "the area of C" 0 "$(grep -o '"area":[0-9.]\{5\}' "$here/c.json")" cat "$here/whole.json"
  check "eval --best" "$here/cuda" eval --best --data "$here/data" --out "$here/parts" --quiet
}

# Of weights that CUDA keeps with their channels last, in files as C has them; read and written by rows, too.
turning() {
  local program=$here/channels.net
  export "${quick_kernels?}"
  sed 's/^const batch = .*/const batch = 4/' tests/cuda/channels.net >"$program"
  check "digits" "$build/bin/nnc-digits" "$here/data" --train 40 --test 8
  check "channels.net of C" "$nnc" $quick --float=f64 "$program" -o "$here/c"
  check "channels.net of CUDA" "$nnc" "${cuda[@]}" --float=f64 "$program" -o "$here/cuda"
  check "a variable has its channels last" grep -q 'channels last' <("$nnc" --target=cuda --emit=program "$program")
  run_digits c whole_c --steps 7
  run_digits cuda moved --steps 2
  run_digits c moved --resume --steps 4
  cp -r "$here/moved" "$here/other"
  run_digits cuda moved --resume --steps 7
  close_run "channels.net: CUDA, C and CUDA" whole_c moved 1e-9
  run_digits cuda other --resume --steps 5
  run_digits cuda other --resume --steps 7
  same_files "channels.net: CUDA resumes CUDA" "$(checkpoint moved)" "$(checkpoint other)"
  dumps_read_back "$program"
}
dumps_read_back() { # PROGRAM
  check "its text" "$nnc" --target=cuda "$1" --emit=cuda -o "$here/whole.cu"
  "$nnc" --target=cuda --dump-after=plan "$1" >"$here/dump"
  check "the dump of its plan" "$nnc" --target=cuda --resume-after=plan --emit=cuda "$here/dump" -o "$here/resumed.cu"
  same_files "its text from a dump" <(sed -n '/^#ifdef NNC_KERNELS/,$p' "$here/whole.cu") \
    <(sed -n '/^#ifdef NNC_KERNELS/,$p' "$here/resumed.cu")
}

part_checkpoints() {
  [ -z "$is_long" ] || job "checkpoints, f32" moving f32 1e-3 # as killed and steered runs are
  job "checkpoints, f64" moving f64 1e-9
  job "weights with channels last" turning
  job "killed runs" killed
  job "steered runs" steering
}
