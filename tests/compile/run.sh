#!/usr/bin/env bash
# From emitted C to the executable: units and one file, the cache, flags of the C compiler.
# Usage: tests/compile/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
quick=--cflags=-O0 # where nothing but what is compiled, and when, is proved; for gcc -Og, which takes less than its -O0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/home TMPDIR=$work/tmp
mkdir "$work/tmp"
said() { grep -c "$1" "$2"; }
compilers() { grep -c ' -c -x c - ' "$1"; } # how many units a log of -v compiles
check "digits" "$build/bin/nnc-digits" "$work/digits" --train 600 --test 100

# ---- one file and several units give the same weights ----
weights() { # weights EXECUTABLE: what some steps make, without what names the compiler's command
  rm -rf "$work/run"
  "$1" train --data "$work/digits" --steps 6 --threads 2 --quiet --out "$work/run" &&
    "$1" export --out "$work/run" "$work/weights.npz" --quiet && sha256sum < "$work/weights.npz"
}
for model in mnist_cnn lenet; do
  level=-O3 least=3
  [ $model = mnist_cnn ] || { level=-O0 least=2; }
  "$nnc" models/$model.net --emit=c -o "$work/whole.c" || fail "emit=c of $model"
  command=$(sed -n '/^ \*\//q; s/^ \*   //p' "$work/whole.c")
  check "$model as one file" eval "${command/-O3/$level}"
  "$nnc" models/$model.net --cflags=$level -o "$work/units" --jobs=3 --no-cache -v 2> "$work/log" || fail "$model in units"
  at_least "units of $model" "$(compilers "$work/log")" $least
  one=$(weights "$work/whole") several=$(weights "$work/units")
  if [ -n "$one" ] && [ "$one" = "$several" ]; then ok; else fail "$model: units and one file differ: $one, $several"; fi
done

# ---- as many units as --units says, at most ----
units() { # units NAME FLAGS...: how many are compiled
  local name=$1; shift
  "$nnc" models/lenet.net $quick --no-cache -v "$@" -o "$work/$name" 2> "$work/log" || fail "$name: compiles"
  compilers "$work/log"
}
several=$(units several)
at_least "units of lenet" "$several" 2
check "kernels in two units, what they share, and what calls them" test "$(units two --units=2 --cflags=-O1)" = 4
check "a single unit" test "$(units single --units=1)" = 1
check "a single unit with lines for debuggers" test "$(units debug --units=1 -g)" = 1
check "a single unit of kernels for each of two levels" test "$(units levels --units=1 --arch=v2,v3)" = 5
for name in single debug; do
  check "$name: the same weights" test "$(weights "$work/$name")" = "$(weights "$work/several")"
done

# ---- no term that adds or multiplies 0, no value that is computed for nothing ----
statements() { sed '/^ *\/\*/,/\*\/$/d' "$1" | grep -v '^ *"'; } # without comments and literals
for model in mnist mnist_cnn lenet fashion housing gpt bilstm_tagger mobilenet_v2 shufflenet unet; do
  "$nnc" models/$model.net --emit=c -o "$work/plain.c" || fail "emit=c of $model"
  found=$(statements "$work/plain.c" | grep -m3 -E '(^|[^A-Za-z0-9_.])(0 [+*] |\(void\)[a-z])| [+*] 0([^0-9.x]|$)')
  if [ -z "$found" ]; then ok; else fail "$model computes what is nothing: $found"; fi
done

