#!/bin/bash
# Tests of the runtime with a program written by hand (toy_model.c): no compiler is needed.
#
#   run.sh BUILD_DIR    the runtime is BUILD_DIR/lib/nnc/libnncrt.a, or $NNC_SMALL, one with asserts and small
#                       buffers; with $NNC_CUDA_DRIVER, a stand-in for libcuda.so.1, the toy is a program for
#                       CUDA and what concerns devices is tested; headers are in ../../runtime; the C compiler is $CC or cc
# Prints what failed and "N passed, N failed"; the exit status is 0 when nothing failed.

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd) || exit 2
runtime=$here/../../runtime
library=${NNC_SMALL:-$build/lib/nnc/libnncrt.a}
cc=${CC:-cc}
flags="-std=gnu11 -D_GNU_SOURCE -O1 -g -DNNC_ASSERTS ${NNC_SMALL:+-DNNC_SMALL_BUFFERS} -I $runtime -I $runtime/abi"
tests="training metrics resume log numbers full_disk folders damage headers fits levels predict export step profile usage \
sanitized cgroups foreign escapes columns clock hangup"
[ -z "${NNC_CUDA_DRIVER:-}" ] || source "$here/on_device.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

alone=${alone:-}
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAILED: $1"; [ -z "$2" ] || sed 's/^/    /' <<<"$2"; }

# check NAME COMMAND...: the command must succeed.
check() { local name=$1; shift; if "$@"; then pass; else fail "$name" "$*"; fi; }

# run CODE TEXT COMMAND...: exit code and, unless empty, a text (extended expression) on stdout or stderr.
run() {
  local code=$1 text=$2 output status
  shift 2
  output=$("$@" 2>&1 </dev/null)
  status=$?
  if [ $status -ne "$code" ]; then fail "$*" "exit $status, expected $code: $output"; return 1; fi
  if [ -n "$text" ] && ! grep -qE -- "$text" <<<"$output"; then fail "$*" "no '$text' in: $output"; return 1; fi
  pass
}

differ() { ! cmp -s "$1" "$2"; }

# A log without its times.
plain_log() { sed 's/"seconds":[0-9.]*,//; s/,"command":\[[^]]*\]//' "$1"; }
same_log() { cmp -s <(plain_log "$1") <(plain_log "$2"); }
# same NAME A B: two run folders hold the same checkpoint and log.
same() {
  check "$1: equal checkpoints" cmp -s "$2/checkpoint.safetensors" "$3/checkpoint.safetensors"
  check "$1: equal logs" same_log "$2/log.jsonl" "$3/log.jsonl"
}

toy() { # toy NAME FLAGS...: builds a variant of the toy
  local name=$1
  shift
  if ! $cc $flags "$@" "$here/toy_model.c" -o "$name" $library ${LDFLAGS:-} -lz -lm -lpthread; then
    echo "cannot build $name"
    echo "0 passed, 1 failed"
    exit 1
  fi
}

toy toy
toy toy_accumulate -DACCUMULATE=2
toy toy_wide -DWIDTH=4
toy toy_other_isa -DISA='"other"'
toy toy_levels -DMORE_LEVELS
toy toy_huge -DARENA_BYTES=0x100000000000
toy toy_limit -DLIMIT=2
toy toy_counted -DCOUNT_ALLOCATIONS -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc
$cc $flags "$here/toy_data.c" -o toy_data && ./toy_data || exit 2

test_training() {
  run 0 'saved' ./toy --out one -j1
  check "a line an epoch" test "$(wc -l <one/log.jsonl)" = 4
  local members='^\{"epoch":4,"step":40,"seconds":[0-9.]+,"train/loss":[0-9.e-]+,"train/worst":[0-9.e-]+,'
  members+='"test/loss":[0-9.e-]+,"test/worst":[0-9.e-]+\}$'
  check "members of a line" grep -qE "$members" <(tail -n 1 one/log.jsonl)
  local threads
  for threads in 2 3 8; do
    run 0 '' ./toy --out "threads$threads" -j$threads -q
    same "$threads threads" one "threads$threads"
  done
  run 0 '' ./toy --out seed2 --seed 2 -q
  check "another seed, another result" differ one/checkpoint.safetensors seed2/checkpoint.safetensors
  run 0 '' ./toy --out steps --steps 12 --validate-every 5 -q
  check "validations and the last step" test "$(grep -o '"step":[0-9]*' steps/log.jsonl | tr '\n' ' ')" = '"step":5 "step":10 "step":12 '
  run 0 'step 0' ./toy --out none --epochs 0
  check "epochs = 0 logs nothing" test ! -s none/log.jsonl
  check "epochs = 0 saves" test -s none/checkpoint.safetensors
  local said
  said=$(./toy --out quiet -q 2>&1)
  check "--quiet says nothing" test -z "$said"
}

