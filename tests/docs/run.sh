#!/usr/bin/env bash
# What the pages of docs/ and models/README.md show is true: their programs compile and their commands
# run.  Usage: tests/docs/run.sh BUILD
#
# A fenced block is checked by the words after its fence:
#   net, net NAME.net     a whole program, for `nnc check`
#   net fragment          the same after the lines of tests/docs/harness.net
#   net [fragment] refused   must be refused; the first line, a comment, quotes the message
#   sh run                commands, run in a folder that has models/*.net, the fragments' data and
#                         generated digits in data/digits; a line "# prints: TEXT" wants TEXT in the
#                         output of the commands above it
#   sh tutorial, text prints, net recipe...    for tests/tutorials, which runs them
#   sh                    commands that take long: of `nnc FILE.net ...` FILE.net is checked
#   diff NAME             a patch, which tests/how_to_add applies
#   lua, elisp, toml      settings of editors (docs/editors.md)
# Examples of `nnc doc` stand after the lines of tests/docs/examples.net.
# A sentence that says what an expression gives says it with `_ = assert(...)`, so it is checked too.
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
nnc=$build/bin/nnc
root=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
sandbox=$work/sandbox

# blocks FILE FOLDER: each fenced block as FOLDER/NNN.KIND, KIND the words with '-', NNN its line.
blocks() {
  awk -v folder="$2" '
    !inside && /^```[a-z]/ { kind = substr($0, 4); gsub(/ +/, "-", kind); inside = 1
                             file = sprintf("%s/%04d.%s", folder, NR, kind); printf "" > file; next }
    inside && /^```/ { inside = 0; close(file); next }
    inside { print > file }' "$1"
}

check_program() { # NAME FILE REFUSED
  local output status message
  output=$("$nnc" check "$2" 2>&1); status=$?
  if [ -z "$3" ]; then
    if [ $status -eq 0 ]; then ok; else fail "$1: exit status $status: ${output:0:1500}"; fi
    return
  fi
  message=$(grep -m 1 '^# error: ' "$2" | sed 's/^# error: //')
  if [ $status -ne 1 ]; then fail "$1: exit status $status instead of 1: ${output:0:1500}"
  elif [ -z "$message" ] || ! grep -qF -- "$message" <<<"$output"; then fail "$1: '$message' is not in: ${output:0:1500}"
  else ok; fi
}

run_commands() { # NAME FILE: in $sandbox
  local line output="" all status
  while IFS= read -r line; do
    if [[ $line == "# prints: "* ]]; then
      if grep -qF -- "${line#\# prints: }" <<<"$output"; then ok; else fail "$1: '${line#\# prints: }' is not in: ${output:0:1500}"; fi
    elif [[ -n $line && $line != "#"* ]]; then
      output=$(cd "$sandbox" && PATH=$build/bin:$PATH timeout 300 bash -c "$line" 2>&1 </dev/null); status=$?
      if [ $status -eq 0 ]; then ok; else fail "$1: '$line' ends with $status: ${output:0:1500}"; fi
    fi
  done < "$2"
}

check_commands() { # NAME FILE: programs that it compiles
  local file
  for file in $(grep -oE '\bnnc +[^ ]+\.net' "$2" | awk '{print $2}'); do
    if [ -f "$file" ] || [ -f "models/$file" ] || grep -qE "^\`\`\`net (recipe )?$file$" "${1%:*}"; then ok
    else fail "$1: there is no $file"; fi
  done
}

