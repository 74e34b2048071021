#!/usr/bin/env bash
# Frozen layers: after training every byte of them is as it was, statistics included, and batch norm computes what evaluation
# does.  Layers as in evaluation inside the training step, evaluated(), against PyTorch (make.py).  Usage: tests/frozen/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
awk 'BEGIN { srand(3); for (i = 0; i < 24; i++) print 5 * rand() "," rand() "," rand() - 2 "," rand() }' > x.csv
# moved FILE FILE: the tensors that differ, sorted, in one line.
cat > moved.py <<'END'
import json, struct, sys
def load(path):
    data = open(path, "rb").read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    return {name: data[start + at["data_offsets"][0]:start + at["data_offsets"][1]]
            for name, at in header.items() if name != "__metadata__"}
a, b = load(sys.argv[1]), load(sys.argv[2])
print(*sorted(name for name in a if a[name] != b[name]))
END
# program NAME LAYERS GROUPS: three layers over four columns; `inner` is what the frozen one gives.
program() {
  cat > "$1.net" <<END
const batch = 4
const trunk_is_frozen = true
data train { x, y = csv("x.csv", columns = [0..3, 3], header = false) }
data test  { x, y = csv("x.csv", columns = [0..3, 3], header = false) }
input x : f32[batch, 3]
input y : f32[batch, 1]
def stage(v) { return tanh(batch_norm(linear(v, 5))) }
$2
loss  = mean((linear(last, 1, name = "head") - y) ^ 2)
level = mean(inner ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 3, metrics = [level]
  $3 }
END
  "$nnc" "$1.net" -o "$1" >"$1.build" 2>&1 || fail "$1 does not compile: $(cat "$1.build")"
}
# trained NAME PATTERN: what moves in three epochs, all names of it matching.
trained() {
  check "$1 starts" "./$1" --epochs 0 --out "$1.start" -q
  check "$1 trains" "./$1" --out "$1.run" -q
  local names; names=$(python3 moved.py "$1.start/checkpoint.safetensors" "$1.run/checkpoint.safetensors")
  if [ "$names" = "$(tr ' ' '\n' <<<"$2" | LC_ALL=C sort | paste -sd' ')" ]; then ok; else fail "$1: what moves is '$names', not '$2'"; fi
}
# agree NAME: `inner` in training is `inner` in evaluation, in the last line of the log.
agree() {
  if difference "$1" | grep -qx same; then ok; else fail "$1: training computes something else than evaluation"; fi
}
difference() {
  python3 - "$1" <<'END'
import json, sys
line = json.loads(open(sys.argv[1] + ".run/log.jsonl").readlines()[-1])
print("same" if abs(line["train/level"] / line["test/level"] - 1) < 1e-6 else "different")
END
}
layers='inner = stage(x); last = stage(inner)'
layers=${layers/; /$'\n'}
all='head.b head.w last.batch_norm.0.beta last.batch_norm.0.gamma last.batch_norm.0.running_mean last.batch_norm.0.running_var last.linear.0.b last.linear.0.w'

program literal "$layers" 'params "inner.*" { frozen = true }'
trained literal "$all"; agree literal
check_status "info" 0 'inner.batch_norm.0.running_var +frozen' ./literal info
program constant "$layers" 'params "inner.*" { frozen = trunk_is_frozen && batch > 1 }'
trained constant "$all"; agree constant
program thawed "$layers" 'params "*" { frozen = true }
  params "last.*", "head.*" { frozen = false }'
trained thawed "$all"; agree thawed
# A run warns of frozen values that are drawn; ones and zeros, values of a file and a resumed run are as they should be.
warns() { # warns NAME PATTERN COMMAND...: a warning that matches, or none when the pattern is empty
  local said; said=$("${@:3}" 2>&1 | grep 'random numbers')
  if if [ -n "$2" ]; then grep -q -- "$2" <<<"$said"; else [ -z "$said" ]; fi; then ok; else fail "$1: '$said'"; fi
}
warns "drawn" "'inner.linear.0.w': frozen, and nothing but random numbers; --init FILE" ./literal --out drawn.run
warns "resumed" "" ./literal --out drawn.run --resume --epochs 4
warns "--init" "" ./literal --out taken.run --init drawn.run/checkpoint.safetensors
warns "no step" "" ./literal --out none.run --epochs 0
program norm "$layers" 'params "inner.batch_norm.*", "inner.*.b" { frozen = true }'
warns "ones and zeros" "" ./norm --out norm.run
program several "$layers" 'params "inner.*", "last.*" { frozen = true }'
warns "several" "'inner.linear.0.w' and 1 more tensor: frozen" ./several --out several.run
program loaded 'def read(v) { param w : [3, 5] = load("drawn.run/checkpoint.safetensors", "inner.linear.0.w")
  return v @ w }