test_metrics() {
  local logged evaluated
  logged=$(tail -n 1 one/log.jsonl | sed 's/.*"test\/loss":\([^,]*\),.*/\1/')
  evaluated=$(./toy eval --out one | sed 's/.*"loss":\([^,]*\),.*/\1/')
  check "eval agrees with the log" test "$logged" = "$evaluated"
  run 0 '"data":"test","examples":34,"step":40' ./toy eval --out one
  run 0 '"data":"train","examples":105' ./toy eval train --out one
  run 1 "no data set 'valid'; it has train, test$" ./toy eval valid --out one
  run 1 "no data set 'tset'; did you mean 'test'" ./toy eval tset --out one
  run 1 'there is no checkpoint nowhere/checkpoint.safetensors; train first: ./toy --out nowhere, or' ./toy eval --out nowhere
  run 1 'there is no checkpoint nowhere/checkpoint.safetensors; train first: ./toy --out nowhere, or' \
    ./toy export new.npz --out nowhere
  run 1 'there is no checkpoint nowhere/checkpoint.safetensors to resume: .* train first: ./toy --out nowhere' \
    ./toy --resume --out nowhere
  run 1 "train first: ./toy --data 'my data' --out nowhere, or" ./toy predict -d 'my data' x --out=nowhere
  run 1 'train first: ./toy --data data --epochs=3 -onowhere -j 2$' \
    ./toy --data data -r --epochs=3 -onowhere -j 2
  run 1 'train first: ./toy train --data data --out nowhere$' \
    ./toy train --data data --resume nowhere/checkpoint.safetensors --out nowhere
  run 1 'train first: ./toy --out nowhere$' ./toy --resume=nowhere/checkpoint.safetensors --out nowhere
  local words
  words=$(./toy eval -d "it's & \$(x)" --out nowhere 2>&1 | sed 's/.*train first: //; s/, or give.*//')
  check "words for a shell" test "$(eval "printf '%s|' $words")" = "./toy|--data|it's & \$(x)|--out|nowhere|"
  run 1 'train first: ./toy --data \.\.\. --out nowhere, or' ./toy eval -d "$(printf '%0900d' 1)" --out nowhere
  check "which makes no folder" test ! -e nowhere
  run 1 'there is no checkpoint gone.safetensors to resume; --resume without a file goes on with .*/checkpoint' \
    ./toy --resume gone.safetensors
}

test_resume() {
  local step
  for step in 1 2 9 10 11 17 30 39 40; do
    rm -rf stopped
    TOY_INTERRUPT=$step run 130 "step $step is saved" ./toy --out stopped -j2 $alone
    run 0 '' ./toy --out stopped --resume -j1 -q
    same "interrupted in step $step" one stopped
  done
  rm -rf stopped
  TOY_INTERRUPT=3 run 130 '' ./toy --out stopped -q $alone
  for step in 4 10 25; do TOY_INTERRUPT=$step run 130 '' ./toy --out stopped --resume -q $alone; done
  run 0 'resumes stopped/checkpoint.safetensors: step 25 of 40 is done; epoch 3 goes on after 5 of its 10 steps$' \
    ./toy --out stopped --resume
  same "interrupted four times" one stopped
  for step in 5 10 20 21 38; do
    rm -rf killed
    TOY_KILL=$step run 137 '' ./toy --out killed --save-every 4 -q
    run 0 '' ./toy --out killed --resume -q
    same "killed in step $step" one killed
  done
  TOY_SLOW=100000 ./toy --out terminated -q 2>/dev/null &
  local child=$!
  sleep 1; kill -TERM $child; wait $child
  check "SIGTERM: exit 130" test $? = 130
  run 0 '' ./toy --out terminated --resume -q
  same "SIGTERM" one terminated
  rm -rf stopped
  TOY_INTERRUPT=7 run 130 '' ./toy_accumulate --out stopped -q
  run 0 '' ./toy_accumulate --out stopped --resume -q
  run 0 '' ./toy_accumulate --out whole -q
  check "steps of two batches" grep -q '"epoch":4,"step":20' whole/log.jsonl
  same "accumulation" whole stopped
  run 0 'one/checkpoint.safetensors holds step 40' ./toy --out one --resume
  run 0 'step 40 of 40 is done: no step is left to do; a greater --epochs goes on$' ./toy --out one --resume
  run 0 'step 40 of 20 is done: no step is left to do; a greater --steps goes on$' ./toy --out one --resume --steps 20
  run 0 'resumes one/checkpoint.safetensors: step 40 of 60 is done; epoch 5 begins$' \
    ./toy --out further --resume one/checkpoint.safetensors --epochs 6
  check "a longer run goes on" grep -q '"step":60' further/log.jsonl
  TOY_SLOW=9000000 ./toy --out stopped2 -q 2>/dev/null &
  local start=$SECONDS
  child=$!
  sleep 0.5; kill -INT $child; sleep 0.1; kill -INT $child; wait $child
  check "a second signal ends at once" test $? = 130
  check "a second signal does not wait for the step" test $((SECONDS - start)) -lt 8
}

test_log() {
  run 0 '' ./toy --out named --log named.jsonl -q
  run 0 '' ./toy --out named --log named.jsonl -q
  check "--log appends" test "$(wc -l <named.jsonl)" = 8
  head -n 5 named.jsonl >expected
  TOY_INTERRUPT=14 run 130 '' ./toy --out named2 --log named.jsonl -q
  printf '{"epoch":9,"step":39,"seconds":1}\n{"epoch":9,"st' >>named.jsonl
  run 0 '' ./toy --out named2 --log named.jsonl --resume -q
  check "resuming drops later lines of the last run only" test "$(wc -l <named.jsonl)" = 12
  check "... and the log reads as if never stopped" same_log <(tail -n 4 named.jsonl) one/log.jsonl
  cp one/log.jsonl before.jsonl
  cp -r one again
  run 0 'renames' ./toy --out again --epochs 1
  check "a new run keeps the old log" cmp -s again/log.previous.jsonl before.jsonl
  check "a new run keeps the old checkpoint" cmp -s again/checkpoint.previous.safetensors one/checkpoint.safetensors
  check "a new run starts a log" test "$(wc -l <again/log.jsonl)" = 1
}

