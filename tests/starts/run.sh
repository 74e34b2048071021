#!/usr/bin/env bash
# How a run begins: what it finds in its folder stays until it has done a step.  Usage: tests/starts/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
stored=$PWD/tests/starts/stored.py
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
build_it() { "$nnc" "$1.net" -o "$1" "${@:2}" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"; }
# has NAME MESSAGE PATTERN: a line of the text matches.
has() { if grep -qE -- "$3" <<<"$2"; then ok; else fail "$1: no line matches /$3/: $2"; fi; }

# ---- a run that does no step leaves what an earlier one made ----
"$build/bin/nnc-shapes" shapes --train 12 --val 1 --size 16 >/dev/null || fail "no pictures"
cat >pictures.net <<'END'
const batch = 4
data train { image, label = image_folder("shapes/train") }
input image : u8[batch, 3, 16, 16]
input label : i32[batch]
logits = linear(flatten(f32(image) / 255), 6)
loss = cross_entropy(logits, label)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 2 }
END
build_it pictures
check "a run" ./pictures
mkdir kept && cp pictures.run/* kept
unchanged() { # unchanged NAME: the folder holds what the first run left, and nothing else
  if diff -r kept pictures.run >differences; then ok; else fail "$1: $(cat differences)"; fi
}
check_status "only to initialize" 1 'checkpoint.safetensors is of an earlier run, and this one has no step to do' ./pictures --epochs 0
unchanged "only to initialize"
cp -r shapes sound
for picture in shapes/train/*/*.png; do head -c 60 "$picture" >cut && mv cut "$picture"; done
for start in 1 2; do
  check_status "start $start with pictures that are cut" 1 'png' ./pictures
  unchanged "start $start"
done
check_status "a first start with pictures that are cut" 1 'png' ./pictures --out "$work/new/folder/"
if [ -e new ]; then fail "a start that failed left $(find new)"; else ok; fi
mkdir new
check_status "a first start in a folder" 1 'png' ./pictures --out new/folder --log new/log
if [ -z "$(ls new)" ]; then ok; else fail "a start that failed left $(find new)"; fi
rm -r shapes && mv sound shapes
check "a new run" ./pictures --epochs 1
if cmp -s kept/checkpoint.safetensors pictures.run/checkpoint.previous.safetensors; then ok
else fail "the earlier checkpoint is not kept"; fi
if cmp -s kept/log.jsonl pictures.run/log.previous.jsonl; then ok; else fail "the earlier log is not kept"; fi

# ---- a checkpoint of step 0 does not take the name of one that has trained ----
check "initialized" ./pictures --epochs 0 --out zero
cp kept/checkpoint.safetensors zero/checkpoint.previous.safetensors
check "a run over it" ./pictures --epochs 1 --out zero
if cmp -s kept/checkpoint.safetensors zero/checkpoint.previous.safetensors; then ok
else fail "step 0 took the name of the trained checkpoint"; fi

# ---- going on with the checkpoint of another folder leaves the log of this one ----
check "a run" ./pictures --out other
cp other/log.jsonl log
check "another run's checkpoint" ./pictures --resume kept/checkpoint.safetensors --out other --epochs 3
if cmp -s log other/log.previous.jsonl; then ok; else fail "the log of the folder was cut"; fi

# ---- standard scores that the program no longer states: --init warns, eval refuses ----
awk 'BEGIN { srand(4); for (i = 0; i < 12; i++) print rand() "," 9 * rand() "," rand() }' > scores.csv
scored() { # scored NAME STAGE
  cat >"$1.net" <<END
const batch = 4
data train { x, t = csv("scores.csv", columns = [0..2, 2], header = false) $2 }
data test { x, t = csv("scores.csv", columns = [0..2, 2], header = false) }
input x : f32[batch, 2]
input t : f32[batch, 1]
loss = mean((linear(x, 1) - t) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 2 }
END
  build_it "$1"
}
scored scores '| standardize(x)'
scored plain ''
scored targets '| standardize(t)'
check "a run on scores" ./scores
stored_scores=scores.run/checkpoint.safetensors
has "--init of scores" "$(./plain --init $stored_scores 2>&1)" \
    'warning: .*checkpoint.safetensors is of a network that was trained with standardize\(x\), which data train does not state'
