#!/usr/bin/env bash
# The command line of nnc as its user meets it.  Usage: tests/cli/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

# ---- help, versions, wrong usage ----
check_status "version" 0 '^nnc [0-9]+\.[0-9]+\.[0-9]+$' "$nnc" --version
check_status "help names every command" 0 'nnc doc \[NAME\]' "$nnc" --help
check_status "no file" 2 'which .net file' "$nnc"
check_status "two files" 2 'one file makes one executable' "$nnc" a.net b.net
check_status "unknown flag" 2 "^nnc: unknown option '--no-such-flag'; nnc --help lists all$" "$nnc" --no-such-flag x.net
check_status "a command of the executable" 2 "^nnc: 'train' is a command of the executable: nnc models/iris.net -o iris, then ./iris train$" "$nnc" train models/iris.net
check_status "after the file" 2 "^nnc: 'bench' is a command.*: nnc a.net -o a, then ./a bench$" "$nnc" a.net bench
check_status "without a file" 2 "^nnc: 'eval' is a command of the executable: nnc FILE -o OUT, then ./OUT eval$" "$nnc" eval
check_status "a file of such a name" 0 '^report: entry train' sh -c "cp models/iris.net '$work/report' && cd '$work' && '$nnc' report --report"
check_status "an option of the executable" 2 "^nnc: '--epochs' is an option of the executable; './OUT --help' lists those$" "$nnc" models/iris.net --epochs=1
check_status "as many threads as the executable takes" 2 'threads takes a number from 1 to 1024, not "1025"' "$nnc" models/iris.net --threads=1025
# misspelt WORD MEANT ARGUMENT...: the words of the command line that are meant.
misspelt() { check_status "misspelt $1" 2 "^nnc: .*$1.*; did you mean [\"']$2[\"']\\?" "$nnc" "${@:3}"; }
misspelt --emitt --emit --emitt=c models/iris.net
misspelt --memry-limit --memory-limit models/iris.net --memry-limit 3M
misspelt --presicion "-D train.precision=bf16' or '--float" --presicion bf16 models/iris.net
misspelt --helpp --help --helpp
misspelt cdua cuda --target=cdua models/iris.net
misspelt cc c --emit cc models/iris.net
misspelt f23 f32 --float=f23 models/iris.net
misspelt jsn json models/iris.net --report=jsn
misspelt dcee dce --dump-after=dcee models/iris.net
misspelt chekc check chekc models/iris.net
misspelt lps lsp lps
check_status "a digit is like no other" 2 '-O takes one of 0, 1, 2, 3, not "5"$' "$nnc" -O5 models/iris.net
check_status "beginnings of options" 0 '"model": "iris"' "$nnc" --optim=1 --report=json models/iris.net
check_status "what begins several" 2 "'--he' is ambiguous" "$nnc" --he models/iris.net
check_status "values are no options" 0 '"model": "iris"' "$nnc" --cflags --emitt --report=json models/iris.net
check_status "nor what follows --" 3 'cannot read --emitt' "$nnc" -- --emitt
check_status "unknown kind" 2 '--emit takes one of c, cuda, ir' "$nnc" --emit=pdf x.net
check_status "C of a program for CUDA" 2 'emit=c is for --target=c; with --target=cuda --emit=cuda' "$nnc" --target=cuda --emit=c x.net
check_status "GPUs without --target=cuda" 2 'arch=sm_80,sm_90a names GPUs, which are for --target=cuda' "$nnc" --arch=sm_80,sm_90a x.net
check_status "the GPUs of this machine" 2 'nnc: --arch=native: GPUs are named' "$nnc" models/iris.net --target=cuda --arch=native --emit=cuda
check_status "processors as GPUs" 2 "in a list for CUDA stand sm_80, .* not 'x86-64-v3'" "$nnc" models/iris.net --target=cuda --arch=x86-64-v3 --emit=cuda
check_status "an executable called like a source" 2 '-o gpt.c is the name of a source, but an executable is made: add --emit=c for the source' "$nnc" models/iris.net -o gpt.c
check_status "one for CUDA" 2 'gpt.cu is the name of a source.*add --emit=cuda' "$nnc" models/iris.net --target=cuda -o gpt.cu
check_status "CUDA for processors" 2 'emit=cuda is for --target=cuda' "$nnc" models/iris.net --target=c --emit=cuda
check_status "a static program for CUDA" 2 'nnc: --static: an executable for CUDA opens' "$nnc" models/iris.net --target=cuda --static --emit=cuda
check_status "no NVRTC" 3 "NNC_NVRTC is '/nonexistent', which is no NVRTC" env NNC_NVRTC=/nonexistent "$nnc" models/iris.net --target=cuda -o "$work/iris"
check_status "memory of a GPU" 1 'values of the entry train take' "$nnc" models/iris.net --target=cuda --memory-limit=1K --emit=cuda
check_status "unknown pass" 2 'there is no pass or stage "nothing"' "$nnc" --dump-after=nothing x.net
check_status "bad definition" 2 'NAME=VALUE' "$nnc" -D batch models/iris.net
check_status "missing file" 3 'cannot read .*nowhere\.net: No such file' "$nnc" "$work/nowhere.net"
check_status "a folder as file" 3 'cannot read' "$nnc" "$work"
cp "$nnc" "$work/run"
check_status "an executable as file" 3 "^nnc: cannot read $work/run: it is an executable, and nnc reads .net files; '$work/run --help' says what it does$" "$nnc" "$work/run"
(cd "$work" && "$nnc" fmt run) >"$work/said" 2>&1
check "of this folder" grep -q "^nnc: cannot read run: .*; './run --help' says" "$work/said"
check "nothing else is said" test "$(wc -l <"$work/said")" = 1
iconv -t UTF-16 models/iris.net >"$work/wide.net"
check_status "another encoding" 3 'cannot read .*wide\.net: it is no text in UTF-8' "$nnc" check "$work/wide.net"
check_status "unwritable output" 3 'cannot|No such' "$nnc" models/iris.net -o "$work/none/iris"
check_status "no such C compiler" 3 'no-such-compiler' "$nnc" models/iris.net --cc=no-such-compiler -o "$work/iris"
check_status "mistakes" 1 "unknown name 'relux'" sh -c "sed s/tanh/relux/ models/iris.net > $work/bad.net; $nnc $work/bad.net -o $work/bad"
check_status "unknown definition" 1 "batsch" "$nnc" -D batsch=5 models/iris.net -o "$work/iris"
check_status "misspelt train key" 1 "did you mean 'train.average'" "$nnc" -D train.averge=none models/iris.net -o "$work/iris"
check_status "misspelt value of a train key" 1 "did you mean 'bf16'" "$nnc" check -D train.precision=bf17 models/iris.net
check_status "a train key by its name elsewhere" 1 "did you mean 'train.epochs'" "$nnc" check -D train.num_epochs=3 models/iris.net
check_status "a train key without its block" 1 "did you mean 'train.epochs'" "$nnc" check -D epochs=3 models/iris.net
# refused NAME LINES: -D NAME=0.5 of iris.net with a constant `decay`; the lines after the error.
sed '1i const decay = 0.5' models/iris.net >"$work/names.net"
refused() {
  local found
  found=$("$nnc" check -D "$1=0.5" "$work/names.net" 2>&1 | grep '^  help' | sed 's/^  help: //')
  if [ "$found" = "$2" ]; then ok; else fail "-D $1: '$found' instead of '$2'"; fi
}
optimizer=$(sed -n 's/.*optimizer = \([a-z]*\).*/\1/p' models/iris.net)
for name in lr train.lr train.optimizer.lr "$optimizer.lr" train.learning_rate; do
  refused $name "'lr' is an argument of the optimizer: -D 'train.optimizer=$optimizer(lr = 0.5)'
