#!/usr/bin/env bash
# Predictions by batches: what they print is what examples print one by one, whatever --batch and the number of
# examples, on both targets; which programs have no such entry; --names, --top; pictures that cannot be read.
# Usage: tests/predict_batch/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
perl -e 'srand 3; for (1 .. 53) { print join(",", map { sprintf "%.4f", 2 * rand() - 1 } 1 .. 6), "\n" }' > x.csv
train='train { minimize = mean((z[:, 0] - x[:, 0]) ^ 2), optimizer = adam(lr = 1e-2), epochs = 2 }'
head='const batch = 16
data train { x = csv("x.csv", header = false) }
data test { x = csv("x.csv", header = false) }
input x : f32[batch, 6]
'
cat > plain.net <<PROGRAM
$head
z = linear(relu(linear(x, 33)), 5)
$train
predict { best = argmax(z), p = softmax(z), matrix = reshape(z[:, :4], [batch, 2, 2]), high = z[:, 0] > 0 }
PROGRAM
cat > random.net <<PROGRAM
$head
z = linear(tanh(linear(x, 8) + 0.5 * randn([batch, 8])), 3)
$train
predict { z = z, coin = rand([batch]) > 0.5 }
PROGRAM
cat > norm.net <<PROGRAM
$head
z = linear(batch_norm(linear(x, 8)), 3)
$train
predict { z = z }
PROGRAM

# near FILE FILE TOLERANCE: the same JSON but for rounding; equal lines in how many.
near() {
  python3 - "$@" <<'PYTHON'
import json, sys
def flat(value):
    if isinstance(value, dict): value = list(value.values())
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]
a, b = ([json.loads(line) for line in open(name)] for name in sys.argv[1:3])
assert len(a) == len(b) > 0, (len(a), len(b))
for p, q in zip(a, b):
    assert p.keys() == q.keys()
    for key in p:
        u, v = flat(p[key]), flat(q[key])
        assert len(u) == len(v) and all(type(s) is type(t) for s, t in zip(u, v)), (p, q)
        for s, t in zip(u, v):
            assert s == t if isinstance(s, (bool, str)) else abs(s - t) <= float(sys.argv[3]) * max(1, abs(s)), (key, s, t)
PYTHON
}
for target in c cuda; do
  for program in plain random norm; do
    exe=${program}_$target
    check "$exe compiles" emulated "$nnc" --target=$target $quick $program.net -o $exe
    check "$exe has the entry" bash -c "./$exe info | grep -q '^predict_batch *16 '"
    check "$exe trains" ./$exe --quiet --out $exe.run
    predict() { ./$exe predict --quiet --out $exe.run "$@"; }
    predict --batch 1 > ones
    predict > all
    check "$exe: one by one and by batches" near ones all 1e-6
    predict --batch 3 > threes
    check "$exe: three at a time" near ones threes 1e-6
    for count in 1 2 15 16 17 20 32 33; do
      head -n $count x.csv > part.csv
      predict part.csv > part
      check "$exe: $count examples" near part <(head -n $count ones) 1e-6
    done
    predict --threads 1 > one_thread
    check "$exe: threads change no bit" cmp all one_thread
    check_status "$exe: as a table" 0 '^54$' bash -c "./$exe predict --quiet --out $exe.run --format=csv | wc -l"
  done
done
check_status "too many" 1 '--batch: at most 16, as many as the program has in a batch' ./plain_c predict --out plain_c.run --batch 17
check_status "none" 2 '--batch wants a whole number of at least 1' ./plain_c predict --batch 0

