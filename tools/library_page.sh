#!/usr/bin/env bash
# Prints docs/library.md: every name that the language offers, made of what `nnc doc` says.
#
#   tools/library_page.sh build/bin/nnc > docs/library.md
set -euo pipefail
nnc=$1
declare -A met=()

cat <<'HEAD'
# The library

Every name that the language offers, with its signature; `nnc doc NAME` prints the same with the source of
what is written in `.net` (`compiler/prelude`). The sections with a file's name are the standard library; the
rest is built into the language; at the end stand words that are no functions. In signatures of built-in functions the word after `:` says what is taken;
`...` marks any number of arguments; what has a default may be left out. [language.md](language.md) says what
these things mean.

This page is made by `tools/library_page.sh`.
HEAD

# A section's names, one a line, after "# SECTION" lines; what is only announced has no meaning yet.
"$nnc" doc | awk '/^[a-z]/ { skip = /not available/ } skip { next }
                  /^[a-z]/ { print "# " $0; next } NF { print $1 }' | while IFS= read -r line; do
  if [ "${line:0:2}" = "# " ]; then
    section=${line#\# }
    file="" ; case $section in activations|images|initializers|layers|losses|math|optimizers|recurrent|schedules|tensors) file=" (\`$section.net\`)" ;; esac
    printf '\n## %s%s\n\n| call | meaning |\n|---|---|\n' "${section^}" "$file"
  else
    # A name may have several entries, each in its section: `split` is a function and a stage.
    met[$line]=$((${met[$line]:-0} + 1))
    "$nnc" doc "$line" | awk -v wanted="${met[$line]}" -v is_defined="${file:+1}" '
      !open && /^[^ ]/ { open = more = 1; blank = 0; text = ""; call = $0
                         if (is_defined) sub(/^(def|optimizer|init|schedule) /, "", call); next }
      !open { next }
      more && /^[^ ]|^  +[a-z]/ && !blank { call = call " " $0; gsub(/ +/, " ", call); next }
      !NF { blank++; next }
      /from the standard library|built into the language/ { if (++block == wanted) exit; open = 0; next }
      { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
      END { gsub(/\|/, "\\|", call); gsub(/\|/, "\\|", text)
            at = index(text, " Example: "); example = ""
            if (at) { example = " Example: `" substr(text, at + 10) "`"; text = substr(text, 1, at - 1) }
            gsub(/[*<]/, "\\\\&", text)
            printf "| `%s` | %s |\n", call, text example }'
  fi
done
