#!/usr/bin/env bash
# What is told of a run: events for TensorBoard, read back by a reader of our own (tests/lib/event_file.py), and the page of
# the report, read by page.py.
# Usage: tests/report/run.sh BUILD [--long]; with --long events are read by TensorBoard's own reader, too, with
# $NNC_TENSORBOARD, a Python that has it (python3 -m venv tb && tb/bin/pip install tensorboard), and the page is opened in
# $NNC_BROWSER, Chromium (apt-get install chromium).
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
root=$PWD
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

check "compile" "$build/bin/nnc" tests/report/made.net --report-page --cflags=-O0 --units=1 -o "$work/made"
cp tests/report/made.net "$work"
cd "$work" || exit 1
python3 - <<'DATA'
import random
random.seed(5)
with open("flowers.csv", "w") as file:
    print("length,width,species", file=file)
    for i in range(60):
        kind = i % 3
        print(f"{kind + random.random():.3f},{random.random() - kind:.3f},{['<b>lily&', 'rose', 'iris'][kind]}", file=file)
# Pictures of 9 rows of 10 pixels: number i has i everywhere but in the corner.
with open("pictures.npy", "wb") as file:
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (60, 9, 10)}"
    file.write(b"\x93NUMPY\1\0" + (117).to_bytes(2, "little") + head.ljust(116).encode() + b"\n")
    file.write(b"".join(bytes([255] + [i] * 89) for i in range(60)))
DATA

# ---- events ----
read_back() { check "$1: events are the log" python3 "$root/tests/lib/event_file.py" "$2/events.out.tfevents.nnc" "${@:3}"; }
check "a run" ./made --quiet --out one --tensorboard one/tb --lr 0.5
read_back "a run" one/tb one/log.jsonl
if grep -q '"NaN"' one/log.jsonl && grep -q '"lr":0.5' one/log.jsonl; then ok; else fail "the log has NaN and options: $(cat one/log.jsonl)"; fi

# A run in parts has what a run at a stretch has; one that was killed writes no step twice.
check "a part" ./made --quiet --out parts --tensorboard tb/parts --epochs 3 --keep 9 --save-every 1epochs
check "half a record at the end" sh -c 'head -c 9 tb/parts/events.out.tfevents.nnc > half && cat half >> tb/parts/events.out.tfevents.nnc'
check "another part" ./made --quiet --out parts --tensorboard tb/parts --epochs 6 --resume
read_back "parts" tb/parts parts/log.jsonl
cp parts/kept/step-12.safetensors parts/checkpoint.safetensors
check "as if killed after step 12" ./made --quiet --out parts --tensorboard tb/parts --epochs 5 --resume
read_back "killed" tb/parts parts/log.jsonl
expect() { if [ "$2" = "$3" ]; then ok; else fail "$1: '$2' instead of '$3'"; fi; }
expect "lines of the log" "$(wc -l <parts/log.jsonl)" 5

# A new run begins anew, and the earlier events stay under a name that TensorBoard does not read.
check "a new run" ./made --quiet --out parts --tensorboard tb/parts --steps 3
read_back "a new run" tb/parts parts/log.jsonl
cp parts/log.jsonl tb/log.jsonl # later runs into this folder write no events
check "the earlier events" python3 "$root/tests/lib/event_file.py" tb/parts/events.previous parts/log.previous.jsonl
check "no step" ./made --quiet --out none --tensorboard none/tb --epochs 0
expect "no step, no folder" "$(ls -d none/tb 2>&1 | grep -c 'No such file')" 1
mkdir mine; echo "my own file, which is no event file at all" > mine/events.out.tfevents.nnc
check_status "another file" 1 'the file that is there is no event file' ./made --out other --tensorboard mine
expect "it stays" "$(cat mine/*)" "my own file, which is no event file at all"
check_status "a folder that cannot be made" 1 'create the folder' ./made --out other --tensorboard flowers.csv/tb
check_status "not of eval" 2 'is no flag of eval' ./made eval --tensorboard tb