test_numbers() {
  TOY_NAN_STEP=17 run 1 'step 17: loss is -?nan; training stops.*nan/checkpoint.safetensors holds step 16' \
    ./toy --out nan --save-every 4
  check "the log holds finite lines only" test "$(wc -l <nan/log.jsonl)" = 1
  run 0 '' ./toy --out nan --resume -q
  same "resumed before the NaN" one nan
  TOY_NAN_STEP=17 run 0 'step 17: loss is' ./toy --out nan2 --keep-going
  TOY_NAN_STEP=3 run 1 'nothing was saved yet' ./toy --out nan3
}

test_full_disk() {
  cp -r one full
  run 1 'cannot write full/checkpoint.safetensors.tmp' bash -c 'ulimit -f 1; ./toy --out full'
  check "a failed save keeps the old file" cmp -s full/checkpoint.safetensors one/checkpoint.safetensors
  check "a failed save leaves no temporary" test ! -e full/checkpoint.safetensors.tmp
  rm -rf full
  run 1 'training goes on' bash -c 'ulimit -f 1; ./toy --out full --save-every 15'
  check "training went on" test "$(wc -l <full/log.jsonl)" = 4
  if mkdir small && mount -t tmpfs -o size=8k tmpfs small 2>/dev/null; then
    run 0 '' ./toy --out small --epochs 1 -q
    cp small/checkpoint.safetensors first.safetensors
    run 1 'cannot (write|flush) small/checkpoint.safetensors.tmp: No space left' ./toy --out small --resume
    check "no space: the old file is intact" cmp -s small/checkpoint.safetensors first.safetensors
    check "no space: no temporary is left" test ! -e small/checkpoint.safetensors.tmp
    umount small
  fi
  run 1 'cannot write the predictions' bash -c './toy predict --out one >/dev/full'
  run 1 'cannot write a line of the log /dev/full' ./toy --out full --log /dev/full
}

test_folders() {
  touch file
  run 1 'file is not a folder|cannot create the folder file' ./toy --out file
  run 1 'cannot create the folder file/run' ./toy --out file/run
  run 1 'cannot' ./toy --out /proc/nnc_cannot
  run 1 'train_x.npy' ./toy --out x --data nowhere
  check "no folder for a run without data" test ! -e x
  TOY_SLOW=100000 ./toy --out busy -q 2>/dev/null &
  local child=$!
  sleep 0.2
  run 1 'another run is writing to busy' ./toy --out busy
  kill -INT $child; wait $child
  run 0 '' ./toy --out deep/er/run -q
}

test_damage() {
  local good=one/checkpoint.safetensors size length status
  size=$(stat -c %s $good)
  for length in 0 5 8 9 100 500 $((size - 100)) $((size - 1)); do
    head -c "$length" $good >cut.safetensors
    run 1 'cut.safetensors.*(truncated|ends|damaged)' ./toy eval --init cut.safetensors
  done
  cat $good <(printf x) >cut.safetensors
  run 1 'cut.safetensors is damaged: its header describes' ./toy --resume cut.safetensors --out x
  head -c 4096 /dev/urandom >cut.safetensors
  run 1 'cut.safetensors' ./toy --resume cut.safetensors --out x
  printf '\377\377\377\377\377\377\377\377' >cut.safetensors
  run 1 'not a safetensors file' ./toy --resume cut.safetensors --out x
  run 1 'not a regular file' ./toy --resume /dev/zero --out x
  run 1 'cannot open gone.safetensors: No such file' ./toy --init gone.safetensors --out x
  sed 's/"position":"40 /"position":"-4 /' $good >cut.safetensors
  run 1 "metadata 'position' is malformed" ./toy --resume cut.safetensors --out x
  sed 's/"seed":"1"/"seed":"x"/' $good >cut.safetensors
  run 1 "metadata 'seed' is malformed" ./toy --resume cut.safetensors --out x
  sed 's/nnc checkpoint 1/nnc checkpoint 2/' $good >cut.safetensors
  run 1 "is a 'nnc checkpoint 2', of another version of nnc; this program reads a 'nnc checkpoint 1'" ./toy --resume cut.safetensors --out x
  sed 's/"format":/"former":/' $good >cut.safetensors
  run 1 "no checkpoint of a run .no metadata 'format'" ./toy --resume cut.safetensors --out x
}

# header TEXT BYTES: a safetensors file with that header (shorter than 256 bytes) and so many bytes of data.
header() {
  printf "\\x$(printf %02x ${#1})\\0\\0\\0\\0\\0\\0\\0%b" "${1//\\/\\\\}" >made.safetensors
  head -c "$2" /dev/zero >>made.safetensors
}

