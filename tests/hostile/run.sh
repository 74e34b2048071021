#!/usr/bin/env bash
# What nnc and its executables must not do to their user: write over files, run what a name says, believe a
# cache of others, follow planted links.  Usage: tests/hostile/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/home TMPDIR=$work/tmp
mkdir "$work/tmp"
quick=(--cflags=-O0 --units=1)

cat > "$work/net.net" <<'NET'
const batch = 2
data train { x, y = csv("rows.csv", header = false) }
input x : f32[batch, 3]
input y : f32[batch]
loss = mean((linear(x, 1)[:, 0] - y) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.01), steps = 3 }
NET
printf '1,2,3,4\n4,5,6,7\n7,8,9,1\n2,1,2,1\n' > "$work/rows.csv"

# unchanged NAME FILE STATUS PATTERN COMMAND...: the command is refused and the file is what it was.
unchanged() {
  local name=$1 file=$2 before after; shift 2
  before=$(stat -c %i "$file" && sha256sum < "$file")
  check_status "$name" "$@"
  after=$(stat -c %i "$file" && sha256sum < "$file")
  if [ "$before" = "$after" ]; then ok; else fail "$name: $file was written"; fi
}

# ---- files of the user's are not outputs ----
mkdir "$work/own"; cp examples/extern/* "$work/own"; cp "$work/rows.csv" "$work/own"
model=$(ls "$work"/own/*.net | head -1)
for flag in -g --save-temps; do
  unchanged "$flag beside the user's C" "$work/own/swish.c" 3 'swish\.c: it is a file of the C function' "$nnc" "$model" -o "$work/own/swish" $flag
done
cp "$work/net.net" "$work/m.net"
for kind in "" --emit=c --emit=ir --emit=dot --emit=program --report --check-gradients; do
  unchanged "the program as output of '$kind'" "$work/m.net" 3 'm\.net: it is the program that is compiled' "$nnc" "$work/m.net" $kind -o "$work/m.net"
done
ln -s m.net "$work/link.net"; ln "$work/m.net" "$work/hard"
unchanged "through a symbolic link" "$work/m.net" 3 'it is the program that is compiled' "$nnc" "$work/m.net" -o "$work/link.net"
unchanged "through a hard link" "$work/m.net" 3 'it is the program that is compiled' "$nnc" "$work/m.net" -o "$work/hard"
unchanged "of the data" "$work/rows.csv" 3 "it is a file of the program's data" "$nnc" "$work/m.net" --emit=ir -o "$work/rows.csv"
cp models/iris.net "$work/other.net"; echo 'int precious;' > "$work/precious.c"; echo text > "$work/notes"
unchanged "another program" "$work/other.net" 3 'other\.net: a source is there' "$nnc" "$work/m.net" --emit=ir -o "$work/other.net"
unchanged "C that nnc did not emit" "$work/precious.c" 3 'precious\.c: a file that is no C of nnc.s is there' "$nnc" "$work/m.net" --emit=c -o "$work/precious.c"
unchanged "nor beside the executable" "$work/precious.c" 3 'no C of nnc' "$nnc" "$work/m.net" -g -o "$work/precious"
unchanged "nor when the C compiler refuses" "$work/precious.c" 3 'no C of nnc' "$nnc" "$work/m.net" --no-cache --cflags=-fno-such -o "$work/precious"
unchanged "a text as executable" "$work/notes" 3 'a file that is no executable is there' "$nnc" "$work/m.net" -o "$work/notes"
check "an executable" "$nnc" "$work/m.net" "${quick[@]}" -o "$work/good"
echo '{"a": 1}' | gzip > "$work/packed"
# over_executable WORDS ARGUMENT...: no text takes the place of an executable.
over_executable() { unchanged "${*:2}" "$work/good" 3 "good: an executable is there, and $1; remove it, or choose another name" "$nnc" "${@:2}" -o "$work/good"; }
over_executable '--report compiles nothing' "$work/m.net" --report
over_executable '--report compiles nothing' "$work/m.net" --report=json
over_executable '--check-gradients compiles nothing' "$work/m.net" --check-gradients
over_executable 'C would be written' "$work/m.net" --emit=c
for arguments in "$work/m.net --emit=ir" "$work/m.net --emit=dot" "$work/m.net --emit=program" "fmt $work/m.net" "doc linear" \
  "check --parameters $work/m.net" "diff-parameters $work/m.net $work/other.net"; do
  over_executable 'a text would be written' $arguments
done
mv "$work/good" "$work/good.net"
unchanged "one that is named like a program" "$work/good.net" 3 'an executable is there' "$nnc" fmt "$work/m.net" -o "$work/good.net"
unchanged "what is no text" "$work/packed" 3 'a file that is no text is there' "$nnc" "$work/m.net" --report -o "$work/packed"
check_status "the report is told, where its name is like an executable's" 0 "^nnc: .*/told is the report and no executable: --report compiles nothing$" \
  "$nnc" "$work/m.net" --report -o "$work/told"
