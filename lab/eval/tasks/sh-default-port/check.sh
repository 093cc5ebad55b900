set -euo pipefail
test "$(env -u PORT ./start.sh)" = http://127.0.0.1:8080
test "$(PORT= ./start.sh)" = http://127.0.0.1:8080
test "$(PORT=1 ./start.sh)" = http://127.0.0.1:1
test "$(PORT=65535 ./start.sh)" = http://127.0.0.1:65535
for bad in 0 65536 x 80x -1 99999999999999999999 "8 0" 'a[$(touch /tmp/executed)]'; do
  code=0
  PORT="$bad" ./start.sh > /tmp/out 2> /tmp/message || code=$?
  test "$code" -eq 64
  test ! -s /tmp/out
  test "$(cat /tmp/message)" = "start.sh: PORT must be a number from 1 to 65535"
done
test ! -e /tmp/executed
