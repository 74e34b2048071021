#!/usr/bin/env bash
# Schedules that follow a metric (plateau): the values of PyTorch's ReduceLROnPlateau over 60 epochs (make.py),
# and a run that was interrupted ends as the other one did.  Usage: tests/plateau/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/emulator.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
printf '%s\n' 1 2 > x.csv
check "compiles" "$nnc" "$here/plateau.net" --float=f64 -o plateau
check "runs" ./plateau --out whole.run

# compare RUN: the values of each state against the expected ones, relative to 1e-12.
compare() {
  local compared; compared=$(perl -e '
  open F, "<:raw", $ARGV[0] or die; local $/; $_ = <F>; $n = unpack "Q<", $_; $header = substr $_, 8, $n; $data = substr $_, 8 + $n;
  open E, $ARGV[1] or die; local $/ = "\n";
  while ($line = <E>) {
    ($name, @wanted) = split " ", $line;
    $header =~ /"$name":\{"dtype":"F64","shape":\[(\d+)\],"data_offsets":\[(\d+),(\d+)\]/ or die "no $name";
    @found = unpack "d<*", substr $data, $2, $3 - $2;
    $bad = @found == @wanted ? 0 : 1;
    for $i (0 .. $#wanted) {
      next if abs($found[$i] - $wanted[$i]) <= 1e-12 * abs($wanted[$i]);
      print "FAIL $name epoch $i: $found[$i], PyTorch has $wanted[$i]\n" if !$bad++;
    }
    print "ok $name\n" if !$bad;
  }' "$1/checkpoint.safetensors" "$here/expected.txt" 2>&1)
  grep -v '^ok' <<<"$compared"
  passed=$((passed + $(grep -c '^ok' <<<"$compared"))) failed=$((failed + $(grep -vc '^ok' <<<"$compared")))
}
compare whole.run

tensors() { perl -e 'local $/; $_ = <STDIN>; my $n = unpack "Q<", $_; print substr $_, 8 + $n' <"$1/checkpoint.safetensors"; }
# In three pieces, the middle one with another number of threads; the last of them by steps.
check "a piece" ./plateau --out pieces.run --epochs 17
check "another" ./plateau --out pieces.run --resume --epochs 41 --threads 1
check "the rest" ./plateau --out pieces.run --resume
check "the same end" cmp whole.run/checkpoint.safetensors pieces.run/checkpoint.safetensors
log() { sed 's/"seconds":[0-9.]*,//; s/,"command":\[[^]]*\]//' "$1/log.jsonl"; }
check "the same log" cmp <(log whole.run) <(log pieces.run)
# A report at the end of a run that a longer one would not have had does not count.
check "validated each 4 steps" ./plateau --out every.run --validate-every 4
check "a piece" ./plateau --out odd.run --validate-every 4 --steps 30
check "the rest" ./plateau --out odd.run --validate-every 4 --resume
check "the same end" cmp every.run/checkpoint.safetensors odd.run/checkpoint.safetensors
# The dump and the checkpoint of another program.
check_status "the dump reads back" 0 'plateau "plateau:0" metric "falling" of "val" relative 0.5 0.1' bash -c "
  '$nnc' '$here/plateau.net' --dump-after=dce --stop-after=dce >dump.ir && grep '^plateau' dump.ir &&
  '$nnc' dump.ir --resume-after=dce --emit=c >dump.c && '$nnc' '$here/plateau.net' --emit=c >plain.c && cmp dump.c plain.c"
sed 's/sgd(lr = .*)), epochs/sgd(lr = 1e-3), epochs/' "$here/plateau.net" > fewer.net
check "compiles" "$nnc" fewer.net --float=f64 -o fewer
check_status "one plateau less" 0 'has other plateaus: their schedules start anew' ./fewer --resume whole.run/checkpoint.safetensors --out x.run

# Options as the numbers of the first six, with other values by default: the same, on both targets and in pieces.
{ printf 'option %s\n' 'peak = 3.0' 'waits = 9' 'rests = 7' 'less = 0.9 in 0..1' 'edge = 0.25' 'lowest = 0.125'
  sed -E '/^if training . rates[0-5] /{s/plateau\(0.5,/plateau(peak,/;s/patience = 3/patience = waits/;s/cooldown = 4/cooldown = rests/
    s/patience = 1,/patience = waits - 2,/;s/cooldown = 1/cooldown = rests - 3/;s/factor = 0.3/factor = less/;s/factor = 0.2/factor = less - 0.1/
    s/factor = 0.5/factor = less + 0.2/;s/threshold = 0.01/threshold = edge/;s/threshold = 0.02/threshold = 2 * edge/;s/floor = 0.001/floor = lowest/}' "$here/plateau.net"
} > options.net
check "numbers became options" test "$(grep -o 'peak,\|= waits\|= rests\|= less\|= edge\|= 2 \* edge\|= lowest' options.net | wc -l)" = 17
flags=(--peak 0.5 --waits 3 --rests 4 --less 0.3 --edge 0.01 --lowest 1e-3)
for target in c cuda; do
  check "$target: compiles with options" emulated "$nnc" --target=$target --cflags=-O0 --units=1 options.net --float=f64 -o options_$target
  check "$target: runs with options" emulated ./options_$target "${flags[@]}" --out $target.run
  compare $target.run
done
check "a piece" ./options_c "${flags[@]}" --out parts.run --epochs 17
check "the rest, with the options of the checkpoint" ./options_c --out parts.run --resume
check "the same end" cmp c.run/checkpoint.safetensors parts.run/checkpoint.safetensors
for kill in 1 2 3; do
  rm -rf killed.run
  ./options_c "${flags[@]}" --out killed.run --save-every 1steps 2>/dev/null & child=$!
  until [ "$(cat killed.run/log.jsonl 2>/dev/null | wc -l)" -gt $((5 * kill)) ]; do kill -0 $child 2>/dev/null || break; done
  kill -9 $child 2>/dev/null; wait $child 2>/dev/null
  check "goes on after kill $kill" ./options_c --out killed.run --resume
  check "the same end" cmp <(tensors c.run) <(tensors killed.run)
done
# Another start begins anew, other numbers go on; what no plateau can have is refused before anything is written.
check_status "another start" 0 'plateau of val.falling begins anew from 0.25' ./options_c --resume c.run/checkpoint.safetensors --peak 0.25 --epochs 61 --out x.run
check "the new start" grep -qF '"plateaus":"0.25 ' x.run/checkpoint.safetensors
check_status "another patience" 0 '^begins nothing anew$' bash -c "./options_c --resume c.run/checkpoint.safetensors --waits 4 --epochs 61 --out x.run 2>&1 | grep anew || echo begins nothing anew"
check_status "a factor of 0" 1 'the factor of the plateau of val.falling must be between 0 and 1, but the options give 0$' ./options_c --less=0 --out no.run
check_status "patience below 0" 1 'the patience of the plateau of val.rising must be a whole number of reports, but the options give -2$' ./options_c --less=0.3 --waits=0 --out no.run
check "nothing was written" test ! -e no.run
check_status "the dump reads back" 0 'from "plateau:1:factor"' bash -c "
  '$nnc' options.net --dump-after=dce --stop-after=dce >dump.ir && grep -m1 '^plateau.*factor' dump.ir &&
  '$nnc' dump.ir --resume-after=dce --emit=c >dump.c && '$nnc' options.net --emit=c >plain.c && cmp dump.c plain.c"
check_status "the gradients with options" 0 '' "$nnc" options.net --check-gradients
summary
