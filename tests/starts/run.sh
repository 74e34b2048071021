#!/usr/bin/env bash
# How a run begins: what it finds in its folder stays until it has done a step.  Usage: tests/starts/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
build_it() { "$nnc" "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"; }
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
summary
