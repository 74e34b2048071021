#!/usr/bin/env bash
# Prints docs/library.md: every name that the language offers, made of what `nnc doc` says.
#
#   tools/library_page.sh build/bin/nnc > docs/library.md
set -euo pipefail
nnc=$1
declare -A met=()

cat <<'HEAD'
# The library

This page lists every name of the language. Each entry has a link of its own, `library.md#adam`: the call with its defaults, the meaning, its arguments, an example.
`nnc doc NAME` prints the same, with the source of functions that are written in `.net` (`compiler/prelude`). Of a name that is only an argument, such as `group`, it prints the functions that have it.

- An argument with a default may be left out. `...` stands for any number of arguments.
- In calls of built-in functions the word after `:` is the kind of the argument.
- Shapes are written `x`: [n, c] -> [n], the argument's before the arrow and the result's after it.
- The sections with a file's name are the standard library; all others are built into the language. The last sections are words that are no functions.
- [language.md](language.md) explains the language, [data.md](data.md) the data, [how-do-i.md](how-do-i.md) finds a task's page.

This page is made by `tools/library_page.sh`.

HEAD

# "# SECTION" and "SECTION<tab>NAME" lines; what is only announced has no meaning yet.
listed() {
  "$nnc" doc | awk '/^[a-z]/ { skip = /not available/ } skip { next } /^[a-z]/ { print "# " $0; next } NF { print $1 }'
}
title() { # SECTION
  local file=""
  case $1 in activations|algebra|fourier|images|initializers|layers|losses|math|metrics|optimizers|recurrent|samplers|schedules|sounds|tensors) file=" (\`$1.net\`)" ;; esac
  echo "${1^}$file"
}
# Where GitHub puts a heading: small letters, digits, '-' and '_'.
anchor() { tr -d '`().' <<<"${1,,}" | tr ' ' '-'; }

while IFS= read -r section; do
  heading=$(title "$section")
  printf -- '- [%s](#%s)\n' "$heading" "$(anchor "$heading")"
done < <(listed | sed -n 's/^# //p')

while IFS= read -r line; do
  if [ "${line:0:2}" = "# " ]; then
    heading=$(title "${line#\# }")
    is_defined=""; [[ $heading == *".net\`)" ]] && is_defined=1
    printf '\n## %s\n' "$heading"
  else
    # A name may have several entries, each in its section: `split` is a function and a stage.
    met[$line]=$((${met[$line]:-0} + 1))
    "$nnc" doc "$line" | awk -v wanted="${met[$line]}" -v is_defined="$is_defined" -v name="$line" '
      # What stands before a colon, if it is names of arguments ("k, v"), as code; else nothing.
      function told_names(words, call,   count, i, names, told) {
        sub(/^[^(]*\(/, "", call)
        count = split(words, names, /, /)
        for (i = 1; i <= count; i++) {
          if (names[i] !~ /^[a-z_0-9]+$/ || (", " call) !~ (", \\.*" names[i] "( |,|\\)|:)")) return ""
          told = told (i > 1 ? ", " : "") "`" names[i] "`"
        }
        return told
      }
      # The text with a list of the arguments that it tells of: "x: [n, c]" after a point, a comma and so on.
      function paragraphs(text, call,   count, i, parts, part, told, is_new, result, was_item) {
        gsub(/  \(/, " (", text)
        gsub(/  +/, "\001\002", text) # a new thought
        gsub(/ Parameters?(, if wanted)?: /, "\001&", text)
        while (match(text, /(\.|\)|;|\],) [a-z][a-z_0-9, ]*: /)) { # perhaps names of arguments
          part = substr(text, RSTART, RLENGTH)
          match(part, / /)
          sub(/(\.|\)|;|\],) [a-z][a-z_0-9, ]*: /, substr(part, 1, RSTART - 1) "\001" substr(part, RSTART + 1, length(part) - RSTART - 1) "\003", text)
        }
        gsub(/\003/, " ", text)
        count = split(text, parts, /\001+/)
        for (i = 1; i <= count; i++) {
          part = parts[i]
          is_new = sub(/^[\002 ]+/, "", part)
          told = match(part, /^[a-z][a-z_0-9, ]*: /) ? told_names(substr(part, 1, RLENGTH - 2), call) : ""
          if (told != "") part = told substr(part, RLENGTH - 1)
          if (told != "" || part ~ /^Parameters?[:,]/ && i > 1) {
            sub(/[;,]$/, ".", result)
            result = result (was_item ? "\n" : i > 1 ? "\n\n" : "") "- " part
            was_item = 1
          } else if (was_item && is_new) {
            result = result "\n\n" part
            was_item = 0
          } else result = result (i > 1 ? " " : "") part
        }
        return result "\n"
      }
      !open && /^[^ ]/ { open = more = 1; blank = 0; text = ""; call = $0
                         if (is_defined) sub(/^(def|optimizer|init|schedule) /, "", call); next }
      !open { next }
      more && /^[^ ]|^  +[a-z]/ && !blank { call = call " " $0; gsub(/ +/, " ", call); next }
      !NF { blank++; next }
      /from the standard library|built into the language/ { if (++block == wanted) exit; open = 0; next }
      { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
      END { at = index(text, " Example: "); example = ""
            if (at) { example = substr(text, at + 10); text = substr(text, 1, at - 1) }
            gsub(/[*<|]/, "\\\\&", text)
            printf "\n### %s\n\n`%s`\n\n%s", name == "_" ? "`_`" : name, call, paragraphs(text, call)
            if (example != "") printf "\n```\n%s\n```\n", example }'
  fi
done < <(listed)
