#!/usr/bin/env bash
# The rules of docs/architecture.md that can be read off the sources: directions of dependencies, operators named only
# where they belong, no runtime code that knows the compiler.  Usage: tests/architecture/run.sh BUILD
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
passed=0 failed=0

# Folder: the folders it may include.  (ops/ops.def is a list that everyone may read.)
allowed() {
  case $1 in
    support)   echo "support" ;;
    syntax)    echo "support syntax" ;;
    graph)     echo "support graph" ;;
    kernel)    echo "support graph kernel" ;;
    target)    echo "support graph kernel target" ;;
    ops)       echo "support graph kernel target ops" ;;
    elaborate) echo "support syntax graph kernel ops elaborate" ;;
    interpret) echo "support graph kernel ops interpret" ;;
    passes)    echo "support graph kernel ops passes" ;;
    program)   echo "support graph kernel target ops program interpret" ;;
    memory)    echo "support graph ops passes program memory" ;;
    backend)   echo "support graph kernel target ops program backend" ;;
    server)    echo "support syntax graph ops elaborate server" ;;
    driver)    echo "support syntax graph kernel target ops elaborate interpret passes program memory backend server driver" ;;
    prelude)   echo "" ;;
    *)         echo "unknown" ;;
  esac
}

complain() { echo "FAIL $*"; failed=$((failed + 1)); }

for folder in compiler/*/; do
  name=$(basename "$folder")
  folders=$(allowed "$name")
  [ "$folders" = unknown ] && { complain "$folder is not in the order of folders (tests/architecture/run.sh)"; continue; }
  bad=0
  while IFS=: read -r file include; do
    included=${include%%/*}
    case " $folders " in *" $included "*) continue ;; esac
    [ "$include" = ops/ops.def ] && continue
    [ "$include" = data/words.h ] && [ "$name" = elaborate -o "$name" = backend ] && continue # lists that the compiler and the runtime share
    [ "$include" = core/flags.h -o "$include" = core/pattern.h ] && [ "$name" = elaborate ] && continue
    [ "$include" = core/flags.h ] && [ "$name" = driver ] && continue
    [ "$name" = backend ] && [ -f "runtime/abi/$include" ] && continue
    [ -d "compiler/$included" ] || [ -e "runtime/$include" ] || [ -e "runtime/abi/$include" ] || continue
    complain "$file includes $include: $name may include only: $folders"; bad=1
  done < <(grep -rhoH '^#include "[^"]*"' --include='*.[chyl]' "$folder" | sed 's/#include "\(.*\)"/\1/')
  [ $bad -eq 0 ] && passed=$((passed + 1))
done

# The folders of elaborate/ include downwards alone; the root sees them all.
below=elaborate.h
for part in core eval variables builtins sections; do
  below="$below|$part/[a-z_]*.h"
  if grep -rnE '#include "elaborate/' "compiler/elaborate/$part" | grep -vE "#include \"elaborate/($below)\""; then
    complain "compiler/elaborate/$part includes what lies above it: core <- eval <- variables <- builtins <- sections"
  else
    passed=$((passed + 1))
  fi
done

# Sizes of functions; prefixes of the external ones of elaborate/.
if python3 tests/architecture/functions.py .; then passed=$((passed + 1)); else complain "functions (tests/architecture/functions.py)"; fi

# The formatter would change nothing.
changes=$(scripts/format.sh --check 2>&1); status=$?
case $status in
  0) passed=$((passed + 1)) ;;
  77) echo "skipped: $changes" ;;
  *) head -20 <<<"$changes"; complain "scripts/format.sh would change these sources" ;;
esac

# What back ends share knows none of them, nor does the toy target of the tests.
if grep -rn '#include "backend/' compiler/backend/common tests/toy_target | grep -v '#include "backend/common/'; then
  complain "backend/common includes a header of one back end"
else
  passed=$((passed + 1))
fi

# The runtime's folders in their order: each may include those before it, and itself. A header of another
# folder is named with it; those of abi/, which are installed side by side, without.
runtime_allowed() {
  case $1 in
    abi)     echo "abi" ;;
    os)      echo "os" ;;
    core)    echo "abi os core" ;;
    cuda)    echo "abi os core cuda" ;;
    cuda_abi) echo "abi cuda_abi" ;;
    text)    echo "abi os core text" ;;
    data)    echo "abi os core text data" ;;
    report)  echo "abi os core report" ;;
    profile) echo "abi os core text data report profile" ;;
    train)   echo "abi os core text data report profile train" ;;
    *)       echo "unknown" ;;
  esac
}

# runtime_includes: FILE HEADER, as paths below runtime/, for each #include of the runtime.
runtime_includes() {
  grep -roH '^#include "[^"]*"' --include='*.[ch]' runtime | sed 's#^runtime/##; s/:#include "/ /; s/"$//' |
    while read -r file header; do
      case $header in
        */*) ;;
        nnc_emulated_machine.h | nnc_emulated_tensor.h | nnc_emulated_wgmma.h) continue ;; # of tests/cuda_emulator
        *) if [ -f "runtime/cuda_abi/$header" ] && [ "${file%%/*}" = cuda_abi ]; then header=cuda_abi/$header; else header=abi/$header; fi ;;
      esac
      echo "$file $header"
    done
}

