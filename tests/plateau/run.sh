#!/usr/bin/env bash
# Schedules that follow a metric (plateau): the values of PyTorch's ReduceLROnPlateau over 60 epochs (make.py),
# and a run that was interrupted ends as the other one did.  Usage: tests/plateau/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
printf '%s\n' 1 2 > x.csv
check "compiles" "$nnc" "$here/plateau.net" --float=f64 -o plateau
check "runs" ./plateau --out whole.run

# The values of each state against the expected ones, relative to 1e-12.
compared=$(perl -e '
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
  }' whole.run/checkpoint.safetensors "$here/expected.txt" 2>&1)
grep -v '^ok' <<<"$compared"
passed=$((passed + $(grep -c '^ok' <<<"$compared"))) failed=$((failed + $(grep -vc '^ok' <<<"$compared")))

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
summary
