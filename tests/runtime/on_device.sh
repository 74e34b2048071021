# The tests of run.sh for a program of CUDA: how it is built, and what only a device has.

flags+=" -DON_CUDA -rdynamic"
library="$build/lib/nnc/libnnccuda.a $library"
LDFLAGS+=" -ldl"
export NNC_LIBCUDA=$NNC_CUDA_DRIVER
tests="training metrics log numbers folders damage headers fits predict export step device groups hangup"
alone=--group=1 # steps do not go together, so that it is known in which of them something happens
# An interrupt that a kernel sends comes in its own step only where kernels run at once.
[ -z "${COUNTING_EAGER:-}" ] || tests+=" resume"

# Steps that go to the device together leave what single steps do; so they do after an interrupt, with minibatches that
# make a step, at any place where a report, a save or the end of the run comes between them.
test_groups() {
  local group every
  for group in 1 2 8 64; do
    run 0 '' ./toy --out "group$group" --group $group --save-every 7 --validate-every 9 -q
    same "groups of $group" group1 "group$group"
    run 0 '' ./toy_accumulate --out "groups$group" --group $group --validate-every 6 -q
    same "groups of $group steps of minibatches" groups1 "groups$group"
  done
  for every in 3 5; do
    rm -rf parts
    run 0 '' ./toy --out parts --steps $every --schedule 1000000 -q
    run 0 '' ./toy --out parts --resume --steps $((5 * every + 1)) --schedule 1000000 --group 4 -q
    run 0 '' ./toy --out parts_alone --steps $((5 * every + 1)) --schedule 1000000 $alone -q
    check "resumed in groups" cmp -s parts/checkpoint.safetensors parts_alone/checkpoint.safetensors
  done
  rm -rf interrupted
  TOY_INTERRUPT=13 run 130 'step [0-9]+ is saved' ./toy --out interrupted
  run 0 '' ./toy --out interrupted --resume -q
  same "interrupted in a group" one interrupted
  run 1 'steps [0-9]+ to [0-9]+ or the run before it: cannot launch a graph' \
    env COUNTING_FAIL=cuGraphLaunch:3:700 ./toy --out fault2 -q
  [ -n "${COUNTING_EAGER:-}" ] || defects_of_groups # some show only where kernels run late
}

# Mistakes that are put into the device: checkpoint or log must not be what they are without.
same_quietly() { cmp -s "$1/checkpoint.safetensors" "$2/checkpoint.safetensors" && same_log "$1/log.jsonl" "$2/log.jsonl"; }
is_noticed() { ! same_quietly group1 defect; }
defect() { # FILE EXPRESSION [GROUP]: what sed does to a file of runtime/cuda
  sed -E "${2/none/}" "$runtime/cuda/$1" >"defect_$1"
  [ "$2" = none ] || check "defect $2: there is such text" differ "$runtime/cuda/$1" "defect_$1"
  $cc $flags "$here/toy_model.c" "defect_$1" -o toy_defect $library -lz -lm -lpthread $LDFLAGS ||
    fail "defect $2 compiles"
  rm -rf defect
  (ulimit -c 0; timeout 20 ./toy_defect --out defect --group ${3:-16} -q >/dev/null 2>&1) 2>/dev/null
  if [ "$2" = none ]; then check "without a defect" same_quietly group1 defect
  else check "defect $2 is noticed" is_noticed; fi
}
defects_of_groups() {
  run 0 '' ./toy --out group1 $alone -q
  defect group.c none
  defect group.c 's/place \* slots->told_bytes/0 * slots->told_bytes/'
  defect group.c 's/begin_run\(group, number, i\)/begin_run(group, number, i > 0 ? i - 1 : 0)/'
  defect group.c 's/\(place \* group->slots->answer_bytes\)/(0 * group->slots->answer_bytes)/'
  defect group.c 's/nnc_slots_tell\(slots, slot, first, count\)/nnc_slots_tell(slots, slot, 0, count)/'
  defect slots.c 's/count \* slots->told_bytes\)/slots->told_bytes)/'
  defect slots.c 's/nnc_cuda_must\(nnc_cuda.event_wait\(slot->ended\).*/;/' 2
  defect device.c 's/\) put_waiting\(device\);/) ;/'
}

