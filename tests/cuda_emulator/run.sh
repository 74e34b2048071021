#!/usr/bin/env bash
# The stand-ins for NVRTC and the CUDA driver, with which nnc and its programs run unmodified, without a GPU or a
# toolkit:
#
#   NNC_NVRTC=build/tests/cuda_emulator/libnvrtc.so.13 nnc --target=cuda model.net -o model
#   NNC_LIBCUDA=build/tests/cuda_emulator/libcuda.so.1 ./model
#
# What else they are told by the environment is said at the head of nvrtc.c (compiler, races) and of driver_device.c
# (order of the threads, how late the device works, failures).
#
# Here: right kernels and right use of the driver give right values in every order of threads and however late the
# device works, and each seeded mistake is caught (check.c).  Usage: tests/cuda_emulator/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
source tests/lib/emulator.sh
emulator=$build/tests/cuda_emulator
export NNC_NVRTC=$emulator/libnvrtc.so.13
run="$emulator/check"

for order in forward reverse shuffled; do
  for async in issue late others; do
    for list in "right all" "host most"; do
      check "$list, $order, $async" env NNC_EMULATOR_ORDER=$order NNC_EMULATOR_ASYNC=$async "$run" $list
    done
  done
done
for compiler in clang++ g++; do
  command -v $compiler >/dev/null || continue
  for races in 0 1; do
    check "right kernels, $compiler, races $races" env NNC_EMULATOR_CXX=$compiler NNC_EMULATOR_RACES=$races "$run" right all
  done
done
check "images for other devices" "$run" host images
check "texts that do not compile" "$run" host compile_errors
check "a failing kernel" env NNC_EMULATOR_FAIL=kernel:3:719 "$run" host fails
check "a failing launch" env NNC_EMULATOR_FAIL=cuLaunchKernel:2:719 "$run" host fails
check "a failing kernel, late" env NNC_EMULATOR_FAIL=kernel:3:719 NNC_EMULATOR_ASYNC=late "$run" host fails
check "memory that is not there" env NNC_EMULATOR_FAIL=cuMemAlloc_v2:2:2 "$run" host has_no_memory

# caught NAME PATTERN [VARIABLE=VALUE...]: the seeded mistake is found by the emulator, or its values are wrong.
caught() {
  local name=$1 pattern=$2 status=86; shift 2
  [[ $pattern == "wrong value"* ]] && status=1
  check_status "seeded $name $*" $status "$pattern" env "$@" "$run" seeded "$name"
}
# missed NAME [VARIABLE=VALUE...]: it is not, where the device happens to do what was hoped for.
missed() { local name=$1; shift; check "seeded $name $*" env "$@" "$run" seeded "$name"; }

for order in forward reverse shuffled; do
  with=NNC_EMULATOR_ORDER=$order
  caught missing_barrier "wrong value" $with
  caught missing_second_barrier "wrong value" $with
  caught missing_warp_barrier "wrong value" $with
  caught not_stored "wrong value" $with
  caught divergent_barrier "32 of 64 have ended; 32 threads wait at a barrier \(seeded.cu:[0-9]+\)" $with
  caught different_barriers "at different barriers: seeded.cu:[0-9]+ and seeded.cu:[0-9]+" $with
  caught early_return "4 of 64 have ended; 60 threads wait at a barrier" $with
  caught half_a_warp "(has ended while|have ended before) .*seeded.cu" $with
  caught different_shuffles "lanes of a warp are at different operations" $with
  caught shuffle_and_barrier "16 lanes of warp 0 wait in an operation of the warp .*32 threads wait at a barrier" $with
  caught never_opens "wait forever" $with
done
missed between_blocks
caught between_blocks "wrong value" NNC_EMULATOR_ORDER=reverse

caught store_past_end "kernel store_at, block 0, thread 63: .* 0 bytes past the end of device memory of 1024 bytes"
caught store_in_edge "kernel store_at stored past the end of memory of 1000 bytes"
caught store_before "kernel store_at stored before memory of 1024 bytes"
caught store_far_before "280 bytes before device memory of 4096 bytes"
caught load_past_end "0 bytes past the end of device memory of 1024 bytes"
caught past_the_tile "an index outside of its array"
caught misaligned "not a multiple of its type's alignment"
caught divide "division by zero"
caught freed "byte [0-9]+ of freed memory"
caught freed "byte [0-9]+ of freed memory" NNC_EMULATOR_ASYNC=late
caught host_address "argument 0 of kernel store_at is an address of the host"
caught host_touches_device "the host touched memory of the device"
caught part_of_a_warp "48 threads are no whole warps"

for name in missing_barrier missing_second_barrier missing_warp_barrier between_blocks same_place; do
  for order in forward shuffled; do
    caught $name "race: .*seeded.cu:[0-9]+.* by block [01], thread [0-9]+" NNC_EMULATOR_RACES=1 NNC_EMULATOR_ORDER=$order
  done
done
caught past_the_pointer "(write|read) of 4 bytes at .*memory of no array of the block" NNC_EMULATOR_RACES=1

for name in reads_too_early writes_too_early forgets_event overtakes_kernel forgets_branch; do
  missed $name NNC_EMULATOR_ASYNC=issue
  caught $name "wrong value" NNC_EMULATOR_ASYNC=late
done
for async in issue late others; do
  caught stale_scalar "wrong value" NNC_EMULATOR_ASYNC=$async
  caught argument_after_capture "wrong value" NNC_EMULATOR_ASYNC=$async
done
summary
