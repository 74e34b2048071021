# Models compile: all by the stand-in for NVRTC; by NVRTC itself, where it is installed, for sm_80, sm_90a and sm_120
# without spills, and, where ptxas is too, their PTX assembles. In CI those that compile in seconds.
#
# For sm_120 NVRTC 13.0 lets blocks of 1,024 threads spill a few registers, whatever it is told.

ptxas=$(command -v ptxas || { [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] && echo "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas"; })

by_stand_in() { check "$1 compiles for the emulator" env "$quick_kernels" "$nnc" "${cuda[@]}" "$1" -o "$here/m"; }

has_nvrtc() { env -u NNC_NVRTC "$nnc" --target=cuda --arch=sm_80 models/logistic.net -o "$work/logistic" >/dev/null 2>&1; }

# What the assembler says of each kernel: "ARCHITECTURE KERNEL BYTES", of what it stores and loads.
spills() { # LOG
  awk '/Compiling entry function/ { gsub("\047", ""); kernel = $(NF - 2); arch = $NF }
       / bytes spill stores/ { sub(/.* frame, /, ""); print arch, kernel, $1 + $5 }' "$1"
}

# compiled MODEL [OPTION...]. The images lie in the executable one after the other; PTX is text that ends with a 0.
compiled() {
  local name="$*" arch large found text message said=
  if ! env -u NNC_NVRTC "$nnc" --no-cache --verbose --jobs=1 --target=cuda --arch=sm_80,sm_90a,sm_120,compute_90 \
    "$@" -o "$here/m" >"$here/log" 2>&1; then
    fail "$name by NVRTC: $(tail -c 600 "$here/log")"
    return
  fi
  "$nnc" --target=cuda --emit=cuda "$@" -o "$here/m.cu" 2>/dev/null
  large=$(sed -n 's/^NNC_KERNEL(1024) \([A-Za-z0-9_]*\)(.*/\1/p' "$here/m.cu")
  spills "$here/log" >"$here/spills"
  for arch in sm_80 sm_90a sm_120; do
    found=$(awk -v "arch=$arch" -v "large= ${large//$'\n'/ } " '$1 != arch { next } { count++ }
      $3 > 0 && arch == "sm_120" && index(large, " " $2 " ") { known++; next } $3 > 0 { many = many " " $2 ":" $3 }
      END { print count + 0, known + 0, many }' "$here/spills")
    set -- $found
    said="$said $arch $1 kernels, $(($# - 2 + $2)) spill;"
    if [ "$1" -gt 0 ] && [ $# -eq 2 ]; then ok; else fail "$name for $arch, of $1 kernels spill: ${*:3}"; fi
  done
  [ -z "$is_long" ] || echo "$name:$said"
  [ -n "$ptxas" ] || return
  python3 tests/cuda/ptx.py "$here/m" "$here"
  for text in "$here"/*.ptx; do
    message=$("$ptxas" -O1 -arch=sm_90 "$text" -o "$here/cubin" 2>&1) && ok ||
      fail "$name: PTX does not assemble: ${message:0:500}"
  done
}

part_nvrtc() {
  local model models=(models/lenet.net examples/own_layer.net) real=(models/iris.net)
  if [ -n "$is_long" ]; then
    models=(models/*.net examples/*.net) real=("${models[@]}" tests/cuda/{channels,kinds}.net)
  fi
  for model in "${models[@]}"; do
    chosen "$model" && job "$model for the emulator" by_stand_in "$model"
  done
  if ! has_nvrtc; then
    echo "NVRTC is not installed: nothing is compiled for sm_80, sm_90a and sm_120"
    return
  fi
  [ -n "$ptxas" ] || echo "ptxas is not installed: PTX is not assembled"
  for model in "${real[@]}"; do
    chosen "$model" && job "$model by NVRTC" compiled "$model"
  done
  [ -n "$is_long" ] || return
  for model in gpt gpt2 mnist_cnn resnet50 mobilenet_v2; do
    chosen "$model" && for type in bf16 tf32; do
      job "$model in $type by NVRTC" compiled "models/$model.net" -D train.precision=$type
    done
  done
}
