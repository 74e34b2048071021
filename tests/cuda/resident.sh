# Data that the device keeps, and steps that go to it together: such a run leaves the same bytes as one with
# --resident=no, which the host feeds step by step; so it does when it is resumed the other way round, and where the
# device has too little memory.

resident_program() { # MODEL OPTIONS...: the program $here/MODEL and its data
  local model=$1; shift
  python3 tests/cuda/resident.py "$here"
  check "$model.net of CUDA" "$nnc" "${cuda[@]}" "$@" "tests/cuda/$model.net" -o "$here/$model"
}
resident_run() { # PROGRAM OUT FLAGS...: says what it plans on standard output
  local program=$1 out=$2; shift 2
  "$here/$program" --data "$here" --out "$here/$out" "$@" 2>&1
}
trains() { # PROGRAM OUT PATTERN FLAGS...: what it says has the pattern
  local program=$1 out=$2 pattern=$3; shift 3
  check_status "$program: $*" 0 "$pattern" resident_run "$program" "$out" "$@"
}
same_as_fed() { # NAME OUT
  same_files "$1" "$here/fed/checkpoint.safetensors" "$here/$2/checkpoint.safetensors"
  same_files "$1, logs" <(sed 's/"seconds":[0-9.]*,//; s/,"command":\[[^]]*\]//' "$here/fed/log.jsonl") <(sed 's/"seconds":[0-9.]*,//; s/,"command":\[[^]]*\]//' "$here/$2/log.jsonl")
}

kept_rows() { # MODEL STEPS MEMORY: steps of the whole run, memory that the data do not fit into
  local model=$1 steps="--schedule $2 --steps" async group
  resident_program "$model"
  trains "$model" fed 'of data$' --resident=no $steps "$2"
  for async in issue late others; do
    NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_ASYNC=$async trains "$model" "kept_$async" 'kB of them there too' $steps "$2"
    same_as_fed "$model, $async" "kept_$async"
  done
  for group in 2 ${is_long:+1 8}; do
    NNC_EMULATOR_ASYNC=late trains "$model" "group$group" 'there too' --group $group $steps "$2"
    same_as_fed "$model, groups of $group" "group$group"
  done
  trains "$model" parts 'there too' $steps $(($2 / 3 - 1))
  trains "$model" parts 'of data$' --resume --resident=no $steps $(($2 / 2))
  trains "$model" parts 'there too' --resume $steps "$2"
  same_files "$model in parts" "$here/fed/checkpoint.safetensors" "$here/parts/checkpoint.safetensors"
  NNC_EMULATOR_MEMORY=$3 trains "$model" small 'of data$' $steps "$2"
  same_as_fed "$model with little memory" small
  check_status "$model is timed" 0 '"step_ms"' "$here/$model" bench --ahead --steps 12 --data "$here"
  check_status "$model is timed without data" 0 '"step_ms"' "$here/$model" bench --ahead --steps 12
}

# What --memory-limit leaves is for the plan alone here: the data do not fit in it.
kept_limit() {
  local limit
  limit=$("$nnc" --target=cuda tests/cuda/windows.net --report=json | grep -oE '"arena_bytes": ?[0-9]+' | head -n 1 | grep -oE '[0-9]+$')
  resident_program windows "--memory-limit=$((limit + 1000))"
  trains windows limited 'of data$' --steps 2
  resident_program windows --check-indices
  trains windows checked 'there too' --steps 8
  resident_program windows
  trains windows kept 'there too' --steps 8
  same_files "checked indices" <(tail -c 9000 "$here/checked/checkpoint.safetensors") \
    <(tail -c 9000 "$here/kept/checkpoint.safetensors")
  check_status "a flag of yes and no" 2 'wants yes or no' "$here/windows" --resident=maybe
}

# Losses that are scaled as the device sees fit, in f16: what a step leaves for the next is on the device.
kept_scale() {
  sed 's/1000/24/g; s/const batch = 100/const batch = 20/; s/minimize  = loss/minimize = loss, precision = f16/' models/mnist.net \
    >"$here/half.net"
  check "half.net" "$nnc" "${cuda[@]}" "$here/half.net" -o "$here/half"
  check "digits" "$build/bin/nnc-digits" "$here" --train 300 --test 40
  trains half fed 'of data$' --resident=no --epochs 2
  NNC_EMULATOR_ASYNC=others trains half kept 'there too' --epochs 2
  same_as_fed "f16 in groups" kept
}

# The compiler of the emulator puts a mistake into the kernel (seed.py); what it leaves must differ then.
kept_defect() { # DEFECT
  local defect=$1 real=clang++ model=resident status
  case $defect in rows_do_not_overlap) model=windows ;; esac
  command -v clang++ >/dev/null || real=g++
  mkdir "$here/bin"
  printf '#!/bin/sh\nexec python3 "%s" %s %s "%s" "$@"\n' "$PWD/tests/cuda/seed.py" $real "$defect" "$here/seeded" >"$here/bin/$real"
  chmod +x "$here/bin/$real"
  NNC_EMULATOR_CXX=$here/bin/$real resident_program $model --no-cache
  check "defect $defect: the kernel has such text" test -e "$here/seeded"
  trains $model fed "of data\$" --resident=no --epochs 1
  resident_run $model kept --epochs 1 >"$here/out"
  if cmp -s "$here/fed/checkpoint.safetensors" "$here/kept/checkpoint.safetensors"; then fail "nobody noticed the defect $defect"
  else ok; fi
}

part_resident() {
  local defect some
  job "rows that the device keeps" kept_rows resident 9 25000
  job "windows that the device keeps" kept_rows windows 64 22000
  job "what does not fit" kept_limit
  job "scaled losses in groups" kept_scale
  some=$(python3 tests/cuda/seed.py --list resident)
  [ -n "$is_long" ] || some=state_frozen
  for defect in $some; do job "defect $defect" kept_defect "$defect"; done
}
