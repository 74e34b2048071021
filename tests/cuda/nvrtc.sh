# Models compile: all by the stand-in for NVRTC; by NVRTC itself, where it is installed, for sm_80, sm_90a and sm_120,
# and, where ptxas is too, their PTX assembles without spills. In CI those that compile in seconds.

ptxas=$(command -v ptxas || { [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] && echo "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas"; })

by_stand_in() { check "$1 compiles for the emulator" "$nnc" "${cuda[@]}" "$1" -o "$here/m"; }

has_nvrtc() { env -u NNC_NVRTC "$nnc" --target=cuda --arch=sm_80 models/logistic.net -o "$work/logistic" >/dev/null 2>&1; }

# The images lie in the executable one after the other; PTX is text that ends with a 0.
compiled() { # MODEL
  local text image name=$1
  check "$name by NVRTC" env -u NNC_NVRTC "$nnc" --target=cuda --arch=sm_80,sm_90a,sm_120,compute_90 "$name" -o "$here/m"
  [ -n "$ptxas" ] || return
  python3 tests/cuda/ptx.py "$here/m" "$here"
  for text in "$here"/*.ptx; do
    image=$("$ptxas" -v -arch=sm_90a "$text" -o "$here/cubin" 2>&1) || { fail "$name: PTX does not assemble: ${image:0:500}"; continue; }
    if grep -E '[1-9][0-9]* bytes spill' <<<"$image"; then fail "$name has spills"; else ok; fi
  done
}

part_nvrtc() {
  local model models=(models/{iris,mnist,lenet,gpt,ntm}.net examples/{copy,own_layer}.net) real=(models/{iris,mnist_cnn}.net)
  if [ -n "$is_long" ]; then models=(models/*.net examples/*.net) real=("${models[@]}" tests/cuda/channels.net); fi
  for model in "${models[@]}"; do job "$model for the emulator" by_stand_in "$model"; done
  if ! has_nvrtc; then
    echo "NVRTC is not installed: nothing is compiled for sm_80, sm_90a and sm_120"
    return
  fi
  [ -n "$ptxas" ] || echo "ptxas is not installed: spills are not looked for"
  for model in "${real[@]}"; do job "$model by NVRTC" compiled "$model"; done
}
