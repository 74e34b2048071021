#!/usr/bin/env bash
# bf16 and f16: the conversions as the C compiler makes them for several machines, operators and gradients
# against PyTorch (make.py), types from data to checkpoints, mixed precision.  Usage: tests/half/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
root=$PWD here=$PWD/tests/half
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# Whether this processor's instructions are those of x86-64-v3, which need no other test then.
is_v3() { grep -qw avx2 /proc/cpuinfo && ! grep -qw avx512f /proc/cpuinfo; }

# ---- conversions ----
for compiler in clang gcc; do
  command -v $compiler >/dev/null || continue
  for march in x86-64 x86-64-v3 x86-64-v4 native; do
    [ "$(uname -m)" = x86_64 ] || [ $march = native ] || continue
    [ $march != native ] || ! is_v3 || continue
    check "$compiler -march=$march" $compiler -std=gnu11 -O3 -march=$march -ffp-contract=off -Wall -Wextra -Werror \
      -I "$root/runtime/abi" "$here/conversions.c" -o "conversions" -lm
    case $march in
      x86-64-v3) grep -qw avx2 /proc/cpuinfo || continue ;;
      x86-64-v4) grep -qw avx512vl /proc/cpuinfo || continue ;;
    esac
    check "conversions by $compiler -march=$march" ./conversions
  done
done

# ---- the matrix unit of this processor, if it has one, has the bits of plain C ----
for compiler in clang gcc; do
  command -v $compiler >/dev/null || continue
  for flags in "-march=native" "-march=x86-64 -DNNC_MATRIX_PLAIN=1"; do
    check "matrix.c by $compiler $flags" $compiler -std=gnu11 -O2 $flags -Wall -Wextra -Werror -I "$root/runtime/abi" \
      "$here/matrix.c" -o "matrix${flags//[^A-Z]/}" -lm
  done
  ./matrix >unit.txt
  ./matrixDNNCMATRIXPLAIN >plain.txt
  check "tiles of plain C by $compiler" [ "$(wc -l <plain.txt)" = 640 ]
  if [ "$(cat unit.txt)" = none ]; then echo "skipped: the matrix unit by $compiler, which has none to use here"
  else check "tiles of the matrix unit by $compiler" cmp unit.txt plain.txt
  fi
done

# ---- operators and gradients: -O0 (the C compiler's, too) and -O1; kept as f32, and as 16 bits with pairs of bf16 multiplied
# by the processor or widened, whatever is faster here; and the emitted C without warnings ----
for type in bf16 f16; do
  sed "s/TYPE/$type/g" "$here/operators.net" > $type.net
  ways=("0 --cflags=-O0 --units=1" 1 "1 --memory-limit=1G --cflags=-DNNC_SLOW_PAIRS=1")
  [ $type = bf16 ] && ways+=("1 --memory-limit=1G --cflags=-UNNC_SLOW_PAIRS")
  if grep -qw avx512f /proc/cpuinfo; then ways+=("1 --arch=x86-64-v3"); fi
  for way in "${ways[@]}"; do
    check "$type -O$way" "$nnc" -O$way $type.net -o $type
    check "$type -O$way step" ./$type step --inputs "$here/$type.safetensors" \
      --init "$here/$type.safetensors" --steps 1 --quiet out.safetensors
    compared=$(python3 "$here/compare.py" "$here/$type.safetensors" out.safetensors)
    grep -v ' passed, ' <<<"$compared"
    passed=$((passed + $(sed -n 's/ passed.*//p' <<<"$compared")))
    failed=$((failed + $(sed -n 's/.*, \(.*\) failed/\1/p' <<<"$compared")))
  done
  for level in 0 1; do
    "$nnc" -O$level $type.net --emit=c -o $type.c 2>/dev/null
    for compiler in clang gcc; do
      command -v $compiler >/dev/null || continue
      [ $level$compiler != 0gcc ] || ! command -v clang >/dev/null || continue # -O0 is read by clang alone
      check "$compiler -Wall -Wextra on $type -O$level" $compiler -std=gnu11 -Wall -Wextra -Werror -O1 -march=native \
        -I "$root/runtime/abi" -c $type.c -o $type.o
    done
  done
done

