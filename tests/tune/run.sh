#!/usr/bin/env bash
# nnc --tune: what it measures is kept and decides alone; every choice trains to the same numbers; what is refused.
# No test depends on which choice is the faster one: times are forged in the cache. Nearly all is measured for one thread,
# since two would wait for each other where other tests run beside them.
# Usage: tests/tune/run.sh BUILD [--long]     --long: every variant, not each third; without filtering; without a cache
set -uo pipefail
build=$(cd "$1" && pwd) is_long=${2:-} every=3
[ -z "$is_long" ] || every=1
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
source "$here/../lib/close.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export XDG_CACHE_HOME=$work/home
cp "$here"/{small,products}.net .
"$build/bin/nnc-digits" data --train 60 --test 10 --seed 1 >/dev/null || exit 2
cache=$work/cache
tuned() { "$nnc" small.net --tune --threads=1 --cache-dir="$cache" "$@"; }
products() { "$nnc" products.net --tune --threads=1 --cache-dir="$cache" "$@"; }
forge() { python3 "$here/forge.py" "$cache" "$@"; }
trained() { "./$1" --data data --out "$1.run" --quiet --seed 3 "${@:2}"; }

# ---- what is refused ----
check_status "CUDA" 2 "--tune measures on this machine's processors: it is for --target=c" "$nnc" small.net --tune --target=cuda
check_status "no level" 2 '--tune is for -O1: -O0 is for debugging' "$nnc" small.net --tune -O0
for flag in --emit=ir --emit=dot --check-gradients --dump-after=dce --dump-after=plan --stop-after=dce; do
  check_status "$flag" 2 'tune chooses how kernels are computed: there are none in graphs and dumps' "$nnc" small.net --tune $flag
done
check_status "a list" 2 'tune measures one architecture: --arch takes one with it, not a list' "$nnc" small.net --tune --arch=v2,v3
check_status "a dump" 2 'after plan nothing is left to choose' "$nnc" small.plan --tune --resume-after=plan
check_status "check" 2 'tune is for compiling: nnc FILE --tune' "$nnc" check --tune small.net
if [ "$(uname -m)" = x86_64 ] && ! grep -qw avx512f /proc/cpuinfo; then
  check_status "another machine" 2 'which cannot run --arch=v4: it has no avx512f' "$nnc" small.net --tune --arch=v4
fi
# A C compiler whose executables end in the middle of their work, and one whose executables say why.
for status in 'kill -SEGV $$' 'echo "$1: no such thing" >&2; exit 3'; do
  cat >broken <<END
#!/bin/sh
cc "\$@" || exit
for word; do case \$word in */executable) printf '#!/bin/sh\n%s\n' '$status' >\$word;; esac; done
END
  chmod +x broken
  case $status in kill*) words="tried0 bench .*was ended by signal 11";; *) words='bench: no such thing';; esac
  check_status "a candidate that fails: $status" 3 "$words" "$nnc" products.net --tune --no-cache --cc=./broken -o broken.out
done
check "nothing was written" test ! -e broken.out

# ---- without it, and a first run ----
check "as the cost model picks" "$nnc" small.net --threads=1 --cache-dir="$cache" -o model
tuned -o first >first.log 2>&1; check "the first run" test $? -eq 0
check "progress" grep -q '^tune: measuring kernels, 0 of [0-9]* runs$' first.log
check "progress is plain" sh -c "! grep -q '[[:cntrl:]]' first.log"
check "the report of a run" grep -q "Winograd's minimal filtering  (the cost model's)" first.log
forge list >times
check "times of kernels" grep -q '^kernel [0-9.e-]* [0-9.e-]*' times
check "times of plans" grep -q '^plans [0-9.e-]* 0\( [0-9.]*[1-9][0-9.e-]*\)\{3\}$' times # it has no task loops

# ---- a second run measures nothing ----
tuned -o second >second.log 2>&1; check "the second run" test $? -eq 0
check "it measures nothing" sh -c "! grep -q 'tune: [cm]' second.log"
check "the same executable" cmp first second
check "the same times" cmp times <(forge list)
tuned --report=json >report.json 2>report.log; check "the report" test $? -eq 0
check "its members" python3 -c '
import json
tuning = json.load(open("report.json"))["tuning"]
assert tuning["threads"] == 1 and tuning["measured"] == 0 and len(tuning["plans"]) == 4, tuning
assert len(tuning["kernels"]) >= 4
for kernel in tuning["kernels"]:
    ms = [candidate["ms"] for candidate in kernel["candidates"]]
    assert kernel["model"] == 0 and min(ms) > 0 and len(ms) > 1
    best = min(range(len(ms)), key=ms.__getitem__)
    assert kernel["chosen"] in (0, best) and (kernel["chosen"] == best) == (best == 0 or ms[best] < .97 * ms[0])'
