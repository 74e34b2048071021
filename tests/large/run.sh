#!/usr/bin/env bash
# Tensors of more than 2^31 elements: what is emitted for them has no constant, loop or product that overflows, and
# executables compute with them. Their memory is taken but hardly touched: an operator in C writes two pages of four
# gigabytes.  Usage: tests/large/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
cc=${CC:-cc}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# emits NAME BATCH COLUMNS STATEMENTS: nnc makes C of it in seconds, in which the C compiler finds nothing amiss
emits() {
  printf 'const batch = %s\ndata train { x = npy("x.npy") }\ninput x : f32[batch, %s]\n%s\n' "$2" "$3" "$4" > "$1.net"
  echo 'train { minimize = loss, optimizer = sgd, steps = 1 }' >> "$1.net"
  for level in -O0 -O1; do
    if timeout 60 "$nnc" $level "$1.net" --emit=c > "$1.c" 2> "$1.err"; then ok
    else fail "$1, $level: exit status $?: $(grep -v '^ ' "$1.err")"; continue; fi
    if $cc -std=gnu11 -Wall -Wextra -Wno-unused -Woverflow -Wsign-compare -Werror -fsyntax-only -I "$build/include/nnc" "$1.c" 2> "$1.err"; then ok
    else fail "$1, $level: $(head -3 "$1.err")"; fi
  done
}
emits columns 2 1 'loss = mean(linear(x, 4294967296))'
emits rows 2 4294967296 'loss = mean(linear(x, 3) ^ 2)'
emits batch 3037000500 1 'loss = mean(linear(x, 3) ^ 2)'
emits images 300000 64 'loss = mean(max_pool2d(relu(conv2d(reshape(x, [batch, 1, 8, 8]), 256, 3, padding = 1)), 2) ^ 2)'
emits plane 1 4900000000 'loss = mean(max_pool2d(relu(conv2d(reshape(x, [batch, 1, 70000, 70000]), 2, 3, padding = 1)), 2) ^ 2)'
emits line 1 4900000000 'loss = mean(max_pool1d(relu(conv1d(reshape(x, [batch, 1, 4900000000]), 2, 3, padding = 1)), 3, padding = 1) ^ 2)'
emits sorted 3000000000 4 'param w : [4] = ones
loss = mean(sort(x * w) ^ 2)'
emits sums 2 3000000000 'param w = 1.0
loss = mean(cumsum(x * w) ^ 2)'
emits table 3000000000 2 'param t : [3000000000, 2] = ones
loss = mean(t[i64(x)] ^ 2)'
emits pairs 70000 70000 'param w : [70000] = ones
loss = mean(softmax(x * w) ^ 2)'
emits heads 4 524288 'h = linear(reshape(x, [batch, 65536, 8]), 8)
loss = mean(attention(h, h, h) ^ 2)'
emits statistics 3000000000 2 'loss = mean(batch_norm(linear(x, 2)) ^ 2)'
emits classes 4 1 'loss = mean(linear(one_hot(i64(x[:, 0]), 3000000000), 2))'
emits steps 4 3000000000 'param w = 1.0
h = scan v in x along 1 with s = zeros([batch]) { s = s * w + v }
loss = mean(h)'
emits joined 1 3000000000 'param w = 1.0
loss = mean(concat(x * w, x) ^ 2)'

# What is read from memory is cut where its lines begin: 64 pieces would have 312500 elements.
emits pieces 2 20000000 'param w = 1.0
loss = w * mean(max(x, axis = 1))'
if grep -q 'i0 \* 400000\b' pieces.c && ! grep -q 312500 pieces.c; then ok; else fail "pieces: $(grep 'x\[' pieces.c)"; fi

# refuses NAME MESSAGE STATEMENT
refuses() {
  printf 'const batch = 2\ndata train { x = npy("x.npy") }\ninput x : f32[batch]\n%s\nloss = mean(x ^ 2)\n' "$3" > "$1.net"
  check_status "$1" 1 "$1.net:4:.*error: $2" "$nnc" check "$1.net"
}
refuses elements 'a tensor of shape \[1099511627777\] is too large: at most 2\^40 elements' 'y = zeros([1099511627777])'
refuses product 'a tensor of shape \[3037000500, 3037000500\] is too large' 'y = zeros([3037000500, 1]) + zeros([3037000500])'
refuses numbers '2999999999 is not representable in i32' 'y = arange(3000000000)'