test_headers() {
  local LC_ALL=C # lengths in bytes
  local t='"dtype":"F32","shape":[2],"data_offsets":[0,8]'
  header "{\"a\":{$t}}" 8
  run 1 'none of its 1 tensors fits' ./toy --init made.safetensors --out x
  local row text expected
  local rows=(
    "{\"a\":{$t},\"a\":{$t}}|same key twice"
    "{\"a\":{$t},\"b\":{$t}}|'b' starts at byte 0 of the data, 8 expected"
    '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}|starts at byte 4'
    '{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}|is F32.3., but 8 bytes are given'
    '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}|but 8 bytes'
    '{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}|malformed'
    '{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}|malformed'
    '{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}|malformed'
    '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999]}}|malformed'
    '{"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}}|malformed'
    '{"a":[]}|malformed'
    '[]|not a JSON object'
    '{"__metadata__":{"a":1}}|not an object of strings'
    '{"a":01}|expected at byte'
    '{"a":1,}|a key expected'
    '{"a" 1}|'"':' expected"
    '{"a":"\u0000"}|zero character'
    '{"a":"\ud800"}|lone surrogate'
    '{"a":"\x"}|bad escape'
    '{"a":"x|string without an end'
    '{} {}|after the end'
    '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[|too deep'
    $'{"\xc0\xaf":1}|not UTF-8'
  )
  for row in "${rows[@]}"; do
    text=${row%|*} expected=${row##*|}
    header "$text" 8
    run 1 "made.safetensors.*$expected" ./toy --init made.safetensors --out x
  done
}

test_levels() {
  run 0 '^code for toy \(any\): used' ./toy_levels info
  run 0 '^code for toy-beyond \(beyond\): this processor has no teleport' ./toy_levels info
  run 0 '"name":"toy-beyond","isa":"beyond","lacks":"teleport","used":false' ./toy_levels info --json
  run 0 ' for any$' ./toy_levels --version
  run 0 '' ./toy_levels --out level -j1 -q
  same "the level that runs" one level
  run 0 '' ./toy_levels --isa=toy --out pinned -j1 -q
  same "the level asked for" one pinned
  local command
  for command in '' eval predict info bench; do
    run 1 "isa=toy-beyond: this processor has no teleport" ./toy_levels $command --isa=toy-beyond
    run 1 "isa=beyond: this processor has no teleport" ./toy_levels $command --isa beyond
    run 2 "compiled for toy, toy-beyond, not for 'v9'" ./toy_levels $command --isa=v9
  done
}

test_fits() {
  ./toy_data 4 # of four columns, for toy_wide
  run 1 'w: F32\[3\] in the file, f32\[4\] in the program' ./toy_wide --resume one/checkpoint.safetensors --out x
  run 0 'not loaded: w: F32\[3\] in the file' ./toy_wide --init one/checkpoint.safetensors --out wide --epochs 0
  run 1 'w: F32\[3\] in the file' ./toy_wide eval --init one/checkpoint.safetensors
  run 0 'loaded 3 tensors' ./toy_wide --init wide/checkpoint.safetensors --out x --epochs 0
  ./toy_data
  run 0 'was made with any, this program is for other' ./toy_other_isa --resume one/checkpoint.safetensors --out x
  run 0 'another source \(- then, \+ now\):$' ./toy_other_isa --resume one/checkpoint.safetensors --out x2
  run 0 '  \+ line 3: isa = other' ./toy_other_isa --resume one/checkpoint.safetensors --out x3
  run 0 '' ./toy export --out one weights.safetensors -q
  run 1 "weights.safetensors: it is no checkpoint of a run .w:m: missing in the file.*; --init weights.safetensors begins a new run" \
    ./toy --resume weights.safetensors --out x
  check "one line for all of them" test "$(./toy --resume weights.safetensors --out x 2>&1 | wc -l)" = 1
  local said
  said=$(./toy --init gone.safetensors --out one 2>&1)
  run 1 'cannot open gone.safetensors' ./toy --init gone.safetensors --data nowhere
  check "nothing is told of a run that does not begin: $said" test "$said" = 'toy: error: cannot open gone.safetensors: No such file or directory'
  run 1 "'y' holds .* but the model takes it as an index from 0 to 1" ./toy_limit --out x
  run 1 'cannot take 17.6 TB .*for the model.s arena' ./toy_huge --out x
}

test_predict() {
  check "a line an example" test "$(./toy predict --out one | wc -l)" = 34
  check "the format of a line" grep -qE '^\{"value":[-0-9.]+,"pair":\[[-0-9.]+,[-0-9.]+\],"is_big":(true|false),"kind":(1234567|-1)\}$' <(./toy predict --out one | tail -n 1)
  check "csv" test "$(./toy predict --out one --format=csv | head -n 1)" = value,pair.0,pair.1,is_big,kind
  check "a file" cmp -s <(./toy predict --out one) <(./toy predict --out one test_x.npy)
  check "standard input" cmp -s <(./toy predict --out one) <(./toy predict --out one - <test_x.npy)
  run 1 'predict needs 1 file' ./toy predict --out one test_x.npy test_y.npy
  run 1 'x.npy' ./toy predict --out one gone_x.npy
  run 2 'json or csv' ./toy predict --format=xml
}

test_export() {
  run 0 '' ./toy export --out one weights.safetensors -q
  check "exported weights evaluate alike" cmp -s <(./toy eval --out one | sed 's/"step":40/"step":0/') <(./toy eval --init weights.safetensors)
  run 0 '' ./toy export --out one weights.npz
  run 2 "unknown --format 'npx'; did you mean 'npz'" ./toy export --out one --format=npx weights
  run 2 'export wants FILE' ./toy export --out one
  local name
  for name in w.onnx w.PT w.h5 w.bin dir.npz/w.gguf; do
    run 2 "cannot write $name: export writes safetensors and npz, not" ./toy export --out one $name
  done
  run 2 "PyTorch makes one of a safetensors file: torch.save.*'w.pth'" ./toy export --out one w.pth
  check "no file of such a name" test -z "$(find . -name 'w.*')"
  run 0 'wrote w.onnx, which is an npz file$' ./toy export --out one w.onnx --format=npz
  run 0 'wrote v1.2, which is a safetensors file$' ./toy export --out one v1.2
  run 0 'wrote weights.NPZ$' ./toy export --out one weights.NPZ
  check "an ending in capitals is one" cmp -s weights.npz weights.NPZ
  run 1 'cannot create file/weights.npz' ./toy export --out one file/weights.npz
  if command -v python3 >/dev/null; then
    check "a sound zip" python3 -c 'import zipfile; z = zipfile.ZipFile("weights.npz"); assert z.testzip() is None; assert z.namelist() == ["w.npy", "b.npy", "count.npy"]; n = z.read("w.npy"); assert n[:6] == b"\x93NUMPY" and len(n) == 128 + 12'
  fi
}

test_step() {
  local x='"x":{"dtype":"F32","shape":[10,3],"data_offsets":[0,120]}'
  header "{$x,\"y\":{\"dtype\":\"F32\",\"shape\":[10],\"data_offsets\":[120,160]}}" 160
  run 0 '"step": 2, "loss":' ./toy step --inputs made.safetensors --steps 2 result.safetensors
  run 0 'loaded 3 tensors' ./toy --init result.safetensors --out x4 --epochs 0
  run 1 'cannot open missing.safetensors' ./toy step --inputs missing.safetensors result.safetensors
  header "{$x}" 120
  run 1 "neither a tensor '0/y' nor 'y'" ./toy step --inputs made.safetensors result.safetensors
  header "{$x,\"y\":{\"dtype\":\"F64\",\"shape\":[10],\"data_offsets\":[120,200]}}" 200
  run 1 "'y' is F64.10., but the input needs f32.10." ./toy step --inputs made.safetensors result.safetensors
  run 2 'step needs --inputs' ./toy step result.safetensors
  run 2 'cannot write result.npz: step writes safetensors' ./toy step --inputs made.safetensors result.npz
  echo 1,2,3 >table
  run 1 'cannot write table: the file that is there is no safetensors file' ./toy step --inputs made.safetensors table
}

test_profile() {
  run 0 '^elementwise +[0-9]' ./toy profile --steps 4 --warmup 0
  run 0 '^error .* 11  contract\+2 -> partial' ./toy profile --steps 4 -j2
  run 0 'bound: [0-9.]+ GFLOP' ./toy profile --steps 4 --data .
  run 0 '^contraction .*[0-9]%$' ./toy profile --steps 4
  run 0 '^contraction +[0-9.]+ +[0-9.]+% +[0-9.]+% +[0-9]+( +[0-9.]+){3}$' ./toy profile --steps 4 --no-bound
  run 0 '"instances":' ./toy profile --steps 4 --json --no-bound
  for how in "" --json; do
    run 1 '' bash -c "./toy profile --steps 4 --no-bound $how | grep -E 'bound|peak'"
  done
  run 0 '"peak_gflops":.*"bound":' ./toy profile --steps 4 --json
  run 2 'no flag of train' ./toy --trace x
  run 1 'cannot write the profile' bash -c './toy profile --steps 1 >/dev/full'
  check "profile writes nothing" test ! -e toy.run
  local name few many how
  for name in toy toy_accumulate; do
    ./$name profile -q --json --trace trace --steps 9 -j3 >profile
    command -v python3 >/dev/null && check "$name: tables and trace" python3 "$here/../profile/check.py" profile trace
  done
  for name in profile bench 'bench --ahead'; do
    few=$(./toy_counted $name --steps 8 --data . 2>&1 | grep allocations)
    many=$(./toy_counted $name --steps 300 --data . 2>&1 | grep allocations)
    check "$name allocates nothing in the loop: $few, $many" test -n "$few" -a "$few" = "$many"
  done
}

test_usage() {
  run 2 "unknown command 'trian'; did you mean 'train'" ./toy trian
  run 2 "unknown flag '--epcohs'; did you mean '--epochs'" ./toy --epcohs=3
  run 2 "unknown flag '--tp'; did you mean '--top'" ./toy predict --tp 2
  run 2 "unknown flag '--tp'; did you mean '--to'" ./toy report --tp page.html
  run 2 "unknown flag '--epcohs'; did you mean '--epochs'" ./toy eval --epcohs 2
  run 2 "format of predict is json or csv, not 'cvs'; did you mean 'csv'" ./toy predict --format=cvs
  run 2 'at least 0' ./toy --epochs=-1
  run 2 'seed wants a whole number from 0 to 18446744073709551615, not 99999999999999999999' ./toy --seed 99999999999999999999
  run 2 'epochs wants a whole number from 0 to 9223372036854775807' ./toy --epochs 9223372036854775808
  run 2 'threads wants a whole number from 1 to 1024' ./toy -j 99999999999999999999
  run 2 'save-every: at most 2147483647epochs' ./toy --save-every 99999999999epochs
  run 2 '\-\-batch is no flag of train' ./toy --batch 10,20
  run 2 '\-\-batch is no flag of train' ./toy --batch x
  run 0 'Usage: ./toy train' ./toy --batch 10 --help
  local flags
  for flags in --out= --data= --log= --init= --resume=; do run 2 "wants the name of a (file|folder), not ''" ./toy $flags; done
  run 2 "init wants the name of a file, not ''" ./toy --init ''
  run 2 "resume wants the name of a file, not ''" ./toy --resume ''
  for flags in export predict eval 'step --inputs x'; do run 2 "an argument is empty" ./toy $flags ''; done
  run 2 'at least 1' ./toy --threads 0
  run 2 'wants a value' ./toy --out
  run 2 'takes no value' ./toy --quiet=1
  TOY_INTERRUPT=2 run 130 '' ./toy --epochs 9223372036854775807 --out forever
  run 2 'contradict' ./toy --epochs 1 --steps 1
  run 2 'cannot stand beside' ./toy --resume --seed 3
  run 2 'no flag of info' ./toy info --steps 3
  run 2 'one argument too many' ./toy train now
  run 0 'Usage:' ./toy --help
  command -v python3 >/dev/null && check "docs/executable.md names the commands of each flag" python3 "$here/flags.py" ./toy "$here/../../docs/executable.md"
  run 2 "computes on the machine's processors" ./toy --device 1
  check "a program for processors has no --device" bash -c '! ./toy --help | grep -q -e --device'
  run 0 '\-\-warmup' ./toy bench --help
  run 0 'toy.net' ./toy --version
  run 0 '4 parameters' ./toy info
  run 0 '"parameters":4' ./toy info --json
  run 0 '"inputs":[[]{"name":' ./toy info --json
  run 0 '"step_ms":' ./toy bench --steps 5 --warmup 1
  run 0 '"threads":2' ./toy bench --steps 5 --data . --threads 2
  run 0 '"steps":25,.*"all_ms":[[]([0-9.e-]+,){9}[0-9.e-]+[]]' ./toy bench --ahead --steps 25 --all
  run 0 '"steps":2,.*"all_ms":[[][0-9.e-]+,[0-9.e-]+[]]' ./toy_accumulate bench --ahead --steps 2 --all --data .
  run 2 'no flag of profile' ./toy profile --ahead
  run 0 '"examples":[0-9]+,"data_threads":0,"seconds":[0-9.e-]+,"examples_per_second":[0-9.e+]+,"processor_ms":[0-9.e-]+[}]' ./toy bench --data-only --steps 3
  run 2 'steps wants a whole number of at least 1' ./toy bench --data-only --steps 0
  run 0 '"batch":1,"threads":1,"steps":3,"step_ms":' ./toy bench --predict --steps 3 --threads 1
  run 2 'predict and --data contradict each other: what a prediction' ./toy bench --predict --data .
  run 2 'predict and --ahead contradict' ./toy bench --predict --ahead
  run 2 'data-only and --all contradict' ./toy bench --data-only --all
  run 2 'best and --init contradict each other: each names a checkpoint' ./toy eval --best --init x
  run 2 "no flag of step; './toy step --help' lists them" ./toy step --out x --inputs x y
  run 2 'no flag of profile' ./toy profile --data-only
  check "bench writes nothing" test ! -e toy.run
}

# The sources themselves under sanitizers, where the compiler has them.
test_sanitized() {
  local os="$runtime/os" core="$runtime/core"
  local pool="$core/pool.c $os/assert.c $os/cpus.c $os/cgroup.c $os/futex.c $os/memory.c $os/message.c $os/printable.c $os/thread.c $os/clock.c"
  local device="$core/device.c $core/feed.c $core/layout.c $core/mark.c $core/number.c $core/planned.c"
  echo 'int main(void) { return 0; }' >probe.c
  run 0 '0 failures' bash -c "$cc $flags $here/pool_test.c $pool -o pool -lpthread && ./pool"
  run 0 '0 failures' bash -c "$cc $flags $here/device_test.c $pool $device -o device -lpthread && ./device"
  if $cc -fsanitize=thread probe.c -o probe 2>/dev/null && ./probe; then
    run 0 '0 failures' bash -c "$cc $flags -fsanitize=thread $here/pool_test.c $pool -o pool_t -lpthread && ./pool_t"
    run 0 '0 failures' bash -c "$cc $flags -fsanitize=thread $here/device_test.c $pool $device -o device_t -lpthread && ./device_t"
  fi
  if $cc -fsanitize=address,undefined probe.c -o probe 2>/dev/null && ./probe; then
    local sane="-fsanitize=address,undefined -fno-sanitize-recover=all"
    run 0 '0 failures' bash -c "$cc $flags $sane $here/pool_test.c $pool -o pool_a -lpthread && ./pool_a"
    run 0 '0 failures' bash -c "$cc $flags $sane $here/device_test.c $pool $device -o device_a -lpthread && ./device_a"
    run 0 'accepted' bash -c "$cc $flags $sane $here/fuzz_safetensors.c $core/safetensors.c $core/json.c \
      $core/number.c $core/fitted_text.c $core/fitted.c $core/dictionary.c $os/assert.c $os/replace.c $os/message.c $os/printable.c -o fuzz && ./fuzz one/checkpoint.safetensors bad 3000 2>/dev/null"
  fi
}

# group ROOT GROUP MOUNT...: a machine whose process is in GROUP (a line of /proc/self/cgroup each, | between them).
group() {
  local root=$1 groups=$2
  shift 2
  mkdir -p "$root/proc/self"
  tr '|' '\n' <<<"$groups" >"$root/proc/self/cgroup"
  printf '%s\n' "$@" >"$root/proc/self/mountinfo"
}
# limit ROOT FOLDER FILE TEXT
limit() { mkdir -p "$1$2" && echo "$4" >"$1$2/$3"; }
# granted ROOT COUNT NUMBER
granted() { local found; found=$(./cgroup "$1" "$2"); check "$1: $found processors of $2, not $3" test "$found" = "$3"; }

test_cgroups() {
  local v2='29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw'
  local v1='33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct'
  local set='34 25 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset' plain='22 1 8:1 / / rw - ext4 /dev/sda1 rw'
  $cc $flags "$here/cgroup_test.c" "$runtime/os/cgroup.c" -o cgroup || { fail "cgroup_test does not compile"; return; }
  group none '0::/' "$plain"; granted none 8 8
  mkdir nothing; granted nothing 8 8
  group two '0::/' "$plain" "$v2"; granted two 8 8
  limit two /sys/fs/cgroup cpu.max 'max 100000'; granted two 8 8
  limit two /sys/fs/cgroup cpu.max '300000 100000'; granted two 8 3; granted two 2 2
  limit two /sys/fs/cgroup cpu.max '50000 100000'; granted two 8 1
  limit two /sys/fs/cgroup cpu.max 'nonsense'; granted two 8 8
  # Groups inside of groups: the least of all levels.
  group nested '0::/user.slice/job.scope' "$v2"
  limit nested /sys/fs/cgroup/user.slice/job.scope cpu.max 'max 100000'
  limit nested /sys/fs/cgroup/user.slice cpu.max '250000 100000'; granted nested 8 2
  limit nested /sys/fs/cgroup/user.slice/job.scope cpu.max '100000 100000'; granted nested 8 1
  limit nested /sys/fs/cgroup/other.slice cpu.max '1000 100000'
  limit nested /sys/fs/cgroup/user.slice/job.scope cpu.max '700000 100000'; granted nested 8 2
  # Version 1, whose cpu hierarchy is one of several.
  group one '5:cpuset:/box|4:cpu,cpuacct:/box|1:name=systemd:/' "$plain" "$set" "$v1"
  granted one 8 8
  limit one /sys/fs/cgroup/cpu,cpuacct/box cpu.cfs_period_us 100000
  limit one /sys/fs/cgroup/cpu,cpuacct/box cpu.cfs_quota_us -1; granted one 8 8
  limit one /sys/fs/cgroup/cpu,cpuacct/box cpu.cfs_quota_us 400000; granted one 8 4
  limit one /sys/fs/cgroup/cpu,cpuacct cpu.cfs_period_us 50000
  limit one /sys/fs/cgroup/cpu,cpuacct cpu.cfs_quota_us 100000; granted one 8 2
  # A container: the hierarchy is mounted from its own group on, with and without its path inside.
  group box '4:cpu,cpuacct:/docker/abc|0::/' '33 25 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct'
  limit box /sys/fs/cgroup/cpu,cpuacct cpu.cfs_period_us 100000
  limit box /sys/fs/cgroup/cpu,cpuacct cpu.cfs_quota_us 150000; granted box 8 1
  group inner '0::/docker/abc/job' '29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw'
  limit inner /sys/fs/cgroup/job cpu.max '200000 100000'; granted inner 8 2
  group outer '0::/../../other' "$v2"
  limit outer /sys/fs/cgroup cpu.max '500000 100000'; granted outer 8 5
  # Both versions at once, and a mount point with a space.
  group both '4:cpu:/|0::/a' '33 25 0:29 / /c\040g/cpu rw - cgroup cgroup rw,cpu' "$v2"
  limit both '/c g/cpu' cpu.cfs_period_us 100000
  limit both '/c g/cpu' cpu.cfs_quota_us 300000
  limit both /sys/fs/cgroup/a cpu.max '600000 100000'; granted both 8 3
}

# A header as another format would have it: said, with a way to convert it.
test_foreign() {
  # foreign NAME BYTES PATTERN
  foreign() { printf "$2" >"$1"; head -c 300 /dev/zero >>"$1"; run 1 "$3" ./toy --init "$1" --out x9; }
  local zip='PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0'
  foreign x.pt "${zip}archive/data.pkl" 'x.pt is a PyTorch archive, not a safetensors file'
  foreign x.pt "${zip}archive/data.pkl" 'convert it: python3 -c .import torch; .*torch.load\(.x.pt.'
  foreign x.npz "${zip}w.npy" 'x.npz is an archive of NumPy arrays .*'
  foreign x.npz "${zip}w.npy" "convert it: .*numpy.load\\('x.npz'"
  foreign x.zip "${zip}readme.txt" 'x.zip is a zip archive, not'
  foreign old.pt '\200\2\212\nl\374\234F\371 j\250P\31.' 'old.pt is a PyTorch file of the old format'
  foreign x.pkl '\200\4\225\20\1\0\0\0\0\0\0' 'x.pkl is a Python pickle'
  foreign x.h5 '\211HDF\r\n\32\n' 'x.h5 is an HDF5 file'
  foreign x.npy '\223NUMPY\1\0' 'x.npy is a NumPy array, which load\(\) reads'
  foreign x.gz '\37\213\10\0\0\0\0\0' 'x.gz is compressed by gzip: gunzip it first'
}

# Control characters of files and programs do not reach the terminal; text in UTF-8 stays.
test_escapes() {
  local said key
  python3 - one/checkpoint.safetensors <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
wild = "\x1b]0;title\x07\x1b[31m\x9b1m\u202e\nfake: error: line\x7f größer 数据"
for key in ["compiler", "isa", "source", "seed", "position", "fitted", "metrics"]:
    header = json.loads(data[8:start])
    header["__metadata__"][key] = wild
    text = json.dumps(header).encode()
    open(f"wild_{key}.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data[start:])
header = json.loads(data[8:start])
header["x\x1b[2J"] = header.pop("w")
text = json.dumps(header).encode()
open("wild_name.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data[start:])
END
  for key in compiler isa source seed position fitted metrics name; do
    said=$(./toy --resume wild_$key.safetensors --out wild_$key 2>&1)
    check "$key: no control character" test -z "$(LC_ALL=C tr -d '\n\t\040-\176\200-\377' <<<"$said")"
    check "$key: no C1 character, no turned direction" test -z "$(grep -oP '[\x{80}-\x{9f}\x{202a}-\x{202e}]' <<<"$said")"
    check "$key: no line of its own" test -z "$(grep '^fake' <<<"$said")"
  done
  run 0 'was made by .x1b.0;title.x07.x1b.31m.x9b1m.u202e.nfake: error: line.x7f größer 数据' ./toy --resume wild_compiler.safetensors --out wild_again
  touch $'\e[31m.safetensors'
  run 1 '^toy: error: .x1b.31m.safetensors is truncated' ./toy --init $'\e[31m.safetensors' --out x9
  toy toy_wild "-DMODEL_NAME=\"\\033[31mtoy\""
  run 0 '^.x1b.31mtoy ' ./toy_wild info
  run 0 '^.x1b.31mtoy .*compiled' ./toy_wild --version
}

# Under a terminal of 60 columns a line that is rewritten in place takes one row, and tells the time left.
test_columns() {
  python3 - <<'END' >columns 2>&1
import fcntl, os, pty, re, struct, sys, termios
for columns in (60, 40, 200):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ["TOY_SLOW"] = "20000"
        os.execv("./toy", ["./toy", "--out", f"columns{columns}"])
    data = b""
    while True:
        try: part = os.read(fd, 65536)
        except OSError: break
        if not part: break
        data += part
    os.waitpid(pid, 0)
    running = [piece.split(b"\r")[0] for piece in data.split(b"\r\033[K") if piece.startswith(b"epoch") and b"/s" in piece]
    if not running: print(columns, "no running line", data)
    for line in running:
        if len(line) > columns - 1: print(columns, "columns:", line)
        if columns >= 60 and b"left" not in line: print(columns, "no time left:", line)
        if columns == 200 and b"worst" not in line: print(columns, "a metric is missing:", line)
        if columns == 200 and not re.search(rb"  [0-9.]+ [kM]B  ", line): print(columns, "memory is missing:", line)
END
  check "lines fit: $(cat columns)" test ! -s columns
}

# A clock that goes back, and a log that says so: seconds are never negative.
test_clock() {
  cat >clock.c <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *time) {
  static int calls;
  int result = (int)syscall(SYS_clock_gettime, id, time);
  if (++calls > 20) time->tv_sec -= 200000000;
  return result;
}
END
  $cc -shared -fPIC clock.c -o clock.so || { fail "clock.so does not compile"; return; }
  LD_PRELOAD=$PWD/clock.so ./toy --out clock -q -j1
  check "no negative seconds" test "$(grep -c '"seconds":[0-9]' clock/log.jsonl)" = 4
  sed -i 's/"seconds":[0-9.]*/"seconds":-199999999.9/' clock/log.jsonl
  ./toy --out clock --resume --epochs 6 -q
  check "nor after a log with some" test "$(tail -n 1 clock/log.jsonl | grep -c '"seconds":[0-9]')" = 1
}

# SIGHUP saves as SIGTERM does, a second one does not hurry; nohup keeps it away.
test_hangup() {
  local child
  TOY_SLOW=100000 ./toy --out hangup -q 2>/dev/null &
  child=$!
  sleep 1; kill -HUP $child; kill -HUP $child; wait $child
  check "SIGHUP: exit 130" test $? = 130
  check "SIGHUP: saved" test -s hangup/checkpoint.safetensors
  run 0 '' ./toy --out hangup --resume -q
  same "SIGHUP" one hangup
  TOY_SLOW=10000 nohup ./toy --out nohup -q >/dev/null 2>&1 &
  child=$!
  sleep 0.3; kill -HUP $child; wait $child
  check "nohup: exit 0" test $? = 0
  run 0 '' bash -c 'set -o pipefail; { TOY_SLOW=30000 ./toy --out piped 2>&1; echo $? >piped.status; } | head -c 1 >/dev/null; sleep 0.1'
  check "messages that nobody reads: $(cat piped.status)" test "$(cat piped.status)" = 0
}

for test in $tests; do
  test_$test
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
