set -euo pipefail
test -f test_retry.py
python3 -m unittest -q
check_python <<'EOF'
import retry as module
from retry import retry
assert module.retry.__doc__
waits, calls = [], []
def flaky():
    calls.append(1)
    if len(calls) < 4:
        raise OSError("no")
    return "yes"
assert retry(flaky, 5, waits.append) == "yes" and waits == [1, 2, 4]
waits.clear()
def broken():
    raise KeyError("x")
try:
    retry(broken, 3, waits.append)
    raise SystemExit("no error")
except KeyError:
    assert waits == [1, 2]
for attempts in (0, -1):
    try:
        retry(flaky, attempts, waits.append)
        raise SystemExit("no ValueError")
    except ValueError:
        pass
tries = []
def stopped():
    tries.append(1)
    raise KeyboardInterrupt
try:
    retry(stopped, 3, waits.append)
except KeyboardInterrupt:
    assert tries == [1]
EOF
