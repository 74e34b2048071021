# Small vocabulary for the test scripts: each call is one check, counted in $passed and $failed.

passed=0 failed=0
ok() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
# check NAME COMMAND...: the command succeeds.
check() {
  local name=$1 output status; shift
  output=$("$@" 2>&1 </dev/null); status=$?
  if [ $status -eq 0 ]; then ok; else fail "$name: exit status $status: ${output:0:2000}"; fi
}
# check_status NAME STATUS PATTERN COMMAND...: it ends with STATUS and prints a line that matches PATTERN.
check_status() {
  local name=$1 wanted=$2 pattern=$3 output status; shift 3
  output=$("$@" 2>&1 </dev/null); status=$?
  if [ "$status" != "$wanted" ]; then fail "$name: exit status $status instead of $wanted: ${output:0:2000}"
  elif ! grep -qE -- "$pattern" <<<"$output"; then fail "$name: no line matches /$pattern/: ${output:0:2000}"
  else ok; fi
}
# at_least NAME VALUE LIMIT, at_most NAME VALUE LIMIT: numbers.
at_least() { if awk "BEGIN { exit !($2 + 0 >= $3) }" && [ -n "$2" ]; then ok; else fail "$1: ${2:-nothing} is below $3"; fi; }
at_most() { if awk "BEGIN { exit !($2 + 0 <= $3) }" && [ -n "$2" ]; then ok; else fail "$1: ${2:-nothing} is above $3"; fi; }
summary() { echo "$passed passed, $failed failed"; [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]; }
# models_within BUILD GFLOP: the files of models/ whose training step takes at most so many GFLOP, for tests whose time grows with
# them, and that have at most 1,000 launches and barriers, since compiling grows with these.
# The reports take ten seconds, so what they say is kept in the build: "GFLOP STEPS FILE" a line, for this nnc and these models.
models_within() {
  local kept file
  kept=$1/tests/steps_of_models.$(cat "$1/bin/nnc" models/*.net | sha256sum | cut -c 1-16)
  if [ ! -f "$kept" ]; then
    for file in models/*.net; do
      "$1/bin/nnc" "$file" --report=json | python3 -c '
import json, sys
report = json.load(sys.stdin)
flops = sum(layer["forward_flops"] + layer["backward_flops"] for layer in report["layers"])
print(flops / 1e9, sum(len(entry["steps"]) for entry in report["entries"]), sys.argv[1])' "$file"
    done >"$kept.$$"
    mv "$kept.$$" "$kept" # at once: other suites may be at it, too
  fi
  # A suite without models must not pass: then the name of a file that is not there.
  awk -v "most=$2" '$1 <= most + 0 && $2 <= 1000 { print $3; found = 1 } END { if (!found) print "models/none_within.net" }' "$kept" ||
    echo "models/none_within.net"
}
