# What depends on order or time: threads in any order and a device as early or as late as it may be give the same bits;
# no two threads are at one place without a barrier between them.

# A program with every kind of kernel, by what its kernels call: where one is missing, kinds.net needs more.
kinds_are_there() {
  local text
  check "kernels of kinds.net" "$nnc" --target=cuda tests/cuda/kinds.net --scans=loop --emit=cuda -o "$here/kinds.cu"
  for text in left_part nnc_block_sum nnc_block_argmax nnc_block_max nnc_warp_sum nnc_warp_max nnc_sync_warp nnc_ballot \
    nnc_goes_before 'm0\[NNC_THREAD\]' nnc_random_uniform nnc_laps_begin 'l = 0; l < 4' 'best == place' '\(u0 \* K1 \+ u1\) \* K2' \
    'depth = NNC_THREAD; depth < K'; do
    check "kinds.net has $text" grep -qE "$text" "$here/kinds.cu"
  done
}

steps_of() { # MODEL TYPE OUT VARIABLE=VALUE...
  local out=$3; shift 3
  check "$model: $*" env "$@" "$here/model1" step --inputs "$here/inputs.safetensors" \
    --init "$here/start.safetensors" --steps 3 --seed 7 --quiet "$out"
}
same_in_all() { # MODEL [DEFINITIONS]
  local model=$1 order async
  [ $# -eq 1 ] || export AGREE_PLAIN=1 # with so few examples gradients are rounding, which Adam makes as large as any
  check "$model" env AGREE_OPTIONS="${cuda[*]} --scans=loop" AGREE_DEFINE="${2:-}" AGREE_SECOND=none \
    "$build/tests/agree" "$nnc" "$model" f32 3 "$here"
  for order in forward reverse shuffled; do
    for async in issue late others; do
      steps_of "$model" f32 "$here/$order.$async" NNC_EMULATOR_ORDER=$order NNC_EMULATOR_ASYNC=$async
      same_files "$model, $order, $async" "$here/forward.issue" "$here/$order.$async"
    done
  done
}

# Races are told by kernels that are compiled for it.
without_races() { # MODEL [DEFINITIONS]
  [ $# -eq 1 ] || export AGREE_PLAIN=1
  check "$1 without races" env NNC_EMULATOR_RACES=1 NNC_EMULATOR_FLAGS=-g1 AGREE_OPTIONS="${cuda[*]} --scans=loop" \
    AGREE_DEFINE="${2:-}" AGREE_SECOND=NNC_EMULATOR_ORDER=shuffled "$build/tests/agree" "$nnc" "$1" f32 2 "$here"
}
graphs_without_races() { # FLAGS...
  counted env NNC_EMULATOR_RACES=1 NNC_EMULATOR_FLAGS="-O0 -g0" "$build/tests/fuzz_graphs" --stage c --target cuda \
    --build "$build" --work "$here" --jobs 1 --batch 16 --cflags -O0 "$@"
}

part_orders() {
  local few=6
  [ -z "$is_long" ] || few=500
  job "kinds of kernels" kinds_are_there
  job "orders of kinds.net" same_in_all tests/cuda/kinds.net
  job "races in kinds.net" without_races tests/cuda/kinds.net
  job "races in recurrent.net" without_races tests/agree/programs/recurrent.net
  job "races in graphs" graphs_without_races --from 13001 --count $few
  [ -n "$is_long" ] || return 0
  job "orders of a GPT" same_in_all models/gpt.net "batch=1 time=8 layers=1 width=16"
  job "races in gpt.net" without_races models/gpt.net "batch=1 time=8 layers=1 width=16"
  job "races in mnist_cnn.net" without_races models/mnist_cnn.net batch=2
  job "races in channels.net" without_races tests/cuda/channels.net batch=2
}