# ---- kernels that differ in numbers alone are one function; with -g they are not: the same weights ----
functions() { grep -c '^NNC_KERNEL' "$1"; }
for float in f32 f64; do
  level=-O3
  [ $float = f32 ] || level=-O0
  "$nnc" tests/compile/shared.net --float=$float --emit=c -o "$work/shared.c"
  "$nnc" tests/compile/shared.net --float=$float --emit=c -g -o "$work/apart.c"
  at_most "$float: functions of kernels" "$(functions "$work/shared.c")" $(($(functions "$work/apart.c") * 4 / 5))
  check_status "$float: their comments name the parameters" 0 'What differs between these: N' cat "$work/shared.c"
  check_status "$float: not where none is shared" 1 '' grep 'What differs' "$work/apart.c"
  for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    check "$cc -Wall -Wextra on shared.net in $float" $cc -std=gnu11 -Wall -Wextra -Werror -march=native \
      -I"$build/include/nnc" -fsyntax-only "$work/shared.c"
  done
  check "shared.net in $float" "$nnc" tests/compile/shared.net --float=$float --cflags=$level -o "$work/shared"
  check "shared.net in $float, -g" "$nnc" tests/compile/shared.net --float=$float --cflags=$level -g -o "$work/apart"
  one=$(weights "$work/apart") several=$(weights "$work/shared")
  if [ -n "$one" ] && [ "$one" = "$several" ]; then ok; else fail "$float: shared functions give other weights: $one, $several"; fi
