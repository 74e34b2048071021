#!/usr/bin/env bash
# Programs that only predict, predictions without inputs, arrays and pictures as files, what is printed for numbers that are not finite, and evaluations of
# given minibatches.  Usage: tests/predict/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
build_it() { "$nnc" "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"; }
same() { if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' is not '$3'"; fi; }
printf '%s\n' 1,2,3,7 4,5,6,8 >x.csv

# ---- the network of a program that trains, in one that does not ----
layers='h = tanh(batch_norm(linear(x, 5)))
y = linear(h, 1, name = "head")'
data='data train { x, t = csv("x.csv", columns = [0..3, 3], header = false) }'
cat >trains.net <<END
const batch = 2
$data
input x : f32[batch, 3]
input t : f32[batch, 1]
$layers
loss = mean((y - t) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 3 }
predict { y = y }
END
cat >predicts.net <<END
const batch = 2
data predict { x = csv("x.csv", columns = [0..3], header = false) }
input x : f32[batch, 3]
$layers
predict { y = y }
END
build_it trains; build_it predicts
check "a run" ./trains -q
wanted=$(./trains predict)
same "with the other's checkpoint" "$(./predicts predict --init trains.run/checkpoint.safetensors)" "$wanted"
same "in its own folder" "$(./predicts predict --out trains.run)" "$wanted"
same "of a file" "$(./predicts predict --out trains.run x.csv)" "$wanted"
check_status "without a checkpoint" 1 'there is no checkpoint predicts.run.*; give one with --init' ./predicts predict
check_status "it does not train" 1 "predicts.net does not train: it has no 'train' block; its command is predict" ./predicts
check_status "nor evaluate" 1 'has no loss to evaluate' ./predicts eval --out trains.run
check_status "nor take steps" 1 "does not train: it has no 'train' block" ./predicts step --inputs trains.run/checkpoint.safetensors result
check_status "nor step with --eval" 1 'has no loss to evaluate' ./predicts step --eval --inputs trains.run/checkpoint.safetensors result
check_status "nor bench" 1 'does not train' ./predicts bench
check_status "what its inputs are" 0 '"inputs":.."name":"x","dtype":"f32","shape":.1,3.' ./predicts info --json
check "exports" ./predicts export --out trains.run weights.npz
check "report" "$nnc" predicts.net --report
check_status "its dump gives the same C" 0 '^$' bash -c "'$nnc' predicts.net --emit=c >plain.c && '$nnc' predicts.net --dump-after=dce --stop-after=dce >dump.ir &&
  '$nnc' dump.ir --resume-after=dce --emit=c >dump.c && cmp plain.c dump.c"
sed '/^data/d' predicts.net >bare.net
check_status "inputs without data" 1 'there is no data block to say how the inputs are read' "$nnc" bare.net -o bare
sed '/^predict/d' predicts.net >nothing.net
check_status "neither" 1 'neither a train block nor a predict block' "$nnc" nothing.net -o nothing

# ---- parameters and truth values by load(): no checkpoint is needed ----
python3 - <<'END'
import struct
def npy(path, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
npy("w.npy", "<f4", "(3,)", struct.pack("<3f", 1, 10, 100))
npy("mask.npy", "|b1", "(3,)", bytes([1, 0, 1]))
npy("two.npy", "|u1", "(3,)", bytes([1, 0, 2]))
END
cat >loaded.net <<'END'
data predict { x = csv("x.csv", columns = [0..3], header = false) }
const batch = 1
input x : f32[batch, 3]
param w : [3] = load("w.npy")
state mask : bool[3] = load("mask.npy")
predict { y = sum(where(mask, x * w, 0), axis = 1), mask = mask }
END
build_it loaded
same "loaded" "$(./loaded predict)" '{"y":301,"mask":[true,false,true]}
{"y":604,"mask":[true,false,true]}'
sed 's/mask.npy/two.npy/' loaded.net >two.net; build_it two
check_status "2 is no truth value" 1 "value 2 of the file, 2, is none of 'mask', which is bool" ./two predict

# ---- numbers that are not finite ----
cat >wild.net <<'END'
data predict { x = csv("x.csv", columns = [0..3], header = false) }
const batch = 1
input x : f32[batch, 3]
z = x[:, 0] * 0
predict { a = sqrt(z - 1), b = [1, -1] / z[:, none], c = x[:, 1] }
END
build_it wild
same "JSON" "$(./wild predict | head -n 1)" '{"a":"NaN","b":["Infinity","-Infinity"],"c":2}'
same "CSV" "$(./wild predict --format=csv | head -n 2)" 'a,b.0,b.1,c
nan,inf,-inf,2'

# ---- predictions that depend on no input are drawn ----
cat >draws.net <<'END'
predict { z = randn([4]) }
END
build_it draws
ten=$(./draws predict --count 10)
same "ten examples" "$(sort -u <<<"$ten" | wc -l)" 10
same "no number twice" "$(grep -oE '[-0-9.]{4,}' <<<"$ten" | sort -u | wc -l)" 40
same "one unless told" "$(./draws predict)" "$(head -n 1 <<<"$ten")"
same "the same with the same seed" "$(./draws predict --count 10 --seed 0 -j1)" "$ten"
if [ "$(./draws predict --seed 1)" != "$(head -n 1 <<<"$ten")" ]; then ok; else fail "another seed, the same numbers"; fi
check_status "no files" 1 'predict takes no file here: what it computes depends on no input; --count N' ./draws predict x.csv
check_status "--count beside data" 1 "--count is for programs none of whose results needs an input, but this one reads 'x'" ./wild predict --count 3
# Drawn results beside others: a second program draws them with the weights of the first, and [batch, n] is [1, n] there.
cat >mixed.net <<'END'
const batch = 4
data train { x = csv("x.csv", columns = [0..3], header = false) }
input x : f32[batch, 3]
G = linear(_, 2)
loss = mean(G(x) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 1 }
predict { drawn = G(randn([batch, 3])), own = G(x) }
END
sed '/^data\|^input\|^loss\|^train/d; s/batch, /1, /; s/, own = G(x)//' mixed.net > alone.net
sed 's/, own = G(x)//' mixed.net > drawn.net
build_it mixed; build_it alone; build_it drawn
check "weights of mixed" ./mixed --epochs 0 --quiet
check_status "--count --only" 1 'a program of the drawn results alone takes these weights by --init' ./mixed predict --count 3 --only drawn --npy drawn_npy
three=$(./alone predict --count 3 --init mixed.run/checkpoint.safetensors)
same "a program of drawn results alone" "$(wc -l <<<"$three")" 3
same "batch is 1 where results are drawn" "$(./drawn predict --count 3 --init mixed.run/checkpoint.safetensors)" "$three"

# ---- step --eval: the evaluation's metrics of given minibatches; nothing moves ----
python3 - <<'END'
import json, struct
x, t = [1, 2, 3, 4, 5, 6], [7, 8]
header = json.dumps({"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                     "t": {"dtype": "F32", "shape": [2, 1], "data_offsets": [24, 32]}}).encode()
open("in.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<8f", *x, *t))
END
check "weights" ./trains export weights.safetensors -q
stepped=$(./trains step --eval --init weights.safetensors --inputs in.safetensors result.safetensors -q)
evaluated=$(./trains eval train)
python3 - "$stepped" "$evaluated" <<'END' && ok || fail "step --eval: $stepped, eval: $evaluated"
import json, sys
a, b = (json.loads(text)["loss"] for text in sys.argv[1:])
sys.exit(not abs(a - b) <= 1e-6 * abs(b))
END
check "variables stay" cmp <(./trains export --init result.safetensors again.safetensors -q; tail -c 200 again.safetensors) <(tail -c 200 weights.safetensors)

# ---- an empty result has no column ----
cat >empty.net <<END
predict { none = zeros([0]), a = 1, void = ones([2, 0]), b = ones([2]) }
END
build_it empty
same "an empty result" "$(./empty predict --format=csv)" 'a,b.0,b.1
1,1,1'
same "an empty result, JSON" "$(./empty predict)" '{"none":[],"a":1,"void":[[],[]],"b":[1,1]}'
echo 'predict { none = zeros([0]) }' >alone.net
build_it alone
same "nothing but an empty result" "$(./alone predict --format=csv --count=2 | od -An -c | tr -d ' ')" '\n\n\n'

# ---- where there are no tasks to share, no other worker is woken ----
# On one processor two workers change places at least once a row.
python3 - <<'END' && ok || fail "predictions wake the other worker"
import os, resource, subprocess, sys
ROWS = 3000
open("many.csv", "w").writelines("%d,2,3\n" % i for i in range(ROWS))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
command = ["./predicts", "predict", "--out", "trains.run", "-j", "2", "many.csv"]
rows = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.count(b"\n")
waits = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
if rows != ROWS or waits > ROWS / 4:
    sys.exit(f"{rows} rows, {waits} waits")
END

# ---- samplers: how often each value comes, within five standard deviations; a name made of text and a number ----
cat >samplers.net <<'END'
const n = 20000
odds = [0.0, 1.0, 2.0, -inf]
param scale = 0.5
shapes = f64(scale) * f64(arange(200) % 20 + 1) ^ 1.5
drawn  = gamma(shapes)
shares = beta(shapes, 2 * shapes)
for i in 0..2 { h = linear(ones([1, 2]), 2, name = "part" + i + "_" + (i + 1)) }
predict {
  flips = i32(bernoulli(0.3, [n]))
  each  = i32(bernoulli(f32(arange(n) % 4) / 4))
  dice  = randint(-2, 5, [n])
  large = randint(0, 2147483647, [n], i64)
  drawn = categorical(zeros([n, 4]) + odds)
  again = categorical(zeros([n, 4]) + odds)
  third = permutation([n, 3])
  whole = permutation(n)
  low   = gamma(0.5, [n])
  at_1  = gamma(f64(ones([n])))
  high  = gamma(2.5 + zeros([n]))
  tiny  = gamma(bf16(ones([n])) * 0.125)
  split = beta(0.3, 2.0, [n])
  even  = beta(zeros([n]) + 0.001, 0.001)
  wrong = gamma(f32(arange(3)) - 1)
  slopes = grad(sum(drawn), shapes)
  at    = f64(shapes)
  of    = drawn
  parts = grad(sum(shares), shapes)
  share = shares
  width = sum(h)
}
END
build_it samplers
"$nnc" check --parameters samplers.net >names 2>&1
check_status "names of text and numbers" 0 '^part0_1.w' cat names
check_status "of each round" 0 '^part1_2.b' cat names
check "begins" ./samplers train --epochs 0 -q --out s.run
./samplers predict --out s.run --seed 3 >drawn.json
python3 - drawn.json <<'END' && ok || fail "samplers"
import itertools, json, math, sys
d = json.load(open(sys.argv[1]))
N = len(d["flips"])
def near(values, value, p):
    count, deviation = sum(v == value for v in values), math.sqrt(len(values) * p * (1 - p))
    assert abs(count - len(values) * p) <= 5 * deviation, (value, p, count, len(values))
near(d["flips"], 1, 0.3)
for k in range(4):
    near(d["each"][k::4], 1, k / 4)
assert set(d["dice"]) == set(range(-2, 5))
for k in range(-2, 5):
    near(d["dice"], k, 1 / 7)
assert 0 <= min(d["large"]) and max(d["large"]) < 2147483647
def follows(values, below):  # Kolmogorov and Smirnov: beyond this distance one sample of 10,000
    values = sorted(values)
    far = max(max(abs(below(v) - i / N), abs(below(v) - (i + 1) / N)) for i, v in enumerate(values))
    assert len(values) == N and far < 2.23 / math.sqrt(N), (values[:3], far)
def gamma_below(a, x):  # by its series
    term = total = 1 / a
    k = 0
    while term > 1e-17 * total:
        k += 1
        term *= x / (a + k)
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a)) if x > 0 else 0
for order in itertools.permutations(range(3)):
    near([tuple(row) for row in d["third"]], order, 1 / 6)
assert sorted(d["whole"]) == list(range(N)) and 0.32 < sum(abs(v - k) for k, v in enumerate(d["whole"])) / N ** 2 < 0.35
follows(d["low"], lambda x: gamma_below(0.5, x))
follows(d["at_1"], lambda x: gamma_below(1, x))
follows(d["high"], lambda x: gamma_below(2.5, x))
for a, x, slope in zip(d["at"], d["of"], d["slopes"]):  # what keeps the number's place, as a moves
    h, density = 1e-5 * a, math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    wanted = (gamma_below(a - h, x) - gamma_below(a + h, x)) / (2 * h) / density
    assert abs(slope - wanted) < 1e-5 * wanted and slope > 0, (a, x, slope, wanted)
# The mean share stays 1 / 3 where both shapes grow: its slope has mean 0, and is wide.
mean = sum(d["parts"]) / 200
assert max(map(abs, d["parts"])) > 0 and all(0 < v < 1 for v in d["share"]), d["parts"][:3]
wide = math.sqrt(sum((v - mean) ** 2 for v in d["parts"])) / 200
assert abs(mean) < 5 * wide, (mean, wide)
near([v > 0.001 for v in d["tiny"]], True, 1 - gamma_below(0.125, 0.001))
follows(d["split"], lambda x: 1.3 * x ** 0.3 - 0.3 * x ** 1.3)
near([v > 0.5 for v in d["even"]], True, 0.5)  # of both parts gamma would give 0
assert all(0 <= v <= 1 for v in d["even"]), "shares"
assert d["wrong"][:2] == ["NaN"] * 2 and d["wrong"][2] > 0, d["wrong"]
near([v >= 1 << 30 for v in d["large"]], True, 0.5)
near([v % 2 for v in d["large"]], 1, 0.5)
whole = 1 + math.e + math.e ** 2
for k, p in enumerate((1 / whole, math.e / whole, math.e ** 2 / whole, 0.0)):
    near(d["drawn"], k, p)
assert d["drawn"] != d["again"] and N == 20000
END

# ---- extremes of bytes and truths ----
cat >bytes.net <<'END'
const batch = 4
data predict { p = csv("bytes.csv", header = false) }
input p : u8[batch, 3]
predict { m = max(p, axis = -1), a = argmax(p), n = min(p, axis = 1, keep = true), z = argmin(p), t = argmax(p > 100), f = argmin(p > 100) }
END
printf '%s\n' 1,255,3 200,100,150 0,0,0 7,7,9 >bytes.csv
check "bytes compile" "$nnc" bytes.net -o bytes
same "extremes of bytes" "$(./bytes predict)" '{"m":255,"a":1,"n":[1],"z":0,"t":1,"f":0}
{"m":200,"a":0,"n":[100],"z":1,"t":0,"f":1}
{"m":0,"a":0,"n":[0],"z":0,"t":0,"f":0}
{"m":9,"a":2,"n":[7],"z":0,"t":0,"f":0}'

# ---- pictures for a network that was trained on arrays ----
python3 - "$here/../lib" <<'END'
import random, struct, sys
sys.path.insert(0, sys.argv[1])
import files
draw = random.Random(4)
pictures = [bytes(draw.randrange(256) for _ in range(5 * 6)) for _ in range(3)]
open("pictures.idx", "wb").write(struct.pack(">4B3I", 0, 0, 8, 3, 3, 5, 6) + b"".join(pictures))
for i, picture in enumerate(pictures):
    open(f"grey{i}.png", "wb").write(files.png(5, 6, 1, picture))
    open(f"color{i}.png", "wb").write(files.png(5, 6, 3, bytes(v for v in picture for _ in range(3))))
END
cat >arrays.net <<'END'
const batch = 2
data predict { picture = idx("pictures.idx") }
input picture : u8[batch, 5, 6]
predict { y = picture }
END
sed 's/idx("pictures.idx")/files() | resize(5, 6)/' arrays.net >given.net
sed 's/, 5, 6/, 30/; s/idx/npy/' arrays.net >flat.net
for name in arrays given flat; do build_it $name; done
same "grey pictures" "$(./given predict grey{0,1,2}.png)" "$(./arrays predict)"
same "pictures of greys in colours" "$(./given predict color{0,1,2}.png)" "$(./arrays predict)"
needs='picture is read with idx \(arrays.net:2:26\); for predictions of pictures the program needs: data predict \{ picture = files\(\) \| resize\(5, 6\) \}$'
check_status "a PNG for idx" 1 "grey0.png is a PNG picture, but $needs" ./arrays predict grey0.png grey1.png
printf '\377\330\377\340' >photo
check_status "a JPEG for idx" 1 "photo is a JPEG picture, but $needs" ./arrays predict photo
check_status "a folder for idx" 1 "$here is a folder, but $needs" ./arrays predict "$here"
check_status "no picture" 1 "x.csv: not an IDX file" ./arrays predict x.csv
check_status "nor a file" 1 "cannot open none.png: No such file" ./arrays predict none.png
check_status "an input that holds no picture" 1 'the input must be .batch, height, width., or .batch, channels, height, width. with 1 or 3 channels, instead of u8.1, 30., and' ./flat predict grey0.png

# ---- arrays and pictures ----
mkdir files
check_status "results as files" 0 'predictions as files: good' python3 "$here/files.py" "$build" "$work/files"
summary
