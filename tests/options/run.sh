#!/usr/bin/env bash
# Options of programs: runs with their defaults, and with flags, beside those of programs that have constants in their
# place, on both targets; what checkpoint and log hold; resuming, eval and predict; mistakes on the command line.
# Usage: tests/options/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/close.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
perl -e 'srand 3; for (1 .. 20) { print join(",", map { sprintf "%.4f", 2 * rand() - 1 } 1 .. 4), "\n" }' > x.csv
cp "$here/program.net" options.net
sed -E 's/^option ([a-z_]+ = [^ ]+( epochs)?).*/const \1/' options.net > constants.net
flags=(--lr 3e-3 --rate=0.4 --rounds 4 --first-seed 8 --warm 2 --most .5 --spread 0.3 --weight 0.25 --decay 0.5
  --momentum_rate 0.8 --every 6 --threshold 0.1)
defined=(-Dlr=3e-3 -Drate=0.4 -Drounds=4 -Dfirst_seed=8 '-Dwarm=2 epochs' -Dmost=0.5 -Dspread=0.3 -Dweight=0.25 -Ddecay=0.5
  -Dmomentum_rate=0.8 -Devery=6 -Dthreshold=0.1)

run() { # OUT PROGRAM FLAGS...
  local out=$1 program=$2; shift 2
  check "$program in $out" "./$program" --out "$out" --quiet "$@"
}
last_line() { tail -n 1 "$1/log.jsonl" | sed 's/"seconds":[0-9.]*,//; s/"options":{[^}]*},//; s/,"command":\[[^]]*\]//'; }
# In double, where rounding is far below the tolerance.
for target in c cuda; do
  compile() { check "$target: $*" emulated "$nnc" --target=$target $quick --float=f64 "$@"; }
  compile options.net -o options
  compile constants.net -o constants
  compile constants.net "${defined[@]}" -o others
  run $target.default options
  run $target.constants constants
  check "$target: defaults are constants" close {$target.default,$target.constants}/checkpoint.safetensors 1e-12
  run $target.flags options "${flags[@]}"
  run $target.others others
  check "$target: flags are constants" close {$target.flags,$target.others}/checkpoint.safetensors 1e-12
  check "$target: as many lines" test "$(wc -l <$target.flags/log.jsonl)" = "$(wc -l <$target.others/log.jsonl)"
  for set in test train; do
    check "$target: the metric far of $set" test "$(last_line $target.flags | grep -o "\"$set/far\":[0-9.]*")" = \
      "$(last_line $target.others | grep -o "\"$set/far\":[0-9.]*")"
  done
  if cmp -s {$target.default,$target.flags}/checkpoint.safetensors; then fail "$target: flags change nothing"; else ok; fi
done
check "targets agree" close {c,cuda}.flags/checkpoint.safetensors 1e-9

# In f32, where the options leave the arithmetic as it is: the same bits. With any number of threads, too.
check "compiles" "$nnc" options.net -o options
tensors() { perl -e 'local $/; $_ = <STDIN>; my $n = unpack "Q<", $_; print substr $_, 8 + $n' <"$1/checkpoint.safetensors"; }
for name in lr momentum_rate warm rounds first_seed spread; do
  sed -E "/^option $name = /!s/^option ([a-z_]+ = [^ ]+( epochs)?).*/const \1/" options.net > only.net
  [ $name = lr ] && check "constants" "$nnc" constants.net -o constants && run plain constants
  check "$name alone" "$nnc" only.net -o only
  run "only_$name" only
  check "$name: the same bits" cmp <(tensors "only_$name") <(tensors plain)
done
run one options --threads 1 "${flags[@]}"
run two options --threads 2 "${flags[@]}"
check "threads change no bit" cmp one/checkpoint.safetensors two/checkpoint.safetensors
check "nor the log" test "$(last_line one)" = "$(last_line two)"