# Where the GPU is a stand-in: the numbers are those of processors, whether the host runs ahead or not.
test_device() {
  $cc ${flags/-DON_CUDA/} "$here/toy_model.c" -o toy_cpu "${library##* }" -lz -lm -lpthread $LDFLAGS
  $cc ${flags/-DON_CUDA/} -DACCUMULATE=2 "$here/toy_model.c" -o toy_cpu2 "${library##* }" -lz -lm -lpthread $LDFLAGS
  run 0 '' ./toy_cpu --out cpu -q
  same "processors and device" one cpu
  run 0 'of them there too' ./toy --out kept
  same "data that the device keeps" kept one
  run 0 'of data$' ./toy --out fed --resident=no
  same "data that the host sends" fed one
  run 0 '' ./toy_cpu2 --out cpu2 -q
  run 0 '' ./toy_accumulate --out device2 -q
  same "minibatches of a step" cpu2 device2
  run 137 '' bash -c 'TOY_KILL=18 ./toy --out killed --save-every 3 -q; exit $?'
  run 0 '' ./toy --out killed --resume -q
  same "killed" one killed
  run 0 '' ./toy_cpu --out half -e 2 --schedule 4 -q
  run 0 '' ./toy --out half --resume -e 4 -q
  run 0 '' ./toy --out half2 -e 2 --schedule 4 -q
  run 0 '' ./toy_cpu --out half2 --resume -e 4 -q
  same "from processors to the device and back" half half2
  run 1 'step 7: loss is nan; training stops. bad/checkpoint.safetensors holds step 6' \
    env TOY_NAN_STEP=7 ./toy --out bad --save-every 3 -q
  run 1 'step 9: loss is nan; training stops. bad/checkpoint.safetensors holds step 6' \
    env TOY_NAN_STEP=9 ./toy --out bad --resume --save-every 9 -q
  run 1 "step 5, entry 'train' or the run before it: cannot launch a graph: CUDA_ERROR_ILLEGAL_ADDRESS" \
    env COUNTING_FAIL=cuGraphLaunch:6:700 ./toy --out fault --save-every 2 -q $alone
  run 0 '' ./toy --out fault --resume -q
  same "after a failure" one fault
  run 0 'computes on device 0 [(]Counting 0[)]: compute capability 9.0, 100 multiprocessors' ./toy info
  run 0 '"isa":"any","device":"Counting 0","device_text":"computes on device 0 .*,"kernels":[[]"sm_80","sm_90a"[]],"levels"' ./toy info --json
  run 0 '^kernels for sm_80, sm_90a; the host.s code for toy$' ./toy info
  run 0 '"device":null,"device_text":"computes on no device: ' env COUNTING_CAPABILITY=75 ./toy info --json
  run 0 'multiprocessors of 128 cores at 1000 MHz; .*[)], .* GB/s [(]copying' ./toy profile --steps 4
  run 0 '"threads":1' ./toy bench --steps 5 --warmup 1 -j1
  run 0 '"device":"Counting 0","device_text":"computes on device 0 .*"step_ms":' ./toy profile --steps 4 --json
  run 0 'It computes on device 0' ./toy profile --steps 4
  run 0 '"device":"Counting 0","device_text":"computes on device 0' ./toy bench --steps 4
  run 1 'device=3: this machine has one NVIDIA GPU' ./toy --device 3
  run 0 '\-\-device N' ./toy --help
  run 1 'is sm_75: nnc makes programs for sm_80' env COUNTING_CAPABILITY=75 ./toy bench
}
