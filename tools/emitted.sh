#!/usr/bin/env bash
# Writes a line with a checksum for each thing that nnc writes about each model and example, so that two
# compilers can be compared byte for byte:
#
#   tools/emitted.sh [--memory] BUILD [PATTERN] > before     ...change the compiler...
#   tools/emitted.sh [--memory] BUILD [PATTERN] > after      diff before after
#
# Of each program whose path matches PATTERN (extended regular expression): the C (as usual, -O0,
# --scans=loop, in bf16, in f64, with checked indices), the Program, the Module after every pass, the
# graph, the reports, and what `nnc check` and `nnc fmt` say.  Messages and statuses are part of what
# is compared.  --memory adds the C within 70 % and 45 % of the memory of each model, whose search takes
# ten times as long as all the rest.
set -uo pipefail
cd "$(dirname "$0")/.."
with_memory=no
[ "$1" = --memory ] && { with_memory=yes; shift; }
prefix=$(realpath "$1")
nnc=$prefix/bin/nnc pattern=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export nnc prefix work with_memory

# sums FILE: the lines of one program.
sums() {
  local file=$1 base bytes bf16
  base=$work/$(echo "$file" | tr / _)
  line() { # line NAME ARGUMENT...
    local name=$1 status=0
    shift
    "$nnc" "$@" > "$base.out" 2> "$base.err" || status=$?
    echo "$file $name $status $(cat "$base.out" "$base.err" | sed "s#$work/##g; s#$prefix#PREFIX#g" | sha256sum | cut -c1-24)"
  }
  # The same program with mixed precision, beside the original so that relative paths hold.
  bf16=$(dirname "$file")/.bf16_$(basename "$file")
  sed '0,/^ *train.*{/s//&\n  precision = bf16/' "$file" > "$bf16"
  line c "$file" --emit=c
  line c-O0 "$file" --emit=c -O0
  line c-loop "$file" --emit=c --scans=loop
  line c-f64 "$file" --emit=c --float=f64
  line c-check-indices "$file" --emit=c --check-indices
  line program "$file" --emit=program
  line program-O0 "$file" --emit=program -O0
  line ir "$file" --emit=ir
  line dot "$file" --emit=dot
  line passes "$file" --dump-after=all
  line report "$file" --report
  line report-json "$file" --report=json
  bytes=$(grep -o '"arena_bytes": *[0-9]*' "$base.out" | grep -o '[0-9]*$' | head -1)
  if [ $with_memory = yes ] && [ -n "$bytes" ] && [[ $file == models/* ]]; then # examples cannot take less
    line c-memory-70 "$file" --emit=c --memory-limit="$((bytes / 100 * 70))"
    line c-memory-45 "$file" --emit=c --memory-limit="$((bytes / 100 * 45))"
  fi
  "$nnc" "$bf16" --emit=c > "$base.out" 2> "$base.err"
  echo "$file c-bf16 $? $(cat "$base.out" "$base.err" | sed "s#$prefix#PREFIX#g" | sha256sum | cut -c1-24)"
  rm -f "$bf16"
  line check check "$file"
  cp "$file" "$base.net"
  line fmt fmt --check "$base.net"
}
export -f sums

find models examples -name '*.net' -not -name '.bf16_*' | grep -E -- "$pattern" | LC_ALL=C sort |
  xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'sums "$1"' _ {} | LC_ALL=C sort
for words in doc --help --help-passes; do echo "nnc $words $("$nnc" $words 2>&1 | sha256sum | cut -c1-24)"; done
