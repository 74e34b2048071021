#!/usr/bin/env bash
# Golden diagnostics of elaborate mistakes, and the table of other frameworks' words after some of
# them.  Usage: tests/elaborate/run.sh BUILD
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../lib/golden.sh"
build=$(cd "$1" && pwd)
golden_folder "$build/bin/nnc" "$here/errors"

# What compiler/elaborate/core/synonyms.c suggests exists: docs/library.md (made of `nnc doc`) and the tables of docs/language.md have every function, argument, source, stage and key; and no word is one of ours already.
ours=$(grep -ohE '^(\| )?`[^`]*`( or `[^`]*`)?' "$here/../../docs/library.md" "$here/../../docs/language.md" | grep -oE '[a-z_][a-z_0-9]*' | sort -u)
table=$(grep -oE '\{"[a-z0-9_]+", "[a-z0-9 ]+"\}' "$here/../../compiler/elaborate/core/synonyms.c" | tr -d '{},' | tr -d '"')
rows=$(tr ' ' '\n' <<<"$table" | wc -l)
while read -r name words; do
  for word in $words; do
    if ! grep -qx -- "$name" <<<"$ours"; then echo "FAIL synonyms: '$word' suggests '$name', which does not exist"; failed=$((failed + 1))
    elif [ "$word" = "${name//_/}" ]; then echo "FAIL synonyms: '$word' is $name already"; failed=$((failed + 1))
    else passed=$((passed + 1)); fi
  done
done <<<"$table"
[ "$rows" -gt 200 ] || { echo "FAIL synonyms: the table was not read"; failed=$((failed + 1)); }

# Only a name in an expression asks for gradients as values; then evaluation keeps gradients of one's own.
# The word in a comment, a string or a longer name does not.
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
rules_in_evaluation() { # rules_in_evaluation FILE: how many the entries eval and eval_one have
  "$build/bin/nnc" "$1" --emit=ir --stop-after=mix | awk '/^entry |^graph /{eval = /eval/} eval && /own_gradient/' | wc -l
}
cp "$here/../../examples/own_gradient.net" "$work/plain.net"
{ cat "$work/plain.net"; echo '# grad(loss, x)'; echo 'grad_note = "grad"'; } > "$work/mentions.net"
{ cat "$work/plain.net"; echo 'length = sum(grad(sum(h), x) ^ 2)'; } > "$work/uses.net"
for case in "plain 0" "mentions 0" "uses 6"; do # two calls and a relu, in eval and in eval_one
  read -r name wanted <<<"$case"
  found=$(rules_in_evaluation "$work/$name.net" 2>/dev/null)
  if [ "$found" = "$wanted" ]; then passed=$((passed + 1))
  else echo "FAIL grad: $name.net has $found gradients of its own in evaluation, expected $wanted"; failed=$((failed + 1)); fi
done
golden_summary