or name it in the program, 'const lr = ...' and '$optimizer(lr = lr)', for -D lr=0.5"
done
refused deca "did you mean 'decay'?"
refused step "did you mean 'train.steps'?"
all="-D NAME=VALUE replaces constants and options, of which there are decay and batch
-D train.KEY=VALUE replaces keys of the train block: minimize, optimizer, clip, lazy, average, epochs, steps, metrics, \
precision, loss_scale, accumulate, validate, seed, save, save_every, keep and stop"
refused nothing "$all"
refused logits "'logits' is a value; as 'const logits = ...' it could be replaced
$all"
check_status "an argument of an optimizer that is followed" 0 '' "$nnc" check -D "train.optimizer=$optimizer(lr = 0.5)" models/iris.net
check_status "a definition twice" 1 'nnc: error: -D train.precision is given more than once' \
  "$nnc" check -D train.precision=bf17 -D train.precision=bf16 models/iris.net
check "a definition twice is no other name" sh -c \
  "! '$nnc' check -D train.precision=bf17 -D train.precision=f16 models/iris.net 2>&1 | grep -q \"did you mean 'train.precision\""
printf 'const batch = 4\ndata predict { x = npy("x.npy") }\ninput x : f32[batch, 3]\npredict { y = x }\n' >"$work/predict.net"
check_status "train key of a program that only predicts" 1 '-D train.epochs: the program has no train block$' \
  "$nnc" check -D train.epochs=3 "$work/predict.net"