check "the report as text" sh -c "'$nnc' small.net --tune --threads=1 --cache-dir='$cache' --report | grep -q '^tune: .* 0 measured now'"

# ---- what the cost model picks stays where nothing is faster ----
for what in plan kernels step; do # the first run may have taken another plan, whose kernels alone it measured
  forge forge 0
  tuned -o same >same.log 2>&1 || fail "nothing is faster: $what"
done
check "all stays" grep -q 'nothing is clearly faster' same.log
check "the same executable as without" cmp same model

# ---- the times decide: variant by variant, all other choices train to the same numbers ----
check "training" trained model
for ((variant = 1; variant <= 7; variant += every)); do
  forge forge $variant
  tuned --report=json >report.json 2>log
  chosen=$(python3 -c 'import json; print(sum(k["chosen"] > 0 for k in json.load(open("report.json"))["tuning"]["kernels"]))')
  [ "$chosen" = 0 ] && break # no kernel has so many
  forge forge $variant # the step, too, which was measured meanwhile
  check "variant $variant" tuned -o "variant$variant"
  if cmp -s "variant$variant" model; then fail "variant $variant is the cost model's"; else ok; fi
  check "variant $variant trains" trained "variant$variant" --threads 2
  check "variant $variant: the numbers" close {model,variant$variant}.run/checkpoint.safetensors 1e-4
  check "variant $variant: one thread" "./variant$variant" --data data --out one.run --quiet --seed 3 --threads 1
  check "variant $variant: the same bits" cmp {one,variant$variant}.run/checkpoint.safetensors
  rm -rf one.run
  at_least "variant $variant: kernels" "$chosen" 1
done
at_least "variants" "$variant" 4
if [ -n "$is_long" ]; then
  check "directly" "$nnc" small.net --tune --conv=direct --threads=1 --cache-dir="$cache" --report=json -o direct.json
  check "no filtering" sh -c "! grep -q Winograd direct.json"
fi

# ---- micro-batches: measured as plans, they train to the same numbers ----
check "products as the cost model picks" "$nnc" products.net --threads=1 --cache-dir="$cache" -o model
check "products are tuned" products -o other
rm -rf model.run
check "products: training" trained model
for plan in 3 4; do
  for what in plan kernels step; do # what is measured because of the times before, is forged, too
    forge plan $plan
    [ $what = step ] || check "plan $plan: $what" products -o other
  done
  check "plan $plan" products -o "plan$plan"
  check "plan $plan in the report" sh -c "'$nnc' products.net --tune --threads=1 --cache-dir='$cache' --report=json 2>log |
    grep -q '\"taken\": true.*\"plan\": \"$((2 * plan - 4)) micro-batches\"'"
  if cmp -s "plan$plan" model; then fail "plan $plan is the cost model's"; else ok; fi
  check "plan $plan trains" trained "plan$plan" --threads 2
  check "plan $plan: the numbers" close {model,plan$plan}.run/checkpoint.safetensors 1e-4
  check "plan $plan: one thread" "./plan$plan" --data data --out one.run --quiet --seed 3 --threads 1
  check "plan $plan: the same bits" cmp {one,plan$plan}.run/checkpoint.safetensors
  rm -rf one.run
done
plans() { # how many plans are micro-batches; "" where there is no tuning
  "$nnc" "$1" --tune --threads=1 --cache-dir="$cache" --report=json "${@:2}" >found.json 2>log && grep -q '"tuning"' found.json &&
    { grep -c 'micro-batches' found.json || true; }
}
check "such plans of products" test "$(plans products.net)" -gt 0
check "a memory limit decides by itself" test "$(plans products.net --memory-limit=1G)" -eq 0
sed 's/^x = relu(/&batch_norm(/; s/784\]), 32)/&)/' products.net >normal.net
check "it has a norm" grep -q batch_norm normal.net
check "examples that depend on each other" test "$(plans normal.net)" -eq 0
cp -r "$cache" impossible
python3 "$here/forge.py" impossible impossible 3
check "times of micro-batches that it cannot have" test "$(cache=$work/impossible plans normal.net)" -eq 0

# ---- what was measured is of this number of threads ----
check "the C of it" products --emit=c -o tuned.c
if cmp -s <(forge list) <("$nnc" products.net --tune --threads=2 --cache-dir="$cache" -o two 2>two.log; forge list); then
  fail "two threads are measured by themselves"
else ok; fi
check "and it says so" grep -q 'tune: .* for 2 threads, [1-9][0-9]* measured now' two.log
[ -z "$is_long" ] || check_status "without a cache it measures" 0 'tune: measuring kernels' "$nnc" products.net --tune --no-cache --threads=1 -o uncached
summary
