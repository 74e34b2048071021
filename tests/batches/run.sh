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
summary
