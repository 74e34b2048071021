#!/usr/bin/env bash
# nnc-data: archives of pictures train as their folder; tables of Parquet have pyarrow's values, and train; messages.
#
#   tests/convert/run.sh BUILD      $PYARROW: a Python that has pyarrow (python3)
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
tables=$PWD/tests/convert/tables.py
python=${PYARROW:-python3}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
data=("$python" "$build/bin/nnc-data")
# program NAME LINES: compiles it with the line that nnc-data printed last, into ./NAME.
line_of() { sed -n 's/^    data train/data train/p' said; }
said() { local name=$1; shift; if "${data[@]}" "$@" >said 2>errors; then ok; else fail "$name: $(cat errors)"; fi; }
program() { cat >"$1.net"; check "compile $1" "$build/bin/nnc" "$1.net" -o "$1"; }
digest() { (cd "$1" && sha256sum -- *.tar) | sha256sum; }

# ---- shards ----
check "pictures" "$build/bin/nnc-shapes" shapes --train 40 --val 1 --size 16
said "shards" shards shapes/train -o one --size 7
check_status "archives" 0 '^6$' bash -c 'ls one/*.tar | wc -l'
check "classes" diff <(ls shapes/train | LC_ALL=C sort) one/train.classes.txt
pictures() { # NAME LINE: a program in the order of the files
  program "$1" <<END
const batch = 4
${2% \}}; order = file }
input image : u8[batch, 3, 16, 16]
input label : i32[batch]
logits = linear(flatten(f32(image) / 255), 6)
loss = cross_entropy(logits, label)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 2 }
END
}
check_status "what is printed" 0 'image, label = shards\("one/train-\{000000..000005\}.tar"' cat said
pictures tar "$(line_of | sed 's/resize(256) | center_crop(224)/resize(16, 16)/')"
pictures folder 'data train { image, label = image_folder("shapes/train") | resize(16, 16) }'
check "trains on archives" ./tar
check "trains on the folder" ./folder
weights() { python3 - "$1" <<'END'
import hashlib, json, struct, sys
content = open(sys.argv[1], "rb").read()
print(hashlib.sha256(content[8 + struct.unpack("<Q", content[:8])[0]:]).hexdigest())
END
}
check "archives train as their folder" test "$(weights tar.run/checkpoint.safetensors)" = "$(weights folder.run/checkpoint.safetensors)"
"${data[@]}" shards shapes/train -o two --size 7 >/dev/null
"${data[@]}" shards shapes/train -o three --size 7 --shuffle 1 >/dev/null
"${data[@]}" shards shapes/train -o four --size 7 --shuffle 1 >/dev/null
"${data[@]}" shards shapes/train -o five --size 7 --shuffle 2 >/dev/null
check "the same bytes" test "$(digest one)" = "$(digest two)" -a "$(digest three)" = "$(digest four)"
check "other orders" test "$(digest one)" != "$(digest three)" -a "$(digest three)" != "$(digest five)"
check_status "what is there stays" 1 'one/train-000000.tar is there already' "${data[@]}" shards shapes/train -o one
check_status "no pictures" 1 'one has no pictures' "${data[@]}" shards one -o six
check_status "no folder" 1 'nowhere' "${data[@]}" shards nowhere -o six
check_status "no size" 2 '--size is a number of examples from 1 on' "${data[@]}" shards one -o six --size 0

