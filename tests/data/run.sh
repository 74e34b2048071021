#!/usr/bin/env bash
# The data readers, stages and batches:
#
#   - the cmocka programs of this folder, under the address and undefined-behaviour sanitizers
#   - the batches again under the thread sanitizer
#   - every source with every stage: what the runtime takes and what nnc check says
#   - mutated files of each format (tests/fuzz/mutate.c)
#   - the generators of digits and of shapes, and the script that fetches MNIST, from a mirror on this machine
#
# Usage: tests/data/run.sh BUILD [--long]
# What takes longest is done once in CI, with usual buffers or with small ones (`once`); --long does all with both.
# DATA_SETS is the directory of the real data sets (../shared/data unless set); without it, those tests
# are skipped. MUTATIONS: mutated files of each format (3000). NNC_SMALL: set, internal buffers are a few bytes.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/data
nnc=$(cd "$1" && pwd)/bin/nnc
data=${DATA_SETS-$root/../shared/data}
[ -d "$data/mnist" ] || { echo "no real data sets in '$data': their tests are skipped"; data=; }
# A compiler whose sanitizers are installed: clang's are a package of their own.
sanitizes() { echo 'int main(void) { return 0; }' | "$1" -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null; }
compiler=${CC:-clang}
sanitizes "$compiler" || compiler=gcc
is_long=${2:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

report() { # NAME STATUS LOG
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
    [ -z "$3" ] || tail -n 40 "$3"
  fi
}

# Compilers take most of this suite's time, and four times as much for -O1 as for -O0 where they sanitize: only what
# computes pictures is optimized, whose bits are to be the same then, and which takes long without.
optimized=picture
[ -z "${NNC_SMALL:-}" ] || optimized=nothing # suite.data has it

# once usual|small: whether such buffers are to do what is done once.
buffers=usual
[ -z "${NNC_SMALL:-}" ] || buffers=small
once() { [ -n "$is_long" ] || [ $buffers = "$1" ]; }

# build SANITIZERS FOLDER: the readers, and the folders that they are made of, as a library.
build() {
  local source level
  mkdir -p "$2"
  for source in "$root"/runtime/{os,core,data}/*.c "$here"/{folders,support}.c; do
    level=-O0
    [[ $1 != *thread* && $source == */$optimized* ]] && level=-O1
    "$compiler" -std=gnu11 -g1 $level -Wall -Wextra -Werror -ffp-contract=off "-fsanitize=$1" -fno-sanitize-recover=all \
      -D_GNU_SOURCE -DNNC_ASSERTS ${NNC_SMALL:+-DNNC_SMALL_BUFFERS} -I"$root/runtime" -I"$root/runtime/abi" -c "$source" -o "$2/$(basename "$source" .c).o" || return 1
  done
  ar rcs "$2/library.a" "$2"/*.o
}

# link SANITIZERS FOLDER SOURCE... : a program of that folder's library.
link() {
  local sanitizers=$1 folder=$2
  shift 2
  "$compiler" -std=gnu11 -g1 -O0 -Wall -Wextra -Werror "-fsanitize=$sanitizers" -fno-sanitize-recover=all \
    -I"$root/runtime" -I"$root/runtime/abi" "$@" "$folder/library.a" -ljpeg -lpng -lz -lpthread -lm
}

# run_cmocka PROGRAM: adds its counts.
run_cmocka() {
  local log=$work/$(basename "$1").log good bad
  GOLDEN=$here/golden DATA=$data "$1" >"$log" 2>&1
  local status=$?
  good=$(grep -c '^\[ *OK \]' "$log")
  bad=$(grep -c '^\[  FAILED  \] test_[a-z_]*$' "$log")
  passed=$((passed + good))
  if [ "$status" -ne 0 ]; then
    failed=$((failed + (bad > 0 ? bad : 1)))
    cat "$log"
  fi
}

# The verdicts of `nnc check` on every source with every stage are the runtime's (test_words.c).
check_words() {
  local program wanted refused=() accepted=()
  for program in "$1"/*.net; do
    read -r wanted <"$program"
    if [[ $wanted == *refused* ]]; then refused+=("$program"); else accepted+=("$program"); fi
  done
  [ $((${#refused[@]} + ${#accepted[@]})) = 323 ] || return 1
  "$nnc" check "${accepted[@]}" || { echo "these should be accepted"; return 1; }
  "$nnc" check "${refused[@]}" 2>"$1/message"
  [ $? = 1 ] || { echo "the others should be refused"; return 1; }
  # One mistake each, in the order of the files.
  diff <(printf '%s\n' "${refused[@]}") <(sed -n 's/^\([^ ]*\.net\):[0-9:]* error: .*/\1/p' "$1/message")
}

memory=address,undefined
build $memory "$work/memory" || { report "compile" 1 ""; echo "$passed passed, $failed failed"; exit 1; }
mkdir "$work/words"
export PROGRAMS=$work/words
for test in idx csv npy stages choices streams rows pictures cache unreadable cut augment mixing copy_task scaling decoding loader golden words; do
  case $test in cache) once small || continue ;; decoding) once usual || continue ;; esac
  if link $memory "$work/memory" "$here/test_$test.c" -lcmocka -o "$work/test_$test"
  then run_cmocka "$work/test_$test"
  else report "link test_$test" 1 ""
  fi
done