check_status "a folder" 3 'it is a folder' "$nnc" "$work/m.net" -o "$work/own"
for i in 1 2; do
  check "C of nnc's, time $i" "$nnc" "$work/m.net" --emit=c -o "$work/made.c"
  check "an executable with its C, time $i" "$nnc" "$work/m.net" "${quick[@]}" -g -o "$work/made2"
done

# ---- what is no regular file ----
check "a device" "$nnc" "$work/m.net" "${quick[@]}" -o /dev/null
check "stays a device" test -c /dev/null
mkfifo "$work/pipe"
timeout 20 cat "$work/pipe" > "$work/read" & reader=$!
check "a pipe" timeout 20 "$nnc" "$work/m.net" "${quick[@]}" -o "$work/pipe"
wait $reader
check "stays a pipe" test -p "$work/pipe"
check "and is written" grep -q ELF "$work/read"
"$nnc" "$work/m.net" "${quick[@]}" -o /dev/stdout > "$work/from_stdout"
check "standard output" grep -q ELF "$work/from_stdout"
mkdir "$work/far"; ln -s far/target "$work/pointer"; : > "$work/far/target"
check "a link" "$nnc" "$work/m.net" "${quick[@]}" -o "$work/pointer"
check "stays a link" test -L "$work/pointer"
check "to what is written" "$work/far/target" --version
ln -s far/absent "$work/dangling"
check "a link to nothing" "$nnc" "$work/m.net" "${quick[@]}" -o "$work/dangling"
check "makes its target" sh -c "test -L '$work/dangling' && '$work/far/absent' --version"

# ---- nnc fmt -i ----
printf 'const   batch=2\n' > "$work/far/ugly.net"; chmod 640 "$work/far/ugly.net"; ln -s far/ugly.net "$work/ugly.net"
check "fmt -i through a link" "$nnc" fmt -i "$work/ugly.net"
check_status "keeps link and mode" 0 '^640 regular' sh -c "test -L '$work/ugly.net' && stat -c '%a %F' '$work/far/ugly.net'"
printf 'const   batch=2\n' > "$work/one.net"; ln "$work/one.net" "$work/two.net"
check "fmt -i with two names" "$nnc" fmt -i "$work/one.net"
check "writes both" sh -c "cmp '$work/one.net' '$work/two.net' && [ \$(stat -c %h '$work/one.net') = 2 ]"
unchanged "fmt -o of its input" "$work/other.net" 3 'see -i' "$nnc" fmt "$work/other.net" -o "$work/other.net"

# ---- names are no code ----
compiles() { # NAME FOLDER/FILE: its C, with and without lines, compiles without warnings to a program of ours
  local name=$1 file=$2
  if ! "$nnc" "$file" --emit=c -o "$work/named.c" 2> "$work/log"; then fail "$name: $(head -c 500 "$work/log")"; return; fi
  for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    check "$name with $cc" $cc -std=gnu11 -trigraphs -Wall -Wextra -Wcomment -Werror -O0 -march=native -I"$build/include/nnc" -fsyntax-only "$work/named.c"
  done
}
builds() { # NAME FOLDER/FILE: with lines
  check "$1, built with -g" "$nnc" "$2" "${quick[@]}" -g -o "$work/named"
  check_status "$1 is our program" 0 'compiled by' "$work/named" --version
}
# A slash cannot stand in a name: "*/" is a folder whose name ends in a star.
newline=$'\n'
for folder in 'x*/int trap;/*' 'a"b' 'back\slash' "quo'te" $'line\nbreak*' 'tri??/graph' $'bell\a' $'\xc3\xa9t\xc3\xa9' $'bad\xff' 'end\' '-Wl,-e' '@list' 'a*\'"$newline"'/b'; do
  mkdir -p "$work/names/$folder"; cp "$work/net.net" "$work/names/$folder/n.net"
  compiles "the folder '$folder'" "$work/names/$folder/n.net"