check_status "check prints nothing of a good file" 0 '^$' "$nnc" check models/iris.net
# Several files at a time, for which the library is parsed once.
mistaken=(tests/elaborate/errors/a*.net tests/elaborate/errors/s*.net models/iris.net)
for file in "${mistaken[@]}"; do "$nnc" check "$file"; done >"$work/alone" 2>&1
check_status "check of several files" 1 '' "$nnc" check "${mistaken[@]}"
"$nnc" check "${mistaken[@]}" >"$work/together" 2>&1
check "says what it says of each" cmp "$work/alone" "$work/together"
check_status "check of several good files" 0 '^$' "$nnc" check models/iris.net models/mnist.net
check_status "check of a file that is not there" 3 'nowhere' "$nnc" check models/iris.net "$work/nowhere.net" models/mnist.net
check_status "doc lists" 0 '^  linear ' "$nnc" doc
check_status "doc of one" 0 'param w' "$nnc" doc linear
check_status "doc of nothing known" 1 '^$|linear' "$nnc" doc linea
check_status "doc lists parts of the library if asked" 0 '^  lower_solved  *Internal: solve_triangular' "$nnc" doc --internal
check_status "doc of a part of the library" 0 'Internal: solve_triangular' "$nnc" doc lower_solved
check_status "doc --internal has no name" 2 'without a name' "$nnc" doc --internal linear
# Parts of the library are offered neither by the list, nor for a name that is near, nor on the page.
parts=$(awk '/^# Internal: / { inside = 1 } inside && /^(def|schedule|init|optimizer) / { sub(/\(.*/, "", $2); print $2; inside = 0 }' compiler/prelude/*.net | sort -u)
check "parts of the library are found" test "$(wc -w <<<"$parts")" -gt 30
offered=$("$nnc" doc | awk '/^  / { print $1 }' | sort -u)
check "doc offers no part of the library" test -z "$(comm -12 <(echo "$parts") <(echo "$offered"))"
check "the page has no part of the library" test -z "$(comm -12 <(echo "$parts") <(sed -n 's/^### //p' docs/library.md | sort -u))"
check_status "an argument" 0 'split, fold' "$nnc" doc group
check_status "an argument of a source, not of internals" 0 'image_folder, image_list, wav_folder, wav_list, shards' "$nnc" doc on_error
check_status "no argument" 1 "there is no 'grou' in the language" "$nnc" doc grou
check_status "no part of the library is meant" 1 "there is no 'lower_solvd' in the language\$" "$nnc" doc lower_solvd
check_status "passes" 0 '^differentiate' "$nnc" --help-passes

# ---- looking inside ----
check_status "report" 0 'peak, workspaces where the arena is free: [0-9,]+ bytes with 1, ' "$nnc" models/mnist.net --report
check_status "report for a GPU" 0 '^  peak = arena: [0-9,]+ bytes$' "$nnc" models/mnist.net --target=cuda --report
check "report for a GPU knows no threads" sh -c "! '$nnc' models/mnist.net --target=cuda --report | grep thread"
# updates ENDING ARGUMENT...: the report has a line of updates that ends so.
updates() { check_status "updates: $1" 0 "^  [0-9]+ .*$1\$" "$nnc" "${@:2}" --report; }
updates '\(c1.w\): blocks of a task loop compute parts of the gradient, which are added up first' models/lenet.net
updates '\(conv2d.0.w, .*\): tasks compute parts of the gradient, which are added up first' models/mnist_cnn.net --target=cuda
updates '\(h1.w, .*\): a number of whole gradients is needed first, as their norm \(clip\)' models/mnist.net -D train.clip=1.0
updates '\(h.gate.w, h.new.w\): the gradient has several contributions' examples/copy.net
updates '\(h1.w, .*\): another kernel computes the gradient' models/mnist.net -O0
updates '\(h1.b, .*\): the gradient is no contraction or convolution' models/mnist.net
check_status "updates by a loop with a product" 0 '^  1 of 2 inside the kernel of their gradient$' "$nnc" models/logistic.net --report
# Kernels of the backward part say what they are the gradients of, by what they store.
"$nnc" models/mnist.net --emit=program >"$work/program"
sed -n '/^entry train/,/^entry eval/p' "$work/program" | grep -oE '(contraction|reduction), [a-z0-9]+\.[wbx]\.grad' >"$work/gradients"
printf '%s, %s.grad\n' reduction logits.b contraction logits.x contraction logits.w reduction h2.b contraction h2.x contraction h2.w \
  contraction h1.w reduction h1.b >"$work/expected"
check "names of gradients" diff "$work/expected" "$work/gradients"
for layer in h1 h2 logits; do
  buffer=$(sed -n "s/^  #\([0-9]*\) variable .* $layer\.w at .*/\1/p" "$work/program")
  check "$layer.w.grad stores the weights" grep -qE "^ +[0-9]+ [a-z0-9_]*\(.*>#$buffer, .* $layer\.w\.grad" "$work/program"
done
"$nnc" models/mnist_cnn.net --emit=program >"$work/program"
check "of convolutions" grep -q 'convolution, conv2d.2.x.grad' "$work/program"
check "report as JSON" sh -c "'$nnc' models/mnist.net --report=json | python3 -m json.tool"
check_status "gradients" 0 'logits\.w .*ok' "$nnc" models/iris.net --check-gradients
cat >"$work/constant.net" <<'EOF'
const batch = 4
data train { x = npy("x.npy") }
input x : f32[batch, 3]
def score(v) { return linear(tanh(linear(v, 3)), 1) }
D = score(_)
G = linear(_, 3)
fake = G(x)
d_loss = mean((D(x) - 1) ^ 2) + mean(D(stop_gradient(fake)) ^ 2)
g_loss = mean((D(fake) - 1) ^ 2) + mean((fake + stop_gradient(3 * sin(fake) - fake)) ^ 2)
train {
  minimize = g_loss, optimizer = sgd(lr = 0.1), steps = 1
  params "D.*" { minimize = d_loss }
  params "G.*" { minimize = g_loss }
}
EOF
check_status "gradients hold constants fast" 0 'G\.w .*ok' "$nnc" "$work/constant.net" --check-gradients
sed 's/D(x) - 1) ^ 2/D(x) - 1) ^ 0.5/' "$work/constant.net" >"$work/nan.net"
check_status "a gradient that is not a number" 1 'D\.linear\.0\.w .*NaN at random' "$nnc" "$work/nan.net" --check-gradients
check_status "its line" 1 'nan\.net:8:15: warning: NaN first comes up in .d_loss., pow of -[0-9.]+ and 0\.5$' "$nnc" "$work/nan.net" --check-gradients
check_status "its inputs" 1 'help: random inputs lead there: x from -[0-9.]+ to [0-9.]+$' "$nnc" "$work/nan.net" --check-gradients
cat >"$work/lengths.net" <<'EOF'
const batch = 8
data train { length, x = npz("x.npz") }
input length : i32[batch]
input x : f32[batch, 5]
h = linear(x[..., none], 3) * f32(arange(5) < length[:, none])[..., none]
loss = mean(sum(h, axis = 1) / f32(length)[:, none])
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 1 }
EOF
check_status "lengths begin at 1" 0 'h\.w .*ok' "$nnc" "$work/lengths.net" --check-gradients
sed 's/f32(length)/f32(length * 0)/' "$work/lengths.net" >"$work/infinite.net"
check_status "where an infinity is from" 1 "infinite\.net:6:13: note: of an infinity, which first comes up here, in 'loss', div$" "$nnc" "$work/infinite.net" --check-gradients
check_status "and by which lengths" 1 'help: random inputs lead there: .*length from 1 to 5$' "$nnc" "$work/infinite.net" --check-gradients
check_status "dot" 0 '^digraph' "$nnc" models/iris.net --emit=dot
check_status "time of passes" 0 'differentiate' "$nnc" models/iris.net --time-passes --stop-after=dce
check_status "time of stages" 0 '^plan .*' "$nnc" models/iris.net --time-passes --emit=program
check_status "program" 0 'launch|kernel' "$nnc" models/iris.net --emit=program
check_status "stages" 0 '^fuse ' "$nnc" --help-stages
for stage in $("$nnc" --help-stages | awk '{print $1}'); do
  for level in 0 1; do
    check_status "the dump after $stage of -O$level" 0 "^# after $stage of (train|all entries)$" "$nnc" models/iris.net -O$level --dump-after="$stage"
  done
