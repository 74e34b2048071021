# Mistakes that are put into the text of kernels before the stand-in for NVRTC compiles it (seed.py): the comparison of
# kinds.net (depth.net and merge.net for those of their names) with the interpreter must fail for each, and pass with none.

seeded() { # DEFECT
  local defect=$1 real=clang++ program=kinds status
  case $defect in depth_*) program=depth ;; merge_*) program=merge ;; esac
  command -v clang++ >/dev/null || real=g++
  mkdir "$here/bin"
  printf '#!/bin/sh\nexec python3 "%s" %s %s "%s" "$@"\n' "$PWD/tests/cuda/seed.py" $real "$defect" "$here/seeded" \
    >"$here/bin/$real"
  chmod +x "$here/bin/$real"
  env "$quick_kernels" NNC_EMULATOR_CXX=$here/bin/$real AGREE_OPTIONS="${cuda[*]} --no-cache --scans=loop" \
    AGREE_SECOND=NNC_EMULATOR_ORDER=shuffled "$build/tests/agree" "$nnc" tests/cuda/$program.net f64 3 "$here" >"$here/out" 2>&1
  status=$?
  if [ ! -e "$here/seeded" ]; then fail "defect $defect: kernels have no such text: $(tail -n 5 "$here/out")"
  elif grep -q 'error: .*\.cu' "$here/out"; then fail "defect $defect does not compile: $(cat "$here/out")"
  elif [ "$defect" = none ] && [ $status -ne 0 ]; then fail "without a defect: $(cat "$here/out")"
  elif [ "$defect" != none ] && [ $status -eq 0 ]; then fail "nobody noticed the defect $defect"
  else ok; fi
  [ -z "${CUDA_TIMES:-}" ] || echo "$defect: $(grep -E 'FAIL|emulator' "$here/out" | head -n 1)" >>"$CUDA_TIMES"
}

# CI takes one of kinds.net besides none: each costs it five seconds.
part_defects() {
  local defect some
  some=$(python3 tests/cuda/seed.py --list | tr ' ' '\n' | grep -vx none)
  [ -n "$is_long" ] || some=$(grep -vE '^(depth|merge)_' <<<"$some" | awk 'NR % 13 == 0')
  for defect in ${CUDA_DEFECTS:-none $some}; do job "defect $defect" seeded "$defect"; done
}
