#!/usr/bin/env bash
# What editors get: the extension for VS Code packs to the same bytes and works against a stand-in for VS Code, with a real server; the
# grammar for tree-sitter reads every program as nnc does, and colours it.  Usage: tests/editors/run.sh BUILD [--long]
#
# Without node, or without the library of tree-sitter (libtree-sitter-dev), that part says that it skips. --long: Neovim, with
# the settings of docs/editors.md.
set -uo pipefail
build=$(cd "$1" && pwd) long=${2:-}
cd "$(dirname "$0")/../.."
source tests/lib/check.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
nnc=$build/bin/nnc

# ---- VS Code ----

check "the extension packs" python3 editors/vscode/pack.py "$work/nnc.vsix"
python3 editors/vscode/pack.py "$work/again.vsix"
check "to the same bytes" cmp "$work/nnc.vsix" "$work/again.vsix"
check "an archive that installs" python3 - "$work/nnc.vsix" <<'END'
import json, sys, zipfile
import xml.etree.ElementTree as tree
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
names = archive.namelist()
manifest = tree.fromstring(archive.read("extension.vsixmanifest"))
space = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
package = json.loads(archive.read("extension/package.json"))
identity = manifest.find(f"{space}Metadata/{space}Identity").attrib
assert (identity["Id"], identity["Version"], identity["Publisher"]) == (package["name"], package["version"], package["publisher"])
for asset in manifest.iter(f"{space}Asset"):
    assert asset.attrib["Path"] in names, asset.attrib
types = {entry.attrib["Extension"] for entry in tree.fromstring(archive.read("[Content_Types].xml"))}
for name in names:
    assert name == "[Content_Types].xml" or "." + name.rpartition(".")[2] in types, name
given = package["contributes"]
# In a folder that is not trusted the program of the setting runs, so no folder may set it.
assert package["capabilities"]["untrustedWorkspaces"]["supported"] is True
assert given["configuration"]["properties"]["nnc.path"]["scope"] == "machine"
for path in [package["main"], given["languages"][0]["configuration"], given["grammars"][0]["path"]]:
    assert "extension/" + path[2:] in names, path
for name in names:
    if name.endswith(".json"):
        json.loads(archive.read(name))
END
if command -v node >/dev/null; then
  python3 -m zipfile -e "$work/nnc.vsix" "$work/unpacked"
  check "the extension works" node tests/editors/vscode.js "$work/unpacked/extension" "$nnc"
else
  echo "skipped: the extension for VS Code needs node to be tried"
fi

# Each word of the language is known to both grammars.
for word in $(grep -oE '^ *(\{"[a-z]+", T_[A-Z]+\},? *)+' compiler/syntax/net.l | grep -oE '"[a-z]+"' | tr -d '"'); do
  if grep -q "'$word'" editors/tree-sitter-nnc/grammar.js && grep -qE "[(|]$word[)|]|b$word\\\\" editors/vscode/syntaxes/nnc.tmLanguage.json; then ok
  else fail "the word '$word' of compiler/syntax/net.l is not in both grammars of editors/"; fi
done

# ---- tree-sitter ----

grammar=editors/tree-sitter-nnc
if ${CC:-cc} -O0 -w -I"$grammar/src" -o "$work/parse" tests/editors/parse.c "$grammar"/src/{parser,scanner}.c -ltree-sitter 2>"$work/errors"; then
  mapfile -t programs < <(ls models/*.net examples/*.net compiler/prelude/*.net tests/syntax/ok/*.net tests/elaborate/errors/*.net | grep -v option_syntax)
  check "tree-sitter reads every program" timeout 60 "$work/parse" "${programs[@]}"
  wrong=$(timeout 60 "$work/parse" tests/syntax/errors/*.net | cut -d: -f1 | sort -u | wc -l)
  at_least "of programs that do not parse it notices most" "$wrong" 45
  check "trees, statements and colours" timeout 60 python3 tests/editors/trees.py "$work/parse" "$nnc" "$work"
elif grep -q 'tree_sitter/api.h\|ltree-sitter' "$work/errors"; then
  echo "skipped: the grammar for tree-sitter needs its library (libtree-sitter-dev) to be tried"
else
  fail "the parser of tree-sitter does not compile: $(head -5 "$work/errors")"
fi

# ---- Neovim ----

if [ "$long" = --long ] && command -v nvim >/dev/null; then
  awk '/^```lua/ { inside = !seen; seen = 1; next } /^```/ { inside = 0 } inside' docs/editors.md > "$work/init.lua"
  cat >> "$work/init.lua" <<'END'
vim.defer_fn(function()
  vim.api.nvim_win_set_cursor(0, {4, 0})
  vim.lsp.buf_request(0, "textDocument/hover", vim.lsp.util.make_position_params(), function(_, result)
    io.stdout:write(#vim.diagnostic.get(0) .. " diagnostics; " .. result.contents.value)
    vim.cmd("qa!")
  end)
end, 2000)
END
  printf 'const batch = 2\ndata train { x = npy("x.npy") }\ninput x : f32[batch, 3]\nh = linear(x, 4)\nunused = 3\nloss = mean(h ^ 2)\ntrain { minimize = loss, optimizer = sgd, epochs = 1 }\n' > "$work/try.net"
  check_status "Neovim" 0 '^1 diagnostics; ```nnc' env PATH="$build/bin:$PATH" HOME="$work" timeout 30 nvim --headless -u "$work/init.lua" "$work/try.net"
fi
summary