make_sandbox() {
  mkdir -p "$sandbox/data" && cp models/*.net examples/*.net "$sandbox" || return 1
  "$build/bin/nnc-digits" "$sandbox/data/digits" --train 400 --test 100 >/dev/null 2>&1
}

check "a folder for the commands" make_sandbox
for page in docs/*.md models/README.md; do
  folder=$work/$(basename "$page").blocks
  mkdir -p "$folder"
  blocks "$page" "$folder"
  for file in "$folder"/*; do
    [ -f "$file" ] || continue
    line=$(basename "$file"); kind=${line#*.}; line=${line%%.*}
    name="$page:$((10#$line))"
    refused=""; [[ $kind == *refused* ]] && refused=1
    case $kind in
      net-recipe*|sh-tutorial|text-prints) ;; # tests/tutorials
      net|net-refused|net-*.net) cp "$file" "$work/block.net"; check_program "$name" "$work/block.net" "$refused" ;;
      net-fragment*) cat tests/docs/harness.net "$file" > "$work/block.net"; check_program "$name" "$work/block.net" "$refused" ;;
      sh-run) run_commands "$name" "$file" ;;
      sh) check_commands "$name" "$file" ;;
      text|json|c|cuda|lua|elisp|python|toml|diff-*) ;; # patches: tests/how_to_add
      *) fail "$name: unknown kind of block '$kind'" ;;
    esac
  done
done

# ---- every entry of `nnc doc` has an example, and it compiles: statements, or the optimizer of a train block ----
# A name may have two entries, as `split` has: the second time it is met, its second example is meant.
example() { # NAME NUMBER
  "$nnc" doc "$1" | awk -v number="$2" '/^ +Example: / && ++count == number { sub(/^ +Example: /, ""); print }'
}
# A data set feeds every input of examples.net; an example shows those that matter.
with_all_inputs() { # LINE
  local line=$1 names="" files="" name stages
  for name in x label image sequence video words; do
    grep -qE "[{,;] *$name *[,=]" <<<"$line" || { names+=", $name"; files+=", \"$name.npy\""; }
  done
  stages=$(grep -oE '\| (split|fold|shuffle)\([^)]*\)' <<<"$line")
  [ -z "$names" ] || [[ $line == "data predict "* ]] && { echo "$line"; return; } # which needs some alone
  if [[ $line == *" = npy("* ]]; then # further arrays of the same line, which its stages choose rows of as well
    sed "s/ = npy(\([^)]*\))/$names = npy(\1$files)/" <<<"$line"
    return
  fi
  echo "${line% \}}; ${names#, } = npy(${files#, }) $stages }"
}
declare -A met=()
for name in $("$nnc" doc --internal | awk '/^  / { print $1 }'); do
  met[$name]=$((${met[$name]:-0} + 1))
  line=$(example "$name" "${met[$name]}")
  if [ -z "$line" ]; then fail "nnc doc $name has no example"; continue; fi
  if ! grep -qE "(^|[^a-z_0-9])$name([^a-z_0-9]|\$)" <<<"$line"; then fail "the example of $name does not name it: $line"; fi
  [[ $line == "optimizer = "* ]] &&
    line="train { minimize = mse(linear(x, 16, name = \"h\"), x), steps = 9, $line }"
  [[ $line == "data "* ]] && line=$(with_all_inputs "$line")
  cat tests/docs/examples.net > "$work/block.net"
  [[ $line == *price* ]] || sed -i '/price/d' "$work/block.net" # a second line of data train, with which not all examples go
  [[ $line == "data train "* ]] && sed -i '/^data train/,/^}/d' "$work/block.net" # it stands for that
  echo "$line" >> "$work/block.net"
  check_program "the example of $name" "$work/block.net" ""
done

# ---- words that the tables of the pages name ----
words() { # PAGE: those that begin a row after a line of |---, and the calls that begin an item of a list
  awk '/^- `[a-z_]+[(`]/ { sub(/: .*/, ""); sub(/ \((one|two|three|any|up to) .*/, ""); sub(/ \((one|two|three|any)\).*/, ""); print }
       /^\|---/ { inside = 1; next } !/^\|/ { inside = 0 }
       inside { split($0, cells, "|"); print cells[2]; if (cells[2] ~ /^ *$/ || train) print cells[3] }
       /^## Train/ { train = 1 } /^## Definers/ { train = 0 }' "$1" |
    grep -oE '`[a-z_]+[`( ]' | tr -d '`( ' | sort -u
}
known=" $("$nnc" doc | awk '/^  / { print $1 }' | tr '\n' ' ') "
for word in $(sed -n '/^## Sources/,/^## Shuffling/p' docs/data.md > "$work/data.md"; words "$work/data.md") \
            $(sed -n '/^## Statements/,/^## Values/p' docs/language.md > "$work/statements.md"; words "$work/statements.md") \
            $(sed -n '/^## Train/,/^## Definers/p' docs/language.md > "$work/train.md"; words "$work/train.md"); do
  case $word in # what a row shows beside its word
    x|s|y|a|b|name) continue ;;
  esac
  if [[ $known == *" $word "* ]]; then ok; else fail "nnc doc $word: a page's table has it, nnc doc has not"; fi
done

# ---- every word of the language has an entry: those of the compiler's own tables ----
table() { # FILE FROM LEAST [PATTERN]: the strings from a line with FROM to the table's end, at least so many
  local found
  found=$(awk -v from="$2" 'index($0, from) { inside = 1 } inside { print } inside && /};/ { exit }' "$1" |
    grep -oE "${4:-\"[A-Za-z_0-9]+\"}" | tr -d '{" ' | sort -u)
  if [ "$(wc -w <<<"$found")" -lt "$3" ]; then echo "(table '$2' of $1)"; fi # no word: the test below fails
  echo "$found"
}
of_elaborate=compiler/elaborate
while read -r word; do
  if "$nnc" doc "$word" > "$work/entry" 2>&1 && [ -s "$work/entry" ]; then ok; else fail "nnc doc $word has no answer: it is a word of the language"; fi
