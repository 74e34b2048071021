# Products by cuBLASLt (--gemm=cublaslt), of which the emulator has a stand-in: it computes what it is told, in double.

export NNC_CUBLASLT=$build/tests/cuda_emulator/libcublasLt.so.13

agree_with_library() { # TYPE MODEL [DEFINITIONS]
  check "products by a library in $1: $2 ${3:-}" env "$quick_kernels" AGREE_OPTIONS="${cuda[*]} --gemm=cublaslt" AGREE_DEFINE="${3:-}" \
    AGREE_SECOND="NNC_EMULATOR_ORDER=shuffled NNC_EMULATOR_ASYNC=late" \
    "$build/tests/agree" "$nnc" "$2" "$1" 4 "$here"
}

# What the executable says and does with and without the library.
library_commands() {
  local net=tests/cuda/products.net with=$here/with run=(bench --steps 2) count
  check "compiles" "$nnc" "${cuda[@]}" --gemm=cublaslt "$net" -o "$with"
  check_status "info names it" 0 'products by cuBLASLt where it is found' "$with" info
  check_status "its products" 0 'cuBLASLt: [1-9][0-9]* products' env NNC_EMULATOR_STATISTICS=1 "$with" "${run[@]}"
  check_status "no library" 0 'warning: NNC_CUBLASLT names /nowhere/lib.so: .*: kernels of nnc.s compute' \
    env NNC_CUBLASLT=/nowhere/lib.so "$with" "${run[@]}"
  check_status "another library" 0 'warning: cuBLASLt has no cublasLtCreate' \
    env NNC_CUBLASLT="$NNC_NVRTC" "$with" "${run[@]}"
  check_status "none is installed" 0 'warning: .*(libcublasLt.so.12 was not found|cuBLASLt .*cannot start)' \
    env -u NNC_CUBLASLT LD_LIBRARY_PATH=/nowhere "$with" "${run[@]}"
  check_status "it cannot start" 0 'warning: cuBLASLt .*libcublasLt.so.13. cannot start: the library was not initialized' \
    env NNC_EMULATED_CUBLASLT=broken "$with" "${run[@]}"
  check_status "it has no algorithms" 0 'warning: cuBLASLt has no algorithm for ([0-9]+) of \1 products' \
    env NNC_EMULATED_CUBLASLT=refuse "$with" "${run[@]}"
  check_status "it fails" 1 "error: cuBLASLt cannot compute the product '.*': the GPU program failed to execute" \
    env NNC_EMULATED_CUBLASLT=fail "$with" "${run[@]}"
  check_status "no memory for it" 0 'warning: the device has no 32 MB for cuBLASLt' env NNC_EMULATOR_MEMORY=20000000 "$with" "${run[@]}"
  check_status "for the processor" 2 'gemm is for --target=cuda' "$nnc" --gemm=cublaslt "$net" -o "$here/c"
  check "our own kernels, by name" cmp <("$nnc" --emit=cuda --gemm=own "$net" -o - | tail -n +20) \
    <("$nnc" --emit=cuda "$net" -o - | tail -n +20)
}

# NVIDIA's header, where it is installed, has the numbers that we use.
library_numbers() {
  local include=${CUDA_HOME:-/usr/local/cuda}/include compiler
  if [ ! -f "$include/cublasLt.h" ]; then
    echo "skipped: the numbers of cuBLASLt need its header, cublasLt.h"
    ok
    return
  fi
  compiler=$(command -v clang++ || command -v g++)
  check "numbers of cublasLt.h" "$compiler" -std=c++17 -fsyntax-only -w -I "$include" -I runtime tests/cuda/cublaslt_numbers.cpp
}

part_library() {
  job "numbers of cuBLASLt" library_numbers
  job "a library's commands" library_commands
  for type in f32 bf16 f16; do job "a library in $type" agree_with_library $type tests/cuda/products.net; done
  job "a library in tf32" agree_with_library f32 tests/cuda/products.net train.precision=tf32
}
