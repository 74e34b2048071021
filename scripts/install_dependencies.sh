#!/usr/bin/env bash
# Installs what building and testing nnc needs, with apt, on Debian or Ubuntu. Asks for sudo only when
# something is missing and only when it is not run by root.
#
#   scripts/install_dependencies.sh [--build-only]     --build-only leaves the tests' needs out
set -euo pipefail

packages=(cmake flex bison zlib1g-dev libjpeg-dev libpng-dev clang make)
[ "${1:-}" = --build-only ] || packages+=(libcmocka-dev gcc python3 curl ca-certificates)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

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
echo "Installing: ${missing[*]}" >&2
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