done
check_status "places" 0 '^load %[0-9]+ h\.w' "$nnc" models/iris.net --dump-after=place
check_status "groups" 0 '^group [0-9]+ phase 0 over \[.*\] template: %[0-9]+ .* stored' "$nnc" models/iris.net --dump-after=build
check_status "launches" 0 '^launch [0-9]+ phase 0 group [0-9]+ #[0-9]+.* after [0-9]+' "$nnc" models/iris.net --dump-after=order
check_status "task loops" 0 '^launch [0-9]+ phase 0 loop 0 ' "$nnc" models/lenet.net --dump-after=loops

# ---- dumps resume to the same C, byte for byte ----
# A model takes every third pass, the next one those after these; with ALL_PROGRAMS=1 each takes all.
models=$(models_within "$build" 3)
number=0
for model in $models; do
  name=$(basename "$model" .net) number=$((number + 1))
  "$nnc" "$model" --emit=c -o "$work/$name.c" || { fail "emit=c of $model"; continue; }
  cp "$work/$name.c" "$work/$name.first"
  for pass in $("$nnc" --help-passes | awk -v "all=${ALL_PROGRAMS:-}" -v "first=$number" 'all != "" || (NR + first) % 3 == 0 { print $1 }'); do
    "$nnc" "$model" --dump-after="$pass" --stop-after="$pass" > "$work/$name.ir" 2>/dev/null
    if "$nnc" "$work/$name.ir" --resume-after="$pass" --emit=c -o "$work/$name.c" && # of the same name, which it holds
       cmp -s "$work/$name.first" "$work/$name.c"; then ok
    else fail "$name resumed after $pass gives other C"; fi
  done
