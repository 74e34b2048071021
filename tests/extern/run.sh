#!/usr/bin/env bash
# Operators of one's own in C: an executable with them trains as one without (own.net, same.net), whatever
# the type, level and threads; what the cache knows of their files; what is said of files that do not
# fit.  Usage: tests/extern/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/close.sh"
nnc="$build/bin/nnc --cache-dir=cache"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
cp "$here"/*.{c,cu,h,net} .
awk 'BEGIN { for (i = 1; i <= 30; i++) printf "%g,%g,%g,%g,%d\n", sin(i), cos(2 * i), sin(3 * i), cos(i / 2), i * i % 3 }' > x.csv

for type in f64 f32; do
  tolerance=1e-9; [ $type = f32 ] && tolerance=2e-3
  check "same" $nnc same.net --float=$type -o same
  check "same" ./same --out same.run
  for level in -O0 -O1; do
    check "own $type $level" $nnc own.net --float=$type $level -o own
    check "one thread $type $level" ./own --out one.run --threads 1
    check "four threads $type $level" ./own --out four.run --threads 4
    check "bits $type $level" cmp one.run/checkpoint.safetensors four.run/checkpoint.safetensors
    check "agrees $type $level" close one.run/checkpoint.safetensors same.run/checkpoint.safetensors $tolerance
  done
  ./own predict x.csv --out one.run | head -3 > own.out 2>&1
  check_status "predicts" 0 '"h":' cat own.out
done

# ---- forms of the program ----
check "levels" $nnc own.net --arch=v2,v3 -o levels
check "levels run" ./levels --out levels.run
check "debug" $nnc own.net -g -o debug
check "debug runs" ./debug --out debug.run
$nnc own.net --emit=c > emitted.c && command=$($nnc own.net --emit=c | sed -n '/^ \*\//q; s/^ \*   //p')
cp emitted.c own.c
check "the command in the file" bash -c "$command"
check "runs" ./own --out command.run
check_status "the dump reads back" 0 'function' bash -c "$nnc own.net --dump-after=dce --stop-after=dce >d.ir &&
  $nnc d.ir --resume-after=dce --emit=c >1.c && $nnc own.net --emit=c >2.c && cmp 1.c 2.c && echo function"
check_status "gradients are not checked" 1 "cannot compute the extern operator 'swish" $nnc own.net --check-gradients
mkdir -p deep && cp own.net *.c *.cu *.h deep && rm -f swish.c.bak
check "files lie beside the program" $nnc deep/own.net -o deep_own
check "deep runs" ./deep_own --out deep.run

check "the example" $nnc "$here/../../examples/extern/swish.net" -o example
check_status "the example's parameters" 0 'h.w' ./example info

# ---- the cache: a changed file, and a header that it includes ----
loss() { "./$1" --out "$1.run" --steps 1 2>&1 | sed -n 's/.*loss \([0-9.e-]*\).*/\1/p' | tail -1; }
cat > small.net <<'E2'
const batch = 2
data train { x = csv("x.csv", columns = [0], header = false) }
input x : f32[batch]
param w = 1.0
extern value(v : f32[]) : f32[] { c = "value.c" }
loss = 0 * mean(x) + 0 * w ^ 2 + value(stop_gradient(w))
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 1 }
E2
value() { printf '%s\n' "$1" '#include "nnc_extern.h"' 'void value(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)' \
  "{ (void)count; *(float *)result->data = $2 * *(const float *)inputs[0].data; }" > value.c; }
value "" 3; check "compiles" $nnc small.net -o small
at_least "the value" "$(loss small)" 3; at_most "the value" "$(loss small)" 3
value "" 5; check "compiles again" $nnc small.net -o small
at_least "another file" "$(loss small)" 5
check_status "from the cache" 0 'the executable is in the cache' $nnc small.net -v -o small
echo '#define FACTOR 7' > factor.h; value '#include "factor.h"' FACTOR; check "compiles with a header" $nnc small.net -o small
at_least "a header" "$(loss small)" 7
echo '#define FACTOR 9' > factor.h; check "compiles with another header" $nnc small.net -o small
at_least "another header" "$(loss small)" 9

