#!/usr/bin/env bash
# Installs what building and testing nnc needs, with apt, on Debian or Ubuntu. Asks for sudo only when
# something is missing and only when it is not run by root.
#
#   scripts/install_dependencies.sh [--build-only]     --build-only leaves the tests' needs out
#
# clang-format-14, by which the tests check the format, is installed where the distribution has it (Debian
# 12, Ubuntu 22.04 and 24.04); elsewhere, and where only it is missing and sudo asks for a password, that check is
# left out.
set -euo pipefail

packages=(cmake flex bison zlib1g-dev libjpeg-dev libpng-dev libjansson-dev clang make)
[ "${1:-}" = --build-only ] || packages+=(libcmocka-dev libtree-sitter-dev gcc patch python3 curl ca-certificates)

formatter=() # only where it can be had without asking
[ "${1:-}" = --build-only ] || formatter=(clang-format-14)

is_installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null || true)" = "install ok installed" ]; }

missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
for package in "${formatter[@]}"; do
  if is_installed "$package"; then formatter=(); fi
done
if [ ${#missing[@]} -eq 0 ]; then
  [ ${#formatter[@]} -gt 0 ] && [ -n "$(apt-cache show "${formatter[@]}" 2>/dev/null)" ] || exit 0
  [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "install_dependencies: this system has no apt-get; please install: ${missing[*]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies: as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
"${sudo[@]}" apt-get update -qq
[ ${#formatter[@]} -eq 0 ] || [ -z "$(apt-cache show "${formatter[@]}" 2>/dev/null)" ] || missing+=("${formatter[@]}")
echo "Installing: ${missing[*]}" >&2
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
