#!/usr/bin/env bash
# The patches of docs/architecture.md, "How to add": they apply, touch as few files as the page says, and
# what they add works, against values that Python computes.  Usage: tests/how_to_add/run.sh BUILD
#
# A patch is a block fenced by ```diff NAME. All are applied to one copy of the sources in
# BUILD/how_to_add, which is built there without optimization. The runtime's library is BUILD's, since no patch
# touches it. The copy stays, so that a second run compiles only what has changed since. NAME.net is a program that
# uses what NAME adds; NAME.py makes its data, runs its executable and judges what that predicts.
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
root=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
copy=$build/how_to_add/source # with the patches, as it is built
new=$work/source              # with the patches, as it should be

# patch_of NAME: the block's text.
patch_of() { awk -v fence="\`\`\`diff $1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' docs/architecture.md; }

# touches NAME COUNT: the patch applies, and to as many files.
touches() {
  patch_of "$1" > "$work/$1.patch"
  check "the patch '$1' applies" patch -d "$new" -p1 -F1 --no-backup-if-mismatch -i "$work/$1.patch"
  local files; files=$(grep -c '^+++ ' "$work/$1.patch")
  if [ "$files" -eq "$2" ]; then ok; else fail "the patch '$1' touches $files files, not $2"; fi
}

# Files that are as they were keep their times.
renew_copy() {
  local file
  mkdir -p "$copy"
  (cd "$copy" && find . -type f) | while IFS= read -r file; do [ -e "$new/$file" ] || rm "$copy/$file"; done
  (cd "$new" && find . -type f) | while IFS= read -r file; do
    cmp -s "$new/$file" "$copy/$file" || { mkdir -p "$(dirname "$copy/$file")" && cp "$new/$file" "$copy/$file"; }
  done
}

build_copy() {
  local setting; setting=$(grep -E '^CMAKE_C_COMPILER(_LAUNCHER)?:' "$build/CMakeCache.txt" | sed 's/^/-D/')
  # shellcheck disable=SC2086  # the settings are words
  cmake -S "$copy" -B "$build/how_to_add/build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DNNC_TESTS=OFF $setting &&
    cmake --build "$build/how_to_add/build" --target nnc -j "$(nproc)" &&
    mkdir -p "$build/how_to_add/build/lib/nnc" && ln -sf "$build"/lib/nnc/libnncrt.a "$build/how_to_add/build/lib/nnc"
}

# try NAME: its program's gradients, and what its executables of -O1 and -O0 predict.
try() {
  check "$1: gradients" "$nnc" "$root/tests/how_to_add/$1.net" --check-gradients
  local level
  for level in -O1 -O0; do
    check "$1 $level: compiles" "$nnc" "$root/tests/how_to_add/$1.net" $level -o "$work/$1"
    check "$1 $level: predicts" python3 "$root/tests/how_to_add/$1.py" "$work/$1"
  done
}

mkdir -p "$new"
cp -R CMakeLists.txt compiler runtime codegen_templates tools "$new" || exit 2
touches operator 3
touches kernel 4
touches kernel_use 1
check "the runtime's library is the same" diff -rq --exclude=abi runtime "$new/runtime"
renew_copy
check "the patched sources build" build_copy
[ "$failed" -eq 0 ] || { summary; exit 1; }
nnc=$build/how_to_add/build/bin/nnc
cd "$work" || exit 2
try operator
check_status "the program has the kernel" 0 ' gather_rows' "$nnc" "$root/tests/how_to_add/kernel.net" --emit=program
check "the dump of its plan resumes to the same C" bash -c "'$nnc' '$root/tests/how_to_add/kernel.net' --dump-after=plan >plan.dump &&
  '$nnc' plan.dump --resume-after=plan --emit=c >resumed.c && '$nnc' '$root/tests/how_to_add/kernel.net' --emit=c | cmp - resumed.c"
try kernel
summary
