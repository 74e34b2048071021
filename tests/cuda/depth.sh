# Products whose depth is made in pieces (depth.net): against the interpreter, in order and shuffled, which give the
# same bits; without races. Models whose products are large enough take minutes in the emulator.

# Pieces of convolutions and, by their domains, of contractions.
pieces_are_there() { # FLAGS...
  local text
  check "the Program of depth.net" "$nnc" --target=cuda tests/cuda/depth.net --emit=program "$@" -o "$here/program"
  for text in 'pieces 16' 'n 16, c 8, k 16, groups 2' 'domain i0 < 40, i1 < 3, i2 < 9, i3 < 10' \
    'domain i0 < 8, i1 < 12, i2 < 20' 'domain i0 < 64, i1 < 16, i2 < 24'; do
    check "depth.net has $text" grep -q "$text" "$here/program"
  done
}
depth_in() { # TYPE
  check "depth.net in $1" env AGREE_OPTIONS="${cuda[*]}" \
    AGREE_SECOND="NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_ASYNC=late" \
    "$build/tests/agree" "$nnc" tests/cuda/depth.net "$1" 2 "$here"
}
depth_without_races() {
  check "depth.net without races" env NNC_EMULATOR_RACES=1 NNC_EMULATOR_FLAGS=-g1 AGREE_OPTIONS="${cuda[*]}" \
    AGREE_SECOND=NNC_EMULATOR_ORDER=shuffled "$build/tests/agree" "$nnc" tests/cuda/depth.net f32 1 "$here"
}

part_depth() {
  local type
  job "pieces of depth.net" pieces_are_there
  for type in f32 ${is_long:+f64 bf16 f16}; do job "depth.net in $type" depth_in $type; done
  [ -z "$is_long" ] || job "races in depth.net" depth_without_races
}