# Examples that are not independent are predicted one by one, as ever.
no_batch() { # NAME PREDICT [BEFORE]
  printf '%s\nz = linear(x, 3)\n%s\n%s\npredict { %s }\n' "$head" "${3:-}" "$train" "$2" > "$1.net"
  check "$1 compiles" "$nnc" $quick "$1.net" -o "$1"
  check_status "$1 has no such entry" 1 'FAIL|^$' bash -c "./$1 info | grep predict_batch"
  check "$1 trains" "./$1" --quiet
  check "$1 predicts" test "$("./$1" predict --quiet | wc -l)" = 53
  check_status "$1: --batch" 1 "$1.net predicts one example at a time" "./$1" predict --batch 2
}
no_batch mixes 'z = z - mean(z, axis = 0)'
no_batch alike 'w = w, z = z' 'param w : [1, 3] = ones'
no_batch total 'total = sum(z)'
no_batch stream 'h = h' 'stream h : [batch, 3] = zeros
h <- 0.5 * h + z'
no_batch large 'wide = reshape(tanh(x @ full([6, 4096], 0.1)), [batch, 64, 64]) @ ones([64, 64])'
check "with --memory-limit none" bash -c "'$nnc' plain.net $quick --memory-limit=1M -o limited && ! ./limited info | grep predict_batch"
sed 's/const batch = 16/const batch = 1/' plain.net > single.net
check "nor of a batch of one" bash -c "'$nnc' single.net $quick -o single && ! ./single info | grep predict_batch"
# A program that only predicts has the batch that it is told.
printf '%s\ndata predict { x = csv("x.csv", header = false) }\nz = x @ [[1.0], [2], [3], [4], [5], [6]]\npredict { z = z[:, 0] }\n' "$(grep -v ^data <<<"$head")" > only.net
check "only predicts" "$nnc" only.net -o only
check "by batches" near <(./only predict) <(./only predict --batch 1) 0
check "dumps" bash -c "'$nnc' plain.net --dump-after=dce --stop-after=dce >dump.ir && '$nnc' dump.ir --resume-after=dce --emit=c >dump.c &&
  '$nnc' plain.net --emit=c >plain.emitted && cmp dump.c plain.emitted && '$nnc' plain.net --dump-after=plan --emit=c -o ignored.c >dump.ir &&
  '$nnc' dump.ir --resume-after=plan --emit=c >dump.c && cmp dump.c plain.emitted"

# What fills a batch up is an example, too: an index that was never read would be outside.
perl -ne 'chomp; print "$_,", $. % 5, "\n"' x.csv > kinds.csv
cat > kinds.net <<'PROGRAM'
const batch = 16
data train { x, kind = csv("kinds.csv", columns = [[0..6], 6], header = false) }
input x : f32[batch, 6]
input kind : i32[batch]
z = linear(x, 24) + embedding(kind, 5, 24)
train { minimize = mean(z ^ 2), optimizer = adam, steps = 2 }
predict { z = z[:, 0] }
PROGRAM
check "indices compile" "$nnc" kinds.net -O0 --check-indices $quick -o kinds
check "indices train" ./kinds --quiet
for count in 6 9; do
  head -n $count kinds.csv > part.csv
  check "$count indices of 16" near <(./kinds predict --quiet part.csv) <(./kinds predict --quiet --batch 1 part.csv) 1e-6
done

# Lines of many batches are written together; an array beside them has its rows in the same order.
for i in $(seq 40); do cat x.csv; done > long.csv
check "many batches" near <(for i in $(seq 40); do ./plain_c predict --quiet --out plain_c.run --batch 1 x.csv; done) <(./plain_c predict --quiet --out plain_c.run long.csv) 1e-6
./plain_c predict --quiet --out plain_c.run long.csv > long
./plain_c predict --quiet --out plain_c.run --npy arrays --only p long.csv > others
check "an array and lines" python3 - <<'PYTHON'
import array, json, struct
data = open("arrays/p.npy", "rb").read()
values = array.array("f", data[10 + struct.unpack("<H", data[8:10])[0]:])
lines, others = ([json.loads(line) for line in open(name)] for name in ("long", "others"))
assert len(lines) == len(others) == 40 * 53 and len(values) == 5 * len(lines)
for i, (line, other) in enumerate(zip(lines, others)):
    assert array.array("f", line.pop("p")) == values[5 * i:5 * i + 5] and line == other, i
