set -euo pipefail
for script in one.sh two.sh; do
  if grep -Eq '^ *(function )?(log|die) *(\(\)|\{)' "$script"; then echo "$script has its own functions"; exit 1; fi
done
grep -Eq '^(function )?log' lib.sh
here="$PWD"
cd /
test "$("$here/one.sh" x 2>&1)" = "$(printf '[one.sh] starting\none x')"
code=0
output="$("$here/one.sh" 2>&1)" || code=$?
test "$code" -eq 1
test "$output" = "$(printf '[one.sh] starting\n[one.sh] error: no name')"
test "$("$here/two.sh" 2>&1)" = "[two.sh] done"
ln -s "$here" /tmp/link
test "$(cd /tmp/link && ./two.sh 2>&1)" = "[two.sh] done"
