#!/usr/bin/env bash
# --memory-limit: limits at half of the default plan are met, by the plan and by the resident memory of the
# executable, with the same training steps; what cannot be met is refused with the least limit.
# Usage: tests/memory/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc="$build/bin/nnc" agree="$build/tests/agree" threads=2
export AGREE_CFLAGS=-O0 # of f32, as f64 has
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

says() { [[ $1 == *"$2"* ]]; }
says_not() { ! says "$@"; }
# Peak of the plan of MODEL with further options.
planned() { "$nnc" "$@" --report=json --threads=$threads | peak_of; }
# Of a plan in JSON: the arena, or the end of the workers' blocks, whichever is higher. LEAVE_OUT=1: without variables.
peak_of() { python3 -c '
import json, os, sys
plan = json.load(sys.stdin)
ends = [space["at"] + int(sys.argv[1]) * space["bytes"] for space in plan["workspaces"]]
names = ("parameter_bytes", "optimizer_bytes", "state_bytes") if os.environ.get("LEAVE_OUT") else ()
print(max([plan["arena_bytes"], *ends]) - sum(plan[name] for name in names))' $threads; }
# What a search for a plan takes is most of this suite's time: a report that several checks read is made once.
# report NAME MODEL OPTIONS...: $report, and its peak, $peak.
report() {
  local name=$1; shift
  check "$name: report" "$nnc" "$@" --report --threads=$threads -o "$work/report"
  report=$(cat "$work/report")
  peak=$(sed -n "s/.*peak, .*[ ,]\([0-9,]*\) bytes with $threads,.*/\1/p" <<<"$report" | tr -d ,)
}
# Runs `OUT bench` until its steps are done and keeps what the kernel says of its memory.
watch() {
  local name=$1 out=$2; shift 2
  "$out" "$@" >"$work/watched" 2>&1 & local pid=$!
  while kill -0 $pid 2>/dev/null; do
    cat /proc/$pid/status >"$work/status.new" 2>/dev/null && grep -q VmHWM "$work/status.new" &&
      mv "$work/status.new" "$work/status.$name"
    sleep 0.05
  done
  wait $pid
}

# part MODEL NAME PERCENT TYPE...: such a part of the default plan; the last type is f32.
part() {
  local model=$1 name=$2 percent=$3 default limit; shift 3
  default=$(planned "$model"); limit=$((default * percent / 100))
  at_least "$name: the default plan is known" "$default" 1000000
  report "$name" "$model" --memory-limit=$limit
  at_most "$name: plan at $percent %" "$peak" $limit
  check "$name: tells how" grep -qE 'micro-batches|recomputed' "$work/report"
  for type; do
    default=$(planned "$model" --float=$type)
    check "$name: the same steps in $type" env AGREE_OPTIONS="--threads=$threads --memory-limit=$((default * percent / 100))" \
      "$agree" "$nnc" "$model" $type 1 "$work"
  done
  check "$name: compiles" mv "$work/model1" "$work/$name" # the one of f32
}
part models/lenet.net lenet 75 f32
# Variables are 55 %. A step of LeNet in parts costs about what it did: the gradient of the wide layer is not kept beside its weight. Of the
# default plan, which keeps no input of a pooling, that layer is more than half.
pieces=$(grep -oE '[0-9]+ micro-batches' <<<"$report")
at_most "lenet at 75 %: micro-batches" "${pieces% *}" 16
report "lenet at 5.6 MB" models/lenet.net --memory-limit=5600000
pieces=$(grep -oE '[0-9]+ micro-batches' <<<"$report")
at_most "lenet at 5.6 MB: micro-batches" "${pieces% *}" 4
at_most "lenet: poolings keep places" "$(planned models/lenet.net)" 10500000
at_most "squeezenet: joined channels go by parts" "$(planned models/squeezenet.net -D batch=8 -D size=96)" 28000000
at_most "googlenet: joined channels are pooled one by one" "$(planned models/googlenet.net -D batch=8 -D size=96 -D aux=0)" 110000000
part tests/memory/deep.net deep 50 f64 f32
# What is normalized is made again in any case (passes/rematerialize.c), so that less is left to recompute.
part tests/memory/normalized.net normalized 70 f64 f32
check "normalized at 70 %: recomputes" says "$report" recomputed
check "normalized at 70 %: without micro-batches" says_not "$report" micro-batches

# A scan is a loop, and written out when the limit asks for its steps one by one; not if it recomputes them itself.
recurrent=tests/memory/recurrent.net
limit=$(($(planned $recurrent) / 2))
check "recurrent: a loop without a limit" bash -c "'$nnc' $recurrent --emit=c -o - | grep -q 'for (int64_t round_'"
report recurrent $recurrent --memory-limit=$limit
at_most "recurrent: plan at half" "$peak" $limit
check "recurrent: in parts" says "$report" micro-batches
check "recurrent: says that it writes out" says "$report" 'the steps of scans are written out'
check "recurrent: the same steps" \
  env AGREE_OPTIONS="--threads=$threads --memory-limit=$(($(planned $recurrent --float=f64) / 2))" \
  "$agree" "$nnc" $recurrent f64 1 "$work"
sed 's/along 1 with/along 1 recompute with/' $recurrent >"$work/again.net"
check_status "recurrent: rounds take the whole batch" 1 "no micro-batches: '.*' is a loop over steps" \
  "$nnc" "$work/again.net" --threads=$threads --memory-limit=$limit --report

# Training on data: after a few steps the weights are those of the executable without a limit. Parts of a
# batch are summed in another order, and a kernel that recomputation cuts off may round otherwise.
check "digits" "$build/bin/nnc-digits" "$work/digits" --train 1000 --test 100
# same_weights MODEL NAME
same_weights() {
  local name=$2 kind
  check "$name: compiles without a limit" "$nnc" --cflags=-O0 --units=1 "$1" -o "$work/$name.whole"
  for kind in "$name" "$name.whole"; do
    check "$kind: trains" "$work/$kind" train --steps 5 --data "$work/digits" --threads $threads --out "$work/$kind.run"
  done
  at_most "$name: weights with and without a limit differ by" "$(python3 tests/memory/compare_weights.py \
    "$work/$name.run/checkpoint.safetensors" "$work/$name.whole.run/checkpoint.safetensors")" 1e-5
}
same_weights models/lenet.net lenet
same_weights tests/memory/normalized.net normalized

# Resident memory. 6 MiB are for the program itself, its stacks and the kernel's huge pages, which round up;
# the default plan of such batches exceeds that by far.
rss() { awk '/VmHWM/ { print $2 * 1024 }' "$work/status.$1"; }
# resident MODEL BATCH STEPS
resident() {
  local big=("$1" -D batch=$2) what="$1, batch $2" default limit options name
  default=$(planned "${big[@]}"); limit=$((default / 2))
  for name in default half; do
    options=(); [ $name = half ] && options=(--memory-limit=$limit)
    check "$what, $name: compiles" "$nnc" --cflags=-O1 --units=1 "${big[@]}" --threads=$threads "${options[@]}" -o "$work/big.$name"
    check "$what, $name: bench" watch $name "$work/big.$name" bench --steps "$3" --warmup 1 --threads $threads
  done
  at_most "$what: resident at half" "$(rss half)" $((limit + 6 * 1048576))
  at_least "$what: resident without a limit" "$(rss default)" $((default * 8 / 10))
}
resident tests/memory/deep.net 8192 5
resident models/lenet.net 512 3

# Where recomputation alone is enough, the batch stays whole.
default=$(planned tests/memory/deep.net); limit=$((default * 3 / 4))
report "deep at 3/4" tests/memory/deep.net --memory-limit=$limit
at_most "deep at 3/4: plan" "$peak" $limit
check "deep at 3/4: recomputes" says "$report" recomputed
check "deep at 3/4: without micro-batches" says_not "$report" micro-batches

# Refusal, after all that could be tried: of a network with fewer layers and examples, since there is less of that.
sed 's/^const batch = .*/const batch = 4/; s/^const width = .*/const width = 16/; s/0\.\.12/0..4/' tests/memory/deep.net >"$work/small.net"
refused=$("$nnc" "$work/small.net" --threads=$threads --memory-limit=10K -o "$work/none" 2>&1); status=$?
at_most "refusal: status" $status 1
at_least "refusal: status" $status 1
for text in 'the memory limit of 10.0 KiB (10,240 bytes) cannot be met; the least is' 'parameters take' \
            'workspace of 2 threads' 'values of the entry' 'held while'; do
  check "refusal says '$text'" says "$refused" "$text"
done
if command -v script >/dev/null; then # which makes a terminal
  script -qec "'$nnc' '$work/small.net' --threads=$threads --memory-limit=10K -o '$work/none'" /dev/null >"$work/terminal" </dev/null
  check "refusal: progress on a terminal" grep -qE 'memory: [0-9]+ micro-batch(es)? of [0-9]+, plan [0-9]+ of [0-9]+' "$work/terminal"
  check "refusal: none elsewhere" says_not "$refused" 'plan '
else echo "skipped: script, which makes a terminal, is not installed"; fi
least=$(grep -o 'the least is .*(\([0-9,]*\) bytes)' <<<"$refused" | grep -o '([0-9,]*' | tail -1 | tr -d '(,')
check "the least limit can be met" "$nnc" "$work/small.net" --threads=$threads --memory-limit="$least" --report
check_status "one byte less cannot" 1 'cannot be met' "$nnc" "$work/small.net" --threads=$threads \
  --memory-limit=$((least - 1)) --report
# Evaluation is small here, but its workspace is not.
refused=$("$nnc" examples/fine_tune.net --threads=1 --memory-limit=1K --report 2>&1)
least=$(grep -o 'the least is .*(\([0-9,]*\) bytes)' <<<"$refused" | grep -o '([0-9,]*' | tail -1 | tr -d '(,')
check "the least limit of all entries can be met" "$nnc" examples/fine_tune.net --threads=1 --memory-limit="$least" --report
check_status "batch normalization couples examples" 1 'no micro-batches: each example needs' \
  "$nnc" tests/unit/networks/cnn.net --threads=1 --memory-limit=1K --report

# A share of what activations and workspaces take without a limit; variables are whole.
net=tests/memory/deep.net
share() { "$nnc" $net --threads=$threads --report=json "$@"; }
parts() { LEAVE_OUT=1 peak_of; }
whole=$(share | parts)
for percent in 60 37.5; do
  at_most "share of $percent %" "$(share --memory-limit=$percent% | parts)" "$(python3 -c "print(int($whole * $percent / 100) + 2048)")"
done
check "share: the report tells it" says "$("$nnc" $net --threads=$threads --report --memory-limit=60%)" 'memory limit: 60 % of activations and workspaces, '
check "a share of all changes nothing" says_not "$("$nnc" $net --threads=$threads --report --memory-limit=100%)" recomputed
net=$work/small.net
refused=$("$nnc" $net --threads=$threads --memory-limit=0.5% --report 2>&1)
check "share: refusal" says "$refused" 'the memory limit of 0.5 %, with parameters and states '
least=$(grep -oE 'the least is [0-9]+ %' <<<"$refused" | grep -oE '[0-9]+')
check "share: the least can be met" "$nnc" $net --threads=$threads --memory-limit="$least%" --report
check_status "share: a percent less cannot" 1 'cannot be met' "$nnc" $net --threads=$threads --memory-limit="$((least - 1))%" --report
# Of a program of a few KiB a share of 1 % is a few bytes, of which the least must not be computed.
for limited in "models/iris.net 0.01" "models/logistic.net 1"; do
  read -r model percent <<<"$limited"
  least=$("$nnc" "$model" --threads=1 --memory-limit="$percent%" --report 2>&1 | grep -oE 'the least is [0-9]+ %' | grep -oE '[0-9]+')
  check "share of $model: the least, ${least:-none} %, can be met" "$nnc" "$model" --threads=1 --memory-limit="$least%" --report
  check_status "share of $model: a percent less cannot" 1 'cannot be met' "$nnc" "$model" --threads=1 --memory-limit="$((least - 1))%" --report
done

# Usage.
for size in 64X M -1 0 1..5G; do
  check_status "size $size" 2 'takes a size such as' "$nnc" models/lenet.net --memory-limit=$size --report
done
for size in 0% -5% 101% 1e1%; do
  check_status "share $size" 2 'takes a share above 0% and up to 100%' "$nnc" models/lenet.net --memory-limit=$size --report
done
check_status "share %" 2 'or a share such as 60%' "$nnc" models/lenet.net --memory-limit=% --report
for size in 64M 1.5G 1GiB 70000000 64mB; do
  check "size $size" "$nnc" models/lenet.net --memory-limit=$size --report
done
summary