done

"$nnc" models/iris.net -O0 --dump-after=simplify --stop-after=simplify > "$work/early.ir"
check_status "a dump from before the pass named" 1 "not taken after dce: it holds a 'gradient'" \
  "$nnc" "$work/early.ir" --resume-after=dce -o "$work/early"

# ---- so does the dump after the last stage, with all that was chosen before it ----
# Of ten models; with ALL_PROGRAMS=1 of all models and examples.
resumes() { # WHAT FILE OPTION...
  local what=$1
  shift
  "$nnc" "$@" --dump-after=plan > "$work/plan.txt" && "$nnc" "$@" --emit=c > "$work/plan.c" || { fail "the plan of $*"; return; }
  if "$nnc" "$work/plan.txt" --resume-after=plan --emit=c | cmp -s "$work/plan.c" -; then ok
  else fail "$what resumed after plan gives other C"; fi
}
planned=$(echo "$models" | head -10)
[ -n "${ALL_PROGRAMS:-}" ] && planned="$(echo models/*.net examples/*.net examples/*/*.net)"
cp -R models examples "$work" # what is written beside a program would be there for suites that run beside this one
for model in $planned; do
  for option in -O1 -O0 --scans=loop --float=f64; do resumes "$model $option" "$model" $option; done
  half=$work/$(dirname "$model")/.half_$(basename "$model") # beside a copy, where its files are
  sed '0,/^ *train.*{/s//&\n  precision = bf16/' "$model" > "$half"
  ! "$nnc" check "$half" >/dev/null 2>&1 || resumes "$model in bf16" "$half"
  rm -f "$half"
