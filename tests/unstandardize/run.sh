#!/usr/bin/env bash
# unstandardize(x, field): predictions and metrics in the units of a field that is trained in standard scores, beside
# means and deviations that plain Python takes of the tables (oracle.py): several columns, one of them constant, windows
# of rows, f64, on both targets; runs that are interrupted and killed; checkpoints that have the numbers, are older than the
# program's use of them, or lack them; exports.  Usage: tests/unstandardize/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/close.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
oracle() { python3 "$here/oracle.py" "$@"; }
oracle make

cat > table.net <<'PROGRAM'
const batch = 8, epochs = 6
data train { x, y = csv("train.csv", columns = [0..2, ["price", "rent", "tax"]]) | standardize(x, y) }
data test  { x, y = csv("test.csv", columns = [0..2, ["price", "rent", "tax"]]) }
input x : f32[batch, 2]
input y : f32[batch, 3]
z    = linear(tanh(linear(x, 5)), 3)
loss = mse(z, y)
miss = abs(unstandardize(z, y) - unstandardize(y, y))
off  = mean(miss)
price = mean(miss[:, 0])
rent  = mean(miss[:, 1])
tax   = mean(miss[:, 2])
train { minimize = loss, optimizer = adam(lr = 0.01), epochs = epochs, metrics = [off, price, rent, tax] }
predict { z = z, y = unstandardize(z, y), middle = unstandardize(0 * z, y),
          rounded = f32(bf16(z)), coarse = unstandardize(bf16(z), y) }
PROGRAM
sed -E '/^(miss|off|price|rent|tax) /d; s/, metrics = [^}]*/ /; /^ +rounded/d; s/^predict.*/predict { z = z }/' table.net > old.net
sed -E 's/standardize\(x, y\)/standardize(x)/' old.net > plain.net

# ---- values, on both targets and in f64 ----
build_table() { check "$1 compiles" emulated "$nnc" $quick "${@:2}" -o "$1"; }
build_table table table.net
build_table table64 table.net --float=f64
build_table table0 table.net -O0
build_table cuda table.net --target=cuda
build_table old old.net
build_table plain plain.net
for exe in table table64 table0 cuda; do
  tolerance=3e-7; [ $exe = table64 ] && tolerance=1e-14
  check "$exe trains" ./$exe --quiet --out $exe.run
  check "$exe predicts" ./$exe predict --quiet --out $exe.run test.csv
  ./$exe predict --quiet --out $exe.run test.csv > $exe.out
  check "$exe: in units" oracle predictions $exe.out $tolerance
  ./$exe eval test --json --out $exe.run > $exe.eval 2> /dev/null
  check "$exe: metrics in units" oracle metrics $exe.out $exe.eval
done
check "targets agree" close {table,cuda}.run/checkpoint.safetensors 1e-4
cut -d, -f1,2 test.csv > inputs.csv
check "without the targets" cmp table.out <(./table predict --quiet --out table.run inputs.csv)
check "one by one" oracle predictions <(./table predict --quiet --out table.run --batch 1 test.csv) 3e-7
check "of a pipe" cmp table.out <(./table predict --quiet --out table.run - < inputs.csv)
check "no tensor in the checkpoint" oracle no_tensor table.run/checkpoint.safetensors
check_status "info" 0 '^y:standardize +fitted +f32\[2, 3\]' ./table info --out table.run
check "minibatches of a step and an average of the weights" sh -c \
  "sed 's/epochs = epochs/epochs = epochs, accumulate = 2, average = ema(0.9)/' table.net > parts.net && '$nnc' $quick parts.net -o parts && ./parts --quiet"
check "parts: in units" oracle predictions <(./parts predict --quiet test.csv) 3e-7

# ---- windows of rows; the data block may stand after the use ----
cat > series.net <<'PROGRAM'
const batch = 4
input x   : f32[batch, 5, 2]
input raw : f32[batch, 5, 2]
input y   : f32[batch, 2, 2]
z    = reshape(linear(flatten(x), 4), [batch, 2, 2])
loss = mse(z, y)
rmse = sqrt(mean((unstandardize(z, y) - unstandardize(y, y)) ^ 2))
data train { x, raw, y = csv("series.csv", header = false, columns = [0..2, 0..2, 0..2]) | standardize(x, y) | window(5, 2, to = 0.8) }
data test { x, raw, y = csv("series.csv", header = false, columns = [0..2, 0..2, 0..2]) | window(5, 2, from = 0.8) }
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 2, metrics = [rmse] }
predict { z = z, y = unstandardize(z, y), past = unstandardize(x, x), raw = raw }
PROGRAM
build_table series series.net
check "series trains" ./series --quiet
check "windows" oracle windows <(./series predict --quiet series.csv)

# ---- in the body of a scan, in a gradient of one's own, in the loss ----
cat > nested.net <<'PROGRAM'
const batch = 5
data train { x, price = csv("train.csv", columns = [0..2, "price"]) | standardize(x, price) }
input x     : f32[batch, 2]
input price : f32[batch]
def units(v) { return unstandardize(v, price) } gradient (dy) { return dy * (unstandardize(1.0, price) - unstandardize(0.0, price)) }
steps, total = scan k in x along 1 with s = zeros([batch]) {
  k = unstandardize(k, price)
  s = s + k
  yield k
}
guess = linear(x, 1)[:, 0]
loss  = mean((units(guess) - units(price)) ^ 2) * 1e-9
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 1 }
predict { x = x, sum = total, steps = steps }
PROGRAM
build_table nested nested.net --float=f64
check "nested trains" ./nested --quiet
check "nested" oracle nested <(./nested predict --quiet train.csv)
check "gradients" "$nnc" nested.net --check-gradients
sed '/^def units/s/ gradient .*//' nested.net > derived.net
build_table derived derived.net --float=f64
check "derived trains" ./derived --quiet
check "its gradient is the derived one" close {nested,derived}.run/checkpoint.safetensors 1e-9