# The loops of a processor without vectors of 8 floats.
"$compiler" -std=gnu11 -g1 -O1 -Wall -Wextra -Werror -fsanitize=$memory -fno-sanitize-recover=all -ffp-contract=off -D_GNU_SOURCE -DNNC_ASSERTS \
  -DDATA_PLAIN_ROWS -I"$root/runtime" -I"$root/runtime/abi" -c "$root/runtime/data/picture_rows.c" -o "$work/plain_rows.o" &&
  link $memory "$work/memory" "$here/test_scaling.c" "$work/plain_rows.o" -lcmocka -o "$work/test_plain_rows"
if [ -x "$work/test_plain_rows" ]; then run_cmocka "$work/test_plain_rows"; else report "link test_plain_rows" 1 ""; fi

check_words "$work/words" >"$work/words.log" 2>&1
report "nnc check and the runtime agree on sources and stages" $? "$work/words.log"

if once usual; then
  build thread "$work/thread" &&
    link thread "$work/thread" "$here/test_loader.c" -lcmocka -o "$work/test_threads"
  if [ -x "$work/test_threads" ]; then run_cmocka "$work/test_threads"; else report "link test_threads" 1 ""; fi
fi

python3 "$root/tests/fuzz/seeds.py" "$work/seeds" >"$work/seeds.log" 2>&1
report "seeds for mutation" $? "$work/seeds.log"
formats="idx npy npz csv list tar rows text picture wav cache"
once small || formats=
for format in $formats; do
  log=$work/mutate_$format.log
  link $memory "$work/memory" "$root/tests/fuzz/fuzz_$format.c" "$root/tests/fuzz/mutate.c" \
    -o "$work/mutate_$format" >"$log" 2>&1 &&
    timeout 600 "$work/mutate_$format" "${MUTATIONS:-3000}" "$work/seeds/$format"/* >>"$log" 2>&1
  report "mutated $format files" $? "$log"
done

# What follows is no part of the runtime.
if [ -n "${NNC_SMALL:-}" ]; then
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
fi

# The generator: the same bytes every time, these bytes.
log=$work/digits.log
{
  "$compiler" -std=gnu11 -O2 -ffp-contract=off -Wall -Wextra -Werror "$root/tools/digits.c" -lm -o "$work/digits" &&
    "$work/digits" "$work/out" --train 2000 --test 500 --seed 3 &&
    (cd "$work/out" && sha256sum -c "$here/golden/digits.sha256")
} >"$log" 2>&1
report "digits are the same everywhere" $? "$log"
"$work/digits" "$work/deep/er/digits/" --train 2000 --test 500 --seed 3 >"$log" 2>&1 &&
  diff -r "$work/out" "$work/deep/er/digits" >>"$log" 2>&1
report "digits makes the folders that are missing" $? "$log"
{ ! "$work/digits" "$log" && ! "$work/digits" "$log/deeper"; } 2>&1 | grep -c 'cannot make the folder .*: Not a directory' | grep -qx 2
report "digits says what is no folder" $? ""
{ ! "$work/digits" "$work/out" --train 0 && ! "$work/digits" && ! "$work/digits" /proc/none/x; } >"$log" 2>&1
report "digits refuses nonsense" $? "$log"

log=$work/shapes.log
{
  "$compiler" -std=gnu11 -O2 -ffp-contract=off -Wall -Wextra -Werror "$root/tools/shapes.c" -lpng -lm -o "$work/shapes" &&
    "$work/shapes" "$work/drawn" --train 7 --val 2 --size 24 --seed 3 &&
    "$work/shapes" "$work/drawn" --masks --train 30 --val 10 --size 40 --seed 3 &&
    (cd "$work/drawn" && sha256sum -c "$here/golden/shapes.sha256" &&
      python3 "$here/png_pixels.py" $(find train val -name '*.png' | sort) | diff "$here/golden/shapes.pixels" -)
} >"$log" 2>&1
report "shapes are the same everywhere" $? "$log"
"$work/shapes" "$work/deep/er/shapes" --train 7 --val 2 --size 24 --seed 3 >"$log" 2>&1
report "shapes makes the folders that are missing" $? "$log"
{ ! "$work/shapes" "$work/drawn" --size 4 && ! "$work/shapes" && ! "$work/shapes" /proc/none/x; } >"$log" 2>&1
report "shapes refuses nonsense" $? "$log"

# The fetch script: a wrong file is refused, the next mirror is taken, whole files are kept.
log=$work/fetch.log
if [ -n "$data" ] && command -v curl >/dev/null; then
  mkdir "$work/wrong" && for file in "$data"/mnist/*.gz; do echo wrong >"$work/wrong/$(basename "$file")"; done
  MNIST_MIRRORS="file://$work/nowhere file://$work/wrong file://$(cd "$data" && pwd)/mnist" \
    sh "$root/tools/fetch_mnist.sh" "$work/mnist" >"$log" 2>&1 &&
    cmp "$work/mnist/t10k-labels-idx1-ubyte.gz" "$data/mnist/t10k-labels-idx1-ubyte.gz" >>"$log" 2>&1 &&
    [ "$(grep -c 'is not the file expected' "$log")" = 4 ] &&
    MNIST_MIRRORS= sh "$root/tools/fetch_mnist.sh" "$work/mnist" 2>&1 | grep -c 'already there' | grep -qx 4
  report "fetch_mnist takes the right file" $? "$log"
fi
MNIST_MIRRORS="file://$work/nowhere" sh "$root/tools/fetch_mnist.sh" "$work/none" >"$log" 2>&1
[ $? -eq 1 ] && grep -q 'not downloaded: train-images-idx3-ubyte.gz' "$log"
report "fetch_mnist without a network" $? "$log"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
