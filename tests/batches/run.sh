#!/usr/bin/env bash
# What is reported over a data set: metrics of single examples exactly, what joins the examples of a batch as the
# mean of whole batches. The numbers are computed once more by awk.  Usage: tests/batches/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

awk 'BEGIN { for (i = 0; i < 10; i++) print (i * i * 7 % 23) / 4 }' > val.csv
head -3 val.csv > few.csv
head -8 val.csv > train.csv
cat > pairs.net <<'END'
const batch = 4
data train { x = csv("train.csv", header = false); order = file }
data val   { x = csv("val.csv", header = false) }
data few   { x = csv("few.csv", header = false) }
input x : f32[batch]

param w = 0.0
y      = x + w
spread = mean((y - mean(y)) ^ 2)  # a part of the loss
pairs  = mean(mean((y[:, none] - y) ^ 2, axis = 1))
within = mean(max(y[:, none] @ y[none], axis = 1))
square = mean(y ^ 2)
span   = per_batch(max(y) - min(y))  # else the span of the whole set
both   = 2 * span + square * per_batch(mean(y * y[::-1]))
last   = 2.0  # a step has a value of this name for itself
total  = scan k in 0..3 with total = zeros([batch]) { last = y * f32(k + 1); total = total + last }
steps  = mean(total) + last
loss   = spread + square
train {
  minimize  = loss
  optimizer = sgd(lr = 0.0)
  epochs    = 1
  metrics   = [spread, pairs, within, square, span, both, steps]
}
END
# expected FILE: the metrics of its whole batches, or of single examples where there is none
expected() {
  awk '
    function batch(n,   i, j, most, mean, spread, pairs, within, least, greatest, turned) {
      least = greatest = x[0]
      for (i = 0; i < n; i++) mean += x[i] / n
      for (i = 0; i < n; i++) {
        spread += (x[i] - mean) ^ 2 / n
        if (x[i] < least) least = x[i]
        if (x[i] > greatest) greatest = x[i]
        turned += x[i] * x[n - 1 - i] / n
        most = x[i] ^ 2
        for (j = 0; j < n; j++) {
          pairs += (x[i] - x[j]) ^ 2 / n / n
          if (x[i] * x[j] > most) most = x[i] * x[j]
        }
        within += most / n
      }
      spreads += spread; all += pairs; withins += within; spans += greatest - least; turns += turned; count++
    }
    { x[NR % 4 == 0 ? 3 : NR % 4 - 1] = $1; sum += $1; square += $1 ^ 2; one[NR] = $1 }
    NR % 4 == 0 { batch(4) }
    END {
      if (NR < 4) for (i = 1; i <= NR; i++) { x[0] = one[i]; batch(1) }
      printf "%.5f %.5f %.5f %.5f %.5f %.4f %.4f\n", spreads / count, all / count, withins / count, square / NR, spans / count,
        2 * spans / count + square / NR * turns / count, 6 * sum / NR + 2
    }' "$1"
}
# found SET: what the executable reports
found() {
  sed -nE "/\"data\":\"$1\"/s/.*\"spread\":([^,]*),\"pairs\":([^,]*),\"within\":([^,]*),\"square\":([^,]*),\"span\":([^,]*),\"both\":([^,]*),\"steps\":([^,}]*).*/\1 \2 \3 \4 \5 \6 \7/p" eval.out |
    xargs printf '%.5f %.5f %.5f %.5f %.5f %.4f %.4f\n'
}
for level in -O0 -O1; do
  check_status "nnc $level" 0 "" "$build/bin/nnc" $level pairs.net -o pairs
  check_status "train $level" 0 "" ./pairs --threads 1
  ./pairs eval train val few --json > eval.out 2> eval.err || fail "eval: $(cat eval.err)"
  for set in train val few; do
    if [ "$(found $set)" = "$(expected $set.csv)" ]; then ok
    else fail "$level, $set: $(found $set), expected $(expected $set.csv)"; fi
  done
  if grep -q 'data few: 3 examples fill no batch of 4' eval.err && ! grep -q 'data val' eval.err; then ok
  else fail "warnings of $level: $(cat eval.err)"; fi
done
# Shares: means of truth values are whole numbers divided once, whatever the batches, on both targets, in parts of a step.
awk 'BEGIN { for (i = 0; i < 500; i++) print (i * i * 7 % 997) / 997 }' > many.csv
awk 'BEGIN { for (i = 0; i < 120; i++) print (i * i * 7 % 997) / 997 }' > rest.csv
cat > shares.net <<'END'
const batch = 100, minibatches = 1
data train { x = csv("many.csv", header = false) }
data val   { x = csv("rest.csv", header = false) }
input x : f32[batch]
param w = 0.0
right  = x + w > 0.304
three  = stack([right, x < 0.1, x > 0.7], axis = 1)
share  = mean(right)
some   = mean(three)
wrong  = 1 - mean(f32(right))
double = sqrt(mean(f32(reshape(three, [batch, 3, 1]))) ^ 2) * 3
loss   = mean((x + w) ^ 2) + 0 * share
train {
  minimize  = loss
  optimizer = sgd(lr = 0.0)
  epochs    = 1
  accumulate = minibatches
  metrics   = [share, some, wrong, double]
}
END
shares() { # FILE LINE: as Python divides, in the digits of reports
  python3 -c '
import sys
x = [float(line) for line in open(sys.argv[1])]
right, three = sum(v > 0.304 for v in x), sum((v > 0.304) + (v < 0.1) + (v > 0.7) for v in x)
found = dict((name.split("/")[-1], value) for name, value in __import__("json").loads(sys.argv[2]).items())
wanted = {"share": right / len(x), "some": three / 3 / len(x), "wrong": 1 - right / len(x), "double": three / len(x)}
good = all("%.9g" % found[name] == "%.9g" % value for name, value in wanted.items())
sys.exit(0 if good else f"{found} instead of {wanted}")' "$1" "$2"
}
for flags in "" "-O0" "-Dminibatches=5" "--float=f64" "--target=cuda"; do
  check "shares compile $flags" env NNC_NVRTC="$build/tests/cuda_emulator/libnvrtc.so.13" "$build/bin/nnc" shares.net --cflags=-O0 --units=1 $flags -o shares
  rm -rf shares.run
  check "shares $flags" env NNC_LIBCUDA="$build/tests/cuda_emulator/libcuda.so.1" NNC_EMULATOR_FLAGS="-O0 -g0" ./shares --quiet
  check "shares of a rest $flags" shares rest.csv "$(env NNC_LIBCUDA="$build/tests/cuda_emulator/libcuda.so.1" NNC_EMULATOR_FLAGS="-O0 -g0" ./shares eval val --json)"
  check "shares of training $flags" shares many.csv "$(python3 -c 'import json; print(json.dumps({k: v for k, v in json.loads(open("shares.run/log.jsonl").readline()).items() if k.startswith("train/")}))')"
done
check_status "sixteen bits keep their means" 0 '^mean$' bash -c "sed 's/share  = .*/share = mean(f16(right))/; s/ + 0 \* share//' shares.net > half.net && $build/bin/nnc half.net --emit=ir | grep -m1 'accumulator.*\"share' | grep -o mean"
summary