PYTHON

# Weights that blocks of a few examples would each pack are packed once, at the first batch; at -O0
# nothing is kept.
cat > blocks.net <<'PROGRAM'
const batch = 16
data train { x = csv("wide.csv", header = false) }
data test { x = csv("wide.csv", header = false) }
input x : f32[batch, 768]
h = max_pool2d(relu(conv2d(relu(conv2d(reshape(x, [batch, 3, 16, 16]), 32, kernel = 3, padding = "same")), 32, kernel = 3, padding = "same")), 2)
z = linear(flatten(h), 3)
train { minimize = mean(z ^ 2), optimizer = adam(lr = 1e-3), epochs = 2 }
predict { p = softmax(z) }
PROGRAM
perl -e 'srand 5; for (1 .. 50) { print join(",", map { sprintf "%.3f", 2 * rand() - 1 } 1 .. 768), "\n" }' > wide.csv
check "blocks compile" "$nnc" $quick blocks.net -o blocks
check "they keep weights" bash -c "'$nnc' blocks.net --emit=c -o blocks.c && sed -n '/^static void predict_batch_run/,/^}/p' blocks.c | grep -q 'worker->fills'"
check "they train" ./blocks --quiet
./blocks predict --quiet --threads 1 > kept
check "kept weights: threads change no bit" bash -c 'for n in 2 3; do ./blocks predict --quiet --threads $n | cmp - kept || exit 1; done'
check "kept weights: as one by one" near kept <(./blocks predict --quiet --batch 1) 1e-6
head -n 17 wide.csv > odd.csv # 16 of them, then one by itself
check "kept weights: a rest" near <(head -n 17 kept) <(./blocks predict --quiet odd.csv) 1e-6
# Single examples and batches in turn have the same memory.
check "kept weights: rows, batches, rows" near kept <({ sed 1q wide.csv; sleep 0.3; sed -n 2,17p wide.csv; sleep 0.3; sed -n 18p wide.csv; sleep 0.3; sed 1,18d wide.csv; } | ./blocks predict --quiet -) 1e-6
check "without optimizations none" bash -c "'$nnc' $quick -O0 blocks.net --emit=c -o plainly.c && ! grep -q 'worker->fills' plainly.c"
check "kept weights: as without optimizations" near kept <("$nnc" $quick -O0 blocks.net -o unoptimized && ./unoptimized predict --quiet --out blocks.run) 1e-6

# Rows of a pipe are answered as they come, in any pieces; the answers are those of the file.
predict() { ./plain_c predict --quiet --out plain_c.run "$@"; }
predict --batch 1 x.csv > ones
coproc SERVE { predict - 2>serve.messages; }
exec {to}>&"${SERVE[1]}" {from}<&"${SERVE[0]}"
answered=0
for i in 1 2 3 4 5; do
  sed -n "${i}p" x.csv >&$to
  read -r -t 60 -u $from line || break
  near <(echo "$line") <(sed -n "${i}p" ones) 1e-6 && answered=$((answered + 1))
done
check "answers come at once" test $answered = 5
{ sed -n 6,7p x.csv; echo; printf '\r\n1,2\n0,0,0,0,0,x\n'; sed -n 8,30p x.csv; } >&$to
for i in 6 7 wrong wrong $(seq 8 30); do
  read -r -t 60 -u $from line || break
  if [ $i = wrong ]; then [[ $line == '{"error":"predict: standard input'* ]] && answered=$((answered + 1))
  else near <(echo "$line") <(sed -n "${i}p" ones) 1e-6 && answered=$((answered + 1)); fi