# ---- four million values far from zero ----
# Their variance is summed piece by piece. Means of the pieces are a thousand times as far apart as from the next number, and
# each is rounded towards the mean of all: without what that leaves, the variance is wrong in its fourth digit.
cat > far.net <<'END'
const batch = 64
data train { x = csv("far.csv", columns = [0], header = false) }
input x : f32[batch]
param w = 1.0
column = arange(70001) % 8
row    = arange(batch)[:, none] % 2
offset = 0 * x[:, none] + f32(where(row == 0, 1, -1))
v      = 10000 + offset + f32(where(column < where(row == 0, 3, 5), 1, 0)) / 1024
loss   = mean(abs(f64(var(v)) / var(f64(v)) - 1)) + 0 * f64(w)
train { minimize = loss, optimizer = sgd, steps = 1 }
END
seq 64 > far.csv
check "the variance of values far from zero" "$nnc" far.net -o far
check "a step of it" ./far --quiet --out far.run
at_most "the variance's error" "$(sed -n 's/.*"train.loss":\([^,]*\),.*/\1/p' far.run/log.jsonl)" 1e-6
for value in 1.1 9.9 12345678.9; do # which pieces' means may miss
  printf 'const batch = 64\ndata train { x = csv("far.csv", columns = [0], header = false) }\ninput x : f32[batch]\nparam w = 1.0
v = %s + 0 * (x[:, none] + f32(arange(70001)))\nloss = f64(std(v)) + 0 * f64(w)\ntrain { minimize = loss, optimizer = sgd, steps = 1 }\n' $value > equal.net
  check "equal values of $value" "$nnc" equal.net -o equal
  check "a step of them" ./equal --quiet --out equal.$value
  at_most "the deviation of $value" "$(sed -n 's/.*"train.loss":\([^,]*\),.*/\1/p' equal.$value/log.jsonl)" "$(awk "BEGIN { print $value * 1e-7 }")"
done

# ---- an executable ----
# Elements of four gigabytes, at places below, around and beyond 2^31 and 2^32.
cat > sparse.c <<'END'
#include "nnc_extern.h"
void sparse(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)
{
  const float *x = inputs[0].data;
  unsigned char *y = result->data;
  (void)count;
  y[5] = (unsigned char)x[0];
  y[2147483653] = (unsigned char)(2 * x[0]);
  y[result->elements - 3] = (unsigned char)(3 * x[0]);
}
END
cat > sparse.net <<'END'
const batch = 1
data train { x, k = csv("train.csv", columns = [0, 1], header = false) }
input x : f32[batch]
input k : i32[batch]
extern sparse(v : f32[...]) : u8[66000, 66000] { c = "sparse.c" }
param w = 1.0
big   = sparse(x)
at    = i64(k) * 4355999997
row   = f32(reshape(big, [4356000000])[at])                # a gather
cut   = f32(big[65999, 65996:])                            # a slice
half  = f32(reshape(big, [4356000000])[2147483650:2147483656])
line  = f32(big[i64(k) * 65999])                           # rows of a table
count = sum(f32(arange(2200000000, type = i64) >= 2199999997))   # a reduction, and nothing stored
loss  = w * 0
train { minimize = loss, optimizer = sgd, steps = 1 }
predict { row = row, cut = cut, half = half, line = line[:, 65997], count = count, top = argmax(i32(big[65999])) }
END
echo '7,1' > train.csv
cp train.csv one.csv
expected='{"row": 21, "cut": [0, 21, 0, 0], "half": [0, 0, 0, 14, 0, 0], "line": 21, "count": 3, "top": 65997}'
for flags in "-O1" "--cflags=-fsanitize=undefined,signed-integer-overflow -fno-sanitize-recover=all"; do
  check "the executable, $flags" "$nnc" "$flags" sparse.net -o sparse
  check "training, $flags" ./sparse --threads 2 --out s.run
  /usr/bin/env python3 - "$expected" "$flags" > found 2> err <<'END'
import json, resource, subprocess, sys
text = subprocess.run(["./sparse", "predict", "--out", "s.run"], capture_output=True, text=True)
found = json.loads(text.stdout or "{}")
megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
expected = json.loads(sys.argv[1])
if any(found.get(key) != value for key, value in expected.items()):
    print(f"{sys.argv[2]}: {text.stdout}{text.stderr}")
elif megabytes > 500:
    print(f"{sys.argv[2]}: {megabytes:.0f} MB are touched")
END
  if [ -s found ] || [ -s err ]; then fail "$(cat found err)"; else ok; fi
  rm -rf s.run
done
summary
