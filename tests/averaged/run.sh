#!/usr/bin/env bash
# Layers that follow others, averaged(): losses of a run against the recurrence written out in awk, with minibatches
# that are accumulated, an average of one's own, an interruption, a start from other parameters; what belongs to
# the follower and what does not.  Usage: tests/averaged/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/check.sh"
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
printf '1\n1\n1\n1\n' > x.csv

# y = w x with x = 1; the loss draws y to the average's y and 1 more.
cat > scalar.net <<'EOF'
const batch = 2, minibatches = 1, average = ema(0.5)
data train { x = csv("x.csv", columns = [0], header = false) }
input x : f32[batch]
def scale(v) { param w : [] = constant(3) ; return v * w }
online = scale(_)
y      = online(x)
target = averaged(online, average)
loss   = mean((y - target(x) - 1) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 6, validate = 1 steps, accumulate = minibatches }
EOF

losses() { sed 's/.*"train\/loss":\([^,}]*\).*/\1/' "$1/log.jsonl"; }
# expected START RULE: the losses, one a line; RULE sets m, the average, from w, m and t.
expected() {
  awk -v w="$1" 'BEGIN { m = 3; for (t = 1; t <= 6; t++) { '"$2"'
    printf "%.9g\n", (w - m - 1) ^ 2; w -= 0.2 * (w - m - 1) } }'
}
agree() { # NAME FOLDER START RULE
  if paste <(losses "$2") <(expected "$3" "$4") |
     awk 'NF != 2 || ($1 - $2) ^ 2 > 1e-16 * $2 ^ 2 { bad = 1 } END { exit bad || NR != 6 }'
  then ok; else fail "$1: $(losses "$2" | tr '\n' ' ')instead of $(expected "$3" "$4" | tr '\n' ' ')"; fi
}
run() { # NAME [FLAGS OF NNC]
  check "$1: build" "$nnc" scalar.net --float=f64 "${@:2}" -o "$1"
  check "$1: train" "./$1" --quiet --out "$1.run"
}
ema='m = t == 1 ? w : (m + w) / 2'
run plain
agree "an average" plain.run 3 "$ema"
run several -D minibatches=2
agree "minibatches that are accumulated" several.run 3 "$ema"
sed -i '1i optimizer every(n) { w <- where(t % n == 1, g, w) }' scalar.net
run copies -D 'average=every(3)'
agree "a copy each three steps" copies.run 3 'if (t % 3 == 1) m = w'
run schedule -D 'average=ema(linear_decay(1.0))'
agree "a schedule" schedule.run 3 'd = 1 - t / 6; m = t == 1 ? w : d * m + (1 - d) * w'

# In two pieces; from a parameter that the file has, which the average then begins with.
check "a piece" ./plain --quiet --out pieces.run --steps 2
check "the rest" ./plain --quiet --out pieces.run --resume
check "the same end" cmp plain.run/checkpoint.safetensors pieces.run/checkpoint.safetensors
sed 's/constant(3)/constant(7)/; s/^target.*/target = online/' scalar.net > seven.net
check "another program: build" "$nnc" seven.net --float=f64 -o seven
check "its parameter" ./seven --quiet --epochs 0 --out seven.run
check "from it" ./plain --quiet --out from.run --init seven.run/checkpoint.safetensors
agree "starting from other parameters" from.run 7 "$ema"

# Statistics are the follower's own; what is shared by the program belongs to no layer; nested layers follow.
cat > parts.net <<'EOF'
const batch = 2
data train { x = csv("x.csv", columns = [0], header = false) }
input x : f32[batch]
shared = linear(_, 4)
def encoder(v) {
  inner = linear(_, 4)
  return batch_norm(inner(tanh(inner(shared(v)))))
}
online = encoder(_)
z = online(x[:, none])
slow   = averaged(online, ema(0.9))
slower = averaged(slow, ema)
loss = mse(z, slow(x[:, none])) + mse(z, slower(x[:, none]))
train { minimize = loss, optimizer = sgd, steps = 3, params "slow*" { lr_scale = 2 } }
predict { z = slower(x[:, none]) }
EOF
check_status "parts" 0 'no parameter matches this group' "$nnc" parts.net -o parts
./parts info | awk '$2 == "param" || $2 == "state" { print $1, $2 }' | sort > found
cat > wanted <<'EOF'
online.batch_norm.0.beta param
online.batch_norm.0.gamma param
online.batch_norm.0.running_mean state
online.batch_norm.0.running_var state
online.inner.b param
online.inner.w param
shared.b param
shared.w param
slow.batch_norm.0.beta state
slow.batch_norm.0.gamma state
slow.batch_norm.0.running_mean state
slow.batch_norm.0.running_var state
slow.inner.b state
slow.inner.w state
slower.batch_norm.0.beta state
slower.batch_norm.0.gamma state
slower.batch_norm.0.running_mean state
slower.batch_norm.0.running_var state
slower.inner.b state
slower.inner.w state
EOF
check "what they own" diff wanted found
check "gradients" "$nnc" parts.net --check-gradients
check "trains" ./parts --quiet
check_status "predicts" 0 '"z":\[' ./parts predict