done
resumes "within a limit" models/lenet.net --memory-limit=6M
resumes "a program whose kernels feed each other" models/mobilenet_v2.net
"$nnc" models/iris.net --dump-after=plan > "$work/iris.plan"
for what in --emit=program --emit=ir --report --report=json; do
  if "$nnc" "$work/iris.plan" --resume-after=plan $what | cmp -s - <("$nnc" models/iris.net $what); then ok; else fail "iris resumed after plan: other $what"; fi
done
check "an executable of a plan" "$nnc" "$work/iris.plan" --resume-after=plan -o "$work/planned"
check_status "its variables" 0 'logits.w' "$work/planned" info
check_status "other stages do not read back" 2 'the dump after the stage "fuse" does not read back; the one after "plan" does' "$nnc" "$work/iris.plan" --resume-after=fuse
check_status "nor how much is optimized" 2 'after plan nothing is left to choose' "$nnc" "$work/iris.plan" --resume-after=plan -O0
check_status "nothing is left to choose" 2 'after plan nothing is left to choose' "$nnc" "$work/iris.plan" --resume-after=plan --memory-limit=1M
# mistaken LINE... : what is said of the dump with lines changed by sed; the last argument is the message.
mistaken() {
  sed "$1" "$work/iris.plan" > "$work/wrong.plan"
  check_status "a dump with $1" 1 "$2" "$nnc" "$work/wrong.plan" --resume-after=plan --emit=c -o "$work/wrong.c"
}
mistaken '/^program /q;s/x/x/' 'wrong.plan:[0-9]+:1: error: the first buffers are not those of the variables'
mistaken '/^program /,$d' "expected 'program': the dump of a pass has no Program"
mistaken '/^entry eval batch/,$d' 'entry eval is not in module and program'
mistaken 's/^\(program .*\) parameters [0-9]*/\1 parameters -1/' 'error: this integer is not between 0 and'
mistaken 's/^program "[a-z]*"/program "other"/' 'this was lowered for --target=other, not for c'
mistaken 's/^kernel h_y /kernel h_y 5 /' "expected a string but found '5'"
mistaken 's/^  m: 10 strides/  m: 11 strides/' 'kernel h_y: the template reads 44 elements of operand 0, which has 40'
mistaken 's/\(buffer activation .*\) alias -1/\1 alias 9999/' 'there is no buffer 9999'
mistaken 's/^\(buffer activation .*\) at [0-9]*/\1 at 0/' 'error: .*(variable .* shares memory with|is not where)'
mistaken 's/^  launch kernel 4 operands \[[0-9]*,/  launch kernel 4 operands [0,/' 'operand 0 of kernel h_y does not fit buffer h.w'
mistaken 's/ = tanh t2/ = tanh t3/' 'there is no t3 here: there are 3'
mistaken 's/ = tanh t2/ = tanh t1, t2/' 'operator tanh in stage 0 does not fit: it has another number of operands'
mistaken 's/= @2\[i1\]/= @2[(i1 * 17)]/' 'a load of operand 2 in stage 0 leaves its 16 elements'
mistaken 's/^\(program .* worker\) [0-9]*/\1 64/' 'error: the arena needs [0-9]+ bytes, a worker [0-9]+, the parameters [0-9]+'
mistaken 's/^\(program .* arena\) [0-9]*/\1 70368744177664/' 'error: the arena needs [0-9]+ bytes'
mistaken 's/^\(  launch kernel 0 .* tasks\) [0-9]*/\1 17/' 'does not fit its kernel'
mistaken '0,/^  launch kernel/{/^  launch kernel/d}' 'error: entry init: variable [a-z.]+ is never written'
mistaken '0,/^    @\(.*\)\[i0\] = /s//    @\1[(i0 * 0)] = /' 'operand [0-9]+ is not written once everywhere'

