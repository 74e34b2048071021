#!/usr/bin/env bash
# Labels are held against the number of classes before training: also where `ignore` excepts one, at every
# level of optimization.  Usage: tests/labels/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# labels NAME LABEL...: rows of a number and a label
labels() { local name=$1; shift; printf '%s\n' "$@" | awk '{ print NR / 8 "," $1 }' > "$name.csv"; }
labels plain 0 1 2 1
labels ignored 0 -1 2 -1
labels below 0 -1 -2 1
labels above 0 -1 3 1

# program NAME LOSS [OPTION [STATEMENT]]
program() {
  cat > "$1.net" <<EOF
const batch = 4
data train { x, y = csv("train.csv", columns = [0, 1], header = false) }
input x : f32[batch]
input y : i32[batch]
logits = linear(x[:, none], 3)
${4:-}
loss = $2
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }
EOF
  "$nnc" ${3:-} "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"
}
run() { # run STATUS PATTERN PROGRAM LABELS
  cp "$4.csv" train.csv
  check_status "$3 with $4" "$1" "$2" "./$3" --out x.run
}
refusal="'y' holds %s, but the model takes it as an index from 0 to 2"
for level in -O0 -O1; do
  program ignores 'cross_entropy(logits, y, ignore = -1)' $level
  run 0 epoch ignores plain
  run 0 epoch ignores ignored
  run 1 "${refusal/\%s/-2}" ignores below
  run 1 "${refusal/\%s/3}; 4 instead of 3 are needed" ignores above
done
program weighs 'cross_entropy(logits, y, ignore = -1, weights = [1.0, 2.0, 3.0], smoothing = 0.1)'
run 0 epoch weighs ignored
run 1 "${refusal/\%s/3}" weighs above
program likely 'nll(log_softmax(logits), y, ignore = -1)'
run 0 epoch likely ignored
run 1 "${refusal/\%s/-2}" likely below
# Another use of the label without the exception.
program both 'cross_entropy(logits, y, ignore = -1) + cross_entropy(2 * logits, y)'
run 0 epoch both plain
run 1 "${refusal/\%s/-1}" both ignored
program embeds 'cross_entropy(logits, y, ignore = -1) + 0 * mean(one_hot(y, 3))'
run 0 epoch embeds plain
# In the steps of a scan, whether it is written out or a loop.
for scans in unroll loop; do
  program "$scans" 'mean(v * logits[:, 0])' "--scans=$scans" 'param t : f32[3] = 1.0; v = scan k in y { yield t[k] }'
  run 1 "${refusal/\%s/-1}" "$scans" ignored
  run 0 epoch "$scans" plain
done
# Beside other positions, each is held against its own axis.
program beside 'mean(t[arange(batch) % 2, y] * logits[:, 0])' -O1 'param t : f32[2, 3] = 1.0'
run 0 epoch beside plain
run 1 "${refusal/\%s/-1}" beside above
program without 'cross_entropy(logits, y)'
run 1 "${refusal/\%s/-1}" without ignored
run 0 epoch without plain

# Masks from pictures are read while the run goes on: each is held against the classes then, and told by its name.
masks() { # masks VALUE...: four masks of 2 x 2 pixels, whose first pixel has that value, and pictures beside them
  rm -rf pictures masks; mkdir -p pictures/all masks/all
  python3 - "$@" <<'END'
import struct, sys, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
for i, value in enumerate(sys.argv[1:]):
    for folder, pixels in ("pictures", [40 * i, 50, 60, 70]), ("masks", [int(value), 1, 2, 0]):
        rows = b"".join(b"\0" + bytes(pixels[k:k + 2]) for k in (0, 2))
        with open(f"{folder}/all/{i}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)) +
                       chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
}
segment() { # segment NAME TYPE LOSS
  cat > "$1.net" <<EOF
const batch = 2
data train { image = image_folder("pictures"); mask = image_folder("masks") }
data test  { image = image_folder("pictures"); mask = image_folder("masks") }
input image : u8[batch, 1, 2, 2]
input mask  : $2[batch, 1, 2, 2]
scores = transpose(conv2d(f32(image) / 255, 3, 1), [0, 2, 3, 1])
loss = $3
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }
EOF
  "$nnc" "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"
}
same() { if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' instead of '$3'"; fi; }
loss() { grep -o '"test/loss":[0-9.e+-]*' x.run/log.jsonl | tail -n 1; }
segment void u8 'cross_entropy(scores, mask[:, 0], ignore = 255)'
segment wide i64 'cross_entropy(scores, mask[:, 0], ignore = 255)'
segment full u8 'cross_entropy(scores, mask[:, 0])'
for program in void wide; do
  masks 255 0 255 2
  check "$program: masks with pixels of no class" ./$program --out x.run --seed 7
  void=$(loss)
  masks 255 0 255 3
  check_status "$program: a class too many" 1 \
    "masks/all/3.png: 'mask' holds 3, but the model takes it as an index from 0 to 2" ./$program --out x.run
done
masks 1 0 1 2
check "masks that are whole" ./full --out x.run
masks 1 0 255 2
check_status "a pixel of no class that is not excepted" 1 \
  "masks/all/2.png: 'mask' holds 255, but the model takes it as an index from 0 to 2" ./full --out x.run
# The same numbers from arrays give the same loss.
python3 - <<'END'
import struct
def array(name, values):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 1, 2, 2), }"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(values))
array("pictures.npy", sum(([40 * i, 50, 60, 70] for i in range(4)), []))
array("masks.npy", sum(([value, 1, 2, 0] for value in (255, 0, 255, 2)), []))
END
sed 's/image_folder("\(.*\)"); mask = image_folder("\(.*\)")/npy("\1.npy"); mask = npy("\2.npy")/' void.net > arrays.net
"$nnc" arrays.net -o arrays > arrays.build 2>&1 || fail "arrays: $(cat arrays.build)"
check "masks in arrays" ./arrays --out x.run --seed 7
same "pictures and arrays" "$void" "$(loss)"
summary