if ./scores --init $stored_scores --out again 2>&1 | grep -q 'standard scores'; then fail "scores that are stated are warned of"; else ok; fi
check_status "scores that are not stated" 1 'standardize\(x\), which data train does not state; write standardize\(x\) to' \
  ./plain eval test --out scores.run
check_status "scores of another field" 1 'standardize\(x\), which data train does not state: without names' \
  ./targets eval test --out scores.run

# ---- --init: layers whole, types converted, what is frozen must be there ----
awk 'BEGIN { srand(5); for (i = 0; i < 8; i++) print rand() "," rand() "," rand() }' > x.csv
cat >net.net <<'END'
const batch = 4
const fix = false
data train { x, y = csv("x.csv", columns = [0..2, 2], header = false) }
input x : f32[batch, 2]
input y : f32[batch, 1]
trunk = tanh(batch_norm(linear(x, 3, name = "in"), name = "norm"))
state seen : bool[2] = [true, false]
head  = linear(trunk, 1)
loss  = mean((head - y) ^ 2)
train { minimize = loss, optimizer = adam, epochs = 2, params "in.*", "norm.*" { frozen = fix } }
predict { out = head }
END
build_it net
"$nnc" net.net -D fix=true -o fixed >fixed.build 2>&1 || fail "fixed does not compile: $(cat fixed.build)"
check "a run" ./net --seed 3
check "its weights" ./net export weights.safetensors
for type in F64 BF16 F16 F32; do
  python3 "$stored" convert weights.safetensors $type.safetensors $type
  check_status "from $type" 0 'loaded 9 tensors of' ./net --init $type.safetensors --epochs 0 --out $type.run
  check "the values of $type" python3 "$stored" near $type.safetensors $type.run/checkpoint.safetensors 0
  check "evaluation with $type" ./net eval train --init $type.safetensors
