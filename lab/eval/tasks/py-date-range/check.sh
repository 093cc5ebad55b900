set -euo pipefail
check_python <<'EOF'
from datetime import date
from days import days_between
one = date(2024, 2, 28)
assert days_between(one, one) == [one]
assert days_between(one, date(2024, 3, 1)) == [one, date(2024, 2, 29), date(2024, 3, 1)]
try:
    days_between(date(2024, 3, 1), one)
except ValueError:
    pass
else:
    raise SystemExit("no ValueError")
EOF
