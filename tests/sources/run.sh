#!/usr/bin/env bash
# Sources in an executable: counter, constant, the files of predict's command line, arrays from files of every kind.
# Usage: tests/sources/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
here=$PWD/tests/sources
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# Six pictures of 8 x 8, of the shades 10, 20, ... 60, in two folders.
python3 - "$work" <<'END' || fail "the pictures"
import os, struct, sys, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
for i in range(6):
    folder = os.path.join(sys.argv[1], "train", "ab"[i // 3])
    os.makedirs(folder, exist_ok=True)
    rows = b"".join(b"\0" + bytes([10 * i + 10] * 24) for _ in range(8))
    with open(os.path.join(folder, f"{i}.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
check compile "$build/bin/nnc" tests/sources/rows.net -o "$work/rows"
check "compile in double" "$build/bin/nnc" tests/sources/rows.net --float=f64 -o "$work/rows64"
cd "$work" || exit 1
expect() { if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' instead of '$3'"; fi; }
metric() { grep -o "\"$2\":[0-9.e+-]*" "$1/log.jsonl" | cut -d: -f2 | sort -u | tr '\n' ' '; }

for program in rows rows64; do
  check "$program: train" ./$program --quiet --out $program.out
  expect "$program: numbers of an epoch" "$(metric $program.out train/number)" "2.5 "
  expect "$program: a row has its number" "$(metric $program.out train/misplaced)" "0 "
  expect "$program: constants" "$(metric $program.out train/weighed)$(metric $program.out train/scaled)" "1 7.5 "
  expect "$program: numbers of a part" "$(metric $program.out val/number)" "1.5 "
  expect "$program: constants of another set" "$(metric $program.out val/weighed)$(metric $program.out val/scaled)" "2 3.5 "
done

# Each file is a row; a folder stands for its pictures; what cannot be read is told, and the others are predicted.
echo "no picture" > notes.png
lines() { printf '{"shade":%s,"number":%s,"weight":3,"scaled":6}\n' "$@"; }
expect "files" "$(./rows predict --out rows.out train/b/4.png train/a 2>&1)" "$(lines 50 0 10 1 20 2 30 3)"
check_status "no files" 1 'predict needs 1 file: image \(files\); 0 given' ./rows predict --out rows.out
check_status "standard input" 1 'pictures are read from files' ./rows predict --out rows.out -
mkdir -p empty flat/train deep/train/one/two deep/val
cp train/a/*.png flat/train; cp train/a/*.png deep/train/one/two
check_status "an empty folder" 1 'empty holds no pictures \(.jpg, .jpeg, .png\)$' ./rows predict --out rows.out empty
check_status "a folder of folders" 1 'train holds no pictures itself .*; its folders a, b do: give these' ./rows predict --out rows.out train
cd train || exit 1
check_status "the folder at hand" 1 '[.] holds no pictures itself .*; its folders a, b do: give these' ../rows predict --out ../rows.out .
cd ..
check_status "no folders of classes" 1 'flat/train has no folders, but pictures, and the second field of image_folder is the class.* flat/train/CLASS, or leave that field out' ./rows --out x --data flat
# Where no field is the class, a folder itself may hold the pictures; the same pictures in a class folder are the same examples.
cat > loose.net <<'END'
const batch = 2
data train { image = image_folder("loose") | resize(8, 8); index = counter() }
data test { image = image_folder("train") | resize(8, 8); index = counter() }
input image : u8[batch, 3, 8, 8]
input index : i32[batch]
param scale : [] = 1
misplaced = mean(abs(mean(f32(image), axis = [1, 2, 3]) - 10 * (f32(index) + 1)) > 0.01)
loss = mean((scale * mean(f32(image)) - 1) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 1e-6), epochs = 1, metrics = [misplaced] }
END
mkdir -p loose/empty unclear/loose unclear/train
cp train/?/*.png loose; cp -r train/* unclear/train; cp train/?/*.png unclear/loose; cp -r train/a unclear/loose
check "compile loose" "$build/bin/nnc" loose.net -o loose_program
check "loose pictures" ./loose_program --quiet --out loose.out
expect "loose pictures: misplaced" "$(metric loose.out train/misplaced)$(metric loose.out test/misplaced)" "0 0 "
check_status "loose pictures beside folders of some" 1 'unclear/loose holds pictures itself, and so does its folder a: image_folder reads the one or the other' \
  ./loose_program --out x --data unclear
rm unclear/loose/a/*.png
check "folders of none beside loose pictures" ./loose_program --quiet --out x --data unclear
for number in {100..240}; do mkdir unclear/loose/$number; done
cp unclear/train/a/*.png unclear/loose/240
check_status "a folder of some after many of none" 1 'unclear/loose holds pictures itself, and so does its folder 240' \
  ./loose_program --out x --data unclear
rm -r unclear/loose/*.png unclear/loose/???
check_status "neither pictures nor folders of them" 1 'unclear/loose/a holds no pictures' ./loose_program --out x --data unclear
rmdir unclear/loose/a
check_status "an empty folder to train with" 1 'unclear/loose holds neither pictures \(.jpg, .jpeg, .png\) nor folders of them' ./loose_program --out x --data unclear
check_status "folders in that of a class" 1 'train/one holds no pictures itself .*; its folder two does: image_folder takes the folder whose folders are the classes' ./rows --out x --data deep
mixed=$(./rows predict --out rows.out train/a/0.png notes.png gone.png train/a/1.png 2>errors); status=$?
expect "the status of a row that fails" $status 1
expect "the other rows" "$mixed" "$(lines 10 0; echo '{"error":"notes.png: neither a JPEG nor a PNG file"}'
  echo '{"error":"cannot read gone.png: No such file or directory"}'; lines 20 3)"
expect "what is told" "$(wc -l <errors)$(tail -n 1 errors)" "3rows: error: 2 of 4 examples could not be read"
# 16 bits a channel are finer steps of the same light.
python3 - <<'END'
import struct, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
for name, kind, channels in ("fine", 2, 3), ("grey", 0, 1), ("clear", 4, 2):
    row = b"\0" + b"".join(struct.pack(">H", 65535 if c == 1 and channels == 2 else 257 * 70 + 100 - 25 * x) for x in range(8) for c in range(channels))
    with open(name + ".png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 16, kind, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(8 * row)) + chunk(b"IEND", b""))
END
expect "16 bits" "$(./rows predict --out rows.out fine.png grey.png clear.png 2>&1)" "$(lines 70 0 70 1 70 2)"
expect "csv" "$(./rows predict --format=csv --out rows.out notes.png train/a/1.png 2>&-)" "$(printf 'shade,number,weight,scaled\n,,,\n20,1,3,6')"

# Stages that draw do so in training: prediction by the training set's line answers the same to the same file.
cat > drawn.net <<'END'
const batch = 2
data train { image = image_folder("train") | random_crop(8) | random_flip }
input image : u8[batch, 3, 8, 8]
loss = mean(linear(flatten(f32(image)), 1))
train { minimize = loss, optimizer = sgd(lr = 0.001), epochs = 1 }
predict { left = sum(f32(image)[..., :4]), right = sum(f32(image)[..., 4:]) }
END
sed 's/random_crop(8) | random_flip/center_crop(8)/' drawn.net > middle.net
python3 - <<'END'
import os, struct, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
rows = b"".join(b"\0" + bytes((7 * x * x + 5 * y + 3 * c) % 251 for x in range(30) for c in range(3)) for y in range(24))
with open("wide.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 24, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
for program in drawn middle; do
  check "$program: compile" "$build/bin/nnc" $program.net -o $program
  check "$program: train" ./$program --quiet --out $program.out
done
# What training waits for pictures is a figure: of the log, of progress, of bench, and the threads' time of profile.
expect "the log has the wait" "$(grep -cE '"seconds":[0-9.]+,"data_wait":[01][.][0-9]{4},"train/loss"' drawn.out/log.jsonl)" 1
check_status "the report has the wait" 0 ' s  data [0-9]+%' ./drawn --out again.out
check_status "bench has the wait" 0 '"data_wait":[0-9.e-]+' ./drawn bench --data . --steps 4
check_status "bench ahead has the wait" 0 '"data_wait":[0-9.e-]+' ./drawn bench --ahead --data . --steps 4
check_status "profile has the threads" 0 'Beside it [0-9]+ threads? of the data take' ./drawn profile --data . --steps 4
check_status "profile has them in JSON" 0 '"loading_threads":[1-9][0-9]*,"loading_ms":[0-9.e-]+' ./drawn profile --json --data . --steps 4
expect "synthetic inputs wait for nothing" "$(./drawn bench --steps 4 | grep -c data_wait)" 0
check_status "the data alone" 0 '"examples":8,"data_threads":[1-9].*"read_ms":.*"decode_ms":.*"scale_ms":.*"convert_ms":' ./drawn bench --data-only --data . --steps 4
# What is cached changes no bit, and bench tells what it gains.
for cache in 1M 1M,encoded 1M,in=kept 300; do
  check "--cache $cache" ./drawn --quiet --cache $cache --out cached.out
  check "the weights with --cache $cache" cmp drawn.out/checkpoint.safetensors cached.out/checkpoint.safetensors
  rm -rf cached.out
done
check_status "what the cache gains" 0 '"cached":1,"first_per_second":[0-9.e+]+,"gain":[0-9.]+}' ./middle bench --data-only --data . --steps 4 --cache 1M
check_status "a cache of no size" 1 "--cache wants a size first, such as 512M or 1.5G, not 'much'" ./drawn --cache much --out cached.out
check_status "a file that is no cache" 1 'notes.png is no cache of this version of nnc; name another file, or delete it' ./drawn --cache 1M,in=notes.png --out cached.out
# Pictures that cannot be read: the run stops with their name, or leaves them out and tells.
sed 's/image_folder("train")/image_folder("hurt", on_error = "skip")/; s/random_flip }/random_flip | prefetch(0) }\ndata val { image = image_folder("hurt", on_error = "skip") | center_crop(8) }/' drawn.net > skips.net
sed 's/, on_error = "skip"//' skips.net > stops.net
cp -r train hurt; head -c 45 train/a/1.png > hurt/a/1.png; echo nothing > hurt/b/5.png
for program in skips stops; do check "$program: compile" "$build/bin/nnc" $program.net -o $program; done
check_status "a damaged picture stops the run" 1 'hurt/(a/1|b/5)[.]png: ' ./stops --epochs 3 --out stops.out
check_status "or is told" 0 'warning: .*hurt/a/1[.]png: cannot decode the PNG: .*; it is skipped' ./skips --epochs 3 --out skips.out
expect "once a set" "$(./skips --epochs 3 --out more.out 2>&1 | grep -c 'it is skipped')" 4
skipped() { sed -E 's/.*"skipped"/"skipped"/; s/,"command":\[[^]]*\]//; s/cannot decode[^"]*/?/g; s/neither[^"]*/?/g' skips.out/log.jsonl; }
files='"hurt/a/1.png: ?","hurt/b/5.png: ?"' turned='"hurt/b/5.png: ?","hurt/a/1.png: ?"' none='{"count":2,"files":[]}'
expect "the log has the names" "$(skipped | head -n 1 | sed "s|$turned|$files|")" \
  "\"skipped\":{\"train\":{\"count\":2,\"files\":[$files]},\"val\":{\"count\":2,\"files\":[$files]}}}"
expect "each once" "$(skipped | tail -n 1)" "\"skipped\":{\"train\":$none,\"val\":$none}}"
./skips --epochs 2 --out parts.out --quiet 2>&- && ./skips --epochs 3 --resume --out parts.out --quiet 2>&-
./skips --epochs 3 --threads 1 --out alone.out --quiet 2>&-
metrics() { grep -oE '"(train|val)/loss":[^,}]*' "$1/log.jsonl"; }
expect "resumed, the same" "$(metrics parts.out)" "$(metrics skips.out)"
expect "with one thread, the same" "$(metrics alone.out)" "$(metrics skips.out)"
check "and the same weights" cmp skips.out/checkpoint.safetensors parts.out/checkpoint.safetensors
# What is called like a picture and cannot be one is told in the same way; prediction goes past it.
cp -r train odd; mkdir odd/a/9.png; ln -s gone odd/b/link.png; ln -s loop.jpg odd/b/loop.jpg; mkfifo odd/b/pipe.jpeg
for program in skips stops; do
  sed 's/"hurt"/"odd"/' $program.net > odd_$program.net
  check "odd_$program: compile" "$build/bin/nnc" odd_$program.net -o odd_$program
done
check_status "a folder or a link to nowhere stops the run" 1 'odd/(a/9[.]png is called like a picture, but is a directory|b/(link[.]png|loop[.]jpg|pipe[.]jpeg)[: ].*)' ./odd_stops --out odd_stops.out
check "or is left out" timeout 60 ./odd_skips --epochs 2 --quiet --out odd_skips.out
expect "and counted" "$(sed -nE 's/.*"skipped":\{"train":\{"count":([0-9]+).*"val":\{"count":([0-9]+).*/\1 \2/p' odd_skips.out/log.jsonl | tail -n 1)" "4 4"
for name in "odd/a/9.png: it is a directory" "odd/b/link.png: No such file or directory" "odd/b/loop.jpg: Too many levels of symbolic links" "odd/b/pipe.jpeg: it is a pipe"; do
  expect "the log has $name" "$(grep -c "cannot read $name" odd_skips.out/log.jsonl)" 1
done
expect "prediction tells each and goes on" "$(./odd_skips predict --out odd_skips.out odd/a odd/b 2>&- | grep -c '"left":')/$(./odd_skips predict --out odd_skips.out odd/a odd/b 2>&- | grep -c '"error":"cannot read odd/')" "6/4"
expect "the folder of the classes is the one at hand" "$(cd train && ../middle predict --out ../middle.out . 2>&1)" "$(./middle predict --out middle.out train 2>&1)"
once=$(./middle predict --out middle.out wide.png 2>&1)
expect "the same file, the same answer" "$(./drawn predict --out drawn.out wide.png wide.png wide.png 2>&1)" "$once
$once
$once"

# standardize without names: the fields that feed the network. A prediction is in the units of the target.
awk 'BEGIN { for (i = 0; i < 64; i++) print i % 8 "," int(i / 8) * 100 "," 5000 + 3 * (i % 8) - int(i / 8) }' > units.csv
awk -F, '{ print $1 "," $2 }' units.csv | head -n 3 > asked.csv
standardized() { # NAME STAGE
  cat > "$1.net" <<END
const batch = 16
data train { x, y = csv("units.csv", header = false) | $2 }
input x : f32[batch, 2]
input y : f32[batch]
out  = linear(x, 1)[:, 0]
loss = mse(out, y) + 1e-6 * sum(out * out) / batch
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 100 }
predict { y = out }
END
  check "$1: compile" "$build/bin/nnc" "$1.net" -o "$1"
  check "$1: train" "./$1" --quiet --out "$1.out"
}
standardized nameless standardize
standardized named 'standardize(x)'
standardized both 'standardize(x, y)'
expect "without names as with the features' names" "$(./nameless predict --out nameless.out asked.csv 2>&1)" \
  "$(./named predict --out named.out asked.csv 2>&1)"
at_least "a prediction in the target's units" "$(./nameless predict --out nameless.out asked.csv | head -n 1 | tr -dc '0-9.')" 4990
for command in "predict --out both.out asked.csv" "--out both.out --resume" "eval train --out both.out"; do
  check_status "standard scores that the program no longer takes: $command" 1 'was trained with standardize\(y\)' ./nameless $command
done
check "standard scores that it takes" ./both predict --out both.out asked.csv

# A table of thousands of columns takes time and memory in proportion to them.
cat > wide.net <<'END'
const batch = 4
data train { x, y = csv("wide.csv", columns = [0..16000, 16000], header = false) }
input x : f32[batch, 16000]
input y : f32[batch]
loss = mse(linear(x, 1)[:, 0], y)
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }
END
check "16,001 columns in 2 GB" bash -c 'ulimit -v 2000000; exec timeout 60 "$0" wide.net --emit=c -o wide.c' "$build/bin/nnc"
# Arrays from files of every kind; sounds; boxes; masks; shards, and a file that is larger than what may be held of it.
for part in arrays stages joined patterns columns sounds shards boxes masks; do
  mkdir $part && said=$(python3 "$here/$part.py" "$build" $part); status=$?
  [ $status = 0 ] || echo "$said"
  passed=$((passed + $(tail -n 1 <<<"$said" | cut -d' ' -f1))) failed=$((failed + (status != 0)))
done
summary
