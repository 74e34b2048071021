#!/usr/bin/env bash
# Initial values from files: arrays of NumPy's (tests/data/golden) and tensors of safetensors files, freezing,
# resuming without them, and what is said of files that do not fit.  Usage: tests/load/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
golden=$PWD/tests/data/golden nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir data
seq 0 31 | sed 's/$/.5/' > data/x.csv
echo "no array" > data/text.npy
cp "$golden"/{f4,f4_big,f4_fortran,f8,i4}.npy data/

# program FILE LINE...: with the declarations; `sum` is what the loss adds up.
program() {
  local file=$1; shift
  cat > "$file.net" <<EOF
const batch = 4
data train { x = csv("x.csv", columns = [0], header = false) }
input x : f32[batch]
def layer(v) { param w : [4, 3] = load("f4.npy") ; return v + sum(w * 1e-38) }
$(printf '%s\n' "$@")
train { minimize = loss, optimizer = sgd(lr = 0.5), epochs = 1, params "fixed", "f*" { frozen = true } }
EOF
}
build_it() { "$nnc" "$1.net" -o "$1" >"$1.build" 2>&1 || { cat "$1.build"; fail "$1 does not compile"; }; }
# entry FILE NAME: the bytes of a tensor, as text.
entry() {
  perl -e 'open F, "<:raw", $ARGV[0] or die; local $/; $_ = <F>; $n = unpack "Q<", $_; $h = substr $_, 8, $n;
    $h =~ /"\Q$ARGV[1]\E":\{"dtype":"([A-Z0-9]+)","shape":\[([0-9,]*)\],"data_offsets":\[(\d+),(\d+)\]/ or die "no $ARGV[1]";
    print "$1 $2 ", unpack("H*", substr $_, 8 + $n + $3, $4 - $3), "\n"' "$1" "$2"
}
# npy FILE: the bytes of an array's values.
npy() { perl -e 'open F, "<:raw", $ARGV[0] or die; local $/; $_ = <F>; print unpack("H*", substr $_, 10 + unpack "v", substr $_, 8, 2), "\n"' "$1"; }
same() { if [ "$2" = "$3" ]; then ok; else fail "$1: '${2:0:200}' is not '${3:0:200}'"; fi; }

# ---- arrays: types, order of bytes and axes, a layer's argument, a frozen parameter, a state ----
program first 'param fixed : [4, 3] = load("f4_big.npy")' 'param f_turned : [4, 3] = load("f4_fortran.npy")' \
  'state count : i32[4, 3] = load("i4.npy")' 'param learns : [2, 2] = 0.25' \
  'def many(v, init) { param w : [4, 3] = init ; return v * mean(w * 1e-38) }' \
  'y = many(x, init = load("f4.npy"))' 'z = layer(x)' \
  'loss = mean(x * sum(learns) + z + y) + mean(1e-38 * fixed + 1e-38 * f_turned + 1e-38 * f32(count))'
build_it first
check "the run begins" ./first --data data --out first.run
values=$(npy data/f4.npy)
same "a frozen array" "$(entry first.run/checkpoint.safetensors fixed)" "F32 4,3 $values"
same "the last axis slowest" "$(entry first.run/checkpoint.safetensors f_turned)" "F32 4,3 $values"
same "a state" "$(entry first.run/checkpoint.safetensors count)" "I32 4,3 $(npy data/i4.npy)"
check_status "info" 0 'fixed +frozen' ./first info
check "resumed without the files" ./first --data data --out first.run --resume --epochs 2
mkdir bare && cp data/x.csv bare
check_status "resumed without the files" 0 'epoch' ./first --data bare --out first.run --resume --epochs 3
check_status "a new run needs them" 1 'first.net:[0-9]+:[0-9]+: cannot open bare/f4' ./first --data bare --out bare.run

# ---- safetensors: by the parameter's own name and by another one, of another float type ----
./first export --out first.run first.safetensors >export.log 2>&1 || fail "export: $(cat export.log)"
cp first.safetensors data
check "several patterns" ./first export --out first.run --only fixed --only 'c*' some.safetensors
same "what matches any of them" "$(grep -aoE '"(fixed|f_turned|count|learns)":' some.safetensors | sort | tr -d '\n')" '"count":"fixed":'
check_status "a pattern of nothing beside one" 1 "no parameter or state has a path like 'nothing'" ./first export --out first.run --only fixed --only nothing none.safetensors
program second 'param learns : [2, 2] = load("first.safetensors")' \
  'param fixed : f64[2, 2] = load("first.safetensors", "learns")' \
  'loss = mean(x) * mean(learns) + f32(mean(fixed)) + mean(layer(x))'
build_it second
check "the run begins" ./second --data data --out second.run --steps 0
same "by its own name" "$(entry second.run/checkpoint.safetensors learns)" "$(entry first.safetensors learns)"
check_status "the dump reads back" 0 'file "first.safetensors" entry "learns"' bash -c "'$nnc' second.net --dump-after=dce --stop-after=dce | tee dump.ir |
  grep -o 'file .*' && '$nnc' dump.ir --resume-after=dce --emit=c >dump.c && '$nnc' second.net --emit=c >plain.c && cmp dump.c plain.c"

# ---- what begins as a parameter: drawn numbers, and those of a file ----
program third 'param drawn : [2, 3] = he_normal' 'state slow : [2, 3] = drawn' 'param same : [2, 3] = 1 * drawn' \
  'param learns : [4, 3] = load("f4.npy")' 'state target : [4, 3] = learns' \
  'optimizer lookahead(lr = 0.1) { state far = w; far <- far + 0.5 * (w - far); w <- w - lr * g }' \
  'loss = mean(x) * (mean(drawn) + mean(same * slow) + 1e-38 * mean(learns * target))'
sed -i 's/sgd(lr = 0.5)/lookahead/' third.net
build_it third
check "the run begins" ./third --data data --out third.run --steps 0
saved=third.run/checkpoint.safetensors
drawn=$(entry $saved drawn)
same "a state as its parameter" "$(entry $saved slow)" "$drawn"
same "what is computed of it" "$(entry $saved same)" "$drawn"
same "an optimizer's state" "$(entry $saved drawn:far)" "$drawn"
same "a state as a parameter of a file" "$(entry $saved target)" "F32 4,3 $values"
if grep -qE ' 0*$' <<<"$drawn"; then fail "nothing was drawn: $drawn"; else ok; fi

# ---- what does not fit ----
refused() { # refused PATTERN DECLARATION
  program wrong "$2" 'loss = mean(x * sum(f32(v)))' && build_it wrong
  check_status "$2" 1 "$1" ./wrong --data data --out wrong.run
}
refused "wrong.net:5:7: data/f4.npy holds f32\[4, 3\], but 'v' is f32\[3, 4\]" 'param v : [3, 4] = load("f4.npy")'
refused "wrong.net:5:7: value 3 of the file, 1.79769e.308, is none of 'v', which is f32" 'param v : [4, 3] = load("f8.npy")'
refused "cannot open data/none.npy" 'param v : [4, 3] = load("none.npy")'
refused "not a NumPy file" 'param v : [4, 3] = load("text.npy")'
refused "'v' has no initial value; --data says where none.safetensors is" 'param v : [2, 2] = load("none.safetensors")'
refused "first.safetensors has no 'v'" 'param v : [2, 2] = load("first.safetensors")'
refused "first.safetensors: learns holds f32\[2, 2\], but 'v' is f32\[4\]" 'param v : [4] = load("first.safetensors", "learns")'
summary