# ---- the page ----
page() { local name=$1; shift; check "$name" ./made report --quiet --steps 0 "$@"; }
tells() { check "$1: what the page tells" python3 "$root/tests/report/page.py" "${@:2}"; }
page "a page" --out one --steps 2
./made eval --quiet --out one --best --json --confusion --per-class > one/eval.json
tells "a run" one/report.html one/log.jsonl one/eval.json
if grep -q '&lt;b&gt;lily&amp;' one/report.html && ! grep -q '<b>lily' one/report.html; then ok; else fail "names are escaped"; fi
if grep -qE 'value(s are| is) no number' one/report.html; then ok; else fail "NaN is told"; fi
for words in '0.5 instead of 0.05' 'one/best.safetensors, of step' 'By class' 'const batch = 5'; do
  if grep -q "$words" one/report.html; then ok; else fail "the page does not say '$words'"; fi
done
expect "a prediction" "$(./made predict --quiet --out one --best | head -1 | grep -o '"species_guess":"[^"]*"' | cut -d'"' -f4)" \
  "$(python3 -c 'import html,re; print(html.unescape(re.search("species_guess: <b>(.*?)</b>", open("one/report.html").read())[1]))')"

# Tables by class in the log: those of eval, no columns of the page, numbers for TensorBoard.
check "tables by class" ./made --quiet --out classed --tensorboard classed/tb --confusion --per-class --calibration --wrong 3
read_back "tables by class" classed/tb classed/log.jsonl
./made eval val --out classed --json --confusion --per-class --calibration --wrong 3 > classed/eval.json
check "tables by class are those of eval" python3 - <<'TABLES'
import json
last = json.loads(open("classed/log.jsonl").read().splitlines()[-1])
found, told = last["tables"]["val"], json.load(open("classed/eval.json"))
assert len(found) == 11 and found["confusion"] and len(found["wrong"]) == 3, found
assert all(told[name] == value for name, value in found.items()), (found, told)
assert told["step"] == last["step"]
TABLES
if strings classed/tb/events* | grep -q 'tables/val/mean/f1'; then ok; else fail "their means are events"; fi
page "tables by class" --out classed
tells "tables by class" classed/report.html classed/log.jsonl
for words in '<h2>Curves by class</h2>' '<h3>&lt;b&gt;lily&amp; in val</h3>' '<h3>iris in val</h3>'; do
  if grep -q "$words" classed/report.html; then ok; else fail "the page has no '$words'"; fi
done
if grep -q 'Curves by class' one/report.html; then fail "curves by class of a log without tables"; else ok; fi
# Of 40 classes, whose tables begin in the second report and lack a class in one, the 12 worst are drawn.
mkdir many; python3 - <<'MANY'
import json
lines = [json.loads(line) for line in open("one/log.jsonl")]
for i, line in enumerate(lines):
    scores = [{"class": c, "precision": 1 - c / 50, "recall": (7 * c % 40) / 40 * i / len(lines)} for c in range(40) if (i, c) != (2, 6)]
    if i:
        line["tables"] = {"val": {"per_class": scores}}
open("many/log.jsonl", "w").writelines(json.dumps(line) + "\n" for line in lines)
MANY
page "many classes" --out many
tells "many classes" many/report.html many/log.jsonl

odd='<i>"&'"'"
cp -r one "$odd"
page "a folder with an odd name" --out "$odd"
tells "a folder with an odd name" "$odd/report.html" "$odd/log.jsonl"
if grep -qF '&lt;i&gt;&quot;&amp;&#39;/log.jsonl' "$odd/report.html"; then ok; else fail "the folder's name is escaped"; fi

check "the other part" ./made --quiet --out parts --epochs 2 --resume
page "a run in parts" --out parts --to parts.html
tells "a run in parts" parts.html parts/log.jsonl
for words in '<th scope="row">command</th><td[^>]*>./made [^<]*--out parts' '<th scope="row">went on with</th><td[^>]*>./made [^<]*--resume'; do
  if grep -qE "$words" parts.html; then ok; else fail "the page of a run in parts does not say '$words'"; fi
done
check "a run that stops" ./made --quiet --out early --epochs 50 --patience 1 --lr 5
page "a run that stopped" --out early
tells "a run that stopped" early/report.html early/log.jsonl
if grep -q 'stopped, since its metric no longer improved' early/report.html; then ok; else fail "it says that the run stopped"; fi
mkdir bare; cp one/checkpoint.safetensors bare
page "no log" --out bare
tells "no log" bare/report.html -
: > bare/log.jsonl
page "an empty log" --out bare
tells "an empty log" bare/report.html -
sed 's/spread   = log(accuracy - 0.7)/spread   = log(accuracy - 0.6)/' made.net > changed.net
check "another version" "$build/bin/nnc" changed.net -D batch=6 --report-page --cflags=-O0 --units=1 -o changed
check "a page of another version" ./changed report --quiet --steps 0 --out one --to changed.html
if grep -q 'by another version of the program' changed.html && ! grep -q 'by another version' one/report.html; then ok; else fail "another version is told"; fi
if grep -q 'compiled with.*-D batch=6' changed.html; then ok; else fail "definitions are told"; fi
mkdir logged; { cat one/log.jsonl; printf '{"epoch":9,"step":5'; } > logged/log.jsonl
page "no checkpoint, half a line" --out logged
if grep -q '0.5 instead of 0.05' logged/report.html; then ok; else fail "options of the log"; fi
tells "no checkpoint" logged/report.html one/log.jsonl
check_status "no data" 0 'no classes and no examples: .*flowers.csv' ./made report --steps 0 --out one --data bare --to nodata.html
tells "no data" nodata.html one/log.jsonl

# Longer than can be drawn: what is left out is neither the least nor the greatest.
mkdir long; python3 - <<'LONG'
import json, math
with open("long/log.jsonl", "w") as file:
    for i in range(1, 3001):
        line = {"epoch": i, "step": 6 * i, "seconds": i / 10, "data_wait": 0.5 + math.sin(i) / 3}
        for name in ("train/loss", "train/accuracy", "val/loss", "val/accuracy"):
            line[name] = 5 if i == 1234 else 1e-4 if i == 2345 else 1 / (1 + i / 100) + 0.1 * math.sin(i * len(name))
        print(json.dumps(line), file=file)
LONG
page "3,000 epochs" --out long
tells "3,000 epochs" long/report.html long/log.jsonl
at_most "bytes of 3,000 epochs" "$(stat -c %s long/report.html)" 250000

sed 's/val.loss/val\/perplexity/' one/log.jsonl > other.jsonl
check_status "the log of another model" 1 "other.jsonl is the log of another program: it has 'val/perplexity', which .* does not compute" ./made report --log other.jsonl --out one
echo '{"step":' > broken.jsonl
check_status "no log at all" 1 'broken.jsonl:1: no line of a log' ./made report --log broken.jsonl --out one
check_status "no run" 1 'there is no run in nowhere' ./made report --out nowhere
echo mine > mine.html
check_status "a file of the user's" 1 'is no page of HTML' ./made report --out one --to mine.html
expect "the user's file" "$(cat mine.html)" mine
check_status "a page that is no HTML" 1 'written as HTML, which page.pdf does not say: let its name end in .html' ./made report --out one --to page.pdf
if [ -e page.pdf ]; then fail "page.pdf is there"; else ok; fi

check_status "while it trains" 0 '^made: the page about the run is live/report.html$' ./made --out live --report-live
tells "while it trained" live/report.html live/log.jsonl
if grep -q 'http-equiv="refresh"' live/report.html; then fail "a run that ended reads itself anew"; else ok; fi
check_status "a run that fails" 1 'training stops' ./made --quiet --out failed --report-live --lr 1e38 --epochs 40
if [ -e failed/report.html ] && ! grep -q 'http-equiv="refresh"' failed/report.html; then ok; else fail "a run that failed reads itself anew"; fi
check_status "a log that is no file" 1 'the page is made of the log' ./made --out piped --report-live --log /dev/null
sed '/save /d' made.net > plain.net
check "without the report" "$build/bin/nnc" plain.net --cflags=-O0 --units=1 -o plain
check_status "the best report at the end" 0 'best val.loss 0.4136.* in epoch 5, step 30, is not kept; .save = best\(val.loss\). in the program keeps it' ./plain --lr 0.5
check_status "where the best lies" 0 'best val.loss 0.4136.* in epoch 5, step 30: again/best.safetensors' ./made --lr 0.5 --out again

# NaN is never the best, whatever its sign; of several losses none is recommended.
printf '10,1\n10,1\n' > some.csv; printf -- '1,0.7\n1,0.7\n' > first_nan.csv; printf -- '-1,0.7\n-1,0.7\n' > nan.csv
late() { # late NAME DATA LINES
  cat > "$1.net" <<END
const batch = 2
data train { x, y = csv("some.csv", columns = [0, 1], header = false) }
data val { x, y = csv("$2", columns = [0, 1], header = false) }
input x : f32[batch]
input y : f32[batch]
param w : f32[1] = constant(0.1)
fit = mean((w - y) ^ 2) + 0 * mean(log(w * x - 0.5))
${3:-train { minimize = fit, optimizer = sgd(lr = 0.1), epochs = 6 \}}
END
  check "$1" "$build/bin/nnc" "$1.net" --cflags=-O0 --units=1 -o "$1"
}
late begins first_nan.csv
check_status "NaN in the first reports" 0 'best val.loss .* in epoch 5, step 5, is not kept' ./begins
late always nan.csv
said=$(./always 2>&1)
if grep -q 'val loss nan' <<<"$said" && ! grep -qE -- '-nan|is not kept' <<<"$said"; then ok; else fail "NaN in all reports: $said"; fi
late several some.csv 'param v : f32[1] = zeros
more = mean((v - w) ^ 2) + w[0]
train { minimize = more, optimizer = sgd(lr = 0.5), epochs = 6, params "w" { minimize = fit } }'
said=$(./several 2>&1)
if grep -q saved <<<"$said" && ! grep -q 'is not kept' <<<"$said"; then ok; else fail "several losses: $said"; fi

# Results that are drawn, and results that are pictures: the page shows some of both.
cat > drawn.net <<'PROGRAM'
const batch = 4
data train { x = csv("sixteen.csv", header = false) }
input x : f32[batch, 16]
param w : f32[16, 144] = 0.1 * randn([16, 144])
loss = mean((x @ w) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.01), steps = 2 }
predict { picture = reshape(randn([1, 16]) @ w, [1, 12, 12]), level = mean(w) }
PROGRAM
for row in $(seq 14); do seq -s, "$row" "$((row + 15))"; done > sixteen.csv
sed 's/^predict.*/predict { made = reshape(x @ w, [batch, 1, 12, 12]) }/' drawn.net > made.net
is() { if [ "$2" = "$3" ]; then ok; else fail "$1: $2 instead of $3"; fi; }
for name in drawn made; do
  check "$name compiles" "$build/bin/nnc" --cflags=-O0 --units=1 --report-page $name.net -o $name
  check "$name trains" ./$name --quiet
  check "$name page" ./$name report --steps 0