# ---- types: data, checkpoints, resuming, predictions, exports ----
python3 - <<'PYTHON'
import struct
def npy(name, kind, shape, values):
    head = "{'descr': '<%s2', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    with open(name, 'wb') as out:
        out.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        out.write(struct.pack('<%de' % len(values), *values))
npy('x.npy', 'f', '(64, 6)', [(i * 37 % 101 - 50) / 32 for i in range(384)])
npy('y.npy', 'f', '(64,)', [(i * 11 % 17 - 8) / 8 for i in range(64)])
PYTHON
cp "$here/types.net" .
check "types.net" "$nnc" types.net -o types
check "trains" ./types --out whole --quiet --threads 2
check "in two pieces" ./types --out pieces --steps 13 --quiet --threads 1
check "goes on" ./types --out pieces --resume --quiet
check "the same end" cmp whole/checkpoint.safetensors pieces/checkpoint.safetensors
header=$(head -c 3000 whole/checkpoint.safetensors | tr -d '\0')
for tensor in '"w":{"dtype":"BF16","shape":[6,4]' '"v":{"dtype":"F16","shape":[4]' '"s":{"dtype":"BF16"' '"seen":{"dtype":"F16"'; do
  grep -qaF -- "$tensor" <<<"$header" && ok || fail "no $tensor in the checkpoint"
done
# x[0, 0] is -50/32, an f16 and a bf16.
check_status "predicts" 0 '"input_":\[-1.5625,' ./types predict --out whole x.npy
check "exports" ./types export --out whole whole.npz
check_status "v is a NumPy half" 0 "'descr': '<f2'" sh -c "unzip -p whole.npz v.npy | tr -d '\\0'"
check_status "w is widened" 0 "'descr': '<f4'" sh -c "unzip -p whole.npz w.npy | tr -d '\\0'"
check_status "info" 0 'bf16\[6, 4\]' ./types info
check "gradients, in f64" "$nnc" types.net --check-gradients
check_status "--float=f64 leaves them" 0 'bf16\[6, 4\] = param' "$nnc" types.net --float=f64 --emit=ir

# ---- optimizers, clip and averages of weights in 16 bits ----
cp "$here/optimizers.net" .
check "optimizers.net" "$nnc" optimizers.net -o optimizers
check "takes 30 steps" ./optimizers --out steps --quiet
# adam's step is lr, however small gradients are; of 100 equal elements each is a tenth of the norm; the average is
# -1.0436, which bf16 has as -1.046875.
check_status "small gradients, large gradients, averages" 0 "\"small\":\[?-0.300[0-9]*\]?,\"large\":-2.99[0-9]*,\"average\":-1.046875" \
  ./optimizers predict --out steps x.npy
check_status "states are f32" 0 "w:v +optimizer +f32" ./optimizers info

# ---- a scan over f16 and an operator in C: written out and as a loop ----
cp "$here/scan_extern.net" "$here/twice.c" .
for scans in unroll loop; do
  check "scan_extern.net --scans=$scans" "$nnc" scan_extern.net --scans=$scans -o scan_extern
  check "scan_extern trains ($scans)" ./scan_extern --quiet --out scan_$scans
done
check "both ways have the same bits" cmp scan_unroll/checkpoint.safetensors scan_loop/checkpoint.safetensors
# x[0, 0:2] twice: -100/32 and -26/32
check_status "the operator in C computes" 0 '"t":\[-3.125,-0.8125,' ./scan_extern predict --out scan_loop x.npy

# ---- mixed precision: as good as f32, parameters in f32, operands in 16 bits ----
last() { tail -n 1 "$1/log.jsonl" | sed -n "s|.*\"$2\": *\([^,}]*\).*|\1|p"; }
check "digits" "$build/bin/nnc-digits" digits --train 6000 --test 1000
for precision in f32 bf16 f16; do
  check "$precision" "$nnc" "$root/models/mnist.net" -D train.precision=$precision -D train.epochs=4 -o mnist
  check "$precision trains" ./mnist --data digits --out $precision.run --quiet
  at_least "accuracy of $precision" "$(last $precision.run test/accuracy)" 0.90
  # 1,000 examples: half a percent is five of them.
  at_least "accuracy of $precision beside f32" "$(last $precision.run test/accuracy)" \
    "$(awk "BEGIN { print $(last f32.run test/accuracy) - 0.005 }")"
  grep -qaF '"h1.w":{"dtype":"F32"' <(head -c 3000 $precision.run/checkpoint.safetensors) && ok || fail "$precision: h1.w is not f32"
