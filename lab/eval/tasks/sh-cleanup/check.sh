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
is_copying() {
  for child in $(cat "/proc/$pid/task/$pid/children"); do
    if grep -qx cp "/proc/$child/comm"; then return 0; fi
  done
  return 1
}
for _ in $(seq 600); do is_copying && break; sleep 0.05; done
kill -TERM "$pid"
echo > pipe & writer=$!
code=0
wait "$pid" || code=$?
kill "$writer" 2> /dev/null || true
test "$code" -ne 0
test -z "$(ls "$TMPDIR")"
