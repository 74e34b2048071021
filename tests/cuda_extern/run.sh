#!/usr/bin/env bash
# Operators of one's own in CUDA, on the stand-ins for NVRTC and the driver: an executable with them trains as
# one with those in C (tests/extern), what is emitted holds their files, the cache knows these, and what
# is wrong in one is said with its line.  Usage: tests/cuda_extern/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/close.sh"
source "$here/../lib/emulator.sh"
cxx=${NNC_EMULATOR_CXX:-$(command -v clang++ || command -v g++)}
export "${quick_kernels?}" NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13
nnc="$build/bin/nnc --cache-dir=cache"
cuda="$nnc $quick --target=cuda --arch=sm_80"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
cp "$here"/../extern/*.{c,cu,h,net} .
awk 'BEGIN { for (i = 1; i <= 30; i++) printf "%g,%g,%g,%g,%d\n", sin(i), cos(2 * i), sin(3 * i), cos(i / 2), i * i % 3 }' > x.csv

for type in f64 f32; do
  tolerance=1e-9; [ $type = f32 ] && tolerance=2e-3
  check "in C, $type" $nnc $quick own.net --float=$type -o own_c && check "runs" ./own_c --out c.run
  check "in CUDA, $type" $cuda own.net --float=$type -o own
  for order in forward shuffled; do
    check "trains, $type, $order" env NNC_EMULATOR_ORDER=$order ./own --out $order.run
  done
  check "agrees, $type" close forward.run/checkpoint.safetensors c.run/checkpoint.safetensors $tolerance
  check "order, $type" cmp forward.run/checkpoint.safetensors shuffled.run/checkpoint.safetensors
  rm -r ./*.run
done
case $(env -u NNC_NVRTC $cuda own.net -o real 2>&1 || echo refused) in
  *"is not found"*) ;; # without NVRTC itself
  *refused) fail "NVRTC compiles it" ;;
  *) ok ;;
esac
check "the example" $cuda "$here/../../examples/extern/swish.net" -o example
check_status "the example's parameters" 0 'h.w' ./example info

# ---- the text ----
check "one file" bash -c "$cuda own.net --emit=cuda > own.cu"
check_status "it holds the user's files, each once" 0 '^1 1$' bash -c \
  'echo $(grep -c "^#line 1 \"swish.cu\"" own.cu) $(grep -c "^#line 1 \"mixed.cu\"" own.cu)'
check_status "it is one text of CUDA" 0 'made' bash -c "$cxx -x c++ -std=c++17 -fsyntax-only -DNNC_KERNELS -DNNC_EMULATED \
  -nostdinc++ -I $build/include/nnc/cuda -I $here/../cuda_emulator own.cu && echo made"
check_status "the dump reads back" 0 'same' bash -c "$cuda own.net --dump-after=dce --stop-after=dce >d.ir &&
  grep -q 'extern \"swish\" \"swish.c\" cuda \"swish.cu\" @9:8' d.ir && $cuda d.ir --resume-after=dce --emit=cuda >1.cu &&
  $cuda own.net --emit=cuda >2.cu && cmp 1.cu 2.cu && echo same"
mkdir -p deep && cp own.net swish.* mixed.* deep && rm -f ./swish.* ./mixed.*
check "files lie beside the program" $cuda deep/own.net -o deep_own
check "deep runs" ./deep_own --out deep.run --steps 2

# ---- the cache: a changed file, and a header that it includes ----
loss() { "./$1" --out "$1.run" --steps 1 2>&1 | sed -n 's/.*loss \([0-9.e-]*\).*/\1/p' | tail -1; }
cat > small.net <<'E2'
const batch = 2
data train { x = csv("x.csv", columns = [0], header = false) }
input x : f32[batch]
param w = 1.0
extern value(v : f32[]) : f32[] { cuda = "value.cu" }
loss = 0 * mean(x) + 0 * w ^ 2 + value(stop_gradient(w))
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 1 }
E2
value() { printf '%s\n' "$1" '#include "nnc_cuda_extern.h"' 'NNC_EXTERN void value(int count, const nnc_extern_tensor *inputs, const nnc_extern_tensor *result)' \
  "{ if (nnc_extern_first() == 0) *(float *)result->data = $2 * *(const float *)inputs[0].data; }" > value.cu; }
value "" 3; check "compiles" $cuda small.net -o small
at_least "the value" "$(loss small)" 3; at_most "the value" "$(loss small)" 3
value "" 5; check "compiles again" $cuda small.net -o small
at_least "another file" "$(loss small)" 5
check_status "from the cache" 0 'the executable is in the cache' $cuda small.net -v -o small
value '// "/*' 6; check "compiles with quotes" $cuda small.net -o small
value '// "/*' 7; check "compiles with other numbers after quotes" $cuda small.net -o small
at_least "text after quotes" "$(loss small)" 7
value '#include "factor.h"' FACTOR
for factor in 8 9; do
  echo "#define FACTOR $factor" > factor.h; check "compiles with a header" $cuda small.net -o small
  at_least "a header, $factor" "$(loss small)" $factor
done

# ---- what does not fit: a mistake of the user's, at the operator's declaration ----
value "" "nothing"
check_status "a mistake" 1 "small.net:5:8: error: .* refused value.cu, the file of the CUDA function 'value'" $cuda small.net -o small
check_status "its place" 1 '^value.cu:4:.*nothing' $cuda small.net -o small
check_status "nothing is reported as ours" 0 '^0$' bash -c "$cuda small.net -o small 2>&1 | grep -c 'internal error'; true"
echo 'typedef int other;' > value.cu
check_status "another function" 1 "small.net:5:8: error: value.cu defines no function 'value'" $cuda small.net -o small
value "" 1; sed -i 's/(int count, /(/' value.cu
check_status "another declaration" 1 'the call of value:2:' $cuda small.net -o small
value "" 1
check_status "a file of CUDA alone" 1 "small.net:5:8: error: the function 'value' has no C file, which --target=c needs" $nnc small.net -o small
sed -i 's/cuda = "value.cu"/c = "value.c"/' small.net; echo > value.c
check_status "a file of C alone" 1 "small.net:5:8: error: the function 'value' has no CUDA file, which --target=cuda needs" $cuda small.net -o small
check_status "what to write" 1 'help: cuda = "value.cu" in the operator.s block' $cuda small.net --emit=cuda
summary