done < <(
  table compiler/syntax/net.l '} words[] = {' 28
  table $of_elaborate/sections/train.c 'key_info[KEY_COUNT] = {' 18
  table $of_elaborate/sections/steer.c 'forms[WATCH_KIND_COUNT] = {' 4 | grep -xE 'best|patience'
  table $of_elaborate/sections/steer.c 'units[] = {' 6
  table $of_elaborate/sections/data.c 'orders[DATA_ORDER_COUNT] = {' 2
  table $of_elaborate/sections/data_words.c 'DataWord sources[] = {' 10 '^    \{"[a-z_]+"'
  table $of_elaborate/sections/data_words.c 'DataWord stages[] = {' 14 '^    \{"[a-z_]+"'
  table $of_elaborate/eval/host.c 'ambient_names[] = {' 4
  table $of_elaborate/eval/expression.c 'units[] = {' 4
  table $of_elaborate/eval/expression.c 'members[] = {' 5
  table $of_elaborate/eval/extern.c 'extern_keys[] = {' 4
  table compiler/graph/types.c '[DTYPE_F64] = {' 8
  printf '%s\n' none training pi inf order tail wrap w g fan_in fan_out _)

# ---- the program of README.md, its first block ----
awk '/^```/ { count++; next } count == 1' README.md > "$work/block.net"
check_program README.md "$work/block.net" ""

# ---- docs/library.md is what `nnc doc` says ----
"$root/tools/library_page.sh" "$nnc" > "$work/library.md" || fail "tools/library_page.sh"
if cmp -s "$work/library.md" docs/library.md; then ok
else fail "docs/library.md is stale: tools/library_page.sh BUILD/bin/nnc > docs/library.md"; fi

# ---- docs/architecture.md names the passes in their order, and files that are there ----
if diff <("$nnc" --help-passes | awk '{print $1}') \
        <(sed -n '/^| `[a-z]*` | -O[01] | `[a-z_]*\.c`/d; s/^| `\([a-z0-9_]*\)` | -O[01] |.*/\1/p' docs/architecture.md); then ok
else fail "the passes of docs/architecture.md (>) are not those of nnc --help-passes (<)"; fi
if diff <("$nnc" --help-stages | awk '{print $1, $2}') \
        <(sed -n 's/^| `\([a-z]*\)` | \(-O[01]\) | `[a-z_]*\.c`.*/\1 \2/p' docs/architecture.md); then ok
else fail "the stages of docs/architecture.md (>) are not those of nnc --help-stages (<)"; fi
here="" # files of a table's row belong to the folder that its heading names
while IFS= read -r line; do
  case $line in *'`program_create` in `program/lower.c`'*) here=program ;; '## The runtime'*) here=runtime ;; '## '*) here="" ;; esac
  for file in $(grep -v NAME <<<"$line" | grep -oE '`[a-z][a-zA-Z0-9_/.]*\.(c|h|def|net|sh|py|y|l)`' | tr -d '`'); do
    found=""
    for folder in . compiler "compiler/$here" "$here" compiler/* compiler/backend/* runtime runtime/* codegen_templates tests/tools tests/unit; do
      [ -e "$folder/$file" ] && { found=1; break; }
    done
    if [ -n "$found" ]; then ok; else fail "docs/architecture.md names $file, which is not there"; fi
  done
done < docs/architecture.md

# ---- links lead somewhere, to a heading where they name one ----
anchors() { # PAGE: what GitHub calls its headings, the second of a name with -1
  awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ /, ""); text = tolower($0)
         gsub(/\]\([^)]*\)/, "", text); gsub(/[^a-z0-9 _-]/, "", text); gsub(/ /, "-", text)
         print (seen[text]++ ? text "-" (seen[text] - 1) : text) }' "$1"
}
for page in README.md docs/*.md models/README.md; do
  while IFS= read -r link; do
    target=${link%%#*} anchor=""
    [[ $link == *"#"* ]] && anchor=${link#*#}
    file=$(dirname "$page")/$target; [ -z "$target" ] && file=$page
    if [ ! -e "$file" ]; then fail "$page links to $target, which is not there"
    elif [ -n "$anchor" ] && ! grep -qx -- "$anchor" <<<"$(anchors "$file")"; then fail "$page links to $link, a heading that $file has not"
    else ok; fi
  done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^https\?:' | sort -u)
done
summary