# ---- the choice for scans travels with a dump, and the command line has the last word ----
cat > "$work/steps.net" <<'EOF'
const batch = 2
data train { x, y = csv("steps.csv") }
input x : f32[batch, 3]
input y : f32[batch]
param w : f32[] = 0.5
_, s = scan v in x along 1 with s = zeros([batch]) { s = s * w + v ; yield s }
loss = mean((s - y) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 3 }
EOF
"$nnc" "$work/steps.net" --scans=loop --dump-after=simplify --stop-after=simplify > "$work/steps.ir"
check_status "the choice is in the dump" 0 'scans = loop' cat "$work/steps.ir"
check_status "a dump keeps its choice" 0 ' = scan\(' "$nnc" "$work/steps.ir" --resume-after=simplify --emit=ir
check_status "another choice for a dump" 0 '^0$' sh -c "'$nnc' '$work/steps.ir' --resume-after=simplify --scans=unroll --emit=ir | grep -c ' = scan('; true"
check_status "no such choice" 2 '--scans takes one of auto, unroll, loop' "$nnc" "$work/steps.net" --scans=some

# ---- emitted C has no warnings, and its header's command builds it ----
for model in $models; do
  name=$(basename "$model" .net)
  for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "skipped: $cc is not installed"; continue; }
    check "$cc -Wall -Wextra on $model" $cc -std=gnu11 -Wall -Wextra -Werror -O1 -march=native \
      -I"$build/include/nnc" -fsyntax-only "$work/$name.c"
  done