done
mkdir -p "$work/names/star*/int main(void){return 42;}" && cp "$work/net.net" "$work/names/star*/int main(void){return 42;}/n.net"
compiles "a folder that is code" "$work/names/star*/int main(void){return 42;}/n.net"
for folder in 'star*/int main(void){return 42;}' $'line\nbreak*' $'bad\xff' 'back\slash'; do
  builds "the folder '$folder'" "$work/names/$folder/n.net"
done
for name in '*/ int trap; /*' 'a\\' '??/' '\"' '\n#error trap\n' '\u00e9' '%s%n' ; do
  sed "s|linear(x, 1)|linear(x, 1, name = \"$(sed 's/[\\&|]/\\&/g' <<<"$name")\")|" "$work/net.net" > "$work/string.net"
  if "$nnc" check "$work/string.net" > "$work/log" 2>&1; then compiles "the layer '$name'" "$work/string.net"; fi
done
sed 's|linear(x, 1)|linear(x, 1, name = "*/ int trap; /*")|' "$work/net.net" > "$work/string.net"
builds "a layer that is code" "$work/string.net"
mkdir "$work/out*"
check "an output of such a name" "$nnc" "$work/m.net" --emit=c -o "$work/out*/n.c"
command=$(sed -n '/^ \*\//q; s/^ \*   //p' "$work/out*/n.c")
check "whose command builds it" bash -c "$command"
check "and no other" test -x "$work/out*/n"
here=$PWD; cd "$work"
for name in -x.o @file; do
  check "the output $name" "$nnc" m.net "${quick[@]}" -g "-o$name"
  check "is there" test -x "./$name" -a -f "./$name.c"
done
cd "$here"

# ---- files of extern operators are no options ----
mkdir "$work/options"; cp tests/extern/swish.c "$work/options/good.c"
cat > "$work/options/n.net" <<'NET'
const batch = 2
data train { x, y = csv("rows.csv", header = false) }
input x : f32[batch, 3]
input y : f32[batch]
extern swish(x : f32[...], beta : f32[]) : f32[x.shape] { c = ["good.c", "FILE"] }
loss = mean((linear(x, 1)[:, 0] - y) ^ 2) + 0 * sum(stop_gradient(swish(x, 1.0)))
train { minimize = loss, optimizer = sgd(lr = 0.01), steps = 3 }
NET
echo 'int nothing;' > "$work/options/nothing.c"; (cd "$work/options" && gcc -c nothing.c -o ./-Wl,-e.o && cp ./-Wl,-e.o ./@list.o && cp ./-Wl,-e.o ./-o.o) || fail "objects for the test"
for file in -Wl,-e.o @list.o -o.o; do
  sed "s/FILE/$file/" "$work/options/n.net" > "$work/options/m.net"
  cd "$work/options"
  check "the object $file" "$nnc" m.net "${quick[@]}" --no-cache -o linked
  check_status "is linked" 0 'compiled by' ./linked --version
  check "and in the printed command" sh -c "'$nnc' m.net --emit=c -o made.c && grep -q ' \./$file' made.c"
  cd "$here"
done

# ---- names of C functions ----
for name in int restrict main malloc expf nnc_mine _mine "two words" train_run train_run_12 host data_0 net_h; do
  sed "s/\[\"good.c\", \"FILE\"\]/\"good.c\", function = \"$name\"/" "$work/options/n.net" > "$work/options/named.net"
  check_status "a function called '$name'" 1 "named\.net:5:[0-9]+:? error: (a function of your own cannot be|generated code has a name)" "$nnc" "$work/options/named.net" -o "$work/options/named"
done
# A tensor of the program called as the function is.
sed 's/swish/other/g; s/count/nothing/; s/other(/clash(/; s/other_grad(/clash_grad(/' tests/extern/swish.c > "$work/options/clash.c"
sed 's/swish/op/g; s/\["good.c", "FILE"\]/"clash.c", function = "clash"/; s/^loss = .*/clash = op(x, 1.0)\nloss = mean((linear(x, 1)[:, 0] - y) ^ 2) + 0 * sum(stop_gradient(clash))/' "$work/options/n.net" > "$work/options/clash.net"
check "a tensor of that name" "$nnc" "$work/options/clash.net" "${quick[@]}" -o "$work/options/clash"

