#!/usr/bin/env bash
# Models on data, end to end: train, evaluate, predict, resume.  Generated digits always; real data where
# ../shared/data (or $NNC_DATA) holds them.  Usage: tests/models/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
data=${NNC_DATA:-../shared/data}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

last() { tail -n 1 "$1/log.jsonl" | sed -n "s|.*\"$2\": *\([^,}]*\).*|\1|p"; }

# ---- every model is a program; small ones and examples compile ----
for file in models/*.net; do check "nnc check $file" "$nnc" check "$file"; done
for file in $(models_within "$build" 3); do
  check "nnc $file" "$nnc" "$file" -o "$work/$(basename "$file" .net)"
done
for file in examples/*.net; do # as suite.agree does, which may have left their kernels in the cache
  check "nnc $file" "$nnc" "$file" --cflags=-O1 --units=1 -o "$work/$(basename "$file" .net)"
done

# ---- generated digits ----
digits=$work/digits
check "digits" "$build/bin/nnc-digits" "$digits" --train 6000 --test 1000
check "mnist.net on digits" "$work/mnist" --data "$digits" --epochs 4 --out "$work/mnist.run" --quiet
at_least "test accuracy of mnist.net on 6,000 digits" "$(last "$work/mnist.run" test/accuracy)" 0.90
check_status "eval agrees with the log" 0 "$(last "$work/mnist.run" test/accuracy | cut -c1-6)" \
  "$work/mnist" eval --data "$digits" --out "$work/mnist.run"
predicted=$("$work/mnist" predict --data "$digits" --out "$work/mnist.run" 2>/dev/null | wc -l)
[ "$predicted" = 1000 ] && ok || fail "predict printed $predicted lines instead of 1000"
check_status "predict a file" 0 '"digit": ?[0-9]' "$work/mnist" predict --out "$work/mnist.run" "$digits/t10k-images-idx3-ubyte"
check_status "predict standard input" 0 '"digit": ?[0-9]' \
  sh -c "'$work/mnist' predict --out '$work/mnist.run' - < '$digits/t10k-images-idx3-ubyte'"
check_status "a label out of range" 1 'label' sh -c "
  mkdir -p '$work/bad' && cp '$digits'/* '$work/bad/' && printf '\\377' | dd of='$work/bad/train-labels-idx1-ubyte' bs=1 seek=100 conv=notrunc 2>/dev/null
  '$work/mnist' --data '$work/bad' --epochs 1 --out '$work/bad.run'"

# ---- batch normalization without scale, shift and both: what is predicted is what is evaluated ----
check "nnc norms.net" "$nnc" tests/models/norms.net -o "$work/norms"
check "norms on digits" "$work/norms" --data "$digits" --out "$work/norms.run" --quiet
at_least "test accuracy of norms.net on 6,000 digits" "$(last "$work/norms.run" test/accuracy)" 0.90
right=$(paste <("$work/norms" predict --data "$digits" --out "$work/norms.run" | tr -dc '0-9\n') \
  <(od -An -v -tu1 -w1 -j8 "$digits/t10k-labels-idx1-ubyte") | awk '$1 == $2 { n++ } END { printf "%.3f", n / NR }')
same=$(awk "BEGIN { d = $right - $(last "$work/norms.run" test/accuracy); print (d < 1e-6 && d > -1e-6) }")
[ "$same" = 1 ] && ok || fail "norms.net predicts $right of the digits, but evaluates otherwise"

# ---- resume is bit for bit, at 1 and 2 threads, with and without an interruption ----
for model in mnist_cnn own_layer; do
  "$work/$model" --data "$digits" --steps 60 --out "$work/whole" --quiet --threads 2 2>&1
  "$work/$model" --data "$digits" --steps 60 --out "$work/one" --quiet --threads 1 2>&1
  "$work/$model" --data "$digits" --steps 25 --out "$work/part" --quiet 2>&1
  "$work/$model" --data "$digits" --steps 60 --out "$work/part" --resume --quiet 2>&1
  if cmp -s "$work/whole/checkpoint.safetensors" "$work/one/checkpoint.safetensors"; then ok; else fail "$model: 1 and 2 threads differ"; fi
  if cmp -s "$work/whole/checkpoint.safetensors" "$work/part/checkpoint.safetensors"; then ok; else fail "$model: resumed differs"; fi
  rm -rf "$work/whole" "$work/one" "$work/part"
done

# ---- fine-tuning loads what fits and lists the rest ----
"$work/mnist_cnn" --data "$digits" --steps 50 --out "$work/cnn.run" --quiet
check_status "--init lists what it did not load" 0 'not loaded: head: the file has none of its 2 tensors' \
  "$work/fine_tune" --data "$digits" --steps 10 --init "$work/cnn.run/checkpoint.safetensors" --out "$work/tuned.run"

# ---- a loop learns to copy what it has read ----
check "copy" "$work/copy" --out "$work/copy.run" --quiet
at_most "copy: wrong bits" "$(last "$work/copy.run" test/error)" 0.01

# ---- real data ----
if [ -f "$data/iris/iris.csv" ]; then
  check "iris" "$work/iris" --data "$data/iris" --out "$work/iris.run" --quiet
  at_least "iris: accuracy on the held-out third" "$(last "$work/iris.run" test/accuracy)" 0.93
  check_status "iris predicts names" 0 'Iris-(setosa|versicolor|virginica)' "$work/iris" predict --data "$data/iris" --out "$work/iris.run"
else echo "skipped: $data/iris/iris.csv is not there"; fi
if [ -f "$data/tabular-regression/california-housing.csv" ]; then
  check "housing" "$work/housing" --data "$data/tabular-regression" --out "$work/housing.run" --quiet
  at_most "housing: RMSE on the held-out fifth" "$(last "$work/housing.run" test/rmse)" 60000
else echo "skipped: $data/tabular-regression/california-housing.csv is not there"; fi
if [ -f "$data/mnist/train-images-idx3-ubyte.gz" ]; then
  check "mnist" "$work/mnist" --data "$data/mnist" --epochs 1 --out "$work/real.run" --quiet
  at_least "MNIST after epoch 1" "$(last "$work/real.run" test/accuracy)" 0.960
  at_most "MNIST after epoch 1" "$(last "$work/real.run" test/accuracy)" 0.975
else echo "skipped: $data/mnist is not there"; fi

summary
