#!/bin/sh
# Downloads MNIST, the handwritten digits of LeCun, Cortes and Burges, in IDX format.
#
#     tools/fetch_mnist.sh [DIRECTORY]        (default: mnist)
#
# Each of the four files is tried from several mirrors, checked by its SHA-256 and MD5 sums, and put in
# its place only when both agree.  Files that are there already and whole are kept.  MNIST_MIRRORS, if set,
# lists other places.  Without a network,
# nnc-digits writes a data set of the same form.
set -u

directory=${1:-mnist}
mirrors=${MNIST_MIRRORS:-"https://storage.googleapis.com/cvdf-datasets/mnist
https://ossci-datasets.s3.amazonaws.com/mnist"}

#     name                        SHA-256                                                          MD5
files="train-images-idx3-ubyte.gz 440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609 f68b3c2dcbeaaa9fbdd348bbdeb94873
train-labels-idx1-ubyte.gz 3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c d53e105ee54ea40749a09fcbcd1e9432
t10k-images-idx3-ubyte.gz 8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6 9fb629c4189551a2d022fa330f9573f3
t10k-labels-idx1-ubyte.gz f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6 ec29112dd5afa0611ce80d1b7f02629c"

fail() {
  echo "fetch_mnist: $*" >&2
  exit 1
}

# sum COMMAND... FILE: the first word of what it prints.
sum() { "$@" 2>/dev/null | cut -d ' ' -f 1; }

sha256() {
  if command -v sha256sum >/dev/null; then sum sha256sum "$1"; else sum shasum -a 256 "$1"; fi
}

md5() {
  if command -v md5sum >/dev/null; then sum md5sum "$1"; else sum md5 -q "$1"; fi
}

is_whole() { # FILE SHA256 MD5
  [ -f "$1" ] && [ "$(sha256 "$1")" = "$2" ] && [ "$(md5 "$1")" = "$3" ]
}

download() { # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL --connect-timeout 20 --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -T 20 -t 3 -O "$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi
}

fetch() { # NAME SHA256 MD5
  target=$directory/$1
  if is_whole "$target" "$2" "$3"; then
    echo "$target: already there"
    return 0
  fi
  for mirror in $mirrors; do
    echo "$target: from $mirror"
    if ! download "$mirror/$1" "$target.part"; then
      echo "fetch_mnist: cannot download $mirror/$1" >&2
    elif ! is_whole "$target.part" "$2" "$3"; then
      echo "fetch_mnist: $mirror/$1 is not the file expected:" \
        "SHA-256 $(sha256 "$target.part"), expected $2" >&2
    else
      mv "$target.part" "$target" || fail "cannot write $target"
      return 0
    fi
    rm -f "$target.part"
  done
  return 1
}

mkdir -p "$directory" || fail "cannot make the directory $directory"
missing=
while read -r name sha md; do
  fetch "$name" "$sha" "$md" </dev/null || missing="$missing $name"
done <<LIST
$files
LIST
[ -z "$missing" ] || fail "not downloaded:$missing; is there a network? 'nnc-digits $directory' writes" \
  "digits of its own in the same format"
echo "MNIST is in $directory"
