#!/usr/bin/env bash
# The emitted file: free of warnings by every compiler found (-O1 by both, which optimize it, and by gcc without optimization;
# -O0 by clang, which reads it; -O2 is the C of -O1), the same bytes each time, and built by exactly the command in its header; --cc, --save-temps and a compiler that does not run;
# gradients of masks in small loops by gcc and by clang; steps without undefined behaviour.
# Usage: tests/backend/run.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd) root=$PWD
nnc=$build/bin/nnc passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pass() { passed=$((passed + 1)); }
complain() { echo "FAIL $*"; failed=$((failed + 1)); }
check() { local what=$1; shift; if "$@" >"$work/log" 2>&1; then pass; else complain "$what"; head -5 "$work/log"; fi; }

# Instruction sets to compile for: this processor's, and x86-64-v3 where that is less.
archs=(native)
if grep -qw avx512f /proc/cpuinfo; then archs+=(x86-64-v3); fi

cd "$work"
for program in models/{iris,mnist,mnist_cnn,lenet,housing} tests/unit/networks/far_epilogue; do
  model=${program##*/}
  for level in 0 1; do
    cp "$root/$program.net" .
    if ! "$nnc" "$model.net" "-O$level" --emit=c -o "$model.c" 2>log; then complain "$model -O$level"; continue; fi
    for cc in clang gcc; do
      command -v $cc >/dev/null || continue
      how="-O1 -c"
      case $level$cc in 0gcc) continue ;; 0clang) how=-fsyntax-only ;; esac
      check "$model -O$level has warnings by $cc" $cc -std=gnu11 $how -Wall -Wextra -Werror \
        -I "$build/include/nnc" "$model.c" -o object.o
    done
    # Without optimization gcc says of each loop that it does not heed what it is told.
    [ $level = 0 ] || [ $model = mnist ] || [ $model = housing ] || ! command -v gcc >/dev/null ||
      check "$model has warnings by gcc -O0" gcc -std=gnu11 -O0 -c -Wall -Wextra -Werror -I "$build/include/nnc" "$model.c" -o object.o
    cp "$model.c" first.c
    "$nnc" "$model.net" "-O$level" --emit=c -o "$model.c"
    check "$model -O$level differs between two runs" cmp first.c "$model.c"
  done
  "$nnc" "$model.net" -O2 --emit=c -o "$model.c"
  check "$model: the C of -O2 is not that of -O1" cmp first.c "$model.c"
done

command=$(sed -n '/^ \*\//q; s/^ \*   //p' iris.c)
rm -f iris
check "the command in the header does not build the file: $command" bash -c "$command"
check "what the header's command built does not run" ./iris info
rm -f iris iris.c
check "--save-temps" "$nnc" iris.net --save-temps -o iris
check "--save-temps keeps no file" test -s iris.c
rm -f iris iris.c
check "a plain compilation" "$nnc" iris.net -o iris
check "the C file is left behind" test ! -e iris.c
if command -v gcc >/dev/null; then check "--cc gcc" "$nnc" iris.net --cc gcc -o iris_gcc; fi
"$nnc" iris.net --cc no-such-compiler -o none 2>log
[ $? -eq 3 ] && grep -q "no-such-compiler" log && pass || complain "a compiler that does not run must exit with 3 and be named"

# ---- gradients by gcc and by clang are the same ----
cp "$root"/tests/backend/masked.net .
python3 "$root/tests/backend/masked.py" inputs masked.safetensors
built=
for cc in gcc clang; do
  if ! command -v $cc >/dev/null; then echo "skipped: $cc is missing, so its gradients are not compared"; continue; fi
  built="$built $cc"
  for name in masked; do
    for arch in "${archs[@]}"; do
      check "$name by $cc, $arch" "$nnc" $name.net --cc=$cc --arch=$arch -o $name
      for threads in 1 2; do
        check "$name by $cc, $arch, steps" ./$name step --inputs masked.safetensors --steps 1 -j $threads \
          --quiet $name.$cc.$arch.$threads
      done
      check "$name by $cc, $arch: threads" cmp $name.$cc.$arch.1 $name.$cc.$arch.2
      [ "$built" = " gcc clang" ] || continue
      check "$name, $arch: gcc and clang" python3 "$root/tests/backend/masked.py" compare \
        $name.gcc.$arch.1 $name.clang.$arch.1
    done
  done
done

# ---- nothing of a step is undefined ----
cp "$root"/tests/backend/undefined.net .
sane="-fsanitize=undefined -fno-sanitize-recover=all"
for cc in clang gcc; do
  command -v $cc >/dev/null && echo 'int main(void) { return 0; }' | $cc $sane -x c - -o probe 2>/dev/null && ./probe ||
    { echo "skipped: $cc has no sanitizer here"; continue; }
  for arch in "${archs[@]}"; do
    [ $cc$arch != gccnative ] || [ ${#archs[@]} = 1 ] || continue
    check "undefined by $cc, $arch" "$nnc" undefined.net --cc=$cc --arch=$arch --cflags="-O1 $sane" -o undefined
    check "undefined by $cc, $arch: steps" ./undefined bench --steps 2 --threads 2
    check "undefined by $cc, $arch: predictions" ./undefined bench --predict --steps 2
  done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
