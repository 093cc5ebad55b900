set -euo pipefail
test -x rotate.sh
grep -q "set -euo pipefail" rotate.sh
dir="$(mktemp -d)"
make() { rm -rf "$dir"/*; for n in 1 2 3 4; do touch -d "2024-01-0$n" "$dir/day $n.bak"; done; touch -d 2020-01-01 "$dir/keep.txt"; mkdir "$dir/sub.bak"; }
make
test "$(./rotate.sh "$dir" 2)" = "$(printf 'day 1.bak\nday 2.bak')"
test -e "$dir/day 3.bak" -a -e "$dir/day 4.bak" -a -e "$dir/keep.txt" -a -d "$dir/sub.bak"
test -z "$(./rotate.sh "$dir" 5)"
make
./rotate.sh "$dir" 0 | wc -l | grep -qx 4
make
for bad in x -1 1.5 ""; do
  code=0
  ./rotate.sh "$dir" "$bad" > /dev/null 2> /tmp/message || code=$?
  test "$code" -eq 2 && test -s /tmp/message
done
test -e "$dir/day 1.bak"
if grep -q '\bls\b' rotate.sh; then exit 1; fi
