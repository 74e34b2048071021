#!/usr/bin/env bash
# The house rules that can be read off the sources: directions of dependencies, operators named only
# where they belong, no runtime code that knows the compiler.  Usage: tests/architecture/run.sh BUILD
set -uo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

# Folder: the folders it may include.  (ops/ops.def is a list that everyone may read.)
allowed() {
  case $1 in
    support)   echo "support" ;;
    syntax)    echo "support syntax" ;;
    graph)     echo "support graph ops" ;;          # ops: the verifier asks each operator's type rule
    kernel)    echo "support graph kernel" ;;
    ops)       echo "support graph kernel ops" ;;
    elaborate) echo "support syntax graph kernel ops elaborate" ;;
    interpret) echo "support graph kernel ops interpret" ;;
    passes)    echo "support graph kernel ops passes" ;;
    program)   echo "support graph kernel ops program interpret" ;;
    backend)   echo "support graph kernel ops program backend" ;;
    driver)    echo "support syntax graph kernel ops elaborate interpret passes program backend driver" ;;
    prelude)   echo "" ;;
    *)         echo "unknown" ;;
  esac
}

complain() { echo "FAIL $*"; failed=$((failed + 1)); }

for folder in compiler/*/; do
  name=$(basename "$folder")
  rooms=$(allowed "$name")
  [ "$rooms" = unknown ] && { complain "$folder has no place in the house (tests/architecture/run.sh)"; continue; }
  bad=0
  while IFS=: read -r file include; do
    room=${include%%/*}
    case " $rooms " in *" $room "*) continue ;; esac
    [ "$include" = ops/ops.def ] && continue
    [ "$name $include" = "elaborate data/words.h" ] && continue # lists that the compiler and the runtime share
    [ "$name" = backend ] && [ -f "runtime/abi/$include" ] && continue
    [ -d "compiler/$room" ] || [ -e "runtime/$include" ] || [ -e "runtime/abi/$include" ] || continue
    complain "$file includes $include: $name may include only: $rooms"; bad=1
  done < <(grep -rhoH '^#include "[^"]*"' --include='*.[chyl]' "$folder" | sed 's/#include "\(.*\)"/\1/')
  [ $bad -eq 0 ] && passed=$((passed + 1))
done

# What back ends share knows none of them.
if grep -rn '#include "backend/' compiler/backend/common | grep -v '#include "backend/common/'; then
  complain "backend/common includes a header of one back end"
else
  passed=$((passed + 1))
fi

# The runtime includes nothing of the compiler.
if grep -rn '#include "\(support\|graph\|ops\|kernel\|program\|passes\|elaborate\|syntax\|driver\)/' runtime; then
  complain "the runtime includes a header of the compiler"
else
  passed=$((passed + 1))
fi

# Only ops/ and passes/rules/ name operators; leaves, which are structure, may be named anywhere, and so
# may the reductions that a kernel's stage stands for.
leaves='INPUT|PARAM|STATE|SCALAR|CONSTANT|GRADIENT|COUNT'
reductions='REDUCE_SUM|REDUCE_MEAN|REDUCE_MAX|REDUCE_MIN|REDUCE_PROD|ARGMAX|ARGMIN|RANDOM_UNIFORM|RANDOM_NORMAL|RANDOM_BITS|CAST'
if grep -rnE '\bOP_[A-Z]' --include='*.[ch]' compiler/{syntax,graph,program,driver,interpret,passes} |
   grep -v '^compiler/passes/rules/' | grep -vE "\bOP_($leaves|$reductions)\b" | grep -vE 'OP_##|^[^:]*:[0-9]*: *(/?\*|//)'; then
  complain "an operator is named outside ops/, passes/rules/, kernel/, elaborate/ and backend/"
else
  passed=$((passed + 1))
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
