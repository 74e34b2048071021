#!/usr/bin/env bash
# What a training run takes from the system: its peak of resident memory stays near what its first line
# says (plan and data), and between the first step and the last nothing is allocated or returned:
# runs of few and of many steps make the same number of calls (count_calls.c).
# Usage: tests/footprint/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
count=$work/count_calls.so
compiler=$(command -v clang || command -v gcc || command -v cc)
check "count_calls.c compiles" "$compiler" -Wall -Wextra -shared -fPIC -O1 tests/footprint/count_calls.c -o "$count" -ldl

digits=$work/digits
check "digits" "$build/bin/nnc-digits" "$digits" --train 20000 --test 2000
awk 'BEGIN { srand(1); for (i = 0; i < 150; i++)
  printf "%.1f,%.1f,%.1f,%.1f,Iris-%s\n", 4 + 3 * rand(), 2 + rand(), 1 + i % 3 + rand(), rand() + i % 3, substr("abc", i % 3 + 1, 1) }' \
  >"$work/iris.csv"

# A size as a message says it ("24.9 MB") in bytes.
bytes() { awk -v text="$1" 'BEGIN { split(text, part, " "); split("bytes kB MB GB", unit)
  for (i = 1; i <= 4; i++) if (unit[i] == part[2]) printf "%.0f", part[1] * 1000 ^ (i - 1) }'; }
counted() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }
calls() { grep -v resident "$1" | tr '\n' ' '; }

# train NAME STEPS FLAGS...: a counted run; its counts are in NAME.STEPS, its messages in NAME.STEPS.text.
train() {
  local name=$1 steps=$2; shift 2
  rm -rf "$work/$name.run.$steps" # an earlier checkpoint would be renamed
  COUNT_CALLS=$work/$name.$steps LD_PRELOAD=$count "$work/$name" train --steps "$steps" --out "$work/$name.run.$steps" "$@" \
    2>"$work/$name.$steps.text"
}

# same NAME FEW MANY WHAT: both runs called alike.
same() {
  local few=$work/$1.$2 many=$work/$1.$3
  if [ -s "$few" ] && [ "$(calls "$few")" = "$(calls "$many")" ]; then ok
  else fail "$4: $2: $(calls "$few"), $3: $(calls "$many")"; fi
}

# footprint NAME FEW MANY FLAGS...
footprint() {
  local name=$1 few=$2 many=$3 plan data most line; shift 3
  for steps in $few $many; do
    check "$name $*: trains $steps steps" train "$name" "$steps" --validate-every 1000000 "$@"
  done
  line=$(grep -oE '[0-9.]+ [a-zA-Z]+ planned for [0-9]+ threads?, [0-9.]+ [a-zA-Z]+ of data' "$work/$name.$many.text")
  plan=$(bytes "${line%% planned*}"); data=$(bytes "${line##*, }")
  most=$(awk "BEGIN { print 1.1 * (${plan:-0} + ${data:-0} + 8e6) }")
  at_least "$name $*: the first line says the plan" "$plan" 10000
  at_least "$name $*: the first line says the data" "$data" 1000
  at_most "$name $*: resident bytes ('$line')" "$(counted resident "$work/$name.$many")" "$most"
  at_least "$name $*: calls of malloc are seen" "$(counted malloc "$work/$name.$few")" 10
  same "$name" "$few" "$many" "$name $*, steps"
}

for model in mnist mnist_cnn lenet iris; do
  check "nnc $model.net" "$nnc" "models/$model.net" -o "$work/$model"
done
footprint mnist 10 240 --data "$digits" --threads 2
footprint mnist 10 40 --data "$digits" --threads 1
footprint mnist_cnn 10 700 --data "$digits" --threads 2

# Lines of progress, which come by the time and not by the steps: this run is stopped for longer than lies between two.
COUNT_CALLS=$work/mnist_cnn.701 LD_PRELOAD=$count "$work/mnist_cnn" train --steps 701 --out "$work/mnist_cnn.run.701" \
  --validate-every 1000000 --data "$digits" --threads 2 2>"$work/mnist_cnn.701.text" & run=$!
for _ in {1..600}; do grep -q planned "$work/mnist_cnn.701.text" && break; sleep 0.05; done
kill -STOP $run; sleep 7; kill -CONT $run
wait $run; check "mnist_cnn, stopped for a while" test $? -eq 0
at_least "mnist_cnn, stopped for a while: lines of progress" "$(grep -c left "$work/mnist_cnn.701.text")" 1
same mnist_cnn 10 701 "mnist_cnn, with lines of progress, steps"

footprint lenet 10 100 --data "$digits" --threads 2
footprint iris 10 2000 --data "$work" --threads 2
sed 's/^train {/train {\n  accumulate = 4/' models/mnist_cnn.net >"$work/several.net"
check "nnc several.net" "$nnc" "$work/several.net" -o "$work/several"
footprint several 5 60 --data "$digits" --threads 3
summary
