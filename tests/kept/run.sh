#!/usr/bin/env bash
# Weights that kernels keep packed from run to run, and values that kernels feed each other: what single examples give is
# what a program gives that does neither, byte for byte, whenever parameters changed or other entries used the memory
# between two of them.
# Usage: tests/kept/run.sh BUILD [--long]     --long: nets.net in f64, and both programs for several levels
set -uo pipefail
build=$(cd "$1" && pwd) is_long=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
"$build/bin/nnc-digits" digits --train 96 --test 41 >/dev/null || exit 2

# Convolutions by Winograd's filtering, strided, of 1 x 1, with groups; products
# of 16 rows and more with whole and ragged panels, of one row with a megabyte of weights, and with few, which
# keeps nothing.
cat > nets.net <<'PROGRAM'
const batch = 16
data train { image, label = idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte") }
data test  { image, label = idx("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte") }
input image : u8[batch, 28, 28]
input label : u8[batch]

x = reshape(f32(image) / 255, [batch, 1, 28, 28])
x = relu(batch_norm(conv2d(x, 32, 3, padding = 1)))
x = x + relu(conv2d(x, 32, 3, padding = 1))
x = relu(conv2d(x, 80, 3, 2, padding = 1))
x = relu(conv2d(x, 52, 1))
x = relu(conv2d(x, 32, 3, 2, padding = 1, groups = 4))
rows = reshape(x, [batch, 32, 49])
mixed = tanh(linear(rows, 70))
more = linear(mixed, 96)
wide = relu(linear(flatten(more) / 20, 200))
logits = linear(wide, 10)

loss = cross_entropy(logits, label)
accuracy = mean(argmax(logits) == label)
train { minimize = loss, optimizer = sgd(lr = 0.05, momentum = 0.9), epochs = 3, metrics = [accuracy] }
predict { digit = argmax(logits), logits = logits, more = mean(more, axis = -1) }
PROGRAM

# Pointwise convolutions over large planes that feed depthwise ones: of strides 1 and 2, windows of 3 and 5, without and with
# more than the product, columns that fill no vector, lines that are no whole number of tiles.
{ sed '/^x = /,$d' nets.net; cat <<'PROGRAM'; } > lines.net
x = pad(reshape(f32(image) / 255, [batch, 1, 28, 28]), [0, 0, (3, 4), (5, 6)])
x = relu(conv2d(x, 16, 3, padding = 1))
y = relu6(batch_norm(conv2d(x, 132, 1)))
y = relu6(batch_norm(conv2d(y, 132, 3, 2, padding = 1, groups = 132)))
y = upsample_nearest(conv2d(y, 16, 1), 2)[:, :, :35, :39] + x
z = conv2d(conv2d(y, 104, 1, bias = false), 104, 5, padding = 2, groups = 104)
logits = linear(mean(tanh(z) + y[:, :1], axis = [2, 3]), 10)

loss = cross_entropy(logits, label)
accuracy = mean(argmax(logits) == label)
train { minimize = loss, optimizer = sgd(lr = 0.05, momentum = 0.9), epochs = 3, metrics = [accuracy] }
predict { digit = argmax(logits), logits = logits, more = mean(z, axis = [1, 2, 3]) }
PROGRAM

without_seconds() { sed 's/"seconds":[^,]*,//; s/,"command":.*//'; }

# follow NAME KEEPING PLAIN: two executables of one program, the first of which keeps weights.
follow() {
  local name=$1 exe log
  for exe in keeping plain; do
    # Each epoch ends with 41 examples to evaluate: two batches, then nine single ones with new parameters.
    check "$name, $exe: trains" "./$name.$exe" --data digits --threads 2 --out "$name.$exe.run" --seed 5 -q
    without_seconds <"$name.$exe.run/log.jsonl" >"$name.$exe.log"
    check "$name, $exe: goes on" "./$name.$exe" --data digits --threads 1 --epochs 4 --resume --out "$name.$exe.run" -q
    "./$name.$exe" predict --batch 1 --threads 1 --out "$name.$exe.run" --data digits >"$name.$exe.one"
    "./$name.$exe" predict --batch 1 --threads 2 --out "$name.$exe.run" --data digits >"$name.$exe.two"
    "./$name.$exe" eval --out "$name.$exe.run" --data digits --json test train test >"$name.$exe.eval"
  done
  for log in log one two eval; do
    check "$name: $log" test -s "$name.keeping.$log"
    check "$name: $log as without kept weights" cmp "$name.keeping.$log" "$name.plain.$log"
  done
  check "$name: threads" cmp "$name.keeping.one" "$name.keeping.two"
  check "$name: a step of the profile an entry" bash -c \
    './$0.keeping profile --predict --steps 5 --json >p.json && grep -q "\"entry\":\"predict\"" p.json' "$name"
}

for float in f32 f64; do
  flags=(--float=$float); [ $float = f64 ] && flags+=(--cflags=-O1 --units=1)
  if [ $float = f32 ] || [ -n "$is_long" ]; then
    check "$float compiles" "$nnc" "${flags[@]}" nets.net -o $float.keeping
    # A limit, however large, keeps nothing.
    check "$float compiles without" "$nnc" "${flags[@]}" --memory-limit=64G nets.net -o $float.plain
    follow $float
  fi
  check "lines, $float, compiles" "$nnc" "${flags[@]}" lines.net -o lines_$float.keeping
  check "lines, $float, compiles without" "$nnc" "${flags[@]}" --memory-limit=64G lines.net -o lines_$float.plain
  follow lines_$float
  ./lines_$float.keeping predict --batch 1 --threads 5 --out lines_$float.keeping.run --data digits >lines_$float.five
  check "lines, $float: five threads" cmp lines_$float.five lines_$float.keeping.one
done
fed() { "$nnc" "$@" --emit=program | grep -c '^  fed \['; }
check "a prediction has two kernels that are fed, one of which evaluation has otherwise" test "$(fed lines.net)" = 3
"$nnc" lines.net --emit=c -o lines.c
for cc in gcc clang; do
  command -v $cc >/dev/null || continue
  check "$cc does not warn of the C" $cc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -I "$build/include/nnc" lines.c
done
check "a limit feeds none" test "$(fed lines.net --memory-limit=64G)" = 0
check "-O0 feeds none" test "$(fed lines.net -O0)" = 0
check "CUDA feeds none" test "$(fed lines.net --target=cuda)" = 0

# kept FLAGS...: how many kernels keep weights, of the entry predict and of all; nothing where nnc fails.
kept() {
  "$nnc" nets.net "$@" --emit=program >program.txt || return
  echo "$(grep -A99 '^entry predict:' program.txt | sed '/^entry predict_batch/,$d' | grep -c ', keeps #') $(grep -c ', keeps #' program.txt)"
}
# The prediction of a batch has six kernels of its own that would pack weights in each run, or had them as rows not to.
check "a prediction's four convolutions and three products keep weights, as an evaluation's, and six of a batch" test "$(kept)" = "7 20"
check "a limit keeps nothing" test "$(kept --memory-limit=64G)" = "0 0"
check "-O0 keeps nothing" test "$(kept -O0)" = "0 0"
check "CUDA keeps nothing" test "$(kept --target=cuda)" = "0 0"
sed '/^train {/d' nets.net >only.net
check "a program that only predicts keeps weights" bash -c '"$0" only.net --emit=program | grep -q ", keeps #"' "$nnc"

# Other widths of vectors have other panels.
for net in nets ${is_long:+lines}; do
  run=f32.keeping.run
  [ $net = nets ] || run=lines_f32.keeping.run
  check "$net: levels compile" "$nnc" $net.net --arch=x86-64-v2,x86-64-v3 --cflags=-O1 -o $net.levels
  check "$net: levels without compile" "$nnc" $net.net --memory-limit=64G --arch=x86-64-v2,x86-64-v3 --cflags=-O1 -o $net.levels.plain
  for isa in x86-64-v2 x86-64-v3; do
    for exe in $net.levels $net.levels.plain; do
      "./$exe" predict --isa $isa --batch 1 --out $run --data digits 2>/dev/null >$exe.$isa
    done
    check "$net: $isa" test -s $net.levels.$isa
    check "$net: $isa as without" cmp $net.levels.$isa $net.levels.plain.$isa
  done
done

# Training needs more memory than what is kept, so the plan is no larger; a program that only predicts keeps it.
arena() { "./$1" info --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["arena_bytes"])'; }
check "the arena is no larger" test "$(arena f32.keeping)" = "$(arena f32.plain)"
summary
