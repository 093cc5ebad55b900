set -euo pipefail
export TMPDIR="$(mktemp -d)"
touch one two
test "$(./pack.sh one two)" = "packed 2"
tar -tf pack.tar | grep -qx ./one
test -z "$(ls "$TMPDIR")"
code=0
./pack.sh one missing 2> /dev/null || code=$?
test "$code" -eq 1
test -z "$(ls "$TMPDIR")"
mkfifo pipe
./pack.sh pipe & pid=$!
for _ in $(seq 100); do [ -n "$(ls "$TMPDIR")" ] && break; sleep 0.05; done
kill -TERM "$pid"
echo > pipe & writer=$!
code=0
wait "$pid" || code=$?
kill "$writer" 2> /dev/null || true
test "$code" -ne 0
test -z "$(ls "$TMPDIR")"