done
"$nnc" net.net --float=f64 -o double >double.build 2>&1 || fail "double does not compile: $(cat double.build)"
check_status "f64 from f32" 0 'loaded 9 tensors of' ./double --init weights.safetensors --epochs 0 --out double.run
check "the values in f64" python3 "$stored" near weights.safetensors double.run/checkpoint.safetensors 0
check_status "f32 from f64" 0 'loaded 9 tensors of' ./net --init double.run/checkpoint.safetensors --epochs 0 --out back.run
check "the values in f32 again" python3 "$stored" near weights.safetensors back.run/checkpoint.safetensors 0
check_status "a run goes on in its own types only" 1 'in.w: F64.* in the file, f32' ./net --resume double.run/checkpoint.safetensors --out no.run
python3 - <<'END'
import json, struct
data = open("double.run/checkpoint.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
at = start + json.loads(data[8:start])["head.w"]["data_offsets"][0]
open("large.safetensors", "wb").write(data[:at] + struct.pack("<d", 1e300) + data[at + 8:])
END
check_status "a number that f32 lacks" 1 'value 0 of head.w, 1e.300, is none of the program.s type f32' ./net --init large.safetensors --epochs 0 --out no.run

# A layer with one tensor under another name begins as without --init.
check "without --init" ./net --epochs 0 --out none.run
python3 "$stored" edit weights.safetensors half.safetensors head.w=head.weight norm.running_var=
said=$(./net --init half.safetensors --epochs 0 --out half.run 2>&1)
has "half a layer" "$said" 'not loaded: head: w: missing in the file, the program has f32\[3, 1\]; b: fits, but the layer'
has "without statistics" "$said" 'not loaded: norm: .*running_var: missing in the file'
has "what is left" "$said" 'not used: head.weight of the file'
has "the rest" "$said" 'loaded 3 tensors of half.safetensors'
same() { if [ "$2" = "$3" ]; then ok; else fail "$1: $2 is not $3"; fi; }
values() { python3 "$stored" show "$@"; }
same "half a layer keeps its values" "$(values half.run/checkpoint.safetensors head.w head.b norm.gamma norm.running_mean)" \
  "$(values none.run/checkpoint.safetensors head.w head.b norm.gamma norm.running_mean)"
same "whole layers have the file's" "$(values half.run/checkpoint.safetensors in.w in.b)" "$(values weights.safetensors in.w in.b)"
python3 "$stored" edit weights.safetensors none.safetensors in.w=a in.b=b head.w=c head.b=d
check_status "no tensor of a layer" 0 'not loaded: in: the file has none of its 2 tensors' ./net --init none.safetensors --epochs 0 --out none2.run
# Frozen layers must be in the file.
check_status "a frozen trunk" 0 'loaded 9 tensors' ./fixed --init weights.safetensors --epochs 0 --out fixed.run
check_status "a trunk under other names" 1 "'in.w' is frozen, and this file does not set it" ./fixed --init none.safetensors --out no.run
check_status "half a frozen layer" 1 "'norm.gamma' is frozen, and this file does not set it" ./fixed --init half.safetensors --out no.run
if [ -e no.run/checkpoint.safetensors ]; then fail "a refused start saved"; else ok; fi
sed 's/linear(x, 3, /linear(x, 3, init = load("weights.safetensors", "in.w"), /; s/, "norm.\*"//' net.net >loads.net
"$nnc" loads.net -D fix=true -o loads >loads.build 2>&1 || fail "loads does not compile: $(cat loads.build)"
check_status "what load() does not set" 1 "'in.b' is frozen, and this file does not set it" ./loads --init none.safetensors --out no.run
if ./loads --init none.safetensors --out no.run 2>&1 | grep -q "'in.w'"; then fail "what load() sets is refused"; else ok; fi

# ---- --init of several files: each tensor is of the last that has it ----
check "another run" ./net --seed 9 --out other9.run
check "its head" ./net export --out other9.run --only 'head.*' head.safetensors
python3 "$stored" edit weights.safetensors trunk.safetensors head.w= head.b=
python3 "$stored" edit head.safetensors bias.safetensors head.w=
python3 "$stored" edit head.safetensors turned.safetensors head.w=head.b head.b=head.w
said=$(./net --init trunk.safetensors --init head.safetensors --epochs 0 --out both.run 2>&1)
has "the first of two files" "$said" 'loaded 7 tensors of trunk.safetensors: in, norm, seen$'
has "the second of two files" "$said" 'loaded 2 tensors of head.safetensors: head$'
both=both.run/checkpoint.safetensors
trunk_of() { values "$1" in.w in.b norm.gamma norm.beta norm.running_mean norm.running_var seen; }
same "the trunk of one file" "$(trunk_of $both)" "$(trunk_of weights.safetensors)"
same "the head of another" "$(values $both head.w head.b)" "$(values head.safetensors head.w head.b)"
check "a later file goes first" ./net --init weights.safetensors --init head.safetensors --epochs 0 --out later.run
same "what a later file has" "$(trunk_of later.run/checkpoint.safetensors; values later.run/checkpoint.safetensors head.w head.b)" \
  "$(trunk_of $both; values $both head.w head.b)"
check_status "a file that gives nothing" 1 'head.safetensors: none of its 2 tensors fits this program and is missing in the files of --init after it' \
  ./net --init head.safetensors --init weights.safetensors --epochs 0 --out no.run
said=$(./net --init weights.safetensors --init bias.safetensors --epochs 0 --out mixed.run 2>&1)
has "half a layer of each" "$said" 'loaded 1 tensor of bias.safetensors: head$'
same "half a layer of each" "$(values mixed.run/checkpoint.safetensors head.w head.b)" \
  "$(values weights.safetensors head.w; values bias.safetensors head.b)"
check_status "a later file that does not fit" 0 'not loaded: head: w: F32\[1\] in turned.safetensors, f32\[3, 1\] in the program; b: F32\[3, 1\] in turned' \
  bash -c './net --init trunk.safetensors --init turned.safetensors --epochs 0 --out no.run; true'
check_status "frozen, and in neither" 1 "'norm.gamma' is frozen, and these files do not set it" \
  ./fixed --init half.safetensors --init bias.safetensors --out no.run
for command in "predict --format csv x.csv" "eval train --json"; do
  same "$command of two files" "$(./net $command --init trunk.safetensors --init head.safetensors -q)" "$(./net $command --init $both -q)"
done
said=$(./net export joined.safetensors --init trunk.safetensors --init head.safetensors 2>&1)
has "an export tells, too" "$said" 'loaded 2 tensors of head.safetensors: head$'
same "an export of two files" "$(trunk_of joined.safetensors; values joined.safetensors head.w head.b)" "$(trunk_of $both; values $both head.w head.b)"
check_status "what neither has" 1 'what the files of --init have does not fit this program' ./net eval --init trunk.safetensors --init bias.safetensors
check_status "what neither has, by name" 1 'head.w: missing in the files, the program has f32' ./net eval --init trunk.safetensors --init bias.safetensors
check_status "too many files" 2 'init: at most 16 files' ./net $(for i in {1..17}; do echo --init weights.safetensors; done)
check_status "one cannot be read" 1 'cannot open absent.safetensors' ./net --init weights.safetensors --init absent.safetensors
# Averages: those that a file lacks begin with its parameters, those that the program lacks are told.
sed 's/optimizer = adam,/optimizer = adam, average = ema(0.5),/' net.net >mean.net
build_it mean
said=$(./mean --init weights.safetensors --epochs 0 --out mean0.run 2>&1)
has "a file without averages" "$said" 'loaded 9 tensors of weights.safetensors$'
has "what its averages are" "$said" 'weights.safetensors has no average of 6 parameters: they begin with the parameters$'
same "the averages" "$(values mean0.run/checkpoint.safetensors in.w:average norm.gamma:average head.b:average | sed 's/:average//')" \
  "$(values weights.safetensors in.w norm.gamma head.b)"
same "evaluation of raw weights" "$(./mean eval train --json -q --init weights.safetensors)" "$(./net eval train --json -q --init weights.safetensors)"
check "training from raw weights" ./mean --init weights.safetensors --out mean.run
check "its export" ./mean export mean.safetensors --out mean.run
said=$(./net eval train --init mean.safetensors 2>&1)
has "averages without use" "$said" "not used: the averages of 6 parameters in mean.safetensors; the program has no 'average' for them and takes"
said=$(./net --init mean.safetensors --epochs 0 --out no.run 2>&1)
has "averages without use in a run" "$said" "not used: the averages of 6 parameters in mean.safetensors"
said=$(./mean eval train --init mean.safetensors --init head.safetensors 2>&1)
has "each layer once" "$said" 'loaded 11 tensors of mean.safetensors: in, norm, seen$'
has "averages of the last file with the parameter" "$said" 'head.safetensors has no average of 2 parameters: they begin'
if grep -q 'not used' <<<"$said"; then fail "averages that are used: $said"; else ok; fi
check "both in one file" ./mean export of_both.safetensors --init mean.safetensors --init head.safetensors
same "averages of two files" "$(values of_both.safetensors in.w:average head.w:average | sed 's/head.w:average/head.w/')" \
  "$(values mean.safetensors in.w:average; values head.safetensors head.w)"
if [ "$(values mean.safetensors in.w:average)" = "$(values mean.safetensors in.w)" ]; then fail "averages that do not differ"; else ok; fi
check_status "a run does not go on without averages" 1 'in.w:average: missing in the file' ./mean --resume net.run/checkpoint.safetensors --out no.run
has "diff-parameters of averages" "$("$nnc" diff-parameters weights.safetensors mean.net)" \
  '^--init: loads 9 of 15 parameters and states; averages that begin with parameters: 6$'
# Fitted values are those of the last file that has them.
python3 "$stored" edit $stored_scores bare.safetensors loss.b=
same "the scores of the first file" "$(./scores eval test -q --json --init $stored_scores --init bare.safetensors)" "$(./scores eval test -q --json)"
# A sweep that goes on gives the files to the runs that have no checkpoint yet.
sweeps() { ./net sweep --seed 1..3 --init trunk.safetensors --init head.safetensors --epochs 2 --jobs 1 -q --out swept "$@"; }
check "a sweep from files" sweeps --json
cp swept/seed=2/checkpoint.safetensors whole2.safetensors; rm -r swept/seed=2
check "it goes on" sweeps --resume --json
check "the run that was missing" cmp whole2.safetensors swept/seed=2/checkpoint.safetensors

# ---- a run in parts: its schedules end where those of the whole run do ----
sed 's/optimizer = adam, epochs = 2/optimizer = adam(lr = cosine(0.1, warmup = 1 epochs)), epochs = 6/' net.net >annealed.net
sed 's/optimizer = adam, epochs = 2/optimizer = adam(lr = exponential(0.1, 0.9, 2)), epochs = 6/' net.net >steady.net
build_it annealed; build_it steady
equal() { # equal NAME RUN RUN: checkpoints, and logs but for the times
  check "$1: checkpoints" cmp "$2/checkpoint.safetensors" "$3/checkpoint.safetensors"
  check "$1: logs" cmp <(sed 's/"seconds":[0-9.]*//; s/,"command":\[[^]]*\]//' "$2/log.jsonl") <(sed 's/"seconds":[0-9.]*//; s/,"command":\[[^]]*\]//' "$3/log.jsonl")
}
check "the whole run" ./annealed -q --out whole
check "two epochs of six" ./annealed -q -e 2 --schedule 6 --out parts
check "two more" ./annealed -q --resume -e 4 --out parts
said=$(./annealed --resume --out parts 2>&1)
equal "in parts" whole parts
if grep -q schedule <<<"$said"; then fail "warned of a length that is kept: $said"; else ok; fi
check "a run of two" ./annealed -q -e 2 --out short
check_status "a longer run" 0 'warning: the schedules were made for 4 steps and keep that length: from there to step 8 they stay' \
  ./annealed --resume -e 4 --out short
check "another two" ./annealed -q -e 2 --out long
said=$(./annealed --resume -e 4 --schedule 4 --out long 2>&1)
if grep -q schedule <<<"$said"; then fail "warned of a length that was given: $said"; else ok; fi
check "steps" ./annealed -q -s 12 --out steps
check "some steps of these" ./annealed -q -s 5 --schedule 12 --out some
check "the other steps" ./annealed -q --resume -s 12 --out some
check "the same parameters" cmp <(./annealed export -q --out steps a.safetensors; cat a.safetensors) <(./annealed export -q --out some b.safetensors; cat b.safetensors)
check "a schedule without an end" ./steady -q --out steady.whole
check "a part of it" ./steady -q -e 3 --out steady.parts
said=$(./steady --resume --out steady.parts 2>&1)
equal "a schedule without an end" steady.whole steady.parts
if grep -q schedule <<<"$said"; then fail "warned of a schedule without an end: $said"; else ok; fi
check_status "the length of a schedule without an end" 0 \
  'steady: warning: --schedule 9 changes nothing: no schedule of steady.net depends on the run' ./steady -q --schedule 9 --out steady.given

# ---- what diff-parameters says is what --init and --resume do ----
cat >old.net <<'END'
const batch = 8, classes = 3, width = 16
data train { x, y = csv("d.csv", header = false, columns = [0..4, 4]) }
input x : f32[batch, 4]
input y : i32[batch]
param scale : [4] = ones
param shift : [4] = zeros
h = relu(batch_norm(linear(x * scale + shift, width)))
logits = linear(relu(linear(h, 8, name = "middle")), classes)
loss = cross_entropy(logits, y % classes)
train { minimize = loss, optimizer = adam, epochs = 1, params "middle.*" { frozen = true } }
END
awk 'BEGIN { for (i = 0; i < 40; i++) printf "%g,%g,%g,%g,%d\n", sin(i), cos(i), sin(2 * i), cos(3 * i), i % 3 }' >d.csv
sed 's/"middle"/"centre"/; s/frozen = true/weight_decay = 0.1/; s/adam,/adamw,/; s/classes = 3/classes = 5/' old.net >renamed.net
sed 's/width = 16/width = 12/; s/ + shift//; /param shift/d' old.net >narrow.net
sed 's/"middle"/"centre"/; s/"middle/"centre/' old.net >frozen.net
sed 's/adam,/sgd(lr = 0.1, momentum = 0.9),/' old.net >momentum.net
sed 's/^param scale.*/param scale : f64[4] = ones/; s/x \* scale/x * f32(scale)/' old.net >types.net
cp old.net same.net
build_it old --cflags=-O0 --units=1
check "a checkpoint" ./old -q --out old.run
for name in renamed narrow frozen momentum types same; do
  build_it $name --cflags=-O0 --units=1
  said=$("$nnc" diff-parameters old.net $name.net 2>&1); status=$?
  from=$("$nnc" diff-parameters old.run/checkpoint.safetensors $name.net 2>&1)
  check "$name: the same of the checkpoint" cmp <(grep -v '^-' <<<"$said") <(grep -v '^-' <<<"$from")
  loaded=$(./$name --init old.run/checkpoint.safetensors --epochs 0 --out $name.run 2>&1 | sed -n 's/.*: loaded \([0-9]*\) tensors\{0,1\} of.*/\1/p')
  told=$(sed -n 's/^--init: loads \([0-9]*\) of.*/\1/p' <<<"$said")
  if [ "$loaded" = "$told" ]; then ok; else fail "$name: --init loads '$loaded', told '$told': $said"; fi
  resumed=refuses; ./$name -q --resume old.run/checkpoint.safetensors --out $name.resumed >$name.said 2>&1 && resumed="goes on"
  has "$name: --resume" "$said" "^--resume: $resumed"
  if { [ $status -eq 0 ] && [ "$resumed" = "goes on" ]; } || { [ $status -eq 1 ] && [ "$resumed" = refuses ]; }; then ok
  else fail "$name: the status $status where --resume $resumed"; fi
done
# What --resume says of it: the lines that changed, one cause in one line, some of the tensors otherwise.
told() { # told NAME LINE...: these, without the word in front
  local name=$1; shift
  check "$name: what --resume says: $(cat $name.said)" cmp <(sed "s/^$name: //" $name.said) <(printf '%s\n' "$@")
}
changed='warning: old.run/checkpoint.safetensors was made by another source (- then, + now):'
train_line() { sed -n "s/^train/warning:   $1 line 10: train/p" "$2.net"; }
told momentum "$changed" "$(train_line - old)" "$(train_line + momentum)" \
  "error: --resume cannot go on with old.run/checkpoint.safetensors: the states of its optimizer are not those of this program (batch_norm.0.beta:m: in the file, unknown to the program, and others); --init old.run/checkpoint.safetensors begins a new run with its weights"
check "nothing where nothing changed" test ! -s same.said
has "lines that changed, without the equal ones between them" "$(sed -n 's/.*:   \([-+] line [0-9]*\):.*/\1/p' renamed.said | tr '\n' ' ')" \
  '^- line 1 \+ line 1 - line 8 \+ line 8 - line 10 \+ line 10 $'
has "lines that are gone" "$(sed -n 's/.*:   \([-+] line [0-9]*\):.*/\1/p' narrow.said | tr '\n' ' ')" \
  '^- line 1 \+ line 1 - line 6 - line 7 \+ line 6 $'
has "some of the tensors" "$(cat narrow.said)" '^narrow: error:   \.\.\. and [0-9]+ more$'
has "and what fits" "$(cat narrow.said)" 'error: old.run/checkpoint.safetensors does not fit this program; --init old.run/checkpoint.safetensors begins a new run with what fits of it:$'
has "a type alone" "$(cat types.said)" 'error: .*its numbers are of another type \(scale: F32\[4\] in the file, f64\[4\] in the program.*weights, converted$'
has "a path that changed" "$("$nnc" diff-parameters old.net renamed.net)" '^- middle\.w +param .*\(renamed centre\.w\?\)'
has "a shape that changed" "$("$nnc" diff-parameters old.net renamed.net)" '^~ logits\.w +param +f32\[8, 5\]  was f32\[8, 3\]: does not fit; its layer begins anew'
has "something frozen" "$("$nnc" diff-parameters old.net frozen.net)" '^--init: refuses it: centre\.w is frozen'
has "a type that changed" "$("$nnc" diff-parameters old.net types.net)" '^~ scale +param +f64\[4\]  was f32\[4\]: converted'
has "an optimizer that changed" "$("$nnc" diff-parameters old.net momentum.net)" '^[0-9]+ states of the optimizer differ$'
check_status "-D is for the new one" 1 '^~ logits\.w .* f32\[8, 7\]' "$nnc" diff-parameters old.net same.net -D classes=7
check_status "one file" 2 'diff-parameters wants two files, OLD and NEW' "$nnc" diff-parameters old.net
printf 'no header' >torn.safetensors
check_status "no checkpoint" 3 'cannot read torn.safetensors: it is no safetensors file' "$nnc" diff-parameters torn.safetensors old.net
check "what a program declares is what its executable has" cmp <("$nnc" check --parameters old.net | sed -n 's/^\([^ ]*\) .* \(f32\[.*\]\).*/\1 \2/p' | sort) \
  <(./old info --json | python3 -c 'import json, sys
for v in json.load(sys.stdin)["variables"]: print(v["name"], "%s[%s]" % (v.get("dtype", v.get("type")), ", ".join(map(str, v["shape"]))))' | sort)
# ---- a name that is bound more than once: its layers are numbered, which is said where it matters ----
rebound() { # rebound NAME LINES: a program whose network is these lines
  { sed '/^param/d; /^h = /,$d' old.net; echo "$2"; sed -n '/^loss = /,$p' old.net | sed 's/, params .*/ }/'; } >"$1.net"
}
rebound once 'h = relu(linear(x, 8))
logits = linear(h, classes)'
rebound twice 'h = relu(linear(x, 8))
h = dropout(h, 0.1)
logits = linear(h, classes)'
rebound thrice 'h = relu(linear(x, 8))
h = relu(linear(h, 8))
logits = linear(h, classes)'
rebound named 'h = relu(linear(x, 8, name = "h"))
h = relu(linear(h, 8, name = "more"))
logits = linear(h, classes)'
rebound inside 'def block(v) { z = linear(v, 8); v = relu(z); return relu(linear(v, 8)) }
def deep(v) { v = linear(v, 8); v = linear(v, 8); return v }
for i in 0..3 { h = i == 0 ? block(x) : h }
g = deep(deep(h))
logits = linear(g, classes)'
same() { # same WHAT WANTED COMMAND...: its notes
  local what=$1 wanted=$2; shift 2
  if [ "$("$@" 2>&1 | grep -E '^(note|help)')" = "$wanted" ]; then ok; else fail "$what: $("$@" 2>&1)"; fi
}
same "a name bound once" "" "$nnc" check --parameters once.net
same "calls that are named" "" "$nnc" check --parameters named.net
keep='help: numbers change when such a statement is added or removed; name = "..." in a call gives its layer a path that stays'
same "a statement without a layer" "note: twice.net:5: 'h' is bound more than once, so its layers are numbered: linear.0
$keep" "$nnc" check --parameters twice.net
same "two layers" "note: thrice.net:5: 'h' is bound more than once, so its layers are numbered: linear.0, linear.1
$keep" "$nnc" check --parameters thrice.net
same "in a def, argument and all; loops are no news" "note: inside.net:6: 'v' is bound more than once, so its layers are numbered: \
deep.0.linear.0, deep.0.linear.1, deep.1.linear.0, deep.1.linear.1
$keep" "$nnc" check --parameters inside.net
same "nothing without --parameters" "" "$nnc" check thrice.net
theirs='help: name = "..." in a call gives its layer the path that the other has'
same "a path that a second statement took" "note: twice.net:5: 'h' is bound more than once, so its layers are linear.0; in once.net it is the path h
$theirs" "$nnc" diff-parameters once.net twice.net
has "it was perhaps renamed" "$("$nnc" diff-parameters once.net twice.net)" '^- h\.w .*\(renamed linear\.0\.w\?\)'
same "a path that is one again" "note: twice.net:5: 'h' is bound more than once, so its layers are linear.0; in once.net it is the path h
$theirs" "$nnc" diff-parameters twice.net once.net
same "one layer more" "note: thrice.net:5: 'h' has 2 layers, which are numbered, and in twice.net 1: a number that both have may be of another layer
$theirs" "$nnc" diff-parameters twice.net thrice.net
same "the same bindings" "" "$nnc" diff-parameters thrice.net thrice.net
build_it once --cflags=-O0 --units=1
check "a checkpoint of it" ./once -q --out once.run
same "the same of a checkpoint" "note: twice.net:5: 'h' is bound more than once, so its layers are linear.0; in once.run/checkpoint.safetensors it is the path h
$theirs" "$nnc" diff-parameters once.run/checkpoint.safetensors twice.net
# ---- without inputs and data one evaluation, without dropout ----
cat >alone.net <<'END'
param w : [4] = ones
loss = mean((dropout(w, 0.5) - 3) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 20 }
END
build_it alone --cflags=-O0 --units=1
check "it begins" ./alone -q --steps 0
check_status "it is evaluated" 0 '^\{"step":0,"loss":4\}$' ./alone eval
check_status "how many" 0 '^10 parameters: ' "$nnc" check --parameters old.net
check_status "not without check" 2 '--parameters is for nnc check' "$nnc" --parameters old.net
summary