done
for model in gpt resnet18 mobilenet_v2 char_gru; do "$nnc" models/$model.net --emit=c -o "$work/read_$model.c"; done
check "emitted C: columns and contents" python3 tests/cli/emitted.py "$work"/read_*.c "$work"/{iris,mnist,lenet}.c
turn=0 compilers=()
for cc in gcc clang; do if command -v $cc >/dev/null; then compilers+=($cc); fi; done
for program in tests/vectors/{extents,pools,tensors,losses}.net examples/*.net; do
  turn=$((turn + 1))
  for level in 0 1; do
    "$nnc" "$program" -O$level --emit=c -o "$work/warned.c" || { fail "emit=c of $program"; continue; }
    cc=${compilers[(turn + level) % ${#compilers[@]}]} # each has every second program of a level
    check "$cc -Wall -Wextra on $program -O$level" $cc -std=gnu11 -Wall -Wextra -Werror -march=native \
      -I"$build/include/nnc" -fsyntax-only "$work/warned.c"
  done
done
command=$(sed -n '/^ \*\//q; s/^ \*   //p' "$work/iris.c")
rm -f "$work/iris"
if [ -n "$command" ] && (cd "$work" && eval "$command") && [ -x "$work/iris" ]; then ok
else fail "the header's command does not build iris.c: $command"; fi
check "gcc builds a model" "$nnc" models/iris.net --cc=gcc -o "$work/iris_gcc"
check_status "more flags" 0 ' -march=native .*-O1 -DSOME=1 -I' "$nnc" models/iris.net --cflags=" -O1  -DSOME=1" -v -o "$work/iris_flags"
check_status "flags that the C compiler refuses" 3 'refused' "$nnc" models/iris.net --cflags=-fno-such -o "$work/iris_flags"
check_status "an executable with -g" 0 'iris' sh -c "'$nnc' -g models/iris.net -o '$work/iris_g' && '$work/iris_g' --version"
check_status "equal sources give equal C" 0 '^$' sh -c "'$nnc' models/iris.net --emit=c -o '$work/again.c'; '$nnc' models/iris.net --emit=c -o '$work/other.c'; sed s/other/again/g '$work/other.c' | cmp '$work/again.c' -"

# ---- names that C cannot write still get names ----
sed 's/linear(measures, 16)/linear(measures, 16, name = "\xc3\xa9")/; s/linear(h, 3)/linear(h, 3, name = "2")/' models/iris.net > "$work/names.net"
check "names of signs and digits" timeout 60 "$nnc" "$work/names.net" -o "$work/names"
check_status "keep their paths" 0 'é\.w' "$work/names" info

# ---- convolutions by Winograd's minimal filtering are listed, and can be turned off ----
vgg=(models/vgg16.net -D batch=8 -D size=64 --report)
check_status "filtered convolutions" 0 "by Winograd's minimal filtering" "$nnc" "${vgg[@]}"
lacks_winograd() { "$nnc" "$@" > "$work/report" && ! grep Winograd "$work/report"; }
check "direct convolutions" lacks_winograd "${vgg[@]}" --conv=direct
check "filtered in task loops" sh -c "'$nnc' models/fashion.net --report | grep -A 2 '^by Winograd' | grep -q ' c2.y, conv'"
check "none in f64" lacks_winograd "${vgg[@]}" --float=f64

# ---- the gradient of a strided convolution has phases of different depth: packed weights stay after the last piece of each ----
{
  echo 'const batch = 8'
  echo 'data train { x, y = npy("x.npy", "y.npy") }'
  echo 'input x : f32[batch, 8, 16, 16]'
  echo 'input y : i32[batch]'
  echo 'a = relu(conv2d(x, 256, 3, padding = 1))'
  echo 'z = linear(flatten(relu(conv2d(a, 256, 3, stride = 2, padding = 1))), 3)'
  echo 'train { minimize = cross_entropy(z, y), optimizer = sgd(lr = 0.1), steps = 1 }'
} > "$work/phases.net"
check "the C of phases" "$nnc" "$work/phases.net" --emit=c -o "$work/phases.c"
check "by the depth of the phase" grep -q 'if (k + KB >= whole) packed = ' "$work/phases.c"

check_status "no --conv for GPUs" 2 'conv is for --target=c' "$nnc" --target=cuda --conv=direct "${vgg[@]}"

# ---- formatting ----
for file in models/*.net examples/*.net compiler/prelude/*.net ../shared/design/programs/*.net; do
  [ -f "$file" ] || { echo "skipped: $file is not there"; continue; }
  "$nnc" fmt "$file" > "$work/once.net" && "$nnc" fmt "$work/once.net" > "$work/twice.net"
  if cmp -s "$work/once.net" "$work/twice.net"; then ok; else fail "fmt is not idempotent on $file"; fi
done
check "models are formatted" "$nnc" fmt --check models/*.net examples/*.net compiler/prelude/*.net

# ---- the design's programs: those that need what is not there yet say so, and nothing else ----
for program in gpt2 mobilenet_v2 ntm; do
  file=../shared/design/programs/$program.net
  [ -f $file ] || { echo "skipped: $file is not there"; continue; }
  if "$nnc" check $file 2>&1 | grep ': error: ' | grep -v 'is not available in this version of nnc'
  then fail "$program has other errors"; else ok; fi
done

# ---- an installed nnc works from elsewhere ----
if cmake --install "$build" --prefix "$work/prefix" >/dev/null 2>&1; then
  check "an installed nnc compiles" sh -c "cd '$work' && '$work/prefix/bin/nnc' '$PWD/models/iris.net' -o '$work/iris_installed'"
  check_status "its executable runs" 0 'h\.w' "$work/iris_installed" info
else fail "cmake --install"; fi

summary
