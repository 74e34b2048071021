#!/bin/sh
# nnc, but that C is compiled without optimization unless --cflags says how; CMake fills in its folder.
case " $* " in
  " check "* | " doc "* | " fmt "* | " lsp "* | *" --cflags"*) exec '@CMAKE_BINARY_DIR@/bin/nnc' "$@" ;;
esac
exec '@CMAKE_BINARY_DIR@/bin/nnc' --cflags=-O0 --units=1 "$@"
