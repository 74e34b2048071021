# For suites on the stand-ins for NVRTC and the CUDA driver (tests/cuda_emulator), after `build` was set: ends the suite
# where there is no compiler for the emulator.

if ! command -v clang++ >/dev/null && ! command -v g++ >/dev/null && [ -z "${NNC_EMULATOR_CXX:-}" ]; then
  echo "skipped: the emulator of CUDA needs a C++ compiler (clang++ or g++)"
  echo "0 passed, 0 failed"
  exit 0
fi
export NNC_LIBCUDA=$build/tests/cuda_emulator/libcuda.so.1
# For programs that run for an instant, of which compiling would be nearly all of the time: what is for the processor,
# and kernels, without optimization; faults in these name no lines.
quick="--cflags=-O0 --units=1"
quick_kernels=NNC_EMULATOR_FLAGS="-O0 -g0"
# emulated COMMAND...: nnc takes the stand-in for NVRTC; else the one that is installed.
emulated() { NNC_NVRTC=$build/tests/cuda_emulator/libnvrtc.so.13 "$@"; }

# step PROGRAM FILE: one step of a program without inputs, in a folder with none.safetensors (make_no_inputs).
make_no_inputs() { printf '\x08\0\0\0\0\0\0\0{}      ' > none.safetensors; }
step() { "$1" step --inputs none.safetensors --steps 1 --quiet "$2"; }