done
check "answers in their order, for wrong rows their mistakes" test $answered = 32
process=$SERVE_PID
eval "exec $to>&- $from<&- ${SERVE[1]}>&- ${SERVE[0]}<&-" 2>/dev/null
wait "$process"
check "its status" test $? = 1
check_status "how many" 0 'error: 2 of 32 examples could not be read' cat serve.messages
check_status "the line of a wrong row" 0 'standard input:11:[0-9]*: ' cat serve.messages
check "a whole file in a pipe" near <(cat x.csv | predict -) ones 1e-6
check "in small pieces" near <(perl -e '$| = 1; local $/; open F, "x.csv"; for (split /(?<=[1-9])/, <F>) { print; select undef, undef, undef, 0.0005 }' | predict -) ones 1e-6
check "without an end of its last line" near <(head -c -1 x.csv | cat | predict -) ones 1e-6
check "compressed" near <(gzip -c x.csv | predict -) ones 1e-6
check "from a file" near <(predict - < x.csv) ones 1e-6
check "the head of a table once" test "$(cat x.csv | predict --format=csv - | grep -c best)" = 1
check "nothing" test -z "$(: | predict -)"
check "random numbers go on" cmp <(./random_c predict --quiet --out random_c.run --batch 1 x.csv) <(while read -r row; do echo "$row"; sleep 0.002; done < x.csv | ./random_c predict --quiet --out random_c.run --batch 1 -)
sed 's/header = false/header = true/' plain.net > headed.net
check "with a head" "$nnc" $quick headed.net -o headed
{ echo '"a, first",b,c,d,e,"f'; echo 'with two lines"'; cat x.csv; } > headed.csv
sed -i 's/"x.csv"/"headed.csv"/' headed.net; check "with a head" "$nnc" $quick headed.net -o headed
check "trains" ./headed --quiet
{ head -n 4 headed.csv; sleep 0.2; printf '\n'; sed -n 5p headed.csv; sleep 0.2; printf '1\n\n\n2\n'; sed -n 6p headed.csv; sleep 0.2; echo 3; } |
  ./headed predict --quiet - > answers 2> lines
check "the lines of wrong rows after a head of two lines" test "$(sed -n 's/.*standard input:\([0-9]*\):.*/\1/p' lines | paste -sd' ')" = "7 10 12"
check "and the rows between them" near <(grep -v error answers) <(./headed predict --quiet headed.csv | head -n 4) 1e-6
check "its head is no row" near <({ head -n 3 headed.csv; sleep 0.2; tail -n +4 headed.csv; } | ./headed predict --quiet -) <(./headed predict --quiet headed.csv) 1e-6

# Pictures: their names, the classes of the greatest values, and some that are none.
python3 - <<'PYTHON'
import os, random, struct, zlib
draw = random.Random(1)
def png(path, level):
    rows = b"".join(b"\0" + bytes(min(255, max(0, level + draw.randrange(-30, 30))) for _ in range(8)) for _ in range(8))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for name, level in ("black", 30), ("grey", 128), ("white", 225):
    os.makedirs("set/" + name)
    for i in range(10): png("set/%s/%d.png" % (name, i), level)
os.mkdir("asked")
for i in range(19): png("asked/%02d.png" % i, [30, 128, 225][i % 3])
open("asked/07.png", "wb").write(b"no picture")
PYTHON
cat > shades.net <<'PROGRAM'
const batch = 8
data train { image, shade = image_folder("set") }
data predict { image = files() }
input image : u8[batch, 1, 8, 8]
input shade : u8[batch]
z = linear(flatten(f32(image) / 255 - 0.5), 3)
train { minimize = cross_entropy(z, shade), optimizer = adam(lr = 0.05), epochs = 20 }
predict { shade = argmax(z), probability = softmax(z), place = z[:, :2] }
PROGRAM
check "shades compile" "$nnc" shades.net -o shades
check "they are learnt" ./shades --quiet
./shades predict --quiet --names --top 2 asked > named 2>messages
check "names and classes" python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("named")]
assert [line["file"] for line in lines] == ["asked/%02d.png" % i for i in range(19)], lines
for i, line in enumerate(lines):
    if i == 7:
        assert list(line) == ["file", "error"], line
        continue
    wanted = ["black", "grey", "white"][i % 3]
    top = line["probability"]
    assert line["shade"] == wanted and top[0]["class"] == wanted and len(top) == 2, line
    assert len(line["place"]) == 2 and all(type(number) is float for number in line["place"]), line  # no classes
    assert top[0]["value"] >= top[1]["value"] and set(top[0]) == {"class", "value"}, line
