# The commands of executables of CUDA, and options of nnc with --target=cuda: checks of sense.

commands_of_digits() {
  local digits=$here/cuda out=(--data "$here/data" --out "$here/run") c=(--data "$here/data" --out "$here/run" --quiet)
  check "digits" "$build/bin/nnc-digits" "$here/data" --train 500 --test 60
  check "digits of CUDA" "$nnc" "${cuda[@]}" tests/kill/digits.net -o "$digits"
  check "digits of C" "$nnc" $quick tests/kill/digits.net -o "$here/c"
  check "train" "$digits" "${out[@]}" --steps 20 --quiet
  check_status "info" 0 'nnc CUDA emulator.*compute capability 9.0' "$digits" info
  check_status "eval" 0 "$("$here/c" eval "${c[@]}" | tail -n 1 | grep -oE 'accuracy.{0,4}[0-9.]{4}')" "$digits" eval "${c[@]}"
  check "predict" test "$("$digits" predict "${c[@]}" | wc -l)" = 60
  same_files "C and CUDA predict the same" <("$digits" predict "${c[@]}") <("$here/c" predict "${c[@]}")
  check "export" "$digits" export --out "$here/run" "$here/cuda.safetensors"
  check "export of C" "$here/c" export --out "$here/run" "$here/c.safetensors"
  check "exported by both" python3 tests/cuda/compare.py "$here/cuda.safetensors" "$here/c.safetensors" 0
  check_status "bench" 0 '"device":"[^"]+","device_text":"computes on device 0' "$digits" bench --steps 3
  check "profile" bash -c '"$0" profile --json --steps 4 --threads 1 --trace "$1.trace" >"$1.json"' "$digits" "$here/profile"
  check "rows of the profile" python3 tests/profile/check.py "$here/profile.json" "$here/profile.trace"
  check_status "profile as text" 0 'contract' "$digits" profile --steps 2 --all
  check_status "a device that is not there" 1 'device' "$digits" --device 5 "${out[@]}" --steps 1
  check_status "no driver" 1 'driver|libcuda' env NNC_LIBCUDA=/nowhere/libcuda.so.1 "$digits" "${out[@]}" --steps 1
  check_status "no memory" 1 'memory' env NNC_EMULATOR_MEMORY=100000 "$digits" bench --steps 1
}

# An index outside of its axis, in step 2.
checked_indices() {
  local flag
  printf '%s\n' 'const batch = 2' 'data train { v, x = csv("train.csv", columns = [0, 1], header = false); order = file }' \
    'input v : f32[batch]' 'input x : f32[batch]' 'param w : [4] = ones' 'y = w[i32(2 * v) // 2] * x' 'loss = mean(y ^ 2)' \
    'train { minimize = loss, optimizer = sgd(lr = 0.001), steps = 2 }' >"$here/p.net"
  printf '0,1\n1,1\n2,1\n7,1\n' >"$here/train.csv"
  for flag in -O0 --check-indices; do
    check "$flag compiles" "$nnc" "${cuda[@]}" $flag "$here/p.net" -o "$here/p"
    check_status "$flag stops at an index" 1 '7' "$here/p" --data "$here" --out "$here/run" --quiet
  done
  check "unchecked compiles" "$nnc" "${cuda[@]}" "$here/p.net" -o "$here/p"
  check "unchecked takes the nearest" "$here/p" --data "$here" --out "$here/run" --quiet
}

agree_with() { # MODEL OPTIONS [DEFINITIONS]
  check "$1 with $2" env "$quick_kernels" AGREE_OPTIONS="${cuda[*]} $2" AGREE_DEFINE="${3:-}" AGREE_SECOND=NNC_EMULATOR_ORDER=reverse \
    "$build/tests/agree" "$nnc" "$1" f64 3 "$here"
}

part_commands() {
  job "commands" commands_of_digits
  job "checked indices" checked_indices
  job "memory limit" agree_with tests/memory/deep.net \
    "--memory-limit=$(less_than_the_plan tests/memory/deep.net -D batch=96)" batch=96
  job "checked indices of a model" agree_with tests/agree/programs/own_gradients.net --check-indices
  job "scans as loops" agree_with tests/agree/programs/recurrent.net --scans=loop
}

# Four fifths of what a run of the model needs.
less_than_the_plan() {
  "$nnc" --target=cuda "$@" --float=f64 --report=json | grep -oE '"arena_bytes": ?[0-9]+' | head -n 1 |
    grep -oE '[0-9]+$' | awk '{ print int($1 * 4 / 5) }'
}