# Sounds train as their folder, too: of several lengths, with chunks before the samples.
python3 - <<'END'
import math, os, struct, wave
for i in range(30):
    folder = f"sounds/{'low' if i % 2 else 'high'}"
    os.makedirs(folder, exist_ok=True)
    with wave.open(f"{folder}/{i:02}.{'WAV' if i == 4 else 'wav'}", "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
        file.writeframes(b"".join(struct.pack("<h", round(9000 * math.sin(0.05 * (1 + i % 2) * k + i))) for k in range(90 + 7 * (i % 3))))
content = open("sounds/low/07.wav", "rb").read()
extra = b"note" + struct.pack("<I", 3) + b"abc\0"
open("sounds/low/07.wav", "wb").write(content[:4] + struct.pack("<I", len(content) - 8 + len(extra)) + content[8:12] + extra + content[12:])
END
said "shards of sounds" shards sounds -o heard --size 8
check_status "30 sounds in 4" 0 '^30 sounds of 2 classes in 4 archives' cat said
check_status "their rate and length" 0 'sound, label = shards\("heard/sounds-\{000000..000003\}[.]tar", members = \["wav", "cls"\], rate = 8000, fit = "random"\)' cat said
check_status "and how long they are" 0 '^sound: 90 to 104 samples' cat said
check "their classes" diff <(printf 'high\nlow\n') heard/sounds.classes.txt
sounds() { # NAME LINE
  program "$1" <<END
const batch = 4
${2% \}}; order = file }
input sound : f32[batch, 80]
input label : i32[batch]
loss = cross_entropy(linear(sound, 2), label)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 2 }
END
}
sounds tarred "$(line_of)"
sounds foldered 'data train { sound, label = wav_folder("sounds", rate = 8000, fit = "random") }'
check "trains on archives of sounds" ./tarred
check "trains on the folder of sounds" ./foldered
check "sounds in archives train as their folder" test "$(weights tarred.run/checkpoint.safetensors)" = "$(weights foldered.run/checkpoint.safetensors)"
python3 -c 'import wave; f = wave.open("sounds/low/99.wav", "wb"); f.setnchannels(1); f.setsampwidth(2); f.setframerate(16000); f.writeframes(bytes(200))'
check_status "another rate" 1 'sounds/high/00[.]wav has 8000 samples a second, sounds/low/99[.]wav 16000: shards have sounds of one rate' "${data[@]}" shards sounds -o seven
echo nothing > sounds/low/99.wav
check_status "no sound" 1 'sounds/low/99[.]wav is no WAV file' "${data[@]}" shards sounds -o seven
cp shapes/train/"$(ls shapes/train | head -n 1)"/* sounds/low
check_status "pictures and sounds" 1 'sounds has pictures and sounds, as ' "${data[@]}" shards sounds -o seven
check "nothing is left" test ! -e seven

# ---- Parquet ----
mkdir none && echo 'raise ImportError("none")' >none/pyarrow.py
check_status "without pyarrow" 1 'pip install pyarrow' env PYTHONPATH=none "${data[@]}" parquet x.parquet -o out
if ! "$python" -c 'import pyarrow.parquet' 2>/dev/null; then
  echo "no pyarrow: its tables are skipped"
  summary
  exit
fi
mkdir in && check "tables" "$python" "$tables" write in
said "numbers" parquet in/numbers-*.parquet -o out
said "gaps" parquet in/mixed.parquet -o out --columns "a number,whole,y" --to npy --name gaps
check_status "gaps are imputed" 0 'a_number, whole, y = npy\("out/gaps.a_number.npy", .*\) \| impute\(a_number, whole\)' cat said
said "pictures" parquet in/pictures.parquet -o out
program seen <<END
const batch = 4
$(line_of)
input image : u8[batch, 3, 8, 8]
input label : i32[batch]
loss = cross_entropy(linear(flatten(f32(image) / 255), 2), label)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 2 }
END
check "trains on pictures" ./seen
said "mixed" parquet in/mixed.parquet -o out
program mixed <<END
const batch = 10
$(line_of)
input a_number : f32[batch]
input whole : f32[batch]
input text : i32[batch]
input y : i32[batch]
loss = cross_entropy(linear(concat(embedding(text, 8, 4), reshape(a_number, [batch, 1]), reshape(whole, [batch, 1]) / 300, axis = 1), 3), y)
train { minimize = loss, optimizer = adam(lr = 0.01), epochs = 2 }
END
check "trains on a table" ./mixed
check "values" "$python" "$tables" check out
check_status "a column that is not there" 1 'has no column "tekst"; do you mean "text"\? Its columns: a number, whole, text, y' \
  "${data[@]}" parquet in/mixed.parquet -o out --columns tekst
check_status "other columns in another file" 1 'pictures.parquet has no column "a number"' "${data[@]}" parquet in/mixed.parquet in/pictures.parquet -o out
check_status "text in arrays" 1 'column "text" is text' "${data[@]}" parquet in/mixed.parquet -o more --to npy
check_status "dates" 1 'column "when" is timestamp' "${data[@]}" parquet in/odd.parquet -o more
check_status "infinite" 1 'row 1 of column "far" is infinite' "${data[@]}" parquet in/odd.parquet -o more --columns far
check_status "too great" 1 'row 1 of column "great" is 9223372036854775808' "${data[@]}" parquet in/odd.parquet -o more --columns great
check_status "uneven" 1 'row 1 of column "uneven" has 2 values, others 1' "${data[@]}" parquet in/odd.parquet -o more --columns uneven
check_status "no picture" 1 'row 0 of column "bytes" is neither' "${data[@]}" parquet in/odd.parquet -o more --columns bytes
check_status "nothing is left of it" 0 '^0$' bash -c 'ls more | wc -l'
check_status "no Parquet" 1 'cannot read said' "${data[@]}" parquet said -o more
check_status "what is there stays" 1 'mixed.csv is there already' "${data[@]}" parquet in/mixed.parquet -o out
summary