# The checkpoint and each line of the log have the values; a run goes on with them.
check_status "the log" 0 '"options":\{"lr":0.003,"decay":0.5,"momentum_rate":0.8,"rate":0.4,"warm":2,"rounds":4,"every":6,"first_seed":8,' head -n 1 one/log.jsonl
check "the checkpoint" grep -qaF '"options":"{\"lr\":0.003,\"decay\":0.5,' one/checkpoint.safetensors
run parts options "${flags[@]}" --epochs 2 --schedule 4
check_status "resumes with what was" 0 'lr = 0.003, as in parts/checkpoint.safetensors \(by default 0.01\)' ./options --resume --out parts
check "as if it had not stopped" cmp one/checkpoint.safetensors parts/checkpoint.safetensors
check_status "resumes with another" 0 '--lr 0.02, where parts/checkpoint.safetensors has 0.003' ./options --resume --out parts --lr 0.02 --rounds 5
check_status "which is what counts then" 0 '"lr":0.02,' tail -n 1 parts/log.jsonl
check_status "the same value needs no note" 0 '^no note$' bash -c './options eval --out one --lr 0.003 2>&1 | grep -e --lr || echo no note'
check_status "not with a seed" 2 'an option that gives the seed' ./options --resume --out parts --first-seed 3
sed 's/^option lr = 1e-2 in 0..1$/option lr = 1e-4 in 0..0.001/' options.net > narrow.net
check "narrower limits" "$nnc" $quick narrow.net -o narrow
check_status "a checkpoint beyond the limits" 1 'has lr = 0.003, but the program wants a number from 0 and less than 0.001.*--lr gives another' ./narrow --resume one/checkpoint.safetensors --out narrow.run

# Lists of numbers and options are those of numbers, in training and in predictions.
printf '%s\n' a,b,c,label 0.5,-1.25,0.75,0 -0.5,0.25,2,1 1.5,-0.75,-0.25,2 0.125,1.5,-2,1 -1,-0.5,0.5,0 > lists.csv
cp "$here/lists.net" lists.net
sed -E 's/^option ([a-z_]+ = [^ ]+).*/const \1/; s/(up \* )(\[.*\])\)$/\1f32(\2))/' lists.net > numbers.net
check "lists with options" "$nnc" lists.net -o lists
check "lists of numbers" "$nnc" numbers.net -Drare=2.5 -Dup=1.75 -Doften=4 -o numbers
for name in lists numbers; do
  flags_of=(); [ $name = lists ] && flags_of=(--rare 2.5 --up 1.75 --often 4)
  run $name.run $name "${flags_of[@]}"
  ./$name predict lists.csv --out $name.run --quiet > $name.out || fail "$name predict"
done
check "they train alike" close {lists,numbers}.run/checkpoint.safetensors 1e-6
check "they predict alike" python3 -c '
import json
flat = lambda v: [w for u in v for w in flat(u)] if isinstance(v, list) else [v]
rows = [[json.loads(line) for line in open(name)] for name in ("lists.out", "numbers.out")]
assert len(rows[0]) == len(rows[1]) == 5
for a, b in zip(*rows):
    assert a.keys() == b.keys() and len(a) == 15
    for key in a:
        assert all(abs(u - w) <= 1e-5 for u, w in zip(flat(a[key]), flat(b[key]), strict=True)), key
'
check_status "by the list's numbers" 0 '"times":\[0.21875,-2.1875,2.625\],"converted":\[0.5,-3.125,0.75\],"exact":\[0.6,0.5,3.25\]' head -n 1 lists.out

# Thresholds of metrics and predictions: those of the checkpoint unless told.
shares() { sed 's/.*"high":\([a-z]*\).*/\1/' | sort | uniq -c | tr -s ' \n' ' '; }
./options predict --out one --quiet x.csv > predicted
above() { sed 's/.*"y":\[\([-0-9.e]*\),.*/\1/' predicted | awk -v t="$1" '{ n[$1 > t ? "true" : "false"]++ } END { for (k in n) print n[k], k }' | sort -k2 | tr '\n' ' '; }
check "predicts with the checkpoint's" test "$(shares <predicted)" = " $(above 0.1)"
check "with another" test "$(./options predict --out one --quiet --threshold -0.05 x.csv | shares)" = " $(above -0.05)"
check "eval as the log says" test "$(./options eval test --out one --quiet | grep -o '"far":.*}')" = "$(tail -n 1 one/log.jsonl | grep -o '"test/far":.*}' | sed 's/test.//')"
check "exports them" ./options export --out one exported.safetensors
check "predicts with an export" cmp predicted <(./options predict --quiet --init exported.safetensors --out none x.csv)