# ---- programs that are no C compilers ----
for program in cat true false; do
  check_status "--cc=$program" 3 "error: .*$program.*(does not compile C|does not run|made no executable)" "$nnc" "$work/m.net" --cc="$(command -v $program)" --no-cache -o "$work/uncompiled"
  check_status "no blame for nnc" 1 '^$' sh -c "'$nnc' '$work/m.net' --cc='$(command -v $program)' --no-cache -o '$work/uncompiled' 2>&1 | grep 'internal error'"
done

# ---- executables lie anywhere, and what is known at their start is read-only ----
command -v readelf >/dev/null || echo "skipped: readelf is not installed"
for flags in "" --static "-g" "--cc=gcc"; do
  command -v readelf >/dev/null || break
  [ "$flags" = --cc=gcc ] && ! command -v gcc >/dev/null && continue
  optimization=-O0
  [ "$flags" != --cc=gcc ] || optimization=-Og # for which gcc takes less time
  check "an executable with '$flags'" "$nnc" "$work/net.net" $flags --cflags=$optimization --units=1 -o "$work/hard_one"
  check_status "PIE with '$flags'" 0 'Type: +DYN' readelf -h "$work/hard_one"
  check_status "RELRO with '$flags'" 0 'GNU_RELRO' readelf -lW "$work/hard_one"
  check_status "bound at the start with '$flags'" 0 'BIND_NOW|FLAGS_1.*NOW' readelf -dW "$work/hard_one"
  check_status "no code on the stack with '$flags'" 0 'GNU_STACK.* RW ' readelf -lW "$work/hard_one"
  check_status "it runs with '$flags'" 0 'compiled by' "$work/hard_one" --version
done

# ---- without /proc ----
if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
  check "a machine without /proc" unshare -m sh -c "mount -t tmpfs none /proc && '$nnc' '$work/m.net' ${quick[*]} -o '$work/procless' && '$work/procless' train --data '$work' --out '$work/procless.run' --quiet"
else echo "skipped: /proc cannot be hidden here"; fi

# ---- what grows with the program grows no faster ----
transposed() { # KERNEL STRIDE: seconds of the processor
  cat > "$work/transposed.net" <<NET
const batch = 2
data train { x = npy("x.npy") }
input x : f32[batch, 3, 16, 16]
loss = mean(conv2d_transpose(x, 4, $1, stride = $2) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 3 }
NET
  { TIMEFORMAT=%U; time "$nnc" "$work/transposed.net" --emit=c -o "$work/transposed.c" > "$work/log" 2>&1; } 2>&1
}
at_most "seconds for a transposed convolution of 256 x 256, stride 128" "$(transposed 256 128)" 1.5
check "as many source phases as there are" sh -c "sed 's/256, stride = 128/[1, 1024], stride = [1, 1024]/' '$work/transposed.net' > '$work/phases.net' && '$nnc' '$work/phases.net' --emit=c -o '$work/phases.c'"