# ---- parameters as values: the same steps as with defs that hand theirs out ----
cat > tied.net <<'EOF'
const batch = 4, vocab = 6
data train { t, y = csv("t.csv", header = false, columns = [0..3, 3]) }
input t : i32[batch, 3]
input y : i32[batch]
enc    = embedding(_, vocab, 5)
h      = tanh(linear(flatten(enc(t)), 5))
logits = h @ enc.w.T
loss   = cross_entropy(logits, y) + 0.01 * sum(abs(h.w)) + 0.1 * mean(h.b ^ 2) + h.w.shape[0] * 0.0
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 3 }
predict { z = logits, norm = sum(enc.w ^ 2) }
EOF
cat > written.net <<'EOF'
const batch = 4, vocab = 6
data train { t, y = csv("t.csv", header = false, columns = [0..3, 3]) }
input t : i32[batch, 3]
input y : i32[batch]
def table(x) { param w : [vocab, 5] = normal(0, 1) ; return w[x], w }
def dense(x) { param w : [x.shape[1], 5] = glorot_uniform ; param b : [5] = zeros ; return x @ w + b, w, b }
e, ew = table(t, name = "enc")
u, hw, hb = dense(flatten(e), name = "h")
h      = tanh(u)
logits = h @ ew.T
loss   = cross_entropy(logits, y) + 0.01 * sum(abs(hw)) + 0.1 * mean(hb ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 3 }
predict { z = logits, norm = sum(ew ^ 2) }
EOF
awk 'BEGIN { for (i = 0; i < 16; i++) printf "%d,%d,%d,%d\n", i % 6, i * i % 6, i * 5 % 6, (i + 2) % 6 }' > t.csv
for name in tied written; do
  check "$name" "$nnc" $name.net -o $name
  check "$name trains" ./$name --quiet
  check "$name is exported" ./$name export $name.npz --quiet
done
check "the same parameters" python3 - <<'EOF'
import zipfile
one, other = (zipfile.ZipFile(name + ".npz") for name in ("tied", "written"))
assert sorted(one.namelist()) == sorted(other.namelist()) == ["enc.w.npy", "h.b.npy", "h.w.npy"], one.namelist()
assert all(one.read(name) == other.read(name) for name in one.namelist())
EOF
check "the same predictions" python3 - <(./tied predict) <(./written predict) <<'EOF'
import json, sys
flat = lambda v: [x for part in v for x in flat(part)] if isinstance(v, list) else [v]
one, other = ([x for line in open(path) for v in json.loads(line).values() for x in flat(v)] for path in sys.argv[1:])
assert len(one) == len(other) > 90 and all(abs(a - b) < 1e-5 for a, b in zip(one, other)), (one, other)
EOF
check "their gradients" "$nnc" tied.net --check-gradients

# ---- export --only ----
members() { python3 -c 'import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()))' "$1"; }
for case in 'h.*=h.b.npy h.w.npy' '*.w=enc.w.npy h.w.npy' '?.b=h.b.npy' '*n*w*=enc.w.npy' 'enc.w=enc.w.npy'; do
  rm -f only.npz
  check "--only ${case%%=*}" ./tied export only.npz --only "${case%%=*}" --quiet
  check_status "has what matches" 0 "^${case#*=}\$" members only.npz
done
check "a part" ./tied export part.safetensors --only 'enc.*' --quiet
check_status "which another run begins from" 0 'not loaded: h: the file has none' ./tied --init part.safetensors --epochs 0 --out from
check_status "nothing matches" 1 "no parameter or state has a path like 'h'; info lists them" ./tied export none.npz --only h
check_status "--only is for export" 2 'no flag of eval' ./tied eval --only h
summary
