#!/usr/bin/env bash
# Formats the C sources by .clang-format, with clang-format 14: other versions break lines elsewhere.
#
#   scripts/format.sh            formats in place
#   scripts/format.sh --check    changes nothing; status 1 and the places where something would change,
#                                status 77 after a line on stderr where there is no clang-format 14
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=
for candidate in clang-format-14 clang-format; do
  case $("$candidate" --version 2>/dev/null) in *"version 14."*) formatter=$candidate; break ;; esac
done
if [ -z "$formatter" ]; then
  echo "format: there is no clang-format 14 (apt-get install clang-format-14)" >&2
  exit 77
fi

action=(-i)
[ "${1:-}" = --check ] && action=(--dry-run --Werror)
find compiler runtime tests tools bench -name '*.[ch]' -not -path '*/build/*' -print0 |
  xargs -0 -P "$(nproc)" -n 16 "$formatter" "${action[@]}"