# ---- interrupted and killed runs end with the same bits ----
for exe in table cuda; do
  check "$exe: a piece" ./$exe --quiet --out pieces_$exe --epochs 2
  check "$exe: the rest" ./$exe --quiet --out pieces_$exe --resume --epochs 6
  check "$exe: the same end" cmp {$exe.run,pieces_$exe}/checkpoint.safetensors
done
check "a long run" ./table --quiet --out long --epochs 4000
for kill in 1 2 3; do
  resume=--resume; [ $kill = 1 ] && resume=
  ./table --quiet --out killed --epochs 4000 --save-every 50 $resume 2> /dev/null &
  pid=$!
  for _ in $(seq 100); do [ -e killed/checkpoint.safetensors ] && break; sleep 0.02; done
  sleep 0.0$kill
  kill -KILL $pid 2> /dev/null; wait $pid 2> /dev/null
done
check "killed before its end" oracle unfinished killed/checkpoint.safetensors 28000
check "killed: the rest" ./table --quiet --out killed --epochs 4000 --resume
check "killed: the same weights" close {long,killed}/checkpoint.safetensors 0
check "killed: the same predictions" cmp <(./table predict --quiet --out long test.csv) <(./table predict --quiet --out killed test.csv)

# ---- checkpoints of other programs ----
check "old trains" ./old --quiet
check "an older checkpoint: in units" oracle predictions <(./table predict --quiet --out old.run test.csv) 3e-7
./table eval test --json --out old.run > old.eval 2> /dev/null
check "an older checkpoint: metrics" oracle metrics <(./table predict --quiet --out old.run test.csv) old.eval
check_status "diff-parameters" 0 '^--resume: goes on$' "$nnc" diff-parameters old.net table.net
check_status "diff-parameters of a checkpoint" 0 '^--resume: goes on$' "$nnc" diff-parameters table.run/checkpoint.safetensors old.net
check_status "check --parameters" 0 '^y:standardize +fitted +f32\[2, 3\]' "$nnc" check --parameters table.net
cp -r old.run resumed
check "an older checkpoint is resumed" ./table --quiet --out resumed --resume --epochs 8
check "a longer run of the older program" ./old --quiet --out longer --epochs 6
check "... and more" ./old --quiet --out longer --resume --epochs 8
check "the same weights" close {resumed,longer}/checkpoint.safetensors 0
check "plain trains" ./plain --quiet
lacks="table.net:8: 'unstandardize' wants the mean and the deviation of 'y', which .*plain.run/checkpoint.safetensors does not have: it is of a network that was trained without standardize\\(y\\); train anew"
check_status "a checkpoint without the numbers: predict" 1 "$lacks" ./table predict --out plain.run test.csv
check_status "a checkpoint without the numbers: eval" 1 "$lacks" ./table eval test --out plain.run
check_status "a checkpoint without the numbers: --init and predict" 1 "$lacks" ./table predict --init plain.run/checkpoint.safetensors test.csv
check "--init from it" ./table --quiet --out init.run --init plain.run/checkpoint.safetensors
check "--init from it: in units" oracle predictions <(./table predict --quiet --out init.run test.csv) 3e-7
if ./table --out init.run --init plain.run/checkpoint.safetensors 2>&1 | grep -q 'not loaded'; then fail "--init tells of what no file has"; else ok; fi

# Numbers are those of the data that a run is trained with, not those of the file that it begins with.
mkdir -p halves && head -n 26 train.csv > halves/train.csv && cp test.csv halves
check "another table" ./table --quiet --data halves --out other.run
check "--init from the other table" ./table --quiet --out again.run --init other.run/checkpoint.safetensors
check "in the units of its own" oracle predictions <(./table predict --quiet --out again.run test.csv) 3e-7
if oracle predictions <(./table predict --quiet --out other.run test.csv) 3e-7 2> /dev/null; then fail "other data have other units"; else ok; fi

# ---- exports ----
check "export" ./table export weights.safetensors --quiet
check "export for NumPy" ./table export weights.npz --quiet
check "members" python3 -c 'import zipfile; assert sorted(zipfile.ZipFile("weights.npz").namelist()) == ["linear.0.b.npy", "linear.0.w.npy", "linear.1.b.npy", "linear.1.w.npy"], zipfile.ZipFile("weights.npz").namelist()'
check "predictions of what was exported" cmp table.out <(./table predict --quiet --out none --init weights.safetensors test.csv)

# ---- dumps, the text for CUDA, the page about a run ----
"$nnc" table.net --emit=c -o table.c && cp table.c first.c
for pass in dce simplify; do
  "$nnc" table.net --dump-after=$pass --stop-after=$pass > table.ir
  check "resumed after $pass" "$nnc" table.ir --resume-after=$pass --emit=c -o table.c
  check "the same C after $pass" cmp first.c table.c
done
check_status "the text for CUDA" 0 '"y:standardize", NNC_F32, 2, \{2, 3\}.*NNC_FITTED' "$nnc" table.net --target=cuda --emit=cuda
check "fmt leaves it" cmp <("$nnc" fmt - < old.net | "$nnc" fmt -) <("$nnc" fmt - < old.net)
build_table paged table.net --report-page
check "a page" ./paged report --out table.run
check_status "names it" 0 'y:standardize</td><td>fitted' cat table.run/report.html
summary