done
rows() { "$1" profile --steps 2 --all --json | python3 -c '
import json, sys
keys = ["entry", "step", "name", "class", "operator", "stores", "tasks", "line"]
for row in json.load(sys.stdin)["instances"]: print(*(row.get(key) for key in keys))' | sort; }
rows "$work/apart" > "$work/rows.apart"; rows "$work/shared" > "$work/rows.shared"
at_least "rows of the profile" "$(wc -l < "$work/rows.shared")" 30
check "the profile names every layer all the same" cmp "$work/rows.apart" "$work/rows.shared"

# ---- a long entry is several functions, which do the same as one that is not cut ----
"$nnc" tests/compile/long.net --emit=c -o "$work/long.c"
pieces=$(grep -c '^static NNC_PIECE void train_run_[0-9]*(nnc_worker' "$work/long.c")
at_least "functions of a long entry" "$pieces" 2
check_status "which are called in their order" 0 '^1 2' sh -c "sed -n 's/^  train_run_\([0-9]*\)(worker);/\1/p' '$work/long.c' | tr '\n' ' '"
command=$(sed -n '/^ \*\//q; s/^ \*   //p' "$work/long.c")
check "a long entry in pieces" eval "${command/-O3/-O0}"
pieces=$(weights "$work/long")
# As one function: what ends a piece and begins the next is taken out, and the marks of the whole go around it.
python3 - "$work/long.c" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read()
bodies = re.findall(r"static NNC_PIECE void train_run_\d+\(nnc_worker \*worker\)\n\{\n(.*?)\n\}\n", text, re.S)
calls = "".join("  train_run_%d(worker);\n" % (i + 1) for i in range(len(bodies)))
assert len(bodies) > 1 and calls in text
open(sys.argv[1], "w").write(text.replace(calls, "\n".join(bodies) + "\n"))
PYTHON
check "a long entry as one function" eval "${command/-O3/-O0}"
whole=$(weights "$work/long")
check "a long entry in units" "$nnc" tests/compile/long.net $quick -o "$work/long" --no-cache
units=$(weights "$work/long")
if [ -n "$whole" ] && [ "$whole" = "$pieces" ] && [ "$whole" = "$units" ]; then ok; else fail "long.net: $whole as one function, $pieces in pieces, $units in units"; fi

# ---- tiles are compiled once for all units, and once for each level ----
symbols() { nm "$1" | awk '{ print $NF }' | sed -n 's/^\(nnc_tile_f32_[0-9]*_[0-9]*\(_v[234]\)\?\)$/\1/p' | sort; }
for float in f32 f64; do
  "$nnc" tests/compile/shared.net -v -g --float=$float $quick --no-cache -o "$work/tiles" 2> "$work/log"
  at_least "$float: units of shared.net" "$(compilers "$work/log")" 4
  at_most "$float: copies of a tile" "$(nm "$work/tiles" | awk '{ print $NF }' | grep -E '^nnc_(tile|pack_block)_' | sort | uniq -d | wc -l)" 0
done
at_least "tiles of shared.net" "$("$nnc" tests/compile/shared.net -g $quick -o "$work/tiles" && symbols "$work/tiles" | wc -l)" 2
if [ "$(uname -m)" = x86_64 ]; then
  "$nnc" tests/compile/shared.net -g --arch=v2,v3 $quick -o "$work/tiles"
  for level in v2 v3; do at_least "tiles of $level" "$(symbols "$work/tiles" | grep -c "_$level$")" 2; done
fi

# ---- what is in the cache is the same bytes ----
cached() { "$nnc" models/iris.net -v --cache-dir="$work/cache" -o "$work/$1" $quick "${@:2}" > "$work/log" 2>&1; }
cached first; at_least "first time compiles" "$(compilers "$work/log")" 1
cached second; check_status "second time finds it" 0 'the executable is in the cache' cat "$work/log"
check "the same bytes" cmp "$work/first" "$work/second"
check "which run" "$work/second" info
check "under another name" sh -c "cp models/iris.net '$work/other.net'"
"$nnc" models/iris.net --no-cache $quick -o "$work/plain"
check "as without a cache" cmp "$work/first" "$work/plain"

# ---- whatever decides the bytes is in the key ----
cached flags --cflags="-O0 -DSOME=1"; at_least "other flags compile" "$(compilers "$work/log")" 1
cached gcc --cc=gcc --cflags=-Og; at_least "another compiler compiles" "$(compilers "$work/log")" 1
cached static --static; check_status "another link links" 0 ' -static' cat "$work/log"
mkdir -p "$work/prefix/bin" "$work/prefix/lib"
cp "$nnc" "$work/prefix/bin"; cp -r "$build/include" "$work/prefix"; cp -r "$build/lib/nnc" "$work/prefix/lib"
moved() { "$work/prefix/bin/nnc" models/iris.net -v $quick --cache-dir="$work/cache" -o "$work/moved" > "$work/log" 2>&1; }
moved; moved; check_status "an installation finds its own" 0 'in the cache' cat "$work/log"
touch "$work/prefix/include/nnc/nnc_math.h"
moved; check_status "a header of another time is the same" 0 'in the cache' cat "$work/log"
echo "/* edited */" >> "$work/prefix/include/nnc/nnc_math.h"
moved; at_least "an edited header compiles" "$(compilers "$work/log")" 1
# Units include the headers of what they compute: what one has read says little of the next one.
tiled() { "$work/prefix/bin/nnc" models/mnist.net -v $quick --cache-dir="$work/cache" -o "$work/tiled" > "$work/log" 2>&1; }
tiled; tiled; check_status "products are found" 0 'the executable is in the cache' cat "$work/log"
moved; echo "/* edited */" >> "$work/prefix/include/nnc/nnc_gemm.h"
tiled; at_least "an edited header of theirs compiles" "$(compilers "$work/log")" 2
moved
cp tests/compile/run.sh "$work/extra"; ar r "$work/prefix/lib/nnc/libnncrt.a" "$work/extra" 2>/dev/null
moved; check_status "an edited library links" 0 'libnncrt' cat "$work/log"
at_most "but compiles nothing" "$(compilers "$work/log")" 0
mkdir "$work/bin"; printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v gcc)" > "$work/bin/mycc"; chmod +x "$work/bin/mycc"
mine() { cached mine --cc="$work/bin/mycc" --cflags=-Og; }
mine; mine
check_status "a compiler of one's own" 0 'in the cache' cat "$work/log"
echo '# another' >> "$work/bin/mycc"
mine; at_least "that changed compiles" "$(compilers "$work/log")" 1
printf '#!/bin/sh\n[ "$1" = -print-search-dirs ] && exit 1\nexec %s "$@"\n' "$(command -v gcc)" > "$work/bin/mycc"
cached nameless --cc="$work/bin/mycc" --cflags=-Og --static
check_status "one that names no folders is asked for each file" 0 ' -static-pie' cat "$work/log"
printf 'CFLAG="-w"\n' > "$work/response.txt"
for i in 1 2; do cached response --cflags="-O0 -DX @/dev/null"; done
at_least "flags from a file are never cached" "$(compilers "$work/log")" 1

# ---- an edit of the model compiles what changed ----
cat models/mnist_cnn.net > "$work/edited.net"
"$nnc" "$work/edited.net" --cache-dir="$work/cache" -v -o "$work/edited" 2> "$work/log"
all=$(compilers "$work/log")
sed -i "s/epochs *= [0-9]*/epochs = 3/" "$work/edited.net"
"$nnc" "$work/edited.net" --cache-dir="$work/cache" -v -o "$work/edited" 2> "$work/log"
at_least "an edit compiles" "$(compilers "$work/log")" 1
at_most "not everything" "$(compilers "$work/log")" $((all - 1))