# ---- a cache of others ----
echo "int main(void) { return 42; }" > "$work/planted.c"; gcc "$work/planted.c" -o "$work/planted"
cached() { "$nnc" "$work/m.net" "${quick[@]}" --cache-dir="$work/$1" -o "$work/cached" > "$work/log" 2>&1; }
cached fresh
check_status "a new cache is its user's alone" 0 '^700$' stat -c %a "$work/fresh"
chmod 777 "$work/fresh"; cached fresh
check_status "a cache that others may write to" 0 'warning: nothing is cached in .*fresh: others may write there' cat "$work/log"
chmod 770 "$work/fresh"; cached fresh
check_status "or a group" 0 'others may write there' cat "$work/log"
chmod 700 "$work/fresh"; cached fresh; check_status "one that is private is used" 0 '^0$' sh -c "wc -l < '$work/log'"
# All entries writable by others: none is believed.
chmod 666 "$work"/fresh/*.nnc
"$nnc" "$work/m.net" "${quick[@]}" --cache-dir="$work/fresh" -v -o "$work/cached" > "$work/log" 2>&1
at_least "entries that others may write are made again" "$(grep -c ' -c -x c - ' "$work/log")" 1
if [ "$(id -u)" = 0 ]; then
  cached owned; chown 65534 "$work/owned"; cached owned
  check_status "a cache of another user's" 0 'it belongs to another user' cat "$work/log"
  chown 0 "$work/owned"; chown 65534 "$work"/owned/*.nnc
  "$nnc" "$work/m.net" "${quick[@]}" --cache-dir="$work/owned" -v -o "$work/cached" > "$work/log" 2>&1
  at_least "entries of another user's are made again" "$(grep -c ' -c -x c - ' "$work/log")" 1
fi
# The entry of one key under the name of another.
cached swap; largest=$(ls -S "$work"/swap/*.nnc | head -1)
for file in "$work"/swap/*.nnc; do [ "$file" = "$largest" ] || cp "$largest" "$file"; done
cached swap; check "entries under other names are not believed" "$work/cached" --version

# ---- temporary files of the runtime ----
run() { # run train --out FOLDER ...
  local data=(); [ "$1" = train ] || [ "$1" = profile ] && data=(--data "$work")
  timeout 30 "$work/made2" "$@" "${data[@]}"
}
victim=$work/victim; echo precious > "$victim"
mkdir -p "$work/runs/a"; ln -s "$victim" "$work/runs/a/checkpoint.safetensors.tmp"
unchanged "a link as temporary of the checkpoint" "$victim" 0 '' run train --out "$work/runs/a"
check "the checkpoint is there" test -f "$work/runs/a/checkpoint.safetensors"
mkdir -p "$work/runs/b"; mkfifo "$work/runs/b/checkpoint.safetensors.tmp"
check "a pipe as temporary of the checkpoint" run train --out "$work/runs/b"
check "its checkpoint" test -f "$work/runs/b/checkpoint.safetensors"
for end in npz safetensors; do
  ln -s "$victim" "$work/weights.$end.tmp"
  unchanged "a link as temporary of $end" "$victim" 0 '' run export --out "$work/runs/a" "$work/weights.$end"
  rm "$work/weights.$end"; mkfifo "$work/weights.$end.tmp"
  check "a pipe as temporary of $end" run export --out "$work/runs/a" "$work/weights.$end"
  check "$end again" run export --out "$work/runs/a" "$work/weights.$end"
done
mkfifo "$work/runs/pipe.safetensors"
check_status "a pipe as checkpoint" 1 'is not a regular file' run train --out "$work/runs/c" --resume="$work/runs/pipe.safetensors"

# ---- files that the executable does not write over ----
check_file=$work/runs/a/checkpoint.safetensors
unchanged "export over the checkpoint" "$check_file" 1 'it is the checkpoint itself' run export --out "$work/runs/a" "$check_file"
ln -s runs/a/checkpoint.safetensors "$work/alias.safetensors"
unchanged "by another name" "$check_file" 1 'it is the checkpoint itself' run export --out "$work/runs/a" "$work/alias.safetensors"
unchanged "export over data" "$work/rows.csv" 2 'export writes safetensors and npz, not a table' run export --out "$work/runs/a" "$work/rows.csv"
unchanged "told that it is" "$work/rows.csv" 1 'is no safetensors file' run export --out "$work/runs/a" --format=safetensors "$work/rows.csv"
unchanged "export over a program" "$work/m.net" 1 'is no npz file' run export --out "$work/runs/a" --format=npz "$work/m.net"
check_status "export to a device" 1 'no regular file' run export --out "$work/runs/a" /dev/null
check_status "export to a folder" 1 'it is a folder' run export --out "$work/runs/a" "$work/far"
ln -s far/weights.npz "$work/there.npz"; run export --out "$work/runs/a" "$work/far/weights.npz"
check "export through a link" run export --out "$work/runs/a" "$work/there.npz"
check "which stays one" test -L "$work/there.npz"
unchanged "a log over data" "$work/rows.csv" 1 'rows\.csv is no log' run train --out "$work/runs/d" --log "$work/rows.csv"
unchanged "also when it resumes" "$work/rows.csv" 1 'rows\.csv is no log' run train --out "$work/runs/a" --resume --log "$work/rows.csv"
unchanged "a trace over data" "$work/rows.csv" 1 'is no trace' run profile --trace "$work/rows.csv" --steps 2
for i in 1 2; do check "a trace, time $i" run profile --trace "$work/trace.json" --steps 2; done
mkfifo "$work/log.pipe"
"$work/made2" train --data "$work" --out "$work/runs/e" --log "$work/log.pipe" --quiet 2> "$work/log" & child=$!
sleep 1; kill -TERM $child; for _ in $(seq 50); do kill -0 $child 2>/dev/null || break; sleep 0.1; done
if kill -0 $child 2>/dev/null; then fail "a log that nobody reads hangs"; kill -KILL $child; else ok; fi
timeout 20 cat "$work/log.pipe" > "$work/read" & reader=$!
check "a log that somebody reads" run train --out "$work/runs/f" --log "$work/log.pipe"
wait $reader; check_status "has lines" 0 '"step"' cat "$work/read"

summary