done

# ---- a scale that follows the gradients ----
for parts in 1 2; do
  check "dynamic scale, $parts minibatches a step" "$nnc" "$here/dynamic.net" -D parts=$parts -o dynamic
  check "dynamic scale, $parts minibatches a step: the recurrence" python3 "$here/dynamic.py" ./dynamic
done

# ---- what is multiplied: f32 where nothing multiplies 16 bits and memory is not limited ----
multiplied() { # PRECISION OPTION...: the types of what the kernels of contractions and convolutions read, where they lie
  "$nnc" "$root/models/mnist_cnn.net" -D train.precision=$1 "${@:2}" --emit=program >program.txt || return
  awk '/^kernel / { is_product = /: (contract|conv)/ } is_product && /^ +@[01]: / { print $2 }' program.txt |
    sed 's/\[.*//' | sort -u | tr '\n' ' '
}
reads() { # WHAT TYPE PRECISION OPTION...
  local found; found=$(multiplied "${@:3}")
  [ "$found" = "$2 " ] && ok || fail "$1: products read $found"
}
for precision in bf16 f16; do
  reads "$precision for levels" f32 $precision --arch=v2,v3
  reads "$precision in limited memory" $precision $precision --arch=x86-64-v3 --memory-limit=1G
done
check_status "the report says so" 0 'numbers of bf16 are kept as f32' "$nnc" "$root/models/mnist_cnn.net" \
  -D train.precision=bf16 --arch=x86-64-v3 --report
check "and not in limited memory" sh -c "! '$nnc' '$root/models/mnist_cnn.net' -D train.precision=bf16 --arch=x86-64-v3 \
  --memory-limit=1G --report | grep -q 'kept as f32'"
reads "bf16 for a processor that multiplies it" bf16 bf16 --arch=znver4
reads "f16 there" f32 f16 --arch=znver4

# ---- what depends on a matrix unit ----
filtered() { # OPTION...: how many kernels of the report of VGG-16 are filtered; nothing where nnc fails
  "$nnc" "$root/models/vgg16.net" "$@" --report >report.txt || return
  sed -n '/^by Winograd/,/^$/p' report.txt | wc -l
}
[ "$(filtered -D train.precision=bf16 --arch=znver4)" -gt 20 ] && ok || fail "bf16 is not filtered"
[ "$(filtered -D train.precision=bf16 --arch=sapphirerapids)" = 0 ] && ok || fail "bf16 of a matrix unit is filtered"
split() { # the same of kernels that split f32
  "$nnc" "$root/models/mnist_cnn.net" -D train.precision=bf16x3 "$@" --emit=program >program.txt || return
  grep -c '^kernel .*bf16x3' program.txt
}
[ "$(split --arch=sapphirerapids)" -gt 3 ] && ok || fail "bf16x3 is not for a matrix unit"
[ "$(split --arch=znver4)" = 0 ] && ok || fail "bf16x3 without a matrix unit"
check_status "the report says so" 0 'products of bf16x3 are those of f32' "$nnc" "$root/models/mnist_cnn.net" \
  -D train.precision=bf16x3 --arch=znver4 --report
[ "$(split --arch=znver4 --cflags=-DNNC_MATRIX_PLAIN=1)" -gt 3 ] && ok || fail "bf16x3 is not for a unit in plain C"

count() { "$nnc" "$root/models/mnist_cnn.net" -D train.precision=$1 ${3:-} --emit=ir | grep -c "$2"; }
[ "$(count bf16 'bf16\[.*= \(contract\|conv\)')" -gt 6 ] && ok || fail "no contractions in bf16"
[ "$(count bf16 'f32\[.*= \(contract\|conv\)')" = 0 ] && ok || fail "a contraction in f32"
[ "$(count f16 'f16\[.*= \(exp\|log\|reduce_sum\)')" = 0 ] && ok || fail "f16 sums or exponentials"
[ "$(count bf16 'bf16\[' --float=f32)" = 0 ] && ok || fail "--float=f32 leaves bf16"
summary