# ---- objects and archives: linked as they are, and known to the cache by their contents ----
cc=${CC:-cc}
object() { printf '%s\n' "float $1(void) { return $2; }" > "$1.c"; $cc -c "$1.c" -o "$1.o"; }
value 'float one(void), two(void);' '10 * one() + two()'
sed -i 's/c = "value.c"/c = ["value.c", "one.o", "all.a"]/' small.net
object one 1 && object two 2 && ar rcs all.a two.o
check "compiles with an object and an archive" $nnc small.net -o small
at_least "their values" "$(loss small)" 12; at_most "their values" "$(loss small)" 12
object two 4 && ar rcs all.a two.o; check "another archive" $nnc small.net -o small
at_least "another archive's value" "$(loss small)" 14
object one 2; check "another object" $nnc small.net -o small
at_least "another object's value" "$(loss small)" 24
check_status "objects from the cache" 0 'the executable is in the cache' $nnc small.net -v -o small
$nnc small.net --emit=c > small.c && command=$($nnc small.net --emit=c | sed -n '/^ \*\//q; s/^ \*   //p')
check "the command with objects" bash -c "$command"
at_least "the command's value" "$(loss small)" 24
check_status "the dump knows the files" 0 'same' bash -c "$nnc small.net --dump-after=dce --stop-after=dce >d.ir &&
  grep -q 'extern \"value\" \"value.c\" \"one.o\" \"all.a\" @5:8' d.ir && $nnc d.ir --resume-after=dce --emit=c >1.c &&
  $nnc small.net --emit=c >2.c && cmp 1.c 2.c && echo same"

# ---- in the body of a scan, as a loop and written out ----
cat > double.c <<'E3'
#include "nnc_extern.h"
void twice(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)
{
  (void)count;
  for (int64_t i = 0; i < result->elements; i++) ((float *)result->data)[i] = 2 * ((const float *)inputs[0].data)[i];
}
E3
cat > scan.net <<'E4'
const batch = 2
data train { x = csv("x.csv", columns = [0..4], header = false) }
input x : f32[batch, 4]
extern twice(v : f32[...]) : f32[v.shape] { c = "double.c" } gradient (dy) { return 2 * dy }
param w = 0.3
ys, last = scan v in x along 1 with h = zeros([batch]) { h = tanh(twice(w * v + 0.5 * h)) ; yield h }
loss = mean(ys ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 4 }
E4
sed 's/twice(w \(.*\)) ;/2 * (w \1) ;/; /^extern/d' scan.net > plain.net
check "a scan without it" $nnc plain.net -o plain && check "runs" ./plain --out plain.run
for scans in loop unroll; do
  check "a scan, $scans" $nnc scan.net --scans=$scans -o scan && check "runs" ./scan --out scan.run
  check "the same end, $scans" close scan.run/checkpoint.safetensors plain.run/checkpoint.safetensors 1e-6
  rm -r scan.run
done

# ---- what does not fit: a mistake of the user's, at the operator's declaration ----
rm all.a && ar rcs all.a one.o
check_status "a function that is missing in an archive" 1 'small.net:5:8: error: .* cannot link the program' $nnc small.net -o small
check_status "what the linker says" 1 'two' $nnc small.net -o small
echo "no object" > one.o
check_status "no object" 1 'small.net:5:8: error: .* cannot link the program' $nnc small.net -o small
sed -i 's/c = \[.*\] /c = "value.c" /' small.net
echo 'void value(int count { }' > value.c
check_status "a mistake in C" 1 "small.net:5:8: error: .* refused value.c, a file of the C function 'value'" $nnc small.net -o small
check_status "its line" 1 '^    5 \| extern value' $nnc small.net -o small
check_status "its place" 1 'value.c:1:' $nnc small.net -o small
echo 'int other;' > value.c
check_status "another function" 1 "small.net:5:8: error: no file of 'value' defines the C function 'value'" $nnc small.net -o small
summary
