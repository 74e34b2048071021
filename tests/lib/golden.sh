# Golden diagnostics: in FOLDER every NAME.net has a NAME.expected, the whole standard error of
# `nnc check NAME.net` run inside the folder.  A file with mistakes must exit with 1, one whose
# .expected holds only warnings with 0.
#
#   source tests/lib/golden.sh; golden_folder NNC FOLDER     adds to $passed and $failed
#   GOLDEN_UPDATE=1 rewrites the .expected files instead (read the difference before committing it)

passed=${passed:-0} failed=${failed:-0}

golden_folder() {
  local nnc=$1 folder=$2 file base actual status wanted
  for file in "$folder"/*.net; do
    base=$(basename "$file" .net)
    actual=$(cd "$folder" && timeout 20 "$nnc" check "$base.net" 2>&1 >/dev/null; echo "status $?")
    status=${actual##*status }
    actual=${actual%status *}
    if [ "${GOLDEN_UPDATE:-}" = 1 ]; then
      printf '%s' "$actual" > "$folder/$base.expected"
    fi
    wanted=0
    grep -q ': error: ' <<<"$actual" && wanted=1
    if [ ! -f "$folder/$base.expected" ]; then
      echo "FAIL $base: there is no $base.expected"; failed=$((failed + 1))
    elif [ "$status" != "$wanted" ]; then
      echo "FAIL $base: exit status $status, expected $wanted"; failed=$((failed + 1))
    elif ! diff <(printf '%s' "$actual") "$folder/$base.expected" >/dev/null; then
      echo "FAIL $base: expected (<) and found (>) differ"
      diff "$folder/$base.expected" <(printf '%s' "$actual") || true
      failed=$((failed + 1))
    else
      passed=$((passed + 1))
    fi
  done
}

golden_summary() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
