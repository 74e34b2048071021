#!/usr/bin/env bash
# Indices that are computed as the program runs: what one outside of its axis gives, and --check-indices, which
# stops there with the same message at any number of threads and keeps the last checkpoint.
# Usage: tests/indices/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# Row 14 of 24, in step 4, has the index that the test says; the others are 0 to 3.
rows() { awk -v at="$1" 'BEGIN { for (i = 0; i < 24; i++) print (i == 14 ? at : i % 4) "," i / 8 }' > train.csv; }
# program EXPRESSION: of the index i [4], computed, and h [4, 5]
program() {
  cat > p.net <<END
const batch = 4
data train { v, x = csv("train.csv", columns = [0, 1], header = false); order = file }
input v : f32[batch]
input x : f32[batch]
param w : [5] = ones
i    = i32(2 * v) // 2
h    = x[:, none] * w + f32(arange(5))
y    = $1
loss = mean(y ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.001), steps = 6 }
predict { y = y }
END
}
run() { ./p --out "$1.run" --threads "$2" --save-every 1 > "$1.out" 2> "$1.err"; }

# ---- what is stopped: by -O0, and by the flag at full optimization ----
# stops NAME INDEX TEXT EXPRESSION
stops() {
  rows "$2"
  program "$4"
  for flags in "-O0" "--check-indices"; do
    check "$1 compiles, $flags" "$nnc" $flags p.net -o p
    for threads in 1 2; do
      run p $threads
      status=$?
      if [ $status = 1 ] && grep -qF "error: p.net:8:$3, in step 4" p.err; then ok
      else fail "$1, $flags, $threads threads: status $status: $(cat p.err)"; fi
      if grep -qa '"step":"3"' p.run/checkpoint.safetensors; then ok
      else fail "$1, $flags: the checkpoint: $(head -c 400 p.run/checkpoint.safetensors | strings)"; fi
      rm -rf p.run
    done
  done
}
stops "beyond" 9 "8: index 9 at [2] is outside of axis 0 of extent 5, in x[i] of 'y'" "h[0, 0:5][i]"
stops "negative" -1 "8: index -1 at [2] is outside of axis 0 of extent 5, in x[i] of 'y'" "h[0, 0:5][i]"
stops "two positions" 5 "8: index 5 at [2] is outside of axis 1 of extent 5, in x[i] of 'y'" "h[arange(batch), i]"
stops "two others" 5 "8: index 5 at [2] is outside of axis 1 of extent 5, in x[i] of 'y'" "h[i * 0, i]"
stops "pick" 5 "8: index 5 at [2] is outside of axis 1 of extent 5, in pick of 'y'" "pick(h, i)"
stops "take_along_axis" -3 "8: index -3 at [2, 1] is outside of axis 2 of extent 5, in pick of 'y.take_along_axis.taken.0'" \
  "take_along_axis(h, stack(i * 0, i, axis = 1))"
stops "one_hot" 7 "12: index 7 at [2] is outside of axis 1 of extent 5, in one_hot of 'y'" "sum(one_hot(i, 5) * h, axis = 1)"
stops "scatter_add" 6 "8: index 6 at [2] is outside of axis 0 of extent 5, in scatter_add of 'y'" \
  "scatter_add(zeros([5, 5]), i, h)"
stops "cross_entropy" 5 "8: index 5 at [2] is outside of axis 1 of extent 5, in pick of 'y.cross_entropy.loss'" "cross_entropy(h, i)"
stops "embedding" 5 "8: index 5 at [2] is outside of axis 0 of extent 5, in x[i] of 'y'" "embedding(i, 5, 2)"
stops "in a scan" 6 "47: index 6 is outside of axis 0 of extent 5, in x[i] of 's'" \
  "sum(scan k in i with s = 0.0 { s = s + h[0][k] ; yield s })"

# ---- what is not: indices inside, and those that are known to be ----
rows 3
program "pick(h, i) + h[arange(batch), argmax(h)] + take_along_axis(h, argsort(h))[:, 0]"
for flags in "-O0" "--check-indices"; do
  check "good indices compile, $flags" "$nnc" $flags p.net -o p
  if run p 2; then ok; else fail "good indices, $flags: $(cat p.err)"; fi
  rm -rf p.run
done
"$nnc" --check-indices p.net --emit=c -o p.c
if [ "$(grep -c 'int32_t.* nnc_check_index_i32(' p.c)" = 4 ]; then ok
else fail "checks: $(grep -c 'nnc_check_index_i32(' p.c)"; fi
"$nnc" p.net --emit=c -o p.c
if grep -q check_index p.c; then fail "checks without the flag"; else ok; fi
"$nnc" --check-indices p.net --dump-after=dce --stop-after=dce > p.ir
if "$nnc" p.ir --resume-after=dce --emit=c > q.c && "$nnc" --check-indices p.net --emit=c > p.c && cmp -s p.c q.c; then ok
else fail "a dump of checks is not read back"; fi

# ---- evaluation and prediction ----
rows 9
program "pick(h, i)"
check "compiles" "$nnc" --check-indices p.net -o p
head -12 train.csv > good.csv
check_status "prediction stops" 1 'index 9 at \[2\] is outside of axis 1 of extent 5.* from example 12 on' bash -c 'cp train.csv all.csv; cp good.csv train.csv; ./p --out g.run > /dev/null 2>&1; cp all.csv train.csv; ./p predict --out g.run'
check_status "evaluation stops" 1 'in the batch from example 12 on' ./p eval train --out g.run

# ---- without checks: the nearest element, zeros, nothing ----
# gives NAME INDEX VALUE EXPRESSION: of the last row of the first batch; h of it is [0, 1, 2, 3, 4]
gives() {
  awk -v at="$2" 'BEGIN { for (i = 0; i < 4; i++) print (i == 3 ? at : 0) ",-1" }' > train.csv
  program "$4"
  check "$1 compiles" "$nnc" p.net -o p
  ./p --out v.run > /dev/null 2>&1
  found=$(./p predict --out v.run --format=csv 2> /dev/null | tail -1)
  if [ "$found" = "$3" ]; then ok; else fail "$1 of $2: '$found', expected '$3'"; fi
  rm -rf v.run
}
for index in 5 100; do
  gives "x[i] beyond" $index 4 "f32(arange(5))[i] + 0 * w[0]"
  gives "pick beyond" $index 4 "pick(f32(arange(5)) + 0 * h, i)"
  gives "one_hot beyond" $index 0 "sum(one_hot(i, 5), axis = 1) + 0 * w[0]"
  gives "scatter_add beyond" $index 0 "sum(scatter_add(zeros([5]), i, ones([batch]))) - batch + 1 + 0 * w[0] + 0 * x"
done
gives "x[i] negative" -1 0 "f32(arange(5))[i] + 0 * w[0]"
gives "pick negative" -2 0 "pick(f32(arange(5)) + 0 * h, i)"
gives "one_hot negative" -1 0 "sum(one_hot(i, 5), axis = 1) + 0 * w[0]"

# ---- updates that touch the rows alone that are named; what they compute, suite.agree says ----
tables=$OLDPWD/tests/agree/programs/rows_of_tables.net
sparse() { "$nnc" "$tables" --emit=c "$@" 2> /dev/null | grep -c 'int32_t .const heads'; } # kernels of that kind
same "five tables by rows" "$(sparse)" 5
same "a norm needs all of a gradient" "$(sparse -D train.clip=1.0)" 0
same "more indices than rows" "$(sparse -D rows=4)" 0
same "means that fade move all rows" "$(sparse -D 'train.optimizer=adam')" 3
summary