done
is "drawn pictures" "$(grep -o 'alt="picture" src="data:image/png' drawn.run/report.html | wc -l)" 12
is "each another one" "$(grep -o 'alt="picture" src="[^"]*' drawn.run/report.html | sort -u | wc -l)" 12
is "numbers beside them" "$(grep -o 'level: <b>' drawn.run/report.html | wc -l)" 12
is "pictures of examples" "$(grep -o 'alt="made" src="data:image/png' made.run/report.html | wc -l)" 12

check_status "no writer" 2 "made without its report; 'nnc --report-page plain.net'" ./plain report
check_status "no writer while it trains" 1 'report-live: this program was made without' ./plain --report-live --out plain.out

if [ "${2:-}" = --long ]; then
  python=${NNC_TENSORBOARD:?a Python that has tensorboard}
  check "TensorBoard reads it" env PYTHONPATH="$root/tests/lib" "$python" "$root/tests/lib/tensorboard_read.py" tb/parts tb/log.jsonl
  check "TensorBoard reads the first" env PYTHONPATH="$root/tests/lib" "$python" "$root/tests/lib/tensorboard_read.py" one/tb one/log.jsonl
  for made in one parts early long logged classed many; do
    [ -e $made/report.html ] || continue
    check "$made in a browser" python3 "$root/tests/report/browser.py" "${NNC_BROWSER:?Chromium}" $made/report.html
  done
fi

summary
