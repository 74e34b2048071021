#!/usr/bin/env bash
# Prints docs/library.md: every name that the language offers, made of what `nnc doc` says.
#
#   tools/library_page.sh build/bin/nnc > docs/library.md
set -euo pipefail
nnc=$1
declare -A met=()

cat <<'HEAD'
# The library

This page lists every name of the language. Each entry has a link of its own, `library.md#adam`: the call with its defaults, the meaning, an example.
`nnc doc NAME` prints the same, with the source of functions that are written in `.net` (`compiler/prelude`). Of a name that is only an argument, such as `group`, it prints the functions that have it.

- An argument with a default may be left out. `...` stands for any number of arguments.
- In calls of built-in functions the word after `:` says what is taken.
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
            printf "\n### %s\n\n`%s`\n\n%s\n", name == "_" ? "`_`" : name, call, text
            if (example != "") printf "\n    %s\n", example }'
  fi
done < <(listed)
