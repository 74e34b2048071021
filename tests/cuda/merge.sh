# Launches that are made one (merge.net): against the interpreter, in order and shuffled, which give the same bits;
# without races. Every other program of the suite has some, too.

merges_are_there() {
  local text
  check "merge.net as CUDA" "$nnc" --target=cuda tests/cuda/merge.net --scans=loop --emit=cuda -o "$here/merge.cu"
  for text in 'words.at \+ [0-9]+;' 'words.at \+ [0-9]+ \+ block / ' 'NNC_KERNEL.256. net_merged_2' \
    'nnc_cuda_part.worker, 2, 2[0-9]'; do
    check "merge.net has $text" grep -qE "$text" "$here/merge.cu"
  done
}
merged_in() { # TYPE VARIABLE...
  local type=$1; shift
  check "merge.net in $type" env AGREE_OPTIONS="${cuda[*]} --scans=loop" \
    AGREE_SECOND="NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_ASYNC=late" "$@" \
    "$build/tests/agree" "$nnc" tests/cuda/merge.net "$type" 2 "$here"
}

part_merge() {
  local type
  job "launches of merge.net" merges_are_there
  for type in ${is_long:+f64 bf16}; do job "merge.net in $type" merged_in $type; done
  job "races in merge.net" merged_in f32 NNC_EMULATOR_RACES=1 NNC_EMULATOR_FLAGS=-g1
}