# The command line.
check_status "help" 0 '^ +--lr X +default 0.01, from 0, less than 1  \(options.net:3\)$' ./options --help
check_status "lengths" 0 '^ +--warm N +default 1 epochs  \(options.net:7\)$' ./options predict --help
check_status "not of info" 2 '--lr is no flag of info' ./options info --lr 1e-3
check_status "info tells them" 0 '^option --first-seed: a whole number from 0, such as 7 \(line 10\)' ./options info
check_status "the command that trains first has them" 1 'train first: ./options --data . --out none --lr 1e-3 --first-seed 4, or' \
  ./options predict --first-seed 4 --lr 1e-3 --out none --data . x.csv
check_status "in JSON" 0 '"options":\[\{"name":"lr","whole":false,"default":0.01,"least":0,"limit":1,"line":3\}' ./options info --json
while IFS='|' read -r words wanted; do
  # shellcheck disable=SC2086
  check_status "$words" 2 "$wanted" ./options $words
done <<'ROWS'
--lr 1|--lr wants a number from 0 and less than 1, such as 0.01, not '1'
--lr -0.1|not '-0.1'
--lr nan|not 'nan'
--lr 0x1|not '0x1'
--lr 1e-3x|not '1e-3x'
--lr=|not ''
--rounds 2.5|--rounds wants a whole number from 1, such as 3, not '2.5'
--rounds 0|not '0'
--rounds 1e300|not '1e300'
--warm 0.5|--warm wants a whole number of epochs, such as 1
--threshold inf|not 'inf'
--most|--most wants a value: a number from 0, such as 1
--lr 0.1 --lr=x|not 'x'
--lr x --lr y|not 'y'
--thresholt 1|unknown flag '--thresholt'; did you mean '--threshold'\?
ROWS

# Every flag of every command is refused as a name.
for command in train eval predict info bench export step profile; do ./options $command --help; done |
  sed -n '/^Options of/,/^$/d; s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' | sort -u > names
at_least "flags" "$(wc -l <names)" 25
while read -r name; do
  echo "option ${name//-/_} = 1" > named.net
  check_status "option $name" 1 "the executable has a flag --$name of its own" "$nnc" check named.net
done <names

# A dump of the module, and of the whole program, has them.
check "a dump of the module" bash -c "
  '$nnc' options.net --dump-after=dce --stop-after=dce >dump.ir && grep -q '^option \"lr\" number 0.01 from 0.0 below 1.0 @' dump.ir &&
  '$nnc' dump.ir --resume-after=dce --emit=c >dump.c && '$nnc' options.net --emit=c >plain.c && cmp dump.c plain.c"
check "a dump of the whole program" bash -c "
  '$nnc' options.net --dump-after=plan --emit=c -o ignored.c >dump.ir &&
  '$nnc' dump.ir --resume-after=plan --emit=c >dump.c && cmp dump.c plain.c"
check "-D gives the default" bash -c "'$nnc' options.net -Dlr=0.5 -Drounds=2 --emit=c | grep -q '\"lr\", 0, NULL, 0.5,'"
check_status "of the same kind" 1 "the option 'rounds' is an integer 3, but -D gives a number with a fraction" "$nnc" check options.net -Drounds=2.5
{ for i in $(seq 64); do echo "option o$i = $i"; done; } > many.net
check_status "many" 0 . "$nnc" check many.net
echo 'option o65 = 1' >> many.net
check_status "too many" 1 'many.net:65:8: error: a program has at most 64 options' "$nnc" check many.net
summary
