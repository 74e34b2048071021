#!/usr/bin/env bash
# Golden diagnostics of elaborate mistakes, and the table of other frameworks' words behind some of
# them.  Usage: tests/elaborate/run.sh BUILD
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/golden.sh"
golden_folder "$(cd "$1" && pwd)/bin/nnc" "$here/errors"

# What compiler/elaborate/core/synonyms.c suggests exists: the tables of docs/library.md (made of `nnc doc`) and
# docs/language.md have every function, argument, source, stage and key; and no word is one of ours already.
ours=$(grep -ohE '^\| `[^`]*`( or `[^`]*`)?' "$here/../../docs/library.md" "$here/../../docs/language.md" | grep -oE '[a-z_][a-z_0-9]*' | sort -u)
rows=$(grep -oE '\{"[a-z0-9]+", "[a-z0-9_]+"\}' "$here/../../compiler/elaborate/core/synonyms.c" | tr -d '{}," ' | wc -l)
while IFS=' ' read -r word name; do
  if ! grep -qx -- "$name" <<<"$ours"; then echo "FAIL synonyms: '$word' suggests '$name', which does not exist"; failed=$((failed + 1))
  elif [ "$word" = "${name//_/}" ]; then echo "FAIL synonyms: '$word' is $name already"; failed=$((failed + 1))
  else passed=$((passed + 1)); fi
done < <(grep -oE '\{"[a-z0-9]+", "[a-z0-9_]+"\}' "$here/../../compiler/elaborate/core/synonyms.c" | tr -d '{},' | tr -d '"')
[ "$rows" -gt 200 ] || { echo "FAIL synonyms: the table was not read"; failed=$((failed + 1)); }
golden_summary
