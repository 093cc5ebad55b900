set -euo pipefail
script="$PWD/rename.sh"
cd "$(mktemp -d)"
touch a.txt "b c.txt"
test "$("$script" --dry-run txt md)" = "$(printf 'a.txt -> a.md\nb c.txt -> b c.md')"
test -e a.txt -a ! -e a.md
"$script" txt md > /dev/null
test -e a.md -a -e "b c.md" -a ! -e a.txt
for arguments in "--nothing md txt" "--dry-run md" "md"; do
  code=0
  "$script" $arguments > /dev/null 2> message || code=$?
  test "$code" -eq 2
done
grep -q -- --dry-run message
test -e a.md