mkdir "$work/elsewhere"; { echo "# A line more."; cat "$work/edited.net"; } > "$work/elsewhere/edited.net"
"$nnc" "$work/elsewhere/edited.net" --cache-dir="$work/cache" -v -o "$work/moved_lines" 2> "$work/log"
at_most "kernels do not care for lines and folders" "$(compilers "$work/log")" 1
"$nnc" "$work/edited.net" --cache-dir="$work/cache" -g -o "$work/debugged" 2> "$work/log"
"$nnc" "$work/elsewhere/edited.net" --cache-dir="$work/cache" -g -v -o "$work/debugged" 2> "$work/log"
at_least "debugging information does" "$(compilers "$work/log")" $((all - 1))

# ---- damage ----
for file in "$work"/cache/*.nnc; do printf 'damage' | dd of="$file" bs=1 seek=60 conv=notrunc status=none; done
cached damaged; at_least "damaged files are not used" "$(compilers "$work/log")" 1
check "the bytes are the same again" cmp "$work/first" "$work/damaged"
cached repaired; check_status "and were replaced" 0 'in the cache' cat "$work/log"
for file in "$work"/cache/*.nnc; do : > "$file"; done
cached emptied; check "emptied files are not used" cmp "$work/first" "$work/emptied"

# ---- several at a time, one cache ----
rm -rf "$work/cache"
for i in 1 2 3; do "$nnc" models/iris.net $quick --cache-dir="$work/cache" -o "$work/at_once.$i" & done; wait
for i in 1 2 3; do check "at once: $i" cmp "$work/first" "$work/at_once.$i"; done
check_status "no temporary files stay" 0 '^0$' sh -c "ls '$work/cache' | grep -vc '\.nnc$'; true"

# ---- what an executable weighs ----
"$nnc" models/mnist.net -o "$work/weighed"
at_most "bytes of mnist, stripped and optimized" "$(stat -c %s "$work/weighed")" 440000
"$nnc" models/iris.net -o "$work/weighed"
at_most "bytes of iris" "$(stat -c %s "$work/weighed")" 390000
"$nnc" models/iris.net --report-page -o "$work/weighed"
at_most "bytes of iris with its report" "$(stat -c %s "$work/weighed")" 440000

# ---- the bound ----
cached bounded --cache-size=100K --cflags="-O0 -DOTHER"
kept=$(cat "$work"/cache/*.nnc 2>/dev/null | wc -c)
at_most "bytes in a cache of 100K" "$kept" 102400

# ---- no cache ----
: > "$work/file"
check_status "a cache that is a file" 0 'warning: nothing is cached in .*file' "$nnc" models/iris.net $quick --cache-dir="$work/file" -o "$work/uncached"
check "does not matter" cmp "$work/first" "$work/uncached"
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/sealed"; chmod a-w "$work/sealed"
  check_status "a read-only cache" 0 'warning: nothing is cached in .*sealed: Permission denied' "$nnc" models/iris.net $quick --cache-dir="$work/sealed" -o "$work/uncached"
elif command -v setpriv >/dev/null; then
  mkdir "$work/sealed" "$work/open"; chmod a+rx "$work"; chmod a-w "$work/sealed"; chmod a+rwx "$work/open" "$work/tmp"
  cp models/iris.net "$work/open"
  check_status "a read-only cache" 0 'warning: nothing is cached in .*sealed: Permission denied' \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$nnc" "$work/open/iris.net" $quick --cache-dir="$work/sealed" -o "$work/open/uncached"
else echo "skipped: root may write to a read-only folder and setpriv is not installed"; fi
check "its own folder by default" sh -c "'$nnc' models/iris.net $quick -o '$work/home_cached' && ls '$work'/home/nnc/*.nnc"

# ---- what the C compiler says is said once ----
"$nnc" models/mnist.net --no-cache --cflags=-fno-such -o "$work/refused" 2> "$work/log"
at_most "an unknown flag is told once" "$(said 'fno-such' "$work/log")" 2 # by it, and by us
"$nnc" models/mnist.net --no-cache --cflags=-Dnet_h1_y=5 -o "$work/refused" > "$work/log" 2>&1
check_status "errors name lines of the C file" 0 'refused\.c:[0-9]+:[0-9]+: error' cat "$work/log"
check_status "which is kept" 0 'kept in .*refused\.c' cat "$work/log"
at_most "once" "$(said 'kept in' "$work/log")" 1
check_status "nothing else stays" 0 '^0$' sh -c "ls -d '$work'/tmp/nnc-* 2>/dev/null | wc -l"
cp models/iris.net "$work/mine.net"; echo precious > "$work/mine.c"
check "compiling leaves a C file of that name" sh -c "'$nnc' '$work/mine.net' $quick -o '$work/mine' && grep -q precious '$work/mine.c'"

# ---- numbers that are not finite have names in C ----
sed 's/standardize(measures)/impute(measures, with = 3)/' models/iris.net > "$work/finite.net"
"$nnc" "$work/finite.net" --dump-after=dce --stop-after=dce | sed 's/with = 3.0/with = inf/' > "$work/infinite.ir"
check_status "a dump with inf" 0 'with = inf' cat "$work/infinite.ir"
check "inf in the tables" "$nnc" "$work/infinite.ir" --resume-after=dce $quick -o "$work/infinite"

# ---- signals leave nothing ----
"$nnc" models/mnist.net --no-cache --jobs=1 -o "$work/interrupted" & child=$!
for _ in $(seq 100); do compgen -G "$work/tmp/nnc-*/unit_0.c" >/dev/null && break; sleep 0.05; done
kill -TERM $child; wait $child; status=$?
if [ $status -eq 143 ] && ! compgen -G "$work/tmp/nnc-*" >/dev/null; then ok; else fail "SIGTERM: status $status, left: $(ls "$work/tmp")"; fi