inner = read(x)
last = stage(inner)' 'params "inner.*" { frozen = true }'
warns "of a file" "" ./loaded --out loaded.run
program accumulated "$layers" 'accumulate = 2, params "inner.*" { frozen = true }'
trained accumulated "$all"; agree accumulated
program shared "body = stage(_)
inner = body(x)
other = body(x * 2)
last = stage(inner + other)" 'params "body.*" { frozen = true }'
trained shared "$all"; agree shared
# Statistics alone: the rest of the layer learns.
program statistics "$layers" 'params "inner.*.running_*" { frozen = true }'
trained statistics "$all inner.batch_norm.0.beta inner.batch_norm.0.gamma inner.linear.0.b inner.linear.0.w"
if grep -q matches statistics.build; then fail "a group of states is warned of: $(cat statistics.build)"; else ok; fi
# Parameters alone: the statistics are those of the data, as before.
program parameters "$layers" 'params "inner.*.w", "inner.*.b", "inner.*.gamma", "inner.*.beta" { frozen = true }'
trained parameters "$all inner.batch_norm.0.running_mean inner.batch_norm.0.running_var"
# States of one'"'"'s own, one that looks at nothing, and what a frozen layer calls.
program own 'def noisy(v) { if training { return v + 1 } else { return v } }
def kept(v) { state seen = 0.0
  v = noisy(v)
  if training { return v + 100 }
  seen <- seen + 1
  return v * (1 + 0 * seen) }
def counted(v) { state steps : i32[] = 0
  steps <- steps + 1
  return v }
def both(v) { return kept(v) + counted(v) }
inner = both(x)
last = stage(inner)' 'params "inner.*" { frozen = true }'
trained own "$all"; agree own
# The average of a layer.
program average 'online = stage(_)
target = averaged(online, ema(0.5))
last = online(x)
inner = target(x)' 'params "target.*" { frozen = true }'
trained average "head.b head.w online.batch_norm.0.beta online.batch_norm.0.gamma online.batch_norm.0.running_mean online.batch_norm.0.running_var online.linear.0.b online.linear.0.w"
agree average
# Dropout has no state: it goes on in a frozen layer, as PyTorch has it unless the layer is set to evaluation.
program dropped 'def loose(v) { return dropout(linear(v, 5), 0.5) }
inner = loose(x)
last = stage(inner)' 'params "inner.*" { frozen = true }'
trained dropped "$all"
if difference dropped | grep -qx different; then ok; else fail "dropout stopped in a frozen layer"; fi

# ---- evaluated(): running statistics in the training step, gradients through them, a teacher, dropout that does nothing ----
python3 - "$here/evaluated.json" <<'END'
import json, struct, sys
wanted = json.load(open(sys.argv[1]))
open("steps.csv", "w").writelines(",".join(map(repr, row)) + "\n" for row in wanted["rows"])
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5), }".ljust(117) + "\n"
w = [value for row in wanted["w"] for value in row]
open("w.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<15d", *w))
END
cat > evaluated.net <<'END'
const batch = 4
data train { x, y = csv("steps.csv", columns = [0..3, 3], header = false) ; order = file }
input x : f32[batch, 3]
input y : f32[batch, 1]
def block(v) { return tanh(batch_norm(linear(v, 5, init = load("w.npy")))) }
net     = block(_)
moved   = mean(net(x) ^ 2)
still   = evaluated(net)(x)
teacher = stop_gradient(evaluated(net)(2 * x))
loose   = dropout(_, 0.5)
guess   = linear(evaluated(loose)(still), 1, init = constant(0.3), name = "head")
loss    = mean((guess - y) ^ 2) + 0.5 * moved + mean((still - teacher) ^ 2)
        + 0.0 * sum(net.linear.0.w * net.linear.0.w) + 0.0 * sum(net.batch_norm.0.gamma)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 5, validate = 1 steps }
END
check "evaluated: build" "$nnc" evaluated.net --float=f64 --cflags=-O0 --units=1 -o evaluated
check "evaluated: train" ./evaluated -q
python3 - "$here/evaluated.json" <<'END' && ok || fail "evaluated() is not PyTorch's eval()"
import json, struct, sys
wanted = json.load(open(sys.argv[1]))
data = open("evaluated.run/checkpoint.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:start])
for name, values in wanted["variables"].items():
    first, end = header[name]["data_offsets"]
    found = struct.unpack(f"<{len(values)}d", data[start + first:start + end])
    assert all(abs(a - b) <= 1e-13 for a, b in zip(found, values)), (name, found, values)
losses = [json.loads(line)["train/loss"] for line in open("evaluated.run/log.jsonl")]
assert all(abs(a - b) < 1e-8 for a, b in zip(losses, wanted["losses"], strict=True)), losses
END
check "evaluated: the formatter" sh -c "'$nnc' fmt evaluated.net | grep -q 'sum(net.linear.0.w \* net.linear.0.w)'"
check "evaluated: gradients" "$nnc" evaluated.net --check-gradients
sed 's/^teacher = .*/def counted(v) { state n = 0.0; n <- n + 1; return v }\nteacher = evaluated(counted(_))(still)/' evaluated.net > stores.net
check_status "a state stored there" 1 "the state 'n' is stored in a layer that is evaluated().*if training" bash -c "'$nnc' check stores.net 2>&1 | tr '\n' ' '; exit \${PIPESTATUS[0]}"
sed 's/evaluated(net)(x)/evaluated(tanh)(x)/' evaluated.net > none.net
check_status "what is no layer" 1 "what is evaluated.* a layer, made by a call with '_'" "$nnc" check none.net
sed 's/net\.linear\.0\.w \*/net.linear.1.w */' evaluated.net > lost.net
check_status "a parameter that is not there" 1 "net.linear.0.w" "$nnc" check lost.net
summary