PYTHON
check_status "one could not be read" 0 '1 of 19 examples could not be read' cat messages

# A result of the label: the class of a file is its folder's name.
sed -e '/^data predict/d' -e 's/^predict .*/predict { guess = argmax(z), class = i32(shade), right = argmax(z) == i32(shade) }/' shades.net > right.net
check "right compiles" "$nnc" right.net -o right
check "it learns" ./right --quiet
one=$(ls set/white | head -1)
check "classes of folders" ./right predict --quiet set/black "set/white/$one" set//grey/
./right predict --quiet set/black "set/white/$one" set//grey/ > classes 2>/dev/null
check "they are the folders' names" python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("classes")]
folders = {line["file"].split("/")[-2] if not line["file"].startswith("set//") else "grey" for line in lines}
assert folders == {"black", "grey", "white"}, folders
for line in lines:
    names = ["black", "grey", "white"]
    folder = [part for part in line["file"].split("/") if part][-2]
    assert line["class"] == names.index(folder), line
    assert line["right"] == (line["guess"] in (line["class"], folder)), line
PYTHON
mkdir -p other && cp "set/white/$one" other && cp "set/white/$one" lone.png
check_status "a folder that is no class" 1 "other/$one: a result is computed of shade, so the file's folder must be named as its class, and 'other' is none" ./right predict other
check_status "no folder that is a class" 1 "lone.png: a result is computed of shade, so .* and '${PWD##*/}' is none: give it as FOLDER/CLASS/NAME" ./right predict lone.png
check_status "a name without a folder that is no file" 1 'cannot read nosuch.png: No such file or directory' ./right predict nosuch.png
check "the root of the classes" cmp <(./right predict --quiet set) <(./right predict --quiet set/black set/grey set/white)
check_status "all of its pictures" 0 '^30$' bash -c './right predict --quiet set | wc -l'
check_status "a name that is no file" 1 'cannot read set/blak: No such file or directory' ./right predict set/blak
# A folder is the same however it is written: from within, with slashes and dots, by a link.
mkdir -p linked && ln -s "$PWD/set/white" linked/grey
within() { (cd "$1" && shift && "$OLDPWD/right" predict --quiet --out "$OLDPWD/right.run" "$@"); }
class_is() { # class_is NAME FOLDER FILE...: every line has it
  within "${@:2}" > from_within 2>&1 && grep -q . from_within && ! grep -qv "\"class\":$1," from_within
}
for file in "$one" "./$one" . ./ ../white ../white/. "..//white//$one" "../white/./$one" "../grey/../white/$one" "$PWD/set/white/$one"; do
  check "the class of $file" class_is 2 set/white "$file"
done
check "a link has the name of the link" class_is 1 . linked/grey
check "from within, it has that of its folder" class_is 2 linked/grey .
check "results without labels need none" ./shades predict --quiet other lone.png
check "as one by one" near named <(./shades predict --quiet --names --top 2 --batch 1 asked 2>/dev/null) 1e-6
check_status "a table" 0 '^file,shade,probability.0.class,probability.0.value,place.0,place.1$' ./shades predict --quiet --names --top 1 --format=csv asked/00.png
check_status "its rows" 0 '^asked/02.png,white,white,0\.[0-9]+,[-0-9.e]+,[-0-9.e]+$' ./shades predict --quiet --names --top 1 --format=csv asked/02.png
check_status "more than there are" 0 '"value":[^"]*\},\{"class":"[a-z]*","value":[^"]*\},\{"class":"[a-z]*","value":[^"]*\}\],"place":\[[-0-9.e]+,[-0-9.e]+\]\}$' ./shades predict --quiet --top 9 asked/00.png
check_status "without --top" 0 '^\{"shade":"black","probability":\[0\.[0-9]+,[-0-9.e]+,[-0-9.e]+\],"place":\[[-0-9.e]+,[-0-9.e]+\]\}$' ./shades predict --quiet asked/00.png
check_status "a row that could not be read" 1 '^asked/07.png,,,,,$' ./shades predict --quiet --names --top 1 --format=csv asked/07.png
check_status "without its name" 1 '^,,,,$' ./shades predict --quiet --top 1 --format=csv asked/07.png