# ---- instruction sets ----
"$nnc" models/mnist_cnn.net $quick --arch=v4,x86-64-v2,v3 -o "$work/levels" 2> "$work/log"
if [ "$(uname -m)" != x86_64 ]; then echo "skipped: levels are those of x86-64"
else
  check "a list of levels" test -x "$work/levels"
  check_status "info tells what is there" 0 '^code for x86-64-v2 \(x86-64\)' "$work/levels" info
  check_status "in ascending order" 0 '"levels":\[.*x86-64-v2.*x86-64-v3.*x86-64-v4.*\]' "$work/levels" info --json
  last=""
  for level in v2 v3 v4; do
    if "$work/levels" info | grep -q "^code for x86-64-$level .*processor has no"; then
      echo "skipped: this processor does not run x86-64-$level"
      check_status "$level is refused" 1 "isa=$level: this processor has no" "$work/levels" --isa=$level bench
      continue
    fi
    last=$level
    check_status "$level is used" 0 "^code for x86-64-$level .*: used" "$work/levels" info --isa=$level
    check "$level alone" "$nnc" models/mnist_cnn.net $quick --arch=$level -o "$work/alone"
    many() { "$work/levels" "$@" --isa=$level; }
    one=$(weights "$work/alone") several=$(weights many)
    if [ -n "$one" ] && [ "$one" = "$several" ]; then ok; else fail "$level alone and in a list differ: $one, $several"; fi
    for case in "iris f64" "mnist_cnn f32"; do
      read -r model type <<< "$case"; mkdir -p "$work/agree"
      AGREE_OPTIONS="--arch=$level" check "$level: $case agrees with the interpreter" \
        "$build/tests/agree" "$nnc" models/$model.net $type 3 "$work/agree"
    done
  done
  check_status "the best is taken" 0 "^code for x86-64-$last .*: used" "$work/levels" info
  rm -rf "$work/run"
  check "a run at v2" "$work/levels" --isa=v2 --data "$work/digits" --steps 2 --out "$work/run"
  if [ "$last" != v2 ]; then
    check_status "goes on at $last with a warning" 0 'warning: .*was made with x86-64, this program' \
      "$work/levels" --resume --data "$work/digits" --steps 4 --out "$work/run"
  fi
  # Where vectors have 16 registers, a weight gradient has both of its sides copied.
  copies() {
    "$nnc" models/mnist.net --arch=$1 --emit=c -o "$work/copies.c"
    sed -n '/^NNC_KERNEL void net_h2_w_grad(/,/^}/p' "$work/copies.c" | grep -c 'NNC_PACK('
  }
  for pair in x86-64=2 v2=2 x86-64-v3=2 v4=1 v3,v4=1; do
    check "copies of ${pair%=*}" test "$(copies ${pair%=*})" = ${pair#*=}
  done
  # A tile fetches what the next one's epilogue reads, also where rows are two axes, and where vectors are no whole lines
  # what it writes: the sum before GELU, and GELU.
  fetched() { # MODEL KERNEL ARCH
    "$nnc" models/$1.net --arch=$3 --emit=c -o "$work/fetched.c"
    sed -n "/^NNC_KERNEL void net_$2(/,/^}/p" "$work/fetched.c" | grep -o 'NNC_NEXT_TILE(' | wc -l
  }
  while read -r model kernel level count; do
    check "what $kernel of $model fetches, $level" test "$(fetched $model $kernel $level)" = $count
  done <<'END'
gpt block_0_linear_2_y v3 2
gpt block_0_linear_2_y v4 0
mlp_mixer block_7_patches_down_x_grad v4 1
END
  "$nnc" models/iris.net --arch=v2,v3 --emit=c -o "$work/listed.c"
  command=$(sed -n '/^ \*\//q; s/^ \*   //p' "$work/listed.c") # a line for each level and the last
  check "one file with levels" sh -c "$command"
  check_status "has them" 0 '^code for x86-64-v3' "$work/listed" info
fi
check_status "no machine" 3 "^nnc: error: --arch: .* knows no machine 'x86-64-v9'; there are native, x86-64-v2," "$nnc" models/iris.net --arch=v9 -o "$work/wrong"
if ls "$work"/wrong* >/dev/null 2>&1; then fail "no machine: $(ls "$work"/wrong*) is left"; else ok; fi
check_status "a list of what is no level" 3 "in a list stand .* not 'znver3'" "$nnc" models/iris.net --arch=v3,znver3 -o "$work/wrong"

# ---- flags ----
check_status "--jobs wants a number" 2 '--jobs takes a number' "$nnc" models/iris.net --jobs=none
check_status "--units wants a number" 2 '--units takes a number' "$nnc" models/iris.net --units=0
check_status "--cache-size wants a size" 2 '--cache-size takes a size' "$nnc" models/iris.net --cache-size=big
check "-g" "$nnc" models/iris.net $quick -g -o "$work/debug"
check "keeps the C file" grep -q 'net_h_y' "$work/debug.c"
if command -v readelf >/dev/null; then
  check_status "whose lines are in the executable" 0 'debug\.c' readelf --debug-dump=decodedline "$work/debug"
fi
# ---- names that emitted code has for its own ----
cat > "$work/names.net" <<'END'
const batch = 4
data train { nnc_x = npy("x.npy") }
input nnc_x : f32[batch, 3]
state mem   : f32[3] = zeros
state mem_x : f32[3] = zeros
state nnc   : f32[3] = zeros
param net_x = 1.0
mem   <- mem + mean(nnc_x, axis = 0)
mem_x <- mem_x + mem
nnc   <- nnc + mem_x
train { minimize = mean(nnc_x * net_x) ^ 2 + mean(mem) + mean(nnc), optimizer = sgd, steps = 2 }
END
check "variables called mem, mem_x and nnc" timeout 60 "$nnc" "$work/names.net" $quick -o "$work/names"
check_status "and they compute" 0 '"steps":3' "$work/names" bench --steps 3 --threads 1

check "--static" "$nnc" models/iris.net $quick --static -o "$work/static"
check_status "links nothing shared" 0 '^0$' sh -c "readelf -dlW '$work/static' | grep -cE 'NEEDED|INTERP'; true"
check_status "and runs with threads" 0 '"threads":2' "$work/static" bench --steps 5 --threads 2
summary