bad=0
while read -r file header; do
  folders=$(runtime_allowed "${file%%/*}")
  if [ ! -f "runtime/$header" ]; then complain "runtime/$file includes $header, which the runtime has not"; bad=1
  elif [[ " $folders " != *" ${header%%/*} "* ]]; then
    complain "runtime/$file includes $header: ${file%%/*} may include only: $folders"; bad=1
  fi
done < <(runtime_includes)
[ $bad -eq 0 ] && passed=$((passed + 1))

# No circle between its modules: a module is a header and the file of the same name.
if circle=$(runtime_includes | sed -E 's/\.[ch]\b//g' | awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null) && [ -z "$circle" ]; then
  passed=$((passed + 1))
else
  complain "modules of the runtime include each other: $circle"
fi

# Where the model's memory lies is core/device.c's business, with core/layout.c and core/inspect.c: others read and write tensors. (Other offsets
# are of an archive and of options; speed.c measures memory of its own.)
if grep -rnE '(->|\.)(arena|offset)\b|nnc_pool_|nnc_block_' runtime/{core,data,profile,train} | grep -v '\(member\|option\)->offset' |
   grep -vE '^runtime/(core/(device|inspect|layout|pool)\.[ch]|core/speed\.c):'; then
  complain "memory of the model is reached past core/device.h"
else
  passed=$((passed + 1))
fi

# No number of a machine between the language and the back ends.
if python3 tests/architecture/template_words.py .; then passed=$((passed + 1)); else complain "words of templates (tests/architecture/template_words.py)"; fi
if python3 tests/architecture/machine_numbers.py .; then passed=$((passed + 1)); else complain "numbers of a machine (tests/architecture/machine_numbers.py)"; fi

# What only Linux has is used in os/ alone.
if grep -rnE '#include <(sys/mman|sys/syscall|sys/file|sys/ioctl|linux/[a-z]*|sched|signal)\.h>' runtime | grep -v '^runtime/os/'; then
  complain "a system call outside of runtime/os/"
else
  passed=$((passed + 1))
fi

# Only ops/ and passes/rules/ name operators; leaves and the node that owns a rule, which are structure, may be
# named anywhere, and so may the reductions that a kernel's stage stands for.
leaves='INPUT|PARAM|STATE|SCALAR|CONSTANT|GRADIENT|OWN_GRADIENT|COUNT'
reductions='REDUCE_SUM|REDUCE_MEAN|REDUCE_MAX|REDUCE_MIN|REDUCE_PROD|ARGMAX|ARGMIN|RANDOM_UNIFORM|RANDOM_NORMAL|RANDOM_BITS|CAST'
if grep -rnE '\bOP_[A-Z]' --include='*.[ch]' compiler/{syntax,graph,program,driver,interpret,passes} |
   grep -v '^compiler/passes/rules/' | grep -vE "\bOP_($leaves|$reductions)\b" | grep -vE 'OP_##|^[^:]*:[0-9]*: *(/?\*|//)'; then
  complain "an operator is named outside ops/, passes/rules/, kernel/, elaborate/ and backend/"
else
  passed=$((passed + 1))
fi

# no_circle FOLDER: no file of the folder calls another one that calls it back, in however many steps. What
# calls what is read off the objects; functions that are handed over as pointers are no calls.
no_circle() {
  local folder=$1 objects=$build/CMakeFiles/nnccompiler.dir/compiler/$1 circle
  if [ ! -d "$objects" ]; then complain "$folder: there are no objects in $objects"; return; fi
  circle=$(nm -A "$objects"/*.o | awk '
    { sub(/^.*\//, "", $1); split($1, part, ":"); file = part[1]; sub(/\.o$/, "", file); name = $NF; kind = $(NF - 1) }
    kind == "T" || kind == "D" || kind == "R" { home[name] = file }
    kind == "U" { uses[file " " name] = 1 }
    END { for (pair in uses) { split(pair, part, " "); if (part[2] in home) print part[1], home[part[2]] } }' | tsort 2>&1 >/dev/null)
  if [ -n "$circle" ]; then complain "files of compiler/$folder call each other in a circle:
$circle"; else passed=$((passed + 1)); fi
}
for folder in program memory driver passes; do no_circle "$folder"; done

# The names of flags that an option of a program may not have are those of the executable's flags.
listed=$(sed -n '/define NNC_FLAG_NAMES/,/^$/p' runtime/core/flags.h | grep -o '"[a-z-]*"' | sort)
taken=$(sed -n '/options_table\[\] = {/,/^};/p' runtime/core/options.c | grep -oE '^    \{"[a-z-]+"' | grep -o '"[a-z-]*"' | sort)
if [ -n "$taken" ] && [ "$listed" = "$taken" ]; then
  passed=$((passed + 1))
else
  complain "core/flags.h and the table of core/options.c name different flags: $(diff <(echo "$listed") <(echo "$taken") | grep '^[<>]' | tr '\n' ' ')"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
