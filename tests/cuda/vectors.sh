# Reference vectors (tests/vectors) through executables of CUDA, at the tolerances of all targets. In CI some of the
# groups, which together have every kind of kernel.

vector_group() { counted env "$quick_kernels" VECTORS_OPTIONS="${cuda[*]}" bash tests/vectors/run.sh "$build" "$1"; }

part_vectors() {
  local group groups=(axes integers optimizers running sixteen)
  [ -z "$is_long" ] || groups=($(cd tests/vectors && ls *.net | sed 's/\.net$//'))
  for group in "${groups[@]}"; do job "vectors of $group" vector_group "$group"; done
}