# Several fields of pictures: a file or a folder for each, or lists of the same length.
cat > both.net <<'PROGRAM'
const batch = 4
data test { a = image_folder("a"), b = image_folder("b") }
input a : u8[batch, 1, 8, 8]
input b : u8[batch, 1, 8, 8]
param s = 1.0
predict { d = s * mean(f32(a) - f32(b), axis = [1, 2, 3]) }
PROGRAM
sed -e 's/b = image_folder("b")/b = csv("b.csv", header = false)/' -e 's/^input b .*/input b : f32[batch, 1]/' -e 's/d = .*/d = s * mean(f32(a), axis = [1, 2, 3]) - b[:, 0] }/' both.net > mixed.net
check "both compile" "$nnc" both.net -o both
check "mixed compiles" "$nnc" mixed.net -o mixed
python3 - <<'PYTHON'
import struct
header = b'{"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}'
open("s.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<f", 1))
PYTHON
b=(set/black/[0-3].png) w=(set/white/[0-3].png)
one_by_one() { for i in 0 1 2 3; do ./both predict --init s.safetensors "${b[i]}" "${w[i]}"; done; }
one_by_one > pairs
check_status "a pair is one example" 0 '^4$' bash -c 'wc -l < pairs'
check "each is black less white" bash -c '! grep -vqE "^\{\"d\":-(1[89][0-9]|20[0-9])\\." pairs'
# The operands are in the order of the data's lines, whatever that of the inputs is.
sed -e '/^input a/d' -e 's/^param s/input a : u8[batch, 1, 8, 8]\nparam s/' both.net > turned.net
check "turned compiles" "$nnc" turned.net -o turned
check "the order of the lines" cmp pairs <(./turned predict --init s.safetensors "${b[@]}" "${w[@]}" --quiet)
check "lists" cmp pairs <(./both predict --init=s.safetensors --quiet "${b[@]}" "${w[@]}")
check "flags behind them" cmp pairs <(./both predict "${b[@]}" "${w[@]}" --quiet --init s.safetensors)
check "folders" cmp pairs <(./both predict --init s.safetensors set/black set/white | head -n 4)
check_status "which field has which" 0 'a: 4 files, from set/black/0.png to set/black/3.png' ./both predict --init s.safetensors "${b[@]}" "${w[@]}"
check_status "one too many" 1 'predict needs 2 files: a \(image_folder\), b \(image_folder\); 3 given: a file or a folder for each field' \
  ./both predict --init s.safetensors "${b[@]:0:3}"
check_status "one too few" 1 '; 1 given' ./both predict "${b[0]}" --init s.safetensors
check_status "folders of other counts" 1 'a has 10 examples, but b has 1' ./both predict --init s.safetensors set/black other
printf '%s\n' 1 2 3 4 5 6 7 8 9 10 > ten.csv
check_status "pictures and a table" 0 '^10$' bash -c './mixed predict --init s.safetensors set/black ten.csv | wc -l'
check_status "in another order" 1 'set/black is a folder, but csv takes a file; predict takes, in this order: a \(image_folder\), b \(csv\)' \
  ./mixed predict --init s.safetensors ten.csv set/black
check_status "classes without names" 0 '"p":\[\{"class":[0-4],"value":[0-9.]+\}\],"matrix":\[\[' ./plain_c predict --quiet --out plain_c.run --top 1
check_status "rows are no files" 1 '--names: the examples are no files of their own' ./plain_c predict --out plain_c.run --names
summary
